"""Boxes as annotation files state them: checked, and cut to their image."""

from collections.abc import Sequence
from typing import Any

from core.corpora.files import LeftOut
from core.corpora.findings import Findings
from core.corpora.schema import Box, Rejection
from core.corpora.stated import floats

SLACK = 1.0
"""How far, in px, a box may leave its image before the clipping is worth a remark."""


def read_box(values: Any, *, what: str, width: int, height: int, shares: bool = False) -> tuple[Box, float]:
    """Return the part of a box inside its image, and how far in px it left it (at most 0 for one inside).

    Args:
        values: x, y, width, height in px, as numbers or their text.
        shares: whether they are shares of the image instead.
        what: what messages call the box.
        width: of the image, in pixels.
        height: of the image, in pixels.

    Raises:
        LeftOut: with code ``annotation-bad-box`` or ``annotation-box-outside``.
    """
    try:
        if not isinstance(values, list | tuple):
            raise TypeError("not a list")
        units = (width, height, width, height) if shares else (1, 1, 1, 1)
        box = Box(*(float(value) * unit for value, unit in zip(values, units, strict=True)))
    except (TypeError, ValueError, OverflowError) as error:
        detail = f"{what} is {str(values)[:60]}; it must be four numbers x, y, width, height in px with a positive size"
        raise LeftOut("annotation-bad-box", detail) from error
    clipped = box.inside(width, height)
    if clipped is None:
        raise LeftOut("annotation-box-outside", f"{what} is {str(values)[:60]}, outside its {width} × {height} px")
    if max(box.right, box.bottom) <= 1 < min(width, height):
        told = "is no larger than a pixel; are its numbers shares of the image? They must be px"
        raise LeftOut("annotation-bad-box", f"{what}, {str(values)[:60]}, {told}")
    return clipped, max(-box.x, -box.y, box.right - width, box.bottom - height)


def in_shares(box: Any) -> bool:
    """Whether a box can only be meant in shares of its image: in pixels it would be smaller than one.

    Example:
        >>> in_shares([0.25, 0.25, 0.3, 0.4]), in_shares([0, 0, 1, 40])
        (True, False)
    """
    if not isinstance(box, list | tuple) or len(box) != 4:
        return False
    sides = floats(box)
    return all(0 <= each <= 1 for each in sides) and min(sides[2:]) > 0


def boxes_in_shares(stated: Sequence[tuple[str, Any]], found: Findings) -> bool:
    """Whether every box of a file can only be meant in shares, which is remarked.

    Args:
        stated: where each stands, and its sides.
    """
    if not stated or not all(in_shares(box) for _, box in stated):
        return False
    remark_shares(stated[0][0], len(stated), found)
    return True


def remark_shares(where: str, count: int, found: Findings) -> None:
    """Remark that the boxes of a file, the first one at a place, are read as shares."""
    detail = "every box lies between 0 and 1, so all are read as shares of their image and not as pixels"
    found.count("annotation-in-shares", count, Rejection(where, "annotation-in-shares", detail))


def turned_sentence(degrees: float) -> str:
    """What a reader is told about a box that is turned."""
    return f"turned by {degrees:g}° about its centre; the upright box around it is used"


def clipped_sentence(what: str, overhang: float) -> str:
    """What a reader is told about a box that was cut."""
    return f"{what} left it by {overhang:.0f} px; only the part inside is used"
