"""One read-only ``.duckdb`` file of any runs, for handing around.

Published files that a stranger hands over: checked as hostile, then kept under a name of our own.
"""

import errno
import hashlib
import json
import os
import re
import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pyarrow as pa

from core import settings
from core.errors import InvalidInput, StoreError, first_line
from core.store.run_files import COMPLETE, PUBLISH, Run, with_seal
from core.store.schema import SCHEMA_VERSION, SCHEMAS, schemas_of
from core.store.sorted_copies import limit
from core.store.sql import empty_select, quoted
from core.store.store import Store
from core.store.whole import NotWhole, attach, check_tables, table_parts
from core.writing import write_whole

PART_ROWS = 1_000_000  # Rows that are sorted at once, about


def publish(runs: Iterable[Path | str], output: Path, *, overwrite: bool = False) -> Path:
    """Write complete run folders, or published files, into one file that :meth:`Store.open` reads; return its path.
    Tables: ``scores``, ``items``, ``rejections``, ``variants``, ``runs`` (run, manifest as JSON text) and ``about``
    (schema_version): of today's version, whatever the runs were written with. Each run's manifest is sealed anew with
    the SHA-256 of the run's rows in each table.
    ``output``: its name ends in ``.duckdb``.
    Raises InvalidInput for no runs, an unfinished run, another suffix, or a file that exists; StoreError if a run
    cannot be read whole, or the file cannot be written."""
    output = Path(output)
    if output.suffix != ".duckdb":
        raise InvalidInput(f"a published file ends in .duckdb, got {output.name!r}")
    if "?" in str(output):
        raise InvalidInput(f"{output}: a published file cannot be written below a folder with ? in its name")
    if output.exists() and not overwrite:
        raise InvalidInput(f"{output} exists; choose another name, or say that it may be replaced")
    with Store.open(runs) as store:
        if store.left_out:
            raise StoreError(store.left_out[0])
        if not store.runs():
            raise InvalidInput("there is no run to publish; name at least one run folder")
        unfinished = [run.id for run in store.runs() if run.status != COMPLETE]
        if unfinished:
            raise InvalidInput(f"run {unfinished[0]} is not complete; start it again and it goes on, then publish it")
        write_whole(output, lambda temporary: _write(store, temporary))
    return output


def _write(store: Store, path: Path) -> None:
    """Fill a file, tables first; then seal what can be read of them, and look at the whole as a reader would."""
    try:
        with _file(path) as file, TemporaryDirectory(dir=path.parent, prefix=".publish-") as spilled:
            limit(file, Path(spilled))  # a sort of more than that goes by way of the disk
            for table, schema in SCHEMAS.items():
                file.execute(f"create table {table} as {empty_select(schema)}")
                for condition, params in _parts(store, table):
                    file.register("source", store.batches(f"select * from {table} where {condition}", params))
                    file.execute(f"insert into {table} select * from source order by all")
                    file.unregister("source")
        with duckdb.connect(str(path), read_only=True) as file:
            parts = {run.id: table_parts(file, None, SCHEMA_VERSION, run.id) for run in store.runs()}
        with _file(path) as file:
            file.execute("create table runs (run varchar, manifest varchar)")
            for run in store.runs():
                manifest = with_seal(run.manifest, by=PUBLISH, tables=parts[run.id])
                file.execute("insert into runs values (?, ?)", [run.id, json.dumps(manifest)])
            file.execute(f"create table about as select {SCHEMA_VERSION} as schema_version")
        with duckdb.connect() as reader:
            version, runs = attach(reader, path, "made")
            check_tables(reader, "made", path, version, runs, full=False)  # their content was hashed above
        path.chmod(0o444)
    except duckdb.Error as error:
        full = os.strerror(errno.ENOSPC) in str(error)
        raise OSError(errno.ENOSPC if full else None, first_line(error)) from error


@contextmanager
def _file(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A file to write into that holds everything once it is closed. DuckDB writes what is committed into a log beside
    it, and from there into the file when that is closed; where the disk has no room it says nothing and leaves the log.
    Asked before, it says so."""
    with duckdb.connect(str(path)) as file:
        yield file
        file.execute("checkpoint")
    if logs := [each.name for each in path.parent.iterdir() if each != path]:
        raise OSError(errno.ENOSPC, f"{logs[0]} was not taken into the file")


def _parts(store: Store, table: str) -> Iterator[tuple[str, list[Any]]]:
    """Conditions that cut a table into parts of about PART_ROWS rows, in the order of its rows sorted by all columns.
    The first columns of every table are run, corpus and item: a part is a range of one run's items, which lie together
    in the shards, too. One part sorted after the other is the whole table sorted, and no sort has to hold all of it."""
    counted = store.batches(f"select run, corpus, item, count(*) as n from {table} group by all order by all")
    sizes = (each for batch in counted for each in batch.to_pylist())
    for (run, corpus), own in groupby(sizes, key=lambda each: (each["run"], each["corpus"])):
        starts: list[str | None] = [None]
        rows = 0
        for each in own:
            if rows >= PART_ROWS and each["item"] is not None:
                starts.append(each["item"])
                rows = 0
            rows += each["n"]
        for start, end in zip(starts, [*starts[1:], None], strict=True):
            bounds: list[str] = ([] if start is None else ["item >= ?"]) + ([] if end is None else ["item < ?"])
            last = " or item is null" if end is None and start is not None else ""
            within = f" and ({' and '.join(bounds)}{last})" if bounds else ""
            values = [each for each in (start, end) if each is not None]
            yield f"run is not distinct from ? and corpus is not distinct from ?{within}", [run, corpus, *values]


MOST_BYTES = 512 * 2**20  # Largest file that is taken in
MOST_ROWS = 50_000_000  # Most rows of one table; a small file can hold any number of equal rows
MOST_TEXT = 10_000  # Most bytes of one text in a table
MOST_MANIFEST = 4 * 2**20  # Most characters of a run's manifest

_MAGIC = b"DUCK"
_MAGIC_AT = 8
_A_PATH = r"\.py:|\.(py|json)$|@.*[/\\]"
_NAME = re.compile(r"[^A-Za-z0-9_-]+")


def accept_published(
    data: bytes | Path, name: str, *, known: Collection[str] = (), folder: Path | None = None
) -> tuple[Run, ...]:
    """Check a published file and keep it with the user's runs; return its runs, with the path of the kept file. It is
    opened read-only in its own connection that may read no other file, and must hold exactly what ``python -m core
    publish`` writes: the known tables, as tables, of the known columns; no views, macros or generated columns;
    manifests that are whole, of a version that is read here.
    ``data``: the file's bytes, or where it lies.
    ``name``: that it was handed over under; only told back, and trimmed to letters for the file's own.
    ``known``: runs that are here already; a file that holds no other is refused.
    ``folder``: where it is kept; None: the folder of the user's runs. A file of the same content is kept once.
    Raises InvalidInput if the file is refused, saying why; StoreError if it cannot be written."""
    folder = settings.runs_dir() if folder is None else folder
    told = repr(Path(name).name[:80])
    _check_size(data, told)
    with TemporaryDirectory(prefix="invariscope-") as aside:
        file = Path(aside) / "incoming.duckdb"
        if isinstance(data, Path):
            shutil.copyfile(data, file)
        else:
            file.write_bytes(data)
        try:
            runs = _checked(file, told)
        except duckdb.Error as error:
            raise InvalidInput(f"{told} is damaged ({first_line(error)}); publish it again") from error
        if all(run.id in known for run in runs):
            raise InvalidInput(f"{told} holds only what is here already: run {', '.join(run.id for run in runs)}")
        with file.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()[:12]
        safe = _NAME.sub("-", Path(name).stem).strip("-_")[:60] or "published"
        kept = folder / f"{safe}-{digest}.duckdb"
        if not kept.exists():
            write_whole(kept, lambda temporary: shutil.copyfile(file, temporary))
            kept.chmod(0o444)
    return tuple(Run(kept, run.manifest) for run in runs)


def _check_size(data: bytes | Path, told: str) -> None:
    try:
        size = data.stat().st_size if isinstance(data, Path) else len(data)
        with data.open("rb") if isinstance(data, Path) else BytesIO(data) as content:
            start = content.read(_MAGIC_AT + len(_MAGIC))
    except OSError as error:
        raise InvalidInput(f"{told} cannot be read: {error.strerror or error}; check its path") from error
    if size > MOST_BYTES:
        most = f"at most {MOST_BYTES // 2**20} are taken in here"
        raise InvalidInput(f"{told} has {size / 2**20:.0f} MiB and {most}; put it into {settings.runs_dir()} yourself")
    if start[_MAGIC_AT:] != _MAGIC:
        raise InvalidInput(f"{told} is no DuckDB file; upload what 'python -m core publish' wrote")


def _checked(file: Path, told: str) -> tuple[Run, ...]:
    """Runs of the file, once everything in it is known to be harmless."""
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"set allowed_paths = ['{file}', '{file}.wal']")
        connection.execute("set enable_external_access = false")
        connection.execute("set memory_limit = '1GB'")
        connection.execute("set max_temp_directory_size = '0B'")
        try:
            version, runs = attach(connection, file, "incoming")
        except StoreError as error:
            raise InvalidInput(str(error).replace(str(file), told)) from error
        connection.execute("set lock_configuration = true")
        schemas = schemas_of(version)
        others = connection.execute(
            """select 'the view ' || view_name from duckdb_views() where database_name = 'incoming' and not internal
               union all select 'the table ' || schema_name || '.' || table_name from duckdb_tables()
                   where database_name = 'incoming'
                   and (schema_name <> 'main' or not list_contains($tables, table_name))
               union all select 'the function ' || function_name from duckdb_functions()
                   where database_name = 'incoming' and not internal
               union all select 'the type ' || type_name from duckdb_types()
                   where database_name = 'incoming' and not internal
               union all select 'a generated column in ' || table_name from duckdb_tables()
                   where database_name = 'incoming' and sql ilike '%generated always%'
               limit 1""",
            {"tables": sorted({*schemas, "runs", "about"})},
        ).fetchall()
        if others:
            what = repr(str(others[0][0])[:80])
            raise InvalidInput(f"{told} holds {what}, which no published file does; publish it again")
        for table, schema in schemas.items():
            _check_values(connection, table, schema, told)
        # an audit stores the name of a metric, never where its file lies
        sql = f"select evaluator from incoming.scores where regexp_matches(evaluator, {quoted(_A_PATH)}) limit 1"
        if found := connection.execute(sql).fetchall():
            path = f"{str(found[0][0])[:80]!r}, which is a path and no evaluator's name"
            raise InvalidInput(f"{told} has scores of {path}; publish it again")
        _check_runs(connection, runs, schemas, told)
        try:
            check_tables(connection, "incoming", Path(told), version, runs, full=True)
        except NotWhole as error:
            raise InvalidInput(str(error)) from error
    return runs


def _check_values(connection: duckdb.DuckDBPyConnection, table: str, schema: pa.Schema, told: str) -> None:
    """Read every block of a table, so that a damaged one is met here, and bound what is in it."""
    rows = connection.execute(f"select count(*) from incoming.{table}").fetchall()[0][0]
    if rows > MOST_ROWS:
        raise InvalidInput(f"{told} has {rows} rows in {table} and at most {MOST_ROWS} are taken in; split it")
    kinds = {pa.string(): f"max(strlen({{}})) > {MOST_TEXT}", pa.float64(): "bool_or(isinf({}) or isnan({}))"}
    asked = [kinds.get(field.type, "min({}) is distinct from min({})") for field in schema]
    names = schema.names
    columns = ", ".join(text.format(name, name) for text, name in zip(asked, names, strict=True))
    found = connection.execute(f"select {columns} from incoming.{table}").fetchall()[0]
    if wrong := [name for name, bad in zip(names, found, strict=True) if bad]:
        strange = f"that no audit writes (infinite, or a text of more than {MOST_TEXT} bytes)"
        raise InvalidInput(f"{told} has a value in {table}.{wrong[0]} {strange}; publish it again")


def _check_runs(
    connection: duckdb.DuckDBPyConnection, runs: tuple[Run, ...], tables: Collection[str], told: str
) -> None:
    if not runs:
        raise InvalidInput(f"{told} holds no run; publish at least one")
    for run in runs:
        if len(json.dumps(dict(run.manifest))) > MOST_MANIFEST:
            raise InvalidInput(f"{told} has a manifest of more than {MOST_MANIFEST // 2**20} MiB; publish it again")
    for table in tables:
        sql = f"select run from incoming.{table} where run is null or not list_contains($known, run) limit 1"
        if strangers := connection.execute(sql, {"known": [run.id for run in runs]}).fetchall():
            named = f"rows in {table} of run {str(strangers[0][0])[:80]!r}"
            raise InvalidInput(f"{told} has {named}, which it does not list; publish it again")
