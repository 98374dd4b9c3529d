"""COCO's annotation files as checked records: images, instances, captions.

The files are read entry by entry: that of train2017 holds 860 001 instances, and their outlines as Python objects would
take several GB. Boxes lie in columns, outlines as JSON text until an item needs them.
Source of the format: cocodataset.org/#format-data.

Captions of a COCO split, found by the number of their picture, and by its name where tools numbered otherwise.
"""

import json
import math
import unicodedata
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PureWindowsPath
from typing import Any

from core.corpora.boxes import (
    CROWD,
    SLACK,
    BoxTable,
    bits,
    box_and_outline,
    clipped_sentence,
    in_shares,
    instance,
    read_box,
    remark_shares,
    turned_sentence,
)
from core.corpora.caption_tables import refused, said_text
from core.corpora.corpus_files import Findings, LeftOut, check_lists, count, entries, floats, key, mark, whole
from core.corpora.curation import Instance
from core.corpora.image_places import CocoFiles
from core.corpora.labels import by_language, caption_languages, plain
from core.corpora.schema import Box, Mask, Rejection
from core.errors import BadCorpus, InvalidInput

_Told = tuple[int, str, str]  # where a caption stands among those of its picture, the picture's key, and the text


def read_captions(
    path: Path, split: str, images: Mapping[str, str], found: Findings, language: str | None
) -> dict[str, dict[str, tuple[str, ...]]]:
    """Read the captions of each image, by its key and by language, in the order of their ids; none where no file is.
    ``images``: file names by image key, as the file of instances states them.
    ``language``: of the captions; None: by their script, else English.
    Raises BadCorpus if the file is malformed as a whole."""
    if not path.exists():
        return {}
    told: list[_Told] = []
    named: dict[str, str] = {}
    counts: dict[str, int] = {}
    for part, entry in entries(path, counts):
        place = counts[part] - 1
        try:
            if part == "images" and isinstance(entry, dict) and isinstance(entry.get("file_name"), str):
                named[str(key(entry.get("id")))] = plain_name(entry["file_name"])
            elif part == "annotations":
                told.append(_caption(entry, place))
        except LeftOut as reason:
            found.remark(reason.rejection(f"{split} captions[{place}]"))
    check_lists(path, counts, ("annotations",), layout="a file in COCO's layout", empty=True)
    joined, meant = dict[str, list[str]](), _meant(images, named)
    for place, number, text in sorted(told):
        where = f"{split} captions[{place}]"
        try:
            own = meant(number)
        except LeftOut as reason:
            found.remark(reason.rejection(where))
            continue
        if own != number:
            detail = f"image {number} of the captions is image {own} of the instances by its name; joined by the name"
            found.remark(Rejection(where, "caption-by-name", detail))
        joined.setdefault(own, []).append(text)
    languages = caption_languages([text for each in joined.values() for text in each], language, path.name, found)
    return {own: by_language(texts, languages) for own, texts in joined.items()}


def plain_name(name: str) -> str:
    """A picture's name without its folders, composed: the same however a tool wrote it.

    >>> plain_name("images\\\\a.jpg"), plain_name("val2017/a.jpg")
    ('a.jpg', 'a.jpg')
    """
    return unicodedata.normalize("NFC", PureWindowsPath(name).name)


def _meant(images: Mapping[str, str], named: Mapping[str, str]) -> Callable[[str], str]:
    """What finds the key, among the images of the instances, that a number of the file of captions means.
    It raises LeftOut where the number means none, or nobody can tell which."""
    names = {own: plain_name(name) for own, name in images.items()}
    by_name: dict[str, str | None] = {}
    for own, name in names.items():
        by_name[name] = None if name in by_name else own

    def find(number: str) -> str:
        name = named.get(number)
        if name is None or names.get(number) == name:
            if number in names:
                return number
            raise LeftOut("caption-no-image", f"no image has the id {number!r}")
        own = by_name.get(name)
        if own is None:
            several = "several images are" if name in by_name else "no image is"
            told = f"the captions say that image {number} is {name}, and {several} called so"
            raise LeftOut("caption-no-image", told)
        return own

    return find


def _caption(entry: Any, place: int) -> _Told:
    number = key(entry.get("image_id")) if isinstance(entry, dict) else None
    if number is None:
        raise LeftOut("caption-bad-entry", "a caption needs an image_id")
    if refused(entry):
        told = f"of image {number!r} the file says that its caption is rejected or ready-made"
        raise LeftOut("caption-refused", told)
    text = (said_text(entry.get("caption")) or "").strip()
    if not text:
        raise LeftOut("caption-empty", f"image {number!r} has an empty caption")
    order = whole(entry.get("id"))
    return place if order is None else order, number, text


@dataclass(frozen=True, slots=True)
class CocoImage:
    """One entry of ``images``; the key is its id as text.
    ``refused``: ids of categories that people looked for and did not find, as LVIS states them; None: in this file
    every category was looked for."""

    key: str
    file_name: str
    width: int
    height: int
    licence: str
    source: str
    refused: tuple[str, ...] | None = None
    unfinished: tuple[str, ...] = ()  # ids of categories of which not every instance is marked


@dataclass(frozen=True, slots=True)
class CocoInstance:
    """One entry of ``annotations``: an instance whose segmentation is still JSON text."""

    annotation: str
    instance: Instance
    segmentation: bytes = field(repr=False, hash=False)


@dataclass(frozen=True)
class CocoSplit:
    """The checked content of one split."""

    name: str
    images: tuple[CocoImage, ...]  # in the order of their ids
    captions: Mapping[str, Mapping[str, tuple[str, ...]]]  # by image key and language, in the order of their ids
    names: Mapping[str, tuple[str, ...]]  # of each category by its id, the first one its label
    _waiting: "_Waiting" = field(repr=False)  # its annotations
    _boxes: BoxTable = field(repr=False)  # those of them that are checked, by the number of their image
    _rows: "array[int]" = field(repr=False)  # of each of these the row among the annotations
    # names under which the file puts other categories: of these alone things are marked
    headings: frozenset[str] = frozenset()
    boxed: bool = True  # whether it has boxes; else captions alone

    @cached_property
    def every_name(self) -> frozenset[str]:
        """All names of all categories that are no heading of others."""
        return frozenset(name for names in self.names.values() for name in names) - self.headings

    def looked_for(self, image: CocoImage, labels: Collection[str]) -> frozenset[str]:
        """Names of the categories of which every instance in an image is marked, given the labels that have some.
        All of the file's; in one that says of each image what was refused (LVIS), these and the marked ones."""
        if image.refused is None:
            return self.every_name
        marked = {each for each, names in self.names.items() if names[0] in labels} - {*image.unfinished}
        return frozenset(name for each in {*image.refused, *marked} for name in self.names.get(each, ()))

    def by_image(self) -> Iterator[tuple[CocoImage, list[CocoInstance]]]:
        """Every image with its instances in the order of the file."""
        waiting = self._waiting
        for image, found in zip(self.images, self._boxes.by_image(len(self.images)), strict=True):
            rows = [self._rows[place] for place in found.places]
            boxes = zip(rows, found.labels, found.sides.tolist(), found.marks.tolist(), strict=True)
            told = ((row, instance(label, Box(*sides), marks)) for row, label, sides, marks in boxes)
            where = f"{self.name} annotations"
            yield (
                image,
                [CocoInstance(f"{where}[{waiting.place[row]}]", one, waiting.segmentation(row)) for row, one in told],
            )


def item_id(split: str, key: str) -> str:
    """The item id of an image, e.g. ``val2017-139``: unique in the corpus, and the same on every load."""
    return f"{split}-{key}"


def read_split(files: CocoFiles, found: Findings, language: str | None = None) -> CocoSplit:
    """Read a file of instances and, where there is one beside it, that of captions; or the latter alone.
    Raises BadCorpus if a file is malformed as a whole, or one of captions alone holds none; entries that are wrong one
    by one are rejected."""
    path, read, counts = files.path, _Read(files.split, files.boxed), dict[str, int]()
    for name, entry in entries(path, counts):
        read.add(name, counts[name] - 1, entry, found)
    wanted = ("images", "annotations", *(["categories"] if files.boxed else []))
    check_lists(path, counts, wanted, layout=_LAYOUT, empty=True)
    kept = [image for image in read.images.values() if image.key not in read.twice]
    images = sorted(kept, key=lambda image: (image.key.zfill(20), image.key))
    images = [replace(image, licence=read.licences.get(image.licence, "unknown")) for image in images]
    boxes, rows = _assigned(read, images, found)
    names = {image.key: image.file_name for image in images}
    captions = read_captions(files.captions, files.split, names, found, language)
    if not captions and not files.boxed:
        raise BadCorpus(
            f"{path} holds no caption of its images, and {path.parent} no instances_{files.split}.json; give {_LAYOUT}"
        )
    held = (read.waiting, boxes, rows, frozenset(read.headings), files.boxed)
    return CocoSplit(files.split, tuple(images), captions, read.labels, *held)


def read_mask(found: CocoInstance, width: int, height: int) -> Mask:
    """Encode the segmentation of an instance.
    Raises LeftOut if there is no mask in it; the instance then has its box alone."""
    label, segmentation = found.instance.label, json.loads(found.segmentation)
    if segmentation in (None, []):
        raise LeftOut("annotation-empty-segmentation", f"{label} has an empty segmentation; it keeps its box alone")
    if isinstance(segmentation, list):
        segmentation = [_numbers(part) for part in segmentation]
        # a part that is a point or a line covers nothing of the shape beside it
        shapes = [part for part in segmentation if not isinstance(part, list) or len(part) >= _CORNERS]
        segmentation = shapes or segmentation
    try:
        mask = Mask.from_coco(segmentation, height, width)
    except InvalidInput as error:
        raise LeftOut("annotation-bad-segmentation", f"{label}: {error}; it keeps its box alone") from error
    if mask.box is None:
        raise LeftOut("annotation-empty-segmentation", f"the mask of {label} covers no pixel; it keeps its box alone")
    return mask


def _numbers(part: Any) -> Any:
    """A polygon whose numbers are written as text, as numbers."""
    if isinstance(part, list) and any(isinstance(each, str) for each in part):
        return [each if math.isnan(number) else number for each, number in zip(part, floats(part), strict=True)]
    return part


_CORNERS = 6  # numbers of the smallest polygon: three points

_LAYOUT = "a file in COCO's layout"


@dataclass(slots=True)
class _Waiting:
    """Annotations in columns, until every image and category is known, in whatever order the file has them.
    ``images``, ``categories``: ids by the order in which they come; ``5`` and ``"5"`` are told apart, for messages name
    them as they stand.
    ``ends``: where each of these texts ends, two an annotation."""

    images: dict[int | str, int] = field(default_factory=dict)
    categories: dict[int | str, int] = field(default_factory=dict)
    image: "array[int]" = field(default_factory=lambda: array("i"))
    category: "array[int]" = field(default_factory=lambda: array("i"))
    crowd: "array[int]" = field(default_factory=lambda: array("B"))
    place: "array[int]" = field(default_factory=lambda: array("i"))
    shares: bool = True  # whether every box so far can only be meant in shares of its image
    texts: bytearray = field(default_factory=bytearray)  # their boxes and segmentations as JSON, one after the other
    ends: "array[int]" = field(default_factory=lambda: array("q", [0]))

    def add(self, entry: Any, place: int) -> float:
        """Add an entry of the list, given its place in it; return the degrees by which its box is turned."""
        if not isinstance(entry, dict) or key(entry.get("image_id")) is None or key(entry.get("category_id")) is None:
            raise LeftOut("annotation-bad-entry", "an annotation needs an image_id and a category_id")
        crowd = mark(entry.get("iscrowd"))
        if crowd is None:
            raise LeftOut("annotation-bad-entry", f"iscrowd must be 0 or 1, got {str(entry['iscrowd'])[:40]!r}")
        box, outline, degrees = box_and_outline(entry)
        self.shares = self.shares and in_shares(box)
        self.image.append(self.images.setdefault(entry["image_id"], len(self.images)))
        self.category.append(self.categories.setdefault(entry["category_id"], len(self.categories)))
        self.crowd.append(crowd)
        self.place.append(place)
        for part in (box, outline):
            self.texts += json.dumps(part, separators=(",", ":")).encode()
            self.ends.append(len(self.texts))
        return degrees

    def box(self, row: int) -> Any:
        return json.loads(self.texts[self.ends[2 * row] : self.ends[2 * row + 1]])

    def segmentation(self, row: int) -> bytes:
        return bytes(self.texts[self.ends[2 * row + 1] : self.ends[2 * row + 2]])


@dataclass(slots=True)
class _Read:
    """What one pass over a file of instances keeps; of an image, ``licence`` is still the id of one.
    ``headings``: names that categories have as their supercategory, each but its own."""

    split: str
    boxed: bool = True
    images: dict[str, CocoImage] = field(default_factory=dict)
    labels: dict[str, tuple[str, ...]] = field(default_factory=dict)  # names of each category by its id
    headings: set[str] = field(default_factory=set)
    twice: set[str] = field(default_factory=set)  # ids that two images have
    licences: dict[str, str] = field(default_factory=dict)
    waiting: _Waiting = field(default_factory=_Waiting)

    def add(self, name: str, place: int, entry: Any, found: Findings) -> None:
        """Take the entry at a place of a list, or leave it out with its reason."""
        where = f"{self.split} {name}[{place}]"
        if name == "images":
            self._add_image(entry, where, found)
        elif name == "annotations":
            if not self.boxed:
                return
            try:
                if degrees := self.waiting.add(entry, place):
                    raise LeftOut("annotation-turned", f"its box is {turned_sentence(degrees)}")
            except LeftOut as reason:
                found.remark(reason.rejection(where))
        elif isinstance(entry, dict) and (own := key(entry.get("id"))) is not None:
            if name == "categories" and isinstance(entry.get("name"), str):
                self._add_category(own, entry, where, found)
            elif name == "licenses":
                told = (str(entry[part]) for part in ("name", "url") if entry.get(part))
                self.licences[own] = " ".join(told)

    def _add_category(self, own: str, entry: dict[str, Any], where: str, found: Findings) -> None:
        """Keep a category's names; an id that two of them have names neither."""
        also = entry.get("synonyms")
        said = [entry["name"], *(each for each in (also if isinstance(also, list) else ()) if isinstance(each, str))]
        names = tuple(dict.fromkeys(name for each in said if (name := plain(each.replace("_", " ")))))
        if isinstance(above := entry.get("supercategory"), str):
            self.headings.update({plain(above.replace("_", " "))} - {*names})
        if names and self.labels.setdefault(own, names) != names:
            self.labels[own] = ()
            detail = f"the id {own} belongs to another category already; boxes of it are left out"
            found.remark(Rejection(where, "category-twice", detail))

    def _add_image(self, entry: Any, where: str, found: Findings) -> None:
        try:
            image = _image(entry, sized=self.boxed)
        except LeftOut as reason:
            found.leave_out(reason.rejection(where))
            return
        first = self.images.setdefault(image.key, image)
        if first is image:
            return
        detail = f"{image.file_name}: its id {image.key} belongs to {first.file_name} already"
        if first.file_name != image.file_name:  # nobody can tell whose a box of that id is
            self.twice.add(image.key)
            found.leave_out(Rejection(item_id(self.split, image.key), "duplicate-id", detail))
        found.leave_out(Rejection(where, "duplicate-id", detail))


def _assigned(read: _Read, images: Sequence[CocoImage], found: Findings) -> tuple[BoxTable, "array[int]"]:
    """Give every annotation its image and its label; what has none, or no box inside it, is remarked.
    Returns the checked boxes by the number of their image, and the row of each one's annotation."""
    boxes, rows, waiting = BoxTable(), array("i"), read.waiting
    numbers = {image.key: number for number, image in enumerate(images)}
    keys, categories = list(waiting.images), list(waiting.categories)
    if waiting.shares and waiting.place:
        remark_shares(f"{read.split} annotations[{waiting.place[0]}]", len(waiting.place), found)
    for row, place in enumerate(waiting.place):
        image, category = keys[waiting.image[row]], categories[waiting.category[row]]
        number, names = numbers.get(str(key(image))), read.labels.get(str(key(category)))
        where = f"{read.split} annotations[{place}]"
        try:
            if number is None:
                several = "two images have" if key(image) in read.twice else "no image has"
                raise LeftOut("annotation-no-image", f"{several} the id {image!r}")
            if not names:
                raise LeftOut("annotation-no-category", f"no category has the id {category!r}")
            own = images[number]
            what = f"the box of {names[0]} in {own.file_name}"
            stated, shares = waiting.box(row), waiting.shares
            box, overhang = read_box(stated, what=what, width=own.width, height=own.height, shares=shares)
        except LeftOut as reason:
            found.remark(reason.rejection(where))
            continue
        if overhang > SLACK:
            found.remark(Rejection(where, "annotation-box-clipped", clipped_sentence(what, overhang)))
        sides = (box.x, box.y, box.width, box.height)
        boxes.add(number, names[0], sides, bits([CROWD] if waiting.crowd[row] else []))
        rows.append(row)
    return boxes, rows


def _image(entry: Any, *, sized: bool) -> CocoImage:
    if not isinstance(entry, dict):
        raise LeftOut("bad-entry", f"an image must be an object, got {type(entry).__name__}")
    own, name, url = key(entry.get("id")), entry.get("file_name"), str(entry.get("coco_url") or "")
    if name is None and url:
        name = "/".join(url.split("/")[-2:])  # LVIS: its pictures lie in COCO's folders, whatever the split
    if own is None or not isinstance(name, str):
        raise LeftOut("bad-entry", f"an image needs an id and a file_name, got {entry.get('id')!r} and {name!r}")
    width, height = count(entry.get("width")), count(entry.get("height"))
    if sized and (width is None or height is None):
        stated = f"{entry.get('width')!r} × {entry.get('height')!r}"
        raise LeftOut("bad-entry", f"{name}: width and height must be whole pixels, got {stated}")
    name = name.rpartition("?d=")[2]  # Label Studio: a file that its server shows
    source = str(url or entry.get("flickr_url") or "unknown")
    refused, unfinished = (_keys(entry.get(part)) for part in ("neg_category_ids", "not_exhaustive_category_ids"))
    return CocoImage(own, name, width or 0, height or 0, str(entry.get("license")), source, refused, unfinished or ())


def _keys(values: Any) -> tuple[str, ...] | None:
    return tuple(own for each in values if (own := key(each)) is not None) if isinstance(values, list) else None
