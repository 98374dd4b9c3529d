"""An evaluator that loads in no time: the campaign's kills fall into the audit, not into a model's loading."""

import zlib
from collections.abc import Sequence
from typing import Self

import numpy as np

from core.evaluators.base import Evaluator, Fingerprint, evaluator


@evaluator(
    name="colours",
    title="Colours",
    summary="Mean colour against the letters.",
    family="siege",
    score_range=(0.0, 1.0),
    memory_mb=10,
    offline=True,
    source="none",
    licence="Apache-2.0",
)
class Colours(Evaluator):
    """How close the mean colour of a picture is to three numbers that a caption's letters come to."""

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        """Nothing is loaded."""
        return cls()

    @property
    def fingerprint(self) -> Fingerprint:
        """What its scores depend on."""
        return Fingerprint("colours", "none", "mean of the upper half", "float64")

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """One score a pair, float64 in [0, 1]."""
        return np.array([_score(*pair) for pair in zip(images, captions, strict=True)])

    def truncates(self, caption: str) -> bool:
        """It reads every letter."""
        return False


def _score(pixels: np.ndarray, caption: str) -> float:
    seen = pixels[: max(1, len(pixels) // 2)].mean(axis=(0, 1)) / 255
    code = zlib.crc32(caption.encode())
    told = np.array([code & 255, code >> 8 & 255, code >> 16 & 255]) / 255
    return float(1 - np.abs(seen - told).mean())
