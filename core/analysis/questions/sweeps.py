"""How the drop grows with the strength of an edit: every probe of a family that tells one strength is a point.

Sources: paper B (the probability that a word is hit), paper C (the length of a hollow tail).
"""

import math
from collections.abc import Mapping

import pandas as pd

from core.analysis.comparisons import DIRECTIONAL, Capability, comparison_rows
from core.analysis.facts import facts_of
from core.analysis.questions.base import Column, Drawing, Options, Question
from core.analysis.questions.columns import CORPUS, COUNT, EVALUATOR, marks
from core.analysis.questions.directional import (
    CORRECTED,
    DROP,
    FAILURE,
    HOW,
    MADE,
    MEDIAN,
    NOTE,
    PAIRS,
    SECTION,
    TEST,
    TIES,
    WHAT,
    needs,
)
from core.analysis.table import ScoreTable, View
from core.charts.spec import Axis, Figure

STRENGTHS: Mapping[str, str] = {
    "share": "probability that a word is hit",
    "length": "words of the tail",
}
"""Fact that says how strong an edit is -> what it counts."""

READINGS = ("algorithm", "draw")
"""Facts of another reading of an edit or another draw of it, which are no points of its sweep: its draws are nested."""

LEAST = 3
"""Points that make a curve."""

ID = "C-sweep"


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """One table with its curves."""
    columns = (
        EVALUATOR, CORPUS, WHAT, Column("of", "Strength", kind="text"), Column("label", "is", digits=2), COUNT, PAIRS,
        FAILURE, TIES, DROP, MEDIAN, *CORRECTED, NOTE,
    )  # fmt: skip
    title = "How the drop grows with the strength of the edit"
    drawing = Drawing("C-sweep-curves", title, "Median over items of the change in percent, with its 95 % BCa "
                      "interval, along the strength of the edit. Words that are hit at one probability are hit at "
                      "every larger one.", _curves, opens=TEST)  # fmt: skip
    note = (
        f"{HOW}One row a strength of the edit: the probability that a word is hit, or the words of a hollow tail. "
        "Holm’s correction within evaluator, corpus and family over the strengths."
    )
    return (Question(ID, title, SECTION, MADE, note, columns, _compute, _lacking, (drawing,),
                     tests="the strengths of the family", asks=("known",)),)  # fmt: skip


def points(table: ScoreTable) -> dict[tuple[str, str], dict[float, str]]:
    """(family, fact) -> strength -> its probe, in rising order, of families with LEAST strengths or more."""
    told = facts_of(table)
    others = set(told.loc[told["key"].isin(READINGS), "probe"])
    rows = table.probes[(table.probes["expectation"] == DIRECTIONAL) & ~table.probes["control"]]
    of_family = dict(zip(map(str, rows.index), map(str, rows["family"]), strict=True))
    found: dict[tuple[str, str], dict[float, str]] = {}
    for key in STRENGTHS:
        values = told[(told["key"] == key) & ~told["probe"].isin(others)].groupby("probe")["value"].unique()
        for probe, own in values.items():
            strength = pd.to_numeric(own[0], errors="coerce") if len(own) == 1 else math.nan
            if str(probe) in of_family and not math.isnan(strength):
                found.setdefault((of_family[str(probe)], key), {})[float(strength)] = str(probe)
    return {name: dict(sorted(own.items())) for name, own in sorted(found.items()) if len(own) >= LEAST}


def _lacking(table: ScoreTable) -> str:
    if points(table):
        return ""
    return needs(table) or "no edit here was made at several strengths; --probes lexical-sweep,tail-sweep does"


def _compute(view: View, options: Options) -> pd.DataFrame:
    asked, of = list[Capability](), dict[str, str]()
    for (family, key), own in points(view.table).items():
        tests = f"{family} by {key}"
        of[tests] = STRENGTHS[key]
        asked += [Capability(f"{strength:g}", family, view.table.axis_of(family), (probe,), tests,
                             shown=bool(view.probes((probe,)))) for strength, probe in own.items()]  # fmt: skip
    frame = comparison_rows(view, asked, known=options.known)
    return frame.assign(label=frame["label"].astype(float), of=frame["tests"].map(of))


def _curves(drawing: Drawing, frame: pd.DataFrame, measure: str) -> Figure:
    data = marks(frame, label="label", series="evaluator", panel=("family", "corpus"),
                 values=("median_percent", "low", "high"), opens=drawing.opens)  # fmt: skip
    named = ", ".join(dict.fromkeys(map(str, frame["of"])))
    return Figure(drawing.id, drawing.title, drawing.note, data, "median change of items", kind="lines", unit=" %",
                  along=Axis(named))  # fmt: skip
