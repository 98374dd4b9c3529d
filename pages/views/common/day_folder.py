"""What readers brought, on the disk for a day: a server that is started again has it, and then nobody does."""

import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock

from core.errors import StoreError
from core.writing import sweep, write_bytes

DAY_S = 24 * 3600.0
"""Seconds after which a file is deleted, whoever looked at it meanwhile."""

_KEY = re.compile(r"[0-9a-f]{32}")


class DayFolder:
    """Files by the digest of what they hold, which only who has it or its link can name; safe between threads.

    Args:
        folder: of these files alone; only this user can read it.
        most_mb: most that they take together, in MB of 2**20 bytes; the oldest goes first.
        most: files at most; likewise.
        clock: seconds since 1970.
    """

    def __init__(
        self, folder: Path, *, most_mb: float, most: int = 1000, clock: Callable[[], float] = time.time
    ) -> None:
        self._folder, self._most_bytes, self._most = folder, int(most_mb * 2**20), most
        self._clock, self._lock = clock, Lock()

    def put(self, key: str, data: bytes) -> None:
        """Keep a file from now on for a day; nothing where it is larger than all may be, or the disk refuses."""
        if not _KEY.fullmatch(key) or len(data) > self._most_bytes:
            return
        with self._lock, suppress(StoreError, OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._sweep(most_bytes=self._most_bytes - len(data), most=self._most - 1)
            write_bytes(self._folder / key, data)
            (self._folder / key).chmod(0o600)

    def get(self, key: str) -> bytes | None:
        """Return a file of the last day; None where it is not there any more."""
        if not _KEY.fullmatch(key):
            return None
        with self._lock, suppress(OSError):
            self._sweep(most_bytes=self._most_bytes, most=self._most)
            return (self._folder / key).read_bytes()
        return None

    def _sweep(self, *, most_bytes: int, most: int) -> None:
        """Delete what is older than a day, then the oldest until the rest is within the bounds."""
        sweep(self._folder)
        found = [(each.stat(), each) for each in self._folder.glob("*") if _KEY.fullmatch(each.name)]
        found.sort(key=lambda each: each[0].st_mtime)
        size, many = sum(told.st_size for told, _ in found), len(found)
        for told, path in found:
            if told.st_mtime > self._clock() - DAY_S and size <= most_bytes and many <= most:
                break
            path.unlink(missing_ok=True)
            size, many = size - told.st_size, many - 1
