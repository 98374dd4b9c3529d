"""Stability and sensitivity: both demands on an evaluator, never one without the other.

A score that never moves is stable under every harmless edit; only a broken meaning tells it from a good one. Whoever
orders or names evaluators by stability alone praises the deaf.
"""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.comparisons import families
from core.analysis.effects import CELL, PLAIN, bounds, corpora, median_over
from core.analysis.questions.columns import marks
from core.analysis.questions.selective import PLANE, headline, plane, unverified, usual
from core.analysis.scores import once
from core.analysis.selectivity import harmless, lack
from core.analysis.table import View
from core.charts.spec import Figure, says_its_labels
from core.statistics.arithmetic import row_medians
from core.statistics.selectivity import NO_UNIT
from core.statistics.wording import counted, listed, metrics

FALLS = "typically drops when the meaning breaks"
NO_FALL = "typically does not drop when the meaning breaks"
OPEN = "is not shown to drop typically when the meaning breaks"
FEW = "has too few independent broken meanings to tell whether it drops at them"
SAME = "gives every unedited pair the same score, so that a drop has no unit"
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
ALONE = "Change under harmless edits"  # Title of the figure where no meaning was broken

NOTE = (
    "Up and to the left is better; a dashed line is the same × all along. "
    "SD: standard deviations of the unedited scores; bars are 95 % intervals."
)
_ACROSS = "change under harmless edits, SD"


def falls(n: float, signal: float, low: float, high: float) -> str:
    """Say whether an evaluator drops when the meaning breaks, in the middle item: at many of its tests it may not.

    Args:
        signal: median over them of an item's median drop.
        low, high: of its 95 % interval; NaN without one.

    Example:
        >>> falls(40, 0.3, 0.2, 0.4), falls(40, 0.0, 0.0, 0.0), falls(2, 0.3, math.nan, math.nan)
        ('typically drops when the meaning breaks', 'typically does not drop when the meaning breaks', \
'has too few independent broken meanings to tell whether it drops at them')
    """
    if not n or math.isnan(signal):
        return NOT_ASKED
    if math.isnan(low):
        return FEW
    if low > 0:
        return FALLS
    return NO_FALL if high <= 0 else OPEN


@dataclass(frozen=True, slots=True)
class Answer:
    """What one evaluator does at broken meanings beside harmless edits, in a few words."""

    evaluator: str  # its name
    told: str  # how many times as far it drops, ``Drops 7 ×``; where no ratio says anything, whether it drops
    ends: str  # of the ratio's 95 % interval; empty where there is none
    said: str  # words that go on from ``told``
    falls: str  # its verdict


FURTHER = "as far when the meaning breaks as harmless edits change it"  # Words behind a ratio

_SHORT: Mapping[str, tuple[str, str]] = {
    FALLS: ("Drops", "when the meaning breaks; no change under harmless edits is shown"),
    OPEN: ("Unclear", "whether it drops when the meaning breaks"),
    NO_FALL: ("No typical drop", "when the meaning breaks"),
    FEW: ("Too few", "independent broken meanings to tell whether it drops"),
    SAME: ("All the same", "scores: a drop has no unit"),
    NOT_ASKED: ("Not tested", "on broken meanings"),
}
"""Verdict -> what stands in the place of a ratio, and the words behind it; in the order of the answers."""


def answers(found: pd.DataFrame) -> tuple[Answer, ...]:
    """How many times as far each evaluator drops at a broken meaning as a harmless edit changes it; by verdict, name. A
    ratio is told of those alone that drop, where it has an interval and harmless edits are shown to change the score;
    ``found``: of :func:`demands`, of one corpus."""
    told = list[Answer]()
    for row in found.sort_values("evaluator").to_dict("records"):
        name, falls, value = str(row["evaluator"]), str(row["falls"]), float(row["ratio"])
        if _rated(row):
            ends = f"{times(row['ratio_low'])} to {times(row['ratio_high'])}"
            ends = ends if math.isfinite(row["ratio_high"]) else f"{times(row['ratio_low'])} or more"
            told.append(Answer(name, f"Drops {times(value)} ×", ends, FURTHER, falls))
        else:
            told.append(Answer(name, _SHORT[falls][0], "", _SHORT[falls][1], falls))
    return tuple(sorted(told, key=lambda each: (list(_SHORT).index(each.falls), not each.ends)))


def _rated(row: Mapping[Hashable, Any]) -> bool:
    """Whether the ratio of a row of :func:`demands` says something: the metric drops, and harmless edits change it."""
    falls = row["falls"] == FALLS and not row["said"]
    return falls and math.isfinite(row["ratio"]) and not math.isnan(row["ratio_low"])


_OTHERS: Mapping[str, tuple[str, str]] = {
    "unclear": (
        "does not clearly drop further than harmless edits change it",
        "do not clearly drop further than harmless edits change them",
    ),
    "less": ("drops less than harmless edits change it", "drop less than harmless edits change them"),
    FALLS: ("drops when the meaning breaks", "drop when the meaning breaks"),
    OPEN: (OPEN, "are not shown to drop typically when the meaning breaks"),
    NO_FALL: (NO_FALL, "typically do not drop when the meaning breaks"),
    FEW: ("has too few independent broken meanings to tell", "have too few independent broken meanings to tell"),
    SAME: ("gives every unedited pair the same score", "give every unedited pair the same score"),
    NOT_ASKED: (NOT_ASKED, "were not tested on broken meanings"),
}
"""What is said of one metric, and of several, that are not shown to drop further than harmless edits change them."""


def verdict(found: pd.DataFrame) -> str:
    """Which metrics drop further at a broken meaning than harmless edits change them, and which of these clearly more;
    ``found``: of :func:`demands`, of one corpus. Two are told apart where their intervals do not overlap; nothing is
    said of an order within overlapping ones. Returns a sentence; empty without a metric."""
    rows = found.sort_values("evaluator").to_dict("records")
    apart = [row for row in rows if _rated(row) and row["ratio_low"] > 1]
    others: dict[str, list[Mapping[Hashable, Any]]] = {each: [] for each in _OTHERS}
    for row in rows:
        if row not in apart:
            kind = "unclear" if row["ratio_high"] >= 1 else "less"
            others[kind if _rated(row) else str(row["falls"])].append(row)
    said = [*_apart(apart), *(f"{_few(own)} {_OTHERS[each][len(own) > 1]}" for each, own in others.items() if own)]
    return f"{'; '.join(said)}." if said else ""


def _apart(rows: Sequence[Mapping[Hashable, Any]]) -> Iterator[str]:
    """Say who drops further when the meaning breaks than harmless edits change it, and who less than the best."""
    if not rows:
        return
    best = max(rows, key=lambda row: float(row["ratio"]))
    first = [row for row in rows if row["ratio_high"] >= best["ratio_low"]]
    rest = [row for row in rows if row["ratio_high"] < best["ratio_low"]]
    least = max(float(row["ratio_low"]) for row in first)
    alike = all(row["ratio_high"] >= least for row in first)
    among = "with no clear difference between them" if alike else f"none clearly less than {best['evaluator']}"
    said = f"{_few(first)} {'tell' if len(first) > 1 else 'tells'} a broken meaning from a harmless edit"
    yield f"{said}{' best' if rest else ''}{f', {among}' if len(first) > 1 else ''}"
    if rest:
        below = max(row["ratio_high"] for row in rest) < min(row["ratio_low"] for row in first)
        yield f"{_few(rest)} less" + ("" if below else f" than {best['evaluator']}")


def _few(rows: Sequence[Mapping[Hashable, Any]]) -> str:
    return listed([str(row["evaluator"]) for row in rows], most=4)


def times(ratio: float) -> str:
    """A ratio, or an end of its interval, in as many digits as can be told: two, whole from 10 on.

    Example:
        >>> times(6.49), times(12.4), times(0.42)
        ('6.5', '12', '0.42')
    """
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2g}"


def in_brief(view: View) -> str:
    """What some scores say of their evaluators, in a few words; empty where they say nothing of either demand. Returns
    how many drop when the meaning breaks; where none was broken, how far all harmless edits together change scores."""
    found = demands(view)
    asked = found[~found["falls"].isin((FEW, SAME, NOT_ASKED))]
    if len(asked):
        notice = int((asked["falls"] == FALLS).sum())
        verb = "drops" if 1 in (notice, len(asked)) else "drop"
        return f"{notice} of {counted(len(asked), 'metric')} typically {verb} when the meaning breaks"
    if (found["falls"] == FEW).any():
        return FEW.replace("has too few", "Too few").replace("it drops", "metrics drop")
    return changed_most(found)


def changed_most(found: pd.DataFrame) -> str:
    """Whose scores harmless edits change most, as far as two decimals tell; empty where nothing is known; ``found``: of
    :func:`demands`.

    Example:
        >>> changed_most(pd.DataFrame({"evaluator": ["a", "b"], "nuisance": [0.18, 0.0]}))
        'Least stable: a, typically 0.18 SD under harmless edits'
    """
    known = found.dropna(subset=["nuisance"])
    if known.empty:
        return ""
    changed, highest = known["nuisance"].map("{:.2f}".format), f"{known['nuisance'].max():.2f}"
    most, said = changed == highest, f"typically {highest} SD under harmless edits"
    whose = metrics(list(known.loc[most, "evaluator"].unique()))
    return f"{said[:1].upper()}{said[1:]}" if most.all() else f"Least stable: {whose}, {said}"


def half_asked(view: View) -> str:
    """Which half of the question these scores leave open, in sentences; empty where they answer both."""
    if not lack(view):
        return ""
    return OTHER_HALF if families(view) else HALF


@once
def demands(view: View) -> pd.DataFrame:
    """Both demands on every evaluator that sees the picture, corpus by corpus, evaluators by name. Returns columns
    evaluator, corpus, of (which comparisons; empty without any), n_items, nuisance, nuisance_low, nuisance_high (how
    far harmless edits move it), signal, signal_low, signal_high (how much a broken meaning costs; NaN where none was
    made), ratio, ratio_low, ratio_high (signal over nuisance), said (why that ratio says nothing), value, low, high
    (selectivity, likewise) and falls (of the verdicts here)."""
    found = _calm(view) if lack(view) else usual(headline(view))
    rows = found[["n_items", "said", *bounds("signal")]].itertuples(index=False, name=None)
    told = [(SAME if n > 1 else FEW) if n and said == NO_UNIT else falls(n, *signal) for n, said, *signal in rows]
    return found.assign(falls=told).sort_values(["corpus", "evaluator"], kind="stable", ignore_index=True)


def _calm(view: View) -> pd.DataFrame:
    """What :func:`core.analysis.questions.selective.headline` says of harmless edits, where no meaning was broken."""
    table, rows = view.table, []
    edits = tuple(name for probes in harmless(view).values() for name in probes)
    for name in view.evaluators if edits else ():
        if name in table.blind:
            continue
        harms = row_medians(np.ascontiguousarray(np.abs(view.shifts(name, edits)[0])))
        for corpus, own in corpora(table):
            unit = table.spread(name, corpus)
            scaled = harms / (unit if unit > 0 else math.nan)
            found = median_over(scaled, own & view.items & ~np.isnan(scaled), table.sources)
            if found.n:
                rows.append((name, corpus, found.n, *found.numbers()))
    known = pd.DataFrame(rows, columns=[*CELL, "n_items", *bounds("nuisance")])
    nothing = (*bounds("signal"), *PLAIN, *bounds("ratio"))
    return known.assign(of="", said="", **dict.fromkeys(nothing, math.nan))


def demands_figure(view: View) -> Figure:
    """The plane of both demands; where no meaning was broken the one axis alone, evaluators by name."""
    found = demands(view)
    if lack(view):
        data = marks(found, label="evaluator", series="evaluator", panel=("corpus",), values=bounds("nuisance"))
        look: dict[str, Any] = {"span": (0.0, None), "counts": True, "overlay": says_its_labels(data)}
        look["order"] = tuple(sorted(map(str, data["label"].unique())))
        return Figure(PLANE, ALONE, half_asked(view), data, _ACROSS, **look)
    several = len(set(found["corpus"])) > 1
    kept = {str(name): unverified(rows) for name, rows in found.groupby("corpus")}
    said = [": ".join(filter(None, (name if several else "", kept[name]))) for name in found["corpus"].astype(str)]
    # a mark whose interval has no length has no upright bar
    still = found[found["signal_low"].notna() & (found["signal_low"] == found["signal_high"])]
    none = "{} has no upright bar: its typical drop is {:.2g} whichever pictures are drawn."
    without = map(none.format, still["evaluator"], still["signal"] + 0.0)
    return plane(found.assign(panel=said), PLANE, TITLE, " ".join((NOTE, *without)))
