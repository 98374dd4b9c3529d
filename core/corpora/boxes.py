"""Boxes as annotation files state them: checked, and cut to their image."""

from typing import Any

from core.corpora.files import LeftOut
from core.corpora.schema import Box

SLACK = 1.0
"""How far, in px, a box may leave its image before the clipping is worth a remark."""


def read_box(values: Any, *, what: str, width: int, height: int) -> tuple[Box, float]:
    """Return the part of a box inside its image, and how far in px it left it (at most 0 for one inside).

    Args:
        values: x, y, width, height in px, as numbers or their text.
        what: what messages call the box.
        width: of the image, in pixels.
        height: of the image, in pixels.

    Raises:
        LeftOut: with code ``annotation-bad-box`` or ``annotation-box-outside``.
    """
    try:
        if not isinstance(values, list | tuple):
            raise TypeError("not a list")
        box = Box(*(float(value) for value in values))
    except (TypeError, ValueError, OverflowError) as error:
        detail = f"{what} is {str(values)[:60]}; it must be four numbers x, y, width, height in px with a positive size"
        raise LeftOut("annotation-bad-box", detail) from error
    clipped = box.inside(width, height)
    if clipped is None:
        raise LeftOut("annotation-box-outside", f"{what} is {str(values)[:60]}, outside its {width} × {height} px")
    return clipped, max(-box.x, -box.y, box.right - width, box.bottom - height)


def clipped_sentence(what: str, overhang: float) -> str:
    """What a reader is told about a box that was cut."""
    return f"{what} left it by {overhang:.0f} px; only the part inside is used"
