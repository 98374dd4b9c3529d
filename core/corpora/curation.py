"""Slices: which instance an image is about, or why it is about no single one, or not about a few.

Source: paper A, sections 3.1, A.2 and A.10.

A seeded sample of a corpus that is even over category and coverage, and the table that shows how even it is.

Every cell of category × coverage bin gives the same number of items as long as it has some left; cells that run out
give all they have. Within a cell the draw is uniform without replacement, from its own stream, so the sample does
not depend on the order of the items, and a smaller sample is part of a larger one of the same seed.
Source: paper A, 3.1 (categories and bins); stratified sampling with equal allocation, Cochran (1977), 5.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from core.corpora.corpus_files import LeftOut
from core.corpora.schema import COVERAGE_BINS, Box, Corpus, Item
from core.errors import InvalidInput
from core.seeds import RUN_SEED, stream


@dataclass(frozen=True, slots=True)
class Curation:
    """What counts as a single object. Every value is written into the description of the corpus.

    An image is kept when its *dominant* instance, the one with the largest box, is:

    - alone in its size: its box is at least ``dominance`` times the next largest box, crowds included;
    - one thing: not a region that the source calls a crowd;
    - clear of the others: box IoU with each of them below ``max_iou``;
    - whole: at most ``max_touching_sides`` sides of its box lie within ``border`` px of the image's border;
    - large enough to see: the shorter side of its box has at least ``min_box_side`` px.
    """

    dominance: float = 2.0  # least ratio of the largest to the second largest box area, at least 1
    max_iou: float = 0.1  # exclusive upper bound, in (0, 1]. Source: paper A, section 3.1 (0.1).
    # in px; on COCO photographs the boxes of visibly cut-off objects ended up to 2.4 px short of the border
    border: float = 3.0
    max_touching_sides: int = 0  # 0 is "no truncation"; 4 switches the rule off
    min_box_side: float = 16.0  # in px

    def __post_init__(self) -> None:
        rules = (
            (self.dominance >= 1, "dominance must be at least 1", self.dominance),
            (0 < self.max_iou <= 1, "max_iou must lie in (0, 1]", self.max_iou),
            (self.border >= 0, "border must be at least 0 px", self.border),
            (0 <= self.max_touching_sides <= 4, "max_touching_sides must lie in 0..4", self.max_touching_sides),
            (self.min_box_side >= 1, "min_box_side must be at least 1 px", self.min_box_side),
        )
        for holds, rule, value in rules:
            if not holds:
                raise InvalidInput(f"{rule}, got {value}")

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> "Curation":
        """Build the settings from options given as numbers or as their text.
        Raises InvalidInput if one is no number, or breaks its rule."""
        values: dict[str, Any] = {}
        for name, value in options.items():
            kind = int if name == "max_touching_sides" else float
            try:
                values[name] = kind(value)
            except (TypeError, ValueError) as error:
                raise InvalidInput(f"{name} must be a number, got {value!r}") from error
        return cls(**values)

    def sentence(self) -> str:
        """The settings in words."""
        return (
            f"single object: box at least {self.dominance:g} × the next largest, IoU below {self.max_iou:g}, "
            f"at most {self.max_touching_sides} sides within {self.border:g} px of the border, "
            f"shorter side at least {self.min_box_side:g} px"
        )


CURATION_OPTIONS = {
    "dominance": "least ratio of the largest to the next largest box (2)",
    "max_iou": "box IoU with every other instance stays below it (0.1)",
    "border": "px within which a box counts as touching the image's border (3)",
    "max_touching_sides": "how many sides may touch; 0 is no truncation (0)",
    "min_box_side": "px of the box's shorter side (16)",
}
"""The settings of :class:`Curation` as options of a loader, with their defaults."""

FLAWS: Mapping[str, str] = {
    "truncated": "is marked as cut off by the border of the image",
    "occluded": "is marked as partly hidden by another object",
    "depiction": "is marked as a depiction of the thing, such as a drawing or a toy",
    "inside-view": "is marked as seen from inside",
    "reflected": "is marked as a reflection",
}
"""What a source may say of an instance so that it is no object to audit: code -> what a reader is told."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One annotated instance of an image.
    ``crowd``: a region that holds several. ``flaws``: of FLAWS, what the source says of it."""

    label: str
    box: Box
    crowd: bool = False
    flaws: tuple[str, ...] = ()


def largest(instances: Sequence[Instance]) -> Instance | None:
    """Return the instance with the largest box that is no crowd (the first of equals), or None."""
    single = [instance for instance in instances if not instance.crowd]
    return max(single, key=lambda instance: instance.box.area, default=None)


def touching_sides(box: Box, width: int, height: int, *, border: float) -> tuple[str, ...]:
    """Return the sides of the image (left, top, right, bottom) within ``border`` px of the box."""
    gaps = {"left": box.x, "top": box.y, "right": width - box.right, "bottom": height - box.bottom}
    return tuple(side for side, gap in gaps.items() if gap <= border)


def single_object(instances: Sequence[Instance], *, width: int, height: int, curation: Curation) -> Instance:
    """Return the one instance that the image is about.
    Raises LeftOut with the first rule that the image breaks; its code is ``no-object``, ``crowd``, a code of FLAWS,
    ``not-dominant``, ``overlap``, ``truncated`` or ``small-object``, tested in that order."""
    if not instances:
        raise LeftOut("no-object", "no instance is annotated")
    ranked = sorted(instances, key=lambda instance: -instance.box.area)
    dominant, others = ranked[0], ranked[1:]
    if dominant.crowd:
        raise LeftOut("crowd", f"the largest box is a crowd of {dominant.label!r}, not one object")
    if dominant.flaws:
        raise LeftOut(dominant.flaws[0], f"the largest box ({dominant.label}) {FLAWS[dominant.flaws[0]]}")
    if others:
        ratio = dominant.box.area / others[0].box.area
        if ratio < curation.dominance:
            told = f"only {ratio:.2f} × the next ({others[0].label}); {curation.dominance:g} × is asked for"
            raise LeftOut("not-dominant", f"the largest box ({dominant.label}) is {told}")
        nearest = max(others, key=lambda other: dominant.box.iou(other.box))
        overlap = dominant.box.iou(nearest.box)
        if overlap >= curation.max_iou:
            told = f"with IoU {overlap:.2f}; below {curation.max_iou:g} is asked for"
            raise LeftOut("overlap", f"{dominant.label} overlaps {nearest.label} {told}")
    touching = touching_sides(dominant.box, width, height, border=curation.border)
    if len(touching) > curation.max_touching_sides:
        raise LeftOut("truncated", f"{dominant.label} reaches the {', '.join(touching)} border and may be cut off")
    side = min(dominant.box.width, dominant.box.height)
    if side < curation.min_box_side:
        told = f"only {side:.0f} px in its shorter side; {curation.min_box_side:g} px are asked for"
        raise LeftOut("small-object", f"the box of {dominant.label} is {told}")
    return dominant


SINGLE, MULTI, ALL = "single-object", "multi-object", "all"
SLICES = (SINGLE, MULTI, ALL)

PROMINENT_SHARE = 0.05  # least share of the image that a prominent object's box covers
PROMINENT_SIDES = 1  # most sides of the image that a prominent object's box touches
PROMINENT_IOU = 0.5  # IoU that the boxes of two prominent objects stay below

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
        Raises InvalidInput for an unknown slice, settings that do not belong to it, or one that breaks its rule."""
        if name not in SLICES:
            raise InvalidInput(f"slice must be one of {', '.join(SLICES)}, got {name!r}")
        own = {key: value for key, value in curation.items() if name == SINGLE or (name, key) == (MULTI, "border")}
        if len(own) < len(curation):
            strange = next(key for key in curation if key not in own)
            raise InvalidInput(f"{strange} belongs to slice={SINGLE}; leave it out with slice={name}")
        return cls(name, None if name == ALL else Curation.from_options(own))

    def choose(self, instances: Sequence[Instance], *, width: int, height: int) -> Instance | None:
        """Return the instance that stands for the image; None in the slice ``all`` where there is none.
        Raises LeftOut with the first rule that the image breaks."""
        if self.curation is None:
            return largest(instances)
        if self.name == SINGLE:
            return single_object(instances, width=width, height=height, curation=self.curation)
        found = prominent(instances, width=width, height=height, border=self.curation.border)
        if not FEWEST <= len(found) <= MOST:
            raise LeftOut("not-multi-object", f"{len(found)} prominent objects; {FEWEST} to {MOST} are asked for")
        for first, second in combinations(found, 2):
            overlap = first.box.iou(second.box)
            if overlap >= PROMINENT_IOU:
                told = f"with IoU {overlap:.2f}; below {PROMINENT_IOU:g} is asked for"
                raise LeftOut("overlap", f"{first.label} overlaps {second.label} {told}")
        return found[0]

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
        each
        for each in instances
        if not each.crowd
        and not each.flaws
        and each.box.coverage(width, height) >= PROMINENT_SHARE
        and len(touching_sides(each.box, width, height, border=border)) <= PROMINENT_SIDES
    ]
    return sorted(found, key=lambda each: -each.box.area)


NO_CATEGORY, NO_BOX = "none", "no box"

Cell = tuple[str, str]  # category and coverage bin; NO_CATEGORY and NO_BOX where an item has none


def cell_of(item: Item) -> Cell:
    """The cell that an item lies in."""
    return item.category or NO_CATEGORY, item.coverage_bin or NO_BOX


def stratified(corpus: Corpus, count: int, *, seed: int = RUN_SEED) -> Corpus:
    """Return a corpus of ``count`` items, in the order of the given one; all of them where it has no more.
    Raises InvalidInput if count is below 1."""
    if count < 1:
        raise InvalidInput(f"sample must be at least 1, got {count}")
    cells: dict[Cell, list[str]] = {}
    for item in corpus.items:
        cells.setdefault(cell_of(item), []).append(item.id)
    names = sorted(cells)
    order = [names[place] for place in stream(seed, "sample", "cells").permutation(len(names))]
    given = quotas({cell: len(cells[cell]) for cell in order}, count)
    chosen: set[str] = set()
    for cell, ids in cells.items():
        shuffled = stream(seed, "sample", *cell).permutation(sorted(ids))
        chosen.update(shuffled[: given[cell]].tolist())
    return replace(corpus, items=tuple(item for item in corpus.items if item.id in chosen))


def quotas(sizes: Mapping[Cell, int], count: int) -> dict[Cell, int]:
    """Share a number of items over cells as evenly as their sizes allow; what is left over goes to the first ones."""
    given = dict.fromkeys(sizes, 0)
    left = min(count, sum(sizes.values()))
    while left:
        open_cells = [cell for cell in sizes if given[cell] < sizes[cell]]
        each = max(left // len(open_cells), 1)
        for cell in open_cells[:left]:
            more = min(each, sizes[cell] - given[cell])
            given[cell] += more
            left -= more
    return given


def balance(items: Sequence[Item]) -> tuple[tuple[str, ...], list[tuple[str, tuple[int, ...]]]]:
    """Count the items of every cell.
    Returns the coverage bins that occur, in order, and a row a category, the most frequent first: its counts by bin."""
    counts = Counter(cell_of(item) for item in items)
    bins = tuple(name for name in (*COVERAGE_BINS, NO_BOX) if any(name == found for _, found in counts))
    totals = Counter(category for category, _ in counts.elements())
    categories = sorted(totals, key=lambda name: (-totals[name], name))
    return bins, [(name, tuple(counts[name, each] for each in bins)) for name in categories]
