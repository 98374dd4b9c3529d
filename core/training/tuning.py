"""PR-MCS: a text encoder tuned against perturbed captions of pictures whose embeddings stand still."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.training.losses import LossWeights, PrMcsLosses, pr_mcs_losses
from core.training.measure import HeldOut, measure, rank_correlation
from core.training.trainer import Schedule, Trainer
from core.training.triplets import Example, batches, perturb

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Recipe(Schedule):
    """How PR-MCS is trained: passes over all captions, by the weights of its loss. Source: paper B, B.1 and B.2."""

    losses: LossWeights = field(default_factory=LossWeights)


@dataclass(frozen=True, slots=True)
class Material:
    """What is trained on.

    Args:
        embeddings: of the image of each example, float32 [d], by id; the image tower is frozen.
        identity: digest of what the embeddings and captions come from, for a resumed training.
    """

    train: Sequence[Example]
    held_out: Sequence[Example]
    embeddings: "Mapping[str, Tensor]"
    identity: str


@dataclass(frozen=True, slots=True)
class Gain:
    """Held-out images before and after.

    Args:
        spearman: between clean scores before and after, over all held-out captions.
    """

    before: HeldOut
    after: HeldOut
    spearman: float
    steps: int


class Tuner(Trainer[Example, HeldOut, Gain]):
    """Trains a text encoder against embeddings of images."""

    def __init__(self, network: Any, material: Material, recipe: Recipe, *, folder: Path, device: str = "cpu") -> None:
        super().__init__(network, recipe, identity=material.identity, folder=folder, device=device)
        self.material, self.recipe = material, recipe

    def score(self, images: Sequence[str], captions: Sequence[str]) -> np.ndarray:
        """Cosines of images and captions, float64 [n]."""
        import torch

        pictures = torch.stack([self.material.embeddings[image] for image in images])
        texts = self.embed_all(captions)
        found: np.ndarray = torch.nn.functional.cosine_similarity(pictures.double(), texts.double(), dim=-1).numpy()
        return found

    def batches(self, epoch: int) -> list[list[Example]]:
        """Batches that hold each image once."""
        return batches(self.material.train, size=self.recipe.batch, seed=self.recipe.seed, epoch=epoch)

    def losses(self, batch: Sequence[Example], epoch: int) -> PrMcsLosses:
        """The recipe's losses of captions, whole and perturbed anew each epoch."""
        import torch

        broken = [perturb(each, seed=self.recipe.seed, epoch=str(epoch))[1] for each in batch]
        texts = self.embed([each.caption for each in batch] + broken)
        images = torch.stack([self.material.embeddings[each.image] for each in batch]).to(self.device)
        return pr_mcs_losses(images, texts[: len(batch)], texts[len(batch) :], self.recipe.losses)

    def measure(self) -> HeldOut:
        """How far held-out captions fall when they are broken."""
        return measure(self.material.held_out, self.score, seed=self.recipe.seed)

    def gain(self, before: HeldOut, after: HeldOut, done: int) -> Gain:
        """Both measurements, and whether whole captions keep their order."""
        return Gain(before, after, rank_correlation(before.clean, after.clean), done)

    def told(self, gain: Gain) -> Mapping[str, Any]:
        """The measurement, and ρ where it is a number."""
        order = {"spearman": gain.spearman} if gain.spearman == gain.spearman else {}
        return {**gain.after.as_dict(), **order}
