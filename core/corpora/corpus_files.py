"""Reading what a stranger wrote: JSON with its position in every complaint, paths that stay inside."""

import gzip
import json
import zlib
from io import BytesIO
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from core.corpora.ordinary_paths import ordinary
from core.corpora.schema import Rejection
from core.errors import BadCorpus, InvalidInput

MOST_BYTES = 1_000_000_000
"""Largest text file, in bytes, that is read at once; taken apart, JSON takes about eight times its size in memory."""

WIDE = (b"\xff\xfe", b"\xfe\xff")
"""Begins UTF-16, as spreadsheets save "Unicode text"."""


class LeftOut(Exception):
    """One entry that cannot be used; its reader catches it and keeps a rejection.

    Args:
        code: short stable word for counting.
        detail: one sentence for a reader.
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail

    def rejection(self, subject: str) -> Rejection:
        """The record of it."""
        return Rejection(subject, self.code, self.detail)


def read_text(path: Path) -> str:
    """Read a UTF-8 or UTF-16 text file, with or without a byte order mark; ``.gz`` is unpacked.

    Raises:
        BadCorpus: if it is missing, unreadable, of another encoding, or too large.
        InvalidInput: if it is no ordinary file.
    """
    ordinary(path)
    try:
        if (size := path.stat().st_size) > MOST_BYTES:
            raise BadCorpus(
                f"{path} holds {size / 1e6:,.0f} MB, and at most {MOST_BYTES / 1e6:,.0f} MB are read at once; "
                "cut it into parts"
            )
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


def decoded(data: bytes, name: str, *, most: int = MOST_BYTES) -> str:
    """The text of a file that was read or uploaded; see :func:`read_text`.

    Args:
        data: its bytes.
        name: what messages call it; ``.gz`` at its end says that it is packed.
        most: bytes that are taken, unpacked.

    Raises:
        BadCorpus: if it is too large, no text, or cannot be unpacked.
    """
    try:
        if name.lower().endswith(".gz"):
            with gzip.open(BytesIO(data)) as file:
                data = file.read(most + 1)
        if len(data) > most:
            raise BadCorpus(f"{name} has more than {most:,} bytes and at most so many are taken; split it")
        return data.decode("utf-16" if data[:2] in WIDE else "utf-8-sig")
    except (OSError, EOFError, zlib.error) as error:
        raise BadCorpus(f"{name} cannot be unpacked ({error}); pack it anew with gzip") from error
    except UnicodeDecodeError as error:
        raise BadCorpus(f"{name} is not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8") from error


def read_json(path: Path) -> Any:
    """Read a JSON file.

    Raises:
        BadCorpus: if it is missing, unreadable or malformed; names the line and column.
    """
    return parse_json(read_text(path), where=str(path))


def parse_json(text: str, *, where: str, first_line: int = 1, unique_keys: bool = False) -> Any:
    """Parse JSON text that comes from outside.

    Args:
        where, first_line: where the text stands, for messages.
        unique_keys: refuse an object that holds a key twice.

    Raises:
        BadCorpus: if it is malformed, naming the line and column, or a key stands twice where it must not.
    """

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
        raise BadCorpus(
            f"{where} is not valid JSON at line {line}, column {error.colno}: {error.msg}; restore or mend the file"
        ) from error
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

    Args:
        folder: an existing folder.
        name: a relative path as a file states it, e.g. ``000000000139.jpg``.

    Raises:
        InvalidInput: if the path is absolute, climbs with ``..``, or leads outside through a symbolic link.
    """
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


def whole_number(value: Any, *, name: str, least: int = 1) -> int:
    """Return an option that counts, given as an int or as the text of one.

    Raises:
        InvalidInput: if it is not a whole number of at least ``least``.
    """
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = least - 1
    if number < least or isinstance(value, bool | float):
        raise InvalidInput(f"{name} must be a whole number of at least {least}, got {value!r}")
    return number
