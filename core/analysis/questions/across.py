"""Does what one corpus shows hold on the others? (RQ4) Source: paper A, sections 5.4 and B.4."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from core.analysis.effects import corpora, median_over
from core.analysis.questions import families, paper
from core.analysis.questions.base import Drawing, Options, Question
from core.analysis.questions.columns import (
    CORPUS,
    COUNT,
    EVALUATOR,
    FAMILY,
    IN_PERCENT,
    PERCENT,
    SHIFTS,
    TESTS,
    Dots,
    axis_of,
    how,
)
from core.analysis.questions.contrasts import shown
from core.analysis.questions.directions import directions
from core.analysis.questions.needs import no_probe, several_corpora
from core.analysis.questions.words import of_things
from core.analysis.table import ScoreTable, View
from core.probes.base import BASE_CAPTION

_BY_CORPUS = Dots(label="evaluator", series="corpus", panel=(), values=IN_PERCENT, axis=axis_of("percent"))


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """One family in every corpus, the paper's subsets, and the agreement of the directions."""
    return (
        _one_family(table),
        _subset(table, "T9", "", "Vertical flips", paper.FLIP),
        _subset(table, "T10", "F9", "Cultural subset (American, European, Asian, African)", "cultural"),
        _subset(table, "T11", "F10", "Economic subset (cheap, expensive)", "economic"),
        directions(table),
    )  # fmt: skip


def _invariant(table: ScoreTable) -> tuple[str, ...]:
    """Families that are no controls."""
    return tuple(name for name in table.families() if name != BASE_CAPTION and not table.is_control(name))


def _one_family(table: ScoreTable) -> Question:
    known = sorted(_invariant(table), key=lambda name: (name != paper.FLIP, name))
    tests = families.TESTED

    def compute(view: View, options: Options) -> pd.DataFrame:
        rows = families.one_family(view, options, question.family(options), pooled=False)
        return rows.rename(columns={"label": "family"})

    title = "One family in every corpus: how far it moves the score"
    question = Question(
        "S20", title, "corpora", "families", how(tests), (FAMILY, CORPUS, EVALUATOR, COUNT, PERCENT, *TESTS), compute,
        lambda table: several_corpora(table) or ("" if known else "no run holds the shift of an invariant family"),
        (Drawing("F-corpora", title, "Median %Δ with its 95 % BCa interval; the line is no change.", Dots("corpus"),
                 opens={"families": "family"}),),
        tests=tests, asks=(*SHIFTS, "family"), families=tuple(known), part_of="S1",
    )  # fmt: skip
    return question


def _subset(table: ScoreTable, id_: str, figure: str, said: str, family: str) -> Question:
    probes = paper.subset(family, table.probes.index)
    number, title = id_.removeprefix("T"), f"{said}, corpus by corpus"
    note = "Median over items of an item's mean %Δ over the modifiers named; 95 % BCa intervals, seed 2025."
    note = note if family != paper.FLIP else "Median %Δ over items; 95 % BCa intervals, seed 2025."
    note += " Objects that are no persons." if family in paper.THINGS_ONLY else ""
    note += " The words stand in the caption that people wrote." if probes != paper.SUBSETS[family] else ""
    note += _without(table, family, probes)
    paper_figure = Drawing(figure, title, note, _BY_CORPUS, f"Figure {figure.removeprefix('F')}",
                           opens={"probes": f"={','.join(probes)}", **of_things(table, family)})  # fmt: skip

    def needs(table: ScoreTable) -> str:
        return several_corpora(table) or no_probe(table, probes, what="a probe of this table", some=True)

    return Question(
        id_, title, "corpora", "subsets", note, (EVALUATOR, CORPUS, COUNT, PERCENT),
        partial(_means, family=family, probes=probes),
        needs, (paper_figure,) if figure else (), f"Table {number}",
    )  # fmt: skip


def _without(table: ScoreTable, family: str, probes: Sequence[str]) -> str:
    """Name the rows that no score here can fill, as the end of a note; empty where every row is filled."""
    here = [name for name in probes if name in table.probes.index]
    if len(table.corpora) < 2 or not here:
        return ""
    view = table.view()
    lacking = []
    for evaluator in table.evaluators:
        percent = _mean(view, evaluator, here)
        lacking += [
            f"{evaluator} on {corpus}" for corpus, own in corpora(table)
            if np.isnan(percent[own & shown(view, family)]).all()
        ]  # fmt: skip
    absent = [name for name in probes if name not in here]
    said = f" Not audited, and in no mean: {', '.join(absent)}." if absent else ""
    return said + (f" Left out, for no %Δ here is of it: {'; '.join(lacking)}." if lacking else "")


def _mean(view: View, evaluator: str, probes: Sequence[str]) -> np.ndarray:
    """Mean %Δ of every item over some probes, float64 [N]; NaN where it has none."""
    change = np.array([view.changes(evaluator, (name,)).percent for name in probes])
    count = (~np.isnan(change)).sum(axis=0)
    return np.where(count > 0, np.nansum(change, axis=0) / np.maximum(count, 1), np.nan)


def _means(view: View, options: Options, *, family: str, probes: Sequence[str]) -> pd.DataFrame:
    here = view.probes([name for name in probes if name in view.table.probes.index])
    items, records = shown(view, family), []
    for evaluator in view.evaluators if here else ():
        mean = _mean(view, evaluator, here)
        for corpus, own in corpora(view.table):
            found = median_over(mean, own & items, view.table.sources)
            if found.n:
                records.append({"evaluator": evaluator, "corpus": corpus, "n_items": found.n, "note": found.note,
                                "median_percent": found.estimate, "low": found.low, "high": found.high})  # fmt: skip
    return pd.DataFrame(records, columns=["evaluator", "corpus", "n_items", "median_percent", "low", "high", "note"])
