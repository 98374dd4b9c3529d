"""An evaluator that a test makes of one function."""

from collections.abc import Callable, Sequence

import numpy as np

from core.evaluators.base import Evaluator, Fingerprint, evaluator

Score = Callable[[Sequence[np.ndarray], Sequence[str]], np.ndarray]


def handmade(score: Score) -> Evaluator:
    """Load an evaluator named ``handmade`` that scores as told: (images, captions) -> float64 [n]."""

    @evaluator(
        name="handmade",
        title="Handmade",
        summary="Of a test.",
        family="test",
        score_range=(0.0, None),
        memory_mb=1,
        offline=True,
        source="none",
        licence="Apache-2.0",
    )
    class Handmade(Evaluator):
        """Scores as told."""

        @classmethod
        def load(cls, *, device: str = "cpu") -> "Handmade":
            return cls()

        @property
        def fingerprint(self) -> Fingerprint:
            return Fingerprint("handmade", "none", "none", "float64")

        def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
            return score(images, captions)

    return Handmade.load()
