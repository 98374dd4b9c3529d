"""Where runs lie on disk: what a folder holds, whether its shards are whole, and what a change of it looks like."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from core import settings
from core.store.manifest import MANIFEST, TABLES
from core.store.schema import schemas_of
from core.store.sql import first_line

UNREADABLE = (OSError, ValueError, pa.ArrowException)
"""What reading a damaged Parquet file raises; a ValueError where a name in it is no text any more."""

Signature = tuple[tuple[str, int, int], ...]
"""(path, size, modification time in ns) of files, sorted."""


def run_paths() -> tuple[Path, ...]:
    """Folders in which runs and published files appear by themselves: the results, the user's runs, ``data/``."""
    return (settings.results_dir(), settings.runs_dir(), settings.data_dir())


def signature(paths: Path | str | Iterable[Path | str]) -> Signature:
    """What a cached store depends on: every file of every run and every published file in these places."""
    chosen = [paths] if isinstance(paths, str | Path) else list(paths)
    found = {each for path in map(Path, chosen) for each in _stamps(path)}
    return tuple(sorted(found))


def run_signature(folder: Path) -> Signature:
    """Signature of one run folder."""
    return tuple(sorted(_of_run(folder)))


def holds_runs(folder: Path) -> bool:
    """Whether a folder holds a run, half of one or a published file."""
    return any(True for _ in _stamps(folder)) if folder.is_dir() else False


def half_runs(folder: Path) -> tuple[Path, ...]:
    """Folders below one folder that hold score tables and no manifest, by name."""
    return tuple(each for each in _folders(folder) if _has_scores(each) and not (each / MANIFEST).is_file())


def shard_problem(path: Path, table: str, run_id: str, *, version: int, sha256: str | None = None) -> str | None:
    """Why a shard is left out, or None. The whole file is read: a checksum stands over every page.

    What this process has read once is not read again until its size or time changes.

    Args:
        sha256: of the file as the run was closed with it; None where nobody knows.
    """
    try:
        status = path.stat()
    except OSError as error:
        return f"{path} cannot be read: {error.strerror or error}; check its permissions"
    return _problem(path, table, run_id, version, sha256, status.st_size, status.st_mtime_ns)


def read_again(path: Path, table: str, run_id: str, *, version: int, sha256: str | None = None) -> str | None:
    """As :func:`shard_problem`, from the disk whatever was read before: a disk rots without a new time."""
    return _problem.__wrapped__(path, table, run_id, version, sha256, 0, 0)


@lru_cache(maxsize=65_536)
def _problem(
    path: Path, table: str, run_id: str, version: int, sha256: str | None, _size: int, _changed: int
) -> str | None:
    try:
        data = path.read_bytes()
        read = pq.read_table(pa.BufferReader(data), page_checksum_verification=True)
    except UNREADABLE as error:
        return f"{path} is damaged ({first_line(error)}) and left out; start run {run_id} again to make it anew"
    if problem := content_problem(read, path, table, run_id, version=version):
        return problem
    if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
        return (
            f"{path} is another file than run {run_id} was closed with; put it back from a copy, or start that run "
            "again, which makes only what is missing"
        )
    return None


def content_problem(read: pa.Table, path: Path, table: str, run_id: str, *, version: int) -> str | None:
    """Why the content of a shard does not belong to a run's table of a version, or None."""
    if not read.schema.equals(schemas_of(version)[table]):
        return f"{path} has other columns than schema {version} and is left out; start run {run_id} again"
    if set(read["run"].unique().to_pylist()) - {run_id}:
        return f"{path} holds rows of another run than {run_id} and is left out; put it back where it belongs"
    return None


def _stamps(path: Path) -> Iterator[tuple[str, int, int]]:
    if path.is_file():
        yield from _stamp(path)
        return
    yield from _of_run(path)
    for entry in _entries(path):
        if entry.name.endswith(".duckdb"):
            yield from _stamp(Path(entry.path))
    for folder in _folders(path):
        if (folder / MANIFEST).is_file() or _has_scores(folder):
            yield from _of_run(folder)


def _of_run(folder: Path) -> Iterator[tuple[str, int, int]]:
    yield from _stamp(folder / MANIFEST)
    for table in TABLES:
        for entry in _entries(folder / table):  # thousands, at every run of a page: no call is made of each in vain
            if entry.name.endswith(".parquet"):
                try:
                    status = entry.stat()
                except OSError:  # gone since it was listed
                    continue
                yield entry.path, status.st_size, status.st_mtime_ns


def _stamp(file: Path) -> Iterator[tuple[str, int, int]]:
    try:
        status = file.stat()
    except OSError:  # gone since it was listed
        return
    yield os.fspath(file), status.st_size, status.st_mtime_ns


def _folders(folder: Path) -> list[Path]:
    return sorted(Path(entry.path) for entry in _entries(folder) if not entry.name.startswith(".") and entry.is_dir())


def _has_scores(folder: Path) -> bool:
    return any(entry.name.endswith(".parquet") for entry in _entries(folder / "scores"))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
