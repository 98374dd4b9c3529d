"""Shifts by cell, ready for flip risks at any gap: read once, asked often."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import ArrayLike

from core.analysis.shift_pairs import ShiftPairs

COLUMNS = ("evaluator", "axis", "family", "corpus", "item", "delta", "baseline_score")
"""Columns of the store's ``shifts`` that the cells of evaluators and families need."""

BY = ("evaluator", "axis", "family")


@dataclass(frozen=True, slots=True)
class Cell:
    """Shifts of one cell.

    Args:
        names: value of each column that makes the cell.
        pairs: its shifts in order.
        spread: interquartile range of its evaluator's baseline scores, one an item; NaN without a score.
        n_shifts: shifts that were scored.
        n_missing: shifts that were not.
    """

    names: tuple[object, ...]
    pairs: ShiftPairs
    spread: float
    n_shifts: int
    n_missing: int


def shift_cells(shifts: pd.DataFrame | pa.Table, *, by: Sequence[str] = BY) -> tuple[Cell, ...]:
    """Sort shifts into cells, in O(n log n).

    Args:
        shifts: rows of the store's ``shifts`` view; needs the columns in ``by`` and evaluator, corpus, item, delta,
            baseline_score.
        by: columns that make a cell; a shift without a value in one of them is left out.

    Returns:
        The cells in the order of their names.
    """
    columns = {name: _codes(shifts, name) for name in {*by, "evaluator", "corpus", "item"}}
    delta, before = (_numbers(shifts, name) for name in ("delta", "baseline_score"))
    items, _ = _crossed([columns["corpus"], columns["item"]])
    spreads = _spreads(columns["evaluator"][0], items, before)
    cells, names = _crossed([columns[name] for name in by])
    order = np.argsort(cells.astype(np.int16 if len(names) < 2**15 else np.int64), kind="stable")
    ends = np.cumsum(np.bincount(cells[order] + 1, minlength=len(names) + 1))
    evaluators = columns["evaluator"][0]
    found = []
    for rank, name in enumerate(names):
        rows = order[ends[rank] : ends[rank + 1]]
        values = delta[rows]
        missing = int(np.isnan(values).sum())
        spread = spreads.get(int(evaluators[rows[0]]), math.nan)
        found.append(Cell(name, ShiftPairs(values, items[rows]), spread, len(rows) - missing, missing))
    return tuple(sorted(found, key=lambda cell: cell.names))


def interquartile_range(scores: ArrayLike) -> float:
    """Distance from the first to the third quartile of an evaluator's scores; NaN without a score."""
    values = np.asarray(scores, dtype=np.float64).ravel()
    values = values[~np.isnan(values)]
    if len(values) == 0:
        return math.nan
    low, high = np.quantile(values, [0.25, 0.75])
    return float(high - low)


_Coded = tuple[np.ndarray, list[object]]


def _codes(shifts: pd.DataFrame | pa.Table, name: str) -> _Coded:
    """A number for each row's value, -1 where it has none, and the values."""
    if isinstance(shifts, pd.DataFrame):
        codes, values = pd.factorize(shifts[name])
        return codes, list(values)
    coded = shifts.column(name).dictionary_encode().combine_chunks()
    if isinstance(coded, pa.ChunkedArray):  # of no rows
        return np.empty(0, dtype=np.intp), []
    indices = coded.indices if coded.null_count == 0 else coded.indices.fill_null(-1)
    return indices.to_numpy(zero_copy_only=False), coded.dictionary.to_pylist()


def _numbers(shifts: pd.DataFrame | pa.Table, name: str) -> np.ndarray:
    if isinstance(shifts, pd.DataFrame):
        return shifts[name].to_numpy(dtype=np.float64, na_value=math.nan)
    return shifts.column(name).to_numpy().astype(np.float64, copy=False)


def _crossed(columns: Sequence[_Coded]) -> tuple[np.ndarray, list[tuple[object, ...]]]:
    """Rank of each row's values among those that occur together, -1 where one is missing; and those values."""
    crossed = np.zeros(len(columns[0][0]), dtype=np.int64)
    for codes, values in columns:
        crossed *= max(len(values), 1)
        crossed += codes
    for codes, _ in columns:
        if len(codes) and codes.min() < 0:
            crossed[codes < 0] = -1
    size = math.prod(max(len(values), 1) for _, values in columns)
    if size <= 4 * len(crossed) + 1_000_000:
        crossed += 1
        seen = np.flatnonzero(np.bincount(crossed, minlength=1)[1:])
        ranks = np.full(size + 1, -1)  # the first is that of a row without a value
        ranks[seen + 1] = np.arange(len(seen))
        ranked = ranks[crossed]
    else:
        seen, ranked = np.unique(crossed, return_inverse=True)
        missing = int(len(seen) > 0 and seen[0] < 0)
        seen, ranked = seen[missing:], ranked - missing
    names = []
    for place in seen.tolist():
        name: list[object] = []
        for _, values in reversed(columns):
            place, code = divmod(place, max(len(values), 1))
            name.append(values[code])
        names.append(tuple(reversed(name)))
    return ranked, names


def _spreads(evaluators: np.ndarray, items: np.ndarray, before: np.ndarray) -> dict[int, float]:
    """Interquartile range of the items' baseline scores by evaluator; an item's is the median of its rows."""
    known = ~np.isnan(before) & (evaluators >= 0) & (items >= 0)
    evaluators, items, before = evaluators[known].astype(np.int64), items[known], before[known]
    if len(before) == 0:
        return {}
    width = int(items.max()) + 1
    groups = evaluators * width + items
    one = np.full((int(evaluators.max()) + 1) * width, math.nan)
    one[groups] = before
    # most items have one baseline; where captions differ they have several
    several = np.zeros(len(one), dtype=bool)
    several[groups[one[groups] != before]] = True
    mixed = several[groups]
    if mixed.any():
        medians = pd.Series(before[mixed]).groupby(groups[mixed]).median()
        one[medians.index.to_numpy()] = medians.to_numpy()
    table = one.reshape(-1, width)
    return {evaluator: interquartile_range(row) for evaluator, row in enumerate(table)}
