"""Is the effect of repositioning one of the object's place, or of the compositing? Source: paper A, A.8, Table 2."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.analysis.bootstrap import median_bca
from core.audit.schema import SHIFT_FLOOR
from core.errors import InvalidInput

SHARES = (5, 10)
"""Shares of the composites that a filter drops, in percent. Source: paper A, A.8."""

FILTERS = {
    "seam": ("seam_energy",),
    "background": ("bg_delta",),
    "either": ("seam_energy", "bg_delta"),
}
"""What each filter looks at."""


def artifact_filters(
    shifts: pd.DataFrame,
    *,
    probes: tuple[str, str] = ("reposition-TL", "reposition-BR"),
    shares: Sequence[float] = SHARES,
    by: Sequence[str] = ("evaluator",),
) -> pd.DataFrame:
    """Median percent change from the first probe to the second, with ever more suspicious composites dropped.

    Each filter ranks the composites of both probes by their diagnostic and drops the top q %; an item is left
    out where one of its two composites is. A composite without the diagnostic is never dropped by it.

    Args:
        shifts: rows of the store's ``shifts`` view; needs ``by`` and corpus, item, subject, probe, score,
            seam_energy, bg_delta.
        probes: the two anchors compared, e.g. bottom right against top left.
        shares: q, in percent.
        by: columns that make a cell.

    Returns:
        One row a (cell, filter, q), the unfiltered one first: ``by`` + filter, q, cut_items, median_percent,
        low, high, n_items, same_direction (as unfiltered), overlaps (the intervals do), note.

    Raises:
        InvalidInput: if a share is not in [0, 100).
    """
    if not all(0 <= q < 100 for q in shares):
        raise InvalidInput(f"a filter drops between 0 and 100 percent, got {list(shares)}")
    keys, records = list(by), []
    rows = shifts[shifts["probe"].isin(probes)]
    for cell, group in rows.groupby(keys, sort=True, observed=True):
        names = dict(zip(keys, cell, strict=True))
        records += [{**names, **record} for record in _cell(group, probes, shares)]
    return pd.DataFrame(records, columns=[*keys, *_COLUMNS])


_COLUMNS = (
    "filter", "q", "cut_items", "median_percent", "low", "high", "n_items", "same_direction", "overlaps", "note",
)  # fmt: skip
_ITEM = ["corpus", "item", "subject"]


def _cell(rows: pd.DataFrame, probes: tuple[str, str], shares: Sequence[float]) -> list[dict[str, object]]:
    first, second = (rows[rows["probe"] == probe].set_index(_ITEM)["score"] for probe in probes)
    percent = (100 * (second - first) / first.where(first.abs() >= SHIFT_FLOOR)).dropna()
    whole = median_bca(percent)
    records = []
    for name, q, cut in _cuts(rows, shares):
        kept = percent[~percent.index.isin(cut)]
        found = median_bca(kept)
        records.append(
            {
                "filter": name,
                "q": q,
                "cut_items": len(percent) - len(kept),
                "median_percent": found.estimate,
                "low": found.low,
                "high": found.high,
                "n_items": found.n,
                "same_direction": bool(np.sign(found.estimate) == np.sign(whole.estimate)),
                "overlaps": bool(found.low <= whole.high and whole.low <= found.high),
                "note": found.note,
            }
        )
    return records


def _cuts(rows: pd.DataFrame, shares: Sequence[float]) -> list[tuple[str, float, pd.MultiIndex]]:
    """Name, share and items of every filter."""
    items = pd.MultiIndex.from_frame(rows[_ITEM])
    cuts = [("none", 0.0, items[:0])]
    for name, columns in FILTERS.items():
        for q in shares:
            worst = np.zeros(len(rows), dtype=bool)
            for column in columns:
                worst |= _top(rows[column].to_numpy(dtype=np.float64), q)
            cuts.append((name, float(q), items[worst].unique()))
    return cuts


def _top(values: np.ndarray, q: float) -> np.ndarray:
    """Marks the q % largest of the values that are there; a NaN is never marked."""
    present = np.flatnonzero(~np.isnan(values))
    count = round(len(present) * q / 100)
    marks = np.zeros(len(values), dtype=bool)
    marks[present[np.argsort(-values[present], kind="stable")[:count]]] = True
    return marks
