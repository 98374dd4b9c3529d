"""Contrasts: how far a probe or a family moves a score from its baseline, with its interval.

A contrast is computed per item first: an item's shifts under one family (say its four rotations) are
summarised by their median, so that every item counts once and the bootstrap resamples items.
"""

from collections.abc import Sequence

import pandas as pd

from core.analysis.bootstrap import Interval, median_bca

MARGIN = 1.0
"""Default equivalence margin, in percent. Source: PROTOCOL section 3."""

MOVES = "moves"
MOVES_WITHIN = "moves, but within the margin"
INVARIANT = "invariant within the margin"
UNDECIDED = "undecided"


def verdict(moved: Interval, equivalent: Interval, *, margin: float = MARGIN) -> str:
    """Say in words what the intervals of one contrast allow to claim.

    Args:
        moved: 95 % interval of the median percent change: does it exclude 0?
        equivalent: 90 % interval of the same: does it lie inside ±margin (TOST at 5 %)?
        margin: in percent.

    Returns:
        One of MOVES, MOVES_WITHIN, INVARIANT, UNDECIDED. A shift can differ from zero and still be
        negligible; that case has its own word instead of hiding behind one of the two.

    Source: PROTOCOL section 3, Equivalence.
    """
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
    records = [
        {**dict(zip(keys, cell if isinstance(cell, tuple) else (cell,), strict=True)), **_cell(rows, margin)}
        for cell, rows in shifts.groupby(keys, sort=True, observed=True)
    ]
    return pd.DataFrame(records, columns=keys + list(_CELL_COLUMNS))


_CELL_COLUMNS = (
    "median_percent", "low", "high", "median_abs_percent", "abs_low", "abs_high",
    "n_items", "n_shifts", "n_zero_baseline", "n_missing", "verdict",
)  # fmt: skip


def _cell(rows: pd.DataFrame, margin: float) -> dict[str, object]:
    items = rows.assign(absolute=rows["percent"].abs()).groupby(["corpus", "item"], observed=True)
    per_item = items[["percent", "absolute"]].median().dropna()
    signed = median_bca(per_item["percent"])
    size = median_bca(per_item["absolute"])
    scored = rows["delta"].notna()
    return {
        "median_percent": signed.estimate,
        "low": signed.low,
        "high": signed.high,
        "median_abs_percent": size.estimate,
        "abs_low": size.low,
        "abs_high": size.high,
        "n_items": signed.n,
        "n_shifts": int(rows["percent"].notna().sum()),
        "n_zero_baseline": int((scored & rows["percent"].isna()).sum()),
        "n_missing": int((~scored).sum()),
        "verdict": verdict(signed, median_bca(per_item["percent"], level=0.90), margin=margin),
    }
