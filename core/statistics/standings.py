"""Systems ranked by their mean score: intervals of means and of ranks, and every pairwise difference with its test.

References:
    [1] Davison, A. C. and Hinkley, D. V. (1997). Bootstrap Methods and their Application, 2.4 and 3.8.
    [2] Mogstad, M., Romano, J. P., Shaikh, A. M. and Wilhelm, D. (2024). Inference for ranks with applications to
        mobility across neighbourhoods and academic achievement across countries. Rev. Econ. Stud. 91(1), 476-518.
    [3] Tarone, R. E. (1990). A modified Bonferroni method for discrete data. Biometrics 46(2), 515-522.
"""

import math
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.bootstrap import Interval, draws_for, expanded, too_few
from core.statistics.crossed_sources import first_of
from core.statistics.rank_agreement import rank_agreement
from core.statistics.ratios import means_bca
from core.statistics.resamples import drawn_counts, source_sums
from core.statistics.shift_tests import PairedTest, holm_of_tests, paired_test
from core.statistics.wording import counted

ALPHA = 0.05  # level of Holm's correction at which one system is said to stand above another


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean difference of two systems over the same items."""

    one: int  # one, other: places of the two systems
    other: int
    interval: Interval  # of mean(one) - mean(other), BCa over items or their sources
    test: PairedTest  # paired, over sources
    # of ``test``, corrected over the pairs of the leaderboard that have one; NaN where no source tells two systems
    # apart. Such a pair is no test: no order of its signs gives a p below 1, so it takes no share of the error that
    # Holm's correction parts [3].
    p_holm: float
    sure: bool  # whether p_holm is below ALPHA and the interval lies on one side of zero


@dataclass(frozen=True, slots=True)
class Standings:
    """A leaderboard of s systems. Rank 1 has the highest mean; equal means share the better rank."""

    means: tuple[Interval, ...]  # mean score of each system with its BCa interval
    ranks: np.ndarray  # int [s]
    # low, high: interval of each rank over bootstrap samples of items, [s]; NaN below LEAST_N items or sources
    low: np.ndarray
    high: np.ndarray
    first: np.ndarray  # share of samples in which no system is above this one, [s]; likewise
    # sure_low, sure_high: ranks that stand when only differences that are ``sure`` count [2], int [s]
    sure_low: np.ndarray
    sure_high: np.ndarray
    differences: tuple[Difference, ...]  # of every pair, in the order of the systems
    n: int  # items
    note: str = ""  # why there are no intervals; empty otherwise


def standings(
    scores: ArrayLike, *, groups: ArrayLike | None = None, level: float = 0.95, resamples: int | None = None
) -> Standings:
    """Rank systems by their mean over the same items.

    The bounds of a rank are the percentiles of the ranks that it has in bootstrap samples of items [1], the best of
    tied ranks for the lower bound and the worst for the upper one. Such an interval is too short where many systems are
    nearly equal; ``sure_low`` to ``sure_high`` holds all ranks at once in that case [2], and is longer. Raises
    InvalidInput if there is no item or no system, or a score is missing.
    ``scores``: float64 [n, s], higher is better; finite.
    ``groups``: source of each item, shape [n]: items of one source are drawn together. None: each is one.
    ``resamples``: number of samples for the ranks; None: RESAMPLES, or FEWER of more than MANY sources."""
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise InvalidInput(f"scores are a table of items and systems, got the shape {table.shape}")
    if not np.isfinite(table).all():
        raise InvalidInput("every system has a finite score of every item here; leave the others out and count them")
    ranks_of = source_ranks(groups, len(table))
    n, s = table.shape
    means = means_bca(table.T, groups=ranks_of, level=level)
    estimates = table.mean(axis=0)
    ranks = placed(estimates[None])[0][0]
    differences = _differences(table, ranks_of, level=level)
    told = [(each.one, each.other, each.interval.estimate) for each in differences if each.sure]
    pairs = [(one, other) if apart > 0 else (other, one) for one, other, apart in told]
    sure = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    lost, won = (np.bincount(sure[:, side], minlength=s) for side in (1, 0))
    sources = int(ranks_of.max()) + 1
    note = too_few(n, sources)
    low = high = first = np.full(s, math.nan)
    if not note:
        best, worst = placed(drawn_means(table, groups=ranks_of, resamples=resamples))
        low, high = rank_bounds(best, worst, level=expanded(level, sources))
        first = (best == 1).mean(axis=0)
    return Standings(means, ranks, low, high, first, 1 + lost, s - won, differences, n, note)


def placed(means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ranks of every row, 1 for the highest mean: the best and the worst rank that ties leave open. ``means``: float64
    [r, s]. Returns two int arrays [r, s], equal where there is no tie.

    >>> [each.tolist() for each in placed(np.array([[0.5, 0.7, 0.5]]))]
    [[[2, 1, 2]], [[3, 1, 3]]]
    """
    columns = range(means.shape[1])
    above = np.stack([(means > means[:, [each]]).sum(axis=1) for each in columns], axis=1)
    not_below = np.stack([(means >= means[:, [each]]).sum(axis=1) for each in columns], axis=1)
    return 1 + above, not_below


def rank_bounds(best: np.ndarray, worst: np.ndarray, *, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Percentile bounds of ranks, both whole numbers. ``best``, ``worst``: ranks of :func:`placed`, int [r, s];
    ``level``: confidence level in (0, 1). Returns float64 [s] each."""
    low = np.quantile(best, (1 - level) / 2, axis=0, method="inverted_cdf")
    high = np.quantile(worst, (1 + level) / 2, axis=0, method="inverted_cdf")
    return low.astype(np.float64), high.astype(np.float64)


def drawn_means(
    values: np.ndarray, *, groups: np.ndarray, resamples: int | None = None, seed: int = RUN_SEED
) -> np.ndarray:
    """Column means of bootstrap samples of whole sources, the same samples for every column.

    Equal columns have equal means in every sample, to the last bit. Returns float64 [resamples, c].
    ``values``: finite, float64 [n, c].
    ``groups``: rank of each item's source, int [n], every rank from 0 to m - 1 there.
    ``resamples``: number of samples; None: RESAMPLES, or FEWER of more than MANY sources.
    ``seed``: of the draws; the same seed and sources give the same samples."""
    columns, place = np.unique(values, axis=1, return_inverse=True)
    sizes = np.bincount(groups).astype(np.float64)
    both = np.column_stack([source_sums(columns, groups), sizes])
    counts = drawn_counts(len(sizes), draws_for(len(sizes), resamples), seed=seed)
    drawn = np.concatenate([each.astype(np.float64) @ both for each in counts])
    return np.asarray((drawn[:, :-1] / drawn[:, -1:])[:, place.ravel()])


def source_ranks(groups: ArrayLike | None, n: int) -> np.ndarray:
    """Rank of each item's source from 0, int [n]; without groups every item is its own source."""
    if groups is None:
        return np.arange(n)
    given = first_of(groups)
    if len(given) != n:
        raise InvalidInput(f"every item has one source, got {len(given)} sources for {n} items")
    return np.asarray(np.unique(given, return_inverse=True)[1])


def _differences(table: np.ndarray, groups: np.ndarray, *, level: float) -> tuple[Difference, ...]:
    pairs = list(combinations(range(table.shape[1]), 2))
    if not pairs:
        return ()
    rows = np.stack([table[:, one] - table[:, other] for one, other in pairs])
    intervals = means_bca(rows, groups=groups, level=level)
    by_source = source_sums(table, groups) / np.bincount(groups)[:, None]
    tests = [paired_test(by_source[:, other], by_source[:, one]) for one, other in pairs]
    corrected, _ = holm_of_tests([test.p for test in tests], [test.name for test in tests])
    found = zip(pairs, intervals, tests, corrected.tolist(), strict=True)
    return tuple(
        Difference(*pair, interval, test, p, p < ALPHA and interval.excludes_zero())
        for pair, interval, test, p in found
    )


# Do neighbours on a leaderboard change places under an edit that should not matter?
#
# A bootstrap sample of items is scored twice, unedited and edited: what changes between the two is the edit's, and
# not the sample's. So a swap's probability tells an unstable pair from one that the choice of images alone decides,
# which stands beside it. Source: paper A, 3.4, equation 1, on means of any number of systems.


DRAWS = 2_000  # bootstrap samples behind a swap's probability: one of 0.5 has a Monte-Carlo error of 1.1 points


@dataclass(frozen=True, slots=True)
class Swap:
    """What one edit does to one pair of systems."""

    before: float  # before, after: mean gap, first minus second, on the same items
    after: float
    swapped: bool  # whether the sign of the mean gap changes, a tie that is broken or made included
    probability: float  # share of bootstrap samples of items in which it does; NaN below LEAST_N items or sources
    chance: float  # share of samples whose unedited gap has another sign than the gap of all items; likewise
    n: int  # items on which both systems have a score, unedited and edited
    note: str = ""  # why there is no probability; empty otherwise


def neighbours(means: ArrayLike) -> tuple[tuple[int, int], ...]:
    """Places of the systems that follow each other on a leaderboard, the highest mean first; ties in their order.

    >>> neighbours([0.2, 0.5, 0.4])
    ((1, 2), (2, 0))
    """
    order = np.argsort(-np.asarray(means, dtype=np.float64), kind="stable").tolist()
    return tuple(pairwise(order))


def swap(
    before: ArrayLike,
    after: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    resamples: int = DRAWS,
    seed: int = RUN_SEED,
) -> Swap:
    """Compare the gap of two systems before and after one edit. Raises InvalidInput if the shapes differ.
    ``before``: scores of both systems on n unedited items, float64 [n, 2]; higher is better.
    ``after``: the same under the edit; an item with a NaN on either side is left out.
    ``groups``: source of each item, shape [n]; None: each is one."""
    one, other = (np.asarray(each, dtype=np.float64) for each in (before, after))
    if one.ndim != 2 or one.shape != other.shape or one.shape[1] != 2:
        raise InvalidInput(f"two systems have two scores an item and side, got the shapes {one.shape}, {other.shape}")
    whole = np.isfinite(np.column_stack([one, other])).all(axis=1)
    every = source_ranks(groups, len(one))
    one, other, n = one[whole], other[whole], int(whole.sum())
    if n == 0:
        return Swap(math.nan, math.nan, False, math.nan, math.nan, 0, "no item is whole")
    sources = source_ranks(every[whole], n)
    gap_before, gap_after = (float(np.diff(each.mean(axis=0)[::-1])[0]) for each in (one, other))
    swapped = bool(np.sign(gap_before) != np.sign(gap_after))
    if note := too_few(n, int(sources.max()) + 1):
        return Swap(gap_before, gap_after, swapped, math.nan, math.nan, n, note)
    drawn = drawn_means(np.column_stack([one, other]), groups=sources, resamples=resamples, seed=seed)
    clean, edited = (np.sign(drawn[:, first] - drawn[:, first + 1]) for first in (0, 2))
    chance = float((clean != np.sign(gap_before)).mean())
    return Swap(gap_before, gap_after, swapped, float((clean != edited).mean()), chance, n)


# Do two metrics rank the same systems alike? Kendall's τ_b and Spearman's ρ over system means.


LEAST_SYSTEMS = 3  # fewest systems whose orders are compared: two agree or they do not


@dataclass(frozen=True, slots=True)
class OrderAgreement:
    """How alike two metrics order some systems."""

    tau: Interval  # Kendall's τ_b of the two rows of system means, percentile interval over bootstrap samples of items
    spearman: Interval  # Spearman's ρ of the same, likewise
    systems: int  # how many


def order_agreement(
    one: ArrayLike,
    other: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = DRAWS,
    seed: int = RUN_SEED,
) -> OrderAgreement:
    """Compare the orders of s systems by two metrics over the same items. Raises InvalidInput if the shapes differ.
    ``one``, ``other``: finite scores, float64 [n, s], of the same items and systems; higher is better.
    ``groups``: source of each item, shape [n]; None: each is one.
    ``resamples``: bootstrap samples; both metrics are read on the same ones."""
    a, b = (np.asarray(each, dtype=np.float64) for each in (one, other))
    if a.ndim != 2 or a.shape != b.shape:
        raise InvalidInput(f"two metrics score the same items and systems, got the shapes {a.shape} and {b.shape}")
    n, s = a.shape
    found = rank_agreement(a.mean(axis=0), b.mean(axis=0)) if n else rank_agreement([], [])
    nan = float("nan")
    if s < LEAST_SYSTEMS:
        none = Interval(nan, nan, nan, n, level, f"{counted(s, 'system')}, below {LEAST_SYSTEMS}")
        return OrderAgreement(none, none, s)
    sources = source_ranks(groups, n)
    count = int(sources.max()) + 1 if n else 0
    undefined = found.note if np.isnan(found.spearman) else ""
    if note := undefined or too_few(n, count):
        tau, rho = (Interval(value, nan, nan, n, level, note) for value in (found.kendall_b, found.spearman))
        return OrderAgreement(tau, rho, s)
    drawn = drawn_means(np.column_stack([a, b]), groups=sources, resamples=resamples, seed=seed)
    at = expanded(level, count)

    def interval(value: float, samples: np.ndarray) -> Interval:
        low, high = np.nanquantile(samples, [(1 - at) / 2, (1 + at) / 2])
        return Interval(value, float(low), float(high), n, level)

    sides = drawn[:, :s], drawn[:, s:]
    return OrderAgreement(interval(found.kendall_b, row_taus(*sides)), interval(found.spearman, row_rhos(*sides)), s)


def row_taus(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """τ_b of every row: Σ of products of signs over the root of the untied pairs of each side; NaN where all tie."""
    pairs = np.array(list(combinations(range(one.shape[1]), 2)))
    a, b = (np.sign(each[:, pairs[:, 0]] - each[:, pairs[:, 1]]) for each in (one, other))
    untied = np.abs(a).sum(axis=1) * np.abs(b).sum(axis=1)
    return np.asarray(np.divide((a * b).sum(axis=1), np.sqrt(untied), out=np.full(len(a), np.nan), where=untied > 0))


def row_rhos(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Spearman's ρ of every row: the correlation of mean ranks; NaN where a side is all ties."""
    a, b = (rankdata(each, axis=1) for each in (one, other))
    a, b = (each - each.mean(axis=1, keepdims=True) for each in (a, b))
    size = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    return np.asarray(np.divide((a * b).sum(axis=1), size, out=np.full(len(a), np.nan), where=size > 0))
