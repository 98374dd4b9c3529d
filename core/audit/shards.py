"""The files of a run folder: shards of its tables, and what a resumed run needs to go on alike."""

import json
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.errors import StoreError
from core.evaluators.cache import CAPTION, IMAGE, PAIR, EmbeddingCache
from core.store.files import write_json, write_whole
from core.store.manifest import MANIFEST, TABLES
from core.store.schema import SCHEMA_VERSION
from core.store.seal import Part, file_digest, with_seal
from core.store.whole import sealed_files, shard_files

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

    def finished(
        self, index: int, *, items: Collection[str] | None = None, sealed: Mapping[str, Part] | None = None
    ) -> ShardCounts | None:
        """Counts of a finished shard; None where it must be made, be it new, damaged, doubled or of another plan.

        Args:
            items: ids of the shard's items, so that no other shard of the run passes for it; None: not looked at.
            sealed: files that the run was closed with, where it was; None: not looked at.
        """
        try:
            for table in TABLES:
                path = self.shard(table, index)
                read = pq.read_table(path, page_checksum_verification=True)
                if items is not None and not {*read["item"].unique().to_pylist()} <= {*items}:
                    return None
                if sealed is not None and not self._is_sealed(path, sealed):
                    return None
                if table == "scores":
                    told = json.loads((read.schema.metadata or {})[_META])
            counts = ShardCounts(**told["counts"])
        except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
            return None
        return counts if told["key"] == self.key else None

    def check_names(self, shards: int) -> None:
        """Refuse to go on beside a file that is no shard of the run: it would be read with them.

        Args:
            shards: of the run.

        Raises:
            StoreError: naming the file.
        """
        known = {self.shard(table, index) for table in TABLES for index in range(shards)}
        known.add(self.shard("rejections", CORPUS_REJECTIONS))
        for path in shard_files(self.path, SCHEMA_VERSION).values():
            if path not in known:
                raise StoreError(f"{path} is no shard of run {self.path.name}; move it out and start the run again")

    def close(self, manifest: Mapping[str, Any], *, by: str, shards: int) -> None:
        """Write the manifest of a complete run with the seal of every file.

        Args:
            by: who closes it, of :data:`core.store.seal.BY`.
            shards: of the run.

        Raises:
            StoreError: if a file is no shard of the run, one cannot be read, or the manifest cannot be written.
        """
        self.check_names(shards)
        sealed = with_seal(manifest, by=by, files=sealed_files(self.path, SCHEMA_VERSION))
        write_json(self.path / MANIFEST, sealed)

    def _is_sealed(self, path: Path, sealed: Mapping[str, Part]) -> bool:
        part = sealed.get(path.relative_to(self.path).as_posix())
        return part is not None and part.sha256 == file_digest(path)

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
