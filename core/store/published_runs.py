"""Published files as they are read: attached, checked before anything of them is believed."""

import json
from pathlib import Path

import duckdb
import pyarrow as pa

from core.errors import StoreError
from core.store.run_files import Run, check_manifest
from core.store.schema import SCHEMA_VERSION, schemas_of
from core.store.sql import SQL_TYPES, first_line, quoted

RUNS = pa.schema([("run", pa.string()), ("manifest", pa.string())])  # Columns of a published file's table ``runs``


class HeldElsewhere(StoreError):
    """Another process writes the file; it can be read once that process has closed it."""


def attach(connection: duckdb.DuckDBPyConnection, path: Path, alias: str) -> tuple[int, tuple[Run, ...]]:
    """Attach a published file read-only and return the version of its tables, and its runs.

    Args:
        connection: where; external access must still be on.

    Raises:
        HeldElsewhere: if another process has it open for writing.
        StoreError: if it is no published file of a version that is read here. It is not attached then.
    """
    attach_file(connection, path, alias)
    try:
        return _version(connection, path, alias), _runs(connection, path, alias)
    except (duckdb.Error, ValueError, RecursionError) as error:
        connection.execute(f"detach {alias}")
        what = f"is no published file of Invariscope: {first_line(error)}"
        raise StoreError(f"{path} {what}; publish it again") from error
    except StoreError:
        connection.execute(f"detach {alias}")
        raise


def attach_file(connection: duckdb.DuckDBPyConnection, path: Path, alias: str) -> None:
    """Attach a DuckDB file read-only, whatever it holds.

    Raises:
        HeldElsewhere: if another process has it open for writing.
        StoreError: if it is no DuckDB file, or cannot be read.
    """
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
    named = _named_version(connection, alias)
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


def _runs(connection: duckdb.DuckDBPyConnection, path: Path, alias: str) -> tuple[Run, ...]:
    listed = connection.execute(f"select run, manifest from {alias}.runs order by run").fetchall()
    runs = tuple(Run(path, check_manifest(json.loads(manifest), path)) for _, manifest in listed)
    if [run.id for run in runs] != [name for name, _ in listed]:
        raise StoreError(f"{path} names runs that are not those of its manifests; publish it again")
    return runs


def _named_version(connection: duckdb.DuckDBPyConnection, alias: str) -> int | None:
    """Schema version that the file names; None where it names none (the columns then decide)."""
    sql = (
        "select count(*) from duckdb_tables() where database_name = ? and schema_name = 'main' and table_name = 'about'"
    )
    if not connection.execute(sql, [alias]).fetchall()[0][0]:
        return None
    found = connection.execute(f"select schema_version from {alias}.about").fetchall()
    return found[0][0] if len(found) == 1 and isinstance(found[0][0], int) else None
