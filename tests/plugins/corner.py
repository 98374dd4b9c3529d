"""An evaluator whose scores of a picture, of its flips and of their flips are known in closed form."""

from collections.abc import Sequence
from typing import Self

import numpy as np

from core.evaluators.base import Evaluator, Fingerprint, evaluator


@evaluator(
    name="corner",
    title="Corner",
    summary="Brightness of the upper left quarter.",
    family="test",
    score_range=(0.0, 1.0),
    memory_mb=10,
    offline=True,
    source="none",
    licence="Apache-2.0",
)
class Corner(Evaluator):
    """Scores the mean brightness of the upper left quarter of a picture, in [0, 1]."""

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        return cls()

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint("corner", "none", "upper left quarter", "float64")

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        return np.array([image[: len(image) // 2, : image.shape[1] // 2].mean() / 255 for image in images])
