"""Stability and sensitivity: both demands on an evaluator, never one without the other.

A score that never moves is stable under every harmless edit; only a broken meaning tells it from a good one. Whoever
orders or names evaluators by stability alone praises the deaf.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from core.analysis.comparisons import families
from core.analysis.effects import corpora, median_over
from core.analysis.memo import once
from core.analysis.questions.columns import marks, one_a_line
from core.analysis.questions.selective import PLANE, headline, plane, unverified, usual
from core.analysis.selectivity import harmless, lack
from core.analysis.table import View
from core.charts.spec import Figure
from core.statistics.arithmetic import row_medians
from core.statistics.wording import counted

FALLS = "typically drops when the meaning breaks"
NO_FALL = "typically does not drop when the meaning breaks"
OPEN = "is not shown to drop typically when the meaning breaks"
FEW = "has too few broken meanings to tell whether it drops at them"
NOT_ASKED = "was not tested on broken meanings"

HALF = (
    "Half of the question is open: these runs break no meaning, so a score that stays the same may be stable or deaf. "
    "No evaluator is better than another by this."
)
OTHER_HALF = (
    "Half of the question is open: these runs have no harmless edit, so a score that drops may do so at anything. "
    "No evaluator is better than another by this."
)

TITLE = "Stable and sensitive?"
ALONE = "Change under harmless edits"
"""Title of the figure where no meaning was broken."""

NOTE = (
    "Up and to the left is better. On the line {0} × a broken meaning costs {0} times what a harmless edit changes. "
    "SD: standard deviations of the unedited scores; bars are 95 % intervals."
)
_ACROSS = "change under harmless edits, SD"


def falls(n: float, signal: float, low: float, high: float) -> str:
    """Say whether an evaluator drops when the meaning breaks, in the middle item: at many of its tests it may not.

    Args:
        n: items with a broken meaning.
        signal: median over them of an item's median drop.
        low, high: of its 95 % interval; NaN without one.

    Example:
        >>> falls(40, 0.3, 0.2, 0.4), falls(40, 0.0, 0.0, 0.0), falls(2, 0.3, math.nan, math.nan)
        ('typically drops when the meaning breaks', 'typically does not drop when the meaning breaks', \
'has too few broken meanings to tell whether it drops at them')
    """
    if not n or math.isnan(signal):
        return NOT_ASKED
    if math.isnan(low):
        return FEW
    if low > 0:
        return FALLS
    return NO_FALL if high <= 0 else OPEN


def told_together(verdicts: Mapping[str, str]) -> str:
    """Say which evaluators drop when the meaning breaks, a sentence a verdict; the evaluators by name.

    Args:
        verdicts: evaluator -> one of the verdicts here.

    Example:
        >>> told_together({"b": FALLS, "a": FALLS, "c": NO_FALL})
        'Typically drops when the meaning breaks: a, b. Typically does not drop when the meaning breaks: c.'
    """
    order = (FALLS, OPEN, NO_FALL, FEW, NOT_ASKED)
    named = {each: sorted(name for name, said in verdicts.items() if said == each) for each in order}
    return " ".join(f"{said[0].upper()}{said[1:]}: {', '.join(names)}." for said, names in named.items() if names)


def balance(found: pd.DataFrame) -> str:
    """Say how many times as far each evaluator drops at a broken meaning as a harmless edit moves it, most first.

    Args:
        found: of :func:`demands`, of one corpus.

    Returns:
        A sentence of those that drop when the meaning breaks, and one for each other verdict.
    """
    own = found.set_index(found["evaluator"].astype(str))
    noticed = own[own["falls"].eq(FALLS) & np.isfinite(own["ratio"].astype(float))].sort_values(
        "ratio", ascending=False, kind="stable"
    )
    told = [f"{ratio:.2g} ×" if ratio < 10 else f"{ratio:.0f} ×" for ratio in noticed["ratio"]]
    says = "{} drops {} as much when the meaning breaks as it changes under harmless edits{}."
    more = "".join(f", {name} {times}" for name, times in zip(noticed.index[1:], told[1:], strict=True))
    first = says.format(noticed.index[0], told[0], more) if told else ""
    others = own.drop(index=noticed.index)["falls"].to_dict()
    return " ".join(filter(None, (first, told_together({str(name): str(said) for name, said in others.items()}))))


def in_brief(view: View) -> str:
    """What some scores say of their evaluators, in a few words; empty where they say nothing of either demand.

    Returns:
        How many drop when the meaning breaks; where none was broken, how far harmless edits change scores.
    """
    found = demands(view)
    asked = found[~found["falls"].isin((FEW, NOT_ASKED))]
    if len(asked):
        notice = int((asked["falls"] == FALLS).sum())
        verb = "drops" if 1 in (notice, len(asked)) else "drop"
        return f"{notice} of {counted(len(asked), 'metric')} typically {verb} when the meaning breaks"
    if (found["falls"] == FEW).any():
        return FEW.replace("has too few", "Too few").replace("it drops", "metrics drop")
    known = found["nuisance"].dropna()
    if known.empty:
        return ""
    ends = list(dict.fromkeys(f"{each:.2f}" for each in (known.min(), known.max())))
    return f"Harmless edits change scores by {' to '.join(ends)} of their spread between pictures (SD)"


def half_asked(view: View) -> str:
    """Which half of the question these scores leave open, in sentences; empty where they answer both."""
    if not lack(view):
        return ""
    return OTHER_HALF if families(view) else HALF


@once
def demands(view: View) -> pd.DataFrame:
    """Both demands on every evaluator that sees the picture, corpus by corpus, evaluators by name.

    Returns:
        Columns evaluator, corpus, of (which comparisons; empty without any), n_items, nuisance, nuisance_low,
        nuisance_high (how far harmless edits move it), signal, signal_low, signal_high (how much a broken meaning
        costs; NaN where none was made), value, low, high (selectivity, likewise) and falls (of the verdicts here).
    """
    found = _calm(view) if lack(view) else usual(headline(view))
    return found.assign(
        falls=[
            falls(*each)
            for each in found[["n_items", "signal", "signal_low", "signal_high"]].itertuples(index=False, name=None)
        ]
    ).sort_values(["corpus", "evaluator"], kind="stable", ignore_index=True)


def _calm(view: View) -> pd.DataFrame:
    """What :func:`core.analysis.questions.selective.headline` says of harmless edits, where no meaning was broken."""
    table, rows = view.table, []
    edits = tuple(name for probes in harmless(view).values() for name in probes)
    for name in view.evaluators if edits else ():
        if name in table.blind:
            continue
        shifts, _ = view.shifts(name, edits)
        harms = row_medians(np.ascontiguousarray(np.abs(shifts)))
        for corpus, own in corpora(table):
            unit = table.spread(name, corpus)
            scaled = harms / (unit if unit > 0 else math.nan)
            found = median_over(scaled, own & view.items & ~np.isnan(scaled), table.sources)
            if found.n:
                rows.append((name, corpus, found.n, found.estimate, found.low, found.high))
    known = pd.DataFrame(rows, columns=["evaluator", "corpus", "n_items", "nuisance", "nuisance_low", "nuisance_high"])
    nothing = dict.fromkeys(("signal", "signal_low", "signal_high", "value", "low", "high"), math.nan)
    return known.assign(of="", **nothing)


def demands_figure(view: View) -> Figure:
    """The plane of both demands; where no meaning was broken the one axis alone, evaluators by name."""
    found = demands(view)
    if lack(view):
        return _one_axis(found, half_asked(view))
    several = len(set(found["corpus"])) > 1
    kept = {str(name): unverified(rows) for name, rows in found.groupby("corpus")}
    said = [": ".join(filter(None, (name if several else "", kept[name]))) for name in found["corpus"].astype(str)]
    figure = plane(found.assign(panel=said), PLANE, TITLE, "")
    return replace(figure, note=NOTE.format(f"{max(each.ratio for each in figure.rays):g}"))


def _one_axis(found: pd.DataFrame, note: str) -> Figure:
    own = found.rename(columns={"value": "_", "low": "_low", "high": "_high"}).rename(
        columns={"nuisance": "value", "nuisance_low": "low", "nuisance_high": "high"}
    )
    data = marks(own, label="evaluator", series="evaluator", panel=("corpus",), values=("value", "low", "high"))
    return Figure(
        PLANE,
        ALONE,
        note,
        data,
        _ACROSS,
        span=(0.0, None),
        counts=True,
        overlay=one_a_line(data),
        order=tuple(sorted(map(str, data["label"].unique()))),
    )
