"""Where every row of a scope stands in the table of scores, by the names that it holds."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from core.analysis.diagnostic import Diagnostic


def place_of(column: str, names: str) -> str:
    """SQL of the place of a column's text among the names of a side, -1 for none and for a stranger.

    Few names recur in millions of rows: the store finds each once where they lie together, and no text is handed over.

    Args:
        column: of the rows; the place has its name.
        names: side of the table, a parameter that holds :attr:`Places.names` of it.
    """
    return f"(coalesce(list_position(${names}, {column}), 0) - 1)::integer as {column}"


class Places:
    """The sides of a table, and the place of any row in it.

    Rows that are asked for a place hold the text of their item, and of what else they are by its place
    (:func:`place_of`).

    Args:
        evaluators, probes: names, in their order.
        scored: columns corpus and item of every item that has a row, sorted by both, each once.
    """

    def __init__(self, evaluators: Sequence[str], probes: pd.Index, scored: pa.Table) -> None:
        self.evaluators = tuple(evaluators)
        self.items = pd.DataFrame(
            {name: np.array(scored[name].to_pylist(), dtype=object) for name in ("corpus", "item")}
        )
        self.shape = (len(evaluators), len(probes), len(self.items))
        corpora, self._items = (scored[name].combine_chunks().unique() for name in ("corpus", "item"))
        self.names = {"evaluators": list(self.evaluators), "probes": list(map(str, probes)),
                      "corpora": corpora.to_pylist()}  # fmt: skip
        """Names of each side, by which :func:`place_of` finds a place."""
        ranks = np.full(len(corpora) * len(self._items), -1, dtype=np.int64)
        ranks[self._pairs(_at(scored["corpus"], corpora), scored["item"])] = np.arange(len(self.items))
        self._ranks = np.append(ranks, -1)

    def flat(self, rows: pa.Table) -> np.ndarray:
        """Place of each row in the flattened table, int64 [n].

        Args:
            rows: columns corpus, item, probe and evaluator, of which the table has each.
        """
        where = (rows["evaluator"].to_numpy(), rows["probe"].to_numpy(), self._of_items(rows))
        return np.ravel_multi_index(where, self.shape)

    def laid_out(
        self, rows: pa.Table, columns: Sequence[str], *, dtype: type[np.floating] = np.float64
    ) -> dict[str, np.ndarray]:
        """Columns of rows with corpus, item and probe, each [P, N] and not to be written to; NaN elsewhere, strangers
        left out. What no row tells takes no memory."""
        probes, items = rows["probe"].to_numpy(), self._of_items(rows)
        there = (probes >= 0) & (items >= 0)
        nothing = np.broadcast_to(np.array(math.nan, dtype=dtype), self.shape[1:])
        found = dict.fromkeys(columns, nothing)
        for name in columns if there.any() else ():
            if rows[name].null_count == len(rows):
                continue
            found[name] = np.full(self.shape[1:], math.nan, dtype=dtype)
            found[name][probes[there], items[there]] = rows[name].to_numpy()[there]
        return found

    def diagnostics(self, rows: Iterable[pa.Table], columns: Sequence[str]) -> dict[str, Diagnostic]:
        """Columns of rows with corpus, item and probe, strangers left out; of a pair's rows, what the first tells.

        Args:
            rows: some at a time.
            columns: of numbers.
        """
        found: dict[str, dict[int, np.ndarray]] = {name: {} for name in columns}
        for some in rows:
            probes, items = some["probe"].to_numpy(), self._of_items(some)
            for name, own in found.items():
                values = some[name].to_numpy()
                told = (probes >= 0) & (items >= 0) & ~np.isnan(values)
                for probe in np.unique(probes[told]):
                    row = own.setdefault(int(probe), np.full(self.shape[2], math.nan))
                    this = np.flatnonzero(told & (probes == probe))[::-1]  # the first row of a pair is written last
                    this = this[np.isnan(row[items[this]])]
                    row[items[this]] = values[this]
        return {name: self._held(own) for name, own in found.items()}

    def _held(self, found: dict[int, np.ndarray]) -> Diagnostic:
        rows = np.full(self.shape[1], len(found), dtype=np.intp)
        rows[np.array(list(found), dtype=np.intp)] = np.arange(len(found))
        return Diagnostic(rows, np.stack([*found.values(), np.full(self.shape[2], math.nan)]))

    def _of_items(self, rows: pa.Table) -> np.ndarray:
        return np.asarray(self._ranks[self._pairs(rows["corpus"].to_numpy(), rows["item"])])

    def _pairs(self, corpora: np.ndarray, items: pa.ChunkedArray) -> np.ndarray:
        """Number of each row's corpus and item together; -1 for strangers."""
        names = _at(items, self._items)
        return np.where((corpora >= 0) & (names >= 0), corpora.astype(np.int64) * len(self._items) + names, -1)


def _at(column: pa.ChunkedArray, names: pa.Array) -> np.ndarray:
    """Place of each text of a column among some names, int64 [n]; -1 for none. Texts recur: each is sought once."""
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    places = pc.index_in(encoded.dictionary, names).fill_null(-1).to_numpy(zero_copy_only=False)
    at = np.append(places, -1).astype(np.int64)
    return np.asarray(at[encoded.indices.fill_null(len(places)).to_numpy(zero_copy_only=False)])
