"""Does the score change with where the object stands: how far from the centre, and on which side of the picture?

Source: paper A, A.4 and B.1.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from core.analysis.effects import Group, effects, median_over, words
from core.analysis.lacks import no_family
from core.analysis.questions import papers
from core.analysis.questions.columns import CORPUS, COUNT, EVALUATOR, PERCENT, SHIFTS, TESTS, UNTOLD, Map, cells, how
from core.analysis.questions.factor_tests import of_reference
from core.analysis.questions.object_kinds import CURVE, curve_figure, curves_along
from core.analysis.questions.question import Column, Drawing, Options, Question
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import too_few_for, untold
from core.statistics.arithmetic import row_medians
from core.statistics.bootstrap import Interval

_RADIUS = re.compile(r"^distance:(\d+\.\d+)")


def of_distance(table: ScoreTable) -> tuple[Question, ...]:
    """One curve an evaluator, of the distance grid."""
    title, note = "Percent change on distance from the centre", f"{CURVE}{of_reference(table)}"
    figure = partial(curve_figure, x="distance of the object from the centre, 1 = the edge", y="% change", unit=" %")
    return (
        Question(
            "S19",
            title,
            "space",
            papers.DISTANCE,
            note,
            (),
            _along_radius,
            lambda table: no_family(table, papers.DISTANCE, what="a distance grid"),
            (Drawing("F-distance", title, note, figure),),
            pick=("evaluator",),
        ),
    )


def _along_radius(view: View, options: Options) -> pd.DataFrame:
    """Curves over all places of the grid, x the radius of the place aimed at (1 = the edge); an item is drawn whole."""
    probes = view.families().get(papers.DISTANCE, ())
    radius = pd.Series(probes, dtype=str).str.extract(_RADIUS)[0].astype(float)
    return curves_along(view, dict(zip(probes, radius, strict=True)))


LEAST_PLACES = 8
"""Places that an item needs for its own lean: four numbers are read off them."""

DIRECTIONS = {
    0: "right",
    45: "up right",
    90: "up",
    135: "up left",
    180: "left",
    225: "down left",
    270: "down",
    315: "down right",
}
"""Angle of the grid in degrees -> where it points."""

OPEN = "no side shown to score higher"

CENTRE = "centre"

_NAME = re.compile(r"^distance:(?P<radius>\d+\.\d+)(?:@(?P<angle>\d{3}))?$")
_TESTED = "the places of the grid"


@dataclass(frozen=True, slots=True)
class Aim:
    """A place that the grid aims at.

    Args:
        probe: its name.
        radius: 0 at the centre, 1 at the middle of a side.
        angle: in degrees, 0 is right and 90 is up.
    """

    probe: str
    radius: float
    angle: int

    @property
    def towards(self) -> str:
        """Direction from the centre, in words."""
        return DIRECTIONS[self.angle] if self.radius else CENTRE

    @property
    def offset(self) -> tuple[float, float]:
        """(right, up) from the centre, 1 at the middle of a side."""
        return self.radius * float(np.cos(np.radians(self.angle))), self.radius * float(np.sin(np.radians(self.angle)))


def of_sides(table: ScoreTable) -> tuple[Question, ...]:
    """The map by direction and radius, and which way the scores lean."""
    return _map(), _lean()


def _map() -> Question:
    title = "Percent change by direction and distance from the centre"
    note = (
        f"{how(_TESTED)} One row a place of the grid, 1 = the edge. Only objects that fit there count, so the items of "
        "two places are not the same; against its other places: median over items of % change at the place less the "
        "item’s "
        "own median over all its places, in points, which holds the item; 95 % BCa interval."
    )
    drawing = Drawing(
        "F-places",
        title,
        "Median % change of the items whose object fits there; n items in every cell.",
        Map(
            "towards",
            "distance",
            order=lambda frame: [each for each in (CENTRE, *DIRECTIONS.values()) if each in set(frame["towards"])],
            columns=lambda frame: sorted(frame["distance"].unique()),
        ),
        opens={"probes": "label"},
    )
    columns = (
        EVALUATOR,
        CORPUS,
        Column("towards", "Towards", kind="text"),
        Column("distance", "Distance", kind="text"),
        COUNT,
        PERCENT,
        Column("held", "Against its other places, points [95 % CI]", signed=True, low="held_low", high="held_high"),
        *TESTS,
    )
    return Question(
        "S19-map",
        title,
        "space",
        papers.DISTANCE,
        note,
        columns,
        _compute,
        _needs,
        (drawing,),
        tests=_TESTED,
        asks=SHIFTS,
        pick=("evaluator", "corpus"),
    )


def _lean() -> Question:
    note = (
        f"Of every item with {LEAST_PLACES} places or more, % change at a place is fitted by least squares with what "
        f"changes "
        "per way to the right, per way up and per distance from the centre; medians over items of the first two with "
        "95 % BCa intervals, in points of % change from the centre to the edge. In words: the sides whose interval "
        "excludes "
        "0. Uncorrected: no test is made here."
    )
    columns = (
        EVALUATOR,
        CORPUS,
        COUNT,
        Column("value", "To the right, points [95 % CI]", signed=True, low="low", high="high"),
        Column("up", "Upwards, points [95 % CI]", signed=True, low="up_low", high="up_high"),
        Column("said", "In words", kind="text"),
        UNTOLD,
        Column("note", "Remark", kind="text"),
    )
    return Question(
        "S19-lean",
        "Which way scores lean as the object moves across the picture",
        "space",
        papers.DISTANCE,
        note,
        columns,
        _leans,
        _needs,
    )


def _needs(table: ScoreTable) -> str:
    return no_family(table, papers.DISTANCE, what="a distance grid")


def aims(probes: Sequence[str]) -> tuple[Aim, ...]:
    """Places of the grid, by their names; other probes are left out."""
    found = [(name, _NAME.match(name)) for name in probes]
    return tuple(Aim(name, float(told["radius"]), int(told["angle"] or 0)) for name, told in found if told)


def _aims(view: View) -> tuple[Aim, ...]:
    return aims(view.families().get(papers.DISTANCE, ()))


def _compute(view: View, options: Options) -> pd.DataFrame:
    """Effect of every place, with towards, distance and held."""
    known = {each.probe: each for each in _aims(view)}
    groups = [
        Group(each.probe, (each.probe,), tests=_TESTED, shown=each.probe in known) for each in _aims(view.whole())
    ]
    rows = effects(view, groups, margin=options.margin)
    held = {name: _percent(view, name, tuple(known)) for name in view.evaluators} if known else {}
    places = {name: place for place, name in enumerate(known)}
    moved = list[Interval]()
    for evaluator, corpus, label in zip(rows["evaluator"], rows["corpus"], rows["label"], strict=True):
        percent = held[evaluator]
        own = percent[places[label]] - row_medians(percent)
        moved.append(median_over(own, view.items & view.table.of_corpus(str(corpus)), view.table.sources))
    return rows.assign(
        towards=[known[each].towards for each in rows["label"]],
        distance=[f"{known[each].radius:.1f}" for each in rows["label"]],
        held=np.array([each.estimate for each in moved], dtype=np.float64),
        held_low=np.array([each.low for each in moved], dtype=np.float64),
        held_high=np.array([each.high for each in moved], dtype=np.float64),
    )


def _percent(view: View, evaluator: str, probes: Sequence[str]) -> np.ndarray:
    """% change at every place, float64 [k, N]."""
    return np.array([view.changes(evaluator, (name,)).percent for name in probes])


def _leans(view: View, options: Options) -> pd.DataFrame:
    grid = _aims(view)

    def ways(evaluator: str) -> tuple[np.ndarray, np.ndarray]:
        return slopes(_percent(view, evaluator, [each.probe for each in grid]), grid)

    def row(right: np.ndarray, up: np.ndarray, items: np.ndarray) -> dict[str, object]:
        across, along = (median_over(each, items, view.table.sources) for each in (right, up))
        return {
            **words(across),
            "up": along.estimate,
            "up_low": along.low,
            "up_high": along.high,
            "said": _said(across, along),
            "power": _untold(across, along),
        }

    return cells(view, _LEANS, ways, row, asked=bool(grid))


_LEANS = ("n_items", "value", "low", "high", "up", "up_low", "up_high", "said", "power", "note")


def slopes(percent: np.ndarray, grid: Sequence[Aim]) -> tuple[np.ndarray, np.ndarray]:
    """How % change changes from the centre to the right edge and to the upper one, the distance from the centre held.

    Args:
        percent: of every place and item, float64 [k, N]; NaN where the object does not fit.
        grid: the k places.

    Returns:
        Points per way to the right and per way up, float64 [N] each; NaN for an item of fewer than LEAST_PLACES
        places, or whose places do not part the three.
    """
    design = np.array([(1.0, *each.offset, each.radius) for each in grid])
    right, up = np.full((2, percent.shape[1]), np.nan)
    there = ~np.isnan(percent)
    patterns, which = np.unique(there, axis=1, return_inverse=True)
    for number, kept in enumerate(patterns.T):
        if kept.sum() >= LEAST_PLACES and np.linalg.matrix_rank(design[kept]) == design.shape[1]:
            items = np.flatnonzero(which.ravel() == number)
            fitted = np.linalg.lstsq(design[kept], percent[np.ix_(kept, items)], rcond=None)[0]
            right[items], up[items] = fitted[1], fitted[2]
    return right, up


def _said(right: Interval, up: Interval) -> str:
    if few := too_few_for(right):
        return few
    ways = [
        named for each, names in ((right, ("right", "left")), (up, ("top", "bottom"))) for named in _way(each, *names)
    ]
    return f"higher towards the {' and the '.join(ways)}" if ways else OPEN


def _untold(right: Interval, up: Interval) -> str:
    """What these items would have shown of either way, where they show none."""
    if _said(right, up) != OPEN:
        return ""
    told = {"across": untold(right, unit="points"), "upwards": untold(up, unit="points")}
    return "; ".join(f"{way}: {said}" for way, said in told.items() if said)


def _way(lean: Interval, more: str, less: str) -> tuple[str, ...]:
    if lean.low > 0:
        return (more,)
    return (less,) if lean.high < 0 else ()
