"""A probe, an evaluator and a corpus as a stranger would publish them: in its own package."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
from PIL import Image

from core.corpora.registry import corpus_loader
from core.corpora.schema import Corpus, Item
from core.evaluators.base import Evaluator, Fingerprint, evaluator
from core.probes.base import Axis, Edits, Subject, Variant, probe
from core.probes.scene import Scene

STEP = 20
"""How much lighter the probe makes every pixel."""


@probe(
    name="lighter", axis=Axis.SPATIAL, family="lighter", edits=Edits.IMAGE, summary="Every pixel is a little lighter."
)
def lighter(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    """Add the same to every pixel."""
    return Variant("lighter", pixels=scene.pixels + np.uint8(STEP))


@evaluator(
    name="brightness",
    title="Brightness",
    summary="How light the picture is, whatever the caption says.",
    family="test",
    score_range=(0.0, 1.0),
    memory_mb=1,
    offline=True,
    source="none",
    licence="Apache-2.0",
)
class Brightness(Evaluator):
    """The mean of all pixels."""

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        """Nothing is loaded."""
        return cls()

    @property
    def fingerprint(self) -> Fingerprint:
        """Nothing but the mean."""
        return Fingerprint("brightness", "none", "mean of all pixels", "float64")

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Mean over 255, in [0, 1]."""
        return np.array([image.mean() / 255 for image, _ in zip(images, captions, strict=True)])


@corpus_loader(name="greys", summary="Squares of one grey each.", needs_root=False)
def load_greys(root: Path | None) -> Corpus:
    """Read the squares that lie beside this file; the name of each is its grey."""
    items = []
    for path in sorted(Path(__file__).parent.glob("*.png")):
        width, height = Image.open(path).size
        captions = {"en": (f"A square of grey {path.stem}.",)}
        items.append(Item(path.stem, "greys", path, width, height, captions, label="square", licence="CC0-1.0"))
    return Corpus("greys", tuple(items))
