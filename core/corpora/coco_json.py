"""COCO's annotation files as checked records: images, instances, captions.

The files are read entry by entry: that of train2017 holds 860 001 instances, and their outlines as Python objects would
take several GB. Boxes lie in columns, outlines as JSON text until an item needs them.
Source of the format: cocodataset.org/#format-data.
"""

import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeGuard

from core.corpora.box_table import CROWD, BoxTable, bits, instance
from core.corpora.boxes import SLACK, clipped_sentence, read_box
from core.corpora.curation import Instance
from core.corpora.files import LeftOut
from core.corpora.findings import Findings
from core.corpora.json_stream import check_lists, entries
from core.corpora.schema import Box, Mask, Rejection
from core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class CocoImage:
    """One entry of ``images``; the key is its id as text."""

    key: str
    file_name: str
    width: int
    height: int
    licence: str
    source: str


@dataclass(frozen=True, slots=True)
class CocoInstance:
    """One entry of ``annotations``: an instance whose segmentation is still JSON text."""

    annotation: str
    instance: Instance
    segmentation: bytes = field(repr=False, hash=False)


@dataclass(frozen=True, slots=True)
class CocoSplit:
    """The checked content of one split.

    Args:
        images: in the order of their ids.
        captions: by image key, in the order of their ids.
    """

    name: str
    images: tuple[CocoImage, ...]
    captions: Mapping[str, tuple[str, ...]]
    _instances: "_Instances" = field(repr=False)

    def by_image(self) -> Iterator[tuple[CocoImage, list[CocoInstance]]]:
        """Every image with its instances in the order of the file."""
        return zip(self.images, self._instances.by_image(len(self.images)), strict=True)


def item_id(split: str, key: str) -> str:
    """The item id of an image, e.g. ``val2017-139``: unique in the corpus, and the same on every load."""
    return f"{split}-{key}"


def read_split(folder: Path, split: str, found: Findings) -> CocoSplit:
    """Read ``instances_<split>.json`` and, where there is one, ``captions_<split>.json``.

    Args:
        found: takes the entries that could not be used.

    Raises:
        BadCorpus: if a file is malformed as a whole; entries that are wrong one by one are rejected.
    """
    path, read, counts = folder / f"instances_{split}.json", _Read(split), dict[str, int]()
    for name, entry in entries(path, counts):
        read.add(name, counts[name] - 1, entry, found)
    check_lists(path, counts, ("images", "annotations", "categories"), layout=_LAYOUT, empty=True)
    images = sorted(read.images.values(), key=lambda image: (image.key.zfill(20), image.key))
    images = [replace(image, licence=read.licences.get(image.licence, "unknown")) for image in images]
    instances = _Instances.of(read, images, found)
    captions = _captions(folder / f"captions_{split}.json", split, read.images, found)
    return CocoSplit(split, tuple(images), captions, instances)


def read_mask(found: CocoInstance, width: int, height: int) -> Mask:
    """Encode the segmentation of an instance.

    Raises:
        LeftOut: if there is no mask in it; the instance then has its box alone.
    """
    label, segmentation = found.instance.label, json.loads(found.segmentation)
    if segmentation in (None, []):
        raise LeftOut("annotation-empty-segmentation", f"{label} has an empty segmentation; it keeps its box alone")
    try:
        mask = Mask.from_coco(segmentation, height, width)
    except InvalidInput as error:
        raise LeftOut("annotation-bad-segmentation", f"{label}: {error}; it keeps its box alone") from error
    if mask.area == 0:
        raise LeftOut("annotation-empty-segmentation", f"the mask of {label} covers no pixel; it keeps its box alone")
    return mask


_LAYOUT = "a file in COCO's layout"


@dataclass(slots=True)
class _Numbers:
    """Ids by the order in which they come; ``5`` and ``"5"`` are told apart, for messages name them as they stand."""

    known: dict[int | str, int] = field(default_factory=dict)

    def of(self, key: int | str) -> int:
        return self.known.setdefault(key, len(self.known))


@dataclass(slots=True)
class _Waiting:
    """Annotations in columns, until every image and category is known, in whatever order the file has them.

    Args:
        texts: their boxes and segmentations as JSON, one after the other.
        ends: where each of these texts ends, two an annotation.
    """

    images: _Numbers = field(default_factory=_Numbers)
    categories: _Numbers = field(default_factory=_Numbers)
    image: "array[int]" = field(default_factory=lambda: array("i"))
    category: "array[int]" = field(default_factory=lambda: array("i"))
    crowd: "array[int]" = field(default_factory=lambda: array("B"))
    place: "array[int]" = field(default_factory=lambda: array("i"))
    texts: bytearray = field(default_factory=bytearray)
    ends: "array[int]" = field(default_factory=lambda: array("q", [0]))

    def add(self, entry: Any, place: int) -> None:
        """Add an entry of the list, given its place in it."""
        if not isinstance(entry, dict) or not _is_key(entry.get("image_id")) or not _is_key(entry.get("category_id")):
            raise LeftOut("annotation-bad-entry", "an annotation needs an image_id and a category_id")
        self.image.append(self.images.of(entry["image_id"]))
        self.category.append(self.categories.of(entry["category_id"]))
        self.crowd.append(bool(entry.get("iscrowd")))
        self.place.append(place)
        for name in ("bbox", "segmentation"):
            self.texts += json.dumps(entry.get(name), separators=(",", ":")).encode()
            self.ends.append(len(self.texts))

    def box(self, row: int) -> Any:
        """The box of an annotation as the file states it."""
        return json.loads(self.texts[self.ends[2 * row] : self.ends[2 * row + 1]])

    def segmentation(self, row: int) -> bytes:
        """The segmentation of an annotation, JSON text."""
        return bytes(self.texts[self.ends[2 * row + 1] : self.ends[2 * row + 2]])


@dataclass(slots=True)
class _Read:
    """What one pass over a file of instances keeps; of an image, ``licence`` is still the id of one."""

    split: str
    images: dict[str, CocoImage] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    licences: dict[str, str] = field(default_factory=dict)
    waiting: _Waiting = field(default_factory=_Waiting)

    def add(self, name: str, place: int, entry: Any, found: Findings) -> None:
        """Take the entry at a place of a list, or leave it out with its reason."""
        where = f"{self.split} {name}[{place}]"
        if name == "images":
            self._add_image(entry, where, found)
        elif name == "annotations":
            try:
                self.waiting.add(entry, place)
            except LeftOut as reason:
                found.remark(reason.rejection(where))
        elif isinstance(entry, dict) and _is_key(entry.get("id")):
            if name == "categories" and isinstance(entry.get("name"), str):
                self.labels[str(entry["id"])] = entry["name"]
            elif name == "licenses":
                told = (str(entry[part]) for part in ("name", "url") if entry.get(part))
                self.licences[str(entry["id"])] = " ".join(told)

    def _add_image(self, entry: Any, where: str, found: Findings) -> None:
        try:
            image = _image(entry)
        except LeftOut as reason:
            found.leave_out(reason.rejection(where))
            return
        first = self.images.setdefault(image.key, image)
        if first is not image:
            detail = f"{image.file_name}: its id {image.key} belongs to {first.file_name} already"
            found.leave_out(Rejection(where, "duplicate-id", detail))


@dataclass(frozen=True, slots=True)
class _Instances:
    """Checked boxes by the number of their image, each with the row of its annotation."""

    read: _Read
    boxes: BoxTable
    rows: "array[int]"

    @classmethod
    def of(cls, read: _Read, images: Sequence[CocoImage], found: Findings) -> "_Instances":
        """Give every annotation its image and its label; what has none, or no box inside it, is remarked."""
        made, waiting = cls(read, BoxTable(), array("i")), read.waiting
        numbers = {image.key: number for number, image in enumerate(images)}
        keys, categories = list(waiting.images.known), list(waiting.categories.known)
        for row, place in enumerate(waiting.place):
            key, category, where = keys[waiting.image[row]], categories[waiting.category[row]], made.where(place)
            number, label = numbers.get(str(key)), read.labels.get(str(category))
            try:
                if number is None:
                    raise LeftOut("annotation-no-image", f"no image has the id {key!r}")
                if label is None:
                    raise LeftOut("annotation-no-category", f"no category has the id {category!r}")
                box = _box(waiting.box(row), images[number], label, where=where, found=found)
            except LeftOut as reason:
                found.remark(reason.rejection(where))
                continue
            sides = (box.x, box.y, box.width, box.height)
            made.boxes.add(number, label, sides, bits([CROWD] if waiting.crowd[row] else []))
            made.rows.append(row)
        return made

    def where(self, place: int) -> str:
        """What messages call an annotation."""
        return f"{self.read.split} annotations[{place}]"

    def by_image(self, images: int) -> Iterator[list[CocoInstance]]:
        """Yield the instances of images 0, 1, …, each image's in the order of the file."""
        waiting = self.read.waiting
        for found in self.boxes.by_image(images):
            rows = [self.rows[place] for place in found.places]
            yield [
                CocoInstance(
                    self.where(waiting.place[row]), instance(label, Box(*sides), marks), waiting.segmentation(row)
                )
                for row, label, sides, marks in zip(
                    rows, found.labels, found.sides.tolist(), found.marks.tolist(), strict=True
                )
            ]


def _box(values: Any, image: CocoImage, label: str, *, where: str, found: Findings) -> Box:
    what = f"the box of {label} in {image.file_name}"
    box, overhang = read_box(values, what=what, width=image.width, height=image.height)
    if overhang > SLACK:
        found.remark(LeftOut("annotation-box-clipped", clipped_sentence(what, overhang)).rejection(where))
    return box


def _image(entry: Any) -> CocoImage:
    if not isinstance(entry, dict):
        raise LeftOut("bad-entry", f"an image must be an object, got {type(entry).__name__}")
    key, name, width, height = (entry.get(part) for part in ("id", "file_name", "width", "height"))
    if not _is_key(key) or not isinstance(name, str):
        raise LeftOut("bad-entry", f"an image needs an id and a file_name, got {key!r} and {name!r}")
    if not (_is_count(width) and _is_count(height)):
        raise LeftOut("bad-entry", f"{name}: width and height must be whole pixels, got {width!r} × {height!r}")
    source = str(entry.get("coco_url") or entry.get("flickr_url") or "unknown")
    name = name.rpartition("?d=")[2]  # Label Studio: a file that its server shows
    return CocoImage(str(key), name, width, height, str(entry.get("license")), source)


def _captions(path: Path, split: str, images: Mapping[str, CocoImage], found: Findings) -> dict[str, tuple[str, ...]]:
    if not path.exists():
        return {}
    captions: dict[str, list[tuple[int, str]]] = {}
    counts: dict[str, int] = {}
    for name, entry in entries(path, counts):
        if name != "annotations":
            continue
        position = counts[name] - 1
        try:
            key, text = _caption(entry, images)
        except LeftOut as reason:
            found.remark(reason.rejection(f"{split} captions[{position}]"))
            continue
        number = entry["id"] if _is_count(entry.get("id")) else position
        captions.setdefault(key, []).append((number, text))
    check_lists(path, counts, ("annotations",), layout=_LAYOUT, empty=True)
    return {key: tuple(text for _, text in sorted(found)) for key, found in captions.items()}


def _caption(entry: Any, images: Mapping[str, CocoImage]) -> tuple[str, str]:
    if not isinstance(entry, dict) or not _is_key(entry.get("image_id")):
        raise LeftOut("caption-bad-entry", "a caption needs an image_id")
    if str(entry["image_id"]) not in images:
        raise LeftOut("caption-no-image", f"no image has the id {entry['image_id']!r}")
    if not isinstance(entry.get("caption"), str) or not entry["caption"].strip():
        raise LeftOut("caption-empty", f"image {entry['image_id']!r} has an empty caption")
    return str(entry["image_id"]), entry["caption"].strip()


def _is_key(value: Any) -> TypeGuard[int | str]:
    return isinstance(value, int | str) and not isinstance(value, bool)


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
