"""Tables of scores in the layouts that other tools write: which columns a file has, and its rows.

- CSV and TSV (``,``, ``;``, a tab or ``|`` between columns; but for ``,`` with decimal commas), Parquet, JSON Lines: a
  pair a row. These and JSON may be packed with gzip.
- clipscore, ``--save_per_instance``: ``{id: {"CLIPScore": 0.8}}``; also ``{id: 0.8}``.
- CaptionEvalKit, ``--output``, in both of its shapes: ``{"CLIPScore": mean, "per_item": {id: {"CLIPScore": 0.8}}}`` and
  ``{"PAC-S": {"score": mean, "per_item": {id: 0.8}}, …}``.
- img2dataset's and LAION's Parquet: ``url`` or ``URL``, ``caption`` or ``TEXT``, ``similarity``.
- lmms-eval's ``samples_*.jsonl``: the pair is in ``doc``, a column a metric.
- inspect_ai's logs, ``.json`` and ``.eval``: a sample a pair, a column a scorer.

Sources: jmhessel/clipscore, clipscore.py; CaptionEvalKit, output of its score command; rom1504/img2dataset, README;
EvolvingLMMs-Lab/lmms-eval, saved samples; inspect_ai, log files of its version 0.3.
"""

import gzip
import itertools
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, cast

from core.corpora.corpus_files import WIDE, parse_json, read_text, shown
from core.corpora.table_cells import LINES, Cells
from core.errors import InvalidInput, first_line
from core.yes_no import says_nothing

MOST_BYTES = 2 << 30  # largest file that is read line by line, and most bytes of a Parquet file's columns
MOST_JSON_BYTES = 512 << 20  # largest file that is in memory as a whole: one JSON object, or what an archive holds
MOST_LINE = 1 << 20  # most characters of a line

ID, SCORE = "id", "score"

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)
_MOST_DIGITS = 400
_LOOKED_AT = 1000  # rows by which a column of a text table is told to hold numbers
Row = tuple[str, list[object]]  # where a row stands, and the values of the columns that were asked for


@dataclass(frozen=True, slots=True)
class Table:
    """A file of scores before its columns have a meaning."""

    names: Sequence[str]  # of its columns, as the file spells them
    numbers: frozenset[str]  # names of columns that hold a number anywhere
    rows: Callable[[Sequence[str]], Iterator[Row]]  # the values of some columns, row by row; None where a row lacks one
    comma: bool = False  # whether a comma may stand before the decimals of its cells


def open_table(path: Path) -> Table:
    """Look at a file of scores; its layout is told by its ending and by what it has.
    Raises InvalidInput if it is of no layout, or damaged; the sentence says where."""
    return _READERS[reader_of(path)](path)


def reader_of(path: Path) -> str:
    """The ending of a file, among those that are read. Raises InvalidInput for another one."""
    ending = _ending(path)
    if ending not in _READERS or (path.suffix.lower() == ".gz" and ending not in _PACKABLE):
        raise InvalidInput(f"{path} ends in none of {', '.join(_READERS)}; save the scores as one of these")
    return ending


def _ending(path: Path) -> str:
    return (Path(path.stem) if path.suffix.lower() == ".gz" else path).suffix.lower()


def is_held_whole(path: Path) -> bool:
    """Whether a file is in memory as a whole while it is read."""
    return _READERS[reader_of(path)] in (_json, _archive)


def _csv(path: Path) -> Table:
    cells = _cells(path)
    names, comma = cells.header, cells.between != ","
    looked = [row for _, row in itertools.islice(cells.rows(), _LOOKED_AT)]
    numbers = {
        name
        for row in looked
        for name, cell in zip(names, row, strict=True)
        if is_number(cell_value(cell, comma=comma))
    }

    def read(wanted: Sequence[str]) -> Iterator[Row]:
        places = [names.index(name) for name in wanted]
        for line, row in _cells(path).rows():
            yield f"{path.name}, line {line}", [row[place].strip() for place in places]

    return Table(names, frozenset(numbers), read, comma)


def _cells(path: Path) -> Cells:
    usual = "\t" if _ending(path) == ".tsv" else ","
    return Cells(_text_lines(path), where=path.name, usual=usual, known=(ID,))


def _text_lines(path: Path) -> Iterator[str]:
    """Lines of a text file, unpacked, none of them endless."""
    try:
        with path.open("rb") as plain:
            packed = path.suffix.lower() == ".gz"
            with cast(BinaryIO, gzip.open(plain)) if packed else plain as file:
                yield from _bounded(path, file)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidInput(f"{path} cannot be unpacked ({error}); pack it anew with gzip") from error


def _bounded(path: Path, file: BinaryIO) -> Iterator[str]:
    encoding = "utf-16" if file.read(2) in WIDE else "utf-8-sig"
    file.seek(0)
    held = 0
    with TextIOWrapper(file, encoding=encoding, newline="") as text:
        for number in itertools.count(1):
            line = text.readline(MOST_LINE + 1)
            held += len(line)
            if len(line) > MOST_LINE:
                told = f"{path.name}, line {number} has more than {MOST_LINE:,} characters; a line holds one score"
                raise InvalidInput(told)
            if held > MOST_BYTES:
                raise InvalidInput(f"{path} holds more than {MOST_BYTES:,} characters; import it in parts")
            if not line:
                return
            yield line


def _lines(path: Path) -> Table:
    def records() -> Iterator[tuple[str, Mapping[str, object]]]:
        for number, line in enumerate(_text_lines(path), start=1):
            where = f"{path.name}, line {number}"
            if not line.strip():
                continue
            record = parse_json(line, where=where, unique_keys=True)
            if not isinstance(record, dict):
                raise InvalidInput(f"{where} must be a JSON object with id and score, got {shown(record)}")
            yield where, _flat(record)

    return _of_records(records)


def _flat(record: Mapping[str, object]) -> dict[str, object]:
    """A record whose objects are their own columns: ``{"doc": {"id": 1}}`` has the column ``doc.id``."""
    found: dict[str, object] = {}
    for name, value in record.items():
        found |= {f"{name}.{part}": each for part, each in value.items()} if isinstance(value, dict) else {name: value}
    return found


def _of_records(records: Callable[[], Iterable[tuple[str, Mapping[str, object]]]]) -> Table:
    """A table of records, any of which may lack a column; all are looked at, or those up to the first ``score``."""
    names: dict[str, None] = {}
    numbers = set()
    for _, record in records():
        names |= dict.fromkeys(record)
        numbers |= {name for name, value in record.items() if is_number(value)}
        if SCORE in numbers and ID in names:
            break

    def read(wanted: Sequence[str]) -> Iterator[Row]:
        return ((where, [record.get(name) for name in wanted]) for where, record in records())

    return Table(list(names), frozenset(numbers), read)


def _parquet(path: Path) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with _readable(path), pq.ParquetFile(path) as file:
        schema = file.schema_arrow
    kinds = (pa.types.is_floating, pa.types.is_integer, pa.types.is_null)
    numbers = {field.name for field in schema if any(of(field.type) for of in kinds)}

    def read(wanted: Sequence[str]) -> Iterator[Row]:
        with _readable(path), pq.ParquetFile(path) as file:
            about = file.metadata
            held = sum(
                about.row_group(group).column(place).total_uncompressed_size
                for group in range(about.num_row_groups)
                for place in range(about.num_columns)
                if about.row_group(group).column(place).path_in_schema.split(".")[0] in wanted
            )
            if held > MOST_BYTES:
                raise InvalidInput(f"{path} holds {about.num_rows:,} rows of {held:,} bytes; import it in parts")
            number = 0
            for batch in file.iter_batches(columns=list(wanted)):
                for values in zip(*(batch[name].to_pylist() for name in wanted), strict=True):
                    number += 1
                    yield f"{path.name}, row {number}", list(values)

    return Table(schema.names, frozenset(numbers), read)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except pa.ArrowException as error:
        raise InvalidInput(f"{path} is no Parquet file that can be read ({first_line(error)})") from error


def _json(path: Path) -> Table:
    held = parse_json(read_text(path), where=path.name, unique_keys=True)
    if isinstance(held, dict) and isinstance(held.get("samples"), list):
        return _of_records(lambda: (_sample(path.name, each) for each in held["samples"]))
    if isinstance(held, list):
        return _of_records(lambda: (_listed(path.name, place, each) for place, each in enumerate(held, 1)))
    if not isinstance(held, dict):
        raise InvalidInput(f"{path} must hold one object {{id: score}}, got {shown(held)}")
    scores = list(_by_id(held))
    return _of_records(lambda: ((f"{path.name}, {shown(record[ID])}", record) for record in scores))


def _listed(name: str, place: int, record: object) -> tuple[str, Mapping[str, object]]:
    where = f"{name}, entry {place}"
    if not isinstance(record, dict):
        raise InvalidInput(f"{where} must be an object with id and score, got {shown(record)}")
    return where, _flat(record)


def _by_id(held: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    """Records of what stands under ids: in CaptionEvalKit's two shapes, clipscore's, or bare."""
    if isinstance(held.get("per_item"), dict):
        held = held["per_item"]
    elif held and all(isinstance(each, dict) and isinstance(each.get("per_item"), dict) for each in held.values()):
        metrics = {name: each["per_item"] for name, each in held.items()}
        for key in dict.fromkeys(key for rows in metrics.values() for key in rows):
            own = ((name, rows[key]) for name, rows in metrics.items() if key in rows)
            yield {ID: key} | {name: row.get(name) if isinstance(row, dict) else row for name, row in own}
        return
    for key, value in held.items():
        yield {ID: key} | (_flat(value) if isinstance(value, dict) else {SCORE: value})


def _sample(name: str, sample: object) -> tuple[str, Mapping[str, object]]:
    """A sample of inspect_ai's log: its scorers are columns; one that failed has none."""
    if not isinstance(sample, dict):
        raise InvalidInput(f"{name}: a sample must be an object, got {shown(sample)}")
    scores = sample.get("scores")
    told = scores.items() if isinstance(scores, dict) else ()
    found = {scorer: each.get("value") if isinstance(each, dict) else each for scorer, each in told}
    return f"{name}, sample {shown(sample.get('id'))}", {ID: sample.get("id")} | _flat(found)


def _archive(path: Path) -> Table:
    """inspect_ai's ``.eval``, a zip with a JSON file a sample."""
    try:
        with zipfile.ZipFile(path) as held:
            parts = [each for each in held.infolist() if re.fullmatch(r"samples/[^/]+[.]json", each.filename)]
            if sum(each.file_size for each in parts) > MOST_JSON_BYTES:
                raise InvalidInput(f"{path} unpacks to more than {MOST_JSON_BYTES:,} bytes; import it in parts")
            samples = []
            for part in parts:
                with held.open(part) as file:  # no more than it says of itself, which was looked at
                    text = file.read(part.file_size).decode("utf-8-sig")
                samples.append(_sample(path.name, parse_json(text, where=part.filename, unique_keys=True)))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise InvalidInput(
            f"{path} is no log of inspect_ai that can be read ({error}); save it as JSON: inspect log convert --to json"
        ) from error
    return _of_records(lambda: samples)


_READERS: dict[str, Callable[[Path], Table]] = {
    ".csv": _csv,
    ".tsv": _csv,
    **dict.fromkeys(LINES, _lines),
    ".parquet": _parquet,
    ".json": _json,
    ".eval": _archive,
}
_PACKABLE = (".csv", ".tsv", *LINES, ".json")  # endings before a ``.gz``


def is_number(value: object) -> bool:
    """Whether a value is a number and no yes or no."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def cell_value(text: str, *, comma: bool = False) -> object:
    """A number of a cell, None where it is empty or says that there is none; the text itself otherwise.
    ``comma``: whether a comma may stand before the decimals, as where something else stands between cells."""
    text = text.strip()
    if says_nothing(text):
        return None
    number = text.replace(",", ".", 1) if comma and "." not in text else text
    return float(number) if len(number) <= _MOST_DIGITS and _NUMBER.fullmatch(number) else text
