"""What turns out damaged while a store is open: which file it is, and whether it was only a copy."""

from collections.abc import Iterable
from pathlib import Path

import duckdb

from core.store.manifest import Run
from core.store.run_files import read_again
from core.store.sql import first_line, quoted
from core.store.whole import NotWhole, check_files, shard_files

_TYPES = (duckdb.IOException, duckdb.FatalException, duckdb.InternalException, duckdb.SerializationException)
_WORDS = ("Corrupt", "Failed to read file")
"""DuckDB has no type of its own for a block whose checksum is wrong."""


def is_damage(error: duckdb.Error) -> bool:
    """Whether an error is of a file and not of the question."""
    return isinstance(error, _TYPES) or any(word in str(error) for word in _WORDS)


def damaged(files: Iterable[Path]) -> list[Path]:
    """DuckDB files that cannot be read to their end, tried in a connection of their own."""
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
