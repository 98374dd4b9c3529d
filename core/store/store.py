"""Questions to any number of runs: DuckDB views over run folders and published files, read-only.

Views: ``scores``, ``items``, ``rejections``, ``variants`` (columns in :mod:`core.store.schema`; a run of version 1
reads as language ``en``, rank 0, without facts of variants; what a version did not measure is null), ``runs`` (run,
corpus, status, created, schema_version, manifest as JSON text), ``shifts``: every row of ``scores`` that has a
baseline, which is the row of that probe with the same run, corpus, item, subject, language, rank and evaluator, with
baseline_score, baseline_caption, delta (score - baseline_score, null where either is null) and percent (100 · delta /
baseline_score; null also where baseline_score < SHIFT_FLOOR); ``groups``: how many rows ``scores`` has (n) of every
(run, corpus, subject, language, rank, evaluator, axis, family, probe, modifier, control, expectation, baseline) and
whether they name an item (named); ``held``: how many items have a row of a probe (n_items) of every (run, corpus,
subject, language, rank, evaluator); and ``verdicts``: what people said of (corpus, item, probe, subject, language,
rank), as given to :meth:`Store.open`. ``groups`` and ``held`` say at once what would have to be counted over all rows.
"""

import json
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

import duckdb
import pandas as pd
import pyarrow as pa

from core import settings
from core.errors import InvalidInput, StoreError, first_line
from core.store import sorted_copies as copies
from core.store import sql
from core.store.run_files import (
    COMPLETE,
    Run,
    half_runs,
    read_run,
    run_folders,
    run_paths,
    run_signature,
    signature,
    without_seal,
)
from core.store.schema import SCHEMAS, VERDICTS
from core.store.sql import (
    VIEWS,
    Pair,
    column_list,
    empty_select,
    groups_of,
    held_of,
    no_glob,
    quoted,
    shifts_of,
    shifts_select,
    table_select,
)
from core.store.whole import (
    BATCH_ROWS,
    HeldElsewhere,
    NotWhole,
    attach,
    can_be_opened,
    check_tables,
    is_damage,
    source_problem,
    why_unreadable,
)

__all__ = ["SCHEMAS", "Store", "default_store", "run_paths", "signature"]

Params = Sequence[Any] | dict[str, Any] | None  # Values of a question's parameters, in their order or by name


class Opening:
    """Collects what a store's views are made of.
    ``copies_in``: folder of the copies that answer at once (:mod:`core.store.sorted_copies`); None: the files do."""

    def __init__(self, copies_in: Path | None) -> None:
        self.connection = duckdb.connect(":memory:")
        self.runs: list[Run] = []
        self.left_out: list[str] = []
        self.notes: list[str] = []
        self.held: list[Path] = []
        self.copies: list[Path] = []  # that are read
        self.large: dict[str, str] = {}  # run whose copy is large -> relation of the copy (:mod:`core.store.sql`)
        self.direct: list[Run] = []  # runs whose own files are read
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
        columns = "run varchar, corpus varchar, status varchar, created varchar, schema_version integer"
        connection.execute(f"create table runs ({columns}, manifest varchar)")
        for run in self.runs:
            told, name = run.manifest, run.manifest["corpus"].get("name")
            values = [run.id, name, run.status, told.get("created"), told["schema_version"]]
            values.append(json.dumps(without_seal(told)))
            connection.execute("insert into runs values (?, ?, ?, ?, ?, ?)", values)
        if verdicts is None:
            verdicts = VERDICTS.empty_table()
        elif not verdicts.schema.equals(VERDICTS):
            got = verdicts.schema.names
            raise InvalidInput(f"verdicts need the columns {VERDICTS.names} of schema VERDICTS, got {got}")
        connection.register("source", verdicts)
        connection.execute("create table verdicts as select * from source")
        connection.unregister("source")
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
            whole = copies.whole_shards(run, self.left_out)
            scores = copies.parquet_select("scores", whole["scores"], version=run.schema_version)
            self._take_follows(scores, keep=True)
            self.direct.append(run)
            for table, files in whole.items():
                self._files += files
                self._parts[table].append(copies.parquet_select(table, files, version=run.schema_version))
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
            held = {table: table_select(table, f"{alias}.main.{table}", version=version) for table in SCHEMAS}
            rows = {table: f"select * from ({select}) {_of(runs)}" for table, select in held.items()}
            for table, select in rows.items():
                self._parts[table].append(select)
            self._take_follows(rows["scores"], keep=False)
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
        (rows,) = self.connection.execute(f"select count(*) from {alias}.main.scored").fetchall()[0]
        if rows >= sql.MANY:
            self.large |= {run.id: f"{alias}.main.scored" for run in runs}
        for view, schema in VIEWS.items():
            table = f"{alias}.main.{'scored' if view in ('scores', 'shifts') else view}"
            compared = " and baseline is not null" if view == "shifts" else ""
            self._parts[view].append(f"select {column_list(schema)} from {table} {_of(runs)}{compared}")
        return True

    def _kept(self, select: str) -> str:
        """SELECT of what another one answers now: few rows that every scope asks for, counted once.
        Raises StoreError if a file went away or changed since it was checked."""
        table = f"kept_{self._alias()}"
        try:
            self.connection.execute(f"create table {table} as {select}")
        except duckdb.Error as error:
            raise StoreError(_changed(first_line(error))) from error
        return f"select * from {table}"

    def _take_follows(self, scores: str, *, keep: bool) -> None:
        """Take in what follows from a SELECT of scores that no copy has worked out; ``keep``: few rows counted now."""
        made = {"shifts": shifts_of(f"({scores})"), "groups": groups_of(f"({scores})"), "held": held_of(f"({scores})")}
        if keep:
            made |= {view: self._kept(made[view]) for view in ("groups", "held")}
        for view, select in made.items():
            self._parts[view].append(f"select {column_list(VIEWS[view])} from ({select})")

    def _take(self, run: Run) -> None:
        self.runs.append(run)
        root = run.corpus_root()
        # what ships is packed beside its place
        if root is not None and not root.is_dir() and not root.with_name(f"{root.name}.tar").is_file():
            back = "its scores are all shown, and the pictures are too once that folder is back"
            self.notes.append(f"the pictures of run {run.id} are missing: its corpus lay in {root}; {back}")

    def _new(self, run: Run) -> bool:
        twin = next((each for each in self.runs if each.id == run.id), None)
        if twin is not None:
            self.left_out.append(f"run {run.id} in {run.path} is open already from {twin.path}; it is read once")
        return twin is None

    def _alias(self) -> str:
        self._attached += 1
        return f"file_{self._attached}"


def _of(runs: Sequence[Run]) -> str:
    return f"where run in ({', '.join(quoted(run.id) for run in runs) or 'null'})"


class Store:
    """Read-only view of runs; made by :meth:`open`, closed by :meth:`close` or a ``with`` block. Any thread may query:
    each call has its own cursor (one connection shared by threads mixes answers up)."""

    def __init__(self, opened: Callable[[], Opening]) -> None:
        self._opened, self._answered = opened, dict[str, pd.DataFrame]()
        self._lock = threading.Lock()
        self._mending = threading.Lock()
        self._take(opened())

    def _take(self, opening: Opening) -> None:
        self._opening = opening
        self.left_out = tuple(opening.left_out)
        """One sentence for each shard, run or file that was left out."""
        self.problems = (*self.left_out, *opening.notes)
        """The same, and one for each run whose corpus folder is gone: its scores are there, its pictures are not."""

    @classmethod
    def open(
        cls, paths: Path | str | Iterable[Path | str], *, verdicts: pa.Table | None = None, copies: Path | None = None
    ) -> Self:
        """Open run folders, folders of runs, published ``.duckdb`` files, in any mixture. What cannot be read is left
        out and named in ``problems``; the same run twice is read once.
        ``verdicts``: rows of the view ``verdicts``, of schema :data:`core.store.schema.VERDICTS`; None: none.
        ``copies``: folder of copies of complete runs that answer at once (:mod:`core.store.sorted_copies`); what is
        missing there is made now. None: the files themselves answer.
        Raises InvalidInput if the verdicts have other columns."""
        chosen = [paths] if isinstance(paths, str | Path) else list(paths)

        def opened() -> Opening:
            opening = Opening(None if copies is None else Path(copies).absolute())
            for path in dict.fromkeys(map(Path, chosen)):
                opening.add(path)
            opening.finish(verdicts)
            return opening

        return cls(opened)

    def outdated(self) -> bool:
        """Whether a file that another program held at opening can be read now, though nothing in it changed."""
        return any(can_be_opened(path) for path in self._opening.held)

    def runs(self) -> tuple[Run, ...]:
        """Runs that are open, with their manifests."""
        return tuple(self._opening.runs)

    def query(self, sql: str, params: Params = None) -> pd.DataFrame:
        """Answer one SELECT, in which ``?`` or ``$name`` stand for parameters. Raises InvalidInput if it is not one
        SELECT, or DuckDB cannot make sense of it; StoreError, naming the file, if one went away or changed since the
        store was opened. A copy that turns out damaged is made anew first, and the question asked again."""
        frame: pd.DataFrame = self._run(lambda _: (sql, params), _frame)
        return frame

    def once(self, sql: str) -> pd.DataFrame:
        """Answer one SELECT without parameters, asked once: what a store holds never changes; see :meth:`query`."""
        if sql not in self._answered:
            self._answered[sql] = self.query(sql)
        return self._answered[sql]

    def table(self, sql: str, params: Params = None) -> pa.Table:
        """Answer one SELECT as an Arrow table; see :meth:`query`."""
        return self._run(lambda _: (sql, params), duckdb.DuckDBPyRelation.to_arrow_table)

    def batches(self, sql: str, params: Params = None) -> pa.RecordBatchReader:
        """Answer one SELECT as Arrow batches of at most BATCH_ROWS rows, none of which is held; see :meth:`query`."""
        return self._run(lambda _: (sql, params), lambda relation: relation.to_arrow_reader(BATCH_ROWS))

    def shifts(self, pairs: Iterable[Pair], *, language: str, rank: int) -> pd.DataFrame:
        """Rows of the view ``shifts`` of some pairs, in any order. Raises StoreError, see :meth:`query`."""
        select = partial(shifts_select, pairs=tuple(pairs), language=language, rank=rank)
        frame: pd.DataFrame = self._run(lambda opening: select(opening.large), _frame)
        return frame

    def close(self) -> None:
        """Let go of the files."""
        self._opening.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(
        self, asked: Callable[[Opening], tuple[str, Params]], fetch: Callable[[duckdb.DuckDBPyRelation], Any]
    ) -> Any:
        opening = self._opening
        sql, params = asked(opening)
        try:
            try:
                return self._answer(opening, sql, params, fetch)
            except duckdb.Error as error:
                if not is_damage(error):
                    raise
                opening = self._mended(opening, error)
                return self._answer(opening, *asked(opening), fetch)
        except duckdb.Error as error:
            if is_damage(error):
                raise StoreError(_changed(first_line(error))) from error
            raise InvalidInput(f"the store cannot answer {sql!r}: {error}") from error

    def _answer(
        self, opening: Opening, sql: str, params: Params, fetch: Callable[[duckdb.DuckDBPyRelation], Any]
    ) -> Any:
        with self._lock:  # making a cursor is not safe beside another thread's; using it is
            cursor = opening.connection.cursor()
        statements = cursor.extract_statements(sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise InvalidInput(f"the store answers one SELECT at a time, got {len(statements)} statements: {sql!r}")
        return fetch(cursor.sql(sql, params=params))

    def _mended(self, opening: Opening, error: duckdb.Error) -> Opening:
        """Make the copies anew that turned out damaged, and open everything again.
        Raises StoreError if it was no copy, or what a copy was made of is not whole any more; it names the file."""
        with self._mending:
            if self._opening is not opening:  # another thread's question met the damage first
                return self._opening
            broken = [path for path in opening.copies if why_unreadable(path) is not None]
            if not broken:
                raise StoreError(_changed(source_problem(opening.direct) or first_line(error))) from error
            for path in broken:
                path.unlink(missing_ok=True)
            again = self._opened()
            lost = {run.id for run in opening.runs} - {run.id for run in again.runs}
            self._take(again)
            if lost:
                raise StoreError(_changed("; ".join(again.left_out))) from error
            return again


def _changed(what: str) -> str:
    return f"a run changed on disk while it was open ({what}); open it again"


def _frame(relation: duckdb.DuckDBPyRelation) -> pd.DataFrame:
    """Rows by way of Arrow: its strings become pandas' without a copy, where DuckDB's own way makes each anew."""
    table = relation.to_arrow_table()
    # sums of whole numbers are decimals
    plain = [(each.name, pa.float64() if pa.types.is_decimal(each.type) else each.type) for each in table.schema]
    frame: pd.DataFrame = table.cast(pa.schema(plain)).to_pandas()
    return frame


def give_back_buffers() -> None:
    """Return what DuckDB's queries took and freed to the system: it does so when a database is closed, whichever."""
    duckdb.connect(":memory:").close()


def default_store(*, verdicts: pa.Table | None = None) -> Store:
    """Store over the shipped results and the user's own runs, with copies in the cache; empty where there are none;
    ``verdicts``: see :meth:`Store.open`."""
    return Store.open(run_paths(), verdicts=verdicts, copies=settings.cache_dir() / "store")
