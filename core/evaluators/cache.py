"""Embeddings and pairwise scores of earlier calls, in memory and in one SQLite file. That may be deleted at any time,
shared by processes, cut off by a kill or filled to its limit: an entry that cannot be trusted is computed again, and
where nothing can be stored the work goes on without."""

import hashlib
import logging
import sqlite3
import struct
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from core.errors import InvalidInput

IMAGE, CAPTION, PAIR = "image", "caption", "pair"  # kinds of entries: embeddings, and the score of a pair
Key = tuple[str, str, str]
_log = logging.getLogger("invariscope.cache")
_BATCH = 500  # host parameters a statement; SQLite's oldest limit is 999
_FLUSH_BYTES = 8 * 2**20
_TABLE = """
create table if not exists entries (
    fingerprint text not null, kind text not null, key text not null,
    payload blob not null, used integer not null,
    primary key (fingerprint, kind, key)
)"""


def caption_hash(caption: str) -> str:
    """Return the sha256, in hex, of a caption's text."""
    return hashlib.sha256(caption.encode("utf-8", "surrogatepass")).hexdigest()


def pair_key(image_key: str, caption: str, references: Sequence[str] = ()) -> str:
    """Key of a pairwise score: the image's hash, the caption's, and that of the references where there are any."""
    key = f"{image_key}:{caption_hash(caption)}"
    return f"{key}:{caption_hash(chr(0).join(references))}" if references else key


class EmbeddingCache:
    """Arrays by (fingerprint key, kind, content hash); safe under threads and processes.
    ``path``: file on disk, made when needed; None: memory only.
    ``max_mb``: most that the file's entries may take, in MB; the least recently stored or read go first.
    ``memory_mb``: most that entries in memory may take, in MB."""

    def __init__(self, path: Path | None = None, max_mb: float = 1024, *, memory_mb: float = 256) -> None:
        if not max_mb > 0 or not memory_mb > 0:
            raise InvalidInput(f"a cache needs positive limits, got max_mb={max_mb!r} and memory_mb={memory_mb!r}")
        self.path = None if path is None else Path(path)
        self.problem: str | None = None  # why nothing is stored on disk any more, or None
        self._max_bytes = int(max_mb * 2**20)
        self._memory_bytes = int(memory_mb * 2**20)
        self._lock = threading.RLock()
        self._memory: OrderedDict[Key, np.ndarray] = OrderedDict()
        self._held = 0
        self._pending: dict[Key, np.ndarray] = {}
        self._pending_bytes = 0
        self._touched: set[Key] = set()
        self._disk: sqlite3.Connection | None = None

    def get_many(self, fingerprint: str, kind: str, keys: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the entries that are known, by key; what is missing or damaged is left out."""
        with self._lock:
            found: dict[str, np.ndarray] = {}
            missing: list[str] = []
            for key in keys:
                full = (fingerprint, kind, key)
                value = self._memory.get(full)
                value = self._pending.get(full) if value is None else value
                if value is None:
                    missing.append(key)
                    continue
                found[key] = value
                self._remember(full, value)
            disk = self._open() if missing else None
            try:
                for start in range(0, len(missing) if disk else 0, _BATCH):
                    assert disk is not None
                    part = missing[start : start + _BATCH]
                    marks = ",".join("?" * len(part))
                    rows = disk.execute(
                        f"select key, payload from entries where fingerprint = ? and kind = ? and key in ({marks})",
                        (fingerprint, kind, *part),
                    )
                    for key, payload in rows:
                        full = (fingerprint, kind, key)
                        value = _unpack(full, payload)
                        if value is not None:  # a damaged entry is missing: it is computed again and replaced
                            found[key] = value
                            self._touched.add(full)
                            self._remember(full, value)
            except sqlite3.Error as error:
                self._failed(error)
            return found

    def put_many(self, fingerprint: str, kind: str, values: Mapping[str, np.ndarray]) -> None:
        """Keep entries: at once in memory, on disk with the next flush."""
        with self._lock:
            for key, value in values.items():
                if value.dtype not in (np.float32, np.float64):
                    raise InvalidInput(f"the cache keeps float32 and float64 arrays, got {value.dtype}")
                full = (fingerprint, kind, key)
                kept = np.array(value)  # a view would keep its whole batch alive
                kept.flags.writeable = False
                self._remember(full, kept)
                if self.path is not None and self.problem is None:
                    self._pending[full] = kept
                    self._pending_bytes += kept.nbytes
            if self._pending_bytes > _FLUSH_BYTES:
                self.flush()

    def flush(self) -> None:
        """Write what is pending to disk, in one transaction, and evict what goes over the limit."""
        with self._lock:
            pending, self._pending, self._pending_bytes = self._pending, {}, 0
            touched, self._touched = self._touched - pending.keys(), set()
            disk = self._open() if pending or touched else None
            if disk is None:
                return
            try:
                with disk:
                    disk.execute("begin immediate")
                    stamp = 1 + (disk.execute("select max(used) from entries").fetchone()[0] or 0)
                    rows = ((*full, _pack(full, value), stamp) for full, value in pending.items())
                    disk.executemany("insert or replace into entries values (?, ?, ?, ?, ?)", rows)
                    disk.executemany(
                        "update entries set used = ? where fingerprint = ? and kind = ? and key = ?",
                        ((stamp, *full) for full in touched),
                    )
                    self._evict(disk)
            except sqlite3.Error as error:
                self._failed(error)

    def close(self) -> None:
        """Flush and close the file."""
        with self._lock:
            self.flush()
            self._disconnect()

    def _remember(self, full: Key, value: np.ndarray) -> None:
        previous = self._memory.pop(full, None)
        self._held += value.nbytes - (0 if previous is None else previous.nbytes)
        self._memory[full] = value
        while self._held > self._memory_bytes and len(self._memory) > 1:
            _, evicted = self._memory.popitem(last=False)
            self._held -= evicted.nbytes

    def _evict(self, disk: sqlite3.Connection) -> None:
        asked = ("page_size", "page_count", "freelist_count")
        page_size, pages, free = (disk.execute(f"pragma {name}").fetchone()[0] for name in asked)
        total = (pages - free) * page_size
        if total <= self._max_bytes:
            return
        goal = int(self._max_bytes * 0.9)  # some slack, or every flush would evict
        oldest = disk.execute("select rowid, length(payload) + 256 from entries order by used, rowid").fetchall()
        doomed = []
        for rowid, size in oldest:
            if total <= goal:
                break
            doomed.append((rowid,))
            total -= size
        disk.executemany("delete from entries where rowid = ?", doomed)

    def _open(self) -> sqlite3.Connection | None:
        if self._disk is not None or self.path is None or self.problem is not None:
            return self._disk
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._disk = _connect(self.path)
        except sqlite3.Error as error:
            self._failed(error)
        except OSError as error:
            self._give_up(error)
        return self._disk

    def _failed(self, error: sqlite3.Error) -> None:
        if isinstance(error, sqlite3.OperationalError):  # full, locked, not permitted: not the file's fault
            self._give_up(error)
            return
        _log.warning("cache %s is damaged (%s); it starts empty", self.path, error)
        self._disconnect()
        assert self.path is not None
        try:
            for suffix in ("", "-wal", "-shm"):
                Path(f"{self.path}{suffix}").unlink(missing_ok=True)
            self._disk = _connect(self.path)
        except (sqlite3.Error, OSError) as second:
            self._give_up(second)

    def _give_up(self, error: Exception) -> None:
        if self.problem is None:
            self.problem = f"the cache {self.path} cannot be used ({error}); work goes on without it"
            _log.warning("%s", self.problem)
        self._pending, self._pending_bytes, self._touched = {}, 0, set()
        self._disconnect()

    def _disconnect(self) -> None:
        if self._disk is not None:
            self._disk.close()
            self._disk = None


def _connect(path: Path) -> sqlite3.Connection:
    # Guarded by the cache's own lock, hence usable from any thread.
    disk = sqlite3.connect(path, timeout=30.0, isolation_level=None, check_same_thread=False)
    try:
        disk.execute("pragma journal_mode = wal")
        disk.execute("pragma synchronous = normal")
        disk.execute(_TABLE)
    except sqlite3.Error:
        disk.close()
        raise
    return disk


def _pack(full: Key, value: np.ndarray) -> bytes:
    sides = struct.pack(f"<cB{value.ndim}I", value.dtype.char.encode(), value.ndim, *value.shape)
    body = sides + np.ascontiguousarray(value).tobytes()
    return struct.pack("<I", _checksum(full, body)) + body


def _unpack(full: Key, payload: bytes) -> np.ndarray | None:
    try:
        (expected,) = struct.unpack_from("<I", payload)
        body = payload[4:]
        if _checksum(full, body) != expected:
            return None
        char, ndim = struct.unpack_from("<cB", body)
        shape = struct.unpack_from(f"<{ndim}I", body, 2)
        return np.frombuffer(body, dtype={b"f": np.float32, b"d": np.float64}[char], offset=2 + 4 * ndim).reshape(shape)
    except (struct.error, ValueError, KeyError, TypeError):
        return None


def _checksum(full: Key, body: bytes) -> int:
    return zlib.crc32(body, zlib.crc32("\x1f".join(full).encode()))


def cache_for(cache: EmbeddingCache | Callable[[str], EmbeddingCache] | None, name: str) -> EmbeddingCache | None:
    """Embeddings for an evaluator: of one cache for all of them, or of what gives each its own."""
    return cache if cache is None or isinstance(cache, EmbeddingCache) else cache(name)
