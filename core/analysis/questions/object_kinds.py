"""The object itself, captions held fixed: scores by its size and category, shifts in each, and the items of each.

Scores by category and scores by coverage are of the same items: where one category fills the large bins, a difference
of sizes is one of kinds. Beside the counts: the labels that could as well belong to another category, and where the
masks come from that objects were cut out by. Source: paper A, RQ2, section 5.2 and A.2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, product
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.effects import CELL, PLAIN, Group, corpora, effects, median_over, words
from core.analysis.lacks import NO_SHIFT, no_clean, no_column, no_family
from core.analysis.questions import papers
from core.analysis.questions.columns import (
    CORPUS,
    COUNT,
    FAMILY,
    HEAD,
    PERCENT,
    SHIFTS,
    TESTS,
    Dots,
    Map,
    how,
    in_order,
)
from core.analysis.questions.factor_tests import factor_questions, of_reference
from core.analysis.questions.question import Column, Drawing, Options, Question
from core.analysis.slices import CHOSEN_BY, TIES, other_category
from core.analysis.table import ScoreTable, View
from core.charts.spec import Axis, Figure, marks_of
from core.probes.base import BASE_CAPTION
from core.probes.scene import GRABCUT, MASK_SOURCE
from core.statistics.crossed_sources import FIRST_ALONE
from core.statistics.splines import LEAST_SOURCES, spline_curve, spline_curves

_SCORE = Column("value", "Median score [95 % CI]", digits=3, low="low", high="high")
_HOW = (
    "Scores of unedited items, the caption held fixed; 95 % BCa intervals, 10,000 resamples, seed 2025. Choices of "
    "edits do not touch them."
)
_OWN_SCALE = f"{_HOW} Each evaluator on its own scale."
_FACTORS: Mapping[str, tuple[str, str, str]] = {
    "coverage": ("coverage_bin", "5", "the object's share of the image, in percent"),
    "category": ("category", "6", "the object's category"),
}
"""Factor -> its column of the items, its number in the paper, what a level is."""


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """For size and category: scores, tests and shifts; then the curve on size, the map of both, and what is shown:
    items by category and bin, tied labels, and the origins of the masks."""
    factors = chain.from_iterable(_factor(table, name) for name in _FACTORS)
    return (*factors, _curve(table), _map(), _composition(), _balance(table), _tied(), _masks())


def _factor(table: ScoreTable, name: str) -> tuple[Question, ...]:
    column, number, level = _FACTORS[name]
    needs = partial(_needs, column=column)
    ordered = partial(_ordered, column=column)
    title = f"Scores by {name}"
    make = Dots("level", "corpus", ("evaluator",), PLAIN, "median score", ordered, lines=name == "coverage", free=True)
    drawing = Drawing(f"F{number}", title, _OWN_SCALE, make, f"Figure {number}")
    note = f"{_HOW} A row is a level of {level}."
    columns = (*HEAD, Column("level", name.capitalize(), kind="text"), COUNT, _SCORE)
    compute = partial(_scores, columns=(column,))
    scores = Question(f"T{number}", title, "object", name, note, columns, compute, needs, (drawing,))
    scores = replace(scores, paper=f"Table {number}", clean=True)
    of: dict[str, Any] = {"section": "object", "part": name, "paper": "B.2", "clean": True, "note": of_reference(table)}
    of |= {"levels": partial(_levels, column=column), "needs": needs, "chosen_by": (CHOSEN_BY[column],)}
    tests = factor_questions(f"S3-{name}", f"{name.capitalize()}: do the scores of the levels differ?", **of)
    return (scores, *tests, _shifts(table, name))


def _needs(table: ScoreTable, column: str) -> str:
    return no_column(table, column) or no_clean(table)


def _ordered(frame: pd.DataFrame, column: str, of: str = "level") -> list[str]:
    return in_order(list(frame[of].unique()), column)


def _scores(view: View, options: Options, *, columns: Sequence[str]) -> pd.DataFrame:
    """Median unedited score of every level of one factor, or of two together."""
    items, names = view.table.items, ("level", "other")[: len(columns)]
    levels = [in_order(list(items[column][view.items].dropna().unique()), column) for column in columns]
    masks = [
        {each: (items[column] == each).to_numpy() for each in own} for column, own in zip(columns, levels, strict=True)
    ]
    cells = {
        cell: np.logical_and.reduce([view.items, *(own[each] for own, each in zip(masks, cell, strict=True))])
        for cell in product(*levels)
    }
    records = []
    for evaluator, (corpus, own), (cell, keep) in product(view.evaluators, corpora(view.table), cells.items()):
        found = median_over(view.table.clean(evaluator), keep & own, view.table.sources)
        if found.n:
            records.append({**dict(zip((*CELL, *names), (evaluator, corpus, *cell), strict=True)), **words(found)})
    return pd.DataFrame(records, columns=[*CELL, *names, *PLAIN, "n_items", "note"])


def _levels(view: View, options: Options, evaluator: str, *, column: str) -> tuple[Any, ...]:
    keep = view.items & view.table.of_corpus(view.table.reference)
    own = view.table.items[column][keep]
    names = in_order(list(own.dropna().unique()), column)
    places = own.map({level: place for place, level in enumerate(names)}).to_numpy(dtype=np.float64)
    return (view.table.clean(evaluator)[keep], places, np.flatnonzero(keep)), names


def _shifts(table: ScoreTable, name: str) -> Question:
    column = _FACTORS[name][0]
    known = [family for family in table.families() if family != BASE_CAPTION]
    usual = sorted(known, key=lambda family: (family != papers.FLIP, table.is_control(family), family))
    tests = "the levels of the family"
    title = f"Shifts by {name}: does an edit move some levels more?"

    def compute(view: View, options: Options) -> pd.DataFrame:
        family = question.family(options)
        probes = view.families(controls=table.is_control(family)).get(family, ())
        rows = effects(view, [Group(family, probes, tests=family)], level=column, margin=options.margin)
        return rows.rename(columns={"label": "family", column: "level"})

    read = "Median % change with its 95 % BCa interval; the line is no change."
    make = Dots("level", order=partial(_ordered, column=column))
    columns = (*HEAD, FAMILY, Column("level", name.capitalize(), kind="text"), COUNT, PERCENT, *TESTS)

    def needs(table: ScoreTable) -> str:
        if not any(name != BASE_CAPTION for name in table.families()):
            return NO_SHIFT
        return "" if table.items[column].notna().any() else _needs(table, column)

    drawing = Drawing(f"F-shifts-{name}", title, read, make, opens={"families": "family", CHOSEN_BY[column]: "level"})
    question = Question(f"S15-{name}", title, "object", name, how(tests), columns, compute, needs)
    question = replace(question, figures=(drawing,), tests=tests, asks=(*SHIFTS, "family"), families=tuple(usual))
    return question


def _curve(table: ScoreTable) -> Question:
    def compute(view: View, options: Options) -> pd.DataFrame:
        table = view.table
        keep = view.items & table.of_corpus(table.reference)
        scores = np.array([table.clean(name)[keep] for name in view.evaluators]).reshape(-1, int(keep.sum()))
        coverage, sources = table.items["coverage"].to_numpy(float), pd.factorize(table.items["source"])[0]
        found = spline_curves(coverage[keep], scores, groups=sources[keep])
        named = zip(found, view.evaluators, strict=True)
        return curves([each.assign(evaluator=name, corpus=table.reference) for each, name in named])

    title = "Score on continuous coverage"
    note = f"{CURVE} A check that the bins' edges do not make the shape.{of_reference(table)}"
    drawing = Drawing("F-coverage", title, note, partial(curve_figure, x="coverage, %", y="score", scale=100))
    question = Question("S17", title, "object", "coverage", note, (), compute, partial(_needs, column="coverage"))
    return replace(question, figures=(drawing,), pick=("evaluator",), clean=True)


CURVE = (
    "Natural cubic spline of five knots with a 95 % bootstrap band over items, those of one source together "
    f"({FIRST_ALONE} where they name two), at a level stretched for what five parameters take from so many; none below "
    f"{LEAST_SOURCES} items or sources. n counts values."
)


def curves(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Curves below each other: columns evaluator, corpus, x, value, low, high, n_items."""
    columns = ["evaluator", "corpus", "x", "value", "low", "high", "n_items"]
    there = [frame.rename(columns={"y": "value", "n": "n_items"})[columns] for frame in frames if len(frame)]
    return pd.concat(there, ignore_index=True) if there else pd.DataFrame(columns=columns)


def curves_along(view: View, places: Mapping[str, float]) -> pd.DataFrame:
    """Curves of % change along a number that each probe has, probe -> number; reference corpus, an item is drawn
    whole."""
    table, frames = view.table, list[pd.DataFrame]()
    keep = view.items & table.of_corpus(table.reference)
    sources = pd.factorize(table.items["source"])[0][keep]
    at = np.repeat(np.array([*places.values()], dtype=np.float64), len(sources))
    for evaluator in view.evaluators if places else ():
        percent = np.array([view.changes(evaluator, (name,)).percent[keep] for name in places])
        found = spline_curve(at, percent.ravel(), groups=np.tile(sources, len(places)))
        frames.append(found.assign(evaluator=evaluator, corpus=table.reference))
    return curves(frames)


def curve_figure(
    drawing: Drawing, frame: pd.DataFrame, measure: str, *, x: str, y: str, scale: float = 1, unit: str = ""
) -> Figure:
    """Smooth curves with their bands, a panel an evaluator."""
    data = marks_of(frame, frame["x"].astype(float) * scale, frame["evaluator"], frame["evaluator"])
    return drawing.drawn(data, y, kind="lines", free=True, unit=unit, along=Axis(x), bounds="band", styles={})


def _map() -> Question:
    title = "Scores by category and coverage"
    binned = partial(_ordered, column="coverage_bin", of="other")
    make = Map("level", "other", values=PLAIN, axis="median score", digits=3, columns=binned)
    drawing = Drawing("F-map", title, f"{_OWN_SCALE} The darker, the higher; n items in every cell.", make)
    note, factors = f"{_HOW} Cells of few items say little.", ("category", "coverage_bin")
    names = Column("level", "Category", kind="text"), Column("other", "Coverage", kind="text")
    compute = partial(_scores, columns=factors)
    question = Question("S18", title, "object", PART, note, (*HEAD, *names, COUNT, _SCORE), compute, clean=True)

    def needs(table: ScoreTable) -> str:
        return _needs(table, factors[0]) or _needs(table, factors[1])

    return replace(question, needs=needs, figures=(drawing,), pick=("evaluator", "corpus"), part_of="T6")


def _composition() -> Question:
    def compute(view: View, options: Options) -> pd.DataFrame:
        items = view.table.items[view.items]
        counts = items.assign(category=items["category"].fillna("none")).groupby(["corpus", "category"]).size()
        share = 100 * counts / counts.groupby(level="corpus").transform("sum")
        found = pd.DataFrame(share.rename("value").reset_index())
        return found.assign(n_items=counts.to_numpy(), low=np.nan, high=np.nan)

    note = "Share of each corpus' items that were scored; n counts items."
    title = "Categories of the items"
    drawing = Drawing("F13", title, note, Dots("category", "corpus", (), PLAIN, "share of items, %"), "Figure 13")
    return Question("S21", title, "object", "category", note, (), compute, figures=(drawing,), clean=True)


EVERY_BIN = "all"
PART = "map"
_SHARE = (Column("n", "n", digits=0, help="Items"), Column("share", "Share of items, %", digits=1))


def _balance(table: ScoreTable) -> Question:
    bins = in_order(list(map(str, table.items["coverage_bin"].dropna().unique())), "coverage_bin")
    category = Column("category", "Category", kind="text")
    unclear = Column(EVERY_BIN, "n", digits=0, help="Items")
    columns = (CORPUS, category, *(Column(name, f"{name} %", digits=0) for name in bins), unclear)
    note = (
        "Items that were scored, by category and by the object's share of the image in percent. Where a category has "
        "few items in some bins, a difference between bins may be one between categories, and the other way round."
    )

    def compute(view: View, options: Options) -> pd.DataFrame:
        items = view.table.items[view.items].dropna(subset=["category", "coverage_bin"])
        frames = list[pd.DataFrame]()
        for corpus, rows in items.groupby("corpus", sort=True):
            counts = pd.crosstab(rows["category"], rows["coverage_bin"]).reindex(columns=bins, fill_value=0)
            counts = pd.concat([counts, counts.sum().to_frame(EVERY_BIN).T])
            counts = counts.assign(**{EVERY_BIN: counts.sum(axis=1)}).rename_axis("category").rename_axis(columns=None)
            frames.append(counts.reset_index())
            frames[-1].insert(0, "corpus", str(corpus))
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=["corpus", "category", *bins])

    title = "Items by category and coverage: is either balanced over the other?"
    question = Question("S-balance", title, "object", PART, note, columns, compute)
    return replace(question, needs=lambda table: no_column(table, "category", "coverage_bin"), clean=True)


def _tied() -> Question:
    note = (
        "Items that were scored and whose label could as well belong to another category: the first is the one they "
        "count in. The share is of the corpus's items here that have a category. The readings stand in "
        "assets/taxonomy; the filter 'Without labels of two categories' leaves these items out of every number."
    )
    label, other = Column("label", "Label", kind="text"), Column("other", "Could as well be", kind="text")
    columns = (CORPUS, label, Column("category", "Category", kind="text"), other, *_SHARE)

    def compute(view: View, options: Options) -> pd.DataFrame:
        items = view.table.items[view.items].dropna(subset="category")
        of_corpus = items.groupby("corpus").size()
        tied = items.assign(other=other_category(items, view.table.about[TIES])).dropna(subset="other")
        counts = tied.groupby(["corpus", "label", "category", "other"]).size().rename("n").reset_index()
        counts["share"] = 100 * counts["n"] / counts["corpus"].map(of_corpus)
        found: pd.DataFrame = counts.sort_values(["corpus", "n", "label"], ascending=[True, False, True])
        return found.reset_index(drop=True)

    title = "Labels that could as well belong to another category"
    return Question("S-ties", title, "object", PART, note, columns, compute, _needs_ties, clean=True)


def _needs_ties(table: ScoreTable) -> str:
    ties = table.about.get(TIES)
    lacking = [name for name in table.corpora if ties is None or name not in set(ties["corpus"])]
    if len(lacking) == len(table.corpora):
        return "the runs do not record it: they were made before tied labels were counted; audit again to have it"
    if table.tied.any():
        return ""
    told = f"; the runs of {', '.join(lacking)} do not record it" if lacking else ""
    return f"no scored item has a label that could as well belong to another category{told}"


def _masks() -> Question:
    note = (
        "Items whose object was cut out and put down elsewhere, by where the outline comes from: the source's own "
        "annotation (a polygon, run lengths or a mask), or GrabCut inside the box where the source gives a box alone. "
        "Items whose object was not moved, or could not be, do not count."
    )
    columns = (CORPUS, Column("mask", "Outline", kind="text"), *_SHARE)

    def compute(view: View, options: Options) -> pd.DataFrame:
        items = view.table.items.assign(mask=_mask_of(view.table))[view.items].dropna(subset="mask")
        counts: pd.DataFrame = items.groupby(["corpus", "mask"]).size().rename("n").reset_index()
        counts["share"] = 100 * counts["n"] / counts.groupby("corpus")["n"].transform("sum")
        return counts

    def needs(table: ScoreTable) -> str:
        if table.diagnostics["bg_delta"].there().any():
            return ""
        return no_family(table, "reposition", what="a moved object") or "no object could be moved; S13 says why"

    title = "Where the outlines of moved objects come from"
    return Question("S-masks", title, "object", PART, note, columns, compute, needs, clean=True)


def _mask_of(table: ScoreTable) -> pd.Series:
    """Where the outline of every item's object comes from; None where no variant was cut out by it, object [N]."""
    cut_out = table.diagnostics["bg_delta"].there()
    facts = table.about["facts"]
    found = facts[(facts["key"] == MASK_SOURCE) & (facts["value"] == GRABCUT)]
    named, grabbed = (
        pd.MultiIndex.from_frame(each[["corpus", "item"]].astype(object)) for each in (table.items, found)
    )
    names = np.where(named.isin(grabbed), "GrabCut from the box", "annotated outline")
    return pd.Series(names, index=table.items.index, dtype=object).where(cut_out, None)
