"""Does an object's place change the score more than blur does? The control that repositioning is held to.

Blur takes detail away and leaves everything in its place. A score that blur moves at least as far as a moved object
says nothing of place: the shift may be one of pixels. Source: PROTOCOL section 1 (blur control).
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from core.analysis.effects import PLAIN, median_over, words
from core.analysis.lacks import Lack, no_family
from core.analysis.questions.columns import COUNT, HEAD, SAID, Dots, cells, power
from core.analysis.questions.question import Column, Drawing, Question
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import at_odds, sided, untold
from core.statistics.bootstrap import Interval
from core.statistics.changes import WITHHELD
from core.statistics.shift_tests import paired_test
from core.statistics.wording import between, metrics

MOVED, BLUR = "reposition", "blur"  # The families of the control. Source: paper A, section 3.2

PASSES = "repositioning changes it more than blur"
FAILS = "the control fails: blur changes it more than repositioning"
OPEN = "the control does not pass: which changes it more is unclear"

_NOTE = (
    "Median over items of an item's median |% change| under the edits of each family, over the items that have both; "
    "difference: repositioning minus blur of the same item, its median with the 95 % BCa interval; paired test of the "
    "two, of sources where items share theirs. The control passes only where the interval lies above 0."
)
_NAMES = ("n_items", "moved", "blurred", "value", "low", "high", "p", "test", "said", "power", "conflict", "note")
_SURE = "Unclear: the 95 % interval reaches 0, or too few pictures."
_TITLE = "Blur control: does the object's place change the score more than lost detail?"


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """The control, where both families were audited."""
    moved = Column("moved", "Repositioning, median |% change|")
    blurred = Column("blurred", "Blur, median |% change|")
    value = Column("value", "Difference [95 % CI]", signed=True, low="low", high="high")
    p = Column("p", "p", kind="p")
    unclear = power("The difference that these items show")
    conflict = Column("conflict", "Where interval and test differ", kind="text")
    columns = (*HEAD, COUNT, moved, blurred, value, p, SAID, unclear, conflict)
    axis = "← blur more · place more → (points\u00a0of\u00a0%\u00a0change)"
    make = Dots("evaluator", series="corpus", panel=(), values=PLAIN, axis=axis, even=True)
    drawing = Drawing("F-blur", _TITLE, "Repositioning minus blur; the line is no difference.", make)
    question = Question("S22", _TITLE, "space", "families", _NOTE, columns, lambda view, _: blur_control(view))
    return (replace(question, needs=_needs, figures=(drawing,), says=_says, rule=_SURE),)


def _needs(table: ScoreTable) -> Lack:
    return no_family(table, MOVED, what="a moved object") or no_family(table, BLUR, what="the blur control")


def _says(frame: pd.DataFrame, margin: float) -> str:
    """Which of the two changes each evaluator more, by how many points on a typical picture."""

    def named(rows: pd.DataFrame) -> str:
        sizes = rows["value"].abs()
        if len(rows) > 2:
            return f"{metrics(list(rows['evaluator']))} by {between(sizes, digits=1)}"
        return ", ".join(f"{name} by {size:.1f}" for name, size in zip(rows["evaluator"], sizes, strict=True))

    more, less = frame[frame["said"] == PASSES], frame[frame["said"] == FAILS]
    rest = frame.drop(index=[*more.index, *less.index])["evaluator"]
    told = [f"Place changes the score more than blur: {named(more)} points"] if len(more) else []
    told += [f"Blur changes the score more than place: {named(less)} points"] if len(less) else []
    told += [f"Unclear: {metrics(list(rest))}"] if len(rest) else []
    return f"{'. '.join(told)}." if len(set(frame["corpus"])) == 1 else ""


def blur_control(view: View) -> pd.DataFrame:
    """The control of every evaluator and corpus, where both families are here; see _NOTE."""
    families, sources = view.table.families(), view.table.sources

    def sizes(evaluator: str) -> list[np.ndarray]:
        return [view.changes(evaluator, families[name]).size for name in (MOVED, BLUR)]

    def row(moved: np.ndarray, blurred: np.ndarray, items: np.ndarray) -> dict[str, object]:
        found = median_over(moved - blurred, items, sources)
        test = paired_test(blurred[items], moved[items], groups=view.table.sources_of(items))
        told, conflict = said(found), at_odds(found, test.p, corrected=False)
        power = untold(found, unit="points") if told == OPEN else ""
        medians = {"moved": np.median(moved[items]), "blurred": np.median(blurred[items])}
        claims = {"p": test.p, "test": test.name, "said": told, "power": power, "conflict": conflict}
        return {**words(found), **medians, **claims}

    return cells(view, _NAMES, sizes, row, asked={MOVED, BLUR} <= set(families))


def said(difference: Interval) -> str:
    """Say what the difference of repositioning and blur allows to claim."""
    return sided(difference, PASSES, FAILS, OPEN)


def sentences(view: View) -> dict[str, str]:
    """What the control says of each evaluator of one corpus, in a sentence with its numbers; why not, where it cannot;
    ``view``: of the table of scores, one corpus of it."""
    found = {str(row["evaluator"]): row for _, row in blur_control(view).iterrows()}
    lack, told = _needs(view.table).what, dict[str, str]()
    for name in view.evaluators:
        withheld = any(view.table.withheld(name, corpus) for corpus in view.corpora)
        why = lack or (WITHHELD if withheld else "no item has both edits here")
        told[name] = _sentence(found[name]) if name in found else f"Blur control: {why}."
    return told


def _sentence(row: pd.Series) -> str:
    ends = "" if np.isnan(row["low"]) else f" ({row['low']:+.1f} to {row['high']:+.1f})"
    p = "no test" if np.isnan(row["p"]) else "p < 0.001" if row["p"] < 0.001 else f"p = {row['p']:.3f}"
    numbers = (
        f"Median |% change|: {row['moved']:.1f} moved, {row['blurred']:.1f} blurred. Of the same item "
        f"{row['value']:+.1f}{ends} points, {p}, n = {row['n_items']}"
    )
    power = str(row["power"])
    said = f"Blur control: {row['said']}".replace(": the control", "")
    return ". ".join(filter(None, (said, numbers, power[:1].upper() + power[1:]))).replace("-", "−") + "."
