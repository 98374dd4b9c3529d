"""Open Images V7: boxes in shares of the image, a hierarchy of 601 classes, outlines as PNG files.

Labels of the hierarchy overlap: a man has boxes *Man* and *Human face*, an unsure one *Person* too. Before an image is
judged, a box of a part that lies in its whole is dropped, and of two boxes of one object under a general and a special
name the general one. Group-of boxes are crowds. What is marked as hidden, cut off, a depiction or seen from inside
stays among the other objects and is never the one that an item is about. Boxes are drawn of classes that people
confirmed for a picture, some 13 of 600: what nobody looked for there is not known to be absent.
"""

import csv
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from core.corpora.boxes import BoxTable, Rows, bits, instances_of
from core.corpora.corpus_files import Findings, LeftOut, limited, mark, read_json, up_to, whole, whole_number
from core.corpora.curation import SINGLE, SLICE_OPTIONS, Instance, Slice
from core.corpora.image_header import ImageHeader
from core.corpora.image_places import ImagePlaces, auditable, remark_exif
from core.corpora.images import read_image
from core.corpora.labels import Labels, load_labels
from core.corpora.registry import corpus_loader
from core.corpora.schema import Corpus, Item, Mask, Rejection, SceneObject
from core.corpora.table_cells import LONGEST, check_columns
from core.errors import BadCorpus, BadImage

PART_INSIDE = 0.5  # least share of a part's box that lies in the box of its whole, for it to be that thing's part
SAME_OBJECT_IOU = 0.5  # least IoU of two boxes, one label more general than the other, for them to be of one object

SAME_CORNER = 0.01
"""Farthest that the corners of an outline's box lie from those of its object's, in shares of the image."""

SAME_SHAPE = 0.02  # farthest that the proportions of a mask lie from those of its image, as a share of them

KINDS, PARTS = "Subcategory", "Part"

BOXES = ("{split}-annotations-bbox.csv", "oidv6-{split}-annotations-bbox.csv")
CLASSES = (
    "oidv7-class-descriptions-boxable.csv",
    "class-descriptions-boxable.csv",
    "oidv7-class-descriptions.csv",
    "class-descriptions.csv",
)
HIERARCHY = ("bbox_labels_600_hierarchy.json",)
LOOKED_FOR = (
    "{split}-annotations-human-imagelabels-boxable.csv",
    "{split}-annotations-human-imagelabels.csv",
    "oidv7-{split}-annotations-human-imagelabels.csv",
    "oidv6-{split}-annotations-human-imagelabels.csv",
)
OUTLINES = ("{split}-annotations-object-segmentation.csv",)
IMAGE_LISTS = (
    "{split}-images-with-rotation.csv",
    "{split}-images-boxable-with-rotation.csv",
    "{split}-images-with-labels-with-rotation.csv",
)

CORNERS = ("XMin", "XMax", "YMin", "YMax")
MARKED = {
    "IsGroupOf": "crowd",
    "IsTruncated": "truncated",
    "IsOccluded": "occluded",
    "IsDepiction": "depiction",
    "IsInside": "inside-view",
}
"""Columns of marks -> the mark that a 1 becomes; 0 is no, -1 is unknown."""

NEEDED = ("ImageID", "LabelName", *CORNERS, *MARKED)
"""Columns of boxes that are read; the other two of 13, and the clicks of 21, are not."""

Row = dict[str, str]


@dataclass(frozen=True, slots=True)
class LabelTree:
    """Labels by their codes.
    ``wholes``: a label -> every label of a thing that it names a part of, kinds of that thing not spelled out."""

    above: Mapping[str, frozenset[str]]  # a label -> every label that is more general
    wholes: Mapping[str, frozenset[str]]


def read_label_tree(path: Path) -> LabelTree:
    """Read a hierarchy.
    Raises BadCorpus if the file is malformed, or a label is more general than itself; names the labels of the cycle."""
    held = read_json(path)
    if not isinstance(held, dict) or not isinstance(held.get("LabelName"), str):
        raise BadCorpus(f"{path} must hold an object with LabelName and {KINDS}; give the publisher's hierarchy")
    try:
        edges = list(_edges(held, path))
    except RecursionError as error:
        raise BadCorpus(f"{path} is nested too deeply; give the publisher's hierarchy") from error
    parents: dict[str, set[str]] = {}
    wholes: dict[str, set[str]] = {}
    for parent, child, how in edges:
        into = parents if how == KINDS else wholes
        # everything is a kind, or a part, of the top
        into.setdefault(child, set()).update({parent} - {held["LabelName"]})
    above: dict[str, frozenset[str]] = {}
    try:
        for label in TopologicalSorter(parents).static_order():
            direct = parents.get(label, set())
            above[label] = frozenset(direct).union(*(above[each] for each in direct))
    except CycleError as error:
        raise BadCorpus(f"{path} has a cycle: {' is above '.join(error.args[1])}; restore the file") from error
    return LabelTree(above, {label: frozenset(found) for label, found in wholes.items() if found})


def _edges(node: dict[str, Any], path: Path) -> Iterator[tuple[str, str, str]]:
    for how in (KINDS, PARTS):
        below = node.get(how, [])
        if not isinstance(below, list):
            raise BadCorpus(f"{path}: {how} of {node['LabelName']!r} must be a list, got {type(below).__name__}")
        for child in below:
            if not isinstance(child, dict) or not isinstance(child.get("LabelName"), str):
                raise BadCorpus(f"{path}: an entry below {node['LabelName']!r} has no LabelName, got {str(child)[:60]}")
            yield node["LabelName"], child["LabelName"], how
            yield from _edges(child, path)


@dataclass(frozen=True, slots=True)
class Outline:
    """One line of the table of outlines: the file of the mask and the corners of its box, in shares of the image."""

    file: str
    label: str
    corners: tuple[float, ...]


def _folders(root: Path) -> tuple[Path, ...]:
    return (root, root / "annotations", root / "metadata", root / "labels")


def _find_all(root: Path, names: Sequence[str], split: str = "") -> list[Path]:
    """All of some files that the folder, or one of its usual subfolders, holds."""
    places = (folder / name.format(split=split) for name in names for folder in _folders(root))
    return [place for place in places if place.is_file()]


def _find(root: Path, names: Sequence[str], split: str = "") -> Path | None:
    return next(iter(_find_all(root, names, split)), None)


def _needed(root: Path, names: Sequence[str], split: str, what: str) -> Path:
    path = _find(root, names, split)
    if path is None:
        raise BadCorpus(f"{root} has no {what}: looked for {', '.join(name.format(split=split) for name in names)}")
    return path


def read_names(path: Path) -> dict[str, str]:
    """Read the names of classes by their codes; the first line may be a header.
    Raises BadCorpus if a line has no two cells, or a code stands twice with two names."""
    found: dict[str, str] = {}
    for number, cells in _lines(path):
        if number == 1 and cells[:1] == ["LabelName"]:
            continue
        if len(cells) != 2 or not all(cell.strip() for cell in cells):
            raise BadCorpus(f"{path}, line {number} must be a code and a name, got {','.join(cells)[:60]!r}")
        if found.setdefault(cells[0].strip(), cells[1].strip()) != cells[1].strip():
            raise BadCorpus(f"{path}, line {number}: {cells[0]} is {found[cells[0].strip()]!r} already; remove a line")
    if not found:
        raise BadCorpus(f"{path} names no class; download it again")
    return found


def read_boxes(path: Path, names: Mapping[str, str], findings: Findings) -> tuple[list[str], BoxTable]:
    """Read the boxes: images in the order in which they are met, and a table by their places in it.
    Raises BadCorpus if a column is missing, or the file is malformed as a whole."""
    keys: dict[str, int] = {}
    table = BoxTable()
    for where, row in _rows(path, NEEDED, findings):
        try:
            key = row["ImageID"].strip()
            if not key or row["LabelName"] not in names:
                code = "annotation-no-category" if key else "annotation-bad-entry"
                raise LeftOut(code, f"the class {row['LabelName'][:40]!r} has no name" if key else "no ImageID")
            sides = _corners([row[name] for name in CORNERS])
        except LeftOut as reason:
            findings.remark(reason.rejection(where))
            continue
        stated = {name: mark(row[name]) for name in MARKED}
        for name in (name for name, each in stated.items() if each is None):
            told = f"{name} is {row[name][:20]!r}, read as no"
            findings.remark(LeftOut("annotation-unknown-mark", told).rejection(where))
        marks = bits([MARKED[name] for name, each in stated.items() if each])
        table.add(keys.setdefault(key, len(keys)), row["LabelName"], sides, marks)
    return list(keys), table


def read_outlines(path: Path, findings: Findings, wanted: Mapping[str, object]) -> dict[str, list[Outline]]:
    """Read the table of outlines, by image; those of ``wanted`` images alone.
    Raises BadCorpus if a column is missing, or the file is malformed as a whole."""
    found: dict[str, list[Outline]] = {}
    columns = tuple(f"Box{name}" for name in CORNERS)
    for where, row in _rows(path, ("MaskPath", "ImageID", "LabelName", *columns), findings):
        if row["ImageID"] in wanted:
            try:
                corners = _corners([row[name] for name in columns])
            except LeftOut as reason:
                findings.remark(reason.rejection(where))
                continue
            found.setdefault(row["ImageID"], []).append(Outline(row["MaskPath"], row["LabelName"], tuple(corners)))
    return found


def read_looked_for(
    paths: Iterable[Path], findings: Findings, wanted: Mapping[str, object]
) -> dict[str, dict[str, bool]]:
    """Classes that people looked for in each wanted image, and whether they are there; a class said to be both is.
    Raises BadCorpus if a column is missing, or a file is malformed as a whole."""
    found: dict[str, dict[str, bool]] = {}
    for path in paths:
        for where, row in _rows(path, ("ImageID", "LabelName", "Confidence"), findings):
            there = mark(row["Confidence"])
            if there is None:
                findings.remark(Rejection(where, "annotation-bad-entry", "its Confidence is not 0 or 1"))
            elif row["ImageID"] in wanted:
                own = found.setdefault(row["ImageID"], {})
                own[row["LabelName"]] = own.get(row["LabelName"], False) or there
    return found


def _rows(path: Path, needed: Sequence[str], findings: Findings | None = None) -> Iterator[tuple[str, Row]]:
    """Yield (where, row) of a table line by line; a line with another number of cells is passed over, with a
    remark where there are ``findings``.
    Raises BadCorpus if a needed column is missing, or the file is malformed as a whole."""
    lines = _lines(path)
    header = [cell.strip() for cell in next(lines, (0, []))[1]]
    missing = [name for name in needed if name not in header]
    if missing:
        told = f"it has {', '.join(header)[:200]}" if header else "the file is empty"
        raise BadCorpus(f"{path} has no column {missing[0]}; {told}; give the publisher's file with its first line")
    for number, cells in lines:
        where = f"{path.name}, line {number}"
        if len(cells) == len(header):
            yield where, dict(zip(header, cells, strict=True))
        elif cells and findings:
            told = "the line has another number of cells than the first"
            findings.remark(Rejection(where, "annotation-bad-entry", told))


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            check_columns(file.readline(LONGEST + 1), where=str(path))
            file.seek(0)
            reader = csv.reader(file, strict=True)
            for cells in reader:
                yield reader.line_num, cells
    except OSError as error:
        raise BadCorpus(f"{path} cannot be read ({error.strerror or error}); restore it or correct the path") from error
    except UnicodeDecodeError as error:
        raise BadCorpus(f"{path} is not UTF-8 text; download it again") from error
    except csv.Error as error:
        raise BadCorpus(f"{path} is no CSV file ({error}); download it again") from error


def _corners(cells: Sequence[str]) -> list[float]:
    try:
        sides = [float(cell) for cell in cells]
    except ValueError:
        sides = [math.nan]
    if not all(math.isfinite(side) for side in sides):
        raise LeftOut("annotation-bad-box", f"a box is {', '.join(cells)[:60]}; it must be four numbers from 0 to 1")
    return sides


@corpus_loader(
    name="openimages",
    summary="Open Images V7: photographs with boxes of 601 classes and outlines, <split>-annotations-bbox.csv",
    options={"split": "validation (by default), test or train", "limit": "stop after so many items", **SLICE_OPTIONS},
)
def load_openimages(
    root: Path, *, split: str | None = None, slice: str = SINGLE, limit: int | str | None = None, **curation: Any
) -> Corpus:
    """Read a split: its boxes and the names of classes; the hierarchy, outlines and licences where their files are. A
    picture that does not stand upright by the list of images is left out. The photographs lie in a folder of the
    split's name, in ``images/``, or beside the tables. Only the object of an item gets its outline, resized to the
    photograph; other objects keep their boxes. Returns the items in the order of the boxes, every image left out with
    its reason, and remarks on annotations. Raises BadCorpus if a table is missing or malformed as a whole, or the
    hierarchy has a cycle; InvalidInput if an option is wrong."""
    rules = Slice.from_options(slice, curation)
    most = None if limit is None else whole_number(limit, name="limit")
    split = _split(root, split)
    path = _find(root, IMAGE_LISTS, split)
    # images that lie on a side or on their head by the publisher's list: the degrees that would put them upright
    listed = (row for _, row in _rows(path, ("ImageID",))) if path else ()
    turned = {row["ImageID"]: row["Rotation"] for row in listed if (whole(row.get("Rotation")) or 0) % 360}
    names, found = read_names(_needed(root, CLASSES, split, "names of classes")), Findings()
    keys, boxes = read_boxes(_needed(root, BOXES, split, "boxes"), names, found)
    path = _find(root, HIERARCHY)
    tree = read_label_tree(path) if path else None
    reader = _Reader(root, split, rules, names, tree, turned, found)
    each = zip(keys, boxes.by_image(len(keys)), strict=True)
    drafts, examined = up_to(most, (reader.draft(key, rows) for key, rows in each))
    items = _finished(reader, drafts)
    words = f"Open Images {split}, {rules.sentence()}"
    words += "" if tree else "; without the hierarchy, so boxes of parts and general names count as further objects"
    words += limited(most, examined, len(keys))
    return Corpus("openimages", items, found.rejected, words, remarks=found.remarks)


def _split(root: Path, split: str | None) -> str:
    """The split that is asked for, else the one of validation, else the first by name, of those whose boxes are there.
    Raises BadCorpus if there is none, or not that one."""
    found: set[str] = set()
    for name in BOXES:
        prefix, suffix = name.split("{split}")
        files = (file.name for folder in _folders(root) for file in folder.glob(f"{prefix}*{suffix}"))
        found |= {file.removeprefix(prefix).removesuffix(suffix) for file in files}
    there = sorted(found - {f"oidv6-{each}" for each in found})
    if not there:
        raise BadCorpus(f"{root} has no <split>-annotations-bbox.csv; give the folder of an Open Images download")
    if split is not None and split not in there:
        raise BadCorpus(f"{root} has no boxes of split {split!r}; it has {', '.join(there)}")
    return split or ("validation" if "validation" in there else there[0])


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
    masks: ImagePlaces = field(init=False)

    def __post_init__(self) -> None:
        split = self.split
        self.nouns = {label: self.labels.noun(name) for label, name in self.names.items()}
        self.places = ImagePlaces(self.root, (split, f"images/{split}", "images", f"{split}/data", ""))
        usual = ("masks", "{}-masks", "masks-{}", "masks/{}", "{}/masks", "{}/labels/masks", "")
        parts = [f"{split}-masks-{sign:x}" for sign in range(16)]
        self.masks = ImagePlaces(self.root, [*(each.format(split) for each in usual), *parts])

    def draft(self, key: str, rows: Rows) -> _Draft | None:
        subject = f"{self.split}-{key}"
        try:
            if key in self.turned:
                told = f"Rotation {self.turned[key]}: the picture does not stand upright"
                raise LeftOut("turned-image", f"the publisher's list of images says {told}")
            path = self.places.find(f"{key}.jpg")
            header = auditable(path)
            remark_exif(self.found, subject, path, header)
            size, (left, right, top, bottom) = (header.width, header.height), rows.sides.T
            shares = np.stack((left, top, right - left, bottom - top), axis=1)
            called = [f"the box of {self.names[label]} in {key}" for label in rows.labels]
            boxed = instances_of(replace(rows, sides=shares * (size * 2)), called, size, key, self.found)
            instances = self._distinct(boxed, subject)
            chosen = self.rules.choose(instances, width=header.width, height=header.height)
        except LeftOut as reason:
            self.found.leave_out(reason.rejection(subject))
            return None
        return _Draft(key, path, header, tuple(instances), chosen)

    def known(self, draft: _Draft, asked: Mapping[str, bool]) -> dict[str, Any]:
        """What the item says of things beyond its boxes: those that people looked for, and found without a box. Every
        instance of a class that has a box was boxed; a class that is refused is so with all of its kinds."""
        boxed = {each.label for each in draft.instances}
        found = {label for label, there in asked.items() if there and label in self.nouns} - boxed
        refused = {label for label, there in asked.items() if not there}
        if self.tree:
            refused |= {label for label, above in self.tree.above.items() if above & refused}
        sure = (self.nouns[label] for label in boxed | (refused - found) if label in self.nouns)
        return {"looked_for": frozenset(sure), "also_there": tuple(sorted(self.nouns[label] for label in found))}

    def mask(self, draft: _Draft, chosen: Instance, outlines: Sequence[Outline]) -> Mask | None:
        """The outline of an object, from a PNG file of any size; None, with a remark where it cannot be used."""
        box, header = chosen.box, draft.header
        own = (box.x / header.width, box.right / header.width, box.y / header.height, box.bottom / header.height)
        fitting = (
            each.file
            for each in outlines
            if each.label == chosen.label
            and max(abs(mine - theirs) for mine, theirs in zip(own, each.corners, strict=True)) <= SAME_CORNER
        )
        if (name := next(fitting, None)) is None:
            return None
        try:
            path = self.masks.find(name, f"{name[:1]}/{name}", f"{name[:1].upper()}/{name}")
            held = read_image(path).pixels[..., 0] > 127
            height, width = held.shape
            if abs(width / height / (header.width / header.height) - 1) > SAME_SHAPE:
                given = f"its {width} × {height} px have not the proportions of the image's"
                raise LeftOut("annotation-bad-mask", f"{given} {header.width} × {header.height}")
            size = (header.width, header.height)
            resized = cv2.resize(held.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST).astype(bool)
            mask = Mask.from_array(resized)
            if mask.box is None or not mask.box.intersection(box):
                raise LeftOut("annotation-bad-mask", "no pixel of it lies in the object's box")
            return mask
        except (LeftOut, BadImage) as error:
            reason = LeftOut("annotation-bad-mask", f"{name[:80]}: {error}; the box stands alone")
            self.found.remark(reason.rejection(draft.key))
            return None

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
        above = self.tree.above.get(other.label, frozenset())
        # a part of the other thing, e.g. Human face of Man: of it, or of what it is a kind of
        if self.tree.wholes.get(each.label, frozenset()) & (above | {other.label}):
            inside = each.box.intersection(other.box) / each.box.area
            return "annotation-part" if inside >= PART_INSIDE else ""
        if each.label in above:
            return "annotation-duplicate" if each.box.iou(other.box) >= SAME_OBJECT_IOU else ""
        return ""


def _finished(reader: _Reader, drafts: Sequence[_Draft]) -> tuple[Item, ...]:
    """Items of the drafts, with their outlines and licences where the folder has them."""
    root, split, wanted = reader.root, reader.split, {draft.key: draft for draft in drafts}
    path = _find(root, OUTLINES, split)
    outlines = read_outlines(path, reader.found, wanted) if path else {}
    path = _find(root, IMAGE_LISTS, split)
    listed = (row for _, row in _rows(path, ("ImageID", "OriginalLandingURL", "License"))) if path else ()
    licences = {
        row["ImageID"]: (row["License"], row["OriginalLandingURL"]) for row in listed if row["ImageID"] in wanted
    }
    asked = read_looked_for(_find_all(root, LOOKED_FOR, split), reader.found, wanted)
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
                mask=reader.mask(draft, chosen, outlines.get(draft.key, ())) if chosen else None,
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
