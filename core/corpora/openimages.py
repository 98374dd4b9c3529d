"""Open Images V7: boxes in shares of the image, a hierarchy of 601 classes, outlines as PNG files.

Labels of the hierarchy overlap: a man has boxes *Man* and *Human face*, an unsure one *Person* too. Before an image is
judged, a box of a part that lies in its whole is dropped, and of two boxes of one object under a general and a special
name the general one. Group-of boxes are crowds. What is marked as hidden, cut off, a depiction or seen from inside
stays among the other objects and is never the one that an item is about. Boxes are drawn of classes that people
confirmed for a picture, some 13 of 600: what nobody looked for there is not known to be absent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from core.corpora import openimages_files as tables
from core.corpora.boxes import Rows, instances_of
from core.corpora.corpus_files import Findings, LeftOut, limited, up_to, whole_number
from core.corpora.curation import SINGLE, SLICE_OPTIONS, Instance, Slice
from core.corpora.image_header import ImageHeader
from core.corpora.image_places import ImagePlaces, auditable, remark_exif
from core.corpora.images import read_image
from core.corpora.labels import Labels, load_labels
from core.corpora.openimages_files import LabelTree, read_label_tree
from core.corpora.registry import corpus_loader
from core.corpora.schema import Box, Corpus, Item, Mask, SceneObject
from core.errors import BadCorpus, BadImage

PART_INSIDE = 0.5  # least share of a part's box that lies in the box of its whole, for it to be that thing's part
SAME_OBJECT_IOU = 0.5  # least IoU of two boxes, one label more general than the other, for them to be of one object

SAME_CORNER = 0.01
"""Farthest that the corners of an outline's box lie from those of its object's, in shares of the image."""

SAME_SHAPE = 0.02  # farthest that the proportions of a mask lie from those of its image, as a share of them


@corpus_loader(
    name="openimages",
    summary="Open Images V7: photographs with boxes of 601 classes and outlines, <split>-annotations-bbox.csv",
    options={"split": "validation (by default), test or train", "limit": "stop after so many items", **SLICE_OPTIONS},
)
def load_openimages(
    root: Path, *, split: str | None = None, slice: str = SINGLE, limit: int | str | None = None, **curation: Any
) -> Corpus:
    """Read a split: its boxes and the names of classes; the hierarchy, outlines and licences where their files are.
    A picture that does not stand upright by the list of images is left out.
    The photographs lie in a folder of the split's name, in ``images/``, or beside the tables. Only the object of an
    item gets its outline, resized to the photograph; other objects keep their boxes.
    Returns the items in the order of the boxes, every image left out with its reason, and remarks on annotations.
    Raises BadCorpus if a table is missing or malformed as a whole, or the hierarchy has a cycle; InvalidInput if an
    option is wrong."""
    rules = Slice.from_options(slice, curation)
    most = None if limit is None else whole_number(limit, name="limit")
    split = _split(root, split)
    found = Findings()
    path = tables.find(root, tables.IMAGE_LISTS, split)
    turned = tables.read_turned(path) if path else {}
    names = tables.read_names(_needed(root, tables.CLASSES, split, "names of classes"))
    keys, boxes = tables.read_boxes(_needed(root, tables.BOXES, split, "boxes"), names, found)
    path = tables.find(root, tables.HIERARCHY)
    tree = read_label_tree(path) if path else None
    reader = _Reader(root, split, rules, names, tree, turned, found)
    each = zip(keys, boxes.by_image(len(keys)), strict=True)
    drafts, examined = up_to(most, (reader.draft(key, rows) for key, rows in each))
    items = _finished(reader, drafts, root, split)
    words = f"Open Images {split}, {rules.sentence()}"
    words += "" if tree else "; without the hierarchy, so boxes of parts and general names count as further objects"
    words += limited(most, examined, len(keys))
    return Corpus("openimages", items, found.rejected, words, remarks=found.remarks)


def _split(root: Path, split: str | None) -> str:
    there = tables.splits(root)
    if not there:
        raise BadCorpus(f"{root} has no <split>-annotations-bbox.csv; give the folder of an Open Images download")
    if split is not None and split not in there:
        raise BadCorpus(f"{root} has no boxes of split {split!r}; it has {', '.join(there)}")
    return split or ("validation" if "validation" in there else there[0])


def _needed(root: Path, names: Sequence[str], split: str, what: str) -> Path:
    path = tables.find(root, names, split)
    if path is None:
        raise BadCorpus(f"{root} has no {what}: looked for {', '.join(name.format(split=split) for name in names)}")
    return path


@dataclass(frozen=True, slots=True)
class _Draft:
    """An image that is kept, before its outline is read."""

    key: str
    path: Path
    header: ImageHeader
    instances: tuple[Instance, ...]
    chosen: Instance | None


@dataclass(slots=True)
class _Reader:
    root: Path
    split: str
    rules: Slice
    names: Mapping[str, str]
    tree: LabelTree | None
    turned: Mapping[str, str]
    found: Findings
    labels: Labels = field(default_factory=lambda: load_labels("openimages"))
    nouns: Mapping[str, str] = field(init=False)
    places: ImagePlaces = field(init=False)

    def __post_init__(self) -> None:
        self.nouns = {label: self.labels.noun(name) for label, name in self.names.items()}
        folders = (self.split, f"images/{self.split}", "images", f"{self.split}/data", "")
        self.places = ImagePlaces(self.root, folders)

    def draft(self, key: str, rows: Rows) -> _Draft | None:
        subject = f"{self.split}-{key}"
        try:
            if key in self.turned:
                told = f"Rotation {self.turned[key]}: the picture does not stand upright"
                raise LeftOut("turned-image", f"the publisher's list of images says {told}")
            path = self.places.find(f"{key}.jpg")
            header = auditable(path)
            remark_exif(self.found, subject, path, header)
            instances = self._distinct(self._instances(key, header, rows), subject)
            chosen = self.rules.choose(instances, width=header.width, height=header.height)
        except LeftOut as reason:
            self.found.leave_out(reason.rejection(subject))
            return None
        return _Draft(key, path, header, tuple(instances), chosen)

    def known(self, draft: _Draft, asked: Mapping[str, bool]) -> dict[str, Any]:
        """What the item says of things beyond its boxes: those that people looked for, and found without a box.
        Every instance of a class that has a box was boxed; a class that is refused is so with all of its kinds."""
        boxed = {each.label for each in draft.instances}
        found = {label for label, there in asked.items() if there and label in self.nouns} - boxed
        refused = {label for label, there in asked.items() if not there}
        if self.tree:
            refused |= {label for label, above in self.tree.above.items() if above & refused}
        sure = (self.nouns[label] for label in boxed | (refused - found) if label in self.nouns)
        return {"looked_for": frozenset(sure), "also_there": tuple(sorted(self.nouns[label] for label in found))}

    def _instances(self, key: str, header: ImageHeader, rows: Rows) -> list[Instance]:
        left, right, top, bottom = rows.sides.T
        shares = np.stack((left, top, right - left, bottom - top), axis=1)
        size = (header.width, header.height)
        told = [f"the box of {self.names[label]} in {key}" for label in rows.labels]
        return instances_of(replace(rows, sides=shares * (size * 2)), told, size, key, self.found)

    def _distinct(self, instances: list[Instance], subject: str) -> list[Instance]:
        """Drop boxes of parts, and the more general of two boxes of one object."""
        kept = []
        for each in instances:
            code = next((code for other in instances if (code := self._beside(each, other))), "")
            if code:
                detail = f"the box of {self.names[each.label]} is dropped beside one of its object"
                self.found.remark(LeftOut(code, detail).rejection(subject))
            else:
                kept.append(each)
        return kept

    def _beside(self, each: Instance, other: Instance) -> str:
        """Why one box is dropped where another stands; empty: it is not."""
        if self.tree is None or other.crowd:
            return ""
        if self.tree.part_of(each.label, other.label):
            inside = each.box.intersection(other.box) / each.box.area
            return "annotation-part" if inside >= PART_INSIDE else ""
        if self.tree.more_general(each.label, other.label):
            return "annotation-duplicate" if each.box.iou(other.box) >= SAME_OBJECT_IOU else ""
        return ""


def _finished(reader: _Reader, drafts: Sequence[_Draft], root: Path, split: str) -> tuple[Item, ...]:
    """Items of the drafts, with their outlines and licences where the folder has them."""
    wanted = {draft.key: draft for draft in drafts}
    path = tables.find(root, tables.OUTLINES, split)
    outlines = tables.read_outlines(path, reader.found, wanted) if path else {}
    path = tables.find(root, tables.IMAGE_LISTS, split)
    licences = tables.read_licences(path, wanted) if path else {}
    masks = _Masks(root, split, reader.found)
    paths = tables.find_all(root, tables.LOOKED_FOR, split)
    asked = tables.read_looked_for(paths, reader.found, wanted)
    items = []
    for draft in drafts:
        chosen, (licence, source) = draft.chosen, licences.get(draft.key, ("", ""))
        items.append(
            Item(
                id=f"{split}-{draft.key}",
                corpus="openimages",
                image_path=draft.path,
                width=draft.header.width,
                height=draft.header.height,
                label=reader.nouns[chosen.label] if chosen else None,
                category=reader.labels.category(reader.names[chosen.label]) if chosen else None,
                box=chosen.box if chosen else None,
                mask=masks.of(draft, chosen, outlines.get(draft.key, ())) if chosen else None,
                others=tuple(
                    SceneObject(reader.nouns[each.label], each.box, None, each.crowd)
                    for each in draft.instances
                    if each is not chosen
                ),
                licence=licence or "unknown",
                source=source or "unknown",
                **reader.known(draft, asked.get(draft.key, {})),
            )
        )
    given = [reader.names[draft.chosen.label] for draft in drafts if draft.chosen]
    reader.found.remark(*reader.labels.taxonomy.unmapped(each for each in given if not reader.labels.category(each)))
    return tuple(items)


class _Masks:
    """Outlines of objects, read from PNG files of any size and resized to their image."""

    def __init__(self, root: Path, split: str, found: Findings) -> None:
        usual = ("masks", "{}-masks", "masks-{}", "masks/{}", "{}/masks", "{}/labels/masks", "")
        places = [*(each.format(split) for each in usual), *(f"{split}-masks-{sign:x}" for sign in range(16))]
        self.places, self.found = ImagePlaces(root, places), found

    def of(self, draft: _Draft, chosen: Instance, outlines: Sequence[tables.Outline]) -> Mask | None:
        """The outline of an object; None, with a remark where its file cannot be used."""
        outline = next((each for each in outlines if self._fits(each, chosen, draft.header)), None)
        if outline is None:
            return None
        try:
            name = outline.file
            path = self.places.find(name, f"{name[:1]}/{name}", f"{name[:1].upper()}/{name}")
            return _mask(read_image(path).pixels[..., 0] > 127, draft.header, chosen.box)
        except (LeftOut, BadImage) as error:
            reason = LeftOut("annotation-bad-mask", f"{outline.file[:80]}: {error}; the box stands alone")
            self.found.remark(reason.rejection(draft.key))
            return None

    @staticmethod
    def _fits(outline: tables.Outline, chosen: Instance, header: ImageHeader) -> bool:
        box = chosen.box
        own = (box.x / header.width, box.right / header.width, box.y / header.height, box.bottom / header.height)
        near = max(abs(mine - theirs) for mine, theirs in zip(own, outline.corners, strict=True)) <= SAME_CORNER
        return outline.label == chosen.label and near


def _mask(held: np.ndarray, header: ImageHeader, box: Box) -> Mask:
    """Resize a mask to its image (nearest neighbour) and encode it."""
    height, width = held.shape
    if abs(width / height / (header.width / header.height) - 1) > SAME_SHAPE:
        told = f"its {width} × {height} px have not the proportions of the image's {header.width} × {header.height}"
        raise LeftOut("annotation-bad-mask", told)
    size = (header.width, header.height)
    whole = cv2.resize(held.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST).astype(bool)
    mask = Mask.from_array(whole)
    if mask.box is None or not mask.box.intersection(box):
        raise LeftOut("annotation-bad-mask", "no pixel of it lies in the object's box")
    return mask
