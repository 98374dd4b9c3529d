"""An evaluator that looks at the upper half of a picture alone."""

from collections.abc import Sequence

import numpy as np

from core.evaluators.base import Evaluator, Fingerprint, evaluator


@evaluator(
    name="sky",
    title="Sky",
    summary="Brightness above.",
    family="example",
    score_range=(0.0, None),
    memory_mb=1,
    offline=True,
    source="tests",
    licence="Apache-2.0",
    languages=("en",),
)
class Sky(Evaluator):
    """Upside down, a picture of 100 above and 90 below is 10 % darker."""

    @classmethod
    def load(cls, *, device: str = "cpu") -> "Sky":
        return cls()

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(name="sky", weights="none", preprocessing="none", precision="float64")

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        return np.array([image[: len(image) // 2].mean() / 255 for image in images])
