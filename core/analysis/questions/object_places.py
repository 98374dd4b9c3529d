"""Does the score change with where the object stands: how far from the centre, and on which side of the picture?

Source: paper A, A.4 and B.1.

The answer to an object's size where its place cannot explain it: pairs of objects alike in centrality.

A large object often lies nearer to the picture's centre, and saliency is the confounder that paper D names. The same
pairs are read again where both objects lie alike, and where the smaller one lies nearer.
Source: paper D, 4.3.2; the matching is ours.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from core.analysis.comparisons import RESPONSE
from core.analysis.effects import Group, bounds, effects, ends, median_over, with_holm, words
from core.analysis.facts import fact
from core.analysis.lacks import no_family, no_family_of
from core.analysis.questions import papers
from core.analysis.questions.columns import (
    CORRECTED,
    COUNT,
    FAMILY,
    HEAD,
    NOTE,
    PERCENT,
    SAID,
    SHIFTS,
    STANDARDISED,
    TESTS,
    UNTOLD,
    Map,
    cells,
    how,
    under_its_caption,
)
from core.analysis.questions.directional import MADE, SECTION
from core.analysis.questions.factor_tests import of_reference
from core.analysis.questions.object_kinds import CURVE, curve_figure, curves, curves_along
from core.analysis.questions.question import Column, Drawing, Options, Question, bounded
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import too_few_for, untold
from core.charts.spec import Figure
from core.statistics.arithmetic import row_medians
from core.statistics.bootstrap import Interval
from core.statistics.splines import spline_curve


def of_distance(table: ScoreTable) -> tuple[Question, ...]:
    """One curve an evaluator, of the distance grid; the map by direction and radius, and which way the scores lean."""
    title, note = "Percent change on distance from the centre", f"{CURVE}{of_reference(table)}"
    figure = partial(curve_figure, x="distance of the object from the centre, 1 = the edge", y="% change", unit=" %")

    def compute(view: View, options: Options) -> pd.DataFrame:
        # over all places of the grid, x the radius of the place aimed at (1 = the edge)
        return curves_along(view, {each.probe: each.radius for each in _aims(view)})

    question = Question("S19", title, "space", papers.DISTANCE, note, (), compute, _needs, pick=("evaluator",))
    return (replace(question, figures=(Drawing("F-distance", title, note, figure),)), _map(), _lean())


LEAST_PLACES = 8  # Places that an item needs for its own lean: four numbers are read off them

DIRECTIONS = dict(
    zip(
        range(0, 360, 45),
        ("right", "up right", "up", "up left", "left", "down left", "down", "down right"),
        strict=True,
    )
)
"""Angle of the grid in degrees -> where it points."""

OPEN = "no side shown to score higher"

CENTRE = "centre"

_NAME = re.compile(r"^distance:(?P<radius>\d+\.\d+)(?:@(?P<angle>\d{3}))?$")
_TESTED = "the places of the grid"


@dataclass(frozen=True, slots=True)
class Aim:
    """A place that the grid aims at."""

    probe: str  # its name
    radius: float  # 0 at the centre, 1 at the middle of a side
    angle: int  # in degrees, 0 is right and 90 is up

    @property
    def towards(self) -> str:
        """Direction from the centre, in words."""
        return DIRECTIONS[self.angle] if self.radius else CENTRE

    @property
    def offset(self) -> tuple[float, float]:
        """(right, up) from the centre, 1 at the middle of a side."""
        return self.radius * float(np.cos(np.radians(self.angle))), self.radius * float(np.sin(np.radians(self.angle)))


def _map() -> Question:
    title = "Percent change by direction and distance from the centre"
    note = (
        f"{how(_TESTED)} One row a place of the grid, 1 = the edge. Only objects that fit there count, so the items of "
        "two places are not the same; against its other places: median over items of % change at the place less the "
        "item’s own median over all its places, in points, which holds the item; 95 % BCa interval."
    )
    read = "Median % change of the items whose object fits there; n items in every cell."
    make = Map(
        "towards",
        "distance",
        order=lambda frame: [each for each in (CENTRE, *DIRECTIONS.values()) if each in set(frame["towards"])],
        columns=lambda frame: sorted(frame["distance"].unique()),
    )
    drawing = Drawing("F-places", title, read, make, opens={"probes": "label"})
    towards = Column("towards", "Towards", kind="text")
    distance = Column("distance", "Distance", kind="text")
    held = bounded("held", "Against its other places, points [95 % CI]", signed=True)
    columns = (*HEAD, towards, distance, COUNT, PERCENT, held, *TESTS)
    question = Question("S19-map", title, "space", papers.DISTANCE, note, columns, _compute)
    return replace(question, needs=_needs, figures=(drawing,), tests=_TESTED, asks=SHIFTS, pick=("evaluator", "corpus"))


def _lean() -> Question:
    note = (
        f"Of every item with {LEAST_PLACES} places or more, % change at a place is fitted by least squares with what "
        "changes per way to the right, per way up and per distance from the centre; medians over items of the first "
        "two with 95 % BCa intervals, in points of % change from the centre to the edge. In words: the sides whose "
        "interval excludes 0. Uncorrected: no test is made here."
    )
    value = Column("value", "To the right, points [95 % CI]", signed=True, low="low", high="high")
    up = bounded("up", "Upwards, points [95 % CI]", signed=True)
    columns = (*HEAD, COUNT, value, up, SAID, UNTOLD, NOTE)
    title = "Which way scores lean as the object moves across the picture"
    return Question("S19-lean", title, "space", papers.DISTANCE, note, columns, _leans, _needs)


_needs = partial(no_family, family=papers.DISTANCE, what="a distance grid")


def aims(probes: Sequence[str]) -> tuple[Aim, ...]:
    """Places of the grid, by their names; other probes are left out."""
    found = [(name, _NAME.match(name)) for name in probes]
    return tuple(Aim(name, float(told["radius"]), int(told["angle"] or 0)) for name, told in found if told)


def _aims(view: View) -> tuple[Aim, ...]:
    return aims(view.families().get(papers.DISTANCE, ()))


def _compute(view: View, options: Options) -> pd.DataFrame:
    """Effect of every place, with towards, distance and held."""
    known = {each.probe: each for each in _aims(view)}
    named = [each.probe for each in _aims(view.whole())]
    groups = [Group(name, (name,), tests=_TESTED, shown=name in known) for name in named]
    rows = effects(view, groups, margin=options.margin)
    held = {name: _percent(view, name, tuple(known)) for name in view.evaluators} if known else {}
    places = {name: place for place, name in enumerate(known)}
    moved = list[Interval]()
    for evaluator, corpus, label in zip(rows["evaluator"], rows["corpus"], rows["label"], strict=True):
        percent = held[evaluator]
        own = percent[places[label]] - row_medians(percent)
        moved.append(median_over(own, view.items & view.table.of_corpus(str(corpus)), view.table.sources))
    numbers = np.array([each.numbers() for each in moved], dtype=np.float64).reshape(-1, 3)
    return rows.assign(
        towards=[known[each].towards for each in rows["label"]],
        distance=[f"{known[each].radius:.1f}" for each in rows["label"]],
        **dict(zip(bounds("held"), numbers.T, strict=True)),
    )


def _percent(view: View, evaluator: str, probes: Sequence[str]) -> np.ndarray:
    return np.array([view.changes(evaluator, (name,)).percent for name in probes])


def _leans(view: View, options: Options) -> pd.DataFrame:
    grid = _aims(view)

    def ways(evaluator: str) -> tuple[np.ndarray, np.ndarray]:
        return slopes(_percent(view, evaluator, [each.probe for each in grid]), grid)

    def row(right: np.ndarray, up: np.ndarray, items: np.ndarray) -> dict[str, object]:
        across, along = (median_over(each, items, view.table.sources) for each in (right, up))
        said = {"said": _said(across, along), "power": _untold(across, along)}
        return {**words(across), **ends(along, bounds("up")), **said}

    names = ("n_items", "value", "low", "high", "up", "up_low", "up_high", "said", "power", "note")
    return cells(view, names, ways, row, asked=bool(grid))


def slopes(percent: np.ndarray, grid: Sequence[Aim]) -> tuple[np.ndarray, np.ndarray]:
    """How % change changes from the centre to the right edge and to the upper one, the distance from the centre held;
    ``percent``: of every place and item, float64 [k, N]; NaN where the object does not fit. Returns points per way to
    the right and per way up, float64 [N] each; NaN for an item of fewer than LEAST_PLACES places, or whose places do
    not part the three."""
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
    sides = ((right, "right", "left"), (up, "top", "bottom"))
    ways = [more if lean.low > 0 else less for lean, more, less in sides if lean.low > 0 or lean.high < 0]
    return f"higher towards the {' and the '.join(ways)}" if ways else OPEN


def _untold(right: Interval, up: Interval) -> str:
    """What these items would have shown of either way, where they show none."""
    if _said(right, up) != OPEN:
        return ""
    told = {"across": untold(right, unit="points"), "upwards": untold(up, unit="points")}
    return "; ".join(f"{way}: {said}" for way, said in told.items() if said)


ALIKE = 0.1
"""Most that the distances of two objects from the centre differ for them to count as alike, in half diagonals."""

_SIZE = "size"
_TABLE, _PAPER = papers.RESPONSES[_SIZE]
_LARGER = "size:large"


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """The response to size by how central both objects are, beside that of all pairs."""
    label = Column("label", "Pairs", kind="text")
    apart_help = "Median over these pairs of how much farther from the centre the smaller object lies"
    apart = Column("apart", "Smaller − larger, half diagonals", digits=3, signed=True, help=apart_help)
    columns = (*HEAD, FAMILY, label, COUNT, PERCENT, STANDARDISED, apart, *CORRECTED, NOTE)
    note = (
        "The larger of two objects is named instead of the smaller one; both captions are true. Distances are from the "
        "picture’s centre to the objects, 0 there and 1 in a corner. All pairs; those whose distances differ by at "
        f"most {ALIKE:g}, so that the place can hardly explain the answer; and those whose smaller object lies nearer "
        "to the centre, where the place speaks for the smaller one. Holm’s correction over the three. A median that "
        "stays in the second and in the third is of the size, or of what goes with it beside the place."
    )
    title = "Size: does the answer stay where both objects are equally central?"
    tests = "the choices of pairs"
    question = Question("C20-central", title, SECTION, MADE, note, columns, _compare_alike, _lacking)
    question = replace(question, paper=_PAPER, tests=tests, part_of=_TABLE)
    return under_its_caption(question), under_its_caption(_curve())


def _curve() -> Question:
    note = (
        "What naming the larger object instead of the smaller one does to the score, along the logarithm of how many "
        f"times larger it is: 1 is twice the area. {CURVE}"
    )
    title = "Size: the answer along how much larger the object is"
    drawing = Drawing("C20-along", title, note, _drawn, _PAPER)
    question = Question("C20-curve", title, SECTION, MADE, note, (), _along, _no_ratio)
    return replace(question, figures=(drawing,), paper=_PAPER, part_of=_TABLE)


def _drawn(drawing: Drawing, frame: pd.DataFrame, measure: str) -> Figure:
    """A panel an evaluator, and a corpus where there are several."""
    if len(frame["corpus"].unique()) > 1:
        frame = frame.assign(evaluator=frame["evaluator"] + " · " + frame["corpus"])
    return curve_figure(drawing, frame, measure, x="log₂ of the ratio of areas", y="Δ, SD of the unedited scores")


def _numbers(table: ScoreTable, key: str, probe: str) -> np.ndarray:
    """What a probe told under a key as numbers, float64 [N]; NaN where none is told."""
    return pd.to_numeric(pd.Series(fact(table, key, (probe,))[0]), errors="coerce").to_numpy(dtype=np.float64)


def _ratios(table: ScoreTable, probe: str) -> np.ndarray:
    """log₂ of the ratio of areas, float64 [N]; NaN where none is told."""
    told = _numbers(table, "ratio", probe)  # area of the larger object over that of the smaller one
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


def _compare_alike(view: View, options: Options) -> pd.DataFrame:
    parts = []
    for family, probe in _probes(view.table).items():
        if not view.probes((probe,)):
            continue
        small, large = (_numbers(view.table, key, probe) for key in papers.CENTRES)
        apart = small - large
        chosen = {
            "all whose places are told": ~np.isnan(apart),
            f"alike in centrality, within {ALIKE:g}": np.abs(apart) <= ALIKE,
            "the smaller one nearer to the centre": apart < 0,
        }
        for label, keep in chosen.items():
            rows, moved = effects(view, [Group(label, (probe,), tests=family)], keep=keep, margin=options.margin), []
            for evaluator, corpus in zip(rows["evaluator"], rows["corpus"], strict=True):
                there = ~np.isnan(view.changes(str(evaluator), (probe,)).delta)
                own = apart[keep & view.items & view.table.of_corpus(str(corpus)) & there]
                moved.append(float(np.median(own)) if len(own) else float("nan"))
            parts.append(rows.assign(family=family, apart=moved))
    none = effects(view, []).assign(family="", apart=np.nan)
    whole = pd.concat([each for each in parts if len(each)] or [*parts, none][:1], ignore_index=True)
    return with_holm(whole).sort_values(["evaluator", "corpus", "family"], kind="stable", ignore_index=True)


def _lacking(table: ScoreTable) -> str:
    probes = _probes(table)
    if not probes:
        return no_family_of(table, _SIZE, RESPONSE, what="objects of two sizes")
    if all(np.isnan(_numbers(table, papers.CENTRES[0], probe)).all() for probe in probes.values()):
        return "the run tells no distance of its objects from the centre, as runs of before did not; audit size again"
    return ""
