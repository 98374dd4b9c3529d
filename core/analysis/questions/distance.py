"""Does the score change with the object's distance from the centre? Source: paper A, A.4 and B.1."""

import re
from functools import partial

import numpy as np
import pandas as pd

from core.analysis.questions import paper
from core.analysis.questions.base import Drawing, Options, Question
from core.analysis.questions.factors import of_reference
from core.analysis.questions.needs import no_family
from core.analysis.questions.objects import CURVE, curve_figure, curves
from core.analysis.table import ScoreTable, View
from core.statistics.splines import spline_curve

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
    table, frames = view.table, []
    probes = view.families().get(paper.DISTANCE, ())
    radius = pd.Series(probes, dtype=str).str.extract(_RADIUS)[0].to_numpy(dtype=np.float64)
    keep = view.items & table.of_corpus(table.reference)
    sources = pd.factorize(table.items["source"])[0][keep]
    for evaluator in view.evaluators if probes else ():
        percent = np.array([view.changes(evaluator, (name,)).percent[keep] for name in probes])
        found = spline_curve(np.repeat(radius, len(sources)), percent.ravel(), groups=np.tile(sources, len(probes)))
        frames.append(found.assign(evaluator=evaluator, corpus=table.reference))
    return curves(frames)
