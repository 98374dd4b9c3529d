"""Files of scores that were made elsewhere: CSV, JSON Lines, Parquet, clipscore's and CaptionEvalKit's JSON.

- CSV and TSV: a line of columns, ``id`` and a score; Parquet the same; JSON Lines: ``{"id": …, "score": …}`` a line.
- clipscore, ``--save_per_instance``: ``{id: {"CLIPScore": 0.8}}``; also ``{id: 0.8}``.
- CaptionEvalKit, ``--output``: ``{"CLIPScore": mean, "per_item": {id: {"CLIPScore": 0.8}}}``.

The score is the column ``score``, or the only one beside ``id``, or the one that the reader names. Sources:
jmhessel/clipscore, clipscore.py; CaptionEvalKit, output of its score command.
"""

import csv
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.corpora.csv_header import check_csv_header
from core.corpora.formats import LINES
from core.corpora.places import ordinary
from core.errors import InvalidInput

MOST_BYTES = 2 << 30
"""Largest file that is read line by line, and most bytes of a Parquet column."""

MOST_JSON_BYTES = 512 << 20
"""Largest file that is one JSON object: it is in memory as a whole."""

MOST_SCORES = 20_000_000
MOST_LINE = 1 << 20
"""Most characters of a line."""

ID, SCORE = "id", "score"

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)
_NONE = frozenset(("", "nan", "-nan", "+nan", "null", "none", "na", "n/a", "<na>"))
_SHOWN = 3

Entry = tuple[str, object, object]
"""Where an entry stands, its id and its score, still unchecked."""


@dataclass(frozen=True, slots=True)
class ScoreFile:
    """Scores by id.

    Args:
        name: of the file, without its folder.
        sha256: of its bytes.
        column: that the scores stand in; empty where they have no name.
        scores: finite, or NaN where the file names the id and gives no finite number.
    """

    name: str
    sha256: str
    column: str
    scores: Mapping[str, float]

    @property
    def told(self) -> str:
        """The file in words: its name and the first digits of its hash."""
        return f"{self.name} (sha256 {self.sha256[:12]}…)"

    def of(self, key: str) -> tuple[float, str | None]:
        """Score of a pair by its id and, where there is none, why: (NaN, reason)."""
        score = self.scores.get(key)
        if score is None:
            return math.nan, f"not in {self.name}"
        return (score, None) if math.isfinite(score) else (math.nan, f"{self.name} gives no number")

    def check_ids(self, known: Callable[[str], bool], where: str) -> None:
        """Refuse ids that are not among the pairs that were given out.

        Raises:
            InvalidInput: saying how many, and the first ones.
        """
        strange = [each for each in self.scores if not known(each)]
        if strange:
            shown = ", ".join(_shown(each) for each in strange[:_SHOWN])
            raise InvalidInput(
                f"{self.name}: {len(strange):,} of {len(self.scores):,} ids are no pair of {where}, such as {shown}; "
                "give scores of these pairs and of nothing else"
            )

    def check_range(self, low: float, high: float | None) -> None:
        """Refuse scores outside a range.

        Raises:
            InvalidInput: naming the first one.
        """
        top = math.inf if high is None else high
        for key, score in self.scores.items():
            if not (math.isnan(score) or low <= score <= top):
                raise InvalidInput(
                    f"{self.name}: the score {score:g} of {key!r} lies outside the range "
                    f"{low:g} to {'no bound' if high is None else format(high, 'g')}; correct the range or the column"
                )


def read_scores(path: Path, *, column: str = "") -> ScoreFile:
    """Read a file of scores; its shape is told by its ending.

    Args:
        column: of the scores; empty: ``score``, or the only one.

    Raises:
        InvalidInput: if it cannot be read, is too large, names an id twice, or holds something else than numbers; the
            sentence says where.
    """
    read = next((reader for endings, reader in _READERS if path.suffix.lower() in endings), None)
    if read is None:
        known = ", ".join(ending for endings, _ in _READERS for ending in endings)
        raise InvalidInput(f"{path} ends in none of {known}; save the scores as one of these")
    digest = _hashed(path, MOST_JSON_BYTES if read is _json else MOST_BYTES)
    scores: dict[str, float] = {}
    chosen: list[str] = [column]
    try:
        for where, key, value in read(path, chosen):
            if not isinstance(key, str) or not key:
                raise InvalidInput(f"{where}: the id must be a text, got {_shown(key)}")
            if key in scores:
                raise InvalidInput(f"{where}: the id {_shown(key)} was there before; keep one")
            scores[key] = _number(value, where, key)
            if len(scores) > MOST_SCORES:
                raise InvalidInput(f"{path} holds more than {MOST_SCORES:,} scores; import it in parts")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 text ({error.reason} at byte {error.start}); save it so") from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}; check the file") from error
    if not any(math.isfinite(score) for score in scores.values()):
        raise InvalidInput(f"{path} gives no number for any of its {len(scores):,} ids; check its column of scores")
    return ScoreFile(path.name, digest, chosen[0], scores)


def _csv(path: Path, chosen: list[str]) -> Iterator[Entry]:
    check_csv_header(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, strict=True, delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
        try:
            names = next(rows, [])
            key, score = _places(path, names, chosen)
            for row in rows:
                if not row:
                    continue
                where = f"{path.name}, line {rows.line_num}"
                if len(row) != len(names):
                    raise InvalidInput(f"{where}: {len(row)} cells and {len(names)} columns; mend the line")
                text = row[score].strip()
                yield where, row[key].strip(), None if text.lower() in _NONE else _parsed(text)
        except csv.Error as error:
            raise InvalidInput(
                f"{path.name}, line {rows.line_num}: {error}; mend the line or quote the cell"
            ) from error


def _lines(path: Path, chosen: list[str]) -> Iterator[Entry]:
    with path.open(encoding="utf-8-sig") as file:
        number, names = 0, False
        while line := file.readline(MOST_LINE + 1):
            number += 1
            where = f"{path.name}, line {number}"
            if len(line) > MOST_LINE:
                raise InvalidInput(f"{where} has more than {MOST_LINE:,} characters; a line holds one score")
            if not line.strip():
                continue
            record = _parse(line, where)
            if not isinstance(record, dict):
                raise InvalidInput(f"{where} must be a JSON object with id and score, got {_shown(record)}")
            if not names:
                _places(path, list(record), chosen)
                names = True
            yield where, record.get(ID), record.get(chosen[0])


def _parquet(path: Path, chosen: list[str]) -> Iterator[Entry]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, read_dictionary=[ID]) as file:
            _places(path, file.schema_arrow.names, chosen)
            about = file.metadata
            held = sum(
                about.row_group(group).column(place).total_uncompressed_size
                for group in range(about.num_row_groups)
                for place in range(about.num_columns)
                if about.row_group(group).column(place).path_in_schema.split(".")[0] in (ID, chosen[0])
            )
            if about.num_rows > MOST_SCORES or held > MOST_BYTES:
                raise InvalidInput(f"{path} holds {about.num_rows:,} rows of {held:,} bytes; import it in parts")
            kind = file.schema_arrow.field(chosen[0]).type
            if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind)):
                raise InvalidInput(f"{path}: the column {chosen[0]!r} holds {kind} and no numbers; write it as numbers")
            number = 0
            for batch in file.iter_batches(columns=[ID, chosen[0]]):
                for key, value in zip(batch[ID].to_pylist(), batch[chosen[0]].to_pylist(), strict=True):
                    number += 1
                    yield f"{path.name}, row {number}", key, value
    except pa.ArrowException as error:
        raise InvalidInput(f"{path} is no Parquet file that can be read ({str(error).splitlines()[0]})") from error


def _json(path: Path, chosen: list[str]) -> Iterator[Entry]:
    held = _parse(path.read_text(encoding="utf-8-sig"), path.name)
    if isinstance(held, dict) and isinstance(held.get("per_item"), dict):
        held = held["per_item"]
    if not isinstance(held, dict):
        raise InvalidInput(f"{path} must hold one object {{id: score}}, got {_shown(held)}")
    first = next((value for value in held.values() if isinstance(value, dict)), None)
    if first is not None:
        _places(path, [ID, *first], chosen)
    for key, value in held.items():
        yield f"{path.name}, {_shown(key)}", key, value.get(chosen[0]) if isinstance(value, dict) else value


_READERS: tuple[tuple[tuple[str, ...], Callable[[Path, list[str]], Iterator[Entry]]], ...] = (
    ((".csv", ".tsv"), _csv), (LINES, _lines), ((".parquet",), _parquet), ((".json",), _json),
)  # fmt: skip


def _places(path: Path, names: Sequence[str], chosen: list[str]) -> tuple[int, int]:
    """Places of the id and of the score among the columns; the name of the score is put into ``chosen``."""
    if len(set(names)) < len(names) or ID not in names:
        raise InvalidInput(f"{path}: its columns are {', '.join(names)[:200] or 'none'}; one must be {ID!r}, each once")
    others = [name for name in names if name != ID]
    if not chosen[0]:
        chosen[0] = SCORE if SCORE in others else others[0] if len(others) == 1 else ""
    if chosen[0] not in others:
        asked = f"has no column {chosen[0]!r}" if chosen[0] else "does not say which column is the score"
        raise InvalidInput(f"{path} {asked}; name one of {', '.join(others)[:200] or 'none'} with --column")
    return names.index(ID), names.index(chosen[0])


def _parsed(text: str) -> object:
    """A number of a cell; the text itself where it is none."""
    return float(text) if len(text) <= _MOST_DIGITS and _NUMBER.fullmatch(text) else text


_MOST_DIGITS = 400


def _number(value: object, where: str, key: str) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{where}: the score of {_shown(key)} is no number, got {_shown(value)}; leave it empty "
                           "where there is none")  # fmt: skip
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    return number if math.isfinite(number) else math.nan


def _parse(text: str, where: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise InvalidInput(f"{where}: {_shown(key)} was there before; keep one")
            found[key] = value
        return found

    try:
        return json.loads(text, object_pairs_hook=unique)
    except InvalidInput:
        raise
    except (ValueError, RecursionError) as error:  # also a number of thousands of digits
        raise InvalidInput(f"{where} is not JSON: {error}") from error


def _hashed(path: Path, most: int) -> str:
    digest = hashlib.sha256()
    try:
        size = ordinary(path).stat().st_size
        if size > most:
            raise InvalidInput(f"{path} has {size:,} bytes and at most {most:,} are taken; import it in parts")
        with path.open("rb") as file:
            for part in iter(lambda: file.read(1 << 20), b""):
                digest.update(part)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}; give a file of scores") from error
    return digest.hexdigest()


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"
