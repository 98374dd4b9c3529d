"""Do the levels of a factor differ? Omnibus tests, every pair of levels, and mixed models of the mean shift."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from core.analysis.effects import CELL, Group, bounds, corpora, corrected, modifier_groups
from core.analysis.lacks import no_family
from core.analysis.questions.columns import COUNT, HEAD, NOTE
from core.analysis.questions.papers import shown
from core.analysis.questions.question import Column, Options, Question, bounded
from core.analysis.scores import once
from core.analysis.slices import PROBES
from core.analysis.table import ScoreTable, View
from core.statistics.bootstrap import LEAST_N, Interval, too_few, widened
from core.statistics.crossed_sources import crossed_p, first_of
from core.statistics.factors import LEAST_OMNIBUS, FactorTest, factor_test
from core.statistics.mixed_model import mixed_effect

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
    """Two questions of one factor: the tests of all levels at once, and pair by pair.

    Args:
        id_: of the first; the second's ends in ``-pairs``.
        section, part, needs, paper, asks, clean: see :class:`Question`.
        levels: what is compared, and the names of the levels.
        chosen_by: fields of a slice that choose levels: pairs of levels that a reader left out count in Holm's
            correction all the same.
    """

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

    shared = {"section": section, "part": part, "needs": needs, "note": f"{HOW}{note}", "asks": asks, "clean": clean}
    return (
        Question(id_, title, columns=COLUMNS, compute=omnibus, paper=paper, **shared),  # type: ignore[arg-type]
        Question(
            f"{id_}-pairs",
            f"{title.removesuffix('?')}, pair by pair?",
            columns=PAIR_COLUMNS,
            compute=pairs,
            tests="all pairs of the evaluator",
            pick=("evaluator",),
            part_of=id_,
            **shared,  # type: ignore[arg-type]
        ),
    )


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
