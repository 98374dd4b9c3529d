"""The null family: invisible edits. What an evaluator does under them is its noise floor."""

from core.probes.base import Axis, Probe
from core.probes.families.spatial import Edit, image_probe
from core.probes.pixels import edits as image_edits
from core.probes.pixels.edits import Move


def _null(name: str, summary: str, edit: Edit, move: Move | None = None) -> Probe:
    source = "the noise floor beside paper A, section 3.2"
    told = f"{summary}; nobody can tell."
    return image_probe(
        name=name, axis=Axis.NULL, family="null", summary=told, edit=edit, move=move, control=True, source=source
    )


NULLS = (
    _null("null:jpeg95", f"The image is saved once more as JPEG, quality {image_edits.JPEG_QUALITY}", image_edits.jpeg),
    _null(
        "null:shift1",
        "The image moves one pixel to the right",
        lambda pixels: image_edits.translate(pixels, right=1),
        image_edits.translation(1, 0),
    ),
    _null(
        "null:resize",
        f"The image is enlarged by {image_edits.RESIZE_SCALE} and brought back to its size",
        image_edits.resize_and_back,
    ),
)
