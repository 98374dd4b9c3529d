"""Does a caption score by its length? Words that say nothing are added, and the score is read along their number.

The words differ in wording too, so the trend is that of the wrappers at hand: each is a point, not each length.
"""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from core.analysis.effects import corpora, median_over
from core.analysis.questions.base import Column, Drawing, Options, Question
from core.analysis.questions.columns import CORPUS, COUNT, EVALUATOR, UNTOLD
from core.analysis.questions.factors import of_reference
from core.analysis.questions.needs import no_family
from core.analysis.questions.objects import CURVE, curve_figure, curves_along
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import too_few_for, untold
from core.probes.words.dressing import wrappers
from core.statistics.bootstrap import Interval
from core.statistics.splines import KNOTS

FAMILY = "verbosity"

OPEN = "no trend with length shown"

LEAST_LENGTHS = 3
"""Numbers of added words that an item needs for a trend of its own."""


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """The trend over the words added, and the curve."""
    note = (
        "Of every item with wrappers of three lengths or more, %Δ is fitted by least squares on the number of words "
        "added; median over items of the slope with its 95 % BCa interval, in points of %Δ a word. "
        "Wrappers differ in wording as well as in length, and they are few. Uncorrected: no test is made here."
    )
    columns = (
        EVALUATOR, CORPUS, COUNT,
        Column("value", "Per word, points [95 % CI]", digits=3, signed=True, low="low", high="high"),
        Column("wrappers", "Wrappers", digits=0),
        Column("said", "In words", kind="text"), UNTOLD, Column("note", "Remark", kind="text"),
    )  # fmt: skip
    title = "Length without content: percent change on the number of words added"
    figure = partial(curve_figure, x="words added that say nothing", y="%Δ", unit=" %")
    drawn = f"{CURVE}{of_reference(table)}"
    return (
        Question("S36", "Length without content: how far a word moves the score", "surface", FAMILY, note, columns,
                 _trends, _needs),
        Question("S36-curve", title, "surface", FAMILY, drawn, (), _curves, _lengths_needed,
                 (Drawing("F-length", title, drawn, figure),), pick=("evaluator",)),
    )  # fmt: skip


def _needs(table: ScoreTable) -> str:
    return no_family(table, FAMILY, what="harmless words around the caption")


def _lengths_needed(table: ScoreTable) -> str:
    found = len(set(_lengths(table.families().get(FAMILY, ())).values()))
    if found >= KNOTS:
        return ""
    return _needs(table) or (
        f"the words around the captions are of {found} lengths, and the curve has {KNOTS} knots; captions that are one "
        "noun phrase take more of them"
    )


def _lengths(probes: Sequence[str]) -> Mapping[str, int]:
    """Probe of the family -> the words that it adds."""
    known = {f"{FAMILY}:{each.name}": each.words for each in wrappers()}
    return {name: known[name] for name in probes if name in known}


def _added(view: View) -> Mapping[str, int]:
    return _lengths(view.families().get(FAMILY, ()))


def _trends(view: View, options: Options) -> pd.DataFrame:
    records, added = list[dict[str, object]](), _added(view)
    for evaluator in view.evaluators if added else ():
        percent = np.array([view.changes(evaluator, (name,)).percent for name in added])
        slopes = trends(np.array([*added.values()], dtype=np.float64), percent)
        for corpus, own in corpora(view.table):
            keep = own & view.items & ~np.isnan(slopes)
            if keep.any():
                found = median_over(slopes, keep, view.table.sources)
                records.append({
                    "evaluator": evaluator, "corpus": corpus, "n_items": found.n, "value": found.estimate,
                    "low": found.low, "high": found.high, "wrappers": len(added),
                    "said": _said(found), "note": found.note,
                    "power": untold(found, unit="points a word", digits=3) if _said(found) == OPEN else "",
                })  # fmt: skip
    return pd.DataFrame(records, columns=["evaluator", "corpus", "n_items", "value", "low", "high", "wrappers",
                                          "said", "power", "note"])  # fmt: skip


def trends(lengths: np.ndarray, percent: np.ndarray) -> np.ndarray:
    """Least-squares slope of each item's shifts along the words added.

    Args:
        lengths: words that each wrapper adds, float64 [k].
        percent: %Δ of every wrapper and item, float64 [k, N]; NaN where there is none.

    Returns:
        Points a word, float64 [N]; NaN with fewer than LEAST_LENGTHS lengths.
    """
    there = ~np.isnan(percent)
    varied = np.array([there[lengths == each].any(axis=0) for each in np.unique(lengths)]).sum(axis=0) >= LEAST_LENGTHS
    count = np.maximum(there.sum(axis=0), 1)
    away = np.where(there, lengths[:, None] - (lengths[:, None] * there).sum(axis=0) / count, 0.0)
    spread = np.where(varied, (away**2).sum(axis=0), np.nan)
    slopes: np.ndarray = (away * np.where(there, percent, 0.0)).sum(axis=0) / spread
    return slopes


def _said(slope: Interval) -> str:
    if few := too_few_for(slope):
        return few
    if slope.low > 0:
        return "longer scores higher"
    return "longer scores lower" if slope.high < 0 else OPEN


def _curves(view: View, options: Options) -> pd.DataFrame:
    return curves_along(view, _added(view))
