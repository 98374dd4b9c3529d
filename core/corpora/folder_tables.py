"""What files beside a folder of images say of each: captions with what stands in their row, and boxes."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.corpora.caption_columns import SAID
from core.corpora.caption_tables import CaptionRow, CaptionTable, read_caption_table
from core.corpora.files import read_json, read_text
from core.corpora.own_columns import OwnCells, OwnColumns
from core.corpora.packed import PACKED
from core.errors import BadCorpus

CAPTION_FILES = ("candidates.json", "predictions.jsonl", "captions.csv", "captions.jsonl", "FineCapEval.csv")
"""Looked for in the folder, where no option names a file; of several, the owner says which."""

MORE_FILES = (
    "metadata.csv", "metadata.jsonl", "metadata.parquet", "captions.txt", "captions.json", "captions.tsv",
    "captions.token", "results_20130124.token", "results.csv", "Flickr8k.token.txt", "results.json",
)  # fmt: skip
"""Looked for after those; the first that is there counts."""

BOX_FILES = ("boxes.csv", "boxes.json")

_BOX_COLUMNS = ("x", "y", "width", "height")
_TURN = ("rotation", "attributes", "angle", "theta")
"""What may say that a box is turned."""
_FINE = ("critical_objects", "backgrounds", "relationships")
"""What M-FineCap lists beside a caption; the critical objects are what a substitution lets change places."""
_FINECAPEVAL = "object"
"""FineCapEval's name of the first. Source: j-min/CLIP-Caption-Reward, tools/eval_finecapeval.py; Cho et al. 2022."""
_BETWEEN = re.compile(r"\\?;")
"""Between two phrases of a cell: ``;``, or FineCapEval's backslash before it."""
_READ = (
    "language",
    "label",
    "category",
    "box",
    *_FINE,
    _FINECAPEVAL,
    "background",
    "relation",
    *_BOX_COLUMNS,
    "rotation",
    "angle",
    "theta",
)
_NUMBERS = re.compile(r"[\d\s.,+eE-]*")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")


@dataclass(frozen=True, slots=True)
class Note:
    """What one line says about one image; everything but the image may be missing.

    Args:
        image: the image as the file names it: a path in the folder, a file name or its stem.
        language: ISO 639-1 code, None where the file states none.
        box: x, y, width, height in px, still unchecked.
        turn: what the file says of how the box is turned, still unchecked.
        named: critical objects of the caption, as the file lists them.
        own: what the line states in columns that nothing reads.
    """

    where: str
    image: str
    caption: str | None = None
    language: str | None = None
    label: str | None = None
    category: str | None = None
    box: Any = None
    turn: Mapping[str, Any] = field(default_factory=dict)
    named: tuple[str, ...] = ()
    own: OwnCells = ()


def read_caption_notes(path: Path, own: OwnColumns, *, below: str = "") -> Iterator[Note]:
    """Read a file of captions in any layout of :mod:`core.corpora.caption_tables`.

    A row may also state a language, a label, a category, critical_objects (a list, ``;`` between them in a table; a
    column ``object`` in FineCapEval's) and a box, x, y, width, height.

    Args:
        own: takes the other columns.
        below: the folder that the file names pictures from, where it is not the folder of the pictures, with ``/``.

    Raises:
        BadCorpus: if the file is malformed, or holds no caption.
    """
    table = read_caption_table(path)
    captions = 0
    for row in table.rows():
        said = row.captions or row.references
        captions += len(said)
        if not any(said) and any(row.rest.get(name) for name in ("label", "box", "x")):
            said = ()  # a row of a label or a box alone
        yield from _notes(table, row, said or (None,), own, below)
    if not captions and path.suffix.lower() not in PACKED:  # whose pictures are there all the same
        raise BadCorpus(f"{path} holds no caption; call its column or key {', '.join(SAID[:-1])} or {SAID[-1]}")


def read_caption_beside(image: str, path: Path) -> Iterator[Note]:
    """Read the captions of one picture from the text file of its name, one a line; numbers alone are none.

    Raises:
        BadCorpus: if it is no text.
    """
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if line.strip() and not _NUMBERS.fullmatch(line):  # as YOLO keeps boxes
            yield Note(f"{path.name}, line {number}", image, line)


def read_box_notes(path: Path, own: OwnColumns) -> Iterator[Note]:
    """Read boxes: a table with columns image, x, y, width, height [, label, category, rotation], or JSON.

    The JSON form is ``{image: {"box": [x, y, width, height], "label": …, "category": …}}``, or a list of such
    objects for an image with several.

    Args:
        own: takes the other columns of a table.

    Raises:
        BadCorpus: if the file is malformed as a whole.
    """
    if path.suffix.lower() != ".json":
        table = read_caption_table(path)
        for row in table.rows():
            if missing := [column for column in _BOX_COLUMNS if column not in row.rest]:
                raise BadCorpus(f"{path} has no column {missing[0]!r}; its first line must name image, "
                                f"{', '.join(_BOX_COLUMNS)}")  # fmt: skip
            yield from _notes(table, row, (None,), own, "")
        return
    content = read_json(path)
    if not isinstance(content, dict):
        raise BadCorpus(f"{path} must hold one JSON object {{image: {{box, label}}}}, got {type(content).__name__}")
    for image, value in content.items():
        yield from _json_notes(path, image, value)


def language_code(text: str) -> str | None:
    """Return a language code in the form that captions are kept by, or None where the text is none."""
    language, dash, region = text.strip().replace("_", "-").partition("-")
    code = language.lower() + dash + region
    return code if _LANGUAGE.fullmatch(code) else None


def _json_notes(path: Path, image: str, value: Any) -> Iterator[Note]:
    for number, entry in enumerate(value if isinstance(value, list) else [value]):
        where = f"{path.name} {image}[{number}]"
        if not isinstance(entry, dict) or "box" not in entry:
            raise BadCorpus(f"{path}: the entry of {image!r} needs a box [x, y, width, height], got {str(entry)[:60]}")
        label, category = (
            str(entry[name]).strip() or None if entry.get(name) else None for name in ("label", "category")
        )
        yield Note(where, image, label=label, category=category, box=entry["box"], turn=_turn(entry))


def _turn(cells: Mapping[str, Any]) -> dict[str, Any]:
    return {name: cells[name] for name in _TURN if cells.get(name) not in (None, "")}


def _notes(
    table: CaptionTable, row: CaptionRow, captions: Iterable[str | None], own: OwnColumns, below: str
) -> Iterator[Note]:
    where, cells = table.where(row.number), row.rest
    if not cells:
        for caption in captions:
            yield Note(where, below + row.picture, caption)
        return
    words = {name: _word(cells.get(name), name, where) for name in ("language", "label", "category")}
    box = [cells.get(column) for column in _BOX_COLUMNS] if {"x", "y"} & cells.keys() else []
    named = _named(cells, where, divided=bool(table.columns))
    others = own.take(((column, cell) for column, cell in cells.items() if column not in _READ), where)
    for caption in captions:
        yield Note(where, below + row.picture, caption, box=box if any(box) else cells.get("box"), turn=_turn(cells),
                   named=named, own=others, **words)  # fmt: skip


def _word(value: object, name: str, where: str) -> str | None:
    if value is not None and not isinstance(value, str):
        if name != "language":  # the number of a class, as Hugging Face's folders state it
            return None
        raise BadCorpus(f"{where}: {name} must be a code such as de, got {str(value)[:40]!r}")
    return (value or "").strip() or None


def _named(cells: Mapping[str, Any], where: str, *, divided: bool) -> tuple[str, ...]:
    column = next((name for name in (_FINE[0], _FINECAPEVAL) if cells.get(name)), None)
    if column is None:
        return ()
    listed = _BETWEEN.split(cells[column]) if divided else cells[column]
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise BadCorpus(f"{where}: {column} must be a list of texts, got {str(listed)[:40]!r}")
    return tuple(text for each in listed if (text := each.strip()))
