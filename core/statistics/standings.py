"""Systems ranked by their mean score: intervals of means and of ranks, and every pairwise difference with its test.

References:
    [1] Davison, A. C. and Hinkley, D. V. (1997). Bootstrap Methods and their Application, 2.4 and 3.8.
    [2] Mogstad, M., Romano, J. P., Shaikh, A. M. and Wilhelm, D. (2024). Inference for ranks with applications to
        mobility across neighbourhoods and academic achievement across countries. Rev. Econ. Stud. 91(1), 476-518.
    [3] Tarone, R. E. (1990). A modified Bonferroni method for discrete data. Biometrics 46(2), 515-522.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.bootstrap import RESAMPLES, Interval, expanded, too_few
from core.statistics.ratios import FEWER, MANY, drawn_counts, means_bca
from core.statistics.shift_tests import PairedTest, holm_of_tests, paired_test

ALPHA = 0.05
"""Level of Holm's correction at which one system is said to stand above another."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean difference of two systems over the same items.

    Args:
        one, other: places of the two systems.
        interval: of mean(one) - mean(other), BCa over items or their sources.
        test: paired, over sources.
        p_holm: of ``test``, corrected over the pairs of the leaderboard that have one; NaN where no source tells two
            systems apart. Such a pair is no test: no order of its signs gives a p below 1, so it takes no share of the
            error that Holm's correction parts [3].
        sure: whether p_holm is below ALPHA and the interval lies on one side of zero.
    """

    one: int
    other: int
    interval: Interval
    test: PairedTest
    p_holm: float
    sure: bool


@dataclass(frozen=True, slots=True)
class Standings:
    """A leaderboard of s systems. Rank 1 has the highest mean; equal means share the better rank.

    Args:
        means: mean score of each system with its BCa interval.
        ranks: int [s].
        low, high: interval of each rank over bootstrap samples of items, [s]; NaN below LEAST_N items or sources.
        first: share of samples in which no system is above this one, [s]; likewise.
        sure_low, sure_high: ranks that stand when only differences that are ``sure`` count [2], int [s].
        differences: of every pair, in the order of the systems.
        n: items.
        note: why there are no intervals; empty otherwise.
    """

    means: tuple[Interval, ...]
    ranks: np.ndarray
    low: np.ndarray
    high: np.ndarray
    first: np.ndarray
    sure_low: np.ndarray
    sure_high: np.ndarray
    differences: tuple[Difference, ...]
    n: int
    note: str = ""


def standings(
    scores: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int | None = None,
    seed: int = RUN_SEED,
) -> Standings:
    """Rank systems by their mean over the same items.

    The bounds of a rank are the percentiles of the ranks that it has in bootstrap samples of items [1], the best of
    tied ranks for the lower bound and the worst for the upper one. Such an interval is too short where many systems
    are nearly equal; ``sure_low`` to ``sure_high`` holds all ranks at once in that case [2], and is longer.

    Args:
        scores: float64 [n, s], higher is better; finite.
        groups: source of each item, shape [n]: items of one source are drawn together. None: each is one.
        level: confidence level in (0, 1).
        resamples: number of samples for the ranks; None: RESAMPLES, or FEWER of more than MANY sources.
        seed: of the draws.

    Raises:
        InvalidInput: if there is no item or no system, or a score is missing.
    """
    table, ranks_of = _checked(scores, groups)
    n, s = table.shape
    means = means_bca(table.T, groups=ranks_of, level=level, seed=seed)
    estimates = table.mean(axis=0)
    ranks = placed(estimates[None])[0][0]
    differences = _differences(table, ranks_of, level=level, seed=seed)
    sure = np.array([[each.one, each.other] if each.interval.estimate > 0 else [each.other, each.one]
                     for each in differences if each.sure], dtype=np.int64).reshape(-1, 2)  # fmt: skip
    lost, won = (np.bincount(sure[:, side], minlength=s) for side in (1, 0))
    sources = int(ranks_of.max()) + 1
    note = too_few(n, sources)
    low = high = first = np.full(s, math.nan)
    if not note:
        best, worst = placed(drawn_means(table, groups=ranks_of, resamples=resamples, seed=seed))
        low, high = rank_bounds(best, worst, level=expanded(level, sources))
        first = (best == 1).mean(axis=0)
    return Standings(means, ranks, low, high, first, 1 + lost, s - won, differences, n, note)


def placed(means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ranks of every row, 1 for the highest mean: the best and the worst rank that ties leave open.

    Args:
        means: float64 [r, s].

    Returns:
        Two int arrays [r, s], equal where there is no tie.

    Example:
        >>> [each.tolist() for each in placed(np.array([[0.5, 0.7, 0.5]]))]
        [[[2, 1, 2]], [[3, 1, 3]]]
    """
    columns = range(means.shape[1])
    above = np.stack([(means > means[:, [each]]).sum(axis=1) for each in columns], axis=1)
    not_below = np.stack([(means >= means[:, [each]]).sum(axis=1) for each in columns], axis=1)
    return 1 + above, not_below


def rank_bounds(best: np.ndarray, worst: np.ndarray, *, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Percentile bounds of ranks, both whole numbers.

    Args:
        best, worst: ranks of :func:`placed`, int [r, s].
        level: confidence level in (0, 1).

    Returns:
        float64 [s] each.
    """
    low = np.quantile(best, (1 - level) / 2, axis=0, method="inverted_cdf")
    high = np.quantile(worst, (1 + level) / 2, axis=0, method="inverted_cdf")
    return low.astype(np.float64), high.astype(np.float64)


def drawn_means(
    values: np.ndarray, *, groups: np.ndarray, resamples: int | None = None, seed: int = RUN_SEED
) -> np.ndarray:
    """Column means of bootstrap samples of whole sources, the same samples for every column.

    Equal columns have equal means in every sample, to the last bit.

    Args:
        values: finite, float64 [n, c].
        groups: rank of each item's source, int [n], every rank from 0 to m - 1 there.
        resamples: number of samples; None: RESAMPLES, or FEWER of more than MANY sources.
        seed: of the draws; the same seed and sources give the same samples.

    Returns:
        float64 [resamples, c].
    """
    columns, place = np.unique(values, axis=1, return_inverse=True)
    sums, sizes = _source_sums(columns, groups)
    both = np.column_stack([sums, sizes])
    parts = [counts.astype(np.float64) @ both for counts in _counts(len(sizes), resamples, seed)]
    drawn = np.concatenate(parts)
    means: np.ndarray = (drawn[:, :-1] / drawn[:, -1:])[:, place.ravel()]
    return means


def source_ranks(groups: ArrayLike | None, n: int) -> np.ndarray:
    """Rank of each item's source from 0, int [n]; without groups every item is a source of its own."""
    if groups is None:
        return np.arange(n)
    given = np.asarray(groups).ravel()
    if len(given) != n:
        raise InvalidInput(f"every item has one source, got {len(given)} sources for {n} items")
    ranks: np.ndarray = np.unique(given, return_inverse=True)[1]
    return ranks


def _checked(scores: ArrayLike, groups: ArrayLike | None) -> tuple[np.ndarray, np.ndarray]:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise InvalidInput(f"scores are a table of items and systems, got the shape {table.shape}")
    if not np.isfinite(table).all():
        raise InvalidInput("every system has a finite score of every item here; leave the others out and count them")
    return table, source_ranks(groups, len(table))


def _differences(table: np.ndarray, groups: np.ndarray, *, level: float, seed: int) -> tuple[Difference, ...]:
    pairs = list(combinations(range(table.shape[1]), 2))
    if not pairs:
        return ()
    rows = np.stack([table[:, one] - table[:, other] for one, other in pairs])
    intervals = means_bca(rows, groups=groups, level=level, seed=seed)
    sums, sizes = _source_sums(table, groups)
    by_source = sums / sizes[:, None]
    tests = [paired_test(by_source[:, other], by_source[:, one]) for one, other in pairs]
    corrected, _ = holm_of_tests([test.p for test in tests], [test.name for test in tests])
    found = zip(pairs, intervals, tests, corrected.tolist(), strict=True)
    return tuple(
        Difference(*pair, interval, test, p, p < ALPHA and interval.excludes_zero())
        for pair, interval, test, p in found
    )


def _source_sums(values: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sum over each source of every column, [m, c], and how many items each source has, [m]."""
    sizes = np.bincount(groups).astype(np.float64)
    sums = np.zeros((len(sizes), values.shape[1]))
    np.add.at(sums, groups, values)
    return sums, sizes


def _counts(sources: int, resamples: int | None, seed: int) -> Iterator[np.ndarray]:
    draws = resamples or (FEWER if sources > MANY else RESAMPLES)
    yield from drawn_counts(sources, draws, seed=seed)
