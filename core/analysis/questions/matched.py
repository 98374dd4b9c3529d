"""The answer to an object's size where its place cannot explain it: pairs of objects alike in centrality.

A large object often lies nearer to the picture's centre, and saliency is the confounder that paper D names. The same
pairs are read again where both objects lie alike, and where the smaller one lies nearer.
Source: paper D, 4.3.2; the matching is ours.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from core.analysis.comparisons import RESPONSE
from core.analysis.effects import Group, effects, with_holm
from core.analysis.facts import fact
from core.analysis.lacks import no_family_of
from core.analysis.questions import papers
from core.analysis.questions.columns import CORPUS, COUNT, EVALUATOR, FAMILY, PERCENT
from core.analysis.questions.comparison_columns import CORRECTED, NOTE, under_its_caption
from core.analysis.questions.directional import MADE, SECTION
from core.analysis.questions.object_kinds import CURVE, curve_figure, curves
from core.analysis.questions.question import Column, Drawing, Options, Question
from core.analysis.table import ScoreTable, View
from core.charts.spec import Figure
from core.statistics.splines import spline_curve

ALIKE = 0.1
"""Most that the distances of two objects from the centre differ for them to count as alike, in half diagonals."""

_SIZE = "size"
_LARGER = "size:large"


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """The response to size by how central both objects are, beside that of all pairs."""
    columns = (
        EVALUATOR,
        CORPUS,
        FAMILY,
        Column("label", "Pairs", kind="text"),
        COUNT,
        PERCENT,
        Column(
            "standardised",
            "Median Δ, SD [95 % CI]",
            digits=3,
            signed=True,
            low="standardised_low",
            high="standardised_high",
        ),
        Column(
            "apart",
            "Smaller − larger, half diagonals",
            digits=3,
            signed=True,
            help="Median over these pairs of how much farther from the centre the smaller object lies",
        ),
        *CORRECTED,
        NOTE,
    )
    note = (
        "The larger of two objects is named instead of the smaller one; both captions are true. Distances are from the "
        "picture’s centre to the objects, 0 there and 1 in a corner. All pairs; those whose distances differ by at "
        f"most {ALIKE:g}, so that the place can hardly explain the answer; and those whose smaller object lies nearer "
        "to the centre, where the place speaks for the smaller one. Holm’s correction over the three. A median that "
        "stays in the second and in the third is of the size, or of what goes with it beside the place."
    )
    return (
        under_its_caption(
            Question(
                "C20-central",
                "Size: does the answer stay where both objects are equally central?",
                SECTION,
                MADE,
                note,
                columns,
                _compute,
                _lacking,
                paper=papers.RESPONSES[_SIZE][1],
                tests="the choices of pairs",
                part_of=papers.RESPONSES[_SIZE][0],
            )
        ),
        under_its_caption(_curve()),
    )


RATIO = "ratio"
"""Fact of the size probes: area of the larger object over that of the smaller one."""


def _curve() -> Question:
    note = (
        "What naming the larger object instead of the smaller one does to the score, along the logarithm of how many "
        f"times larger it is: 1 is twice the area. {CURVE}"
    )
    title = "Size: the answer along how much larger the object is"
    drawing = Drawing("C20-along", title, note, _drawn, papers.RESPONSES[_SIZE][1])
    return Question(
        "C20-curve",
        title,
        SECTION,
        MADE,
        note,
        (),
        _along,
        _no_ratio,
        (drawing,),
        papers.RESPONSES[_SIZE][1],
        part_of=papers.RESPONSES[_SIZE][0],
    )


def _drawn(drawing: Drawing, frame: pd.DataFrame, measure: str) -> Figure:
    """A panel an evaluator, and a corpus where there are several."""
    if len(frame["corpus"].unique()) > 1:
        frame = frame.assign(evaluator=frame["evaluator"] + " · " + frame["corpus"])
    return curve_figure(drawing, frame, measure, x="log₂ of the ratio of areas", y="Δ, SD of the unedited scores")


def _ratios(table: ScoreTable, probe: str) -> np.ndarray:
    """log₂ of the ratio of areas, float64 [N]; NaN where none is told."""
    told = pd.to_numeric(pd.Series(fact(table, RATIO, (probe,))[0]), errors="coerce").to_numpy(dtype=np.float64)
    return np.log2(np.where(told > 0, told, np.nan))


def _along(view: View, options: Options) -> pd.DataFrame:
    table, parts = view.table, list[pd.DataFrame]()
    probe = _probes(table).get(_SIZE, "")
    if not view.probes((probe,)):
        return pd.DataFrame(columns=["evaluator", "corpus", "family", "n_items", "x", "value", "low", "high"])
    at, sources = _ratios(table, probe), pd.factorize(table.items["source"])[0]
    for evaluator in view.evaluators:
        moved = view.changes(evaluator, (probe,)).delta
        for corpus in table.corpora:
            own, unit = view.items & table.of_corpus(corpus), table.spread(evaluator, corpus)
            values = moved[own] / unit if unit > 0 else np.full(int(own.sum()), np.nan)
            found = spline_curve(at[own], values, groups=sources[own])
            parts.append(found.assign(evaluator=evaluator, corpus=corpus, family=_SIZE))
    return curves(parts).assign(family=_SIZE)


def _no_ratio(table: ScoreTable) -> str:
    probe = _probes(table).get(_SIZE, "")
    if not probe:
        return no_family_of(table, _SIZE, RESPONSE, what="objects of two sizes")
    return "" if np.isfinite(_ratios(table, probe)).any() else "the run tells no areas of its objects; audit size again"


def _probes(table: ScoreTable) -> Mapping[str, str]:
    """Family -> its probe that names the larger object."""
    known = table.of_expectation(RESPONSE)
    named = {family: [each for each in probes if each.startswith(_LARGER)] for family, probes in known.items()}
    return {family: probes[0] for family, probes in named.items() if probes}


def _places(table: ScoreTable, probe: str) -> tuple[np.ndarray, np.ndarray]:
    """Distances of the smaller and of the larger object from the centre, float64 [N]; NaN where none is told."""
    small, large = (
        pd.to_numeric(pd.Series(fact(table, key, (probe,))[0]), errors="coerce").to_numpy(dtype=np.float64)
        for key in papers.CENTRES
    )
    return small, large


def _compute(view: View, options: Options) -> pd.DataFrame:
    parts = []
    for family, probe in _probes(view.table).items():
        if not view.probes((probe,)):
            continue
        small, large = _places(view.table, probe)
        apart = small - large
        chosen = {
            "all whose places are told": ~np.isnan(apart),
            f"alike in centrality, within {ALIKE:g}": np.abs(apart) <= ALIKE,
            "the smaller one nearer to the centre": apart < 0,
        }
        for label, keep in chosen.items():
            rows = effects(view, [Group(label, (probe,), tests=family)], keep=keep, margin=options.margin)
            moved = [_median(view, each, probe, keep, apart) for each in rows.to_dict("records")]
            parts.append(rows.assign(family=family, apart=moved))
    whole = pd.concat([each for each in parts if len(each)] or parts[:1] or [_none(view)], ignore_index=True)
    return with_holm(whole).sort_values(["evaluator", "corpus", "family"], kind="stable", ignore_index=True)


def _none(view: View) -> pd.DataFrame:
    return effects(view, []).assign(family="", apart=np.nan)


def _median(view: View, row: Mapping[object, object], probe: str, keep: np.ndarray, apart: np.ndarray) -> float:
    """Median of ``apart`` over the items of a row that have a shift."""
    moved = view.changes(str(row["evaluator"]), (probe,)).delta
    own = keep & view.items & view.table.of_corpus(str(row["corpus"])) & ~np.isnan(moved)
    return float(np.median(apart[own])) if own.any() else float("nan")


def _lacking(table: ScoreTable) -> str:
    probes = _probes(table)
    if not probes:
        return no_family_of(table, _SIZE, RESPONSE, what="objects of two sizes")
    if all(np.isnan(_places(table, probe)[0]).all() for probe in probes.values()):
        return "the run tells no distance of its objects from the centre, as runs of before did not; audit size again"
    return ""
