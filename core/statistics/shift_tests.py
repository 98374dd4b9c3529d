"""Does a family shift a score? Two-sided paired tests, the correction for many of them, and effect sizes.

Source: PROTOCOL section 3 (paper A, A.6).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import ndtr

from core.errors import InvalidInput
from core.seeds import RUN_SEED, stream
from core.statistics.bootstrap import (
    LEAST_N,
    RESAMPLES,
    Interval,
    acceleration,
    bca_bounds,
    bootstrap_medians,
    expanded,
    jackknife_medians,
    source_medians,
    too_few,
    widened,
)
from core.statistics.crossed_sources import crossed, crossed_p, first_of, unreckoned
from core.statistics.resamples import BY_SOURCE, named, ranks_of, source_means
from core.statistics.wording import counted, remarks

NORMAL_AT = 0.05  # both samples pass for normal where Shapiro-Wilk gives at least this p

SHAPIRO_MOST = 5000
"""Shapiro-Wilk's p is not accurate above this n; larger samples are judged by a random part of this size."""

PAIRED_T, WILCOXON, NO_TEST = "paired t", "Wilcoxon signed-rank", "none"


@dataclass(frozen=True, slots=True)
class PairedTest:
    """One two-sided paired test."""

    name: str  # PAIRED_T, WILCOXON or NO_TEST; the first two end in ``by source`` where the units are sources
    statistic: float  # t, or the smaller of the two rank sums; NaN without a test
    p: float  # NaN without a test
    n: int  # pairs whose two values are there, or the sources that they are of
    note: str = ""  # why there is no test, or what it left out; empty otherwise


def paired_test(before: ArrayLike, after: ArrayLike, *, groups: ArrayLike | None = None) -> PairedTest:
    """Paired t where both samples pass for normal at 0.05 by Shapiro-Wilk, Wilcoxon signed-rank otherwise.

    Where items share their source, both samples are the sources' means: what a source's items share is no evidence
    twice; see :mod:`core.statistics.resamples`. The mean, since that of differences is the difference of the means.
    Returns the test. Fewer than LEAST_N pairs or sources, as for an interval, or none that differs: no test, and
    ``note`` says so. Differences that are all equal go to Wilcoxon: t has no spread to divide by. Raises InvalidInput
    if the shapes differ or a value is infinite.
    ``before``: baseline scores, shape [n].
    ``after``: scores of the same items under the edit, shape [n]. A pair with a NaN is left out.
    ``groups``: source of each item, shape [n]; None: every item is one of its own. Of two sources, [n, 2], the first
    gives the test, and the second its p as it gives an interval its length.

    >>> round(paired_test([0] * 10, [1, 2, 3, 4, 5, 6, 7, 8, 9, 60]).p, 4)
    0.002
    >>> paired_test([0] * 10, [1, 2, 3, 4, 5, 6, 7, 8, 9, 60], groups=[0, 0, 1, 2, 3, 4, 5, 6, 7, 8]).note
    '10 pairs of 9 sources; no test: fewer than 10 sources'
    """
    first, second = (np.asarray(values, dtype=np.float64).ravel() for values in (before, after))
    if first.shape != second.shape:
        raise InvalidInput(f"paired values come in equal numbers, got {len(first)} and {len(second)}")
    if np.isinf(first).any() or np.isinf(second).any():
        raise InvalidInput("scores must be finite or NaN, got an infinite one; drop it and count it")
    whole = ~(np.isnan(first) | np.isnan(second))
    of = None if groups is None else np.asarray(groups)
    if of is not None and len(of) != len(first):
        raise InvalidInput(f"each pair needs its source: got {len(first)} pairs and {len(of)} sources")
    first, second, of = first[whole], second[whole], None if of is None else of[whole]
    ranks = ranks_of(of, len(first))
    if of is not None and crossed(of):
        return _crossed(paired_test(first, second, groups=first_of(of)), second - first, of)
    if ranks is None:
        return _tested(first, second, "pair")
    found = _tested(source_means(first, ranks), source_means(second, ranks), "source")
    said = remarks(f"{counted(len(first), 'pair')} of {counted(found.n, 'source')}", found.note)
    return replace(found, name=found.name if found.name == NO_TEST else named(found.name, ranks), note=said)


def _crossed(found: PairedTest, differences: np.ndarray, groups: np.ndarray) -> PairedTest:
    """A test by the first source of items that name two, once the second counts."""
    if found.name == NO_TEST:
        return found
    ranks = np.unique(groups[:, 0], return_inverse=True)[1]
    differences = differences / np.abs(differences).max()  # no test knows a unit
    means, sizes, slope = source_means(differences, ranks), np.bincount(ranks), 1.0
    adds, apart = means, means - means.mean()
    if found.name.startswith(WILCOXON):
        adds = np.sign(means) * stats.rankdata(np.abs(means)) * (means != 0)
        slope = float(adds @ apart) / float(apart @ apart) if apart.any() else 0.0
    # a source adds to the statistic, and each of its items moves that by how far it lies from the source's mean
    owed = ((adds - adds.mean())[ranks] + slope * (differences - means[ranks])) / sizes[ranks]
    note = remarks(found.note, unreckoned(groups))
    name = found.name if BY_SOURCE in found.name else f"{found.name}, {BY_SOURCE}"
    return replace(found, name=name, p=crossed_p(found.p, owed, groups), note=note)


def _tested(first: np.ndarray, second: np.ndarray, unit: str) -> PairedTest:
    n, differences = len(first), second - first
    if n < LEAST_N:
        return PairedTest(NO_TEST, math.nan, math.nan, n, f"no test: fewer than {LEAST_N} {unit}s")
    if not differences.any():
        return PairedTest(NO_TEST, math.nan, math.nan, n, f"no {unit} differs")
    # neither test knows a unit: by a power of two, which rounds nothing, squares of huge or tiny scores stay numbers
    _, power = np.frexp(np.abs(np.concatenate([first, second])).max())
    first, second, differences = (np.ldexp(each, -int(power)) for each in (first, second, differences))
    spread = np.ptp(differences) > 1e-12
    if spread and _normal(first) and _normal(second):
        t = stats.ttest_rel(second, first)
        return PairedTest(PAIRED_T, float(t.statistic), float(t.pvalue), n)
    zeros = int((differences == 0).sum())
    statistic, p = signed_rank(differences)
    return PairedTest(WILCOXON, statistic, p, n, f"{counted(zeros, unit)} without a difference" if zeros else "")


def holm(p: ArrayLike) -> np.ndarray:
    """Holm-adjusted p-values of one table's tests; NaN (no test) stays NaN and is not counted. ``p``: p-values, shape
    [m]. Returns float64 [m]."""
    values = np.asarray(p, dtype=np.float64)
    adjusted = np.full(values.shape, math.nan)
    tested = np.flatnonzero(~np.isnan(values))
    order = tested[np.argsort(values[tested], kind="stable")]
    stepped = values[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted


def holm_of_tests(p: ArrayLike, tests: ArrayLike, *, among: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Holm-adjusted p-values of the rows that are tests, and how many these are. Returns float64 [n], NaN where a row
    is no test; int [n], 0 there.
    ``p``: p-values, shape [n]; NaN where there is none. ``tests``: name of each row's test, shape [n]; NO_TEST is none.
    ``among``: rows that may count, bool [n]; None: all."""
    values = np.asarray(p, dtype=np.float64)
    there = ~np.isnan(values) & (np.asarray(tests, dtype=object) != NO_TEST)
    there = there if among is None else there & among
    return holm(np.where(there, values, math.nan)), np.where(there, int(there.sum()), 0)


def cliffs_delta(after: ArrayLike, before: ArrayLike) -> float:
    """Cliff's δ = Pr[after > before] - Pr[after < before] over all pairs of values, in O(n log n). ``after``: first
    sample, shape [n]; NaN are left out; ``before``: second sample, shape [m]; likewise. The result lies in [-1, 1],
    positive where ``after`` is larger; NaN where a sample is empty.
    Source: Cliff (1993), Psychological Bulletin 114(3), 494-509.

    >>> cliffs_delta([3.0, 4.0], [1.0, 3.0])
    0.75
    """
    first, second = np.sort(_present(after)), np.sort(_present(before))  # searching in order stays in the cache
    if len(first) == 0 or len(second) == 0:
        return math.nan
    below = np.searchsorted(second, first, side="left")
    not_above = np.searchsorted(second, first, side="right")
    return float((below - (len(second) - not_above)).sum() / (len(first) * len(second)))


def _normal(values: np.ndarray) -> bool:
    if len(values) < 3 or np.ptp(values) <= 1e-12 * np.abs(values).max():
        return False
    if len(values) > SHAPIRO_MOST:
        values = values[_looked_at(len(values))]
    return bool(stats.shapiro(values).pvalue >= NORMAL_AT)


@lru_cache(maxsize=16)  # 40 kB each: cells of one size are judged by the same places
def _looked_at(n: int) -> np.ndarray:
    """Places of the random part of n values that Shapiro-Wilk judges."""
    return np.asarray(stream(RUN_SEED, "shapiro").choice(n, SHAPIRO_MOST, replace=False))


def _present(values: ArrayLike) -> np.ndarray:
    found = np.asarray(values, dtype=np.float64).ravel()
    return found[~np.isnan(found)]


# Two rank tests as scipy's, without the checks around them: a page asks for hundreds of p-values at once.
#
# Where scipy's null distribution is exact, so is this one: the signs of few differences are gone through by their sums.
#
# References:
#     [1] Wilcoxon, F. (1945). Individual comparisons by ranking methods. Biometrics Bulletin 1(6), 80-83.
#     [2] Mann, H. B. & Whitney, D. R. (1947). On a test of whether one of two random variables is stochastically larger
#         than the other. Annals of Mathematical Statistics 18(1), 50-60.


MANN_WHITNEY = "Mann-Whitney"

EXACT, EXACT_TIED = 50, 13
"""Differences up to which the signed-rank test is exact: without ties and zeros, and with them."""

EXACT_SUM = 8  # values of the smaller sample up to which scipy may look at every arrangement of two samples


def signed_rank(differences: np.ndarray) -> tuple[float, float]:
    """Wilcoxon's signed-rank test [1] as ``scipy.stats.wilcoxon(differences)``: zeros are dropped, ties corrected for.
    ``differences``: finite, shape [n], not all zero. Returns the smaller of the two rank sums, and the two-sided p."""
    moved = differences[differences != 0]
    n = len(moved)
    ranks, ties = _ranked(np.abs(moved))
    above = float(ranks[moved > 0].sum())
    below = n * (n + 1) / 2 - above
    if len(differences) <= (EXACT if n == len(differences) and not ties else EXACT_TIED):
        # of a sum of ranks when every sign is as likely as the other; ranks of ties end in ½
        steps = np.rint(2 * ranks).astype(int)
        shares = np.zeros(int(steps.sum()) + 1)
        shares[0] = 1.0
        for step in steps:
            up = np.zeros_like(shares)
            up[step:] = shares[: len(shares) - step]
            shares = (shares + up) / 2
        at = round(2 * above)
        return min(above, below), min(1.0, 2 * float(min(shares[: at + 1].sum(), shares[at:].sum())))
    spread = math.sqrt((n * (n + 1) * (2 * n + 1) - ties / 2) / 24)
    return min(above, below), _two_sided(abs(above - below) / (2 * spread))


def rank_sum(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Mann and Whitney's test [2] as ``scipy.stats.mannwhitneyu(one, other)``: ties and continuity corrected for.
    ``one``: finite, shape [n], n > 0; ``other``: finite, shape [m], m > 0. Returns U of the first sample, and the
    two-sided p."""
    n, m = len(one), len(other)
    if min(n, m) <= EXACT_SUM:
        found = stats.mannwhitneyu(one, other)
        return float(found.statistic), float(found.pvalue)
    ranks, ties = _ranked(np.concatenate([one, other]))
    u, total = float(ranks[:n].sum()) - n * (n + 1) / 2, n + m
    variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)))
    if variance <= 0:
        return u, 1.0
    return u, _two_sided((abs(u - n * m / 2) - 0.5) / math.sqrt(variance))


def crossed_rank_sum(sides: Sequence[np.ndarray], groups: Sequence[np.ndarray | None], p: float) -> float:
    """p of :func:`rank_sum` by the first source of two samples whose values name two, once the second counts.
    ``sides``: values of each sample, shape [n] and [m]; ``groups``: sources of each, see
    :mod:`core.statistics.crossed_sources`."""
    one, other = groups
    if one is None or other is None or not (crossed(one) and crossed(other)):
        return p
    places = np.split(stats.rankdata(np.concatenate(sides)), [len(sides[0])])
    owed = [sign * (each - each.mean()) / len(each) for each, sign in zip(places, (1, -1), strict=True)]
    return crossed_p(p, np.concatenate(owed), np.concatenate([one, other]))


def _two_sided(z: float) -> float:
    return min(1.0, 2 * float(ndtr(-z)))


def _ranked(values: np.ndarray) -> tuple[np.ndarray, float]:
    """Average ranks from 1, and Σ(t³ - t) over the sizes t of the ties."""
    order = np.argsort(values)  # equal values get one rank, in whatever order they stand
    ordered = values[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    sizes = np.diff(np.append(first, len(values)))
    ranks = np.empty(len(values))
    ranks[order] = np.repeat(first + (sizes + 1) / 2, sizes)
    return ranks, float((sizes.astype(np.float64) ** 3 - sizes).sum())


# The difference of two medians.
#
# References:
#     [1] Efron, B. and Tibshirani, R. (1993). An Introduction to the Bootstrap, 8.3 (two samples) and 14.3 (BCa).


def median_differences(
    one: ArrayLike,
    other: ArrayLike,
    *,
    levels: Sequence[float],
    groups: tuple[ArrayLike, ArrayLike] | None = None,
    resamples: int = RESAMPLES,
    seed: int = RUN_SEED,
) -> tuple[Interval, ...]:
    """Difference of the medians of two independent samples, with its BCa bootstrap interval [1] at each level. Returns
    median(one) - median(other), n the values of both. Fewer than LEAST_N values or sources on a side: no bounds, and a
    note. Raises InvalidInput if a value is infinite.
    ``one``: first sample, any shape; NaN are left out. ``levels``: confidence levels in (0, 1).
    ``groups``: source of each value of the first sample, and of the second: values of one source are resampled
    together, at a level :func:`core.statistics.bootstrap.expanded` for the smaller number of sources. None: every value
    is one of its own. Where both name two sources, the second makes it longer.

    >>> median_differences([4.0, 5.0, 6.0], [1.0, 2.0, 3.0], levels=(0.95,))[0].estimate
    3.0
    """
    of = (None, None) if groups is None else groups
    if groups is not None and all(crossed(each) for each in groups):
        return _crossed_differences(one, other, levels, groups, resamples, seed)
    sides = [_Sample.of(values, sources) for values, sources in zip((one, other), of, strict=True)]
    (a, b), n = (each.values for each in sides), sum(len(each.values) for each in sides)
    estimate = float(np.median(a) - np.median(b)) if len(a) and len(b) else math.nan
    least = min(sides, key=lambda each: each.count)
    if said := too_few(len(least.values), least.count):
        note = said if len(a) and len(b) else "a side without values"
        return tuple(Interval(estimate, math.nan, math.nan, n, level, note) for level in levels)
    medians = [each.medians(resamples, (seed, side)) for side, each in enumerate(sides)]
    differences = medians[0][0] - medians[1][0]
    if np.ptp(differences) == 0:
        equal = " and ".join(str(int((each == np.median(each)).sum())) for each in (a, b))
        said = f"{equal} of {len(a)} and {len(b)} values of the sides equal their medians: exact bound"
        return tuple(Interval(estimate, estimate, estimate, n, level, said) for level in levels)
    # jackknife influence of each value or source, weighed by its share of its own sample
    influence = [(out.mean() - out) * (len(out) - 1) / len(out) for _, out in medians]
    bent = acceleration(np.concatenate([influence[0], -influence[1]]))
    drawn_at = [level if groups is None else expanded(level, least.count) for level in levels]
    return tuple(
        Interval(estimate, *bca_bounds(differences, estimate=estimate, acceleration=bent, level=at), n, level)
        for level, at in zip(levels, drawn_at, strict=True)
    )


def _crossed_differences(
    one: ArrayLike,
    other: ArrayLike,
    levels: Sequence[float],
    groups: tuple[ArrayLike, ArrayLike],
    resamples: int,
    seed: int,
) -> tuple[Interval, ...]:
    """:func:`median_differences` of values that name two sources; a second one may be on both sides."""
    firsts = (first_of(groups[0]), first_of(groups[1]))
    found = median_differences(one, other, levels=levels, groups=firsts, resamples=resamples, seed=seed)
    owed, of = [], []
    for side, (values, sources, own, sign) in enumerate(zip((one, other), firsts, groups, (1, -1), strict=True)):
        flat = np.asarray(values, dtype=np.float64).ravel()
        sample, there = _Sample.of(flat, sources), ~np.isnan(flat)
        signs = np.sign(sample.values - np.median(sample.values)) if len(sample.values) else sample.values
        assert sample.sources is not None
        alone = math.sqrt(float((np.bincount(sample.sources, signs) ** 2).sum())) if len(signs) else 0.0
        spread = sample.medians(resamples, (seed, side))[0].std() if sample.count > 1 else 0.0
        owed.append(sign * signs * (spread / alone if alone > 0 else 0.0))
        apart = np.unique(sources, return_inverse=True)[1] * 2 + side  # sides are independent samples of first sources
        of.append(np.stack([apart, np.asarray(own)[:, 1]], axis=1)[there])
    both = np.concatenate(of)
    return tuple(widened(each, np.concatenate(owed), both) for each in found)


@dataclass(frozen=True, slots=True)
class _Sample:
    """Values of one side, the rank of each one's source, None where each is one of its own, and how many sources."""

    values: np.ndarray
    sources: np.ndarray | None
    count: int

    @classmethod
    def of(cls, values: ArrayLike, groups: ArrayLike | None) -> "_Sample":
        finite = np.asarray(values, dtype=np.float64).ravel()
        present = ~np.isnan(finite)
        if np.isinf(finite).any():
            raise InvalidInput("values must be finite or NaN, got an infinite one; drop it and count it")
        if groups is None:
            return cls(finite[present], None, int(present.sum()))
        names, ranks = np.unique(first_of(groups)[present], return_inverse=True)
        return cls(finite[present], ranks, len(names))

    def medians(self, resamples: int, seed: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        """Of samples, and of all but one value or source each in turn."""
        if self.sources is not None:
            return source_medians(self.values, self.sources, resamples=resamples, seed=seed)
        drawn = bootstrap_medians(self.values, resamples=resamples, seed=seed)
        return drawn, jackknife_medians(self.values)
