"""From which strength on does an edit that should not matter change the score, and how does a drop grow with it?"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.comparisons import DIRECTIONAL, Capability, comparison_rows
from core.analysis.effects import CELL, IN_PERCENT, Group, bounds, effects
from core.analysis.facts import facts_of
from core.analysis.lacks import AUDIT, NOTHING, Lack
from core.analysis.questions.columns import (
    ABSOLUTE,
    CORRECTED,
    COUNT,
    DROP,
    FAILURE,
    FAMILY,
    HEAD,
    HOW,
    MEDIAN,
    NOTE,
    PAIRS,
    PERCENT,
    SAID,
    TESTS,
    TIES,
    UNTOLD,
    WHAT,
    how,
    marks,
)
from core.analysis.questions.directional import MADE, SECTION, TEST, needs
from core.analysis.questions.question import Column, Drawing, Options, Question, bounded
from core.analysis.scores import once
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import HOLDS, MARGIN, SCATTERS, untold
from core.charts.spec import Axis, Figure, Reference, Shade
from core.probes.base import Expectation
from core.probes.titles import FALLING, measured_in, sweeps_among
from core.statistics.bootstrap import Interval

LIMITS = "S31"


def of_shifts(table: ScoreTable) -> tuple[Question, ...]:
    """Where each edit leaves the margin, and the curve of each with its table."""
    return (_limits_of_all(), *(_of_family(table, *key) for key in sweeps(table)))


def _limits_of_all() -> Question:
    crossing_help = (
        "Where the line through the medians of |% change| meets the margin; the ends are where those of "
        "the intervals' upper and lower bounds do"
    )
    crossing = bounded("crossing", "Leaves the margin at [95 % CI]", digits=1, help=crossing_help)
    of = Column("of", "Strength", kind="text")
    within = Column("within", "Within it up to", digits=1)
    beyond = Column("beyond", "Beyond it from", digits=1)
    n_items = Column("n_items", "n", digits=0, help="Items, at the strength that has fewest")
    columns = (*HEAD, FAMILY, of, crossing, within, beyond, n_items, SAID, UNTOLD)
    note = (
        "Within: the strengths, from the least on, at which the score is shown to be stable within the margin; beyond: "
        "the first at which the median |% change| is shown to lie above it. Between the two it is unclear. The "
        "strength at which it leaves the margin is read off the lines between the points, so it is no finer than they "
        "are. Uncorrected: no test is made here."
    )
    title = "The strength at which an edit that should not matter changes the score beyond the margin"
    return Question(LIMITS, title, "strength", "limits", note, columns, _limits, _strengths_lacking, asks=("margin",))


def _of_family(table: ScoreTable, family: str, fact: str) -> Question:
    said, tests = family.replace("-", " "), f"the strengths of the {family.replace('-', ' ')}"
    title = f"{said.capitalize()}: how much the score changes along its strength"
    read = (
        "Median over items of |% change| with its 95 % BCa interval, along the strength. "
        f"Dashed: a margin of {MARGIN:g} %. Shaded: up to the median |% change| under invisible edits, of the "
        "evaluator that they change most."
    )
    opens = {"probes": "probe"} | ({"controls": "=yes"} if table.is_control(family) else {})
    drawing = Drawing(f"F-strength-{family}", title, read, partial(_curve, fact=fact), opens=opens)
    way = "Which way an edit goes (left or right, lighter or darker) is drawn once an item."
    note = f"{how(tests)} One row a strength. {way}"

    def compute(view: View, options: Options) -> pd.DataFrame:
        rows = _rows(view, options.margin)
        return rows[rows["family"] == family].reset_index(drop=True)

    label = Column("label", _named(fact).capitalize(), digits=1)
    null_median = Column("null_median", "Invisible edits", help="Median |% change| under invisible edits")
    columns = (*HEAD, label, COUNT, PERCENT, ABSOLUTE, null_median, *TESTS)
    question = Question(f"{LIMITS}-{family}", title, "strength", family, note, columns, compute)
    return replace(question, needs=_strengths_lacking, figures=(drawing,), tests=tests, asks=("margin",))


def sweeps(table: ScoreTable) -> dict[tuple[str, str], dict[float, str]]:
    """Sweeps of the table's harmless probes; see :func:`core.probes.titles.sweeps_among`."""
    return sweeps_among(map(str, table.probes.index[table.probes["expectation"] == Expectation.INVARIANT.value]))


def _strengths_lacking(table: ScoreTable) -> Lack:
    if sweeps(table):
        return NOTHING
    what = "no harmless edit here was made at several strengths"
    return Lack(what, "run an audit with them", command=f"{AUDIT} strength-sweep")


@once
def _rows(view: View, margin: float) -> pd.DataFrame:
    """Effect of every point, with family, of, probe and null_median; empty where the view keeps no point."""
    parts = []
    for (family, fact), own in sweeps(view.table).items():
        probes = {f"{strength:g}": name for strength, name in own.items()}
        groups = [
            Group(at, (name,), tests=f"the strengths of the {family}", shown=bool(view.probes((name,))))
            for at, name in probes.items()
        ]
        found = effects(view, groups, margin=margin)
        parts.append(found.assign(family=family, fact=fact, of=_named(fact), probe=found["label"].map(probes)))
    none = {"family": "", "fact": "", "of": "", "probe": ""}
    rows = pd.concat(parts, ignore_index=True) if parts else effects(view, []).assign(**none)
    keys = zip(rows["evaluator"].astype(str), rows["corpus"].astype(str), strict=True)
    floors = [view.null_median(*key) for key in keys]
    return rows.assign(label=rows["label"].astype(float), null_median=np.array(floors, dtype=np.float64))


def _named(fact: str) -> str:
    what, unit = measured_in(fact)
    return f"{what},{unit}" if unit.strip() else what


def _limits(view: View, options: Options) -> pd.DataFrame:
    records = []
    rows = _rows(view, options.margin)
    for (evaluator, corpus, family, fact), own in rows.groupby(["evaluator", "corpus", "family", "fact"], sort=False):
        at = own["label"].to_numpy()
        fact = str(fact)
        crossing, early, late = (
            _crossing(at, own[name].to_numpy(), options.margin)
            for name in ("median_abs_percent", "abs_high", "abs_low")
        )
        holds, leaves = (own["scatter"] == HOLDS).to_numpy(), (own["scatter"] == SCATTERS).to_numpy()
        within = at[: int(np.argmin(holds))] if not holds.all() else at
        beyond = at[leaves]
        ends = (early, late) if fact not in FALLING else (late, early)
        reached = (float(within[-1]) if len(within) else math.nan, float(beyond[0]) if len(beyond) else math.nan)
        last = own.iloc[-1]  # what the items of the most that was tried would have shown against the margin
        most = Interval(last["median_abs_percent"], last["abs_low"], last["abs_high"], int(last["n_items"]), 0.95)
        power = untold(most, unit="%") if not (holds.all() or leaves.any()) else ""
        said = (int(own["n_items"].min()), _said(fact, at, holds, leaves), power)
        records.append((evaluator, corpus, family, own["of"].iloc[0], crossing, *ends, *reached, *said))
    names = [*CELL, "family", "of", *bounds("crossing"), "within", "beyond", "n_items", "said", "power"]
    return pd.DataFrame(records, columns=names)


def _crossing(at: np.ndarray, sizes: np.ndarray, margin: float) -> float:
    """First strength at which the line through the sizes meets the margin; NaN where none does, or the first does."""
    sizes = sizes.astype(np.float64)  # of nothing but missing sizes a column is of objects
    known = ~np.isnan(sizes)
    at, sizes = at[known], sizes[known]
    above = np.flatnonzero(sizes > margin)
    if not len(above) or above[0] == 0:
        return math.nan
    last, first = above[0] - 1, above[0]
    return float(at[last] + (margin - sizes[last]) / (sizes[first] - sizes[last]) * (at[first] - at[last]))


def _said(fact: str, at: np.ndarray, holds: np.ndarray, leaves: np.ndarray) -> str:
    _, unit = measured_in(fact)
    ends = f"{at[0]:g}{unit}", f"{at[-1]:g}{unit}"
    if leaves[0]:
        return f"beyond the margin at {ends[0]} already, the least that was tried"
    if holds.all():
        return f"within the margin up to {ends[1]}, the most that was tried"
    if leaves.any():
        return f"beyond the margin from {at[int(np.argmax(leaves))]:g}{unit} on"
    return f"not shown to leave the margin up to {ends[1]}, nor to stay within it"


def _curve(drawing: Drawing, frame: pd.DataFrame, measure: str, fact: str) -> Figure:
    values = ("median_abs_percent", "abs_low", "abs_high")
    data = marks(frame, label="label", series="evaluator", panel=("corpus",), values=values, opens=drawing.opens)
    floor = float(frame["null_median"].max()) if frame["null_median"].notna().any() else 0.0
    look: dict[str, Any] = {"kind": "lines", "unit": " %", "along": Axis(*measured_in(fact)), "span": (0.0, None)}
    shades = (Shade(0.0, floor),) if floor else ()
    margin = (Reference(MARGIN, dash="dash"),)
    return drawing.drawn(data, "median |% change| of items", references=margin, shades=shades, **look)


STRENGTHS: Mapping[str, str] = {"share": "probability that a word is hit", "length": "words of the tail"}
"""Fact that says how strong an edit is -> what it counts."""

READINGS = ("algorithm", "draw")
"""Facts of another reading of an edit or another draw of it, which are no points of its sweep: its draws are nested."""

LEAST = 3  # Points that make a curve


def of_drops(table: ScoreTable) -> tuple[Question, ...]:
    """One table with its curves."""
    of = Column("of", "Strength", kind="text")
    label = Column("label", "is", digits=2)
    columns = (*HEAD, WHAT, of, label, COUNT, PAIRS, FAILURE, TIES, DROP, MEDIAN, *CORRECTED, NOTE)
    title = "How the drop grows with the strength of the edit"
    read = (
        "Median over items of the change in percent, with its 95 % BCa interval, along the strength of the edit. Words "
        "that are hit at one probability are hit at every larger one."
    )
    drawing = Drawing("C-sweep-curves", title, read, _curves, opens=TEST)
    note = (
        f"{HOW}One row a strength of the edit: the probability that a word is hit, or the words of a hollow tail. "
        "Holm’s correction within evaluator, corpus and family over the strengths."
    )
    question = Question("C-sweep", title, SECTION, MADE, note, columns, _drops, _drops_lacking, (drawing,))
    return (replace(question, tests="the strengths of the family", asks=("known",)),)


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


def _drops_lacking(table: ScoreTable) -> Lack:
    if points(table):
        return NOTHING
    what = "no edit here was made at several strengths"
    return needs(table) or Lack(what, "run an audit with them", command=f"{AUDIT} lexical-sweep,tail-sweep")


def _drops(view: View, options: Options) -> pd.DataFrame:
    asked, of = list[Capability](), dict[str, str]()
    for (family, key), own in points(view.table).items():
        tests, axis = f"{family} by {key}", view.table.axis_of(family)
        of[tests] = STRENGTHS[key]
        for strength, probe in own.items():
            shown = bool(view.probes((probe,)))
            asked.append(Capability(f"{strength:g}", family, axis, (probe,), tests, shown=shown))
    frame = comparison_rows(view, asked, known=options.known)
    return frame.assign(label=frame["label"].astype(float), of=frame["tests"].map(of))


def _curves(drawing: Drawing, frame: pd.DataFrame, measure: str) -> Figure:
    of = ("family", "corpus")
    data = marks(frame, label="label", series="evaluator", panel=of, values=IN_PERCENT, opens=drawing.opens)
    named = ", ".join(dict.fromkeys(map(str, frame["of"])))
    return drawing.drawn(data, "median change of items", kind="lines", unit=" %", along=Axis(named))
