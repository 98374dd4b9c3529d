"""Does the score change with the object's distance from the centre? Source: paper A, A.4 and B.1."""

import re
from functools import partial

import pandas as pd

from core.analysis.questions import paper
from core.analysis.questions.base import Drawing, Options, Question
from core.analysis.questions.factors import of_reference
from core.analysis.questions.needs import no_family
from core.analysis.questions.objects import CURVE, curve_figure, curves_along
from core.analysis.table import ScoreTable, View

_RADIUS = re.compile(r"^distance:(\d+\.\d+)")


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """One curve an evaluator, of the distance grid."""
    title, note = "Percent change on distance from the centre", f"{CURVE}{of_reference(table)}"
    figure = partial(curve_figure, x="distance of the object from the centre, 1 = the edge", y="%Δ", unit=" %")
    return (
        Question(
            "S19", title, "space", paper.DISTANCE, note, (), _compute,
            lambda table: no_family(table, paper.DISTANCE, what="a distance grid"),
            (Drawing("F-distance", title, note, figure),), pick=("evaluator",),
        ),
    )  # fmt: skip


def _compute(view: View, options: Options) -> pd.DataFrame:
    """Curves over all places of the grid, x the radius of the place aimed at (1 = the edge); an item is drawn whole."""
    probes = view.families().get(paper.DISTANCE, ())
    radius = pd.Series(probes, dtype=str).str.extract(_RADIUS)[0].astype(float)
    return curves_along(view, dict(zip(probes, radius, strict=True)))
