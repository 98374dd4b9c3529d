"""Does the score drop where the meaning breaks? Every directional family under every evaluator.

Sources: DIRECTIONAL, sections 0.2 and 0.3; papers B (drops), C (captioners that are trained on a metric learn its weak
spots), D (rates, means, orders) and E (failures, margins).
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import pandas as pd

from core.analysis.beside import caption_of, every_caption
from core.analysis.comparisons import (
    AUDIT,
    DIRECTIONAL,
    Capability,
    axes,
    capabilities,
    comparison_rows,
    families,
    kinds,
    rate_rows,
    refusals,
    uncorrected_rows,
)
from core.analysis.effects import bounds
from core.analysis.facts import keyed, looked_up
from core.analysis.lacks import NOTHING, Lack, elsewhere
from core.analysis.questions import papers
from core.analysis.questions.columns import (
    AS_IF,
    CAPTION,
    CORRECTED,
    COUNT,
    DROP,
    FAILURE,
    HEAD,
    HOW,
    MEDIAN,
    NOTE,
    OF_MEANS,
    PAIRS,
    TIES,
    VERDICT,
    WHAT,
    WOULD_HAVE_TOLD,
    Dots,
    marks,
)
from core.analysis.questions.question import Column, Drawing, Options, Question, bounded
from core.analysis.scores import once
from core.analysis.selectivity import heat_map, hidden_best, lack, rivals
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import NO_CLAIM, too_few
from core.charts.spec import Figure
from core.probes.titles import family_title
from core.statistics.comparisons import RIGHT

SECTION = "contrast"
MATRIX, DEPTH, MADE = "what breaks", "test by test", "what the edits did"  # Parts of the section

RATES = "C-rates"

TEST: Mapping[str, str] = {"test": "family"}  # What a mark of a directional family opens: the comparisons of its test


Depth = Literal["cells", "rows", "whole"]
"""How much the matrix tells of each family: what a cell shows (:data:`core.analysis.comparisons.RATED` and the rival),
the row without the intervals of the drops, which take most of the time, or all."""


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """The matrix, and the families of each axis."""
    return (_matrix(), _together(), *(_of_axis(axis) for axis in named_axes(table)))


def named_axes(table: ScoreTable) -> tuple[str, ...]:
    """Axes that have a directional family here, and those that the papers compare."""
    return tuple(dict.fromkeys([*axes(table), *papers.AXES]))


def numbers_of(axis: str) -> papers.Numbers:
    """Numbers of the families of an axis."""
    return papers.AXES.get(axis, papers.Numbers(f"C-{axis}", f"C-{axis}-drops", f"C-{axis}-scores"))


def needs(table: ScoreTable, *, axis: str | None = None) -> Lack:
    """Why a table has no directional probe, of one axis where it is named; empty where it has."""
    if axis in axes(table) or (axis is None and axes(table)):
        return NOTHING
    what = "a directional probe" if axis is None else f"a directional probe of the axis {axis}"
    rows = table.about.get("open")
    if rows is not None and "expectation" in rows:
        rows = rows[(rows["expectation"] == DIRECTIONAL) & ((rows["axis"] == axis) | (not axis))]
        if len(rows):  # the runs have such probes outside the scope
            return elsewhere(table, rows, what)
    return Lack(f"no run has {what}", "an audit with it", command=AUDIT)


@once
def rows(view: View, known: bool = False, *, drops: bool = True) -> pd.DataFrame:
    """Every directional family under every evaluator; see :func:`core.analysis.comparisons.comparison_rows`."""
    return comparison_rows(view, capabilities(view), known=known, drops=drops)


def _matrix() -> Question:
    n_refused = "Comparisons of these items that could not be made under this caption"
    refused = "The most frequent reasons, each with its n; python -m core probes reasons explains them"
    rival = "The harmless family that hides it best: its items’ selectivity against it is lowest"
    auroc = "Probability that the right side of any item scores above the wrong side of any item, ties half: how well "
    auroc += "the score alone tells them apart; (Cliff’s δ + 1) / 2"
    of = Column("section", "Section", kind="text"), CAPTION, Column("axis", "Axis", kind="text")
    told = (
        Column("n_refused", "n refused", digits=0, help=n_refused),
        Column("refused", "Refused because", kind="text", help=refused),
    )
    near = (
        bounded("near", "Near ties, % [95 % CI]", digits=1, help="Sides closer than τ; ties are among them"),
        Column("tau", "τ", digits=4, help="1 % of the span of the family’s scores, on the evaluator’s own scale"),
        Column("auroc", "AUROC", help=auroc),
    )
    taken_for = (
        Column("rival", "Taken for", kind="text", help=rival),
        Column("rival_value", "Selectivity against it [95 % CI]", low="rival_low", high="rival_high"),
    )
    first = (*HEAD, *of, Column("label", "What breaks", kind="text"), COUNT, PAIRS, *told, FAILURE, TIES, *near)
    columns = (*first, VERDICT, *WOULD_HAVE_TOLD, *taken_for, *CORRECTED, AS_IF, NOTE)
    read = (
        "Missed: the wrong caption (or picture) scores at least as high. Small figures: 95 % interval. ✓: it lies "
        "under 50 %, better than guessing. Where half of the misses or more are equal scores: how many tied "
        "instead. Most missed first."
    )
    drawing = Drawing("C-matrix", "How often each metric misses the error", read, _matrix_figure, opens=TEST)
    *others, last = papers.RESPONSES
    note = (
        f"{HOW}Every family under its own caption. Holm’s correction within evaluator, corpus, caption and axis. Taken "
        "for: the harmless family whose shifts are most often as large as this drop, within items; not where no "
        "harmless edit was audited under the same caption. Edits both of whose captions are true are no failures, "
        f"whichever way the score goes: {', '.join(others)} and {last} are in their own tables."
    )
    title = "How often each metric misses the error"
    question = Question(RATES, title, SECTION, MATRIX, note, columns, matrix, needs, (drawing,))
    return replace(question, tests="the families of its axis", asks=("known",))


def matrix(view: View, options: Options, *, depth: Depth = "whole") -> pd.DataFrame:
    """Failure rates of every family under its own caption, by section, the scope's caption first; a family that it has
    too is that one. What is told of each is the same in each depth; see :func:`_of_caption`."""
    parts = [_of_caption(view, options, depth).assign(caption=caption_of(view.table))]
    for table in every_caption(view.table)[1:] if len(parts[0]) else ():
        seen = {str(name) for part in parts for name in part["family"]}
        other = _of_caption(table.view(view.chosen), options, depth).assign(caption=caption_of(table))
        parts.append(other[~other["family"].isin(seen)])
    whole = pd.concat([each for each in parts if len(each)] or parts[:1], ignore_index=True)
    whole = whole.assign(section=list(map(papers.section_of, whole["family"], whole["axis"])))
    place = {name: number for number, name in enumerate(papers.SECTIONS)}
    return whole.sort_values("section", key=lambda names: names.map(place), kind="stable", ignore_index=True)


def in_depth(view: View, options: Options, family: str) -> pd.DataFrame:
    """The rows of one family in :func:`matrix` without the intervals of rival and drops and Holm's correction over all.
    The view is of its own caption's table; a family that it leaves out has no row."""
    own = [each for each in capabilities(view) if each.family == family and each.shown]
    found = uncorrected_rows(view, own, known=options.known, drops=False)
    return _beside(view, options, _with_refusals(view, found), "cells").assign(caption=caption_of(view.table))


def _of_caption(view: View, options: Options, depth: Depth) -> pd.DataFrame:
    """Failure rates of every family, beside the harmless family that each is most easily taken for; then its kinds."""
    if depth == "cells":
        families_of, kinds_of = (rate_rows(view, each(view), known=options.known) for each in (capabilities, kinds))
        return _beside(view, options, _with_kinds(families_of, kinds_of), depth)
    whole = depth == "whole"
    own = comparison_rows(view, kinds(view), known=options.known, drops=whole)
    found = _with_kinds(rows(view, options.known) if whole else rows(view, options.known, drops=False), own)
    return _beside(view, options, _with_refusals(view, found), depth)


def _beside(view: View, options: Options, found: pd.DataFrame, depth: Depth) -> pd.DataFrame:
    """Rows with the harmless family that each is most easily taken for, of cells without the interval."""
    told = {"nuisance": "rival", "value": "rival_value"}
    told |= {} if depth == "cells" else {"low": "rival_low", "high": "rival_high"}
    usual = dict.fromkeys(told.values(), math.nan) | {"rival": ""}
    if lack(view) or found.empty:
        return found.assign(**usual)
    if depth == "whole":  # whoever asks for the whole row asks for the whole map too: one set of draws serves both
        alike = rivals(heat_map(view, known=options.known))
    else:
        alike = hidden_best(view, known=options.known, bounds=depth == "rows")
    known = zip(keyed(alike, [*_FAMILY, "family"]), keyed(alike, told), strict=True)
    return looked_up(found, keyed(found, [*_FAMILY, "label"]), known, usual)


_FAMILY = ("evaluator", "corpus", "family")
"""What is told of a family stands beside the row whose label is its name, not beside those of its kinds."""


def _with_refusals(view: View, found: pd.DataFrame) -> pd.DataFrame:
    """Beside each family how many of its comparisons were refused, and why; of its kinds nobody knows."""
    told, names = refusals(view), _FAMILY[1:]
    known = zip(keyed(told, [*names, "family"]), keyed(told, ("n_refused", "refused")), strict=True)
    return looked_up(found, keyed(found, [*names, "label"]), known, {"n_refused": math.nan, "refused": ""})


def _with_kinds(found: pd.DataFrame, own: pd.DataFrame) -> pd.DataFrame:
    if own.empty:
        return found
    place = {name: number for number, name in enumerate(dict.fromkeys(found["family"]))}
    both = pd.concat([found, own], ignore_index=True)
    return both.sort_values("family", key=lambda names: names.map(place), kind="stable").reset_index(drop=True)


def _matrix_figure(drawing: Drawing, frame: pd.DataFrame, measure: str) -> Figure:
    few = too_few(frame)
    frame = frame.drop(few.index) if len(few) < len(frame) else frame
    twice = frame.duplicated(["corpus", "evaluator", "label"]).any()  # a family under several captions
    missed = frame.groupby("label", sort=False)["failure"].mean()  # most first, as the sentence above names it
    rows = zip(*(frame[name].tolist() for name in _SAID), strict=True)
    kept = [row for each in rows if not pd.isna((row := dict(zip(_SAID, each, strict=True)))["failure"])]
    said = [(row["verdict"] in NO_CLAIM, row) for row in kept]
    of, values = ("corpus", "caption") if twice else ("corpus",), bounds("failure")
    data = marks(frame, label="label", series="evaluator", panel=of, values=values, opens=drawing.opens)
    data = data.assign(
        n=[row["n"] for row in kept],
        text=[
            f"n {row['n']}" if few else f"{'✓ ' * (row['verdict'] == RIGHT)}{row['failure']:.0f} %{_below(row)}"
            for few, row in said
        ],
        hollow=[few for few, _ in said],
        hover=[failure_said(row) for row in kept],
    )
    order = tuple(map(str, missed.sort_values(ascending=False, kind="stable").index))
    return drawing.drawn(data, "failures", kind="map", unit=" %", span=(0.0, 100.0), order=order)


_SAID = ("evaluator", "label", "caption", *bounds("failure"), "ties", "n", "n_items", "verdict", "rival")
"""Columns of the matrix that a cell says on hover."""


def _below(row: Mapping[str, Any]) -> str:
    """The interval; the ties where they are at least half of the misses: the score did not move, rather than rose."""
    if 0 < row["failure"] <= 2 * row["ties"]:
        ties = f"{row['ties']:.0f} %" if row["ties"] < 99.5 else ">99 %"
        return "\nall tied" if row["ties"] == row["failure"] else f"\n{ties} tied"
    if pd.isna(row["failure_low"]):
        return ""
    return f"\n{_beside_half(row['failure_low'])}–{_beside_half(row['failure_high'])}"


def _beside_half(share: float) -> str:
    """A share in percent, with as many digits as keep it apart from 50, on either side of which the verdict turns."""
    digits = next((each for each in range(3) if f"{share:.{each}f}" != f"{50:.{each}f}"), 0)
    return f"{share:.{digits}f}"


def failure_said(row: Mapping[str, Any]) -> str:
    """One cell of the matrix in words."""
    ends = "no interval"
    if not pd.isna(row["failure_low"]):
        ends = f"95 % CI {row['failure_low']:.1f} to {row['failure_high']:.1f} %"
    return (
        f"{row['evaluator']}, {row['label']} (caption {row['caption']})\nfailures {row['failure']:.1f} % ({ends})\n"
        f"ties {row['ties']:.1f} %, n = {row['n']} comparisons of {row['n_items']} items\n{row['verdict']}"
        + (f"\nmost easily taken for: {family_title(row['rival'])}" if row["rival"] else "")
    )


def _together() -> Question:
    axis, id_, paper = papers.TOGETHER
    columns = (*HEAD, *OF_MEANS)

    def compute(view: View, options: Options) -> pd.DataFrame:
        probes = tuple(name for own in families(view, axis=axis).values() for name in own)
        whole = [Capability(f"every {axis} edit", axis, axis, probes)] if probes else []
        return comparison_rows(view, whole, known=options.known).assign(language=view.table.scope.language)

    note = f"{HOW}Every {axis} edit of an item together. Every language that the runs have is in table C2-languages."
    title = f"{axis.capitalize()} edits together: how far they lower the score"
    question = Question(id_, title, SECTION, DEPTH, note, columns, compute, partial(needs, axis=axis))
    return replace(question, paper=paper, asks=("known",))


def _of_axis(axis: str) -> Question:
    numbers = numbers_of(axis)
    lower = "The wrong side scores strictly lower"
    detection = bounded("detection", "Told from the right one, % [95 % CI]", digits=1, help=lower)
    shares = (*HEAD, WHAT, COUNT, PAIRS, FAILURE, TIES, detection)
    columns = (*shares, DROP, MEDIAN, VERDICT, *WOULD_HAVE_TOLD, *CORRECTED, NOTE)
    title = f"{axis.capitalize()} edits: does the score drop?"
    read = "Median over items of the change in percent, with its 95 % BCa interval; right of the line"
    make = Dots("family", axis="median change of items")
    drawing = Drawing(
        numbers.figure, title, f"{read} the broken side scores higher.", make, numbers.figure_paper, opens=TEST
    )

    def compute(view: View, options: Options) -> pd.DataFrame:
        found = rows(view, options.known)
        return found[(found["axis"] == axis) & ~found["family"].isin(papers.OF_C)].reset_index(drop=True)

    note = f"{HOW}Holm’s correction within evaluator and corpus over the families of the axis."
    if axis == papers.AXIS_OF_C:
        families_of_c = f"Those of paper C ({', '.join(papers.OF_C)}) are among the tests"
        note += f" {families_of_c}, and stand in table {papers.REWARDS[0]}."
    tests = "the families of the axis"
    question = Question(numbers.table, title, SECTION, DEPTH, note, columns, compute, partial(needs, axis=axis))
    return replace(question, figures=(drawing,), paper=numbers.table_paper, tests=tests, asks=("known",))
