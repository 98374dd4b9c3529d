"""Opening runs: what each path holds, what of it can be believed, and the views over all of it."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa

from core.errors import InvalidInput, StoreError
from core.store import lookup
from core.store import sorted_copies as copies
from core.store.manifest import COMPLETE, Run, read_run, run_folders
from core.store.published import HeldElsewhere, attach
from core.store.run_files import half_runs, run_paths, run_signature, signature
from core.store.schema import SCHEMAS, VERDICTS
from core.store.seal import without_seal
from core.store.sql import (
    VIEWS,
    column_list,
    empty_select,
    groups_of,
    held_of,
    no_glob,
    quoted,
    shifts_of,
    table_select,
)
from core.store.whole import NotWhole, check_tables


class Opening:
    """Collects what a store's views are made of.

    ``copies`` are the copies that are read, ``large`` the relation of each run whose copy is large
    (:mod:`core.store.lookup`), ``direct`` the runs whose own files are read.

    Args:
        copies_in: folder of the copies that answer at once (:mod:`core.store.sorted_copies`); None: read the files
            themselves.
    """

    def __init__(self, copies_in: Path | None) -> None:
        self.connection = duckdb.connect(":memory:")
        self.runs: list[Run] = []
        self.left_out: list[str] = []
        self.notes: list[str] = []
        self.held: list[Path] = []
        self.copies: list[Path] = []
        self.large: dict[str, str] = {}
        self.direct: list[Run] = []
        self._copies_in = copies_in
        self._parts: dict[str, list[str]] = {table: [] for table in VIEWS}
        self._files: list[Path] = []
        self._attached = 0
        self._made = False
        if copies_in is not None:
            copies.limit(self.connection, copies_in, reading=True)

    def add(self, path: Path) -> None:
        """Take in a run folder, a folder of runs or a published file; what cannot be read is noted."""
        if path.is_dir():
            self._each(self._directory, path)
        elif path.is_file():
            self._each(self._published, path)
        elif path not in run_paths():
            self.left_out.append(f"there is no run at {path}; check the path")

    def finish(self, verdicts: pa.Table | None) -> duckdb.DuckDBPyConnection:
        """Make the views, then lock the connection: no other file, no other setting."""
        connection = self.connection
        if self._made and self._copies_in is not None:
            copies.remove_unused(self._copies_in, self.copies)
        for table, schema in VIEWS.items():
            parts = [*self._parts[table], empty_select(schema)]
            connection.execute(f"create view {table} as {' union all '.join(parts)}")
        self._list_runs()
        _take_verdicts(connection, verdicts)
        folders = sorted({text for file in self._files for text in (str(file.parent), no_glob(file.parent))})
        if folders:
            connection.execute(f"set allowed_directories = [{', '.join(quoted(folder + '/') for folder in folders)}]")
        connection.execute("set python_enable_replacements = false")  # a query sees no variable of its caller
        connection.execute("set enable_external_access = false")
        connection.execute("set lock_configuration = true")
        return connection

    def _directory(self, path: Path) -> None:
        found = run_folders(path)
        files = sorted(path.glob("*.duckdb")) if path not in found else []
        half = half_runs(path) if path not in found else ()
        if not (found or files or half) and path not in run_paths():
            raise StoreError(f"{path} holds no run; name a folder that an audit wrote")
        self.left_out += [
            f"{each} holds scores and no manifest.json, so nobody knows what they are of; copy the whole run folder"
            for each in half
        ]
        for folder in found:
            self._each(self._folder, folder)
        for file in files:
            self._each(self._published, file)

    def _each(self, read: Callable[[Path], None], path: Path) -> None:
        try:
            read(path)
        except HeldElsewhere as error:
            self.held.append(path)
            self.left_out.append(str(error))
        except StoreError as error:
            self.left_out.append(str(error))
        except OSError as error:
            self.left_out.append(f"{path} cannot be read: {error.strerror or error}; check its permissions")

    def _folder(self, folder: Path) -> None:
        run = read_run(folder)
        if not self._new(run):
            return
        if run.status != COMPLETE or not self._take_copy(
            folder, (run,), lambda within, path: copies.copy_run(within, run, path)
        ):
            self._take_shards(run)
        self._take(run)

    def _published(self, path: Path) -> None:
        alias = self._alias()
        version, listed = attach(self.connection, path, alias)
        runs = [run for run in listed if self._new(run)]

        def make(within: Path, copy: Path) -> None:
            check_tables(self.connection, alias, path, version, listed, full=True)
            copies.copy_published(within, path, copy, version=version)

        try:
            copied = self._take_copy(path, runs, make)
            if not copied:
                check_tables(self.connection, alias, path, version, listed, full=False)
        except NotWhole:
            self.connection.execute(f"detach {alias}")
            raise
        if copied:
            self.connection.execute(f"detach {alias}")
        else:
            self.direct += runs
            self._take_tables(alias, runs, version=version)
        for run in runs:
            self._take(run)

    def _take_copy(self, path: Path, runs: Sequence[Run], make: Callable[[Path, Path], None]) -> bool:
        """Read runs from their copy, made now where it is missing; False where there can be none."""
        if self._copies_in is None:
            return False
        real = path.resolve()  # one copy, by however many links a folder is reached
        files = run_signature(real) if real.is_dir() else signature(real)
        copy, alias = copies.copy_path(self._copies_in, files), self._alias()
        problems = copies.attach_copy(self.connection, copy, alias)
        if problems is None:
            try:
                make(self._copies_in, copy)
            except NotWhole:
                raise
            except StoreError:  # no room, no right to write: the files themselves still answer, only slower
                return False
            self._made = True
            problems = copies.attach_copy(self.connection, copy, alias)
        if problems is None:
            return False
        self.left_out += problems
        self.copies.append(copy)
        self._take_copied(alias, runs)
        return True

    def _take_shards(self, run: Run) -> None:
        whole = copies.whole_shards(run, self.left_out)
        self.direct.append(run)
        for table, files in whole.items():
            self._files += files
            self._parts[table].append(copies.parquet_select(table, files, version=run.schema_version))
        self._take_scores(copies.parquet_select("scores", whole["scores"], version=run.schema_version))

    def _take_tables(self, alias: str, runs: Sequence[Run], *, version: int) -> None:
        for table in SCHEMAS:
            rows = table_select(table, f"{alias}.main.{table}", version=version)
            self._parts[table].append(f"select * from ({rows}) {_of(runs)}")
        scores = table_select("scores", f"{alias}.main.scores", version=version)
        self._take_scores(f"select * from ({scores}) {_of(runs)}")

    def _take_copied(self, alias: str, runs: Sequence[Run]) -> None:
        (rows,) = self.connection.execute(f"select count(*) from {alias}.main.scored").fetchall()[0]
        if rows >= lookup.MANY:
            self.large |= {run.id: f"{alias}.main.scored" for run in runs}
        for view, schema in VIEWS.items():
            table = f"{alias}.main.{'scored' if view in ('scores', 'shifts') else view}"
            compared = " and baseline is not null" if view == "shifts" else ""
            self._parts[view].append(f"select {column_list(schema)} from {table} {_of(runs)}{compared}")

    def _take_scores(self, scores: str) -> None:
        """What follows from scores that no copy has worked out."""
        for view, made in (("shifts", shifts_of), ("groups", groups_of), ("held", held_of)):
            self._parts[view].append(f"select {column_list(VIEWS[view])} from ({made(f'({scores})')})")

    def _take(self, run: Run) -> None:
        self.runs.append(run)
        root = run.corpus_root()
        if root is not None and not root.is_dir():
            self.notes.append(
                f"the pictures of run {run.id} are not here: its corpus lay in {root}; its scores are all shown, "
                "and the pictures are too once that folder is back"
            )

    def _new(self, run: Run) -> bool:
        twin = next((each for each in self.runs if each.id == run.id), None)
        if twin is not None:
            self.left_out.append(f"run {run.id} in {run.path} is open already from {twin.path}; it is read once")
        return twin is None

    def _alias(self) -> str:
        self._attached += 1
        return f"file_{self._attached}"

    def _list_runs(self) -> None:
        self.connection.execute(
            "create table runs (run varchar, corpus varchar, status varchar, created varchar, "
            "schema_version integer, manifest varchar)"
        )
        for run in self.runs:
            told = run.manifest
            values = [run.id, told["corpus"].get("name"), run.status, told.get("created"), told["schema_version"]]
            self.connection.execute(
                "insert into runs values (?, ?, ?, ?, ?, ?)", [*values, json.dumps(without_seal(told))]
            )


def _of(runs: Sequence[Run]) -> str:
    return f"where run in ({', '.join(quoted(run.id) for run in runs) or 'null'})"


def _take_verdicts(connection: duckdb.DuckDBPyConnection, verdicts: pa.Table | None) -> None:
    if verdicts is None:
        connection.execute(f"create table verdicts as {empty_select(VERDICTS)}")
        return
    if not verdicts.schema.equals(VERDICTS):
        raise InvalidInput(
            f"verdicts need the columns {VERDICTS.names} of schema VERDICTS, got {verdicts.schema.names}"
        )
    connection.register("source", verdicts)
    connection.execute("create table verdicts as select * from source")
    connection.unregister("source")
