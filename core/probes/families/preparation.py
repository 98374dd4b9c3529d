"""How a picture and a caption were prepared: shrunk, compressed, punctuated. Nothing of what they say changes.

- ``resampling:…``: the shorter side becomes 224 px and the longer one is cut off at a whole pixel, what a loader for a
  ViT-B/32 does, by one resampler or another. A loader leaves ``resampling:bicubic`` as it is, to the bit;
- ``resampling:first-800``, ``first-400``: the longer side is 800 or 400 px at most, as many stored copies are;
- ``compression:…``: the picture is saved once more as JPEG. PNG keeps every pixel, so there is nothing to score;
- ``caption-form:…``: the final full stop, the capital at the beginning, a second blank between words.

Reported gaps between captioners are as small as what such choices move, so they are near the null and no null: somebody
can see them, in the file if not in the picture.
"""

from types import MappingProxyType

import numpy as np

from core.errors import ProbeRejected
from core.probes.base import SUBJECTS, Axis, Edits, Probe, Subject, Variant, probe
from core.probes.families.spatial import image_probe
from core.probes.pixels import edits as image_edits
from core.probes.pixels.loader_edits import RESAMPLERS, Target, shrunk
from core.probes.pixels.object_moves import follow
from core.probes.scene import Scene
from core.probes.words.dressing import FORMS

NETWORK_SIDE = 224
"""Shorter side in pixels that a ViT-B/32 reads."""

STORED_SIDES = (800, 400)
"""Longer sides in pixels of copies that were made smaller before they were kept: a web page's, a preview's."""

HALF_COLOUR, WHOLE_COLOUR = "compression:q75", "compression:q75-444"
"""Probes that differ in nothing but how much of the colour JPEG keeps."""

_HOW = {
    "bicubic": "Pillow's bicubic filter",
    "bilinear": "Pillow's bilinear filter",
    "lanczos": "Pillow's Lanczos filter",
    "area": "OpenCV's area average",
    "cubic-aliased": "OpenCV's cubic interpolation, which does not smooth first",
    "linear-aliased": "OpenCV's linear interpolation, which does not smooth first",
}


def _shrinking(name: str, summary: str, target: Target, resampler: str) -> Probe:
    @probe(
        name=f"resampling:{name}",
        axis=Axis.SURFACE,
        family="resampling",
        edits=Edits.IMAGE,
        summary=summary,
        source="what loaders do before a metric",
        default=False,
    )
    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        tall, wide = scene.pixels.shape[:2]
        width, height = target.size(wide, tall)
        if (width, height) == (wide, tall):
            named = "longer" if target.longer else "shorter"
            told = f"the {named} side of {wide} × {tall} px is at most {target.side} px, so nothing would be shrunk"
            raise ProbeRejected("too-small", told)
        box, mask = follow(target.move, scene)
        pixels = shrunk(scene.pixels, width=width, height=height, resampler=resampler)
        facts = MappingProxyType[str, str | float](
            {"resampler": resampler, "width": float(width), "height": float(height)}
        )
        return Variant(f"resampling:{name}", pixels=pixels, object_box=box, object_mask=mask, facts=facts)

    return make


def _to_network(resampler: str) -> Probe:
    how = (
        f"The picture is shrunk to {NETWORK_SIDE} px on its shorter side, the longer one cut off at a whole pixel, by "
        f"{_HOW[resampler]}; it shows the same."
    )
    return _shrinking(resampler, how, Target(NETWORK_SIDE), resampler)


def compressed(name: str, summary: str, *, quality: int, chroma: str) -> Probe:
    """Make a probe that saves the picture as JPEG."""
    return image_probe(
        name=name,
        axis=Axis.SURFACE,
        family="compression",
        summary=summary,
        edit=lambda pixels: image_edits.jpeg(pixels, quality=quality, chroma=chroma),
        move=None,
        source="what storage does before a metric",
        default=False,
    )


def _form(name: str) -> Probe:
    summary, dress = FORMS[name]

    @probe(
        name=f"caption-form:{name}",
        axis=Axis.SURFACE,
        family="caption-form",
        edits=Edits.CAPTION,
        summary=summary,
        source="what captioners and tokenisers differ in",
        default=False,
        subjects=SUBJECTS,
    )
    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        caption = dress(subject.caption, subject.language)
        if caption == subject.caption:
            raise ProbeRejected("unchanged", f"caption-form:{name} leaves {subject.caption!r} as it was")
        return Variant(f"caption-form:{name}", caption=caption)

    return make


RESAMPLED = (
    *(_to_network(name) for name in RESAMPLERS),
    *(
        _shrinking(
            f"first-{side}",
            f"The picture is shrunk to {side} px on its longer side before it is scored; it shows the same.",
            Target(side, longer=True),
            "area",
        )
        for side in STORED_SIDES
    ),
)
COMPRESSED = (
    compressed(
        HALF_COLOUR, "The picture is saved as JPEG of quality 75; it shows the same.", quality=75, chroma="4:2:0"
    ),
    compressed(
        WHOLE_COLOUR,
        "The picture is saved as JPEG of quality 75 that keeps every colour (4:4:4); it shows the same.",
        quality=75,
        chroma="4:4:4",
    ),
    compressed(
        "compression:q60", "The picture is saved as JPEG of quality 60; it shows the same.", quality=60, chroma="4:2:0"
    ),
)
DRESSED = tuple(_form(name) for name in FORMS)
