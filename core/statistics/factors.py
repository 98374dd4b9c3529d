"""Factors of several levels (bins, categories, modifiers, quadrants): is any level different, and which?

Source: PROTOCOL section 3 (paper A, A.6).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import ndtr, stdtrit

from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.arithmetic import one_thread
from core.statistics.bootstrap import LEAST_N, RESAMPLES, Interval, acceleration, bca_bounds, widened
from core.statistics.crossed_sources import crossed, first_alone, first_of
from core.statistics.resamples import drawn_counts, named, ranks_of, sample_medians, source_means
from core.statistics.shift_tests import (
    MANN_WHITNEY,
    NO_TEST,
    cliffs_delta,
    crossed_rank_sum,
    holm_of_tests,
    paired_test,
    rank_sum,
)
from core.statistics.wording import counted, remarks

LEAST_OMNIBUS = 5
"""Fewest items (of each level, or with every level) for a test of levels: below, χ² approximates nothing, and two
levels lie apart as far as can be by the accident of one item."""

Sums = tuple[np.ndarray, np.ndarray]  # total and number of the values of each source of a stratum


@dataclass(frozen=True, slots=True)
class Omnibus:
    """One test of all levels at once."""

    statistic: float  # H of Kruskal-Wallis, or Friedman's χ²; NaN without a test
    p: float  # likewise
    n: int  # values (Kruskal-Wallis) or complete items (Friedman) behind it, or the sources that they are of
    levels: int  # levels that took part
    note: str = ""  # why there is no test, or what was left out; empty otherwise


@dataclass(frozen=True, slots=True)
class FactorTest:
    """What a factor does."""

    # Kruskal-Wallis over the levels of at least LEAST_OMNIBUS items, which takes every value for an independent one;
    # of sources that lie at several levels too, which makes it cautious
    kruskal: Omnibus
    # Friedman over the items that have every level; it knows the pairing. Without a test where each item has one
    # level only (categories, bins).
    friedman: Omnibus
    # one row a pair of levels: a, b, test, p, p_holm (NaN without a test), m_tests (tests in the correction; 0
    # without one), cliffs_delta (a over b), n, note. Of fewer than LEAST_OMNIBUS items or sources on a side neither
    # test nor δ is told, and the note says so.
    pairs: pd.DataFrame


def factor_test(
    values: ArrayLike, levels: ArrayLike, items: ArrayLike, *, sources: ArrayLike | None = None
) -> FactorTest:
    """Compare the levels of a factor.

    Pairs of levels are compared by the paired test over the items that have both, where at least half of the items of
    the smaller level do; by Mann-Whitney otherwise. Where items share their source, a source counts once at a level, by
    the mean over its items there; see :mod:`core.statistics.resamples`. Raises InvalidInput if the shapes differ.
    ``values``: e.g. percent changes, shape [n]; NaN are left out. ``levels``: level of each value, shape [n].
    ``items``: item of each value, shape [n]. An item with several values of one level counts by their median.
    ``sources``: source of each value, shape [n], the same for all values of an item, or two, [n, 2], the second of
    which counts where two levels are compared. None: every item is one of its own. Cliff's δ is of items all the same.
    Returns: see :class:`FactorTest`; fewer than two levels or only equal values have no test, and a note."""
    given = items if sources is None else np.asarray(sources)
    columns = [np.asarray(column).ravel() for column in (values, levels, items, first_of(given))]
    if len({len(column) for column in columns}) != 1:
        raise InvalidInput(f"values, levels, items and sources come in equal numbers, got {[len(c) for c in columns]}")
    there = ~np.logical_or.reduce([pd.isna(column) for column in columns])
    value, level, item, _ = (column[there] for column in columns)
    (item, known), (level, names) = (pd.factorize(column, sort=True) for column in (item, level))
    place = item * len(names) + level
    table = np.full((len(known), len(names)), math.nan)  # values by item and level, both in order
    if len(np.unique(place)) < len(place):
        several = pd.Series(value.astype(np.float64)).groupby(place).median()
        table.ravel()[several.index.to_numpy()] = several.to_numpy()
    else:
        table.ravel()[place] = value
    of = np.asarray(given)[there][np.unique(item, return_index=True)[1]]
    ranks = ranks_of(of, len(table))
    at = [_Level(name, column, ~np.isnan(column)) for name, column in zip(names, table.T.copy(), strict=True)]
    kruskal, friedman = (
        found if math.isnan(found.p) else replace(found, note=remarks(found.note, first_alone(of)))
        for found in (_kruskal(at, ranks), _friedman(at, ranks))
    )
    found = [_compare(a, b, ranks, of) for a, b in combinations(at, 2)]
    pairs = pd.DataFrame(found, columns=["a", "b", "test", "p", "cliffs_delta", "n", "note"])
    adjusted, sizes = holm_of_tests(pairs["p"], pairs["test"])
    pairs.insert(4, "p_holm", adjusted)
    pairs.insert(5, "m_tests", sizes)
    return FactorTest(kruskal, friedman, pairs)


@dataclass(frozen=True, slots=True)
class _Level:
    """One level of a factor."""

    name: object  # of the level
    values: np.ndarray  # of each item there, float64 [N]; NaN where an item has none
    there: np.ndarray  # which items have one, bool [N]


def _at(values: np.ndarray, ranks: np.ndarray | None, there: np.ndarray) -> np.ndarray:
    """Means over the sources of the items that are there; the values of these where none share theirs."""
    return source_means(values[there], None if ranks is None else ranks[there])


def _kruskal(levels: Sequence[_Level], ranks: np.ndarray | None) -> Omnibus:
    groups = [_at(each.values, ranks, each.there) for each in levels]
    n = sum(map(len, groups))
    if len(groups) < 2:
        return Omnibus(math.nan, math.nan, n, len(groups), "fewer than two levels")
    kept = [group for group in groups if len(group) >= LEAST_OMNIBUS]
    note = (
        f"{counted(len(groups) - len(kept), 'level')} of fewer than {LEAST_OMNIBUS} items left out"
        if len(kept) < len(groups)
        else ""
    )
    if len(kept) < 2:
        return Omnibus(math.nan, math.nan, n, len(groups), f"no test: fewer than two levels of {LEAST_OMNIBUS} items")
    groups, n = kept, sum(map(len, kept))
    if np.ptp(np.concatenate(groups)) == 0:
        return Omnibus(math.nan, math.nan, n, len(groups), remarks("all values are equal", note))
    found = stats.kruskal(*groups)
    return Omnibus(float(found.statistic), float(found.pvalue), n, len(groups), note)


def _friedman(at: Sequence[_Level], ranks: np.ndarray | None) -> Omnibus:
    there = np.logical_and.reduce([each.there for each in at]) if at else np.empty(0, dtype=bool)
    left_out = int((~there).sum())
    columns = [_at(each.values, ranks, there) for each in at]
    complete = np.column_stack(columns) if columns else np.empty((0, 0))
    n, levels = complete.shape
    note = f"{counted(left_out, 'item')} {'lacks' if left_out == 1 else 'lack'} a level" if left_out else ""
    if levels < 3 or n < LEAST_OMNIBUS:
        few = f"no test: {counted(n, 'item')} with every level, below {LEAST_OMNIBUS}"
        reason = "fewer than three levels" if levels < 3 else few
        return Omnibus(math.nan, math.nan, n, levels, reason)
    if (np.ptp(complete, axis=1) == 0).all():
        return Omnibus(math.nan, math.nan, n, levels, "no item differs between levels")
    found = stats.friedmanchisquare(*complete.T)
    return Omnibus(float(found.statistic), float(found.pvalue), n, levels, note)


def _compare(one: _Level, other: _Level, ranks: np.ndarray | None, of: np.ndarray) -> dict[str, object]:
    a, b, both = one.values[one.there], other.values[other.there], one.there & other.there
    sides = [_at(each.values, ranks, each.there) for each in (one, other)]
    fewest = min(map(len, sides))
    if 2 * both.sum() >= min(len(a), len(b)):
        paired = paired_test(other.values[both], one.values[both], groups=of[both])
        found, fewest = {"test": paired.name, "p": paired.p, "n": paired.n, "note": paired.note}, min(fewest, paired.n)
    else:
        n = sum(map(len, sides))
        test = named(MANN_WHITNEY, ranks if n < len(a) + len(b) else None)
        p = crossed_rank_sum((a, b), (of[one.there], of[other.there]), rank_sum(*sides)[1])
        found = {"test": test, "p": p, "n": n, "note": ""}
    none, delta = {"test": NO_TEST, "p": math.nan}, cliffs_delta(a, b)
    if fewest < LEAST_OMNIBUS:
        found |= none | {"note": f"fewer than {LEAST_OMNIBUS} items on a side"}
        delta = math.nan
    elif np.ptp(np.concatenate([a, b])) == 0:
        found |= none | {"note": "no item differs"}
    return {"a": one.name, "b": other.name, **found, "cliffs_delta": delta}


# Composition-balanced bootstrap: a mean in which every stratum weighs the same, whatever a corpus has of it.
#
# Each resample draws from every stratum as many sources as it has, so that its composition is that of the data, and
# every stratum's mean weighs the same. The plain mean of the same resample weighs each stratum by its items; so the
# two, and their difference, are compared over the same draws.
#
# Resamples of a stratum of few sources vary too little: where most strata hold two to seven, 88 of 100 intervals held
# the mean. So what a stratum's mean is drawn away from it is stretched by √(m / (m - 1)) [1], and the bounds are taken
# at the level of Student's quantile for Satterthwaite's degrees of freedom instead of the normal one [2].
#
# Source: paper A, B.2, which names a composition-balanced bootstrap and does not print one. Davison and Hinkley
# (1997), Bootstrap Methods and their Application, 3.2 (stratified) and 3.8 (sources).
#
# References:
#     [1] Rao, J. N. K. and Wu, C. F. J. (1988). Resampling inference with complex survey data. JASA 83(401), 231-241.
#     [2] Hesterberg, T. C. (2015). What teachers should know about the bootstrap. Am. Stat. 69(4), 371-386, 6.1.


LEAST_SOURCES = 2  # fewest sources of a stratum: one has no spread that could be resampled
LEAST_FREEDOM = LEAST_N - 1  # fewest degrees of freedom for an interval: those of a mean of LEAST_N values
_CHUNK = 100_000  # draws held at once: they stay in the processor's cache


@dataclass(frozen=True, slots=True)
class Balanced:
    """A mean over items, and over strata."""

    plain: Interval  # mean over the items of the strata that take part, each item with the same weight
    balanced: Interval  # mean of the strata's means
    difference: Interval  # balanced minus plain, over the same draws
    strata: int  # that take part
    left_out: int  # strata of fewer than LEAST_SOURCES sources: they are in neither mean
    items_left_out: int  # items of theirs


@one_thread
def balanced_mean(
    values: ArrayLike, strata: ArrayLike, *, sources: ArrayLike | None = None, resamples: int = RESAMPLES
) -> Balanced:
    """Mean of values as they are and with every stratum weighing the same, with 95 % BCa intervals. Raises InvalidInput
    if the shapes differ, or a value is infinite.
    ``values``: shape [n]; NaN are left out.
    ``strata``: number of each value's stratum, int [n]; negative for none: such a value is left out.
    ``sources``: number of each value's source, int [n], or of two, [n, 2]: values of a source are drawn and left out
    together, within their stratum; one whose values lie in several strata is drawn in each by itself. None: every value
    is its own source.
    ``resamples``: number of draws; strata are drawn in the order of their numbers.
    Returns: see :class:`Balanced`. Below two strata the two means are one: a note says so, and there is no interval.
    Nor is there one below LEAST_FREEDOM degrees of freedom."""
    y, stratum = np.asarray(values, dtype=np.float64).ravel(), np.asarray(strata).ravel()
    of = np.arange(len(y)) if sources is None else np.asarray(sources)
    if not len(y) == len(stratum) == len(of):
        raise InvalidInput(
            f"values, strata and sources come in equal numbers, got {len(y)}, {len(stratum)} and {len(of)}"
        )
    if np.isinf(y).any():
        raise InvalidInput("values must be finite or NaN, got an infinite one; drop it and count it")
    whole = ~np.isnan(y) & (stratum >= 0)
    y, stratum, of = y[whole], stratum[whole], of[whole]
    source = first_of(of)
    cells = list[Sums]()
    for each in np.unique(stratum):
        ranks = np.unique(source[stratum == each], return_inverse=True)[1]
        cells.append((np.bincount(ranks, y[stratum == each]), np.bincount(ranks).astype(np.float64)))
    kept = [each for each in cells if len(each[0]) >= LEAST_SOURCES]
    lost = int(sum(each[1].sum() for each in cells)) - int(sum(each[1].sum() for each in kept))
    counts = np.array([each[1].sum() for each in kept])
    n, about = int(counts.sum()), (len(kept), len(cells) - len(kept), lost)
    if len(kept) < 2:
        reason = "fewer than two strata of two sources or more"
        none = Interval(math.nan, math.nan, math.nan, n, 0.95, reason)
        return Balanced(none, none, none, *about)
    rng = np.random.default_rng(RUN_SEED)
    means = np.array([totals.sum() / sizes.sum() for totals, sizes in kept])
    drawn = np.array([_resampled(*each, resamples, rng) for each in kept])
    weights = {"plain": counts / n, "balanced": np.full(len(kept), 1 / len(kept))}
    weights["difference"] = weights["balanced"] - weights["plain"]
    found = {name: _interval(each, means, drawn, kept, n) for name, each in weights.items()}
    if crossed(of):
        enough = [each for each in np.unique(stratum) if len(np.unique(source[stratum == each])) >= LEAST_SOURCES]
        inside = np.flatnonzero(np.isin(stratum, enough))
        cell = np.searchsorted(enough, stratum[inside])
        own = np.stack([np.unique(np.stack([cell, source[inside]]), axis=1, return_inverse=True)[1], of[inside, 1]], 1)
        apart = (y[inside] - means[cell]) / counts[cell]
        found = {name: widened(each, weights[name][cell] * apart, own) for name, each in found.items()}
    return Balanced(found["plain"], found["balanced"], found["difference"], *about)


def _interval(weights: np.ndarray, means: np.ndarray, drawn: np.ndarray, kept: list[Sums], n: int) -> Interval:
    """Weighted mean of the strata's means; the influence of a source is that on its stratum's mean."""
    estimate, influence = float(weights @ means), list[np.ndarray]()
    for weight, (totals, sizes) in zip(weights, kept, strict=True):  # the jackknife within one stratum
        without = (totals.sum() - totals) / (sizes.sum() - sizes)
        influence.append(weight * (len(totals) - 1) / len(totals) * (without.mean() - without))
    variances = np.array([len(each) / (len(each) - 1) * float((each**2).sum()) for each in influence])
    if not variances.any():
        return Interval(estimate, math.nan, math.nan, n, 0.95, "no stratum has any spread: no interval")
    sources = np.array([len(each) for each in influence])
    freedom = float(variances.sum() ** 2 / (variances**2 / (sources - 1)).sum())  # Satterthwaite's
    if freedom < LEAST_FREEDOM - 1e-9:
        few = f"no interval ({freedom:.1f} degrees of freedom, below {LEAST_FREEDOM})"
        return Interval(estimate, math.nan, math.nan, n, 0.95, few)
    at = float(2 * ndtr(stdtrit(freedom, (1 + 0.95) / 2)) - 1)
    bent = acceleration(np.concatenate(influence))
    low, high = bca_bounds(weights @ drawn, estimate=estimate, acceleration=bent, level=at)
    return Interval(estimate, low, high, n, 0.95)


def _resampled(totals: np.ndarray, sizes: np.ndarray, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Mean of each resample of a stratum's sources, stretched about their own [1], float64 [resamples]."""
    many, found = len(totals), np.empty(resamples)
    step, alike = max(1, _CHUNK // many), np.ptp(sizes) == 0
    for start in range(0, resamples, step):
        picks = rng.integers(many, size=(min(step, resamples - start), many))
        size = sizes.sum() if alike else sizes[picks].sum(axis=1)
        found[start : start + step] = totals[picks].sum(axis=1) / size
    mean = totals.sum() / sizes.sum()
    return np.asarray(mean + math.sqrt(many / (many - 1)) * (found - mean))


# Which of several medians is the largest, and how sure is it? A maximum is picked after seeing the data.
#
# Its own interval says nothing of that: another draw of the same items may have had another one on top. So the same
# items, or whole sources of them, are drawn for all rows at once, and the share of the draws stands beside the pick.
#
# Source: Hall, P. and Miller, H. (2009). Using the bootstrap to quantify the authority of an empirical ranking.
# Annals of Statistics 37(6B), 3929-3959.


DRAWS, FEWER, MANY = 1_000, 200, 2_000
"""Draws, and those where there are more than MANY sources: each costs a pass over all items."""


def shares_of_largest(values: np.ndarray, *, groups: np.ndarray | None = None) -> np.ndarray:
    """Share of bootstrap samples in which each row's median is the largest. Returns float64 [m], which sum to 1: of
    equal largest ones each has its part. NaN below LEAST_N items or sources, and where there is one row.
    ``values``: a row each, of the same items, float64 [m, n]; NaN are left out of their row.
    ``groups``: source of each item, [n]: those of one source are drawn together. None: each is one of its own.

    >>> shares_of_largest(np.array([np.arange(20.0), np.arange(20.0) + 100])).tolist()
    [0.0, 1.0]
    """
    rows = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(rows).all(axis=0)
    rows, m = rows[:, known], len(rows)
    n = rows.shape[1]
    ranks = ranks_of(None if groups is None else np.asarray(groups)[known], n)
    sources = n if ranks is None else int(ranks.max()) + 1
    if m < 2 or sources < LEAST_N:
        return np.full(m, math.nan)
    draws, won = DRAWS if sources <= MANY else FEWER, np.zeros(m)
    for counts in drawn_counts(sources, draws, seed=RUN_SEED, each=n):
        spread = counts if ranks is None else counts[:, ranks]
        medians = np.stack([np.nan_to_num(sample_medians(row, spread), nan=-math.inf) for row in rows])
        top = medians == medians.max(axis=0)
        won += (top / top.sum(axis=0)).sum(axis=1)
    return np.asarray(won / draws)
