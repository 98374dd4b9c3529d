"""The losses of PR-MCS."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.errors import InvalidInput

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class LossWeights:
    """Constants of the loss.

    Args:
        original, perturbed, between: λ1, λ2, λ3. Source: paper B, B.2.
        margin: cosine below which a perturbed caption costs no more. Source: paper B, 3.4.
        scale: what cosines are multiplied with in the contrastive loss; 100 is what CLIP ViT-B/32 was trained to.
    """

    original: float = 0.1
    perturbed: float = 0.05
    between: float = 0.05
    margin: float = 0.1
    scale: float = 100.0

    def __post_init__(self) -> None:
        for name, value in (("λ1", self.original), ("λ2", self.perturbed), ("λ3", self.between)):
            if not 0 <= value < float("inf"):
                raise InvalidInput(f"{name} must be 0 or more, got {value!r}")
        if not -1 <= self.margin <= 1:
            raise InvalidInput(f"the margin is a cosine, in [-1, 1], got {self.margin!r}")
        if not 0 < self.scale < float("inf"):
            raise InvalidInput(f"the scale of the contrastive loss must be positive, got {self.scale!r}")


@dataclass(frozen=True, slots=True)
class PrMcsLosses:
    """Mean of each loss over a batch, scalars: ``total`` is what is minimised."""

    total: "Tensor"
    clip: "Tensor"
    original: "Tensor"
    perturbed: "Tensor"
    between: "Tensor"

    def numbers(self) -> dict[str, float]:
        """The five as plain numbers."""
        return {name: float(getattr(self, name).detach()) for name in self.__dataclass_fields__}


def pr_mcs_losses(images: "Tensor", originals: "Tensor", perturbed: "Tensor", weights: LossWeights) -> PrMcsLosses:
    """L = L_CLIP + λ1·(1 − cos(V,To)) + λ2·max(m, cos(V,Tp)) + λ3·max(m, cos(To,Tp)).

    L_CLIP is CLIP's own loss over the images and original captions of the batch: the mean of the cross-entropies
    along rows and columns of scale · cos.

    Args:
        images, originals, perturbed: float [n, d] of any length, row by row of one triplet.

    Source: paper B, section 3.4, equations 1 to 3.
    """
    import torch
    from torch.nn.functional import cross_entropy, normalize

    images, originals, perturbed = (normalize(each, dim=-1) for each in (images, originals, perturbed))
    logits = weights.scale * images @ originals.T
    own = torch.arange(len(logits), device=logits.device)
    clip = (cross_entropy(logits, own) + cross_entropy(logits.T, own)) / 2
    first = (1 - (images * originals).sum(dim=-1)).mean()
    second = (images * perturbed).sum(dim=-1).clamp(min=weights.margin).mean()
    third = (originals * perturbed).sum(dim=-1).clamp(min=weights.margin).mean()
    total = clip + weights.original * first + weights.perturbed * second + weights.between * third
    return PrMcsLosses(total, clip, first, second, third)
