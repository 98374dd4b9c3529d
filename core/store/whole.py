"""Whether a complete run is whole: its files and rows against its seal, or against the counts of an older manifest.

A table's digest is the same for the same values in the same order, whatever file holds them. What turns out damaged
while a store is open is looked for here, too: which file it is, and whether it was only a copy. :func:`verify` reads
every byte of runs and published files.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from core.errors import InvalidInput, StoreError
from core.file_contents import file_sha256
from core.store.published_runs import attach
from core.store.run_files import (
    COMPLETE,
    LATER,
    MANIFEST,
    UNREADABLE,
    Part,
    Run,
    Seal,
    half_runs,
    read_again,
    read_run,
    run_folders,
    shard_problem,
    with_seal,
)
from core.store.schema import schemas_of
from core.store.sql import column_list, first_line, quoted
from core.store.text_files import write_json

BATCH_ROWS = 65_536  # Rows of a batch where more are asked for than should be held


class NotWhole(StoreError):
    """A complete run with a file or rows that are missing, changed, doubled or of another run."""


def shard_files(folder: Path, version: int) -> dict[str, Path]:
    """Shards of a run folder that lie there, by their path below it, e.g. ``scores/shard-00000.parquet``."""
    return {
        f"{table}/{path.name}": path
        for table in schemas_of(version)
        for path in sorted((folder / table).glob("*.parquet"))
    }


def sealed_files(folder: Path, version: int) -> dict[str, Part]:
    """What a seal says of every shard of a run folder, every page of it read from the disk. Raises StoreError if one
    cannot be read."""
    parts = {}
    for name, path in shard_files(folder, version).items():
        try:
            rows = pq.read_table(path, page_checksum_verification=True).num_rows
            parts[name] = Part(rows, file_sha256(path), path.stat().st_size)
        except UNREADABLE as error:
            raise StoreError(f"{path} cannot be read ({first_line(error)}); start the same run again") from error
    return parts


def check_files(run: Run) -> None:
    """Compare the files of a complete run folder with its seal, or their rows with its counts: stats and footers only.
    Raises NotWhole, naming the file, and what to do."""
    files = shard_files(run.path, run.schema_version)
    problem = _unlike_counts(run, files) if run.seal is None else _unlike_seal(run, files, run.seal)
    if problem is not None:
        raise not_whole(run, problem)


def why_not_whole(run: Run) -> str | None:
    """What :func:`check_files` says of a run folder, or None; of one that is not complete nothing is expected yet."""
    try:
        if run.status == COMPLETE:
            check_files(run)
    except NotWhole as error:
        return str(error)
    return None


def check_tables(
    connection: duckdb.DuckDBPyConnection, alias: str, path: Path, version: int, runs: tuple[Run, ...], *, full: bool
) -> None:
    """Compare the rows of a published file with the seals or the counts of its runs.

    Args:
        connection: where the file is attached as ``alias``.
        full: hash the content too, which reads the whole file.

    Raises:
        NotWhole: naming the file, and what to do.
    """
    try:
        problem = _table_problem(connection, alias, version, runs, full=full)
    except duckdb.Error as error:
        raise NotWhole(f"{path} is damaged ({first_line(error)}); publish it again, or fetch it again") from error
    if problem is not None:
        raise NotWhole(f"{path} is not shown, because it is not whole: {problem}; publish it again, or fetch it again")


def table_parts(connection: duckdb.DuckDBPyConnection, alias: str | None, version: int, run: str) -> dict[str, Part]:
    """What a seal says of every table of one run in a DuckDB file, in the order in which its rows lie there; ``alias``:
    of the attached file; None: the file that was connected to."""
    parts = {}
    for table, schema in schemas_of(version).items():
        source = table if alias is None else f"{alias}.main.{table}"
        sql = f"select {column_list(schema)} from {source} where run = {quoted(run)}"
        parts[table] = Part(*content_digest(connection.sql(sql).to_arrow_reader(BATCH_ROWS), schema))
    return parts


def shard_problems(run: Run) -> dict[str, str]:
    """What is wrong with shards of a run folder, by their path below it; each is read and, where sealed, hashed."""
    parts = (run.seal.files if run.seal is not None else None) or {}
    found = {}
    for name, path in shard_files(run.path, run.schema_version).items():
        sha256 = parts[name].sha256 if name in parts else None
        problem = shard_problem(path, name.partition("/")[0], run.id, version=run.schema_version, sha256=sha256)
        if problem is not None:
            found[name] = problem
    return found


def not_whole(run: Run, problem: str) -> NotWhole:
    """The refusal of a run folder, with what is wrong with it."""
    return NotWhole(f"run {run.id} is not shown, because it is not whole: {problem}")


def _unlike_seal(run: Run, files: Mapping[str, Path], seal: Seal) -> str | None:
    if seal.files is None:
        return f"its {run.path / 'manifest.json'} is that of a published file; put the folder's own back from a copy"
    if lost := sorted(seal.files.keys() - files.keys()):
        return f"{run.path / lost[0]} is missing; {_remedy(run)}"
    if foreign := sorted(files.keys() - seal.files.keys()):
        return f"{files[foreign[0]]} is none of its files; move it out of the folder"
    for name, part in seal.files.items():
        path = files[name]
        try:
            same = (path.stat().st_size, pq.read_metadata(path).num_rows) == (part.bytes, part.rows)
        except UNREADABLE:
            same = False
        if not same:
            found = read_again(path, name.partition("/")[0], run.id, version=run.schema_version)
            return found or f"{path} is another file than the run was closed with; {_remedy(run)}"
    return None


def _unlike_counts(run: Run, files: Mapping[str, Path]) -> str | None:
    """Rows of a run without a seal against the counts of its manifest, as far as it has them."""
    rows: dict[str, int] = {}
    for name, path in files.items():
        table = name.partition("/")[0]
        try:
            rows[table] = rows.get(table, 0) + pq.read_metadata(path).num_rows
        except UNREADABLE:
            return read_again(path, table, run.id, version=run.schema_version)
    return _counted(run, rows, f"{_remedy(run)}, or move out what is not its own")


def _counted(run: Run, rows: Mapping[str, int], remedy: str) -> str | None:
    for table, expected in counted_rows(run).items():
        if (found := rows.get(table, 0)) != expected:
            more = "a file is doubled or foreign" if found > expected else "a file is missing or cut"
            return f"{run.path / table} holds {found} rows and its manifest counts {expected}, so {more}; {remedy}"
    return None


def counted_rows(run: Run) -> dict[str, int]:
    """Rows that the manifest of a complete run counts, by table; empty where it counts none."""
    counts = run.manifest["counts"]
    left_out = [counts.get("items_rejected"), counts.get("variants_rejected")]
    told = {
        "scores": counts.get("rows"),
        "items": counts.get("items_kept"),
        "rejections": sum(left_out) if all(isinstance(each, int) for each in left_out) else None,
    }
    return {table: number for table, number in told.items() if isinstance(number, int)}


def _table_problem(
    connection: duckdb.DuckDBPyConnection, alias: str, version: int, runs: tuple[Run, ...], *, full: bool
) -> str | None:
    count = f"select run, count(*) from {alias}.main.{{}} group by run"
    found = {table: dict(connection.execute(count.format(table)).fetchall()) for table in schemas_of(version)}
    known = {run.id for run in runs}
    for table, rows in found.items():
        for name in sorted(set(rows) - known, key=str):
            return f"its table {table} has rows of run {name!r}, which it does not list"
    for run in runs:
        rows = {table: each.get(run.id, 0) for table, each in found.items()}
        seal = run.seal
        if seal is None or seal.tables is None:
            if run.status == COMPLETE and (problem := _counted(run, rows, "some are doubled or lost")):
                return problem
            continue
        for table, part in seal.tables.items():
            if (there := rows.get(table, 0)) != part.rows:
                return f"its table {table} has {there} rows of run {run.id} and was closed with {part.rows}"
        parts = table_parts(connection, alias, version, run.id) if full else seal.tables
        if other := next((table for table, part in seal.tables.items() if parts.get(table) != part), None):
            return f"its table {other} has other rows of run {run.id} than it was closed with"
    return None


def _remedy(run: Run) -> str:
    return f"put it back from a copy, or start run {run.id} again, which makes only what is missing"


_NUMPY = {pa.float64(): "<f8", pa.int32(): "<i4"}
"""Column type -> how its values are hashed; texts and truth values have their own way."""


def content_digest(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> tuple[int, str]:
    """Count the rows and hash their values, column by column.

    Of each column three streams are hashed: which values are null (a byte each), the values (little-endian; a null as
    0 or an empty text) and the lengths of texts in UTF-8 bytes. The digest is that of the columns' names and streams.

    Args:
        batches: rows, cut anywhere: where they are cut changes nothing.
        schema: their columns, of strings, float64, int32 and bool.

    Returns:
        Rows, and the digest in hexadecimal.
    """
    rows = 0
    streams = {name: (hashlib.sha256(), hashlib.sha256(), hashlib.sha256()) for name in schema.names}
    for batch in batches:
        rows += batch.num_rows
        for field in schema:
            nulls, values, lengths = streams[field.name]
            column = batch.column(field.name).cast(field.type)
            nulls.update(np.asarray(column.is_null()).astype(np.uint8).tobytes())
            if field.type == pa.string():
                data, sizes = _texts(column)
                values.update(data)
                lengths.update(sizes)
            else:
                values.update(_values(column, field.type))
    whole = hashlib.sha256()
    for name, each in streams.items():
        whole.update(name.encode() + b"\0" + b"".join(stream.digest() for stream in each))
    return rows, whole.hexdigest()


def _values(column: pa.Array, kind: pa.DataType) -> bytes:
    if kind == pa.bool_():
        return bytes(np.asarray(pc.fill_null(column, False)).astype(np.uint8).tobytes())
    return bytes(np.asarray(pc.fill_null(column, pa.scalar(0, kind))).astype(_NUMPY[kind]).tobytes())


def _texts(column: pa.Array) -> tuple[bytes, bytes]:
    """The texts one after the other, and their lengths."""
    filled = pc.fill_null(column, "")
    offsets = np.frombuffer(filled.buffers()[1], np.int32)[filled.offset : filled.offset + len(filled) + 1]
    data = filled.buffers()[2]
    held = b"" if data is None or not len(filled) else memoryview(data)[offsets[0] : offsets[-1]].tobytes()
    return held, np.diff(offsets).astype("<i4").tobytes()


_TYPES = (duckdb.IOException, duckdb.FatalException, duckdb.InternalException, duckdb.SerializationException)
_WORDS = ("Corrupt", "Failed to read file")  # DuckDB has no type of its own for a block whose checksum is wrong


def is_damage(error: duckdb.Error) -> bool:
    """Whether an error is of a file and not of the question."""
    return isinstance(error, _TYPES) or any(word in str(error) for word in _WORDS)


def damaged(files: Iterable[Path]) -> list[Path]:
    """DuckDB files that cannot be read to their end, tried in their own connection."""
    return [path for path in files if why_unreadable(path) is not None]


def why_unreadable(path: Path) -> str | None:
    """Read every block of a DuckDB file; the first line of the error, or None."""
    try:
        with duckdb.connect(":memory:") as connection:
            connection.execute(f"attach {quoted(str(path))} as file (read_only)")
            tables = "select table_name from duckdb_tables() where database_name = 'file' and schema_name = 'main'"
            for (name,) in connection.execute(tables).fetchall():
                connection.execute(f'select max(hash(t)) from file.main."{name}" t').fetchall()
    except duckdb.Error as error:
        return first_line(error)
    return None


def source_problem(runs: Iterable[Run]) -> str | None:
    """The first of some runs' own files that is not whole any more, as a sentence; None where all are."""
    for run in runs:
        if not run.path.is_dir():
            if why := why_unreadable(run.path):
                return f"{run.path} is damaged ({why}); publish it again, or fetch it again"
            continue
        try:
            check_files(run)
        except NotWhole as error:
            return str(error)
        for name, path in shard_files(run.path, run.schema_version).items():
            if problem := read_again(path, name.partition("/")[0], run.id, version=run.schema_version):
                return problem
    return None


WHOLE, UNVERIFIED, UNFINISHED, DAMAGED = "whole", "unverified", "unfinished", "damaged"
"""States: as it was sealed; readable and of its counts, without a seal; not closed yet; anything else."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found of one run."""

    run: str  # its id; the file's name where no run of it can be read
    path: Path  # run folder or published file
    state: str  # WHOLE, UNVERIFIED, UNFINISHED or DAMAGED
    sealed: str | None = None  # when its seal was made, in UTC; None without one
    by: str | None = None  # who made the seal, of :data:`core.store.run_files.BY`
    files: int = 0  # that were read
    problems: tuple[str, ...] = ()  # a sentence each

    def as_dict(self) -> dict[str, Any]:
        """Plain dictionary, for JSON."""
        return {**asdict(self), "path": str(self.path), "problems": list(self.problems)}


def verify(path: Path) -> tuple[Verdict, ...]:
    """Read every file of a run folder, a published file, or every one of both in a folder. Raises InvalidInput if
    nothing there is a run."""
    if path.is_file():
        return tuple(_published(path))
    folders = run_folders(path)
    found = [_folder(folder) for folder in folders]
    if path not in folders:
        for file in sorted(path.glob("*.duckdb")) if path.is_dir() else ():
            found += _published(file)
        for half in half_runs(path) if path.is_dir() else ():
            found.append(Verdict(half.name, half, DAMAGED, problems=(f"{half} holds scores and no {MANIFEST}",)))
    if not found:
        raise InvalidInput(f"there is no run at {path}; name a run folder, a .duckdb file, or a folder of them")
    return tuple(found)


def seal_later(folder: Path) -> Run:
    """Seal a complete run that has no seal: from now on a change is seen; nothing is said of the time before.

    Raises:
        InvalidInput: if it is sealed, unfinished, or no run folder.
        StoreError: if it is not whole, or its manifest cannot be written.
    """
    verdict = verify(folder)[0] if (folder / MANIFEST).is_file() else None
    if verdict is None:
        raise InvalidInput(f"{folder} is no run folder; a published file is sealed by publishing it again")
    if verdict.problems:
        raise StoreError(verdict.problems[0])
    if verdict.state != UNVERIFIED:
        why = f"was sealed on {verdict.sealed}" if verdict.state == WHOLE else "is not complete; start it again first"
        raise InvalidInput(f"run {verdict.run} {why}: only a complete run without a seal is sealed")
    run = read_run(folder)
    files = sealed_files(folder, run.schema_version)
    write_json(folder / MANIFEST, with_seal(run.manifest, by=LATER, files=files))
    return read_run(folder)


def _folder(folder: Path) -> Verdict:
    try:
        run = read_run(folder)
    except StoreError as error:
        return Verdict(folder.name, folder, DAMAGED, problems=(str(error),))
    problems = _file_problems(run)
    if not problems and (why := why_not_whole(run)):
        problems.append(why)
    return _verdict(run, len(shard_files(folder, run.schema_version)) + 1, problems)


def _file_problems(run: Run) -> list[str]:
    parts = (run.seal.files if run.seal is not None else None) or {}
    there = shard_files(run.path, run.schema_version)
    found = [f"{run.path / name} is missing; put it back from a copy" for name in parts if name not in there]
    for name, path in there.items():
        if parts and name not in parts:
            found.append(f"{path} is none of its files; move it out of the folder")
            continue
        sha256 = parts[name].sha256 if name in parts else None
        problem = read_again(path, name.partition("/")[0], run.id, version=run.schema_version, sha256=sha256)
        found += [] if problem is None else [problem]
    return found


def _published(path: Path) -> Iterator[Verdict]:
    if why := why_unreadable(path):
        yield Verdict(path.name, path, DAMAGED, files=1, problems=(f"{path} is damaged ({why}); publish it again",))
        return
    with duckdb.connect(":memory:") as connection:
        try:
            version, runs = attach(connection, path, "file")
            check_tables(connection, "file", path, version, runs, full=True)
        except StoreError as error:
            yield Verdict(path.name, path, DAMAGED, files=1, problems=(str(error),))
            return
    for run in runs:
        yield _verdict(run, 1, [])


def _verdict(run: Run, files: int, problems: list[str]) -> Verdict:
    state = DAMAGED if problems else UNFINISHED if run.status != COMPLETE else WHOLE if run.verified else UNVERIFIED
    sealed, by = (None, None) if run.seal is None else (run.seal.sealed, run.seal.by)
    return Verdict(run.id, run.path, state, sealed, by, files, tuple(problems))
