"""A metric that needs no model, as a reader would write it into a notebook."""

from collections.abc import Sequence

import numpy as np

from core.evaluators.base import Evaluator, Fingerprint, evaluator


def make(name: str = "notebook-brightness", *, gain: float = 1.0) -> type[Evaluator]:
    """The class, made anew as running a cell again does."""

    @evaluator(
        name=name,
        title="Brightness",
        summary="Mean brightness, whatever the caption.",
        family="example",
        score_range=(0.0, None),
        memory_mb=1,
        offline=True,
        source="tests",
        licence="Apache-2.0",
        languages=("en",),
    )
    class Brightness(Evaluator):
        @classmethod
        def load(cls, *, device: str = "cpu") -> "Brightness":
            return cls()

        @property
        def fingerprint(self) -> Fingerprint:
            return Fingerprint(name=name, weights="none", preprocessing=f"gain {gain}", precision="float64")

        def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
            return np.array([gain * image.mean() / 255 for image in images])

    return Brightness
