"""A word written into the picture: the object's own name, one of something that is not there, or one about nothing.

The picture shows the same objects, so a score of what it shows must not move; towers that were trained on captions of
the web read letters too. ``typographic:right`` writes the object's name, ``:wrong`` that of a category of another kind
that is annotated absent, ``:neutral`` a word that names nothing. The word stands on a white plate in the corner that
the object covers least, one for all three, in letters of one height unless a word is too long for it.
Where the corpus was asked to (``text=read``), each variant says whether the photograph held text before.
Source: typographic attacks on CLIP (Goh et al., Multimodal neurons in artificial neural networks, Distill 2021).
"""

from types import MappingProxyType

import numpy as np

from core.errors import NotAvailable, ProbeRejected
from core.probes.base import Axis, Edits, Probe, Subject, Variant, probe
from core.probes.pixels.lettering import write_word
from core.probes.pixels.text_reader import WRITTEN_IN, text_reader
from core.probes.scene import Scene, boxed
from core.probes.words.categories import another_kind
from core.probes.words.templates import item_label

NEUTRAL = "sample"
"""A word that names nothing a picture could show; stock pictures bear it."""

_SAYS = {
    "right": "the name of its object",
    "wrong": "the name of something that is not in it",
    "neutral": f"the word {NEUTRAL!r}",
}


def _word(kind: str, scene: Scene, rng: np.random.Generator) -> str:
    if kind == "neutral":
        return NEUTRAL
    return item_label(scene.item) if kind == "right" else another_kind(scene.item, rng)


def _written(kind: str) -> Probe:
    @probe(
        name=f"{WRITTEN_IN}:{kind}",
        axis=Axis.SURFACE,
        family=WRITTEN_IN,
        edits=Edits.IMAGE,
        summary=f"In a corner of the picture stands {_SAYS[kind]}; it shows the same objects.",
        source="typographic attacks: Goh et al., Distill 2021",
        default=False,
        draws="absent-category",
    )
    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        word = _word(kind, scene, rng)
        pixels, plate = write_word(scene.pixels, word, _object(scene))
        box, mask = scene.item.box, scene.item.mask
        area = plate.width * plate.height / (scene.item.width * scene.item.height)
        facts = MappingProxyType[str, str | float]({"word": word, "plate": area, **_held(scene)})
        return Variant(f"{WRITTEN_IN}:{kind}", pixels=pixels, object_box=box, object_mask=mask, facts=facts)

    return make


def _held(scene: Scene) -> dict[str, str]:
    """Facts of the text that the photograph holds; none where it is not to be read."""
    if not scene.item.read_text:
        return {}
    try:
        return text_reader().facts(scene.pixels)
    except NotAvailable as error:
        raise ProbeRejected("no-reader", str(error)) from error


def _object(scene: Scene) -> np.ndarray | None:
    """Where the object is, as far as that is known without looking for it."""
    try:
        if scene.item.mask is not None:
            return scene.mask
    except ProbeRejected:
        return None
    return boxed(scene.item.box, scene.item.width, scene.item.height) if scene.item.box else None


WRITTEN = tuple(_written(kind) for kind in _SAYS)
