"""Files of captioners: one system a file, or one system a column of a table.

- JSON ``{image: caption}`` as clipscore reads it, or ``{image: [captions]}`` where a system offers several;
- JSON ``[{"image_id": …, "caption": …}]``, COCO's results;
- JSON lines as CaptionEvalKit writes them;
- CSV or TSV: a column that names the image, and one column a system.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.corpora.csv_header import check_columns
from core.corpora.formats import LINES, MOST_BYTES, parse_json, shown
from core.corpora.places import ordinary
from core.errors import BadCorpus

TABLES = {".csv": ",", ".tsv": "\t"}
"""Ending of a table -> what stands between its cells."""

ENDINGS = (".json", *LINES, *TABLES)
"""Endings of the files that are read."""

IMAGE_COLUMNS = ("image", "id", "image_id", "file_name")
"""Names of the column of a table that says which image a line is about; the first that is there."""

MOST_SYSTEMS = 100
"""Systems of one leaderboard, at most: 4 950 pairs of them."""


@dataclass(frozen=True, slots=True)
class System:
    """The captions of one captioner.

    Args:
        name: unique on its leaderboard.
        captions: by the image as the file names it; the first is the system's caption, the others are further samples.
    """

    name: str
    captions: Mapping[str, tuple[str, ...]]


def read_systems(path: Path, *, name: str = "") -> tuple[System, ...]:
    """Read the systems of one file; see :func:`parse_systems`.

    Args:
        path: of the file.
        name: of its system; empty: the file's own without its ending. A table has names of its own.

    Raises:
        BadCorpus: if the file cannot be read, or not as captions.
    """
    try:
        if ordinary(path).stat().st_size > MOST_BYTES:
            raise BadCorpus(f"{path} has {path.stat().st_size:,} bytes and at most {MOST_BYTES:,} are taken; split it")
        data = path.read_bytes()
    except OSError as error:
        raise BadCorpus(f"{path} cannot be read ({error.strerror or error}); give a file of captions") from error
    return parse_systems(data, name=path.name, called=name)


def parse_systems(data: bytes, *, name: str, called: str = "") -> tuple[System, ...]:
    """Read the systems of one file from an upload.

    Args:
        data: what was uploaded, at most MOST_BYTES.
        name: of the file; its ending says how it is read.
        called: name of its system; empty: the file's name without its ending.

    Raises:
        BadCorpus: in one sentence that names the file and the first entry that is wrong.
    """
    if len(data) > MOST_BYTES:
        raise BadCorpus(f"{name} has {len(data):,} bytes and at most {MOST_BYTES:,} are taken; split it")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadCorpus(f"{name} is not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8") from error
    ending, own = Path(name).suffix.lower(), called.strip() or Path(name).stem
    if ending in TABLES:
        if called:
            raise BadCorpus(f"{name} is a table whose columns name its systems; leave the name {called!r} out")
        return _table(text, name, TABLES[ending])
    if ending in LINES:
        return (System(own, _lines(text, name)),)
    if ending != ".json":
        raise BadCorpus(f"{name} is of no kind that is read; its name must end in {', '.join(ENDINGS)}")
    return (System(own, _json(text, name)),)


def unlike(systems: Sequence[System]) -> tuple[System, ...]:
    """Return the systems after checking that no two share a name and that they are not too many.

    Raises:
        BadCorpus: otherwise, or if there is none.
    """
    if not systems:
        raise BadCorpus("there is no system; give at least one file of captions")
    if len(systems) > MOST_SYSTEMS:
        raise BadCorpus(f"at most {MOST_SYSTEMS} systems stand on one leaderboard, got {len(systems)}; leave some out")
    names = [each.name for each in systems]
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise BadCorpus(f"two systems are called {twice!r}; rename one, as in NAME=path/to/candidates.json")
    return tuple(systems)


def _json(text: str, where: str) -> dict[str, tuple[str, ...]]:
    value = parse_json(text, where, unique_keys=True)
    if isinstance(value, list):
        return _results(value, where)
    if not isinstance(value, dict):
        raise BadCorpus(f"{where} must hold {{image: caption}} or [{{image_id, caption}}], got {shown(value)}")
    return {key: _texts(each, key, where) for key, each in value.items()}


def _results(records: list[Any], where: str) -> dict[str, tuple[str, ...]]:
    """COCO's results: one record an image."""
    found: dict[str, tuple[str, ...]] = {}
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise BadCorpus(f"{where}, entry {number} must be {{image_id, caption}}, got {shown(record)}")
        key = _identity(record.get("image_id", record.get("id")), f"{where}, entry {number}", found)
        found[key] = _texts(record.get("caption"), key, where)
    return found


def _lines(text: str, where: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        at = f"{where}, line {number}"
        record = parse_json(line, at, unique_keys=True)
        if not isinstance(record, dict):
            raise BadCorpus(f"{at} must be a JSON object, got {shown(record)}")
        key = _identity(record.get("id", record.get("image_id")), at, found)
        found[key] = _texts(record.get("caption", record.get("prediction")), key, at)
    return found


def _table(text: str, where: str, between: str) -> tuple[System, ...]:
    check_columns(text, where=where)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=between, strict=True)
    try:
        lines = [(rows.line_num, row) for row in rows if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise BadCorpus(f"{where}, line {rows.line_num}: {error}; mend the quotes") from error
    if not lines:
        raise BadCorpus(f"{where} is empty; its first line must name the columns, e.g. image{between}system A")
    header, image = _header(lines[0][1], where)
    captions: dict[str, dict[str, tuple[str, ...]]] = {column: {} for column in header if column != image}
    seen: dict[str, int] = {}
    for number, row in lines[1:]:
        key, cells = _cells(row, header, image, f"{where}, line {number}")
        if key in seen:
            raise BadCorpus(f"{where}, line {number}: {key!r} was there before, in line {seen[key]}; keep one")
        seen[key] = number
        for column, held in captions.items():
            if cells[column].strip():
                held[key] = (cells[column],)
    for column, held in captions.items():
        _no_numbers(column, held, where)
    return tuple(System(column, held) for column, held in captions.items())


def _cells(row: list[str], header: list[str], image: str, where: str) -> tuple[str, dict[str, str]]:
    if len(row) != len(header):
        raise BadCorpus(f"{where}: {len(row)} cells under {len(header)} columns; put a caption that holds the "
                        "separator between double quotes")  # fmt: skip
    cells = dict(zip(header, row, strict=True))
    key = cells[image].strip()
    if not key:
        raise BadCorpus(f"{where}: column {image!r} is empty; name the image")
    return key, cells


def _header(row: list[str], where: str) -> tuple[list[str], str]:
    header = [cell.strip() for cell in row]
    image = next((name for name in IMAGE_COLUMNS if name in header), None)
    if image is None:
        raise BadCorpus(f"{where}: no column names the image; call it one of {', '.join(IMAGE_COLUMNS)}")
    if "" in header or len(set(header)) < len(header):
        raise BadCorpus(f"{where}: every column needs a name of its own, got {shown(header)}")
    if len(header) == 1:
        raise BadCorpus(f"{where}: there is no column of captions beside {image!r}; add one for each system")
    return header, image


def _no_numbers(column: str, held: Mapping[str, tuple[str, ...]], where: str) -> None:
    """A column of scores among those of captions is a slip that every later number would hide."""
    if held and all(_is_number(text) for texts in held.values() for text in texts):
        first = next(iter(held.values()))[0]
        raise BadCorpus(f"{where}: column {column!r} holds numbers such as {first!r} and no captions; leave it out")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _texts(value: object, key: str, where: str) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise BadCorpus(f"{where}: the caption of {key!r} must be a text or a list of texts, got {shown(value)}")
    return tuple(texts)


def _identity(value: object, where: str, known: Mapping[str, object]) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise BadCorpus(f"{where}: the image must be a text or a whole number, got {shown(value)}")
    if str(value) in known:
        raise BadCorpus(f"{where}: {str(value)!r} was there before; keep one")
    return str(value)
