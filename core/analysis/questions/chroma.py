"""Does it matter how JPEG keeps colour? Copies of one quality with half of the colour (4:2:0) and with all (4:4:4)."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from core.analysis.effects import corpora, median_over
from core.analysis.questions.base import Column, Drawing, Options, Question
from core.analysis.questions.columns import CORPUS, COUNT, EVALUATOR, PLAIN, UNTOLD, Dots
from core.analysis.questions.needs import no_probe
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import too_few_for, untold
from core.probes.families.preparation import HALF_COLOUR, WHOLE_COLOUR
from core.statistics.bootstrap import Interval

HIGHER, LOWER = "higher at 4:2:0", "lower at 4:2:0"
OPEN = "cannot be told apart"

_TITLE = "Colour in JPEG: 4:2:0 and 4:4:4 of the same quality"
_PAIR = (HALF_COLOUR, WHOLE_COLOUR)
_COLUMNS = ("evaluator", "corpus", "n_items", "half", "whole", "value", "low", "high", "said", "power", "note")


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """Both copies and their paired difference."""
    columns = (
        EVALUATOR, CORPUS, COUNT,
        Column("half", "4:2:0, median %Δ", signed=True, digits=3),
        Column("whole", "4:4:4, median %Δ", signed=True, digits=3),
        Column("value", "4:2:0 − 4:4:4, points [95 % CI]", signed=True, digits=3, low="low", high="high"),
        Column("said", "In words", kind="text", help="The interval of the difference against 0"), UNTOLD,
        Column("note", "Remark", kind="text"),
    )  # fmt: skip
    note = (
        "Each picture was saved as JPEG of quality 75 twice: with colour at half the width and height (4:2:0, what "
        "most programs write) and with all of it (4:4:4). Both are compared with the unedited picture; the "
        "difference is taken item by item: median over items of %Δ at 4:2:0 minus %Δ at 4:4:4, in points, with its "
        "95 % BCa interval. No test and no correction."
    )
    make = Dots("evaluator", series="corpus", panel=(), values=PLAIN, axis="4:2:0 − 4:4:4, points of %Δ")
    drawing = Drawing("F-chroma", _TITLE, "4:2:0 minus 4:4:4 of the same quality; the line is no difference.", make)
    return (Question("S-chroma", _TITLE, "surface", "compression", note, columns, _compute, _needs, (drawing,)),)


def _needs(table: ScoreTable) -> str:
    return no_probe(table, _PAIR, what="JPEG of one quality with half of the colour and with all of it")


def _compute(view: View, options: Options) -> pd.DataFrame:
    there = view.probes(_PAIR) == _PAIR
    return pd.DataFrame(list(_rows(view)) if there else [], columns=list(_COLUMNS))


def _rows(view: View) -> Iterator[dict[str, object]]:
    for evaluator in view.evaluators:
        half, whole = (view.changes(evaluator, (name,)).percent for name in _PAIR)
        both = view.items & ~np.isnan(half) & ~np.isnan(whole)
        for corpus, own in corpora(view.table):
            items = own & both
            if items.any():
                found = median_over(half - whole, items, view.table.sources)
                yield {
                    "evaluator": evaluator, "corpus": corpus, "n_items": found.n, "half": np.median(half[items]),
                    "whole": np.median(whole[items]), "value": found.estimate, "low": found.low, "high": found.high,
                    "said": _said(found), "power": untold(found, unit="points") if _said(found) == OPEN else "",
                    "note": found.note,
                }  # fmt: skip


def _said(difference: Interval) -> str:
    if np.isnan(difference.low) or too_few_for(difference):
        return too_few_for(difference) or OPEN
    if difference.low > 0:
        return HIGHER
    return LOWER if difference.high < 0 else OPEN
