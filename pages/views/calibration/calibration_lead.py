"""What one gets of a calibration: in one sentence, under which edits it is sure, and what it rests on."""

import math
from typing import Any

import pandas as pd

from core.features.calibration.effect import OF_AXES
from core.features.calibration.fit import HUMAN
from core.probes.base import Axis
from core.probes.titles import family_title
from pages.views.common.text import counted, listed, number, safe

LED = (OF_AXES, "spearman", "sensitivity")  # measures that the line is of

_TO = "\N{WORD JOINER}–\N{WORD JOINER}"  # both ends of an interval stay on one line

_NAMED = 4  # kinds of edits up to which each is named


def lead(changed: pd.DataFrame, evaluator: str) -> str:
    """Say how much less harmless edits move an evaluator, and what becomes of its rank agreement.

    Args:
        changed: ``core.features.calibration.effect.before_after`` of the held-out items, or what was measured of them:
            LED at least; up to four kinds of edits are named.

    Returns:
        A sentence in markdown, its names made safe; empty where nothing is known.
    """
    axes = _known_axes(changed)
    if not axes:
        return ""
    levels = ("95\N{NO-BREAK SPACE}% interval ", *[""] * (len(axes) - 1))
    first, *others = [f"{_moved(row)} ({_ends(row, of)})" for row, of in zip(axes, levels, strict=True)]
    names = [f"{safe(row['axis'])} edits{_kinds(changed, row['axis'])}" for row in axes]
    more = "".join(f", {name} {each}" for name, each in zip(names[1:], others, strict=True))
    # a societal word may be true of the picture: nobody knows that it is harmless
    edits = f"{names[0][:1].upper()}{names[0][1:]}" if axes[0]["axis"] == Axis.SOCIETAL else f"Harmless {names[0]}"
    return f"{edits} move {safe(evaluator)} {first}{more}{_agreement(changed)}."


def _kinds(changed: pd.DataFrame, axis: str) -> str:
    """The kinds of edits of an axis, where they are few enough to be named."""
    rows = changed[(changed["measure"] == "sensitivity") & (changed["axis"] == axis)]
    named = [safe(family_title(str(name))) for name in rows["name"]]
    return f" ({', '.join(named)})" if 0 < len(named) <= _NAMED else ""


def _agreement(changed: pd.DataFrame) -> str:
    """How rank agreement changes, to a hundredth: point estimates bear no more."""
    known = changed[changed["measure"] == "spearman"].dropna(subset=["before", "after"])
    if known.empty:
        return ""
    people = bool(known["name"].eq(HUMAN).any())
    others = int(known["name"].ne(HUMAN).sum())
    metrics = f"{others} other metric{'' if others == 1 else 's'}" if others else ""
    whom = " and ".join(filter(None, (metrics, HUMAN if people else "")))
    rises = (known["after"] - known["before"]).round(2)
    low, high = float(rises.min()), float(rises.max())
    near, far = sorted((abs(low), abs(high)))
    about = f"{near:.2f}" if near == far else f"{near:.2f} to {far:.2f}"
    if low == high == 0:
        how = "hardly changes"
    elif low < 0 < high:
        how = f"changes by about −{-low:.2f} to +{high:.2f}"
    else:
        how = f"{'falls' if low < 0 else 'rises'} by about {about}"
    return f"; rank agreement with {whom} {how}"


def surely(changed: pd.DataFrame) -> str:
    """Say under which kinds of edits it is sure, by the interval of what is left; empty for one kind.

    Args:
        changed: as of :func:`lead`; both sides of its ratios are of the same pictures in every bootstrap sample.
    """
    rows = changed[changed["measure"] == "sensitivity"].dropna(subset=["ratio_low", "ratio_high"])
    if len(rows) < 2:
        return ""
    less, more = rows["ratio_high"] < 1, rows["ratio_low"] > 1

    def kinds(part: pd.Series) -> str:
        names = [safe(family_title(str(name))) for name in rows.loc[part, "name"]]
        return listed(names) if len(rows) <= _NAMED else f"{len(names)} of {len(rows)} kinds of edits"

    clear = [
        f"{word} is clear for {kinds(part)}" for word, part in (("the fall", less), ("a rise", more)) if part.any()
    ]
    unclear = ~(less | more)
    if not clear:
        return "Compared picture by picture, neither a fall nor a rise is clear for any of them."
    rest = f", {'neither' if clear[1:] else 'not'} for {kinds(unclear)}" if unclear.any() else ""
    return f"Compared picture by picture, {' and '.join(clear)}{rest}."


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


def _ends(row: dict[Any, Any], of: str) -> str:
    """The interval of the same behind the words ``of``, from the least to the most that is taken off; no more is
    claimed than it allows."""
    low, high = (100 * (float(row.get(name, math.nan)) - 1) for name in ("ratio_low", "ratio_high"))
    if math.isnan(low):
        return "no interval"
    if low <= 0 <= high:
        return f"{of}{_share(low)} to {_share(high)}, which may be chance"
    near, far = sorted((abs(low), abs(high)))
    return f"{of}{near:.0f}{_TO}{far:.0f}\N{NO-BREAK SPACE}%"


def _share(share: float) -> str:
    return f"{abs(share):.0f}\N{NO-BREAK SPACE}% {'more' if share > 0 else 'less'}"
