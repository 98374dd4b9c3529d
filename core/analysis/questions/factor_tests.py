"""Do the levels of a factor differ? Omnibus tests, every pair of levels, and mixed models of the mean shift.

Size and category held against each other: mixed models of unedited scores, and means balanced over the composition.
Source: paper A, B.2.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import pandas as pd

from core.analysis.effects import CELL, PLAIN, Group, bounds, corpora, corrected, ends, modifier_groups, with_holm
from core.analysis.lacks import no_clean, no_column, no_family
from core.analysis.questions.columns import COUNT, HEAD, NOTE, in_order
from core.analysis.questions.papers import shown
from core.analysis.questions.question import Column, Options, Question, bounded
from core.analysis.scores import once
from core.analysis.slices import PROBES
from core.analysis.table import ScoreTable, View
from core.statistics.bootstrap import LEAST_N, Interval, too_few, widened
from core.statistics.crossed_model import CrossedModel, Estimate, Joint, crossed_model
from core.statistics.crossed_sources import crossed_p, first_of
from core.statistics.factors import LEAST_FREEDOM, LEAST_OMNIBUS, LEAST_SOURCES, FactorTest, balanced_mean, factor_test
from core.statistics.mixed_model import mixed_effect
from core.statistics.splines import spline_design

HOW = (
    "Kruskal–Wallis takes every value for an independent one; Friedman compares the levels within the items that have "
    "all of them. Pairs: paired test where half of the items of the smaller level have both, Mann–Whitney otherwise; "
    "they differ where p < 0.05 after Holm over the evaluator's pairs; none of fewer than "
    f"{LEAST_OMNIBUS} items on a side is tested or named. Where items share their source, it counts once "
    "at a level, by the mean over its items there. δ: Cliff's, of items, of the pair furthest apart."
)
COLUMNS = (
    *HEAD,
    Column("levels", "Levels", digits=0),
    Column("n", "n values", digits=0, help="Or sources"),
    Column("h", "H", digits=1),
    Column("p", "p (Kruskal–Wallis)", kind="p"),
    Column("friedman_n", "n items", digits=0, help="Or sources"),
    Column("chi", "χ² (Friedman)", digits=1),
    Column("friedman_p", "p (Friedman)", kind="p"),
    Column("differ", "Pairs that differ", digits=0),
    Column("pairs", "of", digits=0, help="Pairs that are tested"),
    Column("strongest", "Largest |δ|", kind="text", help="None where it rounds to 0.00"),
    NOTE,
)
_P_HOLM = (
    "Corrected for all pairs of the evaluator, m of them; no pair that "
    "cannot be tested, none of whose values differ, is counted"
)
PAIR_COLUMNS = (
    *HEAD,
    Column("a", "A", kind="text"),
    Column("b", "B", kind="text"),
    Column("test", "Test", kind="text"),
    Column("n", "n", digits=0),
    Column("p", "p", kind="p"),
    Column("p_holm", "p (Holm)", kind="p", help=_P_HOLM),
    Column("m_tests", "m", digits=0, help="Tests that Holm's correction runs over; 0 where there is no test"),
    Column("cliffs_delta", "Cliff’s δ, A over B", digits=3, signed=True),
    NOTE,
)

Values = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Values, their levels as places in the names, and the numbers of their items in the table, each [k]."""

Corrected = Mapping[frozenset[str], tuple[float, int]]
"""Two levels -> the p-value of their pair after Holm's correction, and the tests that this is over."""

Levels = Callable[[View, Options, str], tuple[Values, Sequence[str]]]
"""What one evaluator has at each level of a factor on the reference corpus, and the levels' names."""


def factor_questions(
    id_: str,
    title: str,
    *,
    section: str,
    part: str,
    levels: Levels,
    needs: Callable[[ScoreTable], str],
    note: str = "",
    paper: str = "",
    asks: tuple[str, ...] = (),
    clean: bool = False,
    chosen_by: tuple[str, ...] = PROBES,
) -> tuple[Question, Question]:
    """Two questions of one factor: the tests of all levels at once, and pair by pair. ``id_``: of the first; the
    second's ends in ``-pairs``. ``section``, ``part``, ``needs``, ``paper``, ``asks``, ``clean``: see
    :class:`Question`. ``levels``: what is compared, and the names of the levels. ``chosen_by``: fields of a slice that
    choose levels: pairs of levels that a reader left out count in Holm's correction all the same."""

    @once
    def tested(view: View, options: Options) -> list[tuple[str, FactorTest, Sequence[str]]]:
        found, whole = list(_tested(view, options, levels)), view.whole(*chosen_by)
        if whole is view or not found:
            return found
        every = {name: _corrected(own, names) for name, own, names in _tested(whole, options, levels)}
        return [(name, _of_all(own, names, every.get(name, {})), names) for name, own, names in found]

    def omnibus(view: View, options: Options) -> pd.DataFrame:
        rows = [
            {"evaluator": evaluator, "corpus": view.table.reference, **_row(found, names)}
            for evaluator, found, names in tested(view, options)
        ]
        return pd.DataFrame(rows, columns=["evaluator", "corpus", *_ROW])

    def pairs(view: View, options: Options) -> pd.DataFrame:
        frames = [
            _named(found.pairs, names).assign(evaluator=evaluator, corpus=view.table.reference)
            for evaluator, found, names in tested(view, options)
        ]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=_PAIR)

    whole = Question(id_, title, section, part, f"{HOW}{note}", COLUMNS, omnibus, needs, asks=asks, clean=clean)
    each = f"{title.removesuffix('?')}, pair by pair?"
    by_pair = replace(whole, id=f"{id_}-pairs", title=each, columns=PAIR_COLUMNS, compute=pairs, part_of=id_)
    by_pair = replace(by_pair, tests="all pairs of the evaluator", pick=("evaluator",))
    return (replace(whole, paper=paper), by_pair)


def _named(pairs: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    return pairs.assign(**{side: [names[int(place)] for place in pairs[side]] for side in ("a", "b")})


_PAIR_TOLD = ("a", "b", "p_holm", "m_tests")
_TOLD_APART = 0.005  # the least δ that is not written as 0.00
_ROW = ("levels", "n", "h", "p", "friedman_n", "chi", "friedman_p", "differ", "pairs", "strongest", "note")
_PAIR = ["evaluator", "corpus", "a", "b", "test", "p", "p_holm", "m_tests", "cliffs_delta", "n", "note"]


def of_reference(table: ScoreTable) -> str:
    """Say on which corpus an answer is that is given on one only."""
    return f" Items of corpus {table.reference}." if len(table.corpora) > 1 else ""


def laid_out(values: Sequence[np.ndarray], keep: np.ndarray) -> Values:
    """Values of every level over the same items, [levels] of [N], those of the items that are kept, as one long column;
    ``keep``: which items, bool [N]."""
    items = np.flatnonzero(keep)
    table = np.array([each[items] for each in values])
    count, n = table.shape if table.size else (0, 0)
    return table.ravel(), np.repeat(np.arange(count), n), np.tile(items[:n], count)


def _tested(view: View, options: Options, levels: Levels) -> Iterator[tuple[str, FactorTest, Sequence[str]]]:
    for evaluator in view.evaluators:
        values, names = levels(view, options, evaluator)
        if not np.isnan(values[0]).all():
            yield evaluator, factor_test(*values, sources=view.table.sources_of(values[2])), names


def _corrected(found: FactorTest, names: Sequence[str]) -> Corrected:
    pairs = _named(found.pairs, names)
    return {frozenset((a, b)): (p, m) for a, b, p, m in zip(*(pairs[name] for name in _PAIR_TOLD), strict=True)}


def _of_all(found: FactorTest, names: Sequence[str], every: Corrected) -> FactorTest:
    """The pairs of some levels, each with the p-value that is corrected over the pairs of all."""
    pairs = _named(found.pairs, names)
    held = [every.get(frozenset(pair), (math.nan, 0)) for pair in zip(pairs["a"], pairs["b"], strict=True)]
    return replace(found, pairs=found.pairs.assign(p_holm=[p for p, _ in held], m_tests=[size for _, size in held]))


def _row(found: FactorTest, names: Sequence[str]) -> dict[str, object]:
    kruskal, friedman, pairs = found.kruskal, found.friedman, found.pairs
    tests = {"levels": kruskal.levels, "n": kruskal.n, "h": kruskal.statistic, "p": kruskal.p}
    tests |= {"friedman_n": friedman.n, "chi": friedman.statistic, "friedman_p": friedman.p}
    return {
        **tests,
        "differ": int((pairs["p_holm"].astype(float) < 0.05).sum()),
        "pairs": int((pairs["m_tests"] > 0).sum()),
        "strongest": _strongest(pairs, names),
        "note": "; ".join(dict.fromkeys(filter(None, [*kruskal.note.split("; "), *friedman.note.split("; ")]))),
    }


def _strongest(pairs: pd.DataFrame, names: Sequence[str]) -> str:
    """The pair furthest apart, the higher level first; nothing where that would be written as δ 0.00."""
    sizes = pairs["cliffs_delta"].abs().to_numpy(dtype=float)
    if not len(sizes) or not np.nanmax(sizes, initial=0.0) >= _TOLD_APART:
        return ""
    top = pairs.iloc[int(np.nanargmax(sizes))]
    first, second = (top["a"], top["b"]) if top["cliffs_delta"] >= 0 else (top["b"], top["a"])
    same = int((np.abs(sizes - np.nanmax(sizes)) < 1e-12).sum()) - 1
    more = f" and {same} more as far apart" if same else ""
    return f"{names[int(first)]} > {names[int(second)]}, δ {abs(top['cliffs_delta']):.2f}{more}"


_BETA = "Mean shift on the evaluator's own scale, image and category as random intercepts"
BETA = bounded("beta", "β₁ [95 % CI]", digits=4, signed=True, help=_BETA)
SPREADS = (
    Column("item_sd", "SD of items", digits=4, help="Standard deviation of the items' random intercepts"),
    Column("category_sd", "SD of categories", digits=4, help="Standard deviation of the categories' intercepts"),
    Column("residual_sd", "SD left", digits=4, help="Standard deviation of what remains"),
)
"""Variance components of a model, as standard deviations on the evaluator's own scale."""

MIXED = (
    "β₁: mean shift of the score by REML, crossed random intercepts for image and category; its interval and p are by "
    "source with Student's quantile (cluster-robust, CR2), since neither intercept is one of the shift. "
    f"Fewer than {LEAST_N} items or sources have neither, nor spreads."
)
_MIXED_COLUMNS = (*CELL, "label", "n_items", *bounds("beta"), "beta_p", "beta_note", *(each.name for each in SPREADS))


def betas(view: View, groups: Sequence[Group], corpus: str, *, family: str = "") -> pd.DataFrame:
    """β₁ of every group under every evaluator; ``family``: of words that may be said of some items only; empty for all
    items."""
    rows = [_beta(view, evaluator, group, corpus, family) for group in groups for evaluator in view.evaluators]
    return pd.DataFrame([row for row in rows if row], columns=list(_MIXED_COLUMNS))


@once
def _beta(view: View, evaluator: str, group: Group, corpus: str, family: str) -> dict[str, object]:
    changes, items = view.changes(evaluator, group.probes, against=group.against), view.table.items
    keep = dict(corpora(view.table, pooled=True))[corpus] & shown(view, family)
    places = np.flatnonzero(keep & ~np.isnan(changes.delta))
    if not len(places):
        return {}
    category, before = items["category"].fillna("unknown").to_numpy()[places], changes.baseline[places]
    scores = np.concatenate([before, before + changes.delta[places]])
    groups = view.table.sources_of(places)
    of = None if groups is None else np.tile(first_of(groups), 2)
    found = mixed_effect(scores, np.repeat([0, 1], len(places)), np.tile(places, 2), np.tile(category, 2), sources=of)
    # its interval and p are by the first source of each item: the second counts too
    owed = changes.delta[places] - changes.delta[places].mean()
    own = widened(Interval(found.effect, found.low, found.high, len(owed), 0.95), owed, groups)
    found = replace(found, low=own.low, high=own.high, p=crossed_p(found.p, owed, groups))
    if few := too_few(len(places), len(places) if of is None else len(np.unique(of))):
        found = replace(found, low=np.nan, high=np.nan, p=np.nan, note=f"{few}, and no test")
        found = replace(found, image_sd=np.nan, category_sd=np.nan, residual_sd=np.nan)
    beta = (found.effect, found.low, found.high, found.p, found.note)
    told = (evaluator, corpus, group.label, found.images, *beta, found.image_sd, found.category_sd, found.residual_sd)
    return dict(zip(_MIXED_COLUMNS, told, strict=True))


def of_words(table: ScoreTable, family: str, said: str) -> Question:
    """The mixed model of every word of a family against its neutral caption; ``family``: e.g. ``cultural``."""
    tests = f"the {said} words"

    def compute(view: View, options: Options) -> pd.DataFrame:
        groups = [each for each in modifier_groups(view, family, bare=options.bare) if each.tests]
        if not any(each.shown for each in groups):
            groups = []
        rows = betas(view, groups, view.table.reference, family=family)
        shown = rows["label"].isin([each.label for each in groups if each.shown])
        tested = rows.assign(tests=family, test="Wald", p=rows["beta_p"], shown=shown)
        return corrected(tested).drop(columns="conflict")

    title = f"{said.capitalize()} words: the mean shift of the score, with item and category as random intercepts"
    note = (
        f"{MIXED} A word's rows are the scores with it and those of its baseline: the neutral caption closest in "
        f"length, unless the bare caption is chosen. p (Holm) over {tests} of an evaluator.{of_reference(table)}"
    )
    p, holm = Column("p", "p", kind="p"), Column("p_holm", "p (Holm)", kind="p")
    word, remark = Column("label", "Word", kind="text"), Column("beta_note", "Remark", kind="text")
    columns = (*HEAD, word, COUNT, BETA, p, holm, *SPREADS, remark)
    question = Question(f"S14-{family}", title, "words", family, note, columns, compute)
    question = replace(question, needs=lambda table: no_family(table, family, what=f"{said} words"))
    return replace(question, paper="B.3", tests=tests, asks=("bare",))


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
    contrasts = [np.eye(len(each.effects))[1 : len(levels)] for each in (plain, adjusted)]
    for rows in contrasts:
        rows[:, 0] = -1  # every level against the first
    joint, held = (_joint(each, rows, items) for each, rows in zip((plain, adjusted), contrasts, strict=True))
    said = dict.fromkeys(each for each in (plain.note, adjusted.note) if each)
    tested = {"f": joint.f, "p": joint.p, "df": joint.df, "freedom": joint.freedom}
    tested |= {"adjusted_f": held.f, "adjusted_p": held.p, "adjusted_freedom": held.freedom}
    yield {**head, "level": EVERY, "n_items": len(score), **tested, "note": "; ".join(said)}


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
