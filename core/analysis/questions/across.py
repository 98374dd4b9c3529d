"""Does what one corpus shows hold on the others? (RQ4) Source: paper A, sections 5.4 and B.4."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from core.analysis.effects import corpora, median_over
from core.analysis.questions import families, paper
from core.analysis.questions.base import Column, Drawing, Options, Question
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
from core.analysis.questions.needs import left_out, no_probe
from core.analysis.questions.words import shown
from core.analysis.table import ScoreTable, View
from core.probes.base import BASE_CAPTION
from core.statistics.rank_agreement import direction_agreement

_BY_CORPUS = Dots(label="evaluator", series="corpus", panel=(), values=IN_PERCENT, axis=axis_of("percent"))


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """One family in every corpus, the paper's subsets, and the agreement of the directions."""
    return (
        _one_family(table),
        _subset("T9", "", "Vertical flips", paper.FLIP),
        _subset("T10", "F9", "Cultural subset (American, European, Asian, African)", "cultural"),
        _subset("T11", "F10", "Economic subset (cheap, expensive)", "economic"),
        _directions(table),
    )  # fmt: skip


def _several(table: ScoreTable) -> str:
    if len(table.corpora) > 1:
        return ""
    others = sorted(set(left_out(table, "corpus")["corpus"]))
    said = f"it compares corpora and the scope holds one, {table.corpora[0]}; "
    if others:
        return f"{said}corpus {others[0]} is open too, but the scope leaves it out: choose its run and subject"
    return f"{said}audit a second one and open both runs: python -m core audit --corpus coco --root path/to/coco"


def _invariant(table: ScoreTable) -> tuple[str, ...]:
    """Families that are no controls."""
    return tuple(name for name in table.families() if name != BASE_CAPTION and not table.is_control(name))


def _one_family(table: ScoreTable) -> Question:
    known = sorted(_invariant(table), key=lambda name: (name != paper.FLIP, name))
    tests = families.TESTED

    def compute(view: View, options: Options) -> pd.DataFrame:
        family = question.family(options)
        rows = families.of_axes(view, options, (view.table.axis_of(family),))
        return rows[rows["label"] == family].rename(columns={"label": "family"}).reset_index(drop=True)

    title = "One family in every corpus: how far it moves the score"
    question = Question(
        "S20", title, "corpora", "families", how(tests), (FAMILY, CORPUS, EVALUATOR, COUNT, PERCENT, *TESTS), compute,
        lambda table: _several(table) or ("" if known else "no run holds the shift of an invariant family"),
        (Drawing("F-corpora", title, "Median %Δ with its 95 % BCa interval; the line is no change.", Dots("corpus")),),
        tests=tests, asks=(*SHIFTS, "family"), families=tuple(known), part_of="S1",
    )  # fmt: skip
    return question


def _subset(id_: str, figure: str, said: str, family: str) -> Question:
    probes = paper.SUBSETS[family]
    number, title = id_.removeprefix("T"), f"{said}, corpus by corpus"
    note = "Median over items of an item's mean %Δ over the modifiers named; 95 % BCa intervals, seed 2025."
    note = note if family != paper.FLIP else "Median %Δ over items; 95 % BCa intervals, seed 2025."
    note += " Objects that are no persons." if family in paper.THINGS_ONLY else ""
    paper_figure = Drawing(figure, title, note, _BY_CORPUS, f"Figure {figure.removeprefix('F')}")

    def needs(table: ScoreTable) -> str:
        return _several(table) or no_probe(table, probes, what="a probe of this table", some=True)

    return Question(
        id_, title, "corpora", "subsets", note, (EVALUATOR, CORPUS, COUNT, PERCENT),
        partial(_means, family=family, probes=probes),
        needs, (paper_figure,) if figure else (), f"Table {number}",
    )  # fmt: skip


def _means(view: View, options: Options, *, family: str, probes: Sequence[str]) -> pd.DataFrame:
    here = view.probes([name for name in probes if name in view.table.probes.index])
    items, records = shown(view, family), []
    for evaluator in view.evaluators if here else ():
        change = np.array([view.changes(evaluator, (name,)).percent for name in here])
        count = (~np.isnan(change)).sum(axis=0)
        mean = np.where(count > 0, np.nansum(change, axis=0) / np.maximum(count, 1), np.nan)
        for corpus, own in corpora(view.table):
            found = median_over(mean, own & items, view.table.sources)
            if found.n:
                records.append({"evaluator": evaluator, "corpus": corpus, "n_items": found.n, "note": found.note,
                                "median_percent": found.estimate, "low": found.low, "high": found.high})  # fmt: skip
    return pd.DataFrame(records, columns=["evaluator", "corpus", "n_items", "median_percent", "low", "high", "note"])


def _directions(table: ScoreTable) -> Question:
    columns = (
        EVALUATOR, FAMILY, CORPUS, COUNT,
        Column("agreement", "Agreement % [95 % CI]", digits=0, low="low", high="high", help="Share of items that move "
               "as the median of the reference does; one that does not move counts half"),
        Column("reference_median", "Reference Δ", digits=4, signed=True),
        Column("median", "Median Δ", digits=4, signed=True),
        Column("same", "Medians", kind="text", help="Is the direction of the two medians the same?"),
    )  # fmt: skip
    return Question(
        "T12", f"Agreement with the direction on {table.reference}", "corpora", "directions",
        f"Share of a corpus' items whose shift has the direction of the median shift on the reference corpus, "
        f"{table.reference} unless another is chosen; an item that does not move counts one half. 95 % Wilson "
        "intervals, over sources.",
        columns, _agreement, _several, paper="Table 12", asks=("reference",),
    )  # fmt: skip


def _agreement(view: View, options: Options) -> pd.DataFrame:
    table, rows = view.table, []
    held = options.reference if options.reference in view.corpora else table.reference
    for family in _invariant(table):
        probes = view.families().get(family, ())
        for evaluator in view.evaluators if probes else ():
            delta = view.changes(evaluator, probes).delta
            there = np.flatnonzero(~np.isnan(delta) & view.items)
            rows.append(pd.DataFrame({"evaluator": evaluator, "family": family, "item": there, "delta": delta[there],
                                      "corpus": table.items["corpus"].to_numpy()[there],
                                      "source": table.items["source"].to_numpy()[there]}))  # fmt: skip
    shifts = pd.concat(rows, ignore_index=True) if rows else pd.DataFrame()
    if shifts.empty or not (shifts["corpus"] == held).any():
        return pd.DataFrame(columns=[*_AGREED, "same"])
    found = direction_agreement(shifts, reference=held, by=("evaluator", "family"))
    found = found.assign(**{name: 100 * found[name] for name in ("agreement", "low", "high")})
    return found.assign(same=[{True: "same", False: "opposite"}.get(each, "") for each in found["same_direction"]])


_AGREED = ("evaluator", "family", "corpus", "reference_median", "median", "same_direction", "agreement", "low", "high",
           "n_items", "note")  # fmt: skip
