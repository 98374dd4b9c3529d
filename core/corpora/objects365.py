"""Objects365: boxes of 365 classes, ``zhiyuan_objv2_<split>.json`` beside the unpacked patches.

An annotation may be marked ``iscrowd``, ``isfake`` (a depiction) or ``isreflected``; boxes may begin before the image
or leave it. There are no outlines: a probe that needs one finds it by GrabCut inside the box, and its rows say so.
Every picture was looked through for every class.
Source: Shao et al., Objects365, 2019; the layout is that of the publisher's version 2.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.corpora.boxes import BoxTable, Rows, bits, instances_of
from core.corpora.corpus_files import (
    Findings,
    LeftOut,
    check_lists,
    count,
    entries,
    floats,
    key,
    limited,
    mark,
    up_to,
    whole_number,
)
from core.corpora.curation import SINGLE, SLICE_OPTIONS, Slice
from core.corpora.image_places import ImagePlaces, stated_size
from core.corpora.labels import Labels, load_labels
from core.corpora.registry import corpus_loader
from core.corpora.schema import Corpus, Item, SceneObject
from core.errors import BadCorpus

FILE = "zhiyuan_objv2_{split}.json"
MARKED = {"iscrowd": "crowd", "isfake": "depiction", "isreflected": "reflected"}
"""What the source marks an annotation with -> the mark it becomes."""

_LISTS = ("images", "annotations", "categories")

LICENCE = "see the terms of Objects365"


@corpus_loader(
    name="objects365",
    summary="Objects365: photographs with boxes of 365 classes, zhiyuan_objv2_<split>.json and its patches",
    options={"split": "val (by default) or train", "limit": "stop after so many items", **SLICE_OPTIONS},
)
def load_objects365(
    root: Path, *, split: str | None = None, slice: str = SINGLE, limit: int | str | None = None, **curation: Any
) -> Corpus:
    """Read a split; its JSON is streamed, so memory is that of the boxes alone. Pictures lie under the name that the
    file gives (``images/v1/patch8/….jpg``), or under its last parts in a folder of the split. Returns the items in the
    order of the file, every image left out with its reason, and remarks on annotations.
    Raises BadCorpus if the JSON is missing or malformed as a whole; InvalidInput if an option is wrong."""
    rules = Slice.from_options(slice, curation)
    most = None if limit is None else whole_number(limit, name="limit")
    path, split = find_annotations(root, split)
    found = Findings()
    images, boxes, categories = _read(path, split, found)
    places = ImagePlaces(root, ("", split, f"images/{split}", f"{split}/images", "images"))
    labels = load_labels("objects365")
    looked_for = frozenset(name for each in categories for name in (labels.noun(each), *labels.others(each)))
    reader = _Reader(split, places, rules, labels, found, looked_for)
    placed = zip(images.values(), boxes.by_image(len(images)), strict=True)
    items, examined = up_to(most, (reader.item(image, rows) for image, rows in placed))
    found.remark(*labels.taxonomy.unmapped(each for each in reader.given if not labels.category(each)))
    words = f"Objects365 {split}, {rules.sentence()}{limited(most, examined, len(images))}"
    return Corpus("objects365", tuple(items), found.rejected, words, remarks=found.remarks)


def find_annotations(root: Path, split: str | None) -> tuple[Path, str]:
    """Return the annotation file and its split; ``val`` where there is one and none is asked for.
    Raises BadCorpus if there is none, or none of that split."""
    prefix, suffix = FILE.split("{split}")
    folders = [root, root / "annotations", *(root / each for each in ("val", "train") if (root / each).is_dir())]
    files = {
        file.name.removeprefix(prefix).removesuffix(suffix): file
        for folder in folders
        for file in sorted(folder.glob(FILE.format(split="*")))
    }
    if not files:
        raise BadCorpus(f"{root} has no {FILE.format(split='<split>')}; give the folder of an Objects365 download")
    wanted = split or ("val" if "val" in files else min(files))
    if wanted not in files:
        raise BadCorpus(f"{root} has no {FILE.format(split=wanted)}; it has the splits {', '.join(sorted(files))}")
    return files[wanted], wanted


@dataclass(frozen=True, slots=True)
class _Image:
    key: str
    file_name: str
    width: int
    height: int


def _read(path: Path, split: str, found: Findings) -> tuple[dict[str, _Image], BoxTable, tuple[str, ...]]:
    """Read the file once; boxes wait under ids until every image and category is known, in whatever order they come.
    Returns the images by their id, the boxes by their image's place among them, and the classes."""
    images, labels, waiting, twice = dict[str, _Image](), dict[str, str](), BoxTable(), set[str]()
    keys: dict[str, int] = {}
    counts: dict[str, int] = {}
    for name, entry in entries(path, counts):
        if name not in _LISTS:
            continue
        where = f"{split} {name}[{counts[name] - 1}]"
        try:
            if name == "images":
                _add_image(images, twice, split, entry, found)
            elif name == "categories":
                told = entry if isinstance(entry, dict) else {}
                own = key(told.get("id"))
                if own is None or not isinstance(told.get("name"), str) or not told["name"].strip():
                    raise LeftOut("annotation-bad-entry", f"a category needs id and name, got {str(told)[:80]}")
                labels.setdefault(own, told["name"].strip())
            else:
                image, category, sides, marks = _annotation(entry)
                waiting.add(keys.setdefault(image, len(keys)), category, sides, marks)
        except LeftOut as reason:
            note = found.leave_out if name == "images" else found.remark
            note(reason.rejection(where))
    check_lists(path, counts, _LISTS, layout=f"the publisher's {FILE.format(split=split)}")
    images = {own: image for own, image in images.items() if own not in twice}
    return images, _assigned(images, waiting, list(keys), labels, found), tuple(labels.values())


def _add_image(images: dict[str, _Image], twice: set[str], split: str, entry: Any, found: Findings) -> None:
    """Keep an image; ``twice``: takes an id that two images have, of which nobody can tell whose a box is."""
    entry = entry if isinstance(entry, dict) else {}
    own, name = key(entry.get("id")), entry.get("file_name")
    width, height = count(entry.get("width")), count(entry.get("height"))
    if own is None or not isinstance(name, str) or width is None or height is None:
        raise LeftOut("bad-entry", f"an image needs id, file_name, width and height, got {str(entry)[:80]}")
    first = images.setdefault(own, image := _Image(own, name, width, height))
    if first is image:
        return
    reason = LeftOut("duplicate-id", f"{name[:200]}: its id {own} belongs to {first.file_name[:200]} already")
    if first.file_name != name:
        twice.add(own)
        found.leave_out(reason.rejection(f"{split}-{own}"))
    raise reason


def _annotation(entry: Any) -> tuple[str, str, list[float], int]:
    entry = entry if isinstance(entry, dict) else {}
    image, category = key(entry.get("image_id")), key(entry.get("category_id"))
    if image is None or category is None:
        raise LeftOut("annotation-bad-entry", f"an annotation needs image_id and category_id, got {str(entry)[:80]}")
    sides = entry.get("bbox")
    numbers = floats(sides) if isinstance(sides, list) else []
    if len(numbers) != 4 or not all(map(math.isfinite, numbers)):
        raise LeftOut("annotation-bad-box", f"a box is {str(sides)[:60]}; it must be four numbers x, y, width, height")
    marked = {name: mark(entry.get(name)) for name in MARKED}
    strange = next((name for name, stated in marked.items() if stated is None), None)
    if strange:
        raise LeftOut("annotation-bad-entry", f"{strange} must be 0 or 1, got {str(entry[strange])[:40]!r}")
    return image, category, numbers, bits([MARKED[name] for name, stated in marked.items() if stated])


def _assigned(
    images: Mapping[str, _Image], waiting: BoxTable, keys: list[str], labels: Mapping[str, str], found: Findings
) -> BoxTable:
    boxes, places = BoxTable(), {own: place for place, own in enumerate(images)}
    for image, rows in zip(keys, waiting.by_image(len(keys)), strict=True):
        place = places.get(image)
        if place is None:
            example = LeftOut("annotation-no-image", f"no image has the id {image!r}").rejection(f"image_id {image}")
            found.count("annotation-no-image", len(rows.labels), example)
            continue
        for category, sides, marks in zip(rows.labels, rows.sides.tolist(), rows.marks.tolist(), strict=True):
            if category in labels:
                boxes.add(place, labels[category], sides, marks)
            else:
                reason = LeftOut("annotation-no-category", f"no category has the id {category!r}")
                found.remark(reason.rejection(f"category_id {category}"))
    return boxes


@dataclass(slots=True)
class _Reader:
    split: str
    places: ImagePlaces
    rules: Slice
    labels: Labels
    found: Findings
    looked_for: frozenset[str]
    given: list[str] = field(default_factory=list)

    def item(self, image: _Image, rows: Rows) -> Item | None:
        subject = f"{self.split}-{image.key}"
        try:
            parts = image.file_name.split("/")  # its last ones are its name where all archives are in one folder
            shorter = ("/".join(parts[-last:]) for last in (2, 1) if len(parts) > last)
            path = self.places.find(image.file_name, *shorter)
            told = [f"the box of {label} in {image.file_name}" for label in rows.labels]
            instances = instances_of(rows, told, (image.width, image.height), subject, self.found)
            chosen = self.rules.choose(instances, width=image.width, height=image.height)
            stated_size(path, image.width, image.height)
        except LeftOut as reason:
            self.found.leave_out(reason.rejection(subject))
            return None
        noun = self.labels.noun
        if chosen:
            self.given.append(chosen.label)
        return Item(
            id=subject,
            corpus="objects365",
            image_path=path,
            width=image.width,
            height=image.height,
            label=noun(chosen.label) if chosen else None,
            box=chosen.box if chosen else None,
            category=self.labels.category(chosen.label) if chosen else None,
            others=tuple(
                SceneObject(noun(each.label), each.box, None, each.crowd) for each in instances if each is not chosen
            ),
            licence=LICENCE,
            source=image.file_name,
            looked_for=self.looked_for,
            synonyms={noun(each.label): also for each in instances if (also := self.labels.others(each.label))},
        )
