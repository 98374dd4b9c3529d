"""One read-only ``.duckdb`` file of any runs, for handing around."""

import errno
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from core.errors import InvalidInput, StoreError
from core.store.manifest import COMPLETE
from core.store.published_runs import attach
from core.store.schema import SCHEMA_VERSION, SCHEMAS
from core.store.seal import PUBLISH, Part, with_seal
from core.store.sorted_copies import limit
from core.store.sql import empty_select
from core.store.store import Store
from core.store.whole import check_tables, table_parts
from core.writing import write_whole

PART_ROWS = 1_000_000
"""Rows that are sorted at once, about."""


def publish(runs: Iterable[Path | str], output: Path, *, overwrite: bool = False) -> Path:
    """Write runs into one file that :meth:`Store.open` reads.

    Tables: ``scores``, ``items``, ``rejections``, ``variants``, ``runs`` (run, manifest as JSON text) and ``about``
    (schema_version): of today's version, whatever the runs were written with. Each run's manifest is sealed anew with
    the SHA-256 of the run's rows in each table.

    Args:
        runs: complete run folders, or published files.
        output: the file; its name ends in ``.duckdb``.
        overwrite: replace an existing file.

    Returns:
        The path of the file.

    Raises:
        InvalidInput: for no runs, an unfinished run, another suffix, or a file that exists.
        StoreError: if a run cannot be read whole, or the file cannot be written.
    """
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
        _write_tables(store, path)
        with duckdb.connect(str(path), read_only=True) as file:
            parts = {run.id: table_parts(file, None, SCHEMA_VERSION, run.id) for run in store.runs()}
        _write_runs(store, path, parts)
        with duckdb.connect() as reader:
            version, runs = attach(reader, path, "made")
            check_tables(reader, "made", path, version, runs, full=False)  # their content was hashed above
        path.chmod(0o444)
    except duckdb.Error as error:
        full = os.strerror(errno.ENOSPC) in str(error)
        raise OSError(errno.ENOSPC if full else None, str(error).splitlines()[0]) from error


def _write_tables(store: Store, path: Path) -> None:
    with _file(path) as file, TemporaryDirectory(dir=path.parent, prefix=".publish-") as spilled:
        limit(file, Path(spilled))  # a sort of more than that goes by way of the disk
        for table, schema in SCHEMAS.items():
            file.execute(f"create table {table} as {empty_select(schema)}")
            for condition, params in _parts(store, table):
                file.register("source", store.batches(f"select * from {table} where {condition}", params))
                file.execute(f"insert into {table} select * from source order by all")
                file.unregister("source")


def _write_runs(store: Store, path: Path, parts: Mapping[str, Mapping[str, Part]]) -> None:
    with _file(path) as file:
        file.execute("create table runs (run varchar, manifest varchar)")
        for run in store.runs():
            manifest = with_seal(run.manifest, by=PUBLISH, tables=parts[run.id])
            file.execute("insert into runs values (?, ?)", [run.id, json.dumps(manifest)])
        file.execute(f"create table about as select {SCHEMA_VERSION} as schema_version")


@contextmanager
def _file(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A file to write into that holds everything once it is closed.

    DuckDB writes what is committed into a log beside the file, and from there into the file when that is closed; where
    the disk has no room for that it says nothing, and leaves the log. Asked before, it says so.
    """
    with duckdb.connect(str(path)) as file:
        yield file
        file.execute("checkpoint")
    if logs := [each.name for each in path.parent.iterdir() if each != path]:
        raise OSError(errno.ENOSPC, f"{logs[0]} was not taken into the file")


def _parts(store: Store, table: str) -> Iterator[tuple[str, list[Any]]]:
    """Conditions that cut a table into parts of about PART_ROWS rows, in the order of its rows sorted by all columns.

    The first columns of every table are run, corpus and item: a part is a range of one run's items, which lie together
    in the shards, too. One part sorted after the other is the whole table sorted, and no sort has to hold all of it.
    """
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
