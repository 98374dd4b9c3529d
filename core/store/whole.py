"""Whether a complete run is whole: its files and rows against its seal, or against the counts of an older manifest.

A table's digest is the same for the same values in the same order, whatever file holds them. What turns out damaged
while a store is open is looked for here, too: which file it is, and whether it was only a copy. :func:`verify` reads
every byte of runs and published files. Published files are attached here, checked before anything of them is believed.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from core.errors import InvalidInput, StoreError, first_line
from core.file_contents import file_sha256
from core.store.run_files import (
    COMPLETE,
    LATER,
    MANIFEST,
    UNREADABLE,
    Part,
    Run,
    Seal,
    check_manifest,
    half_runs,
    read_again,
    read_run,
    run_folders,
    shard_problem,
    with_seal,
)
from core.store.schema import SCHEMA_VERSION, schemas_of
from core.store.sql import SQL_TYPES, column_list, quoted
from core.store.text_files import write_json

BATCH_ROWS = 65_536  # Rows of a batch where more are asked for than should be held


class NotWhole(StoreError):
    """A complete run with a file or rows that are missing, changed, doubled or of another run."""


RUNS = pa.schema([("run", pa.string()), ("manifest", pa.string())])  # Columns of a published file's table ``runs``


class HeldElsewhere(StoreError):
    """Another process writes the file; it can be read once that process has closed it."""


def attach(connection: duckdb.DuckDBPyConnection, path: Path, alias: str) -> tuple[int, tuple[Run, ...]]:
    """Attach a published file read-only and return the version of its tables, and its runs.
    ``connection``: where; external access must still be on.
    Raises HeldElsewhere if another process has it open for writing; StoreError if it is no published file of a version
    that is read here. It is not attached then."""
    attach_file(connection, path, alias)
    try:
        version = _version(connection, path, alias)
        listed = connection.execute(f"select run, manifest from {alias}.runs order by run").fetchall()
        runs = tuple(Run(path, check_manifest(json.loads(manifest), path)) for _, manifest in listed)
        if [run.id for run in runs] != [name for name, _ in listed]:
            raise StoreError(f"{path} names runs that are not those of its manifests; publish it again")
        return version, runs
    except (duckdb.Error, ValueError, RecursionError) as error:
        connection.execute(f"detach {alias}")
        what = f"is no published file of Invariscope: {first_line(error)}"
        raise StoreError(f"{path} {what}; publish it again") from error
    except StoreError:
        connection.execute(f"detach {alias}")
        raise


def attach_file(connection: duckdb.DuckDBPyConnection, path: Path, alias: str) -> None:
    """Attach a DuckDB file read-only, whatever it holds. Raises HeldElsewhere if another process has it open for
    writing; StoreError if it is no DuckDB file, or cannot be read."""
    try:
        connection.execute(f"attach {quoted(str(path))} as {alias} (read_only)")
    except duckdb.Error as error:
        if "lock" in first_line(error).lower():
            held = "is open for writing in another program; close it there, and its runs appear here"
            raise HeldElsewhere(f"{path} {held}") from error
        what = f"cannot be opened as a published file: {first_line(error)}"
        raise StoreError(f"{path} {what}; publish it again") from error


def can_be_opened(path: Path) -> bool:
    """Whether a DuckDB file can be opened now."""
    try:
        with duckdb.connect(":memory:") as connection:
            attach_file(connection, path, "file")
            return True
    except StoreError:
        return False


def _version(connection: duckdb.DuckDBPyConnection, path: Path, alias: str) -> int:
    """Version of the file's tables, once they are known to be tables (a view could read any file) of its columns."""
    named = None  # where the file names none, the columns decide
    about = (
        "select count(*) from duckdb_tables() where database_name = ? and schema_name = 'main' and table_name = 'about'"
    )
    if connection.execute(about, [alias]).fetchall()[0][0]:
        found = connection.execute(f"select schema_version from {alias}.about").fetchall()
        named = found[0][0] if len(found) == 1 and isinstance(found[0][0], int) else None
    if named is not None and named > SCHEMA_VERSION:
        reads = f"this Invariscope reads up to {SCHEMA_VERSION}"
        raise StoreError(f"{path} was published with schema {named} and {reads}; update it")
    tried = range(SCHEMA_VERSION, 0, -1) if named is None else (max(named, 1),)
    strange = [table for version in tried if (table := _strange_table(connection, alias, version)) is not None]
    if len(strange) == len(tried):
        raise StoreError(f"{path} has no table {strange[0]} with the columns of schema {tried[0]}; publish it again")
    return tried[len(strange)]


def _strange_table(connection: duckdb.DuckDBPyConnection, alias: str, version: int) -> str | None:
    """Name of the first table that is missing, is no table or has other columns than a version says; None: none."""
    for table, schema in {**schemas_of(version), "runs": RUNS}.items():
        found = dict(
            connection.execute(
                "select c.column_name, c.data_type from duckdb_columns() c join duckdb_tables() t "
                "using (database_name, schema_name, table_name) "
                "where database_name = ? and schema_name = 'main' and table_name = ?",
                [alias, table],
            ).fetchall()
        )
        if found != {field.name: SQL_TYPES[field.type] for field in schema}:
            return table
    return None


def shard_files(folder: Path, version: int) -> dict[str, Path]:
    """Shards of a run folder that lie there, by their path below it, e.g. ``scores/shard-00000.parquet``."""
    return {
        f"{table}/{path.name}": path
        for table in schemas_of(version)
        for path in sorted((folder / table).glob("*.parquet"))
    }


def sealed_files(folder: Path, version: int) -> dict[str, Part]:
    """What a seal says of every shard of a run folder, every page of it read from the disk.
    Raises StoreError if one cannot be read."""
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
    """Compare the rows of a published file, attached as ``alias``, with the seals or the counts of its runs.
    ``full``: hash the content too, which reads the whole file.
    Raises NotWhole, naming the file, and what to do."""
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
    sealed, files = run.sealed, shard_files(run.path, run.schema_version)
    told = {name: shard_problem(run, name, path, sealed.get(name)) for name, path in files.items()}
    return {name: problem for name, problem in told.items() if problem is not None}


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
            other = f"{path} is another file than the run was closed with; {_remedy(run)}"
            return read_again(run, name, path) or other
    return None


def _unlike_counts(run: Run, files: Mapping[str, Path]) -> str | None:
    """Rows of a run without a seal against the counts of its manifest, as far as it has them."""
    rows: dict[str, int] = {}
    for name, path in files.items():
        table = name.partition("/")[0]
        try:
            rows[table] = rows.get(table, 0) + pq.read_metadata(path).num_rows
        except UNREADABLE:
            return read_again(run, name, path)
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


_NUMPY = {pa.float64(): "<f8", pa.int32(): "<i4", pa.bool_(): "u1"}
"""Column type -> how its values are hashed; texts have their own way."""


def content_digest(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> tuple[int, str]:
    """Count the rows and hash their values, column by column; return both, the digest in hexadecimal. Of each column
    three streams are hashed: which values are null (a byte each), the values (little-endian; a null as 0 or an empty
    text) and the lengths of texts in UTF-8 bytes. The digest is that of the columns' names and streams.
    ``batches``: rows; where they are cut changes nothing. ``schema``: their columns: strings, float64, int32, bool."""
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
                nothing = pa.scalar(False) if field.type == pa.bool_() else pa.scalar(0, field.type)
                values.update(np.asarray(pc.fill_null(column, nothing)).astype(_NUMPY[field.type]).tobytes())
    whole = hashlib.sha256()
    for name, each in streams.items():
        whole.update(name.encode() + b"\0" + b"".join(stream.digest() for stream in each))
    return rows, whole.hexdigest()


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
            if problem := read_again(run, name, path):
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
    """Read every file of a run folder, a published file, or every one of both in a folder.
    Raises InvalidInput if nothing there is a run."""
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
    Raises InvalidInput if it is sealed, unfinished, or no run folder; StoreError if it is not whole, or its manifest
    cannot be written."""
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
    sealed, there = run.sealed, shard_files(folder, run.schema_version)
    problems = [f"{folder / name} is missing; put it back from a copy" for name in sealed if name not in there]
    for name, path in there.items():
        if sealed and name not in sealed:
            problems.append(f"{path} is none of its files; move it out of the folder")
        elif problem := read_again(run, name, path, sealed.get(name)):
            problems.append(problem)
    if not problems and (why := why_not_whole(run)):
        problems.append(why)
    return _verdict(run, len(there) + 1, problems)


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
