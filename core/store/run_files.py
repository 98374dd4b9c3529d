"""Where runs lie on disk: what a folder holds, whether its shards are whole, and what a change of it looks like.

Runs on disk: a folder with ``manifest.json``, ``scores/``, ``items/``, ``rejections/`` and ``variants/``. ``seal`` of a
manifest says what every file of the run was when it was closed: ``algorithm`` (``sha256``), ``sealed`` (time in UTC),
``by`` (who closed it: BY), ``files`` of a run folder (path below it -> bytes, rows, sha256) or ``tables`` of a
published file (table -> rows, sha256 of their content), and ``manifest``: the SHA-256 of the manifest itself without
that last entry, as canonical JSON. It tells damage, not a forger: who can write the run can seal it anew.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from core import settings
from core.errors import InvalidInput, StoreError, first_line
from core.store.schema import SCHEMA_VERSION, SCHEMAS, schemas_of

SEAL = "seal"  # Entry of a manifest
ALGORITHM = "sha256"

AUDIT, IMPORT, LATER, PUBLISH = "audit", "import-scores", "verify", "publish"
BY = (AUDIT, IMPORT, LATER, PUBLISH)
"""Who sealed a run. LATER: after its close, so the seal says only that nothing changed since then."""

_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a run folder, or one table of a published file, as it was sealed."""

    rows: int  # in it
    sha256: str  # of the file's bytes, or of the table's content (:mod:`core.store.whole`)
    bytes: int | None = None  # of the file; None for a table

    def as_dict(self) -> dict[str, int | str]:
        """Plain dictionary, for manifests."""
        return {**({} if self.bytes is None else {"bytes": self.bytes}), "rows": self.rows, "sha256": self.sha256}


@dataclass(frozen=True, slots=True)
class Seal:
    """A seal as it was read."""

    sealed: str  # when, in UTC
    by: str  # one of BY
    files: Mapping[str, Part] | None  # path below the run folder -> file; None in a published file
    tables: Mapping[str, Part] | None  # table -> content; None in a run folder

    @property
    def told(self) -> str:
        """Since when a change would be seen, e.g. ``at its close`` or ``later, 2026-11-23T12:00:00Z``."""
        return f"later, {self.sealed}" if self.by == LATER else "at its close"


def with_seal(
    manifest: Mapping[str, Any],
    *,
    by: str,
    files: Mapping[str, Part] | None = None,
    tables: Mapping[str, Part] | None = None,
    sealed: str | None = None,
) -> dict[str, Any]:
    """Return a manifest that holds a new seal; exactly one of ``files`` and ``tables`` is given; ``sealed``: time in
    UTC since when a change would be seen; None: now."""
    parts = files if files is not None else tables
    assert parts is not None
    assert by in BY
    seal = {
        "algorithm": ALGORITHM,
        "sealed": sealed or datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "by": by,
        "files" if files is not None else "tables": {name: parts[name].as_dict() for name in sorted(parts)},
    }
    whole = {**without_seal(manifest), SEAL: seal}
    return {**whole, SEAL: {**seal, "manifest": manifest_digest(whole)}}


def without_seal(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest without its seal: what the run says of itself, wherever and whenever it was sealed."""
    return {name: value for name, value in manifest.items() if name != SEAL}


def manifest_digest(manifest: Mapping[str, Any]) -> str:
    """SHA-256 of a manifest as canonical JSON, without the digest that stands in it."""
    seal = {name: value for name, value in manifest[SEAL].items() if name != "manifest"}
    text = json.dumps({**manifest, SEAL: seal}, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def read_seal(manifest: Mapping[str, Any], path: Path) -> Seal | None:
    """The seal of a manifest, once it is known to be of this very manifest; None where it has none; ``path``: of the
    manifest or the published file, for the message. Raises StoreError if the manifest was changed since, or its seal is
    none that is known here."""
    if SEAL not in manifest:
        return None
    told = manifest[SEAL]
    if not isinstance(told, dict) or told.get("algorithm") != ALGORITHM or told.get("by") not in BY:
        raise StoreError(f"{path} has a seal that this Invariscope does not know; update it")
    if told.get("manifest") != manifest_digest(manifest):
        out = f"take its entry {SEAL!r} out if you changed it yourself: the run then counts as unverified"
        what = "was changed since its run was closed: its own SHA-256 is another"
        raise StoreError(f"{path} {what}; put the old one back from a copy, or {out}")
    return Seal(str(told.get("sealed")), told["by"], _parts(told, "files", path), _parts(told, "tables", path))


def _parts(told: Mapping[str, Any], name: str, path: Path) -> dict[str, Part] | None:
    if name not in told:
        return None
    try:
        parts = {str(key): Part(**each) for key, each in told[name].items()}
    except (AttributeError, TypeError) as error:
        raise StoreError(f"{path} has a seal whose {name} cannot be read; put the manifest back from a copy") from error
    if not all(isinstance(each.rows, int) and _DIGEST.fullmatch(str(each.sha256)) for each in parts.values()):
        raise StoreError(f"{path} has a seal whose {name} cannot be read; put the manifest back from a copy")
    return parts


UNREADABLE = (OSError, ValueError, pa.ArrowException)
"""What reading a damaged Parquet file raises; a ValueError where a name in it is no text any more."""

Signature = tuple[tuple[str, int, int], ...]  # (path, size, modification time in ns) of files, sorted


def run_paths() -> tuple[Path, ...]:
    """Folders in which runs and published files appear by themselves: the results, the user's runs, ``data/``."""
    return (settings.results_dir(), settings.runs_dir(), settings.data_dir())


def signature(paths: Path | str | Iterable[Path | str]) -> Signature:
    """What a cached store depends on: every file of every run and every published file in these places."""
    chosen = [paths] if isinstance(paths, str | Path) else list(paths)
    return tuple(sorted({each for path in map(Path, chosen) for each in _stamps(path)}))


def run_signature(folder: Path) -> Signature:
    """Signature of one run folder."""
    return tuple(sorted(_of_run(folder)))


def holds_runs(folder: Path) -> bool:
    """Whether a folder has a run, half of one or a published file."""
    return any(True for _ in _stamps(folder)) if folder.is_dir() else False


def half_runs(folder: Path) -> tuple[Path, ...]:
    """Folders below one folder that hold score tables and no manifest, by name."""
    return tuple(each for each in _folders(folder) if _has_scores(each) and not (each / MANIFEST).is_file())


def shard_problem(run: "Run", name: str, path: Path, sha256: str | None) -> str | None:
    """Why a shard is left out, or None. The whole file is read: a checksum stands over it, or over every page.
    What this process has read once is not read again until its size or time changes.
    ``name``: of the file below the run's folder. ``sha256``: as the run was closed with it; None: nobody knows."""
    try:
        status = path.stat()
    except OSError as error:
        return f"{path} cannot be read: {error.strerror or error}; check its permissions"
    table = name.partition("/")[0]
    return _problem(path, table, run.id, run.schema_version, sha256, status.st_size, status.st_mtime_ns)


def read_again(run: "Run", name: str, path: Path, sha256: str | None = None) -> str | None:
    """As :func:`shard_problem`, from the disk whatever was read before: a disk rots without a new time."""
    return _problem.__wrapped__(path, name.partition("/")[0], run.id, run.schema_version, sha256, 0, 0)


@lru_cache(maxsize=65_536)
def _problem(
    path: Path, table: str, run_id: str, version: int, sha256: str | None, _size: int, _changed: int
) -> str | None:
    try:
        data = path.read_bytes()
        same = hashlib.sha256(data).hexdigest() == sha256
        file = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
        # every page was read when the file was sealed, and it is the same file
        read = file.read(columns=["run"] if same and "run" in file.schema_arrow.names else None)
    except UNREADABLE as error:
        return f"{path} is damaged ({first_line(error)}) and left out; start run {run_id} again to make it anew"
    if not file.schema_arrow.equals(schemas_of(version)[table]):
        return f"{path} has other columns than schema {version} and is left out; start run {run_id} again"
    if set(read["run"].unique().to_pylist()) - {run_id}:
        return f"{path} holds rows of another run than {run_id} and is left out; put it back where it belongs"
    if sha256 is not None and not same:
        other = f"is another file than run {run_id} was closed with"
        return f"{path} {other}; put it back from a copy, or start that run again, which makes only what is missing"
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


MANIFEST = "manifest.json"
TABLES = tuple(SCHEMAS)

RUNNING, INTERRUPTED, COMPLETE = "running", "interrupted", "complete"
"""States of a run. One that was killed still says ``running``; it is resumed like an interrupted one."""

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class Run:
    """One audit with its manifest, from a run folder or from a published file."""

    path: Path  # the run folder, or the ``.duckdb`` file that holds the run
    manifest: Mapping[str, Any]  # what ``manifest.json`` says

    @property
    def id(self) -> str:
        """Name of the run, as in the column ``run``."""
        return str(self.manifest["run"])

    @property
    def schema_version(self) -> int:
        """Version of the tables that the run was written with."""
        return int(self.manifest["schema_version"])

    @property
    def status(self) -> str:
        """``running``, ``interrupted`` or ``complete``."""
        return str(self.manifest["status"])

    @property
    def seal(self) -> Seal | None:
        """What every file of the run was when it was closed; None where nobody knows: the run is unverified then.
        Raises StoreError if the manifest is not the one that was sealed."""
        return read_seal(self.manifest, self.path)

    @property
    def sealed(self) -> dict[str, str]:
        """SHA-256 of every file that the seal of a run folder names, by its path below it; empty without one."""
        seal = self.seal
        return {name: part.sha256 for name, part in ((seal and seal.files) or {}).items()}

    @property
    def verified(self) -> bool:
        """Whether what lies here can be held against a seal: of its files in a run folder, of its tables elsewhere."""
        seal = self.seal
        return seal is not None and (seal.tables if self.path.suffix == ".duckdb" else seal.files) is not None

    @property
    def has_scores(self) -> bool:
        """Whether anything was scored yet: the folder of a run that was stopped may hold nothing."""
        return self.path.suffix == ".duckdb" or any((self.path / "scores").glob("*.parquet"))

    def corpus_root(self) -> Path | None:
        """Folder that the corpus lay in when the run was made, be it there or not; None where the run says none."""
        corpus = self.manifest.get("corpus")
        root = corpus.get("root") if isinstance(corpus, dict) else None
        return (settings.ROOT / root).resolve() if isinstance(root, str) and "\0" not in root else None


def seal_told(run: Run) -> str:
    """When a run was sealed: ``at its close``, ``later, DATE``, ``unverified``; a dash while it is not complete."""
    if run.status != COMPLETE:
        return "—"
    return run.seal.told if run.verified and run.seal is not None else "unverified"


def check_run_id(run_id: str) -> str:
    """Return a run id that is safe as the name of a folder. Raises InvalidInput for anything else."""
    if not _RUN_ID.fullmatch(run_id):
        raise InvalidInput(f"a run id has 1 to 100 letters, digits, dots, dashes or underscores, got {run_id!r}")
    return run_id


def read_run(folder: Path) -> Run:
    """Read one run folder's manifest. Raises StoreError if there is none, it is broken, it was changed since the run
    was closed, or it was written by a newer Invariscope."""
    path = Path(folder) / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise StoreError(f"{folder} is no run: it has no {MANIFEST}; name a folder that an audit wrote") from error
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(f"{path} cannot be read ({error}); start that run again, or remove its folder") from error
    return Run(Path(folder), check_manifest(manifest, path))


def check_manifest(manifest: object, path: Path) -> Mapping[str, Any]:
    """Return a manifest that has the entries every reader counts on. Raises StoreError, naming the entry."""
    if not isinstance(manifest, dict):
        raise StoreError(f"{path} holds no object; start that run again, or remove it")
    version = manifest.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise StoreError(f"{path} names no schema_version, got {version!r}; start that run again, or remove it")
    if version > SCHEMA_VERSION:
        reads = f"this Invariscope reads up to {SCHEMA_VERSION}"
        raise StoreError(f"{path} was written with schema {version} and {reads}; update it")
    run_id = manifest.get("run")
    if not isinstance(run_id, str) or not _RUN_ID.fullmatch(run_id):
        raise StoreError(f"{path} names no valid run, got {run_id!r}; start that run again, or remove it")
    if (status := manifest.get("status")) not in (RUNNING, INTERRUPTED, COMPLETE):
        raise StoreError(f"{path} has the unknown status {status!r}; start that run again, or remove it")
    for name in ("corpus", "counts"):
        if not isinstance(manifest.get(name), dict):
            raise StoreError(f"{path} has no object {name!r}; start that run again, or remove it")
    read_seal(manifest, path)
    return manifest


def run_folders(folder: Path) -> tuple[Path, ...]:
    """Folders below one folder that hold a manifest, by name; the folder itself if it is a run."""
    folder = Path(folder)
    if (folder / MANIFEST).is_file():
        return (folder,)
    if not folder.is_dir():
        return ()
    return tuple(path for path in sorted(folder.iterdir()) if (path / MANIFEST).is_file())


def list_runs(*folders: Path) -> tuple[Run, ...]:
    """Runs in the given folders; by default the shipped results and the user's own. Broken ones are left out, and
    :attr:`core.store.store.Store.problems` says which and why."""
    found = []
    for folder in folders or (settings.results_dir(), settings.runs_dir()):
        for path in run_folders(folder):
            with suppress(StoreError):
                found.append(read_run(path))
    return tuple(found)
