"""Lists inside a JSON object, entry by entry: a file of a gigabyte is never in memory as a whole."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import ijson

from core.corpora.corpus_files import read_json
from core.corpora.ordinary_paths import ordinary
from core.errors import BadCorpus

MOST_DEPTH = 64
"""Deepest nesting that is read: ijson alone has no bound, and its own prefixes grow with the square of the depth."""

MOST_WHOLE = 64_000_000
"""Largest file, in bytes, that is read again as a whole where the stream's stricter parser stops."""

_CHUNK = 1 << 20
_OPENS: Mapping[str, Callable[[], Any]] = {"start_map": dict, "start_array": list}


def entries(path: Path, counts: dict[str, int] | None = None) -> Iterator[tuple[str, Any]]:
    """Yield (name of the list, entry) for every list at the top of the JSON object that a file holds, unchecked.

    Args:
        counts: takes the name of every list that is there, and how many entries were read; 0 of an empty one.

    Raises:
        BadCorpus: if the file cannot be read, is no object, is nested too deeply, or is malformed anywhere.
    """
    ordinary(path)
    read = {} if counts is None else counts
    try:
        with path.open("rb") as file:
            events = ijson.basic_parse(_Plain(file), buf_size=_CHUNK, use_float=True)
            yield from _listed(path, events, read)
    except BadCorpus:
        raise
    except OSError as error:
        raise BadCorpus(f"{path} cannot be read ({error.strerror or error}); restore it or correct the path") from error
    except (ijson.JSONError, ValueError) as error:
        if path.stat().st_size > MOST_WHOLE:
            told = " ".join(str(error).replace("(right here)", "").split())[:160]
            raise BadCorpus(f"{path} is not valid JSON ({told}); restore or mend the file") from error
        yield from _rest(path, read)


def check_lists(
    path: Path, counts: Mapping[str, int], wanted: Iterable[str], *, layout: str, empty: bool = False
) -> None:
    """Refuse a file that lacks a list.

    Args:
        counts: as :func:`entries` filled it.
        layout: what to give instead, in words.
        empty: whether a list may be there without an entry.

    Raises:
        BadCorpus: naming the first list that is missing or may not be empty.
    """
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


def _rest(path: Path, counts: dict[str, int]) -> Iterator[tuple[str, Any]]:
    """What a stream that broke off has not given, read by Python's parser: it takes NaN and long integers too.

    Raises:
        BadCorpus: with line and column, if the file is malformed; or if a list stands twice in it.
    """
    content = read_json(path)
    lists = {name: each for name, each in content.items() if isinstance(each, list)}
    if any(count > len(lists.get(name, ())) for name, count in counts.items()):
        raise BadCorpus(f"{path} names a list twice; restore or mend the file")
    for name, each in lists.items():
        for entry in each[counts.setdefault(name, 0) :]:
            counts[name] += 1
            yield name, entry


def _check(path: Path, event: str, *, depth: int) -> None:
    if not depth and event != "start_map":
        raise BadCorpus(f"{path} must hold one JSON object with lists, got a list")
    if depth >= MOST_DEPTH:
        raise BadCorpus(f"{path} is nested more than {MOST_DEPTH} deep; give the publisher's file")


class _Plain:
    """A file without the byte order mark that some editors put before JSON."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._first = True

    def read(self, size: int = -1) -> bytes:
        """Read as the file does."""
        data: bytes = self._file.read(size)
        if self._first and size:
            self._first = False
            return data.removeprefix(b"\xef\xbb\xbf") or self.read(size)
        return data
