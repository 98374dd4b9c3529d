"""The files of Open Images: boxes, labels of whole pictures, and the tree that its labels stand in."""

import csv
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from core.corpora.boxes import BoxTable, bits
from core.corpora.corpus_files import Findings, LeftOut, mark, read_json, whole
from core.corpora.table_cells import check_csv_header
from core.errors import BadCorpus

KINDS, PARTS = "Subcategory", "Part"

_Edges = list[tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class LabelTree:
    """Labels by their codes.
    ``wholes``: a label -> every label of a thing that it names a part of, kinds of that thing not spelled out."""

    above: Mapping[str, frozenset[str]]  # a label -> every label that is more general
    wholes: Mapping[str, frozenset[str]]

    def more_general(self, label: str, other: str) -> bool:
        """Whether ``label`` is more general than ``other``, e.g. Person than Man."""
        return label in self.above.get(other, frozenset())

    def part_of(self, label: str, other: str) -> bool:
        """Whether ``label`` names a part of ``other``, e.g. Human face of Man: of it, or of what it is a kind of."""
        kinds = self.above.get(other, frozenset()) | {other}
        return bool(self.wholes.get(label, frozenset()) & kinds)


def read_label_tree(path: Path) -> LabelTree:
    """Read a hierarchy.
    Raises BadCorpus if the file is malformed, or a label is more general than itself; names the labels of the cycle."""
    held = read_json(path)
    if not isinstance(held, dict) or not isinstance(held.get("LabelName"), str):
        raise BadCorpus(f"{path} must hold an object with LabelName and {KINDS}; give the publisher's hierarchy")
    edges: _Edges = []
    try:
        edges.extend(_edges(held, path))
    except RecursionError as error:
        raise BadCorpus(f"{path} is nested too deeply; give the publisher's hierarchy") from error
    top = held["LabelName"]
    parents: dict[str, set[str]] = {}
    whole: dict[str, set[str]] = {}
    for parent, child, how in edges:
        into = parents if how == KINDS else whole
        into.setdefault(child, set()).update({parent} - {top})  # everything is a kind, or a part, of the top
    return LabelTree(_ancestors(parents, path), {label: frozenset(found) for label, found in whole.items() if found})


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


def _ancestors(parents: Mapping[str, set[str]], path: Path) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    try:
        for label in TopologicalSorter(parents).static_order():
            direct = parents.get(label, set())
            found[label] = frozenset(direct).union(*(found[each] for each in direct))
    except CycleError as error:
        raise BadCorpus(f"{path} has a cycle: {' is above '.join(error.args[1])}; restore the file") from error
    return found


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
class Outline:
    """One line of the table of outlines: the file of the mask and the corners of its box, in shares of the image."""

    file: str
    label: str
    corners: tuple[float, ...]


def find(root: Path, names: Sequence[str], split: str = "") -> Path | None:
    """Return the first of some files that the folder, or one of its usual subfolders, holds."""
    return next(iter(find_all(root, names, split)), None)


def find_all(root: Path, names: Sequence[str], split: str = "") -> list[Path]:
    """Return all of some files that the folder, or one of its usual subfolders, holds."""
    folders = (root, root / "annotations", root / "metadata", root / "labels")
    places = (folder / name.format(split=split) for name in names for folder in folders)
    return [place for place in places if place.is_file()]


def splits(root: Path) -> list[str]:
    """Splits whose boxes are there, sorted."""
    found: set[str] = set()
    for name in reversed(BOXES):
        prefix, suffix = name.split("{split}")
        for folder in (root, root / "annotations", root / "metadata", root / "labels"):
            found |= {path.name.removeprefix(prefix).removesuffix(suffix) for path in folder.glob(f"{prefix}*{suffix}")}
    return sorted(found - {f"oidv6-{each}" for each in found})


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
    for where, row in rows(path, NEEDED):
        try:
            if row is None:
                raise LeftOut("annotation-bad-entry", "the line has another number of cells than the first")
            key = row["ImageID"].strip()
            if not key or row["LabelName"] not in names:
                code = "annotation-no-category" if key else "annotation-bad-entry"
                raise LeftOut(code, f"the class {row['LabelName'][:40]!r} has no name" if key else "no ImageID")
            sides = _corners([row[name] for name in CORNERS])
            marks = _marks(row, where, findings)
        except LeftOut as reason:
            findings.remark(reason.rejection(where))
            continue
        table.add(keys.setdefault(key, len(keys)), row["LabelName"], sides, marks)
    return list(keys), table


def read_outlines(path: Path, findings: Findings, wanted: Mapping[str, object]) -> dict[str, list[Outline]]:
    """Read the table of outlines, by image; those of ``wanted`` images alone.
    Raises BadCorpus if a column is missing, or the file is malformed as a whole."""
    found: dict[str, list[Outline]] = {}
    columns = tuple(f"Box{name}" for name in CORNERS)
    for where, row in rows(path, ("MaskPath", "ImageID", "LabelName", *columns)):
        try:
            if row is None:
                raise LeftOut("annotation-bad-entry", "the line has another number of cells than the first")
            if row["ImageID"] in wanted:
                corners = _corners([row[name] for name in columns])
                found.setdefault(row["ImageID"], []).append(Outline(row["MaskPath"], row["LabelName"], tuple(corners)))
        except LeftOut as reason:
            findings.remark(reason.rejection(where))
    return found


def read_looked_for(
    paths: Iterable[Path], findings: Findings, wanted: Mapping[str, object]
) -> dict[str, dict[str, bool]]:
    """Classes that people looked for in each wanted image, and whether they are there; a class said to be both is.
    Raises BadCorpus if a column is missing, or a file is malformed as a whole."""
    found: dict[str, dict[str, bool]] = {}
    for path in paths:
        for where, row in rows(path, ("ImageID", "LabelName", "Confidence")):
            there = mark(row["Confidence"]) if row is not None else None
            if row is None or there is None:
                detail = "the line has another number of cells, or a Confidence that is not 0 or 1"
                findings.remark(LeftOut("annotation-bad-entry", detail).rejection(where))
            elif row["ImageID"] in wanted:
                own = found.setdefault(row["ImageID"], {})
                own[row["LabelName"]] = own.get(row["LabelName"], False) or there
    return found


def read_turned(path: Path) -> dict[str, str]:
    """Images that lie on a side or on their head by the publisher's list: the degrees that would put them upright."""
    return {
        row["ImageID"]: row["Rotation"]
        for _, row in rows(path, ("ImageID",))
        if row and (whole(row.get("Rotation")) or 0) % 360
    }


def read_licences(path: Path, wanted: Mapping[str, object]) -> dict[str, tuple[str, str]]:
    """Licence and page of each wanted image, as the publisher's list of images states them."""
    lines = rows(path, ("ImageID", "OriginalLandingURL", "License"))
    return {
        row["ImageID"]: (row["License"], row["OriginalLandingURL"])
        for _, row in lines
        if row is not None and row["ImageID"] in wanted
    }


def rows(path: Path, needed: Sequence[str]) -> Iterator[tuple[str, Row | None]]:
    """Yield (where, row) of a table line by line; None for a line with another number of cells.
    Raises BadCorpus if a needed column is missing, or the file is malformed as a whole."""
    lines = _lines(path)
    header = [cell.strip() for cell in next(lines, (0, []))[1]]
    missing = [name for name in needed if name not in header]
    if missing:
        told = f"it has {', '.join(header)[:200]}" if header else "the file is empty"
        raise BadCorpus(f"{path} has no column {missing[0]}; {told}; give the publisher's file with its first line")
    for number, cells in lines:
        if cells:
            whole = len(cells) == len(header)
            yield f"{path.name}, line {number}", dict(zip(header, cells, strict=True)) if whole else None


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    check_csv_header(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
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


def _marks(row: Row, where: str, findings: Findings) -> int:
    for name in MARKED:
        if mark(row[name]) is None:
            told = f"{name} is {row[name][:20]!r}, read as no"
            findings.remark(LeftOut("annotation-unknown-mark", told).rejection(where))
    return bits([each for name, each in MARKED.items() if mark(row[name])])
