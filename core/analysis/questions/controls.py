"""Does an object's place move the score further than blur does? The control that repositioning is held to.

Blur takes detail away and leaves everything in its place. A score that blur moves at least as far as a moved object
says nothing of place: the shift may be one of pixels. Source: PROTOCOL section 1 (blur control).
"""

import numpy as np
import pandas as pd

from core.analysis.effects import corpora, median_over
from core.analysis.questions.base import Column, Drawing, Options, Question
from core.analysis.questions.columns import CORPUS, COUNT, EVALUATOR, PLAIN, Dots
from core.analysis.questions.needs import no_family
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import TOO_FEW
from core.statistics.bootstrap import LEAST_N, Interval
from core.statistics.shift_tests import paired_test

MOVED, BLUR = "reposition", "blur"
"""The families of the control. Source: paper A, section 3.2."""

PASSES = "repositioning moves it further than blur"
FAILS = "the control fails: blur moves it further than repositioning"
OPEN = "the control does not pass: which moves it further cannot be told"

_NOTE = (
    "Median over items of an item's median |%Δ| under the edits of each family, over the items that have both; "
    "difference: repositioning minus blur of the same item, its median with the 95 % BCa interval; paired test of the "
    "two. The control passes only where the interval lies above 0."
)
_TITLE = "Blur control: does the object's place move the score further than lost detail?"


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """The control, where both families were audited."""
    columns = (
        EVALUATOR, CORPUS, COUNT, Column("moved", "Repositioning, median |%Δ|"), Column("blurred", "Blur, median |%Δ|"),
        Column("value", "Difference [95 % CI]", signed=True, low="low", high="high"), Column("p", "p", kind="p"),
        Column("said", "In words", kind="text"),
    )  # fmt: skip
    make = Dots("evaluator", series="corpus", panel=(), values=PLAIN, axis="difference of |%Δ|")
    drawing = Drawing("F-blur", _TITLE, "Repositioning minus blur; the line is no difference.", make)
    return (Question("S22", _TITLE, "space", "families", _NOTE, columns, _compute, _needs, (drawing,)),)


def _needs(table: ScoreTable) -> str:
    return no_family(table, MOVED, what="a moved object") or no_family(table, BLUR, what="the blur control")


def _compute(view: View, options: Options) -> pd.DataFrame:
    records = []
    families = view.table.families()
    for evaluator in view.evaluators:
        moved, blurred = (view.changes(evaluator, families[name]).size for name in (MOVED, BLUR))
        both = view.items & ~np.isnan(moved) & ~np.isnan(blurred)
        for corpus, own in corpora(view.table):
            items = own & both
            if items.any():
                found = median_over(moved - blurred, items, view.table.sources)
                test = paired_test(blurred[items], moved[items])
                records.append(
                    {"evaluator": evaluator, "corpus": corpus, "n_items": found.n, "moved": np.median(moved[items]),
                     "blurred": np.median(blurred[items]), "value": found.estimate, "low": found.low,
                     "high": found.high, "p": test.p, "test": test.name, "said": said(found), "note": found.note}
                )  # fmt: skip
    columns = (
        "evaluator",
        "corpus",
        "n_items",
        "moved",
        "blurred",
        "value",
        "low",
        "high",
        "p",
        "test",
        "said",
        "note",
    )
    return pd.DataFrame(records, columns=list(columns))


def said(difference: Interval) -> str:
    """Say what the difference of repositioning and blur allows to claim."""
    if difference.n < LEAST_N:
        return TOO_FEW
    if difference.low > 0:
        return PASSES
    return FAILS if difference.high < 0 else OPEN
