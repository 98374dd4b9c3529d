"""Where does it change most? Cells of category, coverage and family, the furthest for certain first.

A whole family's median can be calm while one kind of thing at one size is not. Whoever looks at many cells finds a bad
one by chance, so that every interval here is adjusted for the number of cells that were looked at: at level 1 - α/N
each, all N hold together at 1 - α, however the cells depend on each other.

Source: Dunn, O. J. (1961). Multiple comparisons among means. JASA 56(293), 52-64 (Bonferroni's inequality).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.effect_of_items import known_sizes
from core.analysis.effects import bounds, corpora, ends, family_groups
from core.analysis.lacks import NO_SHIFT, no_column
from core.analysis.memo import once
from core.analysis.questions.columns import COUNT, FAMILY, HEAD, Dots
from core.analysis.questions.question import Column, Drawing, Question, bounded
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import ALPHA
from core.probes.titles import family_title
from core.statistics.bootstrap import LEAST_N, RESAMPLES, Interval, median_bca, median_bca_levels

ID = "S-slices"
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


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """One table with its figure."""
    drawing = Drawing(
        "F-slices",
        _TITLE,
        "Median |% change| of a cell with its interval, adjusted for the number of cells looked at.",
        Dots(
            panel=("evaluator", "corpus"),
            values=("median_abs_percent", "abs_low", "abs_high"),
            axis="median |% change|, % [adjusted CI]",
        ),
        opens={"families": "family", "categories": "category", "coverage_bins": "coverage_bin"},
    )
    question = Question(
        ID, _TITLE, "summary", "slices", _NOTE, _COLUMNS, lambda view, options: worst_slices(view, least=options.least)
    )
    return (replace(question, needs=_needs, figures=(drawing,), asks=("least",), pick=("evaluator", "corpus")),)


@once
def worst_slices(view: View, *, least: int = LEAST_N) -> pd.DataFrame:
    """The cells that change most for certain.

    Args:
        least: items with a % change below which a cell is not looked at; none below LEAST_N has an interval anyway.

    Returns:
        At most SHOWN rows an (evaluator, corpus), the highest lower bound first: evaluator, corpus, label (the cell in
        words), axis, family, category, coverage_bin, n_items, median_abs_percent with its adjusted interval abs_low to
        abs_high, n_cells (the N that were looked at), level (of that interval, in (0, 1)), the whole family's median
        with its 95 % interval whole_low to whole_high over n_whole items, note. Empty where no cell has enough items.
    """
    records = [
        _row(view, cell, found, level, n_cells, evaluator, corpus)
        for evaluator in view.evaluators
        for corpus, own in corpora(view.table)
        if not view.table.silent(evaluator, corpus)
        for level, n_cells, cell, found in _furthest(
            [each for each in _cells(view, evaluator, own & view.items) if each.plain.n >= least]
        )
    ]
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
    """The cells with the highest adjusted lower bounds: level, how many were looked at, cell, interval.

    An adjusted bound never lies above one at a lower level, so that a cell whose bound there lies below enough adjusted
    ones need not be drawn again.
    """
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


def _row(
    view: View, cell: _Cell, found: Interval, level: float, n_cells: int, evaluator: str, corpus: str
) -> dict[str, object]:
    return {
        "evaluator": evaluator,
        "corpus": corpus,
        "label": f"{family_title(cell.family)}: {cell.category}, {cell.coverage_bin.replace('-', '–')}\u00a0%",
        "axis": view.table.axis_of(cell.family),
        "family": cell.family,
        "category": cell.category,
        "coverage_bin": cell.coverage_bin,
        "n_items": found.n,
        **ends(found, ("median_abs_percent", "abs_low", "abs_high")),
        "n_cells": n_cells,
        "level": level,
        **ends(cell.whole, bounds("whole")),
        "n_whole": cell.whole.n,
        "note": found.note,
    }


def _needs(table: ScoreTable) -> str:
    if missing := no_column(table, "category", "coverage_bin"):
        return missing
    if not family_groups(table.view(), controls=False):
        return NO_SHIFT
    most = int(table.items.groupby(["corpus", "category", "coverage_bin"]).size().max())
    if most >= LEAST_N:
        return ""
    return f"no cell of category and coverage has enough items: the largest holds {most}, and a claim takes {LEAST_N}"
