"""Copies of runs that answer at once: checked, sorted, with their shifts worked out.

A copy is a DuckDB file in its own folder, named after the state of the files that it was made of: it is never
stale, only unused, and may be deleted at any time. Every run, so every corpus, has its own copy, in which each
evaluator's rows lie together in their order. Sorted columns compress to a fraction and are skipped over in blocks, so a
filter over millions of rows takes milliseconds and the rows stay on disk. A score and its shift are one row; what the
store's views make of rows is in :mod:`core.store.sql`.
"""

import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import duckdb

from core.errors import StoreError, first_line
from core.store import sql
from core.store.run_files import COMPLETE, Run, Signature
from core.store.schema import SCHEMA_VERSION, SCHEMAS
from core.store.whole import check_files, counted_rows, not_whole, shard_files, shard_problems
from core.writing import write_whole

KEPT_BYTES = 8_000_000_000
"""Most bytes of copies; beyond, those not opened for the longest time are removed, none that is open now."""

MEMORY, READING = "1GB", "512MB"
"""What DuckDB may hold in memory while it writes, and while it answers; beyond, it works in files below the folder of
copies."""

_FORMAT = 4
_ORDER = "family, probe, corpus, item, subject, language, rank"

Sources = dict[str, str]  # Stored table -> SELECT that gives its rows


def copy_path(folder: Path, files: Signature) -> Path:
    """Where the copy of these files lies, made or not."""
    columns = {table: schema.names for table, schema in SCHEMAS.items()}
    told = json.dumps([_FORMAT, SCHEMA_VERSION, columns, duckdb.__version__, files])
    return folder / f"{hashlib.sha256(told.encode()).hexdigest()[:24]}.duckdb"


def limit(connection: duckdb.DuckDBPyConnection, folder: Path, *, reading: bool = False) -> None:
    """Hold a connection to MEMORY, or to READING, with its temporary files below the folder of copies."""
    connection.execute(f"set memory_limit = {sql.quoted(READING if reading else MEMORY)}")
    connection.execute(f"set temp_directory = {sql.quoted(str(folder / 'temporary'))}")


def copy_run(folder: Path, run: Run, path: Path) -> None:
    """Make the copy of a run folder; of a run that counts no rows, damaged shards are left out and named in it.
    ``path``: from :func:`copy_path`.
    Raises NotWhole if the run is not whole; StoreError if the copy cannot be written."""
    problems: list[str] = []
    whole = whole_shards(run, problems)

    def fill(_: duckdb.DuckDBPyConnection) -> Sources:
        return {table: parquet_select(table, files, version=run.schema_version) for table, files in whole.items()}

    _make(folder, path, fill, problems)


def copy_published(folder: Path, file: Path, path: Path, *, version: int) -> None:
    """Make the copy of a published file that was checked already; ``path``: from :func:`copy_path`.
    Raises StoreError if it cannot be written, or the file went away."""

    def fill(connection: duckdb.DuckDBPyConnection) -> Sources:
        connection.execute(f"attach {sql.quoted(str(file))} as source (read_only)")
        return {table: sql.table_select(table, f"source.main.{table}", version=version) for table in SCHEMAS}

    _make(folder, path, fill, ())


def attach_copy(connection: duckdb.DuckDBPyConnection, path: Path, alias: str) -> tuple[str, ...] | None:
    """Attach a copy and return the problems that it names; None where it is not there or is damaged."""
    if not path.is_file():
        return None
    try:
        connection.execute(f"attach {sql.quoted(str(path))} as {alias} (read_only)")
        named = connection.execute(f"select text from {alias}.problems order by rowid").fetchall()
        with suppress(OSError):  # a folder that may not be written to: its copies only look unused
            os.utime(path)
        return tuple(text for (text,) in named)
    except duckdb.Error:
        with suppress(duckdb.Error):  # it may not be attached
            connection.execute(f"detach {alias}")
        return None


def whole_shards(run: Run, problems: list[str]) -> dict[str, list[Path]]:
    """Shards of a run's tables that are whole, every table with its list. Of a run that is not complete, or that counts
    no rows, each other shard is left out and named in ``problems``. Raises NotWhole if a complete run is not whole."""
    if run.status == COMPLETE:
        check_files(run)
    found: dict[str, list[Path]] = {table: [] for table in SCHEMAS}
    told = shard_problems(run)
    for name, path in shard_files(run.path, run.schema_version).items():
        if name not in told:
            found[name.partition("/")[0]].append(path.absolute())
    if told and run.status == COMPLETE and (run.seal is not None or counted_rows(run)):
        raise not_whole(run, next(iter(told.values())))
    problems += told.values()
    return found


def parquet_select(table: str, files: Iterable[Path], *, version: int) -> str:
    """SELECT of a stored table's rows from its shards, which have the columns of a version."""
    listed = ", ".join(sql.quoted(sql.no_glob(file)) for file in files)
    if not listed:
        return sql.empty_select(SCHEMAS[table])
    return sql.table_select(table, f"read_parquet([{listed}], hive_partitioning = false)", version=version)


def _make(
    folder: Path, path: Path, fill: Callable[[duckdb.DuckDBPyConnection], Sources], problems: Sequence[str]
) -> None:
    if "?" in str(path):  # DuckDB takes what follows for options
        raise StoreError(f"{path}: no copy can be written below a folder with ? in its name")

    def write(temporary: Path) -> None:
        try:
            with duckdb.connect(str(temporary)) as connection:
                limit(connection, folder)
                for table, select in fill(connection).items():
                    if table == "scores":
                        _write_scored(connection, select, path)
                    else:
                        connection.execute(f"create table {table} as {select}")
                connection.execute("create table problems (text varchar)")
                connection.executemany("insert into problems values (?)", [[text] for text in problems] or [[None]])
                connection.execute("delete from problems where text is null")
        except duckdb.Error as error:
            Path(f"{temporary}.wal").unlink(missing_ok=True)
            raise OSError(None, first_line(error)) from error

    write_whole(path, write)


def _write_scored(connection: duckdb.DuckDBPyConnection, scores: str, path: Path) -> None:
    """Write the table ``scored`` evaluator by evaluator, so that no more is sorted at once, and what it adds up to.
    Raises StoreError if one pair was scored twice by one evaluator: a score would not be one row."""
    connection.execute(f"create temp table bases as {sql.bases_of(f'({scores})')}")
    keys, known = (word.join(sql.KEY) for word in (", ", " is not null and "))
    twice = f"select 1 from bases where {known} is not null group by {keys}, probe having count(*) > 1 limit 1"
    if connection.execute(twice).fetchall():
        raise StoreError(f"{path}: no copy of a run that scored one pair twice")
    connection.execute(f"create table scored as {sql.scored_of(f'({scores})', 'bases')} limit 0")
    for (name,) in connection.execute(f"select distinct evaluator from ({scores}) order by 1").fetchall():
        own = "evaluator is null" if name is None else f"evaluator = {sql.quoted(name)}"
        rows = sql.scored_of(f"(select * from ({scores}) where {own})", f"(select * from bases where {own})")
        connection.execute(f"insert into scored {rows} order by {_ORDER}")
    connection.execute("drop table bases")
    connection.execute(f"create table groups as {sql.groups_of('scored')}")
    connection.execute(f"create table held as {sql.held_of('scored')}")


def remove_unused(folder: Path, used: Collection[Path]) -> None:
    """Remove the copies that were not opened for the longest time, down to KEPT_BYTES; ``used``: copies that stay,
    however large: without them the next opening would have to make them again."""
    known = []
    for file in folder.glob("*.duckdb"):
        with suppress(OSError):
            known.append((file in used, file.stat().st_mtime_ns, file.stat().st_size, file))
    total = 0
    for in_use, _, size, file in sorted(known, reverse=True):
        total += size
        if total > KEPT_BYTES and not in_use:
            file.unlink(missing_ok=True)
