"""How much of a moved object's shift comes from the filling of its old place? Asked where what is behind it is known.

A composed picture can be drawn again without its object. The same cut-out at the same place, once on the filled plate
and once on the true one, differs in nothing but the filling and the shadow that a filling leaves behind.
"""

import numpy as np
import pandas as pd

from core.analysis.effects import corpora, median_over
from core.analysis.questions.base import Column, Drawing, Options, Question
from core.analysis.questions.columns import CORPUS, COUNT, EVALUATOR, PLAIN, Dots
from core.analysis.questions.needs import no_probe
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import apart, too_few_for
from core.statistics.arithmetic import row_medians
from core.statistics.bootstrap import Interval
from core.statistics.power import aside
from core.statistics.ratios import ratio_bca

ANCHORS = ("TL", "TR", "BL", "BR")
"""Places that both plates may have been asked for."""

ADDS = "the filling adds to how far scores move"
HIDES = "the filling hides part of how far scores move"
OPEN = "a part of the filling cannot be told from none"
STILL = "nothing moves on the filled plate, so that there is no share"

_TITLE = "How much of repositioning's shift is the filling's?"
_NOTE = (
    "Composed items whose background is known, moved to the same places on the plate that was filled by example and on "
    "the true one; both are compared with the unedited picture, and an item counts by its median over the places that "
    "both have. Filled − true: median over items of the difference of their %Δ, in points, with its 95 % BCa interval. "
    "Share: the sum over items of |%Δ| filled minus |%Δ| true, over the sum of |%Δ| filled, 95 % BCa over items of one "
    "source together; 0 says that the filling does nothing to the size of shifts, below 0 that shifts are larger on "
    "the true plate. The true plate has no shadow of the object; the filled one keeps what lies beyond the hole."
)


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """The share of the filling, where both plates were audited."""
    columns = (
        EVALUATOR, CORPUS, COUNT,
        Column("filled", "Filled, median %Δ", signed=True), Column("true", "True plate, median %Δ", signed=True),
        Column("value", "Filled − true, points [95 % CI]", signed=True, low="low", high="high"),
        Column("filled_size", "Filled, median |%Δ|"), Column("true_size", "True plate, median |%Δ|"),
        Column("share", "Share of the filling, % [95 % CI]", digits=1, signed=True, low="share_low",
               high="share_high"),
        Column("said", "In words", kind="text"),
        Column("power", "Where it cannot be told", kind="text", help="The share that these items find with 80 % power, "
               "and the items that would tell one as large as here"),
        Column("note", "Remark", kind="text"),
    )  # fmt: skip
    make = Dots("evaluator", series="corpus", panel=(), values=PLAIN, axis="filled − true, points of %Δ")
    drawing = Drawing("F-filling", _TITLE, "Filled minus true plate; the line is no difference.", make)
    return (Question("S25", _TITLE, "space", "families", _NOTE, columns, _compute, _needs, (drawing,)),)


def _needs(table: ScoreTable) -> str:
    if _pairs(table):
        return ""
    wanted = [f"reposition{way}-{anchor}" for way in ("", "-true") for anchor in ANCHORS]
    return no_probe(table, wanted, what="moved objects on the filled and on the true plate")


def _pairs(table: ScoreTable) -> dict[str, str]:
    """Probe on the filled plate -> the same place on the true one."""
    pairs = {f"reposition-{anchor}": f"reposition-true-{anchor}" for anchor in ANCHORS}
    return {one: other for one, other in pairs.items() if {one, other} <= set(table.probes.index)}


def _compute(view: View, options: Options) -> pd.DataFrame:
    records, table = list[dict[str, object]](), view.table
    pairs = {one: other for one, other in _pairs(table).items() if view.probes((one, other)) == (one, other)}
    for evaluator in view.evaluators if pairs else ():
        filled, true = _both(view, evaluator, pairs)
        there = view.items & ~np.isnan(filled) & ~np.isnan(true)
        for corpus, own in corpora(table):
            if (own & there).any():
                records.append({"evaluator": evaluator, "corpus": corpus, **_row(table, filled, true, own & there)})
    return pd.DataFrame(records, columns=["evaluator", "corpus", *_COLUMNS])


_COLUMNS = (
    "n_items", "filled", "true", "value", "low", "high", "filled_size", "true_size", "share", "share_low", "share_high",
    "said", "power", "note",
)  # fmt: skip


def _both(view: View, evaluator: str, pairs: dict[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """%Δ of every item filled and true, float64 [N]: medians over the places that the item has of both."""
    sides = [np.array([view.changes(evaluator, (name,)).percent for name in side])
             for side in (pairs.keys(), pairs.values())]  # fmt: skip
    absent = np.isnan(sides[0]) | np.isnan(sides[1])
    filled, true = (row_medians(np.where(absent, np.nan, side)) for side in sides)
    return filled, true


def _row(table: ScoreTable, filled: np.ndarray, true: np.ndarray, items: np.ndarray) -> dict[str, object]:
    apart = median_over(filled - true, items, table.sources)
    groups = table.sources_of(items)
    one, other = np.abs(filled[items]), np.abs(true[items])
    share = ratio_bca(one - other, one, groups=groups)
    return {
        "n_items": apart.n, "filled": np.median(filled[items]), "true": np.median(true[items]),
        "value": apart.estimate, "low": apart.low, "high": apart.high, "filled_size": np.median(one),
        "true_size": np.median(other), "share": 100 * share.estimate, "share_low": 100 * share.low,
        "share_high": 100 * share.high, "said": _said(share), "power": _untold(share), "note": apart.note or share.note,
    }  # fmt: skip


def _untold(share: Interval) -> str:
    if _said(share) != OPEN:
        return ""
    power = aside(share, bound=0.0)
    return apart(100 * power.detectable, power.needed, unit="%")


def _said(share: Interval) -> str:
    if few := too_few_for(share):
        return few
    if np.isnan(share.low):
        return STILL
    if share.low > 0:
        return ADDS
    return HIDES if share.high < 0 else OPEN
