"""Your own metric, in one file. Copy it, rename it, fill in the places marked HERE, then run

python -m core check metric.py:MyMetric
"""

from collections.abc import Sequence

import numpy as np

from core.errors import InvalidInput
from core.evaluators.base import Evaluator, Fingerprint, evaluator

COLOURS = {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255), "white": (255, 255, 255), "black": (0, 0, 0)}


@evaluator(
    name="my-metric",  # HERE: what tables and files call it
    title="My metric",
    summary="Share of the caption's words that name a colour which the picture shows.",
    family="example",
    score_range=(0.0, 1.0),  # every score must lie inside; (0.0, None) where there is no upper bound
    memory_mb=1,  # what it takes when loaded, so that several models fit side by side
    offline=True,
    source="assets/templates/metric.py",
    licence="Apache-2.0",
    languages=("en",),  # HERE: captions in other languages are left out; leave it away where you do not know
)
class MyMetric(Evaluator):
    """Counts colour words that fit the mean colour: a toy that runs, to be replaced."""

    @classmethod
    def load(cls, *, device: str = "cpu") -> "MyMetric":
        """HERE: load your model onto ``device``; nothing may be loaded when this file is imported."""
        return cls()

    @property
    def fingerprint(self) -> Fingerprint:
        """Everything that the scores depend on: a cached score is used again only where it is the same."""
        return Fingerprint(name=self.spec.name, weights="none", preprocessing="mean colour", precision="float64")

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """HERE: score n pairs; a pair's score must not depend on the other pairs.

        Args:
            images: n arrays, uint8 RGB [H, W, 3], of any sizes; do not write to them.
            captions: n captions in the languages named above.

        Returns:
            float64 [n]; NaN where a pair cannot be scored, never 0 instead.
        """
        if len(images) != len(captions):
            raise InvalidInput(f"score needs as many images as captions, got {len(images)} and {len(captions)}")
        return np.array([self._one(*pair) for pair in zip(images, captions, strict=True)], dtype=np.float64)

    def _one(self, image: np.ndarray, caption: str) -> float:
        words = caption.lower().split()
        if not words:
            return float("nan")
        mean = image.reshape(-1, 3).mean(axis=0)
        nearest = min(COLOURS, key=lambda name: float(np.abs(mean - COLOURS[name]).sum()))
        return 0.5 + 0.5 * sum(word.strip(".,") == nearest for word in words) / len(words)
