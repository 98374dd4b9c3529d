"""What one gets of a calibration, in a sentence before any formula."""

import math
from typing import Any

import pandas as pd

from core.calibration.effect import OF_AXES
from pages.views.common.text import counted, listed, number, safe

LED = (OF_AXES, "spearman")
"""Measures that the sentence is of."""


def lead(changed: pd.DataFrame, strength: float, basis: str) -> str:
    """Say how much less the axes move at a strength, and what becomes of the order of the clean scores.

    Args:
        changed: ``core.calibration.effect.before_after`` of the held-out items, or what was measured of them: LED at
            least.
        strength: λ, in [0, 1].
        basis: how the numbers came about, e.g. ``by construction`` or ``measured``.

    Returns:
        Markdown, its names made safe; empty where nothing is known.
    """
    axes = changed[changed["measure"] == OF_AXES].to_dict("records")
    axes = [row for row in axes if float(row["before"]) > 0 and not math.isnan(float(row["after"]))]
    moved = [_moved(row) for row in axes]
    if not moved:
        return ""
    known = changed[changed["measure"] == "spearman"].dropna(subset=["before", "after"])
    kept = [_order(row) for row in known.to_dict("records")]
    counts = sorted({int(row["n"]) for row in axes})
    of = f"{counts[0]} to {counted(counts[-1], 'held-out item')}" if counts[1:] else counted(counts[0], "held-out item")
    said = listed(moved)
    order = f" Order of the unedited scores: {'; '.join(kept)}." if kept else ""
    return f"**{said[0].upper()}{said[1:]}** at λ = {strength:g}, {safe(basis)}, on {of}.{order}"


def _moved(row: dict[Any, Any]) -> str:
    """How much less an axis moves, with the interval of the ratio; no more is claimed than that allows."""
    share = 100 * (float(row["after"]) / float(row["before"]) - 1)
    low, high = (float(row.get(name, math.nan)) for name in ("ratio_low", "ratio_high"))
    ends = f"{number(row['before'])} → {number(row['after'])} SD"
    between = "" if math.isnan(low) else f"; after / before {low:.2f} to {high:.2f}"
    if round(abs(share)) == 0:
        return f"{safe(row['axis'])} edits move the score as far as before ({ends}{between})"
    told = f"{abs(share):.0f} % {'less' if share < 0 else 'more'}"
    chance = ", which may be chance" if low <= 1 <= high else ""
    return f"{safe(row['axis'])} edits move the score {told}{chance} ({ends}{between or '; no interval'})"


def _order(row: dict[Any, Any]) -> str:
    change = float(row["after"]) - float(row["before"])
    told = "as it was" if round(change, 3) == 0 else f"{'+' if change > 0 else '−'}{abs(change):.3f}"
    return f"ρ with {safe(row['name'])} {told} ({number(row['before'])} → {number(row['after'])})"
