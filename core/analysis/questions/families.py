"""Every family at once, which other tables of shifts take their rows from; and the families that nobody audited."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from core.analysis.effects import ALL, effects, family_groups
from core.analysis.lacks import no_family
from core.analysis.memo import once
from core.analysis.overview import beside_null
from core.analysis.questions import papers
from core.analysis.questions.columns import (
    ABSOLUTE,
    BEHIND,
    CLAIMED,
    COUNT,
    EVALUATOR,
    FURTHER,
    HEAD,
    PERCENT,
    SHIFTS,
    SIZES,
    Dots,
    how,
)
from core.analysis.questions.question import Column, Drawing, Options, Question
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import NO_CLAIM, SCATTERS, SILENT
from core.probes.base import BASE_CAPTION, FRAMES, Axis, Construction, Expectation
from core.probes.registry import catalogue
from core.probes.titles import family_title
from core.probes.words.natural_captions import families_of
from core.statistics.wording import metrics, tallied

EDITS = {Axis.SPATIAL.value: "space", Axis.OBJECT.value: "object", Axis.SURFACE.value: "surface"}
"""Axis of edits that are held against invisible edits -> its section; every other axis puts words into the caption."""

_FAMILY = Column("label", "Family", kind="text")
_AXIS = Column("axis", "Axis", kind="text")
_NULL_MEDIAN = "Median |% change| under edits that nobody can see: the noise floor of a family's median"
_NULL_BAND = Column("null_median", "Invisible edits", help=_NULL_MEDIAN)
_HELD = (
    "Invisible edits: the median |% change| under edits that nobody can see, the noise floor that a median is held "
    "against. More than invisible edits: each edit is held against each invisible edit of the same item."
)
_CONTROLS = (
    "Below them the controls: blur takes detail away and leaves the place alone, invisible edits are those that nobody "
    "can see, the noise floor."
)
TESTED = "the families of its axis"  # Family of tests of every family's row

_READ = "Families of the axis null, and blur, are controls."


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """Every family, and those of each axis beside the controls."""
    title = "Every family: how much scores change although the meaning does not"
    note = f"{how(TESTED)} {_HELD} {_READ}"
    columns = (*HEAD, _AXIS, _FAMILY, COUNT, *CLAIMED, PERCENT, ABSOLUTE, _NULL_BAND, *FURTHER, *BEHIND)
    whole = Question("S1", title, "summary", "families", note, columns, every_family, tests=TESTED, asks=SHIFTS)
    return (whole, *map(_of_axis, axes(table)))


def axes(table: ScoreTable) -> tuple[str, ...]:
    """Axes that have a family that is no control, in their order."""
    found = {table.axis_of(name) for name in table.families() if not table.is_control(name)}
    known = [axis.value for axis in Axis]
    return tuple(sorted(found, key=lambda axis: (known.index(axis) if axis in known else len(known), axis)))


def section_of(table: ScoreTable, family: str) -> str:
    """Section that a family belongs to, by its axis."""
    return section(family, table.axis_of(family))


def section(family: str, axis: str) -> str:
    """Section of a family by its name and axis."""
    return "natural" if family in families_of() else EDITS.get(axis, "words")


def every_family(view: View, options: Options) -> pd.DataFrame:
    """Effect of every family in every corpus, beside the noise band."""
    return of_axes(view, options, sorted({view.table.axis_of(name) for name in view.table.families()}))


def of_axes(view: View, options: Options, wanted: Sequence[str]) -> pd.DataFrame:
    """Effect of every family of some axes in every corpus, beside the noise band."""
    # runs that break meanings alone have no invariant family, and no row here
    parts = [_effects(view, axis, options.margin, pooled=False) for axis in wanted or ("",)]
    rows = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    rows = rows.sort_values(["evaluator", "corpus", "axis", "label"], kind="stable")
    return beside_null(view, rows).reset_index(drop=True)


def one_family(view: View, options: Options, family: str, *, pooled: bool = True) -> pd.DataFrame:
    """The rows of one family, those over all corpora together too where the paper pools them."""
    return _effects(view, view.table.axis_of(family), options.margin, only=family, pooled=pooled)


@once
def _effects(view: View, axis: str, margin: float, *, only: str = "", pooled: bool = True) -> pd.DataFrame:
    """Effect of every family of an axis, for spatial edits over all corpora together too, as in the paper's table 3.

    Holm's correction is over the families of an axis, so no other axis is needed for it.
    """
    table = view.table
    groups = [each for each in family_groups(view) if table.axis_of(each.label) == axis]
    pooled = pooled and axis == Axis.SPATIAL.value
    if only:
        groups = [replace(each, shown=each.shown and each.label == only) for each in groups]
    rows = effects(view, groups, pooled=pooled, margin=margin)
    rows.insert(2, "axis", axis)
    order = {corpus: place for place, corpus in enumerate((*table.corpora, ALL))}
    rows = rows.assign(place=rows["corpus"].map(order))
    return rows.sort_values(["evaluator", "place", "label"], kind="stable").drop(columns="place").reset_index(drop=True)


def _by_size(frame: pd.DataFrame) -> list[str]:
    """Families by the largest of their evaluators' medians, the furthest first; controls behind them."""
    largest = frame.assign(control=frame["axis"].eq(Axis.NULL.value) | frame["tests"].eq(""))
    rows = largest.groupby("label", as_index=False, sort=False).agg(
        control=("control", "all"), size=(ABSOLUTE.name, "max")
    )
    return rows.sort_values(["control", "size"], ascending=[True, False], kind="stable")["label"].tolist()


def _named(frame: pd.DataFrame) -> dict[str, str]:
    """Controls by their titles, told from what is tested."""
    controls = frame.loc[(frame["tests"] == "") | (frame["axis"] == Axis.NULL.value), "label"].astype(str).unique()
    return {name: f"{family_title(name)}, for comparison" for name in controls}


def changed(frame: pd.DataFrame, margin: float) -> str:
    """How many of the families tested are shown to change each evaluator, of one corpus, in a sentence."""
    tested = frame[(frame["tests"] != "") & (frame["axis"] != Axis.NULL.value) & ~frame["scatter"].isin(SILENT)]
    if tested.empty or len(set(tested["corpus"])) > 1:
        return ""
    known = tested[~tested["scatter"].isin(NO_CLAIM)]
    few = sorted({*tested["evaluator"]} - {*known["evaluator"]})
    untold = f"Too few pictures to tell of {metrics(few)} whether an edit changes a score by more than {margin:g} %."
    counts = known["scatter"].eq(SCATTERS).groupby(known["evaluator"]).agg(["sum", "size"])
    told = {str(name): (int(some), int(asked)) for name, some, asked in counts.itertuples(name=None)}
    sure = f"Surely changed by more than {margin:g} %: {tallied(told, 'under', 'kind of edit', 'kinds of edit')}."
    return " ".join(([sure] if told else []) + ([untold] if few else []))


def _of_axis(axis: str) -> Question:
    title = f"{axis.capitalize()} edits: how much the score changes"
    read = f"Median with its 95 % BCa interval; the line is no change. {_CONTROLS}"
    drawing = Drawing(f"F-{axis}", title, read, Dots(order=_by_size, names=_named), opens={"families": "label"})
    sizes = replace(
        drawing,
        id=f"{drawing.id}-size",
        title=f"{axis.capitalize()} edits: how far the score moves, up or down",
        note=f"{ABSOLUTE.help}, with its 95 % BCa interval. {_CONTROLS}",
        make=Dots(
            values=SIZES,
            axis="typical change, up or down (%\u00a0of\u00a0the\u00a0unedited\u00a0score)",
            order=_by_size,
            names=_named,
        ),
    )

    def compute(view: View, options: Options) -> pd.DataFrame:
        return of_axes(view, options, (axis, Axis.NULL.value) if axis in EDITS else (axis,))

    note = f"{how(TESTED)} {_HELD} {_READ}"
    columns = (*HEAD, _FAMILY, COUNT, *CLAIMED, ABSOLUTE, PERCENT, *FURTHER, *BEHIND)
    rule = "Surely: the whole 95 % interval of the median picture lies beyond {0:g} %."
    question = Question(f"S1-{axis}", title, EDITS.get(axis, "words"), "families", note, columns, compute)
    return replace(question, figures=(sizes, drawing), tests=TESTED, asks=SHIFTS, part_of="S1", says=changed, rule=rule)


PART = "not audited"


def not_audited(table: ScoreTable) -> tuple[Question, ...]:
    """A question for each family of invariant probes that the table lacks and that no other question names.

    A family beside the directional ones (the order in which objects are mentioned) is read with those; words that are
    inserted into human captions are the same words as the template's, in its other construction. What needs frames
    cannot be audited on pictures, and is audited on videos unless somebody leaves it out.
    """
    named = (*papers.WORDS, *papers.PLACE_LEVELS, papers.FLIP, papers.DISTANCE, BASE_CAPTION)
    here = {*table.families(controls=True), *named}
    lacking = {
        probe.family: probe.axis.value
        for probe in catalogue()
        if probe.expectation is Expectation.INVARIANT
        and not (probe.control or probe.selector)
        and probe.family not in here
        and probe.construction is not Construction.INSERTED
        and probe.axis not in (Axis.LEXICAL, Axis.SEMANTIC, Axis.OBJECT)
        and probe.needs != FRAMES
    }
    return tuple(_unasked(family, axis) for family, axis in sorted(lacking.items()))


def _unasked(family: str, axis: str) -> Question:
    said, at = family.replace("-", " "), section(family, axis)
    kind = {"words": "words", "natural": "captions"}.get(at, "edits")
    columns = (EVALUATOR, COUNT, PERCENT)
    return Question(
        f"S-{family}",
        f"{said.capitalize()}: how much scores change",
        at,
        PART,
        "Named because it can be audited and was not.",
        columns,
        lambda *_: pd.DataFrame(columns=["evaluator", "n_items", "median_percent", "low", "high"]),
        partial(no_family, family=family, what=f"{said} {kind}"),
    )
