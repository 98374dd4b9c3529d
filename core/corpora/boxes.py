"""Boxes as corpora state them: checked, kept in one table, and those of COCO annotations."""

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.corpora.corpus_files import Findings, LeftOut, decimal, floats
from core.corpora.curation import FLAWS, Instance
from core.corpora.schema import Box, Mask, Rejection
from core.errors import InvalidInput

SLACK = 1.0  # how far, in px, a box may leave its image before the clipping is worth a remark
_FOUR = "it must be four numbers x, y, width, height in px with a positive size"


def read_box(values: Any, *, what: str, width: int, height: int, shares: bool = False) -> tuple[Box, float]:
    """Return the part of a box inside its image, and how far in px it left it (at most 0 for one inside).
    ``values``: x, y, width, height in px, as numbers or their text.
    ``shares``: whether they are shares of the image instead.
    Raises LeftOut with code ``annotation-bad-box`` or ``annotation-box-outside``."""
    try:
        if not isinstance(values, list | tuple):
            raise TypeError("not a list")
        units = (width, height, width, height) if shares else (1, 1, 1, 1)
        box = Box(*(decimal(value) * unit for value, unit in zip(values, units, strict=True)))
    except (TypeError, ValueError, OverflowError) as error:
        raise LeftOut("annotation-bad-box", f"{what} is {str(values)[:60]}; {_FOUR}") from error
    clipped = box.inside(width, height)
    if clipped is None:
        raise LeftOut("annotation-box-outside", f"{what} is {str(values)[:60]}, outside its {width} × {height} px")
    if max(box.right, box.bottom) <= 1 < min(width, height):
        told = "is no larger than a pixel; are its numbers shares of the image? They must be px"
        raise LeftOut("annotation-bad-box", f"{what}, {str(values)[:60]}, {told}")
    return clipped, max(-box.x, -box.y, box.right - width, box.bottom - height)


def in_shares(box: Any) -> bool:
    """Whether a box can only be meant in shares of its image: in pixels it would be smaller than one.

    >>> in_shares([0.25, 0.25, 0.3, 0.4]), in_shares([0, 0, 1, 40])
    (True, False)
    """
    if not isinstance(box, list | tuple) or len(box) != 4:
        return False
    sides = floats(box)
    return all(0 <= each <= 1 for each in sides) and min(sides[2:]) > 0


def boxes_in_shares(stated: Sequence[tuple[str, Any]], found: Findings) -> bool:
    """Whether every box of a file can only be meant in shares, which is remarked.
    ``stated``: where each stands, and its sides."""
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


CROWD = "crowd"
MARKS = (CROWD, *FLAWS)  # what a source may mark a box as; each is a bit of a box's marks


def bits(names: Sequence[str]) -> int:
    """Marks by name as one number."""
    return sum(1 << MARKS.index(name) for name in names)


@dataclass(slots=True)
class BoxTable:
    """Filled box by box in any order, then read image by image. ``labels``: names of the label numbers."""

    labels: list[str] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)
    _image: "array[int]" = field(default_factory=lambda: array("i"))
    _label: "array[int]" = field(default_factory=lambda: array("i"))
    _marks: "array[int]" = field(default_factory=lambda: array("B"))
    _sides: "array[float]" = field(default_factory=lambda: array("d"))

    def __len__(self) -> int:
        return len(self._image)

    def add(self, image: int, label: str, sides: Sequence[float], marks: int) -> None:
        """Add a box of an image, given by its number; four numbers, kept as they are."""
        number = self._numbers.get(label)
        if number is None:
            number = self._numbers[label] = len(self.labels)
            self.labels.append(label)
        self._image.append(image)
        self._label.append(number)
        self._marks.append(marks)
        self._sides.extend(sides)

    def by_image(self, images: int) -> Iterator["Rows"]:
        """Yield the boxes of images 0, 1, …, each image's in the order in which they came."""
        image, sides = np.array(self._image), np.array(self._sides).reshape(-1, 4)
        label, marks = np.array(self._label), np.array(self._marks)
        order = np.argsort(image, kind="stable")
        ends = np.searchsorted(image[order], np.arange(images + 1))
        for number in range(images):
            rows = order[ends[number] : ends[number + 1]]
            yield Rows([self.labels[each] for each in label[rows]], sides[rows], marks[rows], rows)


@dataclass(frozen=True, slots=True)
class Rows:
    """The boxes of one image: labels, sides [n, 4] as they were added, marks [n], places [n] in the order of adding."""

    labels: list[str]
    sides: np.ndarray
    marks: np.ndarray
    places: np.ndarray


def instance(label: str, box: Box, marks: int) -> Instance:
    """Make an instance of a checked box and its marks."""
    flaws = tuple(name for place, name in enumerate(MARKS) if place and marks >> place & 1)
    return Instance(label, box, crowd=bool(marks & 1), flaws=flaws)


def instances_of(
    rows: Rows, told: Sequence[str], size: tuple[int, int], subject: str, found: Findings
) -> list[Instance]:
    """Instances of the boxes of an image of so many pixels, each once; what is wrong with one is remarked.
    ``told``: what messages call each box."""
    width, height = size
    made: list[Instance] = []
    for label, sides, marks, what in zip(rows.labels, rows.sides.tolist(), rows.marks.tolist(), told, strict=True):
        try:
            box, overhang = read_box(sides, what=what, width=width, height=height)
        except LeftOut as reason:
            found.remark(reason.rejection(subject))
            continue
        if overhang > SLACK:
            found.remark(Rejection(subject, "annotation-box-clipped", clipped_sentence(what, overhang)))
        one = instance(label, box, marks)
        if one in made:
            found.remark(Rejection(subject, "annotation-twice", f"{what} stands twice"))
        else:
            made.append(one)
    return made


def upright_around(box: Any, turn: Mapping[str, Any]) -> tuple[Any, float]:
    """Return the upright box around a box that a file says is turned, and the degrees; itself and 0 where it is not.
    ``turn``: ``rotation`` or ``attributes`` as COCO's annotations have them; ``angle`` and ``theta``, of which no
    convention tells unit and direction, may only say 0.
    Raises LeftOut ``annotation-bad-box``, as :func:`box_and_outline`, or of such an angle."""
    for name in ("angle", "theta"):
        if floats([turn.get(name, 0)]) != [0.0]:
            told = f"its {name} is {str(turn[name])[:40]!r}, and nothing tells its unit and direction"
            cure = "state rotation: degrees clockwise about the centre of the box"
            raise LeftOut("annotation-bad-box", f"{told}; {cure}")
    upright, _, degrees = box_and_outline({"bbox": box, **turn})
    return upright, degrees


def box_and_outline(entry: Mapping[str, Any]) -> tuple[Any, Any, float]:
    """Return the box, the segmentation and the degrees of the turn (0: none) of an annotation, the two still unchecked.
    Raises LeftOut ``annotation-bad-box`` where a turn is no number of degrees, or the turned box no four numbers in px.
    """
    box, outline = entry.get("bbox"), entry.get("segmentation")
    if isinstance(outline, list) and outline:
        outline = outline if isinstance(outline[0], list) else [outline]
    attributes = entry.get("attributes")
    stated = attributes.get("rotation") if isinstance(attributes, dict) else None
    stated = entry.get("rotation") if stated is None else stated
    degrees = 0.0 if stated is None else floats([stated])[0] % 360
    if not math.isfinite(degrees):
        raise LeftOut("annotation-bad-box", f"its rotation is {str(stated)[:40]!r}; it must be a number of degrees")
    if degrees:
        corners = _turned_corners(box, degrees)
        around = _around(outline) if outline else None
        plain = isinstance(outline, list) and len(outline) == 1 and len(outline[0]) in (8, 10)
        # an outline that is no more than the corners of the box before the turn is none of its own
        near = plain and around and all(abs(a - b) <= 1 for a, b in zip(around, floats(box or []), strict=True))
        if not outline or near:
            outline = [corners]
        return _around(outline), outline, degrees
    return _around(outline) if box in (None, [], [0, 0, 0, 0]) else box, outline, 0.0


def _turned_corners(box: Any, degrees: float) -> list[float]:
    sides = floats(box) if isinstance(box, list | tuple) else []
    if len(sides) != 4 or not all(map(math.isfinite, sides)) or min(sides[2:]) <= 0 or in_shares(box):
        raise LeftOut("annotation-bad-box", f"a turned box is {str(box)[:60]}; {_FOUR}")
    x, y, width, height = sides
    across, down = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    found: list[float] = []
    for right, below in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        dx, dy = right * width / 2, below * height / 2
        found += [x + width / 2 + dx * across - dy * down, y + height / 2 + dx * down + dy * across]
    return found


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
