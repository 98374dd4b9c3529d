"""Items and what they are made of: boxes, masks, captions, categories, coverage.

What a COCO ``segmentation`` may hold is checked before its bytes reach pycocotools' C code: a run-length encoding that
does not fill its image exactly would decode to whatever lay in memory, and a polygon with coordinates far outside it
would cost memory in proportion.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pycocotools import mask as coco_mask

from core.errors import InvalidInput

_CONTINUES, _SIGN, _FIVE_BITS = 0x20, 0x10, 0x1F


def check_segmentation(segmentation: Any, height: int, width: int) -> None:
    """Check polygons or a run-length encoding against the size of their image.
    ``segmentation``: list of polygons ``[x, y, x, y, …]`` in pixels, or ``{"size": [h, w], "counts": …}`` with counts
    as a list of ints or as COCO's compressed text.
    Raises ValueError with what is wrong."""
    if isinstance(segmentation, list):
        if not segmentation:
            raise ValueError("it is an empty list")
        for polygon in segmentation:
            if not isinstance(polygon, list) or len(polygon) < 6 or len(polygon) % 2:
                raise ValueError("a polygon needs at least three points x, y")
            if not all(isinstance(value, int | float) and math.isfinite(value) for value in polygon):
                raise ValueError("a polygon's coordinates must be finite numbers")
            for name, most, sides in (("width", width, polygon[::2]), ("height", height, polygon[1::2])):
                if not (-most <= min(sides) and max(sides) <= 2 * most):
                    raise ValueError(f"a polygon leaves the image by more than its {name} of {most} px")
    elif isinstance(segmentation, dict) and {"size", "counts"} <= segmentation.keys():
        if segmentation["size"] != [height, width]:
            raise ValueError(f"its size is {segmentation['size']}, the image's [{height}, {width}]")
        counts = segmentation["counts"]
        check_counts(counts if isinstance(counts, list) else decompress_counts(counts), height * width)
    else:
        raise ValueError(f"it is {type(segmentation).__name__}, neither a list of polygons nor size and counts")


def decompress_counts(text: str | bytes) -> list[int]:
    """Return the run lengths of COCO's compressed text, e.g. ``decompress_counts("52203") == [5, 2, 2, 2, 5]``. Source:
    cocodataset/cocoapi, common/maskApi.c, rleFrString.
    Raises ValueError if the text ends inside a number or holds another alphabet."""
    data = text.encode("ascii") if isinstance(text, str) else bytes(text)
    if not data:
        return []
    digits = np.frombuffer(data, np.uint8).astype(np.int64) - 48
    ends = (digits & _CONTINUES) == 0
    first = np.flatnonzero(np.concatenate([[True], ends[:-1]]))
    number = np.cumsum(np.concatenate([[False], ends[:-1]]))
    shifts = 5 * (np.arange(len(digits)) - first[number])
    if ((digits < 0) | (digits >= 64) | (shifts > 30)).any():
        raise ValueError("its counts are no COCO run lengths")
    if not ends[-1]:
        raise ValueError("its counts end inside a number")
    counts = np.add.reduceat((digits & _FIVE_BITS) << shifts, first)
    counts -= np.where(digits[ends] & _SIGN, 1 << (shifts[ends] + 5), 0)
    for start in (1, 2):  # from the fourth on, each is told as what it is more than the one before the last
        counts[start::2] = np.cumsum(counts[start::2])
    found: list[int] = counts.tolist()
    return found


def check_counts(counts: Sequence[Any], pixels: int) -> None:
    """Raise ValueError unless run lengths fill exactly so many pixels."""
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        raise ValueError("its counts must be whole numbers of at least 0")
    if sum(counts) != pixels:
        raise ValueError(f"its counts add up to {sum(counts)} pixels, the image has {pixels}")


NONPROTO_WRONG = "nonproto-wrong"
"""The non-prototype again, with the knob wrong: only the knob differs from the item's own picture."""

PROTO_RIGHT = "proto-right"  # the prototype, with the knob right: only the kind differs, and the text fits both
PROTO_WRONG = "proto-wrong"  # the prototype with the knob wrong: paper E's adversary

PROTOTYPE_ROLES = (NONPROTO_WRONG, PROTO_RIGHT, PROTO_WRONG)
"""The item's own picture shows the non-prototype with the knob right. Source: paper E, section 3, taken apart."""

WRONG_PICTURE = "wrong-picture"
"""The picture that an item's wrong caption is right of; it may have another size. Source: Winoground."""

OTHER_VIDEO = "other-video"  # another video of the folder, of which no caption of the item is known to be true

CATEGORIES = ("person", "animal", "vehicle", "furniture", "kitchen", "sports", "electronics", "indoor", "outdoor")
"""The harmonised taxonomy. Source: paper A, section 3.1."""

EXTRA_CATEGORIES = ("appliance", "accessory", "food")  # kept apart, as paper A's Table 6 does for two of them

ANIMATE_CATEGORIES = ("person", "animal")

OWN = "own:"
"""Begins the key of a fact that stands in a column of the owner's, e.g. ``own:site``; no probe tells such a fact."""

COVERAGE_EDGES = (0.0, 0.10, 0.20, 0.35, 0.50, 0.70, 0.90, 1.0)
"""Edges of the seven coverage bins, as shares of the image area. Source: paper A, section 3.1."""

COVERAGE_BINS = ("0-10", "10-20", "20-35", "35-50", "50-70", "70-90", "90-100")


def coverage_bin(coverage: float) -> str:
    """Return the bin of a coverage, e.g. ``coverage_bin(0.12) == "10-20"``. Bins are half open, ``[low, high)``; the
    last one includes 1. Raises InvalidInput if coverage is not in (0, 1]."""
    if not 0 < coverage <= 1:
        raise InvalidInput(f"coverage must lie in (0, 1], got {coverage!r}: box area / image area")
    index = int(np.searchsorted(COVERAGE_EDGES, coverage, side="right")) - 1
    return COVERAGE_BINS[min(index, len(COVERAGE_BINS) - 1)]


@dataclass(frozen=True, slots=True)
class Box:
    """An axis-aligned box in pixels: left, top, width, height; the origin is the top left corner."""

    x: float
    y: float
    width: float
    height: float

    def __post_init__(self) -> None:
        values = (self.x, self.y, self.width, self.height)
        if not all(math.isfinite(value) for value in values) or self.width <= 0 or self.height <= 0:
            raise InvalidInput(f"a box needs finite x, y and positive width, height in pixels, got {values}")

    @classmethod
    def from_corners(cls, left: float, top: float, right: float, bottom: float) -> "Box":
        """Build a box from its corners in pixels."""
        return cls(left, top, right - left, bottom - top)

    @property
    def right(self) -> float:
        """First column to the right of the box, in pixels."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """First row below the box, in pixels."""
        return self.y + self.height

    @property
    def area(self) -> float:
        """Width × height, in square pixels."""
        return self.width * self.height

    @property
    def centre(self) -> tuple[float, float]:
        """(x, y) of the centre in pixels."""
        return self.x + self.width / 2, self.y + self.height / 2

    def intersection(self, other: "Box") -> float:
        """Area shared with another box, in square pixels."""
        across = min(self.right, other.right) - max(self.x, other.x)
        down = min(self.bottom, other.bottom) - max(self.y, other.y)
        return max(across, 0.0) * max(down, 0.0)

    def iou(self, other: "Box") -> float:
        """Intersection over union with another box, in [0, 1]."""
        shared = self.intersection(other)
        return shared / (self.area + other.area - shared)

    def inside(self, width: int, height: int) -> "Box | None":
        """Return the part of the box inside an image of that size, or None where there is none."""
        if self.x >= 0 and self.y >= 0 and self.right <= width and self.bottom <= height:
            return self  # not through its corners: that would round its size
        left, top = max(self.x, 0.0), max(self.y, 0.0)
        right, bottom = min(self.right, float(width)), min(self.bottom, float(height))
        return Box.from_corners(left, top, right, bottom) if right > left and bottom > top else None

    def coverage(self, width: int, height: int) -> float:
        """Box area over image area, in (0, 1] for a box inside the image."""
        return self.area / (width * height)


@dataclass(frozen=True, slots=True)
class Mask:
    """A binary mask as COCO's compressed run-length encoding: small, comparable, hashable."""

    height: int
    width: int
    counts: bytes

    @classmethod
    def from_array(cls, array: np.ndarray) -> "Mask":
        """Encode a boolean (or 0/1) array of shape [H, W]."""
        if array.ndim != 2:
            raise InvalidInput(f"a mask must have shape [H, W], got {array.shape}")
        encoded = coco_mask.encode(np.asfortranarray(array.astype(np.uint8)))
        return cls(array.shape[0], array.shape[1], bytes(encoded["counts"]))

    @classmethod
    def from_coco(cls, segmentation: Any, height: int, width: int) -> "Mask":
        """Encode a COCO ``segmentation``: polygons, an uncompressed or a compressed RLE.
        Raises InvalidInput if it is empty or malformed."""
        try:
            check_segmentation(segmentation, height, width)
            if isinstance(segmentation, list):
                encoded = coco_mask.merge(coco_mask.frPyObjects(segmentation, height, width))
            elif isinstance(segmentation["counts"], list):
                encoded = coco_mask.frPyObjects(segmentation, height, width)
            else:
                counts = segmentation["counts"]
                encoded = {"counts": counts.encode() if isinstance(counts, str) else counts}
        except Exception as error:  # pycocotools raises bare Exception
            raise InvalidInput(f"a segmentation must be COCO polygons or RLE: {error}") from error
        return cls(height, width, bytes(encoded["counts"]))

    def to_array(self) -> np.ndarray:
        """Decode to a boolean array [H, W]. Raises InvalidInput if the run lengths do not fill the mask exactly."""
        # Not pycocotools.mask.decode: it warns under NumPy 2, and counts that fall short show it foreign memory.
        counts = self._checked()
        runs = np.repeat(np.arange(len(counts)) % 2 == 1, counts)
        return np.ascontiguousarray(runs.reshape(self.width, self.height).T)

    def area_in(self, rows: slice, columns: slice) -> int:
        """Number of pixels inside the mask and a part of the image, without decoding it.
        ``rows``, ``columns``: as they would be taken of :meth:`to_array`, in steps of 1.
        Raises InvalidInput if the run lengths do not fill the mask exactly."""
        top, bottom, _ = rows.indices(self.height)
        left, right, _ = columns.indices(self.width)
        tall, wide = max(bottom - top, 0), max(right - left, 0)
        edges = np.cumsum(self._checked())  # where a run ends, counted down the columns
        column, row = np.divmod(edges, self.height)
        whole = np.clip(column - left, 0, wide) * tall
        before = whole + np.where((column >= left) & (column < right), np.clip(row - top, 0, tall), 0)
        return int(before[1::2].sum() - before[: len(before) // 2 * 2 : 2].sum())

    def _checked(self) -> list[int]:
        try:
            counts = decompress_counts(self.counts)
            check_counts(counts, self.height * self.width)
        except ValueError as error:
            raise InvalidInput(f"a mask of {self.height} × {self.width} px cannot be decoded: {error}") from error
        return counts

    @property
    def area(self) -> int:
        """Number of pixels inside the mask."""
        return int(coco_mask.area(self._rle()))

    @property
    def box(self) -> Box | None:
        """Tight box around the mask, or None where the mask is empty."""
        x, y, width, height = (float(value) for value in coco_mask.toBbox(self._rle()))
        return Box(x, y, width, height) if width > 0 and height > 0 else None

    def _rle(self) -> dict[str, Any]:
        return {"size": [self.height, self.width], "counts": self.counts}


@dataclass(frozen=True, slots=True)
class SceneObject:
    """Another annotated instance of the image; repositioning must not cover it."""

    label: str
    box: Box
    mask: Mask | None = None
    crowd: bool = False  # whether it stands for a group of things that were not counted


@dataclass(frozen=True, slots=True)
class Rival:
    """Another picture of an item, for tests that ask which of two pictures a caption fits better. It is read with
    :func:`core.corpora.item_pictures.read_rival`."""

    role: str  # what it is beside the item's own picture, one word, e.g. ``proto-wrong``; unique in its item.
    path: Path
    # what is known of it, for tables, e.g. ``{"knob": "count", "shown": 3}``.
    facts: Mapping[str, str | float] = field(default_factory=dict)
    bytes_sha256: str | None = None  # hash of the file; None until it has been read
    pixels_sha256: str | None = None  # hash of the decoded RGB array
    size: tuple[int, int] | None = None  # width and height in pixels; None: those of the item's own picture
    frames: tuple[int, ...] = ()  # places of the frames that are looked at, where ``path`` is a video; empty: a picture


@dataclass(frozen=True, slots=True)
class Item:
    """One image, or one video, with its captions, label, category, box, mask and coverage. ``image_path`` is None for
    an image that lives in memory only (an upload). Pixels are read with :func:`core.corpora.item_pictures.read_item`;
    nothing here touches the disk."""

    id: str
    corpus: str
    image_path: Path | None
    width: int
    height: int
    # captions by ISO 639-1 language, in the order of the source, e.g. ``{"en": ("A badger.",)}``.
    captions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    label: str | None = None  # singular English noun of the dominant object, as the source names it (``dining table``)
    category: str | None = None  # one of CATEGORIES or EXTRA_CATEGORIES
    box: Box | None = None  # tight box of the dominant object, inside the image
    mask: Mask | None = None
    others: tuple[SceneObject, ...] = ()
    licence: str = "unknown"
    source: str = "unknown"
    bytes_sha256: str | None = None  # hash of the file; None until it has been read
    pixels_sha256: str | None = None  # hash of the decoded RGB array (see ``core.corpora.images.pixel_hash``)
    # what several items share so that they are no independent observations, e.g. the cut-out that they were composed
    # of; None: nothing, the image stands for itself. Of two sources that cross, such as a cut-out and its background,
    # or a photographer and a captioner, both: ``("frog", "pebbles")``; more are not looked at. An empty name is none:
    # a first one is then the image, a second one is not there.
    group: str | tuple[str, ...] | None = None
    rivals: tuple[Rival, ...] = ()  # other pictures of the same text
    # what a test about rivals says of the item, for tables, e.g. ``{"domain": "animal"}``; and what a table of the
    # owner's says of it, under OWN and its column, e.g. ``{"own:site": "hospital"}``.
    facts: Mapping[str, str | float] = field(default_factory=dict)
    # a caption by language that the corpus says is wrong of the image, beside the first one of ``captions``
    wrong: Mapping[str, str] = field(default_factory=dict)
    # critical objects of each caption, in the order of ``captions``, where the corpus lists them
    named: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    # name of the place that the object was composed onto, where it can be drawn again without the object; empty: a
    # photograph, or nobody knows
    backdrop: str = ""
    # places of the frames that are looked at, from 0, never falling, where ``image_path`` is a video (a file or a
    # folder of frames): its pixels are a stack of these frames. Empty: a picture.
    frames: tuple[int, ...] = ()
    # the tagger that read the label off the item's caption, e.g. ``rules``; empty: the source gives the label, or
    # there is none.
    label_by: str = ""
    # other names that the source gives an object of the item, by its label, e.g. ``{"handbag": ("satchel",)}``.
    synonyms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # names of kinds of things of which the source marked every one that the picture shows, so that one without a mark
    # is not there; empty: the source does not say
    looked_for: frozenset[str] = frozenset()
    also_there: tuple[str, ...] = ()  # names of things that the source says are there without saying where
    # whether an edit that writes a word is to say what the picture says already; see :mod:`core.corpora.registry`
    read_text: bool = False

    def __post_init__(self) -> None:
        roles = [rival.role for rival in self.rivals]
        if len(set(roles)) < len(roles):
            raise InvalidInput(f"item {self.id!r} has two rivals of one role, got {', '.join(roles)}; rename one")

    def rival(self, role: str) -> Rival | None:
        """Return the rival of a role, or None."""
        return next((rival for rival in self.rivals if rival.role == role), None)

    def drawn_with(self, pixels: str) -> str:
        """The source that the item is resampled and split with: its group, else the hash of its picture. Equal pixels
        are one source, whatever the files that hold them are called."""
        named = self.group[:1] if isinstance(self.group, tuple) else (self.group,)
        return next(filter(None, named), pixels)

    @property
    def second_source(self) -> str | None:
        """The source that crosses the first, by which intervals and splits go too; None: nothing more is named."""
        return (self.group[1] or None) if isinstance(self.group, tuple) and len(self.group) > 1 else None

    @property
    def own(self) -> dict[str, str]:
        """The facts of columns of the owner's, which items are sliced by."""
        return {key: str(value) for key, value in self.facts.items() if key.startswith(OWN)}

    @property
    def coverage(self) -> float | None:
        """Box area over image area, or None without a box."""
        return None if self.box is None else min(self.box.coverage(self.width, self.height), 1.0)

    @property
    def coverage_bin(self) -> str | None:
        """One of COVERAGE_BINS, or None without a box."""
        return None if self.coverage is None else coverage_bin(self.coverage)


def two_sources(items: Sequence[Item]) -> tuple[list[str], list[str]]:
    """First and second source of each item: one without a group is its own, and a second one that lacks is the first.
    Pictures are not read: equal ones under two names are two sources here."""
    first = [item.drawn_with(item.id) for item in items]
    return first, [item.second_source or own for item, own in zip(items, first, strict=True)]


@dataclass(frozen=True, slots=True)
class Rejection:
    """Something left out, and why: ``code`` is for counting, ``detail`` for reading."""

    subject: str
    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Remark:
    """What a loader corrected or passed over without losing an item: how often, and the first time as an example."""

    code: str
    count: int
    subject: str
    detail: str


@dataclass(frozen=True, slots=True)
class Origin:
    """What reads a corpus again: the loader's name, its folder and its options, as they were given."""

    loader: str
    root: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Corpus:
    """A named, ordered set of items, and what reads it again where that is known.
    ``remarks``: what was corrected or passed over in entries, boxes, outlines and labels, by code.
    ``read_labels``: the tagger that is to read a label off the caption of an item without one; empty: none is to, or it
    has (:func:`core.probes.words.natural_captions.labelled`)."""

    name: str
    items: tuple[Item, ...]
    rejected: tuple[Rejection, ...] = ()  # what would have been an item and is none, each once, with its first reason
    description: str = ""
    origin: Origin | None = None
    remarks: tuple[Remark, ...] = ()
    read_labels: str = ""

    def __len__(self) -> int:
        return len(self.items)

    def get(self, item_id: str) -> Item:
        """Return one item by id. Raises InvalidInput if the corpus has no such item."""
        for item in self.items:
            if item.id == item_id:
                return item
        raise InvalidInput(f"corpus {self.name!r} has no item {item_id!r}; it has {len(self.items)} items")

    def by_id(self) -> dict[str, Item]:
        """The items by id, for many look-ups."""
        return {item.id: item for item in self.items}

    def rejection_counts(self) -> dict[str, int]:
        """Number of rejections by code, most frequent first."""
        counts = Counter(rejection.code for rejection in self.rejected)
        return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def languages(items: Sequence[Item]) -> tuple[str, ...]:
    """Languages in which at least one item has a caption, sorted."""
    return tuple(sorted({language for item in items for language in item.captions}))
