"""The answer to an object's size where its place cannot explain it: pairs of objects alike in centrality.

A large object often lies nearer to the picture's centre, and saliency is the confounder that paper D names. The same
pairs are read again where both objects lie alike, and where the smaller one lies nearer.
Source: paper D, 4.3.2; the matching is ours.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from core.analysis.comparisons import RESPONSE, of_expectation
from core.analysis.effects import Group, effects, with_holm
from core.analysis.facts import fact
from core.analysis.questions import papers
from core.analysis.questions.base import Column, Options, Question
from core.analysis.questions.columns import CORPUS, COUNT, EVALUATOR, FAMILY, PERCENT
from core.analysis.questions.directional import CORRECTED, MADE, NOTE, SECTION
from core.analysis.questions.needs import no_family_of
from core.analysis.table import ScoreTable, View

ALIKE = 0.1
"""Most that the distances of two objects from the centre differ for them to count as alike, in half diagonals."""

_SIZE = "size"
_LARGER = "size:large"


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """The response to size by how central both objects are, beside that of all pairs."""
    columns = (
        EVALUATOR, CORPUS, FAMILY, Column("label", "Pairs", kind="text"), COUNT, PERCENT,
        Column("standardised", "Median Δ, SD [95 % CI]", digits=3, signed=True, low="standardised_low",
               high="standardised_high"),
        Column("apart", "Smaller − larger, half diagonals", digits=3, signed=True,
               help="Median over these pairs of how much farther from the centre the smaller object lies"),
        *CORRECTED, NOTE,
    )  # fmt: skip
    note = (
        "The larger of two objects is named instead of the smaller one; both captions are true. Distances are from the "
        "picture’s centre to the objects, 0 there and 1 in a corner. All pairs; those whose distances differ by at "
        f"most {ALIKE:g}, so that the place can hardly explain the answer; and those whose smaller object lies nearer "
        "to the centre, where the place speaks for the smaller one. Holm’s correction over the three. A median that "
        "stays in the second and in the third is of the size, or of what goes with it beside the place."
    )
    return (
        Question("C20-central", "Size: does the answer stay where both objects are equally central?", SECTION, MADE,
                 note, columns, _compute, _lacking, paper=papers.RESPONSES[_SIZE][1], tests="the choices of pairs",
                 part_of=papers.RESPONSES[_SIZE][0]),
    )  # fmt: skip


def _probes(table: ScoreTable) -> Mapping[str, str]:
    """Family -> its probe that names the larger object."""
    known = of_expectation(table, RESPONSE)
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
