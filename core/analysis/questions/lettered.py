"""Does a word written into the picture move the score less where the photograph holds text already?

Asked where the corpus was to be read (its option ``text=read``); see :mod:`core.probes.pixels.text_reader`.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from core.analysis.effects import corpora, median_over
from core.analysis.facts import fact, facts_of
from core.analysis.questions.base import Column, Drawing, Options, Question
from core.analysis.questions.columns import CORPUS, EVALUATOR, PLAIN, UNTOLD, Dots
from core.analysis.questions.needs import no_family
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import TOO_FEW, too_few_for, untold
from core.corpora.read_text import READ, TEXT
from core.probes.pixels.text_reader import CONFIDENCE, HELD, HOLDS, HOLDS_NONE, LEAST_SIGNS, WRITTEN_IN
from core.probes.titles import title
from core.statistics.bootstrap import Interval
from core.statistics.shift_tests import median_differences

HIGHER, LOWER = "higher where there is text", "lower where there is text"
OPEN = "cannot be told apart"

_TITLE = "Words written in: photographs that hold text already, and those that hold none"
_COLUMNS = (
    "evaluator", "corpus", "probe", "label", "held_n", "held", "held_low", "held_high", "bare_n", "bare", "bare_low",
    "bare_high", "n_items", "value", "low", "high", "said", "power", "note",
)  # fmt: skip


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """Both groups and their difference."""
    columns = (
        EVALUATOR, CORPUS, Column("label", "Edit", kind="text"),
        Column("held_n", "n with text", digits=0, help="Items whose photograph holds legible text"),
        Column("held", "With text, median %Δ [95 % CI]", signed=True, low="held_low", high="held_high"),
        Column("bare_n", "n without", digits=0, help="Items in whose photograph no legible text was found"),
        Column("bare", "Without, median %Δ [95 % CI]", signed=True, low="bare_low", high="bare_high"),
        Column("value", "With − without, points [95 % CI]", signed=True, low="low", high="high"),
        Column("said", "In words", kind="text", help="Of %Δ with its sign: the interval of the difference against 0"),
        UNTOLD, Column("note", "Remark", kind="text"),
    )  # fmt: skip
    note = (
        f"A photograph holds text where a line of {LEAST_SIGNS} letters or digits or more is read with a confidence of "
        f"{CONFIDENCE:g} or more; small and faint text is missed. Median %Δ of each group with its 95 % BCa interval; "
        "difference of the two medians, in points, with its 95 % BCa interval, the groups drawn independently and "
        "items of one source together. No test and no correction. Photographs with text differ in what they show, "
        "too, so that a difference is no proof that the text makes it."
    )
    axis = "with text minus without, points of %Δ"
    drawing = Drawing("F-text", _TITLE, "Median %Δ with text minus without; the line is no difference.",
                      Dots(values=PLAIN, axis=axis))  # fmt: skip
    return (Question("S-text", _TITLE, "surface", WRITTEN_IN, note, columns, _compute, _needs, (drawing,)),)


def _needs(table: ScoreTable) -> str:
    lack = no_family(table, WRITTEN_IN, what="a word written into the picture")
    if lack or (facts_of(table)["key"] == HELD).any():
        return lack
    return f"no photograph was read for text that it holds; an audit with --option {TEXT}={READ} reads them"


def _compute(view: View, options: Options) -> pd.DataFrame:
    return pd.DataFrame(list(_rows(view)), columns=list(_COLUMNS))


def _rows(view: View) -> Iterator[dict[str, object]]:
    table = view.table
    for name in view.families().get(WRITTEN_IN, ()):
        (told,) = fact(table, HELD, (name,))
        for evaluator in view.evaluators:
            percent = view.changes(evaluator, (name,)).percent
            for corpus, own in corpora(table):
                there = own & view.items & ~np.isnan(percent)
                held, bare = there & (told == HOLDS), there & (told == HOLDS_NONE)
                if (held | bare).any():
                    yield {"evaluator": evaluator, "corpus": corpus, "probe": name, "label": title(name),
                           **_row(percent, held, bare, table.sources)}  # fmt: skip


def _row(percent: np.ndarray, held: np.ndarray, bare: np.ndarray, sources: np.ndarray | None) -> dict[str, object]:
    groups = None if sources is None else (sources[held], sources[bare])
    (apart,) = median_differences(percent[held], percent[bare], levels=(0.95,), groups=groups)
    return {
        **_side("held", median_over(percent, held, sources)), **_side("bare", median_over(percent, bare, sources)),
        "n_items": apart.n, "value": apart.estimate, "low": apart.low, "high": apart.high, "said": _said(apart),
        "power": untold(apart, unit="points") if _said(apart) == OPEN else "", "note": apart.note,
    }  # fmt: skip


def _side(name: str, found: Interval) -> dict[str, object]:
    return {f"{name}_n": found.n, name: found.estimate, f"{name}_low": found.low, f"{name}_high": found.high}


def _said(difference: Interval) -> str:
    if np.isnan(difference.low):  # of a side, while both together may be enough
        return too_few_for(difference) or TOO_FEW
    if difference.low > 0:
        return HIGHER
    return LOWER if difference.high < 0 else OPEN
