"""The loop: steps, measurements, checkpoints; a killed training goes on to the same weights."""

import math
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import InvalidInput, InvariscopeError
from core.seeds import RUN_SEED
from core.training.curves import FILE, Curves
from core.training.losses import LossWeights, pr_mcs_losses
from core.training.measure import Measured, measure, rank_correlation
from core.training.state import digest_of, load_state, save_state
from core.training.triplets import Example, batches, perturb

if TYPE_CHECKING:
    from torch import Tensor

STATE = "state.safetensors"
FILES_OF_A_TRAINING = (STATE, FILE, "settings.json")
Report = Callable[[int, int], None]
"""Called with steps done and steps in all."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How PR-MCS is trained.

    Args:
        epochs: passes over all captions. Source: paper B, B.1.
        batch: triplets in a step; the paper states none.
        learning_rate: of AdamW, constant, β = (0.9, 0.999), ε = 1e-8. Source: paper B, B.2.
        weight_decay: of AdamW; the paper states none, this is PyTorch's.
        checkpoint_every: steps between two checkpoints; there is one after each epoch anyway.
    """

    epochs: int = 5
    batch: int = 64
    learning_rate: float = 5e-5
    weight_decay: float = 0.01
    seed: int = RUN_SEED
    losses: LossWeights = field(default_factory=LossWeights)
    checkpoint_every: int = 500

    def __post_init__(self) -> None:
        for name, value, least in (("epochs", self.epochs, 1), ("batch", self.batch, 2)):
            if value < least:
                raise InvalidInput(f"{name} must be at least {least}, got {value!r}")
        if not 0 < self.learning_rate < math.inf:
            raise InvalidInput(f"the learning rate must be positive, got {self.learning_rate!r}")
        if self.checkpoint_every < 1:
            raise InvalidInput(f"steps between checkpoints must be at least 1, got {self.checkpoint_every!r}")


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

    before: Measured
    after: Measured
    spearman: float
    steps: int


class Trainer:
    """Trains a text encoder against embeddings of images.

    Args:
        network: a SentenceTransformer.
        folder: of the checkpoint and the curves.
    """

    def __init__(self, network: Any, material: Material, recipe: Recipe, *, folder: Path, device: str = "cpu") -> None:
        import torch

        self.network, self.material, self.recipe, self.folder = network.to(device), material, recipe, folder
        self.device = device
        trained = [value for value in network.parameters() if value.requires_grad]
        self.optimizer = torch.optim.AdamW(
            trained, lr=recipe.learning_rate, betas=(0.9, 0.999), eps=1e-8, weight_decay=recipe.weight_decay
        )
        self.curves = Curves(folder)
        self.settings = digest_of({**asdict(recipe), "checkpoint_every": None, "material": material.identity})

    def run(self, *, resume: bool = False, report: Report | None = None) -> Gain:
        """Train to the end.

        Args:
            resume: go on from the folder's checkpoint, where it has one.

        Raises:
            InvalidInput: if the checkpoint is damaged or of other settings.
            InvariscopeError: if the loss stops being a number.
            StoreError: if the disk is full.
            KeyboardInterrupt: after Ctrl-C, once the step's checkpoint is written.
        """
        import torch

        before = self._measure()
        torch.manual_seed(self.recipe.seed)
        done = self._start(resume, before)
        per_epoch = len(self._batches(0))
        total = per_epoch * self.recipe.epochs
        gain: Gain | None = None
        with _asked_to_stop() as asked:
            for epoch in range(done // per_epoch, self.recipe.epochs):
                for batch in self._batches(epoch)[done % per_epoch :]:
                    losses = self._step(batch, epoch, done)
                    done += 1
                    self.curves.step(done, epoch, losses)
                    if report is not None:
                        report(done, total)
                    ends, stop = done % per_epoch == 0, asked()
                    if ends:
                        gain = self._gain(before, done)
                        self.curves.held_out(done, gain.after, gain.spearman)
                    if ends or stop or done % self.recipe.checkpoint_every == 0:
                        self._save(done)
                    if stop:
                        raise KeyboardInterrupt
        return gain or self._gain(before, done)

    def score(self, images: Sequence[str], captions: Sequence[str]) -> np.ndarray:
        """Cosines of images and captions, float64 [n]."""
        import torch

        self.network.eval()
        found: list[Tensor] = []
        with torch.inference_mode():
            for start in range(0, len(captions), self.recipe.batch):
                part = slice(start, start + self.recipe.batch)
                pictures = torch.stack([self.material.embeddings[image] for image in images[part]])
                texts = self._embed(captions[part]).cpu()
                found.append(torch.nn.functional.cosine_similarity(pictures.double(), texts.double(), dim=-1))
        return torch.cat(found).numpy()

    def _start(self, resume: bool, before: Measured) -> int:
        path = self.folder / STATE
        if resume and path.is_file():
            done = load_state(path, self.network, self.optimizer, settings=self.settings)
            self.curves.forget_after(done)
            return done
        self.curves.forget_after(-1)
        self.curves.held_out(0, before, 1.0)
        return 0

    def _batches(self, epoch: int) -> list[list[Example]]:
        return batches(self.material.train, size=self.recipe.batch, seed=self.recipe.seed, epoch=epoch)

    def _step(self, batch: Sequence[Example], epoch: int, done: int) -> dict[str, float]:
        import torch

        self.network.train()
        broken = [perturb(each, seed=self.recipe.seed, epoch=str(epoch))[1] for each in batch]
        texts = self._embed([each.caption for each in batch] + broken)
        images = torch.stack([self.material.embeddings[each.image] for each in batch]).to(self.device)
        losses = pr_mcs_losses(images, texts[: len(batch)], texts[len(batch) :], self.recipe.losses)
        if not bool(torch.isfinite(losses.total)):
            raise InvariscopeError(
                f"the loss is {float(losses.total.detach())} at step {done + 1} (learning rate "
                f"{self.recipe.learning_rate:g}); start over with --overwrite and a lower --learning-rate"
            )
        self.optimizer.zero_grad(set_to_none=True)
        losses.total.backward()
        self.optimizer.step()
        return losses.numbers()

    def _embed(self, texts: Sequence[str]) -> "Tensor":
        features = self.network.preprocess(list(texts))
        features = {name: value.to(self.device) for name, value in features.items() if hasattr(value, "to")}
        found: Tensor = self.network(features)["sentence_embedding"]
        return found

    def _measure(self) -> Measured:
        return measure(self.material.held_out, self.score, seed=self.recipe.seed)

    def _gain(self, before: Measured, done: int) -> Gain:
        after = self._measure()
        return Gain(before, after, rank_correlation(before.clean, after.clean), done)

    def _save(self, done: int) -> None:
        self.curves.flush()
        save_state(self.folder / STATE, self.network, self.optimizer, step=done, settings=self.settings)


@contextmanager
def _asked_to_stop() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed: a step is finished and saved first; pressed again, it stops at once."""
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return
    usual = signal.getsignal(signal.SIGINT)

    def hear(*_: object) -> None:
        pressed.set()
        signal.signal(signal.SIGINT, usual)

    signal.signal(signal.SIGINT, hear)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, usual)
