"""Every family at once, which other tables of shifts take their rows from; its worst slices; and what nobody audited.

A whole family's median can be calm while one kind of thing at one size is not. Whoever looks at many cells finds a bad
one by chance, so that every interval of a slice is adjusted for the number of cells that were looked at: at level 1 -
α/N each, all N hold together at 1 - α, however the cells depend on each other. Source: Dunn, O. J. (1961). Multiple
comparisons among means. JASA 56(293), 52-64 (Bonferroni's inequality).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.effect_of_items import known_sizes
from core.analysis.effects import ALL, IN_PERCENT, Names, corpora, effects, family_groups
from core.analysis.lacks import NO_SHIFT, no_column, no_family
from core.analysis.overview import beside_null
from core.analysis.questions import papers
from core.analysis.questions.columns import (
    ABSOLUTE,
    BEHIND,
    CLAIMED,
    COUNT,
    EVALUATOR,
    FAMILY,
    FURTHER,
    HEAD,
    PERCENT,
    SHIFTS,
    SIZES,
    Dots,
    how,
)
from core.analysis.questions.question import Column, Drawing, Options, Question, bounded
from core.analysis.scores import once
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import ALPHA, NO_CLAIM, SCATTERS, SILENT
from core.probes.base import BASE_CAPTION, FRAMES, Axis, Construction, Expectation
from core.probes.registry import catalogue
from core.probes.titles import family_title
from core.probes.words.natural_captions import families_of
from core.statistics.bootstrap import LEAST_N, RESAMPLES, Interval, median_bca, median_bca_levels
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
    Holm's correction is over the families of an axis, so no other axis is needed for it."""
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
    far = "typical change, up or down (%\u00a0of\u00a0the\u00a0unedited\u00a0score)"
    make = Dots(values=SIZES, axis=far, order=_by_size, names=_named)
    said = f"{axis.capitalize()} edits: how far the score moves, up or down"
    read = f"{ABSOLUTE.help}, with its 95 % BCa interval. {_CONTROLS}"
    sizes = replace(drawing, id=f"{drawing.id}-size", title=said, note=read, make=make)

    def compute(view: View, options: Options) -> pd.DataFrame:
        return of_axes(view, options, (axis, Axis.NULL.value) if axis in EDITS else (axis,))

    note = f"{how(TESTED)} {_HELD} {_READ}"
    columns = (*HEAD, _FAMILY, COUNT, *CLAIMED, ABSOLUTE, PERCENT, *FURTHER, *BEHIND)
    rule = "Surely: the whole 95 % interval of the median picture lies beyond {0:g} %."
    question = Question(f"S1-{axis}", title, EDITS.get(axis, "words"), "families", note, columns, compute)
    return replace(question, figures=(sizes, drawing), tests=TESTED, asks=SHIFTS, part_of="S1", says=changed, rule=rule)


PART = "not audited"


def not_audited(table: ScoreTable) -> tuple[Question, ...]:
    """A question for each family of invariant probes that the table lacks and that no other question names. A family
    beside the directional ones (the order in which objects are mentioned) is read with those; words that are inserted
    into human captions are the same words as the template's, in its other construction. What needs frames cannot be
    audited on pictures, and is audited on videos unless somebody leaves it out."""
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
    found, note, columns = list[Question](), "Named because it can be audited and was not.", (EVALUATOR, COUNT, PERCENT)
    for family, axis in sorted(lacking.items()):
        said, at = family.replace("-", " "), section(family, axis)
        kind = {"words": "words", "natural": "captions"}.get(at, "edits")
        of = (f"S-{family}", f"{said.capitalize()}: how much scores change", at, PART, note, columns)
        needs = partial(no_family, family=family, what=f"{said} {kind}")
        found.append(Question(*of, lambda *_: pd.DataFrame(columns=["evaluator", "n_items", *IN_PERCENT]), needs))
    return tuple(found)


SLICES = "S-slices"
SHOWN = 10  # Cells that are shown of an evaluator and corpus
BEYOND = 10  # Resamples that lie beyond each bound of an adjusted interval, on average, so that it is no guess
MOST_DRAWN = 5_000_000  # Most values that are drawn for one interval beyond the usual resamples
EARLY = 0.998  # Level of the bound by which cells are passed over unseen; of :data:`RESAMPLES` draws, ten lie beyond it

FINE = 1 - (1 - EARLY) / 5
"""Level of an adjusted interval from which on its bounds lie beyond those at EARLY, whatever was drawn for each."""

_TITLE = "Worst slices: which kind of thing, at which size, changes most?"
_NAMES = (
    "evaluator", "corpus", "label", "axis", "family", "category", "coverage_bin", "n_items", "median_abs_percent",
    "abs_low", "abs_high", "n_cells", "level", "whole", "whole_low", "whole_high", "n_whole", "note",
)  # fmt: skip
_COLUMNS = (
    *HEAD, FAMILY, Column("category", "Category", kind="text"),
    Column("coverage_bin", "Coverage, %", kind="text"), COUNT,
    Column("median_abs_percent", "Median |% change| [adjusted CI]", low="abs_low", high="abs_high",
           help="Median over the cell's items of an item's median absolute change in percent; its BCa bootstrap "
           "interval at a level at which those of all the cells looked at hold together at 95 %"),
    Column("n_cells", "Cells looked at", digits=0,
           help="Cells of this evaluator with an interval: what it is adjusted for"),
    bounded("whole", "Whole family [95 % CI]",
           help="The same median over every item of the family, those of the cell among them"),
    Column("n_whole", "n of it", digits=0, help="Items of the whole family"),
    Column("note", "Remark", kind="text", help="Why a bound is degenerate"),
)  # fmt: skip
_NOTE = (
    f"A cell is the items of one category and one coverage bin under one family. Those of fewer than {LEAST_N} items, "
    "or sources of them, are not looked at, nor are controls. Ranked by the lower bound of the median |% change|, the "
    f"first {SHOWN} of each evaluator. BCa bootstrap, items of one source resampled together. Each interval is at "
    f"level 1 − {ALPHA:g}/N (Bonferroni) for the N cells of its evaluator and corpus. All N hold together at "
    f"{100 * (1 - ALPHA):g} %. Beside it the whole family with its own, unadjusted 95 % interval."
)


def of_slices(table: ScoreTable) -> tuple[Question, ...]:
    """One table with its figure."""
    read = "Median |% change| of a cell with its interval, adjusted for the number of cells looked at."
    values: Names = ("median_abs_percent", "abs_low", "abs_high")
    make = Dots(panel=("evaluator", "corpus"), values=values, axis="median |% change|, % [adjusted CI]")
    opens = {"families": "family", "categories": "category", "coverage_bins": "coverage_bin"}
    drawing = Drawing("F-slices", _TITLE, read, make, opens=opens)

    def compute(view: View, options: Options) -> pd.DataFrame:
        return worst_slices(view, least=options.least)

    question = Question(SLICES, _TITLE, "summary", "slices", _NOTE, _COLUMNS, compute, _needs, (drawing,))
    return (replace(question, asks=("least",), pick=("evaluator", "corpus")),)


@once
def worst_slices(view: View, *, least: int = LEAST_N) -> pd.DataFrame:
    """The cells that change most for certain; ``least``: items with a % change below which a cell is not looked at;
    none below LEAST_N has an interval anyway. Returns at most SHOWN rows an (evaluator, corpus), the highest lower
    bound first: evaluator, corpus, label (the cell in words), axis, family, category, coverage_bin, n_items,
    median_abs_percent with its adjusted interval abs_low to abs_high, n_cells (the N that were looked at), level (of
    that interval, in (0, 1)), the whole family's median with its 95 % interval whole_low to whole_high over n_whole
    items, note. Empty where no cell has enough items."""
    records = list[tuple[object, ...]]()
    for evaluator, (corpus, own) in product(view.evaluators, corpora(view.table)):
        if view.table.silent(evaluator, corpus):
            continue
        asked = [each for each in _cells(view, evaluator, own & view.items) if each.plain.n >= least]
        for level, n_cells, cell, found in _furthest(asked):
            bin_, whole = cell.coverage_bin, cell.whole
            label = f"{family_title(cell.family)}: {cell.category}, {bin_.replace('-', '–')}\u00a0%"
            of = (evaluator, corpus, label, view.table.axis_of(cell.family), cell.family, cell.category, bin_)
            records.append((*of, found.n, *found.numbers(), n_cells, level, *whole.numbers(), whole.n, found.note))
    return pd.DataFrame(records, columns=list(_NAMES))


@dataclass(frozen=True, slots=True)
class _Cell:
    """Items of one kind under one family."""

    family: str
    category: str
    coverage_bin: str
    values: np.ndarray  # |% change| of its items, float64 [n]
    groups: np.ndarray | None  # source of each; None where each item is one of its own
    plain: Interval  # their median with its unadjusted interval
    early: float  # lower bound at the level EARLY
    whole: Interval  # the same of every item of the family


def _cells(view: View, evaluator: str, items: np.ndarray) -> Iterator[_Cell]:
    """Every cell that has an interval."""
    table = view.table
    kinds = table.items[["category", "coverage_bin"]]
    known = np.flatnonzero(items & kinds.notna().all(axis=1).to_numpy())
    cells: Mapping[Any, Any] = kinds.iloc[known].astype(str).groupby(["category", "coverage_bin"]).indices
    for group in (each for each in family_groups(view, controls=False) if each.shown):
        sizes = np.full(len(items), math.nan)
        sizes[items] = known_sizes(view.changes(evaluator, group.probes), items)
        whole = median_bca(sizes[items], groups=table.sources_of(items))
        for (category, coverage), places in cells.items():
            own = known[places]
            groups = table.sources_of(own)
            found, further = median_bca_levels(sizes[own], levels=(0.95, EARLY), groups=groups)
            if not math.isnan(found.low):
                yield _Cell(group.label, category, coverage, sizes[own], groups, found, further.low, whole)


def _furthest(cells: Sequence[_Cell]) -> Iterator[tuple[float, int, _Cell, Interval]]:
    """The cells with the highest adjusted lower bounds: level, how many were looked at, cell, interval. An adjusted
    bound never lies above one at a lower level, so that a cell whose bound there lies below enough adjusted ones need
    not be drawn again."""
    level, done = 1 - ALPHA / max(len(cells), 1), list[tuple[_Cell, Interval]]()

    def most(cell: _Cell) -> float:
        return cell.early if level >= FINE else cell.plain.low

    for cell in sorted(cells, key=lambda each: -most(each)):
        best = sorted((found.low for _, found in done), reverse=True)[:SHOWN]
        if len(best) == SHOWN and best[-1] >= most(cell):
            break
        wanted = math.ceil(2 * BEYOND / (1 - level))
        drawn = max(RESAMPLES, min(wanted, MOST_DRAWN // len(cell.values)))
        done.append((cell, median_bca(cell.values, level=level, groups=cell.groups, resamples=drawn)))
    for cell, found in sorted(done, key=lambda each: -each[1].low)[:SHOWN]:
        yield level, len(cells), cell, found


def _needs(table: ScoreTable) -> str:
    if missing := no_column(table, "category", "coverage_bin"):
        return missing
    if not family_groups(table.view(), controls=False):
        return NO_SHIFT
    most = int(table.items.groupby(["corpus", "category", "coverage_bin"]).size().max())
    if most >= LEAST_N:
        return ""
    return f"no cell of category and coverage has enough items: the largest holds {most}, and a claim takes {LEAST_N}"
