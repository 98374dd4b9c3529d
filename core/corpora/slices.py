"""Which images of an annotated corpus become items: one dominant object, a few prominent ones, or all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from core.corpora.curation import CURATION_OPTIONS, Curation, Instance, largest, single_object, touching_sides
from core.corpora.files import LeftOut
from core.errors import InvalidInput

SINGLE, MULTI, ALL = "single-object", "multi-object", "all"
SLICES = (SINGLE, MULTI, ALL)

PROMINENT_SHARE = 0.05
"""Least share of the image that a prominent object's box covers."""

PROMINENT_SIDES = 1
"""Most sides of the image that a prominent object's box touches."""

PROMINENT_IOU = 0.5
"""IoU that the boxes of two prominent objects stay below."""

FEWEST, MOST = 2, 4
"""Prominent objects of a multi-object image. Paper A (A.10) gives no rule; these numbers are this project's."""

SLICE_OPTIONS = {
    "slice": "single-object (default): images about one object; multi-object: about two to four prominent ones; "
    "all: every image, with its largest object",
    **CURATION_OPTIONS,
}


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice and its settings; ``curation`` is that of the single-object slice, None for the others."""

    name: str
    curation: Curation | None

    @classmethod
    def from_options(cls, name: str, curation: Mapping[str, Any]) -> "Slice":
        """Check a slice and the settings that were given with it.

        Raises:
            InvalidInput: for an unknown slice, settings that do not belong to it, or one that breaks its rule.
        """
        if name not in SLICES:
            raise InvalidInput(f"slice must be one of {', '.join(SLICES)}, got {name!r}")
        own = {key: value for key, value in curation.items() if name == SINGLE or (name, key) == (MULTI, "border")}
        if len(own) < len(curation):
            strange = next(key for key in curation if key not in own)
            raise InvalidInput(f"{strange} belongs to slice={SINGLE}; leave it out with slice={name}")
        return cls(name, None if name == ALL else Curation.from_options(own))

    def choose(self, instances: Sequence[Instance], *, width: int, height: int) -> Instance | None:
        """Return the instance that stands for the image; None in the slice ``all`` where there is none.

        Raises:
            LeftOut: with the first rule that the image breaks.
        """
        if self.curation is None:
            return largest(instances)
        if self.name == SINGLE:
            return single_object(instances, width=width, height=height, curation=self.curation)
        return _most_prominent(instances, width, height, self.curation.border)

    def sentence(self) -> str:
        """The slice in words."""
        if self.curation is None:
            return "all images"
        if self.name == SINGLE:
            return self.curation.sentence()
        return (
            f"multi-object: {FEWEST} to {MOST} boxes of at least {PROMINENT_SHARE:.0%} of the image, none a crowd, "
            f"at most {PROMINENT_SIDES} side within {self.curation.border:g} px of the border, IoU below "
            f"{PROMINENT_IOU:g}; the item's object is the largest"
        )


def prominent(instances: Sequence[Instance], *, width: int, height: int, border: float) -> list[Instance]:
    """Instances that a reader would name, largest first: large enough, no crowd, whole but for one side, unflawed."""
    found = [
        each for each in instances
        if not each.crowd and not each.flaws and each.box.coverage(width, height) >= PROMINENT_SHARE
        and len(touching_sides(each.box, width, height, border=border)) <= PROMINENT_SIDES
    ]  # fmt: skip
    return sorted(found, key=lambda each: -each.box.area)


def _most_prominent(instances: Sequence[Instance], width: int, height: int, border: float) -> Instance:
    found = prominent(instances, width=width, height=height, border=border)
    if not FEWEST <= len(found) <= MOST:
        raise LeftOut("not-multi-object", f"{len(found)} prominent objects; {FEWEST} to {MOST} are asked for")
    for first, second in combinations(found, 2):
        overlap = first.box.iou(second.box)
        if overlap >= PROMINENT_IOU:
            raise LeftOut("overlap", f"{first.label} overlaps {second.label} with IoU {overlap:.2f}; "
                          f"below {PROMINENT_IOU:g} is asked for")  # fmt: skip
    return found[0]
