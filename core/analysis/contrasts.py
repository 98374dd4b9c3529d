"""Contrasts: how far a probe or a family moves a score from its baseline, with its interval.

A contrast is computed per item first: an item's shifts under one family (say its four rotations) are
summarised by their median, so that every item counts once and the bootstrap resamples items.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from core.analysis.bootstrap import Interval, median_bca, median_bca_levels
from core.analysis.slices import Slice, where
from core.audit.store import Store

MARGIN = 1.0
"""Default equivalence margin, in percent. Source: PROTOCOL section 3."""

MOVES = "moves"
MOVES_WITHIN = "moves, but within the margin"
INVARIANT = "invariant within the margin"
UNDECIDED = "undecided"
TOO_FEW = "too few items"

LEAST_N = 10
"""Fewest items for which a verdict is given: below, an interval of a median is little more than the range."""


def verdict(moved: Interval, equivalent: Interval, *, margin: float = MARGIN) -> str:
    """Say in words what the intervals of one contrast allow to claim.

    Args:
        moved: 95 % interval of the median percent change: does it exclude 0?
        equivalent: 90 % interval of the same: does it lie inside ±margin (TOST at 5 %)?
        margin: in percent.

    Returns:
        One of MOVES, MOVES_WITHIN, INVARIANT, UNDECIDED, or TOO_FEW below LEAST_N items. A shift can differ from
        zero and still be negligible; that case has its own word instead of hiding behind one of the two.

    Source: PROTOCOL section 3, Equivalence.
    """
    if moved.n < LEAST_N:
        return TOO_FEW
    small = equivalent.within(margin)
    if moved.excludes_zero():
        return MOVES_WITHIN if small else MOVES
    return INVARIANT if small else UNDECIDED


def contrasts(shifts: pd.DataFrame, *, by: Sequence[str], margin: float = MARGIN) -> pd.DataFrame:
    """Median percent change and median |percent change| of every cell, over items.

    Args:
        shifts: rows of the store's ``shifts`` view; needs the columns in ``by`` and corpus, item,
            percent (NaN where the baseline is zero), delta (NaN where a score is missing).
        by: columns that make a cell, e.g. ``("evaluator", "axis", "family")``.
        margin: equivalence margin in percent.

    Returns:
        One row a cell: ``by`` + median_percent, low, high, median_abs_percent, abs_low, abs_high,
        n_items (items with a percent change), n_shifts, n_zero_baseline, n_missing, verdict.
    """
    keys = list(by)
    cells = shifts.groupby(keys, sort=True, observed=True)
    names = cells.size().index
    number = cells.ngroup().to_numpy()
    kept = number >= 0  # a row without a value of some key belongs to no cell
    items = shifts.groupby(["corpus", "item"], sort=False, observed=True).ngroup().to_numpy()
    percent, delta = (shifts[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in ("percent", "delta"))
    table = pd.DataFrame({"cell": number, "item": items, "percent": percent, "absolute": np.abs(percent)})[kept]
    medians = table.groupby(["cell", "item"], sort=True)[["percent", "absolute"]].median().dropna()
    edges = np.searchsorted(medians.index.get_level_values("cell"), np.arange(len(names) + 1))
    signed, size = medians["percent"].to_numpy(), medians["absolute"].to_numpy()
    scored, counted = ~np.isnan(delta[kept]), ~np.isnan(percent[kept])
    counts = [
        np.bincount(number[kept][marks].astype(np.intp), minlength=len(names)).tolist()
        for marks in (counted, scored & ~counted, ~scored)
    ]
    records = [
        _cell(signed[low:high], size[low:high], *told, margin=margin)
        for low, high, *told in zip(edges[:-1], edges[1:], *counts, strict=True)
    ]
    return _table(pd.DataFrame(names.to_frame(index=False), columns=keys), records)


def slice_contrasts(store: Store, chosen: Slice, *, by: Sequence[str], margin: float = MARGIN) -> pd.DataFrame:
    """Contrasts of a slice of the store: :func:`contrasts` without fetching its rows.

    Args:
        store: opened runs.
        chosen: which shifts to look at.
        by: columns of ``shifts`` that make a cell.
        margin: equivalence margin in percent.

    Returns:
        What :func:`contrasts` of the slice's rows returns.

    Raises:
        InvalidInput: if a column is not one of ``shifts``.
    """
    clause, params = where(chosen)
    keys = ", ".join(f's."{name}"' for name in by)
    names = ", ".join(f'"{name}"' for name in by)
    known = " and ".join(f's."{name}" is not null' for name in by)
    found = store.table(
        f"""select {names}, list(signed) filter (signed is not null) as signed,
               list(size) filter (size is not null) as size, sum(n_shifts)::bigint as n_shifts,
               sum(n_scored)::bigint - sum(n_shifts)::bigint as n_zero, sum(n_rows - n_scored)::bigint as n_missing
        from (select {keys}, median(s.percent) as signed, median(abs(s.percent)) as size,
                     count(s.percent) as n_shifts, count(s.delta) as n_scored, count(*) as n_rows
              from shifts s {clause} and {known} group by {keys}, s.corpus, s.item)
        group by {names} order by {names}""",
        params,
    )
    records = [
        _cell(_values(signed), _values(size), int(shifts), int(zero), int(missing), margin=margin)
        for signed, size, shifts, zero, missing in zip(
            found["signed"], found["size"], *(found[name].to_pylist() for name in _COUNTS), strict=True
        )
    ]
    return _table(found.select(list(by)).to_pandas(), records)


_COUNTS = ("n_shifts", "n_zero", "n_missing")
_CELL_COLUMNS = (
    "median_percent", "low", "high", "median_abs_percent", "abs_low", "abs_high",
    "n_items", "n_shifts", "n_zero_baseline", "n_missing", "verdict",
)  # fmt: skip


def _cell(
    signed: np.ndarray, size: np.ndarray, n_shifts: int, n_zero: int, n_missing: int, *, margin: float
) -> dict[str, object]:
    """Numbers of one cell from its items' medians."""
    moved, equivalent = median_bca_levels(signed, levels=(0.95, 0.90))
    absolute = median_bca(size)
    return {
        "median_percent": moved.estimate,
        "low": moved.low,
        "high": moved.high,
        "median_abs_percent": absolute.estimate,
        "abs_low": absolute.low,
        "abs_high": absolute.high,
        "n_items": moved.n,
        "n_shifts": n_shifts,
        "n_zero_baseline": n_zero,
        "n_missing": n_missing,
        "verdict": verdict(moved, equivalent, margin=margin),
    }


def _table(cells: pd.DataFrame, records: list[dict[str, object]]) -> pd.DataFrame:
    return pd.concat([cells, pd.DataFrame(records, columns=list(_CELL_COLUMNS))], axis=1)


def _values(listed: pa.ListScalar) -> np.ndarray:
    return listed.values.to_numpy(zero_copy_only=False) if listed.is_valid else np.empty(0)
