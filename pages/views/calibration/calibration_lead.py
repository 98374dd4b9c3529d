"""What one gets of a calibration: in one sentence, under which edits it is sure, and what it rests on."""

import math
from typing import Any

import pandas as pd

from core.features.calibration.effect import OF_AXES
from core.probes.titles import family_title
from pages.views.common.text import counted, listed, number, safe

LED = (OF_AXES, "spearman", "sensitivity")
"""Measures that the line is of."""

_TO = "\N{WORD JOINER}–\N{WORD JOINER}"  # both ends of an interval stay on one line

_NAMED = 4
"""Kinds of edits up to which each is named."""


def lead(changed: pd.DataFrame, evaluator: str) -> str:
    """Say how much less harmless edits move an evaluator, and how far its agreement falls.

    Args:
        changed: ``core.features.calibration.effect.before_after`` of the held-out items, or what was measured of them:
            LED at least.
        evaluator: its name.

    Returns:
        A sentence in markdown, its names made safe; empty where nothing is known.
    """
    axes = _known_axes(changed)
    if not axes:
        return ""
    first, *others = [f"{_moved(row)} {_ends(row)}" for row in axes]
    names = [safe(row["axis"]) for row in axes]
    more = "".join(f", {name} edits {each}" for name, each in zip(names[1:], others, strict=True))
    known = changed[changed["measure"] == "spearman"].dropna(subset=["before", "after"])
    falls = round(float((known["before"] - known["after"]).max()), 3) if len(known) else math.nan
    told = "does not fall" if falls <= 0 else f"falls by at most {falls:.3f}"
    order = "" if math.isnan(falls) else f"; agreement {told}"
    return f"Harmless {names[0]} edits move {safe(evaluator)} {first}{more}{order}."


def surely(changed: pd.DataFrame) -> str:
    """Say under which kinds of edits it is sure, by the interval of what is left; empty for one kind.

    Args:
        changed: as of :func:`lead`; both sides of its ratios are of the same pictures in every bootstrap sample.
    """
    rows = changed[changed["measure"] == "sensitivity"].dropna(subset=["ratio_low", "ratio_high"])
    if len(rows) < 2:
        return ""
    less, more = rows["ratio_high"] < 1, rows["ratio_low"] > 1
    parts = []
    for word, part in (("less for sure", less), ("more for sure", more), ("not sure", ~(less | more))):
        names = [safe(family_title(str(name))) for name in rows.loc[part, "name"]]
        if names:
            kinds = listed(names) if len(rows) <= _NAMED else f"{len(names)} of {len(rows)} kinds of edits"
            parts.append(f"{word}: {kinds}")
    said = "; ".join(parts)
    return f"Before and after compared picture by picture, {said}."


def rests_on(changed: pd.DataFrame, strength: float, basis: str) -> str:
    """Say what the line rests on: the strength, how its numbers came about, the items, both sides of each number.

    Args:
        changed: as of :func:`lead`.
        strength: λ, in [0, 1].
        basis: how the numbers came about, e.g. ``by construction`` or ``measured``.

    Returns:
        Markdown, its names made safe; empty where nothing is known.
    """
    axes = _known_axes(changed)
    if not axes:
        return ""
    counts = sorted({int(row["n"]) for row in axes})
    of = f"{counts[0]} to {counted(counts[-1], 'picture')}" if counts[1:] else counted(counts[0], "picture")
    sides = listed([f"{safe(row['axis'])} {number(row['before'])} → {number(row['after'])} SD" for row in axes])
    known = changed[changed["measure"] == "spearman"].dropna(subset=["before", "after"])
    kept = [
        f"with {safe(row['name'])} {number(row['before'])} → {number(row['after'])}" for row in known.to_dict("records")
    ]
    order = f" Rank agreement (Spearman) {'; '.join(kept)}." if kept else ""
    told = f"Strength {strength:g}, {safe(basis)}, on {of} not used for fitting"
    return f"{told}. Typical change: {sides}.{order}"


def _known_axes(changed: pd.DataFrame) -> list[dict[Any, Any]]:
    axes = changed[changed["measure"] == OF_AXES].to_dict("records")
    return [row for row in axes if float(row["before"]) > 0 and not math.isnan(float(row["after"]))]


def _moved(row: dict[Any, Any]) -> str:
    """How much less or more."""
    share = 100 * (float(row["after"]) / float(row["before"]) - 1)
    return "as far as before" if round(abs(share)) == 0 else _share(share)


def _ends(row: dict[Any, Any]) -> str:
    """The interval of the same, from the least to the most that is taken off; no more is claimed than it allows."""
    low, high = (100 * (float(row.get(name, math.nan)) - 1) for name in ("ratio_low", "ratio_high"))
    if math.isnan(low):
        return "(no interval)"
    if low <= 0 <= high:
        return f"({_share(low)} to {_share(high)}, which may be chance)"
    near, far = sorted((abs(low), abs(high)))
    return f"({near:.0f}{_TO}{far:.0f}\N{NO-BREAK SPACE}%)"


def _share(share: float) -> str:
    return f"{abs(share):.0f}\N{NO-BREAK SPACE}% {'more' if share > 0 else 'less'}"
