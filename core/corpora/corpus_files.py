"""Reading what a stranger wrote: JSON with its position in every complaint, paths that stay inside.

Files of records, one a line: JSON Lines and CSV, each record with where it stands. Lists inside a JSON object, entry by
entry: a file of a gigabyte is never in memory as a whole.

What a loader leaves out, once an item, and what it remarks, counted: a million clipped boxes take one line. What
annotation files state, as tools write it: a number as a number or as its text, a mark as 0, "0" or false.
"""

import gzip
import json
import math
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO, StringIO
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, TypeVar

import ijson

from core.corpora.ordinary_paths import ordinary
from core.corpora.schema import Rejection, Remark
from core.corpora.table_cells import Cells
from core.errors import BadCorpus, InvalidInput
from core.yes_no import yes_or_no

MOST_BYTES = 1_000_000_000
"""Largest text file, in bytes, that is read at once; taken apart, JSON takes about eight times its size in memory."""

WIDE = (b"\xff\xfe", b"\xfe\xff")  # begins UTF-16, as spreadsheets save "Unicode text"


class LeftOut(Exception):
    """One entry that cannot be used; its reader catches it and keeps a rejection.
    ``code``: short stable word for counting. ``detail``: one sentence for a reader."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail

    def rejection(self, subject: str) -> Rejection:
        """The record of it."""
        return Rejection(subject, self.code, self.detail)


def read_text(path: Path) -> str:
    """Read a UTF-8 or UTF-16 text file, with or without a byte order mark; ``.gz`` is unpacked. Raises BadCorpus if it
    is missing, unreadable, of another encoding, or too large; InvalidInput if it is no ordinary file."""
    ordinary(path)
    try:
        if (size := path.stat().st_size) > MOST_BYTES:
            most = f"at most {MOST_BYTES / 1e6:,.0f} MB are read at once"
            raise BadCorpus(f"{path} holds {size / 1e6:,.0f} MB, and {most}; cut it into parts")
        if path.suffix.lower() == ".gz":
            return decoded(path.read_bytes(), str(path))
        with path.open("rb") as file:
            wide = file.read(2) in WIDE
        return path.read_text(encoding="utf-16" if wide else "utf-8-sig")
    except MemoryError as error:
        raise no_memory(str(path)) from error
    except OSError as error:
        raise BadCorpus(f"{path} cannot be read ({error.strerror or error}); restore it or correct the path") from error
    except UnicodeDecodeError as error:
        raise BadCorpus(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from error


def decoded(data: bytes, name: str) -> str:
    """The text of a file that was read or uploaded, of MOST_BYTES at most, unpacked; see :func:`read_text`.
    ``name``: what messages call it; ``.gz`` at its end says that it is packed.
    Raises BadCorpus if it is too large, no text, or cannot be unpacked."""
    try:
        if name.lower().endswith(".gz"):
            with gzip.open(BytesIO(data)) as file:
                data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise BadCorpus(f"{name} has more than {MOST_BYTES:,} bytes and at most so many are taken; split it")
        return data.decode("utf-16" if data[:2] in WIDE else "utf-8-sig")
    except (OSError, EOFError, zlib.error) as error:
        raise BadCorpus(f"{name} cannot be unpacked ({error}); pack it anew with gzip") from error
    except UnicodeDecodeError as error:
        raise BadCorpus(f"{name} is not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8") from error


def read_json(path: Path) -> Any:
    """Read a JSON file. Raises BadCorpus if it is missing, unreadable or malformed; names the line and column."""
    return parse_json(read_text(path), where=str(path))


def parse_json(text: str, *, where: str, first_line: int = 1, unique_keys: bool = False) -> Any:
    """Parse JSON text that comes from outside.
    ``where``, ``first_line``: where the text stands, for messages.
    ``unique_keys``: refuse an object that holds a key twice.
    Raises BadCorpus if it is malformed, naming the line and column, or a key stands twice where it must not."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in found if keys.count(key) > 1)
            raise BadCorpus(f"{where} holds {shown(twice)} twice; keep one")
        return found

    try:
        return json.loads(text, object_pairs_hook=unique if unique_keys else None)
    except BadCorpus:
        raise
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        told = f"at line {line}, column {error.colno}: {error.msg}"
        raise BadCorpus(f"{where} is not valid JSON {told}; restore or mend the file") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, nesting without end
        raise BadCorpus(f"{where} is not valid JSON ({error}); restore or mend the file") from error
    except MemoryError as error:
        raise no_memory(where) from error


def shown(value: object) -> str:
    """A value as it stands in a message, 60 characters of it at most."""
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"


def no_memory(where: str) -> BadCorpus:
    """Return the error for a text that cannot be held or taken apart here."""
    return BadCorpus(f"{where} does not fit into this machine's memory; cut it into parts, or free memory")


def inside(folder: Path, name: str) -> Path:
    """Join a path from a file to a folder, and refuse one that leaves it.
    ``name``: a relative path as a file states it, e.g. ``000000000139.jpg``.
    Raises InvalidInput if the path is absolute, climbs with ``..``, or leads outside through a symbolic link."""
    parts = PureWindowsPath(name).parts  # splits at / and at \
    if not name.strip() or "\0" in name or PurePosixPath(name).is_absolute() or PureWindowsPath(name).anchor:
        raise InvalidInput(f"{name!r} is no relative path; state it relative to {folder}")
    if ".." in parts:
        raise InvalidInput(f"{name!r} climbs out of {folder}; state a path inside it")
    path = folder / name
    try:
        stays = path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError) as error:
        raise InvalidInput(f"{name!r} in {folder} cannot be followed ({error}); correct the path") from error
    if not stays:
        raise InvalidInput(f"{name!r} is a link that leaves {folder}; put the file itself there")
    return path


def below_root(name: str) -> str:
    """The last part of a path that is absolute, on this or on another machine: it may be here; any other as it is."""
    path = PureWindowsPath(name)  # splits at / and at \
    return path.name if path.root else name


def whole_number(value: Any, *, name: str, least: int = 1) -> int:
    """Return an option that counts, given as an int or as the text of one.
    Raises InvalidInput if it is not a whole number of at least ``least``."""
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = least - 1
    if number < least or isinstance(value, bool | float):
        raise InvalidInput(f"{name} must be a whole number of at least {least}, got {value!r}")
    return number


Record = tuple[str, Mapping[str, Any]]  # where a record stands, for messages, and its cells by column, still unchecked


def jsonl_records(path: Path) -> Iterator[Record]:
    """Read the JSON objects of a file, one a line; blank lines are passed over.
    Raises BadCorpus if a line is no JSON object."""
    for number, text in enumerate(read_text(path).split("\n"), start=1):
        if text.strip():
            record = parse_json(text, where=f"{path}, line {number}", first_line=number)
            if not isinstance(record, dict):
                raise BadCorpus(f"{path}, line {number} must be a JSON object, got {type(record).__name__}")
            yield f"{path.name}, line {number}", record


def csv_cells(path: Path, *, fold: bool = True) -> Cells:
    """Open a table with a line of columns, its cells parted by what parts the first line into most.
    ``fold``: capitals in the names of columns are made small; blanks around them are never part of a name.
    Raises BadCorpus if the first line can be no line of columns, or names one twice."""
    cells = Cells(StringIO(read_text(path), newline=""), where=str(path))
    names = [" ".join((name.casefold() if fold else name).split()) for name in cells.header]
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None:
        raise BadCorpus(f"{path} has the columns {', '.join(names)}; each may stand once, and {twice!r} does not")
    cells.header = names
    return cells


def csv_records(
    path: Path, check: Callable[[Path, Sequence[str]], None] | None = None, *, fold: bool = True
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Read the rows of a table, as :func:`csv_cells` opens it.
    ``check``: raises where the columns will not do.
    Raises BadCorpus if a row has another number of cells, the quoting is broken, or a column stands twice."""
    cells = csv_cells(path, fold=fold)
    if check is not None:
        check(path, cells.header)
    for number, row in cells.rows():
        yield f"{path.name}, line {number}", dict(zip(cells.header, row, strict=True))


MOST_DEPTH = 64
"""Deepest nesting that is read: ijson alone has no bound, and its own prefixes grow with the square of the depth."""

MOST_WHOLE = 64_000_000
"""Largest file, in bytes, that is read again as a whole where the stream's stricter parser stops."""

_CHUNK = 1 << 20
_OPENS: Mapping[str, Callable[[], Any]] = {"start_map": dict, "start_array": list}


def entries(path: Path, counts: dict[str, int] | None = None) -> Iterator[tuple[str, Any]]:
    """Yield (name of the list, entry) for every list at the top of the JSON object that a file holds, unchecked.
    ``counts``: takes the name of every list that is there, and how many entries were read; 0 of an empty one.
    Raises BadCorpus if the file cannot be read, is no object, is nested too deeply, or is malformed anywhere."""
    ordinary(path)
    read = {} if counts is None else counts
    try:
        with path.open("rb") as file:
            file.seek(3 if file.read(3) == b"\xef\xbb\xbf" else 0)  # a mark that some editors put before JSON
            events = ijson.basic_parse(file, buf_size=_CHUNK, use_float=True)
            yield from _listed(path, events, read)
    except BadCorpus:
        raise
    except OSError as error:
        raise BadCorpus(f"{path} cannot be read ({error.strerror or error}); restore it or correct the path") from error
    except (ijson.JSONError, ValueError) as error:
        if path.stat().st_size > MOST_WHOLE:
            told = " ".join(str(error).replace("(right here)", "").split())[:160]
            raise BadCorpus(f"{path} is not valid JSON ({told}); restore or mend the file") from error
        # the rest by Python's parser: it takes NaN and long integers too, and tells where a file is malformed
        lists = {name: each for name, each in read_json(path).items() if isinstance(each, list)}
        if any(count > len(lists.get(name, ())) for name, count in read.items()):
            raise BadCorpus(f"{path} names a list twice; restore or mend the file") from error
        for name, each in lists.items():
            for entry in each[read.setdefault(name, 0) :]:
                read[name] += 1
                yield name, entry


def check_lists(
    path: Path, counts: Mapping[str, int], wanted: Iterable[str], *, layout: str, empty: bool = False
) -> None:
    """Refuse a file that lacks a list.
    ``counts``: as :func:`entries` filled it.
    ``layout``: what to give instead, in words.
    ``empty``: whether a list may be there without an entry.
    Raises BadCorpus naming the first list that is missing or may not be empty."""
    for name in wanted:
        if name not in counts:
            raise BadCorpus(f"{path} has no list {name!r}; give {layout}")
        if not counts[name] and not empty:
            raise BadCorpus(f"the list {name!r} of {path} is empty; give {layout}")


def _listed(path: Path, events: Iterable[tuple[str, Any]], counts: dict[str, int]) -> Iterator[tuple[str, Any]]:
    """Build what lies two levels below the top: the entries of the lists; nothing else is kept."""
    stack: list[Any] = []
    keys: list[str] = [""]
    for event, value in events:
        if event == "map_key":
            keys[-1] = value
            continue
        if event in _OPENS:
            _check(path, event, depth=len(stack))
            if len(stack) == 1 and event == "start_array":
                counts.setdefault(keys[1], 0)
            stack.append(_OPENS[event]())
            keys.append("")
            continue
        if event in ("end_map", "end_array"):
            value = stack.pop()
            keys.pop()
        if len(stack) > 2:
            if isinstance(stack[-1], dict):
                stack[-1][keys[-1]] = value
            else:
                stack[-1].append(value)
        elif len(stack) == 2 and isinstance(stack[1], list):
            counts[keys[1]] += 1
            yield keys[1], value


def _check(path: Path, event: str, *, depth: int) -> None:
    if not depth and event != "start_map":
        raise BadCorpus(f"{path} must hold one JSON object with lists, got a list")
    if depth >= MOST_DEPTH:
        raise BadCorpus(f"{path} is nested more than {MOST_DEPTH} deep; give the publisher's file")


T = TypeVar("T")


@dataclass(slots=True)
class Findings:
    """Collects while a corpus is read."""

    _left_out: dict[str, Rejection] = field(default_factory=dict)
    _remarks: dict[str, Remark] = field(default_factory=dict)

    def leave_out(self, *found: Rejection) -> None:
        """Note what would have been an item; of one subject the first reason stays."""
        for each in found:
            self._left_out.setdefault(each.subject, each)

    def remark(self, *found: Rejection) -> None:
        """Count what costs no item; of one code the first stays as the example."""
        for each in found:
            self.count(each.code, 1, each)

    def count(self, code: str, count: int, example: Rejection) -> None:
        """Count many of one code at once."""
        known = self._remarks.get(code)
        first = known or example
        self._remarks[code] = Remark(code, count + (known.count if known else 0), first.subject, first.detail)

    @property
    def rejected(self) -> tuple[Rejection, ...]:
        """What was left out, in the order in which it was met."""
        return tuple(self._left_out.values())

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """The remarks, the most frequent first, equal ones by code."""
        return tuple(sorted(self._remarks.values(), key=lambda each: (-each.count, each.code)))


def up_to(most: int | None, made: Iterable[T | None]) -> tuple[list[T], int]:
    """The first ``most`` things that entries make, and how many entries that took; None of one that makes none."""
    found: list[T] = []
    examined = 0
    for each in made:
        examined += 1
        found += [] if each is None else [each]
        if len(found) == most:
            break
    return found, examined


def limited(most: int | None, examined: int, images: int) -> str:
    """What a description adds where not every image was examined."""
    return f"; limited to {most} items, {examined} of {images} images examined" if examined < images else ""


def whole(value: Any) -> int | None:
    """The whole number that a value states, or None.

    >>> whole(640), whole("640"), whole(640.0), whole(True), whole("64.5")
    (640, 640, 640, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value) if not isinstance(value, int) else value
        return int(number) if number == int(number) else None
    except (ValueError, OverflowError):
        return None


def count(value: Any) -> int | None:
    """The whole number above 0 that a value states, or None."""
    number = whole(value)
    return number if number is not None and number > 0 else None


_POINTED = re.compile(r"\d+\.0", re.ASCII)  # a whole number as pandas writes it in a column with gaps


def key(value: Any) -> str | None:
    """An id as text, the same of ``5``, ``5.0``, ``"5"`` and ``"5.0"``; None where a value is none.

    >>> key(5), key(5.0), key("5"), key("5.0"), key("a 1"), key(None), key(True)
    ('5', '5', '5', '5', 'a 1', None, None)
    """
    if type(value) is int:  # the usual one, a million times
        return str(value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str):
        return value[:-2] if _POINTED.fullmatch(value) else value
    number = whole(value)
    return str(value if number is None else number)


def mark(value: Any) -> bool | None:
    """What a yes or no states; a missing one is no; None where it is neither.

    >>> mark(0), mark("0"), mark(None), mark("True"), mark(1.0), mark(-1)
    (False, False, False, True, True, None)
    """
    if not value or value is True:
        return bool(value)
    try:
        return bool(yes_or_no(value))
    except InvalidInput:
        return None


_COMMA = re.compile(r"[+-]?(\d+,(\d{1,2}|\d{4,})|0,\d+)", re.ASCII)
"""A number with a decimal comma; ``1,234`` may mean thousands."""

_THREE = re.compile(r"[+-]?\d+,\d{3}", re.ASCII)  # thousands, or three decimals


def decimal(value: Any) -> float:
    """A number, or the text of one, which may have a decimal comma, as tables with ``;`` between cells do.
    Raises TypeError, ValueError, OverflowError for what is none.

    >>> decimal("4,5"), decimal("0,125"), decimal(" 4.5"), decimal(4)
    (4.5, 0.125, 4.5, 4.0)
    """
    if isinstance(value, bool):
        raise TypeError("a yes or no is no number")
    if not isinstance(value, str):
        return float(value)
    if "_" in value:
        raise ValueError(f"{value!r} is no number")
    return float(value.replace(",", ".") if _COMMA.fullmatch(value.strip()) else value)


def pointed(cells: Sequence[Any], between: str) -> list[Any]:
    """Cells of one kind, those with three decimals behind a comma with a point there, since they may mean thousands.
    They are decimals where ``;`` parts the cells of a table, which is so because the comma has this use, and where
    another of the cells has decimals beyond doubt.
    ``between``: what parts the cells of the table.

    >>> pointed(["2,667", 3], ";"), pointed(["2,667"], ","), pointed(["2,667", "3,5"], ",")
    (['2.667', 3], ['2,667'], ['2.667', '3,5'])
    """
    texts = [cell.strip() if isinstance(cell, str) else "" for cell in cells]
    if between != ";" and not any(map(_COMMA.fullmatch, texts)):
        return list(cells)
    return [text.replace(",", ".") if _THREE.fullmatch(text) else cell for cell, text in zip(cells, texts, strict=True)]


def floats(values: Sequence[Any]) -> list[float]:
    """Numbers as floats, NaN for what is none."""
    found = []
    for each in values:
        try:
            found.append(decimal(each))
        except (TypeError, ValueError, OverflowError):
            found.append(math.nan)
    return found
