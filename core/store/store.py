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

import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import duckdb
import pandas as pd
import pyarrow as pa

from core import settings
from core.errors import InvalidInput, StoreError
from core.store.lookup import Pair, shifts_select
from core.store.manifest import Run
from core.store.mending import damaged, is_damage, source_problem
from core.store.opening import Opening
from core.store.published import can_be_opened
from core.store.run_files import run_paths, signature
from core.store.schema import SCHEMAS
from core.store.sql import first_line
from core.store.whole import BATCH_ROWS

__all__ = ["SCHEMAS", "Store", "default_store", "run_paths", "signature"]

Params = Sequence[Any] | dict[str, Any] | None
"""Values of a question's parameters, in their order or by name."""


class Store:
    """Read-only view of runs; made by :meth:`open`, closed by :meth:`close` or a ``with`` block.

    Any thread may query: each call has a cursor of its own (one connection shared by threads mixes answers up).
    """

    def __init__(self, opened: Callable[[], Opening]) -> None:
        self._opened, self._answered = opened, dict[str, pd.DataFrame]()
        self._lock = threading.Lock()
        self._mending = threading.Lock()
        self._take(opened())

    def _take(self, opening: Opening) -> None:
        self._opening = opening
        self._runs = tuple(opening.runs)
        self._held = tuple(opening.held)
        self.left_out = tuple(opening.left_out)
        """One sentence for each shard, run or file that was left out."""
        self.problems = (*self.left_out, *opening.notes)
        """The same, and one for each run whose corpus folder is gone: its scores are there, its pictures are not."""

    @classmethod
    def open(
        cls,
        paths: Path | str | Iterable[Path | str],
        *,
        verdicts: pa.Table | None = None,
        copies: Path | None = None,
    ) -> Self:
        """Open runs.

        Args:
            paths: run folders, folders of runs, published ``.duckdb`` files, in any mixture. What cannot be
                read is left out and named in ``problems``; the same run twice is read once.
            verdicts: rows of the view ``verdicts``, of schema :data:`core.store.schema.VERDICTS`; None: none.
            copies: folder of copies of complete runs that answer at once (:mod:`core.store.sorted_copies`); what is
                missing there is made now. None: the files themselves answer.

        Raises:
            InvalidInput: if the verdicts have other columns.
        """
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
        return any(can_be_opened(path) for path in self._held)

    def runs(self) -> tuple[Run, ...]:
        """Runs that are open, with their manifests."""
        return self._runs

    def query(self, sql: str, params: Params = None) -> pd.DataFrame:
        """Answer one SELECT.

        Args:
            sql: one statement; ``?`` or ``$name`` stand for parameters.
            params: their values.

        Raises:
            InvalidInput: if it is not one SELECT, or DuckDB cannot make sense of it.
            StoreError: if a file went away or changed since the store was opened; it names the file. A copy that
                turns out damaged is made anew first, and the question asked again.
        """
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
        """Rows of the view ``shifts`` of some pairs, in any order.

        Args:
            pairs: (run, item, probe) each.
            language, rank: of their captions.

        Raises:
            StoreError: see :meth:`query`.
        """
        sought = tuple(pairs)
        frame: pd.DataFrame = self._run(
            lambda opening: shifts_select(opening.large, sought, language=language, rank=rank), _frame
        )
        return frame

    def close(self) -> None:
        """Let go of the files."""
        self._opening.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(
        self,
        asked: Callable[[Opening], tuple[str, Params]],
        fetch: Callable[[duckdb.DuckDBPyRelation], Any],
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
        self,
        opening: Opening,
        sql: str,
        params: Params,
        fetch: Callable[[duckdb.DuckDBPyRelation], Any],
    ) -> Any:
        with self._lock:  # making a cursor is not safe beside another thread's; using it is
            cursor = opening.connection.cursor()
        statements = cursor.extract_statements(sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise InvalidInput(f"the store answers one SELECT at a time, got {len(statements)} statements: {sql!r}")
        return fetch(cursor.sql(sql, params=params))

    def _mended(self, opening: Opening, error: duckdb.Error) -> Opening:
        """Make the copies anew that turned out damaged, and open everything again.

        Raises:
            StoreError: if it was no copy, or what a copy was made of is not whole any more; it names the file.
        """
        with self._mending:
            if self._opening is not opening:  # another thread's question met the damage first
                return self._opening
            broken = damaged(opening.copies)
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
    plain = [
        pa.field(each.name, pa.float64() if pa.types.is_decimal(each.type) else each.type)  # sums of whole numbers
        for each in table.schema
    ]
    frame: pd.DataFrame = table.cast(pa.schema(plain)).to_pandas()
    return frame


def default_store(*, verdicts: pa.Table | None = None) -> Store:
    """Store over the shipped results and the user's own runs, with copies in the cache; empty where there are none.

    Args:
        verdicts: see :meth:`Store.open`.
    """
    return Store.open(run_paths(), verdicts=verdicts, copies=settings.cache_dir() / "store")
