"""An append-only log of JSON lines that a kill at any byte cannot spoil.

Every line is one JSON object that ends with its own checksum, and is on the disk before ``append`` returns. A line
that was cut in the middle is left out and told; the next row begins on its own line. Nothing is ever changed
in place. Order is the order of the lines: no clock decides it. :class:`Replay` is the one rule of every reader for what
of a log does not count.
"""

import json
import os
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from core.errors import InvalidInput, StoreError
from core.writing import cannot_write

Row = dict[str, Any]

_MARK = b',"crc":"'
_TAIL = len(_MARK) + 8 + len(b'"}')
PATIENCE = 10.0  # Seconds that a writer waits for another process that writes the same log


@dataclass(frozen=True, slots=True)
class Chunk:
    """What was read of a log."""

    rows: tuple[Row, ...]  # whole rows in the order of the file
    end: int  # byte at which the next reading begins
    at: tuple[int, ...] = ()  # line number of each row, counted like those of ``damaged``
    lines: int = 0  # line ends that were read
    damaged: tuple[int, ...] = ()  # line numbers, counted from the start of the reading, of what is no whole row
    cut: int = 0  # bytes after the last whole line that are no whole row: a row that is being written, or was cut


def encode(row: Mapping[str, Any]) -> bytes:
    """Write a row as one line with its checksum (CRC-32 of the object without it).

    >>> encode({"row": "begin"})
    b'{"row":"begin","crc":"dd813ff6"}\\n'
    """
    body = json.dumps(row, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    data = body.encode("utf-8", "backslashreplace")
    return data[:-1] + _MARK + f"{zlib.crc32(data):08x}".encode() + b'"}\n'


def decode(line: bytes) -> Row | None:
    """Read one line, or return None where it is not a whole row."""
    start = len(line) - _TAIL
    if start < 2 or line[start : start + len(_MARK)] != _MARK or not line.endswith(b'"}'):
        return None
    body = line[:start] + b"}"
    if line[start + len(_MARK) : -2] != f"{zlib.crc32(body):08x}".encode():
        return None
    try:
        row = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


class Writer:
    """The right to append, held while a log is locked."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Append rows and return once they are on the disk. Raises StoreError if they cannot be written; then none of
        them counts."""
        data = b"".join(encode(row) for row in rows)
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            raise StoreError(cannot_write(self._path, error)) from error
        try:
            size = os.fstat(handle).st_size
            if size and os.pread(handle, 1, size - 1) != b"\n":
                data = b"\n" + data  # what was cut stays as it is, on its own line
            try:
                left = memoryview(data)
                while left:
                    left = left[os.write(handle, left) :]
                os.fsync(handle)
            except OSError as error:
                with suppress(OSError):  # cut off what is not acknowledged; where even that fails, the checksums tell
                    os.ftruncate(handle, size)
                raise StoreError(cannot_write(self._path, error)) from error
        finally:
            os.close(handle)


class Log:
    """One log file; safe between threads and processes of one machine; ``path``: the file, made by the first row;
    beside it lies ``<name>.lock``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """Hold the log: what is read inside the block is still true when the writer appends. Raises StoreError if
        another process holds it too long, or the folder cannot be written."""
        lock = FileLock(self.path.with_name(self.path.name + ".lock"), timeout=PATIENCE, poll_interval=0.005)
        with self._lock:
            try:
                lock.acquire()
            except Timeout as error:
                raise StoreError(f"{self.path} is being written by another process; try again in a moment") from error
            except OSError as error:
                raise StoreError(cannot_write(self.path, error)) from error
            try:
                yield Writer(self.path)
            finally:
                lock.release()

    def read(self, start: int = 0) -> Chunk:
        """Read what stands after a byte; ``start``: 0, or the ``end`` of an earlier reading. Raises StoreError if the
        file cannot be read. A file that is not there is an empty log."""
        try:
            with self.path.open("rb") as file:
                file.seek(start)
                data = file.read()
        except FileNotFoundError:
            return Chunk((), 0)
        except OSError as error:
            raise StoreError(f"{self.path} cannot be read: {error.strerror or error}; check its permissions") from error
        rows: dict[int, Row] = {}
        damaged: list[int] = []
        lines = data.split(b"\n")
        last = lines.pop()
        for number, line in enumerate(lines, start=1):
            if (row := decode(line)) is not None:
                rows[number] = row
            elif line:
                damaged.append(number)
        if (tail := decode(last)) is not None:  # whole but for its line end
            rows[len(lines) + 1], last = tail, b""
        whole = start + len(data) - len(last)
        return Chunk(tuple(rows.values()), whole, tuple(rows), len(lines), tuple(damaged), len(last))

    def size(self) -> int:
        """Bytes of the file; 0 where there is none."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0


_NAMED = 5  # Lines that a sentence names one by one


class NewerRow(InvalidInput):
    """A whole row of a kind that this version does not know."""


@dataclass(slots=True)
class Replay:
    """What was taken of a log so far."""

    log: Log  # to be read
    # takes a row; raises NewerRow for a kind that it does not know, and another error for what makes no sense
    take: Callable[[Row], None]
    begun: bool = True  # whether the log begins with a row that is written with it, so that none at all is a loss
    end: int = 0
    cut: int = 0
    _lines: int = 0
    _damaged: list[int] = field(default_factory=list)
    _strange: list[int] = field(default_factory=list)
    _newer: list[int] = field(default_factory=list)

    def refresh(self) -> None:
        """Take what was written since. Raises StoreError if the log cannot be read."""
        if self.log.size() == self.end:
            self.cut = 0
            return
        chunk = self.log.read(self.end)
        for line, row in zip(chunk.at, chunk.rows, strict=True):
            try:
                self.take(row)
            except NewerRow:
                self._newer.append(self._lines + line)
            except (AttributeError, KeyError, TypeError, ValueError):
                self._strange.append(self._lines + line)
        self._damaged += [self._lines + line for line in chunk.damaged]
        self._lines += chunk.lines
        self.end, self.cut = chunk.end, chunk.cut

    @property
    def lost(self) -> bool:
        """Whether rows are left out that were whole once; one that was never written to its end is no loss."""
        return bool(self._damaged or self._strange)

    def told(self) -> tuple[str, ...]:
        """A sentence for each thing that does not count: file, lines, what to do."""
        path, found = self.log.path, list[str]()
        if self._gone():
            found.append(f"{path} is empty or gone, and with it all that was written; restore it from a copy.")
        if self._newer:
            newer = "written by a newer Invariscope and left out; update this one."
            found.append(f"{path}, {_named(self._newer)}: {newer}")
        if self.cut:
            left = "as a killed process leaves it, and is left out; every row before it counts."
            cut = f"the last row was cut in the middle ({self.cut} bytes)"
            found.append(f"{path}, line {self._lines + 1}: {cut}, {left}")
        if self._damaged:
            damaged = "cut or damaged, and left out; all others are used. Restore it from a copy if they matter."
            found.append(f"{path}, {_named(self._damaged)}: {damaged}")
        if self._strange:
            found.append(f"{path}, {_named(self._strange)}: such rows do not fit here and are left out.")
        return tuple(found)

    def check(self) -> None:
        """Refuse a log that stands for nothing. Raises StoreError if it is empty or gone, or a newer version wrote to
        it."""
        if self._gone() or self._newer:
            raise StoreError(self.told()[0])

    def _gone(self) -> bool:
        return not (self.end or self.cut) and (self.begun or self.log.path.exists())


def _named(lines: Sequence[int]) -> str:
    more = f" and {len(lines) - _NAMED} more" if len(lines) > _NAMED else ""
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines[:_NAMED]))}{more}"
