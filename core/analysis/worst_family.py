"""Which family is the worst? One order, for the card, the report's first page and whoever else names one."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.analysis.flips.risk import BY, IQR, cell_risks, shift_cells
from core.analysis.table import View

CARD_GAP = 0.007
"""Gap of the card's flip risk. Source: PROTOCOL section 4 (paper A, 3.4)."""

SIZE = ("median_abs_percent", "abs_high", "beyond")
"""Of two families the worse has the larger median |%Δ|; else its interval reaches further; else more items lie beyond
the margin; else its flip risk is the higher. Their names never tell. A family of too few items or sources for an
interval is behind every family that has one, whatever its median: nothing is claimed of it."""


def worst_first(view: View, cells: pd.DataFrame, keys: Sequence[str], *, first: Sequence[str] = ()) -> pd.DataFrame:
    """Put families in order, the worst first.

    Flip risks, which cost more, are worked out of those alone that share the first place by everything else.

    Args:
        view: that the families were asked of.
        cells: a row a family: evaluator, corpus, axis, family, the columns of SIZE and of ``first``.
        keys: columns whose values have a worst family each.
        first: columns that come before SIZE, the larger the worse.

    Returns:
        The rows in order, and ``alike``: of a first row, how many rows of its keys nothing tells from it, it included.
    """
    cells = cells.assign(told=cells["abs_high"].notna())
    order = ["told", *first, *SIZE]
    ranked = cells.sort_values([*order, "family"], ascending=[False] * len(order) + [True])
    known = ranked[order].astype(float).fillna(-1.0)
    top = (known == known.groupby([ranked[key] for key in keys]).transform("first")).all(axis=1)
    ranked = ranked.assign(top=top, risk=_risks(view, ranked[top], keys))
    falling = ["top", "risk", *order]
    ranked = ranked.sort_values([*falling, "family"], ascending=[False] * len(falling) + [True])
    best = ranked.groupby(list(keys))["risk"].transform("first")
    alike = (ranked["top"] & (ranked["risk"] == best)).groupby([ranked[key] for key in keys]).transform("sum")
    return ranked.assign(alike=alike).drop(columns=["top", "risk", "told"])


def _risks(view: View, top: pd.DataFrame, keys: Sequence[str]) -> "pd.Series[float]":
    """Flip risk of the families that share a first place; 0 of one that has it alone, or has no risk."""
    names = [tuple(each) for each in top[list(BY)].itertuples(index=False, name=None)]
    wanted = {name for name, tied in zip(names, top.duplicated(list(keys), keep=False), strict=True) if tied}
    if not wanted:
        return pd.Series(0.0, index=top.index)
    found = [each for each in shift_cells(view) if (each.evaluator, each.corpus, each.axis, each.family) in wanted]
    risks = cell_risks(found, gaps=(CARD_GAP,), unit=IQR).set_index(list(BY))["risk"].fillna(0.0).to_dict()
    return pd.Series([risks.get(name, 0.0) for name in names], index=top.index, dtype=float)


def furthest(found: pd.DataFrame, *, value: str, low: str = "low", high: str = "high") -> pd.DataFrame:
    """Rows of the largest value: of equal ones those whose interval reaches further, then begins higher.

    More than one where even these are the same, as they often are where scores have few values: all are to be named.

    Args:
        found: a row a family, in the order in which they are named.
        value, low, high: columns of what is the worse the larger, and of its interval's ends.
    """
    there = np.flatnonzero(found[value].notna())
    for name in (value, high, low):
        values = found[name].to_numpy(dtype=np.float64, na_value=math.nan)[there]
        values = np.where(np.isnan(values), -1.0, values)
        there = there[values == values.max(initial=-math.inf)]
    return found.iloc[there]
