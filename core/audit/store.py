"""Questions to any number of runs: DuckDB views over run folders and published files, read-only.

Views: ``scores``, ``items``, ``rejections`` (columns in :mod:`core.audit.schema`), ``runs`` (run, corpus,
status, created, schema_version, manifest as JSON text) and ``shifts``: every row of ``scores`` that has a
baseline, with baseline_score, baseline_caption, delta (score - baseline_score, null where either is null) and
percent (100 · delta / baseline_score; null also where |baseline_score| < SHIFT_FLOOR).
"""

import json
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from core import settings
from core.audit.manifest import TABLES, Run, check_manifest, read_run, run_folders
from core.audit.schema import ITEMS, REJECTIONS, SCHEMA_VERSION, SCORES, SHIFT_FLOOR
from core.errors import InvalidInput, StoreError

SCHEMAS = {"scores": SCORES, "items": ITEMS, "rejections": REJECTIONS}

_SQL_TYPES = {
    pa.string(): "VARCHAR", pa.float64(): "DOUBLE", pa.bool_(): "BOOLEAN", pa.int32(): "INTEGER",
}  # fmt: skip

_SHIFTS = f"""
select s.*, b.score as baseline_score, b.caption as baseline_caption, s.score - b.score as delta,
       case when abs(b.score) >= {SHIFT_FLOOR!r} then 100 * (s.score - b.score) / b.score end as percent
from scores s left join scores b
  on b.run = s.run and b.corpus = s.corpus and b.item = s.item and b.subject = s.subject
 and b.evaluator = s.evaluator and b.probe = s.baseline
where s.baseline is not null"""


class Store:
    """Read-only view of runs; made by :meth:`open`, closed by :meth:`close` or a ``with`` block.

    Any thread may query: each call has a cursor of its own (one connection shared by threads mixes answers up).
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, runs: Sequence[Run], problems: Sequence[str]) -> None:
        self._connection = connection
        self._runs = tuple(runs)
        self._lock = threading.Lock()
        self.problems = tuple(problems)
        """One sentence for each shard, run or file that was left out."""

    @classmethod
    def open(cls, paths: Path | str | Iterable[Path | str]) -> Self:
        """Open runs.

        Args:
            paths: run folders, folders of runs, published ``.duckdb`` files, in any mixture. What cannot be
                read is left out and named in ``problems``; the same run twice is read once.
        """
        chosen = [paths] if isinstance(paths, str | Path) else list(paths)
        opening = _Opening()
        for path in chosen:
            opening.add(Path(path))
        return cls(opening.finish(), opening.runs, opening.problems)

    def runs(self) -> tuple[Run, ...]:
        """Runs that are open, with their manifests."""
        return self._runs

    def query(self, sql: str, params: Sequence[Any] | dict[str, Any] | None = None) -> pd.DataFrame:
        """Answer one SELECT.

        Args:
            sql: one statement; ``?`` or ``$name`` stand for parameters.
            params: their values.

        Raises:
            InvalidInput: if it is not one SELECT, or DuckDB cannot make sense of it.
            StoreError: if a file went away or changed since the store was opened.
        """
        return self._run(sql, params, duckdb.DuckDBPyRelation.df)

    def table(self, sql: str, params: Sequence[Any] | dict[str, Any] | None = None) -> pa.Table:
        """Answer one SELECT as an Arrow table; see :meth:`query`."""
        return self._run(sql, params, duckdb.DuckDBPyRelation.to_arrow_table)

    def close(self) -> None:
        """Let go of the files."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(
        self,
        sql: str,
        params: Sequence[Any] | dict[str, Any] | None,
        fetch: Callable[[duckdb.DuckDBPyRelation], Any],
    ) -> Any:
        try:
            with self._lock:  # making a cursor is not safe beside another thread's; using it is
                cursor = self._connection.cursor()
            statements = cursor.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise InvalidInput(f"the store answers one SELECT at a time, got {len(statements)} statements: {sql!r}")
            return fetch(cursor.sql(sql, params=params))
        except (duckdb.IOException, duckdb.FatalException) as error:
            raise StoreError(f"a run changed on disk while it was open ({error}); open it again") from error
        except duckdb.Error as error:
            raise InvalidInput(f"the store cannot answer {sql!r}: {error}") from error


class _Opening:
    """Collects what the views are made of."""

    def __init__(self) -> None:
        self.connection = duckdb.connect(":memory:")
        self.runs: list[Run] = []
        self.problems: list[str] = []
        self._parts: dict[str, list[str]] = {table: [] for table in TABLES}
        self._files: dict[str, list[Path]] = {table: [] for table in TABLES}

    def add(self, path: Path) -> None:
        try:
            if path.is_dir():
                found = run_folders(path)
                if not found and path not in (settings.runs_dir(), settings.results_dir()):
                    raise StoreError(f"{path} holds no run; name a folder that an audit wrote")
                for folder in found:
                    self._each(self._folder, folder)
                for file in sorted(path.glob("*.duckdb")) if path not in found else ():
                    self._each(self._published, file)
            elif path.is_file():
                self._published(path)
            elif path not in (settings.runs_dir(), settings.results_dir()):
                raise StoreError(f"there is no run at {path}; check the path")
        except StoreError as error:
            self.problems.append(str(error))
        except OSError as error:
            self.problems.append(f"{path} cannot be read: {error.strerror or error}; check its permissions")

    def finish(self) -> duckdb.DuckDBPyConnection:
        connection = self.connection
        for table, schema in SCHEMAS.items():
            columns = ", ".join(f'"{name}"' for name in schema.names)
            parts = list(self._parts[table])
            if self._files[table]:
                listed = ", ".join(_quoted(_no_glob(path)) for path in self._files[table])
                parts.append(f"select {columns} from read_parquet([{listed}], hive_partitioning = false)")
            empty = ", ".join(f'cast(null as {_SQL_TYPES[field.type]}) as "{field.name}"' for field in schema)
            parts.append(f"select {empty} where false")
            connection.execute(f"create view {table} as {' union all '.join(parts)}")
        connection.execute(f"create view shifts as {_SHIFTS}")
        self._list_runs(connection)
        parents = {path.parent for paths in self._files.values() for path in paths}
        folders = sorted({text for path in parents for text in (str(path), _no_glob(path))})
        if folders:
            connection.execute(f"set allowed_directories = [{', '.join(_quoted(folder + '/') for folder in folders)}]")
        connection.execute("set python_enable_replacements = false")  # a query sees no variable of its caller
        connection.execute("set enable_external_access = false")
        connection.execute("set lock_configuration = true")
        return connection

    def _each(self, read: Any, path: Path) -> None:
        try:
            read(path)
        except StoreError as error:
            self.problems.append(str(error))
        except OSError as error:
            self.problems.append(f"{path} cannot be read: {error.strerror or error}; check its permissions")

    def _folder(self, folder: Path) -> None:
        run = read_run(folder)
        if not self._new(run):
            return
        for table in TABLES:
            for path in sorted((folder / table).glob("*.parquet")):
                problem = _shard_problem(path, table, run.id)
                if problem is None:
                    self._files[table].append(path.absolute())
                else:
                    self.problems.append(problem)
        self.runs.append(run)

    def _published(self, path: Path) -> None:
        alias = f"published_{len(self._parts['scores'])}"
        try:
            self.connection.execute(f"attach {_quoted(str(path))} as {alias} (read_only)")
        except duckdb.Error as error:
            raise StoreError(
                f"{path} cannot be opened as a published file: {_first_line(error)}; publish it again"
            ) from error
        try:
            rows = self._published_runs(path, alias)
        except (duckdb.Error, ValueError) as error:
            self.connection.execute(f"detach {alias}")
            raise StoreError(
                f"{path} is no published file of Invariscope: {_first_line(error)}; publish it again"
            ) from error
        except StoreError:
            self.connection.execute(f"detach {alias}")
            raise
        runs = [run for run in rows if self._new(run)]
        chosen = ", ".join(_quoted(run.id) for run in runs) or "null"
        for table, schema in SCHEMAS.items():
            columns = ", ".join(f'"{name}"' for name in schema.names)
            self._parts[table].append(f"select {columns} from {alias}.{table} where run in ({chosen})")
        self.runs += runs

    def _published_runs(self, path: Path, alias: str) -> list[Run]:
        """Check that the file's tables are tables (a view could read any file) of the known columns."""
        for table, schema in {**SCHEMAS, "runs": pa.schema([("run", pa.string()), ("manifest", pa.string())])}.items():
            found = dict(
                self.connection.execute(
                    "select c.column_name, c.data_type from duckdb_columns() c join duckdb_tables() t "
                    "using (database_name, schema_name, table_name) "
                    "where database_name = ? and schema_name = 'main' and table_name = ?",
                    [alias, table],
                ).fetchall()
            )
            expected = {field.name: _SQL_TYPES[field.type] for field in schema}
            if found != expected:
                raise StoreError(
                    f"{path} has no table {table} with the columns of schema {SCHEMA_VERSION}; publish it again"
                )
        listed = self.connection.execute(f"select run, manifest from {alias}.runs order by run").fetchall()
        runs = [Run(path, check_manifest(json.loads(manifest), path)) for _, manifest in listed]
        if [run.id for run in runs] != [name for name, _ in listed]:
            raise StoreError(f"{path} names runs that are not those of its manifests; publish it again")
        return runs

    def _new(self, run: Run) -> bool:
        twin = next((each for each in self.runs if each.id == run.id), None)
        if twin is not None:
            self.problems.append(f"run {run.id} in {run.path} is open already from {twin.path}; it is read once")
        return twin is None

    def _list_runs(self, connection: duckdb.DuckDBPyConnection) -> None:
        connection.execute(
            "create table runs (run varchar, corpus varchar, status varchar, created varchar, "
            "schema_version integer, manifest varchar)"
        )
        for run in self.runs:
            told = run.manifest
            values = [run.id, told["corpus"].get("name"), run.status, told.get("created"), told["schema_version"]]
            connection.execute("insert into runs values (?, ?, ?, ?, ?, ?)", [*values, json.dumps(dict(told))])


def default_store() -> Store:
    """Store over the shipped results and the user's own runs; empty where there are none yet."""
    return Store.open([settings.results_dir(), settings.runs_dir()])


def signature(paths: Path | str | Iterable[Path | str]) -> tuple[tuple[str, int, int], ...]:
    """What a cached store depends on: (path, size, modification time in ns) of every file behind it."""
    chosen = [paths] if isinstance(paths, str | Path) else list(paths)
    files: list[Path] = []
    for path in map(Path, chosen):
        if path.is_file():
            files.append(path)
        elif path.is_dir():
            for pattern in (
                "manifest.json",
                "*/manifest.json",
                "*.duckdb",
                "*.parquet",
                "*/*.parquet",
                "*/*/*.parquet",
            ):
                files += path.glob(pattern)
    found = []
    for file in sorted(set(files)):
        try:
            status = file.stat()
        except OSError:
            continue
        found.append((str(file), status.st_size, status.st_mtime_ns))
    return tuple(found)


def _shard_problem(path: Path, table: str, run_id: str) -> str | None:
    """Why a shard is left out, or None. The whole file is read: a checksum stands over every page."""
    try:
        read = pq.read_table(path, page_checksum_verification=True)
    except (OSError, pa.ArrowException) as error:
        return f"{path} is damaged ({_first_line(error)}) and left out; start run {run_id} again to make it anew"
    if not read.schema.equals(SCHEMAS[table]):
        return f"{path} has other columns than schema {SCHEMA_VERSION} and is left out; start run {run_id} again"
    if set(read["run"].unique().to_pylist()) - {run_id}:
        return f"{path} holds rows of another run than {run_id} and is left out; put it back where it belongs"
    return None


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _no_glob(path: Path) -> str:
    """DuckDB reads ``*?[`` in a file name as a pattern; a class of one character stands for itself."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in str(path))


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
