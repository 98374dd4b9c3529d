"""The files of a run folder, where one process writes at a time: shards of its tables, each whole or not there."""

import json
import shutil
from base64 import b64decode, b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import filelock
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.errors import StoreError
from core.file_contents import file_sha256
from core.store.run_files import MANIFEST, TABLES, Part, with_seal
from core.store.schema import SCHEMA_VERSION
from core.store.text_files import remove_leftovers, write_json
from core.store.whole import sealed_files, shard_files
from core.writing import cannot_write, write_whole

WORK = "work"
CORPUS_REJECTIONS = "corpus"  # name of the shard of ``rejections`` that holds what the corpus's loader left out
_META = b"invariscope"


@dataclass(frozen=True, slots=True)
class ShardCounts:
    """What one shard took, or the captions of a run before any shard.
    ``image_encodings``: images that entered an evaluator (pairs, for a pairwise one), over all evaluators.
    ``caption_encodings``: captions that entered a text tower, over all evaluators.
    ``calls``: calls of all evaluators."""

    image_encodings: int = 0
    caption_encodings: int = 0
    calls: int = 0

    def plus(self, other: "ShardCounts") -> "ShardCounts":
        """Sum, field by field."""
        return ShardCounts(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    def as_dict(self) -> dict[str, int]:
        """Plain dictionary, for manifests."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def read(cls, told: object) -> "ShardCounts | None":
        """What :meth:`as_dict` wrote; None for anything else."""
        names = {each.name for each in fields(cls)}
        if not isinstance(told, dict) or told.keys() != names or not all(type(each) is int for each in told.values()):
            return None
        return cls(**told)


@dataclass(frozen=True, slots=True)
class Finished:
    """What a finished shard says of itself.
    ``images``: first 64 bits of the hash of every image that it scored, uint64 [n], rising: a run's unique images are
    the union over its shards."""

    counts: ShardCounts
    images: np.ndarray

    @classmethod
    def of(cls, counts: ShardCounts, image_keys: Iterable[str]) -> "Finished":
        """Shorten the images' hashes, in hex."""
        return cls(counts, np.unique(np.array([int(key[:16], 16) for key in image_keys], np.uint64)))


class RunFolder:
    """Paths and files of one run.
    ``key``: digest of the plan and the evaluators; stands in every shard, so none of another run is taken over."""

    def __init__(self, path: Path, key: str) -> None:
        self.path, self.key = path, key

    def metadata(self, told: Finished) -> dict[bytes, bytes]:
        """What a scores shard says of itself."""
        images = b64encode(told.images.astype("<u8").tobytes()).decode()
        return {_META: json.dumps({"key": self.key, "counts": told.counts.as_dict(), "images": images}).encode()}

    @staticmethod
    def key_of(table: pa.Table) -> str | None:
        """Key that a table was written under with :meth:`metadata`; None where it tells none."""
        try:
            return str(json.loads((table.schema.metadata or {})[_META])["key"])
        except (KeyError, TypeError, ValueError):
            return None

    def shard(self, table: str, name: int | str) -> Path:
        """Path of one shard of one table."""
        return self.path / table / f"{name if isinstance(name, str) else f'shard-{name:05d}'}.parquet"

    @property
    def work(self) -> Path:
        """Folder of what only an unfinished run needs."""
        return self.path / WORK

    def write(self, index: int, tables: Mapping[str, pa.Table]) -> None:
        """Write a shard; its scores come last, since they say that it is finished.
        Raises StoreError if a file cannot be written; the shard then counts as not begun."""
        for table in reversed(TABLES):
            self.write_table(self.shard(table, index), tables[table])

    @staticmethod
    def write_table(path: Path, table: pa.Table) -> None:
        """Write one Parquet file as a whole or not at all; the same table gives the same bytes."""
        how = {"compression": "zstd", "write_page_checksum": True}
        write_whole(path, lambda temporary: pq.write_table(table, temporary, **how))

    def finished(
        self, index: int, *, items: Collection[str] | None = None, sealed: Mapping[str, Part] | None = None
    ) -> Finished | None:
        """What a finished shard says of itself; None where it must be made: new, damaged, doubled or of another plan.
        ``items``: ids of the shard's items, so that no other shard of the run passes for it; None: not looked at.
        ``sealed``: files that the run was closed with, where it was; None: not looked at."""
        try:
            for table in TABLES:
                path = self.shard(table, index)
                read = pq.read_table(path, page_checksum_verification=True)
                if items is not None and not {*read["item"].unique().to_pylist()} <= {*items}:
                    return None
                if sealed is not None:
                    part = sealed.get(path.relative_to(self.path).as_posix())
                    if part is None or part.sha256 != file_sha256(path):
                        return None
                if table == "scores":
                    told = json.loads((read.schema.metadata or {})[_META])
            counts = ShardCounts(**told["counts"])
            images = np.frombuffer(b64decode(told["images"], validate=True), "<u8")
        except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
            return None
        return Finished(counts, images) if told["key"] == self.key else None

    def check_names(self, shards: int) -> None:
        """Refuse to go on beside a file that is no shard of the run: it would be read with them.
        Raises StoreError naming the file."""
        known = {self.shard(table, index) for table in TABLES for index in range(shards)}
        known.add(self.shard("rejections", CORPUS_REJECTIONS))
        for path in shard_files(self.path, SCHEMA_VERSION).values():
            if path not in known:
                raise StoreError(f"{path} is no shard of run {self.path.name}; move it out and start the run again")

    def close(self, manifest: Mapping[str, Any], *, by: str, shards: int) -> None:
        """Write the manifest of a complete run with the seal of every file.
        ``by``: who closes it, of :data:`core.store.run_files.BY`.
        Raises StoreError if a file is no shard of the run, one cannot be read, or the manifest cannot be written."""
        self.check_names(shards)
        sealed = with_seal(manifest, by=by, files=sealed_files(self.path, SCHEMA_VERSION))
        write_json(self.path / MANIFEST, sealed)

    def clear(self) -> None:
        """Remove every table, for a run that starts over."""
        for name in (*TABLES, WORK):
            shutil.rmtree(self.path / name, ignore_errors=True)

    def clear_work(self) -> None:
        """Remove what only an unfinished run needs, and temporary files that a kill left."""
        shutil.rmtree(self.path / WORK, ignore_errors=True)
        remove_leftovers(self.path)


@contextmanager
def only_one(path: Path, *, what: str = "run", instead: str = "choose another run id") -> Iterator[None]:
    """Keep every other process out of a folder, made when needed; the system drops the lock when its holder dies.
    ``what``: the folder is, for the message. ``instead``: what else the reader may do.
    Raises StoreError if another process works there, or the folder cannot be made."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(path / ".lock", timeout=0)
        lock.acquire()
    except filelock.Timeout as error:
        raise StoreError(
            f"another process works on {what} {path.name} in {path.parent}; wait for it, or {instead}"
        ) from error
    except OSError as error:
        raise StoreError(cannot_write(path, error)) from error
    try:
        yield
    finally:
        (path / ".lock").unlink(missing_ok=True)
        lock.release()
        with suppress(OSError):  # what never began leaves no folder; any other is not empty
            path.rmdir()
