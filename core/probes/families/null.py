"""The null family: invisible edits. What an evaluator does under them is its noise floor."""

from core.probes.base import Axis
from core.probes.families.spatial import image_probe
from core.probes.pixels import edits as image_edits

NULLS = (
    image_probe(
        name="null:jpeg95",
        axis=Axis.NULL,
        family="null",
        summary=f"The image is saved once more as JPEG, quality {image_edits.JPEG_QUALITY}; nobody can tell.",
        edit=image_edits.jpeg,
        move=None,
        control=True,
        source="the noise floor beside paper A, section 3.2",
    ),
    image_probe(
        name="null:shift1",
        axis=Axis.NULL,
        family="null",
        summary="The image moves one pixel to the right; nobody can tell.",
        edit=lambda pixels: image_edits.translate(pixels, right=1),
        move=image_edits.translation(1, 0),
        control=True,
        source="the noise floor beside paper A, section 3.2",
    ),
    image_probe(
        name="null:resize",
        axis=Axis.NULL,
        family="null",
        summary=f"The image is enlarged by {image_edits.RESIZE_SCALE} and brought back to its size; nobody can tell.",
        edit=image_edits.resize_and_back,
        move=None,
        control=True,
        source="the noise floor beside paper A, section 3.2",
    ),
)
