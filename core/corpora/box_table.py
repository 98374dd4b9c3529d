"""Boxes of many images in columns: a million of them take about 50 MB, as Python objects ten times that."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.corpora.curation import FLAWS, Instance
from core.corpora.schema import Box

CROWD = "crowd"
MARKS = (CROWD, *FLAWS)
"""What a source may mark a box as; each is a bit of a box's marks."""


def bits(names: Sequence[str]) -> int:
    """Marks by name as one number."""
    return sum(1 << MARKS.index(name) for name in names)


@dataclass(slots=True)
class BoxTable:
    """Filled box by box in any order, then read image by image.

    Args:
        labels: names of the label numbers.
    """

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
