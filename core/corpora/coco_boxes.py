"""The box and the outline of a COCO annotation as its tool meant them: turned, without a box, or in shares.

A box that was turned (``attributes: {"rotation": 45}``, as CVAT and datumaro write it) is stated as it stood before the
turn: degrees clockwise as seen on the screen, about its centre. What the picture shows lies in the turned one, so the
upright box around that is taken, and its four corners as the outline.
"""

import math
from collections.abc import Mapping
from typing import Any

from core.corpora.boxes import in_shares
from core.corpora.files import LeftOut
from core.corpora.schema import Mask
from core.corpora.stated import floats
from core.errors import InvalidInput


def upright_around(box: Any, turn: Mapping[str, Any]) -> tuple[Any, float]:
    """Return the upright box around a box that a file says is turned, and the degrees; itself and 0 where it is not.

    Args:
        turn: ``rotation`` or ``attributes`` as COCO's annotations have them; ``angle`` and ``theta``, of which no
            convention tells unit and direction, may only say 0.

    Raises:
        LeftOut: ``annotation-bad-box``, as :func:`box_and_outline`, or of such an angle.
    """
    for name in ("angle", "theta"):
        if floats([turn.get(name, 0)]) != [0.0]:
            told = f"its {name} is {str(turn[name])[:40]!r}, and nothing tells its unit and direction"
            cure = "state rotation: degrees clockwise about the centre of the box"
            raise LeftOut("annotation-bad-box", f"{told}; {cure}")
    upright, _, degrees = box_and_outline({"bbox": box, **turn})
    return upright, degrees


def box_and_outline(entry: Mapping[str, Any]) -> tuple[Any, Any, float]:
    """Return the box, the segmentation and the degrees of the turn (0: none) of an annotation, the two still unchecked.

    Raises:
        LeftOut: ``annotation-bad-box`` where a turn is no number of degrees, or the turned box no four numbers in px.
    """
    box, outline = entry.get("bbox"), entry.get("segmentation")
    if isinstance(outline, list) and outline:
        outline = outline if isinstance(outline[0], list) else [outline]
    degrees = _turn(entry)
    if degrees:
        corners = _turned_corners(box, degrees)
        if not _own(outline, box):
            outline = [corners]
        return _around(outline), outline, degrees
    return _around(outline) if box in (None, [], [0, 0, 0, 0]) else box, outline, 0.0


def _turn(entry: Mapping[str, Any]) -> float:
    attributes = entry.get("attributes")
    stated = attributes.get("rotation") if isinstance(attributes, dict) else None
    stated = entry.get("rotation") if stated is None else stated
    degrees = 0.0 if stated is None else floats([stated])[0]
    if not math.isfinite(degrees):
        raise LeftOut("annotation-bad-box", f"its rotation is {str(stated)[:40]!r}; it must be a number of degrees")
    return degrees % 360


def _turned_corners(box: Any, degrees: float) -> list[float]:
    sides = floats(box) if isinstance(box, list | tuple) else []
    if len(sides) != 4 or not all(map(math.isfinite, sides)) or min(sides[2:]) <= 0 or in_shares(box):
        raise LeftOut("annotation-bad-box", f"a turned box is {str(box)[:60]}; it must be four numbers x, y, width, "
                      "height in px with a positive size")  # fmt: skip
    x, y, width, height = sides
    across, down = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    found: list[float] = []
    for right, below in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        dx, dy = right * width / 2, below * height / 2
        found += [x + width / 2 + dx * across - dy * down, y + height / 2 + dx * down + dy * across]
    return found


def _own(outline: Any, box: Any) -> bool:
    """Whether a turned annotation has an outline of its own: more than the corners of the box before the turn."""
    if not outline:
        return False
    around = _around(outline)
    plain = isinstance(outline, list) and len(outline) == 1 and len(outline[0]) in (8, 10)
    return not (plain and around and all(abs(one - other) <= 1 for one, other in zip(around, floats(box), strict=True)))


def _around(outline: Any) -> list[float] | None:
    """The upright box around polygons or a run-length encoding; None where there is none."""
    if isinstance(outline, list):
        flat = [value for part in outline if isinstance(part, list) for value in part]
        if not flat or len(flat) % 2 or not all(map(math.isfinite, floats(flat))):
            return None
        xs, ys = floats(flat[::2]), floats(flat[1::2])
        return [min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)]
    try:
        box = Mask.from_coco(outline, *outline["size"]).box
    except (InvalidInput, TypeError, KeyError, ValueError):
        return None
    return None if box is None else [box.x, box.y, box.width, box.height]
