"""Where every row of a scope stands in the table of scores, by the names that it holds."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc


class Places:
    """The sides of a table, and the place of any row in it.

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
        self._evaluators, self._probes = pa.array(self.evaluators), pa.array(map(str, probes))
        self._corpora, self._names = (scored[name].combine_chunks().unique() for name in ("corpus", "item"))
        ranks = np.full(len(self._corpora) * len(self._names), -1, dtype=np.int64)
        ranks[self._pairs(scored)] = np.arange(len(self.items))
        self._ranks = np.append(ranks, -1)

    def flat(self, rows: pa.Table) -> np.ndarray:
        """Place of each row in the flattened table, int64 [n].

        Args:
            rows: columns corpus, item, probe and evaluator, each with a name that the table has.
        """
        where = (_at(rows["evaluator"], self._evaluators), _at(rows["probe"], self._probes), self._of_items(rows))
        return np.ravel_multi_index(where, self.shape)

    def of_probes(self, names: pa.ChunkedArray) -> np.ndarray:
        """Place of each probe, int64 [n]; -1 for none and for a stranger."""
        return _at(names, self._probes)

    def laid_out(
        self, rows: pa.Table, columns: Sequence[str], *, dtype: type[np.floating] = np.float64
    ) -> dict[str, np.ndarray]:
        """Columns of rows with corpus, item and probe, each [P, N] and not to be written to; NaN elsewhere, strangers
        left out. What no row tells takes no memory."""
        probes, items = self.of_probes(rows["probe"]), self._of_items(rows)
        there = (probes >= 0) & (items >= 0)
        nothing = np.broadcast_to(np.array(math.nan, dtype=dtype), self.shape[1:])
        found = dict.fromkeys(columns, nothing)
        for name in columns if there.any() else ():
            if rows[name].null_count == len(rows):
                continue
            found[name] = np.full(self.shape[1:], math.nan, dtype=dtype)
            found[name][probes[there], items[there]] = rows[name].to_numpy()[there]
        return found

    def _of_items(self, rows: pa.Table) -> np.ndarray:
        return np.asarray(self._ranks[self._pairs(rows)])

    def _pairs(self, rows: pa.Table) -> np.ndarray:
        """Number of each row's corpus and item together; -1 for strangers."""
        corpora, items = _at(rows["corpus"], self._corpora), _at(rows["item"], self._names)
        return np.where((corpora >= 0) & (items >= 0), corpora * len(self._names) + items, -1)


def _at(column: pa.ChunkedArray, names: pa.Array) -> np.ndarray:
    """Place of each text of a column among some names, int64 [n]; -1 for none. Texts recur: each is sought once."""
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    places = pc.index_in(encoded.dictionary, names).fill_null(-1).to_numpy(zero_copy_only=False)
    at = np.append(places, -1).astype(np.int64)
    return np.asarray(at[encoded.indices.fill_null(len(places)).to_numpy(zero_copy_only=False)])
