"""Captions and boxes that lie beside a folder of images: clipscore, CaptionEvalKit or CSV."""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from core.corpora.csv_header import check_columns
from core.corpora.files import read_json, read_text
from core.corpora.formats import LINES, read_candidates, read_predictions_jsonl, read_references
from core.corpora.records import jsonl_records
from core.errors import BadCorpus

CAPTION_FILES = ("candidates.json", "predictions.jsonl", "captions.csv", "captions.jsonl", "FineCapEval.csv")
"""Looked for in the folder, where no option names a file."""

BOX_FILES = ("boxes.csv", "boxes.json")

_BOX_COLUMNS = ("x", "y", "width", "height")
_FINE = ("critical_objects", "backgrounds", "relationships")
"""What M-FineCap lists beside a caption; the critical objects are what a substitution lets change places."""
_FINECAPEVAL = {"object": "critical_objects", "background": "backgrounds", "relation": "relationships"}
"""FineCapEval's names of the same. Source: j-min/CLIP-Caption-Reward, tools/eval_finecapeval.py; Cho et al. 2022."""
_BETWEEN = re.compile(r"\\?;")
"""Between two phrases of a cell: ``;``, or FineCapEval's backslash before it."""
_CAPTION_COLUMNS = ("image", "caption", "language", "label", "category", *_FINE, *_BOX_COLUMNS)
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")


@dataclass(frozen=True, slots=True)
class Note:
    """What one line says about one image; everything but the image may be missing.

    Args:
        image: the image as the file names it: a path in the folder, a file name or its stem.
        language: ISO 639-1 code, None where the file states none.
        box: x, y, width, height in px, still unchecked.
        named: critical objects of the caption, as the file lists them.
    """

    where: str
    image: str
    caption: str | None = None
    language: str | None = None
    label: str | None = None
    category: str | None = None
    box: Any = None
    named: tuple[str, ...] = ()


def read_caption_notes(path: Path) -> tuple[Note, ...]:
    """Read a file of captions; its ending tells the format.

    ``.jsonl``: CaptionEvalKit's predictions, references where the name begins with ``references``, or lines of image,
    caption, language and lists of critical_objects, backgrounds, relationships (M-FineCap). ``.json``: clipscore's
    candidates, or references likewise. ``.csv``: columns image, caption and, where there are any, language, label,
    category, critical_objects (``;`` between them), x, y, width, height; or FineCapEval's image, caption, background,
    object, relation.

    Raises:
        BadCorpus: if the file is malformed or has another ending.
    """
    suffix, references = path.suffix.lower(), path.name.lower().startswith("references")
    if suffix == ".csv":
        return tuple(_csv_notes(path, needed=("image", "caption"), known=_CAPTION_COLUMNS))
    if suffix not in (".json", *LINES):
        raise BadCorpus(f"{path}: captions are read from .json, .jsonl or .csv; convert the file or rename it")
    if references:
        found = read_references(path).items()
        return tuple(Note(f"{path.name} {key}", key, text) for key, texts in found for text in texts)
    if suffix == ".json":
        return tuple(Note(f"{path.name} {key}", key, text) for key, text in read_candidates(path).items())
    if set(_FINE) & next((record.keys() for _, record in jsonl_records(path)), set()):
        return tuple(_fine_note(path, where, record) for where, record in jsonl_records(path))
    lines = read_predictions_jsonl(path)
    return tuple(Note(f"{path.name} {line.id}", line.image or line.id, line.caption) for line in lines)


def read_box_notes(path: Path) -> tuple[Note, ...]:
    """Read boxes: a CSV with columns image, x, y, width, height [, label, category], or JSON.

    The JSON form is ``{image: {"box": [x, y, width, height], "label": …, "category": …}}``, or a list of such
    objects for an image with several.

    Raises:
        BadCorpus: if the file is malformed as a whole.
    """
    if path.suffix.lower() == ".csv":
        return tuple(_csv_notes(path, needed=("image", *_BOX_COLUMNS), known=_CAPTION_COLUMNS))
    content = read_json(path)
    if not isinstance(content, dict):
        raise BadCorpus(f"{path} must hold one JSON object {{image: {{box, label}}}}, got {type(content).__name__}")
    return tuple(note for image, value in content.items() for note in _json_notes(path, image, value))


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
        yield Note(where, image, label=label, category=category, box=entry["box"])


def _csv_notes(path: Path, *, needed: tuple[str, ...], known: tuple[str, ...]) -> Iterator[Note]:
    text = read_text(path)
    check_columns(text, where=str(path))
    reader = csv.DictReader(StringIO(text, newline=""), strict=True)
    try:
        columns = [column.strip().lower() for column in reader.fieldnames or ()]
        columns = [_FINECAPEVAL.get(column, column) for column in columns]
        missing = [column for column in needed if column not in columns]
        if missing:
            raise BadCorpus(f"{path} has no column {missing[0]!r}; its first line must name {', '.join(needed)}")
        strange = [column for column in columns if column not in known]
        if strange or len(set(columns)) < len(columns):
            raise BadCorpus(f"{path} has the columns {', '.join(columns)}; each of {', '.join(known)} may stand once")
        reader.fieldnames = columns
        for row in reader:
            yield _csv_note(path, reader.line_num, row)
    except csv.Error as error:
        raise BadCorpus(f"{path}, line {reader.line_num}: {error}; mend the line or quote the cell") from error


def _csv_note(path: Path, line: int, row: dict[str, Any]) -> Note:
    if None in row or None in row.values():
        raise BadCorpus(f"{path}, line {line}: another number of cells than the first line; quote a cell with a comma")
    cells = {name: text.strip() or None for name, text in row.items()}
    if cells["image"] is None:
        raise BadCorpus(f"{path}, line {line}: the image is not named; fill it in or remove the line")
    box = [cells.get(column) for column in _BOX_COLUMNS]
    words = {name: cells.get(name) for name in ("caption", "language", "label", "category")}
    named = tuple(text for each in _BETWEEN.split(cells.get(_FINE[0]) or "") if (text := each.strip()))
    return Note(
        f"{path.name} line {line}", box=None if not any(box) else box, image=cells["image"], named=named, **words
    )


def _fine_note(path: Path, where: str, record: Mapping[str, Any]) -> Note:
    image, caption, language, objects = (record.get(name) for name in ("image", "caption", "language", _FINE[0]))
    for name, value in (("image", image), ("caption", caption)):
        if not isinstance(value, str) or not value.strip():
            raise BadCorpus(f"{path.parent / where}: {name} must be a text, got {str(value)[:40]!r}; fill it in")
    if language is not None and not isinstance(language, str):
        raise BadCorpus(f"{path.parent / where}: language must be a code such as de, got {str(language)[:40]!r}")
    listed = [] if objects is None else objects
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise BadCorpus(f"{path.parent / where}: {_FINE[0]} must be a list of texts, got {str(listed)[:40]!r}")
    named = tuple(text for each in listed if (text := each.strip()))
    return Note(where, str(image).strip(), str(caption), language, named=named)
