"""The files of a run folder: shards of its tables, and what a resumed run needs to go on alike."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.evaluators.cache import CAPTION, IMAGE, PAIR, EmbeddingCache
from core.store.files import write_whole
from core.store.manifest import TABLES

WORK = "work"
CORPUS_REJECTIONS = "corpus"
"""Name of the shard of ``rejections`` that holds what the corpus's loader left out."""

_META = b"invariscope"
_SEEN = pa.schema(
    [("fingerprint", pa.string()), ("kind", pa.string()), ("key", pa.string()), ("double", pa.bool_()),
     ("shape", pa.list_(pa.int32())), ("values", pa.binary())]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ShardCounts:
    """What one shard brought that no shard before it had.

    Args:
        unique_images: images of new content.
        unique_captions: new texts.
        image_encodings: images that entered an evaluator (pairs, for a pairwise one), over all evaluators.
        caption_encodings: captions that entered a text tower, over all evaluators.
        calls: calls of all evaluators.
    """

    unique_images: int = 0
    unique_captions: int = 0
    image_encodings: int = 0
    caption_encodings: int = 0
    calls: int = 0

    def plus(self, other: "ShardCounts") -> "ShardCounts":
        """Sum, field by field."""
        return ShardCounts(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    def as_dict(self) -> dict[str, int]:
        """Plain dictionary, for manifests."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


class RunCache(EmbeddingCache):
    """Embeddings of one run: in memory, and noted shard by shard so that a resumed run reads back the very same.

    A shard's embeddings depend on what earlier shards had encoded already (it decides who shares a batch), so
    they are kept beside the finished shards until the run is complete.

    Args:
        shared: a cache of other runs, read and filled too. Its embeddings may come from other batches, hence
            differ in their last bits.
    """

    def __init__(self, shared: EmbeddingCache | None = None, *, memory_mb: float = 512) -> None:
        super().__init__(None, memory_mb=memory_mb)
        self._shared = shared
        self._new: dict[tuple[str, str, str], np.ndarray | None] = {}
        self._seen: set[tuple[str, str]] = set()

    def get_many(self, fingerprint: str, kind: str, keys: Sequence[str]) -> dict[str, np.ndarray]:
        """Return what this run, or else the shared cache, knows."""
        found = super().get_many(fingerprint, kind, keys)
        if self._shared is not None and len(found) < len(keys):
            more = self._shared.get_many(fingerprint, kind, [key for key in keys if key not in found])
            self._note(fingerprint, kind, more)
            found.update(more)
        return found

    def put_many(self, fingerprint: str, kind: str, values: Mapping[str, np.ndarray]) -> None:
        """Keep entries for the run and for the shared cache."""
        self._note(fingerprint, kind, values)
        if self._shared is not None:
            self._shared.put_many(fingerprint, kind, values)

    def first_seen(self, kind: str, keys: Sequence[str]) -> int:
        """Count the keys that no call before this one named, over the whole run."""
        new = [key for key in dict.fromkeys(keys) if (kind, key) not in self._seen]
        self._seen.update((kind, key) for key in new)
        self._new.update({("", kind, key): None for key in new})
        return len(new)

    def save(self, path: Path) -> None:
        """Write what came in since the last save, and begin anew."""
        rows = []
        for (fingerprint, kind, key), value in self._new.items():
            row: dict[str, Any] = {"fingerprint": fingerprint, "kind": kind, "key": key}
            if value is not None:
                row |= {"double": value.dtype == np.float64, "shape": list(value.shape), "values": value.tobytes()}
            rows.append(row)
        table = pa.Table.from_pylist(rows, schema=_SEEN)
        write_whole(path, lambda temporary: pq.write_table(table, temporary, write_page_checksum=True))
        self._new = {}

    def recall(self, path: Path) -> None:
        """Read back what :meth:`save` wrote; a missing or damaged file only means encoding again."""
        try:
            rows = pq.read_table(path, schema=_SEEN, page_checksum_verification=True).to_pylist()
        except (OSError, pa.ArrowException):
            return
        for row in rows:
            if row["values"] is None:
                self._seen.add((row["kind"], row["key"]))
                continue
            value = np.frombuffer(row["values"], np.float64 if row["double"] else np.float32).reshape(row["shape"])
            super().put_many(row["fingerprint"], row["kind"], {row["key"]: value})

    def _note(self, fingerprint: str, kind: str, values: Mapping[str, np.ndarray]) -> None:
        assert kind in (IMAGE, CAPTION, PAIR)
        super().put_many(fingerprint, kind, values)
        self._new.update({(fingerprint, kind, key): np.array(value) for key, value in values.items()})


class RunFolder:
    """Paths and files of one run.

    Args:
        key: digest of the plan and the evaluators; stands in every shard, so none of another run is taken over.
    """

    def __init__(self, path: Path, key: str) -> None:
        self.path = path
        self.key = key

    def metadata(self, counts: ShardCounts) -> dict[bytes, bytes]:
        """What a scores shard says of itself."""
        return {_META: json.dumps({"key": self.key, "counts": counts.as_dict()}, sort_keys=True).encode()}

    @staticmethod
    def key_of(table: pa.Table) -> str | None:
        """Key that a table was written under with :meth:`metadata`; None where it tells none."""
        try:
            return str(json.loads((table.schema.metadata or {})[_META])["key"])
        except (KeyError, TypeError, ValueError):
            return None

    def shard(self, table: str, name: int | str) -> Path:
        """Path of one shard of one table."""
        return self.path / table / f"{_name(name)}.parquet"

    def work(self, index: int) -> Path:
        """Path of what :class:`RunCache` saves with a shard."""
        return self.path / WORK / f"{_name(index)}.parquet"

    def write(self, index: int, tables: Mapping[str, pa.Table]) -> None:
        """Write a shard; its scores come last, since they say that it is finished.

        Raises:
            StoreError: if a file cannot be written; the shard then counts as not begun.
        """
        for table in reversed(TABLES):
            self.write_table(self.shard(table, index), tables[table])

    @staticmethod
    def write_table(path: Path, table: pa.Table) -> None:
        """Write one Parquet file as a whole or not at all; the same table gives the same bytes."""
        write: Callable[[Path], None] = lambda temporary: pq.write_table(  # noqa: E731
            table, temporary, compression="zstd", write_page_checksum=True
        )
        write_whole(path, write)

    def finished(self, index: int) -> ShardCounts | None:
        """Counts of a finished shard; None where it must be made, be it new, damaged or of another plan."""
        try:
            for table in TABLES:
                read = pq.read_table(self.shard(table, index), page_checksum_verification=True)
                if table == "scores":
                    told = json.loads((read.schema.metadata or {})[_META])
            counts = ShardCounts(**told["counts"])
        except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
            return None
        return counts if told["key"] == self.key else None

    def clear(self) -> None:
        """Remove every table, for a run that starts over."""
        for name in (*TABLES, WORK):
            shutil.rmtree(self.path / name, ignore_errors=True)

    def clear_work(self) -> None:
        """Remove what only an unfinished run needs, and temporary files that a kill left."""
        shutil.rmtree(self.path / WORK, ignore_errors=True)
        for left in self.path.glob("**/.*.tmp"):
            left.unlink(missing_ok=True)


def _name(name: int | str) -> str:
    return name if isinstance(name, str) else f"shard-{name:05d}"
