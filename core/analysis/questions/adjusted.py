"""Size and category held against each other: mixed models of unedited scores, and means balanced over the composition.

Source: paper A, B.2.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import pandas as pd

from core.analysis.effects import CELL, PLAIN, bounds, corpora, ends, with_holm
from core.analysis.lacks import no_clean, no_column
from core.analysis.questions.columns import COUNT, HEAD, NOTE, in_order
from core.analysis.questions.factor_tests import of_reference
from core.analysis.questions.question import Column, Options, Question, bounded
from core.analysis.table import ScoreTable, View
from core.statistics.bootstrap import LEAST_N, too_few
from core.statistics.crossed_model import CrossedModel, Estimate, Joint, crossed_model
from core.statistics.factors import LEAST_FREEDOM, LEAST_SOURCES, balanced_mean
from core.statistics.splines import spline_design

MIDDLE = "50-70"  # Coverage bin that the others are held against, where it has an item. Source: paper A, section 5.2
EVERY = "every level together"  # Names the row of the joint test

_LEVEL, _P = Column("level", "Level", kind="text"), Column("p", "p", kind="p")
_F = Column("f", "F (joint)", digits=1, help="Test that no level differs")
_DF = Column("df", "df", digits=0, help="Degrees of freedom of the levels in the joint test")
_FREEDOM = Column("freedom", "df of the error", digits=0, help="Satterthwaite's, of the row's interval and p")

_SOURCE = ("source", "sources")
_STRATA = ("strata", "left_out", "items_left_out")
_TESTED = (
    "Intervals and tests by Student's t and F with Satterthwaite's degrees of freedom, so that few groups make them "
    f"wide; none for a level of fewer than {LEAST_N} items or sources. An image has one unedited score, so its own "
    "intercept is what remains; that of its source (a cut-out that several images share) stands in its place where "
    "there is one."
)
_BALANCES = {
    "category": ("category",),
    "coverage": ("coverage_bin",),
    "category × coverage": ("category", "coverage_bin"),
}


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """The size effect, the categories at one coverage, and means over a balanced composition."""
    return _size(table), _category(table), _balanced()


def _needs(table: ScoreTable, *columns: str) -> str:
    return no_column(table, *columns) or no_clean(table)


def _size(table: ScoreTable) -> Question:
    title = "Size: how far scores lie from those of the middle coverage, with category as a random intercept"
    note = (
        "score ~ coverage bin + (1 | source) + (1 | category) by REML over unedited scores; a row is a bin's mean "
        f"minus that of {MIDDLE} % (without an item there: of the bin with the most). {_TESTED} p (Holm) over the bins "
        f"of an evaluator.{of_reference(table)}"
    )
    value = Column("value", "Difference [95 % CI]", digits=4, signed=True, low="low", high="high")
    holm = Column("p_holm", "p (Holm)", kind="p")
    columns = (*HEAD, _LEVEL, COUNT, value, _P, holm, _F, _DF, _FREEDOM, NOTE)
    question = Question("S14-size", title, "object", "coverage", note, columns, _size_rows)
    question = replace(question, needs=lambda table: _needs(table, "coverage_bin", "category"))
    return replace(question, paper="B.2", tests="the bins", clean=True)


def _category(table: ScoreTable) -> Question:
    title = "Category: mean scores as they are, and at one coverage"
    note = (
        "score ~ category + (1 | source) + (1 | label) by REML over unedited scores, alone and with coverage as a "
        "natural cubic spline of five knots; adjusted: a category's mean with the corpus' mean spline, so that none "
        "gains by the size of its objects. Joint: that no category differs, before and after. "
        f"{_TESTED}{of_reference(table)}"
    )
    value = Column("value", "Mean [95 % CI]", digits=3, low="low", high="high")
    adjusted = bounded("adjusted", "Adjusted for coverage [95 % CI]", digits=3)
    again = Column("adjusted_f", "F, adjusted", digits=1), Column("adjusted_p", "p, adjusted", kind="p")
    columns = (*HEAD, _LEVEL, COUNT, value, adjusted, _F, _P, *again, _DF, _FREEDOM, NOTE)
    question = Question("S14-category", title, "object", "category", note, columns, _category_rows)
    return replace(question, needs=lambda table: _needs(table, "coverage", "category"), paper="B.2", clean=True)


@dataclass(frozen=True, slots=True, eq=False)
class _Items:
    """Items of some levels, laid out once for every evaluator that scored just these."""

    rows: pd.DataFrame  # of the table's items
    marks: Mapping[str, np.ndarray]  # which items are of each level, 0 or 1, float64 [n]
    counts: Mapping[str, int]  # items of each level
    # why each level has no interval, in words; empty where its items and their sources are enough
    few: Mapping[str, str]
    why: str  # likewise of all together
    # sources, groups: rank of each item's source and of its group, int [n]
    sources: np.ndarray
    groups: np.ndarray

    @classmethod
    def of(cls, rows: pd.DataFrame, column: str, group: str) -> "_Items":
        """Lay items out by a column of levels; ``group`` has the second random intercept."""
        names = rows[column].to_numpy(dtype=object)
        counts = {str(level): int(n) for level, n in rows[column].value_counts().items()}
        marks = {level: (names == level).astype(np.float64) for level in counts}
        few = {level: too_few(counts[level], rows["source"][mark > 0].nunique()) for level, mark in marks.items()}
        # in the order of the names, since sums over groups round by their order
        sources, groups = (
            pd.factorize(each, sort=True)[0] for each in (rows["source"].astype(str), rows[group].fillna("unknown"))
        )
        return cls(rows, marks, counts, few, too_few(len(rows), rows["source"].nunique()), sources, groups)

    def cells(self, levels: Sequence[str]) -> np.ndarray:
        """Which items are of each of some levels, 0 or 1, float64 [n, levels]."""
        return np.column_stack([self.marks[level] for level in levels])


def _scored(view: View, *columns: str, by: str, group: str) -> Iterator[tuple[str, np.ndarray, _Items]]:
    """Each evaluator with its unedited scores of the reference corpus and their items, where score and columns are
    there; ``by``: column of the levels, ``group``: of the second random intercept."""
    table, known = view.table, dict[bytes, _Items]()
    there = view.items & table.of_corpus(table.reference) & table.items[list(columns)].notna().all(axis=1).to_numpy()
    for evaluator in view.evaluators:
        score = table.clean(evaluator)
        keep = there & ~np.isnan(score)
        if keep.tobytes() not in known:
            known[keep.tobytes()] = _Items.of(table.items[keep], by, group)
        yield evaluator, score[keep], known[keep.tobytes()]


def _size_rows(view: View, options: Options) -> pd.DataFrame:
    records = []
    for evaluator, score, items in _scored(view, "coverage_bin", "category", by="coverage_bin", group="category"):
        levels = in_order(list(items.counts), "coverage_bin")
        if len(levels) < 2:
            continue
        middle = MIDDLE if MIDDLE in levels else max(levels, key=lambda level: items.counts[level])
        others = [level for level in levels if level != middle]
        design = np.column_stack([np.ones(len(score)), items.cells(others)])
        found = crossed_model(score, design, items.sources, items.groups, names=(_SOURCE, ("category", "categories")))
        head = {"evaluator": evaluator, "corpus": view.table.reference}
        for place, level in enumerate(others, start=1):
            said = items.few[level] or (items.few[middle] and f"{middle} %: {items.few[middle]}")
            own = _told(found.estimate(np.eye(len(levels))[place]), said)
            row = {**head, "level": f"{level} vs {middle}", "n_items": items.counts[level]}
            records.append({**row, **asdict(own), "tests": "bins", "note": said})
        row = {**head, "level": EVERY, "n_items": len(score), "tests": "", "note": found.note}
        records.append({**row, **asdict(_joint(found, np.eye(len(levels))[1:], items))})
    names = [*CELL, "level", "n_items", *PLAIN, "p", "tests", "f", "df", "freedom", "note"]
    return with_holm(pd.DataFrame(records, columns=names).assign(test="Satterthwaite's t")).drop(columns="conflict")


def _told(found: Estimate, few: str) -> Estimate:
    """An estimate of a level; alone where it rests on too few."""
    return Estimate(found.value, *4 * [math.nan]) if few else found


def _joint(model: CrossedModel, rows: np.ndarray, items: _Items) -> Joint:
    """The joint test of some levels; none of too few items or sources altogether."""
    found = model.joint(rows)
    return Joint(math.nan, found.df, math.nan, math.nan) if items.why else found


def _category_rows(view: View, options: Options) -> pd.DataFrame:
    records = [
        record
        for evaluator, score, items in _scored(view, "coverage", "category", by="category", group="label")
        for record in _categories(score, items, {"evaluator": evaluator, "corpus": view.table.reference})
    ]
    joint = ("f", "p", "adjusted_f", "adjusted_p", "df", "freedom", "adjusted_freedom")
    names = [*CELL, "level", "n_items", *PLAIN, *bounds("adjusted"), *joint, "note"]
    return pd.DataFrame(records, columns=names)


def _categories(score: np.ndarray, items: _Items, head: Mapping[str, object]) -> Iterator[dict[str, object]]:
    levels = sorted(items.counts)
    if len(levels) < 2:
        return
    cells, spline = items.cells(levels), spline_design(items.rows["coverage"].to_numpy(np.float64))
    bent = spline[:, 1:] - spline[:, 1:].mean(axis=0)  # 0 at the mean of the corpus, so a cell's effect is its mean
    plain, adjusted = (
        crossed_model(score, design, items.sources, items.groups, names=(_SOURCE, ("label", "labels")))
        for design in (cells, np.column_stack([cells, bent]))
    )
    for place, level in enumerate(levels):
        few = items.few[level]
        one, other = (_told(each.estimate(np.eye(len(each.effects))[place]), few) for each in (plain, adjusted))
        row = {**head, "level": level, "n_items": items.counts[level], "note": few}
        for names, found in ((PLAIN, one), (bounds("adjusted"), other)):
            row |= dict(zip(names, (found.value, found.low, found.high), strict=True))
        yield row | {"freedom": one.freedom, "adjusted_freedom": other.freedom}
    joint, held = (_joint(each, _against_first(each, len(levels)), items) for each in (plain, adjusted))
    said = dict.fromkeys(each for each in (plain.note, adjusted.note) if each)
    tested = {"f": joint.f, "p": joint.p, "df": joint.df, "freedom": joint.freedom}
    tested |= {"adjusted_f": held.f, "adjusted_p": held.p, "adjusted_freedom": held.freedom}
    yield {**head, "level": EVERY, "n_items": len(score), **tested, "note": "; ".join(said)}


def _against_first(model: CrossedModel, levels: int) -> np.ndarray:
    rows = np.eye(len(model.effects))[1:levels]
    rows[:, 0] = -1
    return rows


def _balanced() -> Question:
    title = "Mean scores over a balanced composition"
    note = (
        "Mean of unedited scores as the corpus has its items, and with every stratum (a category, a coverage bin, or "
        "both) weighing the same. Composition-balanced bootstrap: each of 10,000 resamples (seed 2025) draws from "
        "every stratum as many sources as it has; 95 % BCa intervals of both means and of their difference over the "
        "same draws, each stratum's stretched by √(m / (m − 1)) for its m sources and the level that of Student's "
        f"quantile (Satterthwaite); none below {LEAST_FREEDOM} degrees of freedom. A stratum of fewer than "
        f"{LEAST_SOURCES} sources is in neither mean; how many are left out stands beside. Where the "
        "difference is not 0, what a corpus happens to hold is part of its mean."
    )
    over = Column("over", "Balanced over", kind="text")
    strata = Column("strata", "Strata", digits=0)
    left_out = Column("left_out", "Left out", digits=0, help="Strata of too few sources")
    items_left_out = Column("items_left_out", "Items left out", digits=0)
    plain = bounded("plain", "Mean [95 % CI]", digits=4)
    balanced = bounded("balanced", "Balanced mean [95 % CI]", digits=4)
    value = Column("value", "Balanced − mean [95 % CI]", digits=4, signed=True, low="low", high="high")
    columns = (*HEAD, over, COUNT, strata, left_out, items_left_out, plain, balanced, value, NOTE)
    question = Question("S3-balanced", title, "object", "balance", note, columns, _balanced_rows)
    return replace(question, needs=lambda table: _needs(table, "category", "coverage_bin"), paper="B.2", clean=True)


def _balanced_rows(view: View, options: Options) -> pd.DataFrame:
    table, records = view.table, []
    for over, columns in _BALANCES.items():
        whole = table.items[list(columns)].notna().all(axis=1).to_numpy() & view.items
        strata = np.where(whole, table.items.groupby(list(columns), sort=True, dropna=False).ngroup(), -1)
        for evaluator in view.evaluators:
            score = table.clean(evaluator)
            for corpus, own in corpora(table):
                keep = own & whole & ~np.isnan(score)
                if keep.any():
                    found = balanced_mean(score[keep], strata[keep], sources=table.sources_of(keep))
                    row = {"evaluator": evaluator, "corpus": corpus, "over": over, "n_items": found.plain.n}
                    row |= {name: getattr(found, name) for name in _STRATA} | ends(found.plain, bounds("plain"))
                    row |= ends(found.balanced, bounds("balanced")) | ends(found.difference)
                    records.append({**row, "note": found.difference.note})
    names = [*CELL, "over", "n_items", *_STRATA, *bounds("plain"), *bounds("balanced"), *PLAIN, "note"]
    return pd.DataFrame(records, columns=names)
