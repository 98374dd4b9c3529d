"""Lists inside a JSON object, entry by entry: a file of a gigabyte is never in memory as a whole."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import ijson

from core.corpora.places import ordinary
from core.errors import BadCorpus

MOST_DEPTH = 64
"""Deepest nesting that is read: ijson alone has no bound, and its own prefixes grow with the square of the depth."""

_CHUNK = 1 << 20
_OPENS: Mapping[str, Callable[[], Any]] = {"start_map": dict, "start_array": list}


def entries(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield (name of the list, entry) for every list at the top of the JSON object that a file holds, unchecked.

    Raises:
        BadCorpus: if the file cannot be read, is no object, is nested too deeply, or is malformed anywhere.
    """
    ordinary(path)
    try:
        with path.open("rb") as file:
            yield from _listed(path, ijson.basic_parse(_Plain(file), buf_size=_CHUNK, use_float=True))
    except BadCorpus:
        raise
    except OSError as error:
        raise BadCorpus(f"{path} cannot be read ({error.strerror or error}); restore it or correct the path") from error
    except (ijson.JSONError, ValueError) as error:
        told = " ".join(str(error).replace("(right here)", "").split())[:160]
        raise BadCorpus(f"{path} is not valid JSON ({told}); restore or mend the file") from error


def _listed(path: Path, events: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Build what lies two levels below the top: the entries of the lists; nothing else is kept."""
    stack: list[Any] = []
    keys: list[str] = [""]
    for event, value in events:
        if event == "map_key":
            keys[-1] = value
            continue
        if event in _OPENS:
            if not stack and event != "start_map":
                raise BadCorpus(f"{path} must hold one JSON object with lists, got a list")
            if len(stack) >= MOST_DEPTH:
                raise BadCorpus(f"{path} is nested more than {MOST_DEPTH} deep; give the publisher's file")
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
            yield keys[1], value


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
