"""Bootstrap confidence intervals of a median, without resampling.

References:
    [1] Efron, B. (1987). Better bootstrap confidence intervals. JASA 82(397), 171-185.
    [2] David, H. A. and Nagaraja, H. N. (2003). Order Statistics, 3rd ed., sections 2.2 and 2.4.
    [3] Davison, A. C. and Hinkley, D. V. (1997). Bootstrap Methods and their Application, 3.8.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from core.errors import InvalidInput
from core.seeds import RUN_SEED

RESAMPLES = 10_000
"""Bootstrap resamples of every interval. Source: paper A, A.6."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A point estimate with its confidence interval.

    Args:
        estimate: NaN where there is no value.
        low: lower bound; NaN where the interval is not defined.
        high: upper bound; likewise.
        n: number of finite values behind the estimate.
        level: confidence level, e.g. 0.95.
        note: why the interval is missing or degenerate; empty otherwise.
    """

    estimate: float
    low: float
    high: float
    n: int
    level: float
    note: str = ""

    def excludes_zero(self) -> bool:
        """Whether the interval is defined and lies on one side of zero."""
        return self.low > 0 or self.high < 0

    def within(self, margin: float) -> bool:
        """Whether the interval is defined and lies inside ±margin."""
        return self.low > -margin and self.high < margin


def bootstrap_medians(values: ArrayLike, *, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Draw medians of bootstrap samples in O(resamples) after one sort.

    The k-th smallest of n uniform draws is Beta(k, n - k + 1) distributed [2], and a bootstrap sample
    is x at the ceilings of n such draws; so the sample's k-th order statistic is drawn directly. For
    even n the next order statistic follows from the conditional Beta(1, n - k) of the rest.

    Args:
        values: finite values, shape [n], n ≥ 1.
        resamples: number of medians.
        rng: source of randomness.

    Returns:
        float64 [resamples].
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    return _at(ordered, *_places(len(ordered), resamples, rng))


def jackknife_medians(values: ArrayLike) -> np.ndarray:
    """Medians with one value left out, in sorted order of the value left out; closed form.

    Args:
        values: finite values, shape [n], n ≥ 2.

    Returns:
        float64 [n].
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    middle = n // 2
    left_out = np.empty(n)
    if n % 2 == 0:
        left_out[:middle], left_out[middle:] = ordered[middle], ordered[middle - 1]
        return left_out
    left_out[:middle] = (ordered[middle] + ordered[middle + 1]) / 2
    left_out[middle] = (ordered[middle - 1] + ordered[middle + 1]) / 2
    left_out[middle + 1 :] = (ordered[middle - 1] + ordered[middle]) / 2
    return left_out


def median_bca(
    values: ArrayLike,
    *,
    level: float = 0.95,
    groups: np.ndarray | None = None,
    resamples: int = RESAMPLES,
    seed: int = RUN_SEED,
) -> Interval:
    """Median with its bias-corrected and accelerated bootstrap interval [1].

    1. Draw the bootstrap medians with :func:`bootstrap_medians`.
    2. z0 = Φ⁻¹ of the share of them below the median, ties counted half.
    3. a = Σd³ / (6 (Σd²)^1.5), d the jackknife mean minus the jackknife medians.
    4. The bounds are the quantiles Φ(z0 + (z0 + z) / (1 - a (z0 + z))) of the bootstrap medians.

    Args:
        values: values of any shape; NaN are left out and not counted in ``n``.
        level: confidence level in (0, 1).
        groups: number of the source of each value; see :func:`median_bca_levels`.
        resamples: number of bootstrap medians.
        seed: seed of the draws; the same values give the same interval.

    Returns:
        The interval. No value: all NaN. One value: bounds NaN. All equal: bounds equal the median.
        Each of these says so in ``note``.

    Raises:
        InvalidInput: if level or resamples is out of range, or a value is infinite.

    Source: PROTOCOL section 3 (paper A, A.6).

    Example:
        >>> median_bca([1.0, 2.0, 3.0, 4.0, 100.0]).estimate
        3.0
    """
    return median_bca_levels(values, levels=(level,), groups=groups, resamples=resamples, seed=seed)[0]


def median_bca_levels(
    values: ArrayLike,
    *,
    levels: Sequence[float],
    groups: np.ndarray | None = None,
    resamples: int = RESAMPLES,
    seed: int = RUN_SEED,
) -> tuple[Interval, ...]:
    """Intervals of one median at several levels, each as :func:`median_bca` gives it, from one set of draws.

    Args:
        values: as there.
        levels: confidence levels.
        groups: number of the source of each value, int [n]: values of one source are resampled together, and left
            out together by the jackknife (the cluster bootstrap [3]). None: every value is a source of its own.
        resamples: as there.
        seed: as there.
    """
    for level in levels:
        if not 0 < level < 1:
            raise InvalidInput(f"level must lie in (0, 1), got {level!r}")
    if resamples < 1:
        raise InvalidInput(f"resamples must be at least 1, got {resamples!r}")
    finite = np.asarray(values, dtype=np.float64).ravel()
    present = ~np.isnan(finite)
    sources = _sources(groups, present)
    finite = np.sort(finite[present]) if sources is None else finite[present]
    order = slice(None) if sources is None else np.argsort(finite, kind="stable")
    finite = finite[order]
    if np.isinf(finite[[0, -1] if len(finite) else []]).any():
        raise InvalidInput("values must be finite or NaN, got an infinite one; drop it and count it")
    n = len(finite)
    if n == 0:
        return tuple(Interval(math.nan, math.nan, math.nan, 0, level, "no values") for level in levels)
    estimate = float((finite[(n - 1) // 2] + finite[n // 2]) / 2)
    if n == 1:
        return tuple(Interval(estimate, math.nan, math.nan, 1, level, "one value has no interval") for level in levels)
    if finite[0] == finite[-1]:
        return tuple(Interval(estimate, estimate, estimate, n, level, "all values are equal") for level in levels)
    if sources is None:
        drawn, left_out = _at(finite, *_seeded_places(n, resamples, seed)), jackknife_medians(finite)
    else:
        sources = sources[order]
        count = int(sources.max()) + 1
        if count < 2:
            return tuple(Interval(estimate, math.nan, math.nan, n, level, "one source has no interval")
                         for level in levels)  # fmt: skip
        drawn = _weighted_medians(finite, _seeded_counts(count, resamples, seed)[:, sources])
        left_out = _weighted_medians(finite, (1 - np.eye(count, dtype=np.int16))[:, sources])
    a = acceleration(left_out.mean() - left_out)
    return tuple(
        Interval(estimate, *bca_bounds(drawn, estimate=estimate, acceleration=a, level=level), n, level)
        for level in levels
    )


def bca_bounds(drawn: np.ndarray, *, estimate: float, acceleration: float, level: float) -> tuple[float, float]:
    """Bounds of a BCa interval from what was drawn: steps 2 and 4 of :func:`median_bca`.

    Args:
        drawn: bootstrap replicates of the statistic, shape [resamples].
        estimate: the statistic of the data itself.
        acceleration: a in [1]; see :func:`acceleration`.
        level: confidence level in (0, 1).
    """
    resamples = len(drawn)
    below = ((drawn < estimate).sum() + (drawn <= estimate).sum()) / (2 * resamples)
    # a share of 0 or 1 has no finite quantile; half a resample is the finest that the draws resolve
    z0 = ndtri(np.clip(below, 0.5 / resamples, 1 - 0.5 / resamples))
    z = ndtri([(1 - level) / 2, (1 + level) / 2])
    shares = ndtr(z0 + (z0 + z) / (1 - acceleration * (z0 + z)))
    low, high = np.quantile(drawn, shares)
    return float(low), float(high)


def acceleration(influence: np.ndarray) -> float:
    """Acceleration Σd³ / (6 (Σd²)^1.5) of a BCa interval [1]; 0 where nothing has any influence.

    Args:
        influence: d, shape [n]: the jackknife mean minus the jackknife values, or the empirical influence.
    """
    d = np.asarray(influence, dtype=np.float64)
    scale = np.abs(d).max(initial=0.0)
    if scale == 0:
        return 0.0
    d = d / scale  # a has no unit; scaling keeps tiny differences from underflowing
    return float((d**3).sum() / (6 * (d**2).sum() ** 1.5))


def mean_bca_of_counts(
    values: ArrayLike, counts: ArrayLike, *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = RUN_SEED
) -> Interval:
    """Mean of data that take few values, with its BCa interval in O(resamples · values).

    How often each value occurs in a bootstrap sample is one multinomial draw, so no sample is made.

    Args:
        values: the distinct values, shape [v], e.g. wrong 0, tie 0.5, right 1.
        counts: how many data have each value, shape [v].
        level: confidence level in (0, 1).
        resamples: number of bootstrap means.
        seed: seed of the draws.

    Returns:
        The interval, degenerate as in :func:`median_bca`.
    """
    levels, times = np.asarray(values, dtype=np.float64), np.asarray(counts, dtype=np.int64)
    n = int(times.sum())
    if n == 0:
        return Interval(math.nan, math.nan, math.nan, 0, level, "no values")
    estimate = float(levels @ times / n)
    if n == 1:
        return Interval(estimate, math.nan, math.nan, 1, level, "one value has no interval")
    if (times > 0).sum() == 1:
        return Interval(estimate, estimate, estimate, n, level, "all values are equal")
    drawn = np.random.default_rng(seed).multinomial(n, times / n, size=resamples) @ levels / n
    influence = np.repeat(levels - estimate, times)
    low, high = bca_bounds(drawn, estimate=estimate, acceleration=acceleration(influence), level=level)
    return Interval(estimate, low, high, n, level)


def mean_bca(
    values: ArrayLike,
    *,
    level: float = 0.95,
    groups: np.ndarray | None = None,
    resamples: int = RESAMPLES,
    seed: int = RUN_SEED,
) -> Interval:
    """Mean with its BCa interval, values of one source resampled together; without sources see the counts above.

    Args:
        values: as of :func:`median_bca`.
        level: confidence level in (0, 1).
        groups: number of the source of each value; see :func:`median_bca_levels`.
        resamples: number of bootstrap means.
        seed: of the draws.

    Returns:
        The interval, degenerate as in :func:`median_bca`.
    """
    known = np.asarray(values, dtype=np.float64).ravel()
    present = ~np.isnan(known)
    sources, known = _sources(groups, present), known[present]
    if sources is None or len(known) < 2 or np.ptp(known) == 0:
        return mean_bca_of_counts(*np.unique(known, return_counts=True), level=level, resamples=resamples, seed=seed)
    estimate, n = float(known.mean()), len(known)
    sizes, sums = np.bincount(sources), np.bincount(sources, weights=known)
    if len(sizes) < 2:
        return Interval(estimate, math.nan, math.nan, n, level, "one source has no interval")
    counts = _seeded_counts(len(sizes), resamples, seed)
    drawn, left_out = (counts @ sums) / (counts @ sizes), (sums.sum() - sums) / (n - sizes)
    a = acceleration(left_out.mean() - left_out)
    low, high = bca_bounds(drawn, estimate=estimate, acceleration=a, level=level)
    return Interval(estimate, low, high, n, level)


def _sources(groups: np.ndarray | None, present: np.ndarray) -> np.ndarray | None:
    """Rank of each present value's source; None where each is one of its own."""
    if groups is None:
        return None
    names, ranks = np.unique(np.asarray(groups).ravel()[present], return_inverse=True)
    return None if len(names) == len(ranks) else ranks


@lru_cache(maxsize=8)
def _seeded_counts(sources: int, resamples: int, seed: int) -> np.ndarray:
    """How often each source is in each sample, int16 [resamples, sources]."""
    picks = np.random.default_rng(seed).integers(sources, size=(resamples, sources))
    counts = np.bincount((picks + sources * np.arange(resamples)[:, None]).ravel(), minlength=resamples * sources)
    return counts.reshape(resamples, sources).astype(np.int16)


def _weighted_medians(ordered: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Median of each sample of values in order, from how often it has each, int [samples, n]; never of an empty one."""
    below = np.cumsum(counts, axis=1, dtype=np.int32)
    total = below[:, -1]
    low, high = ((below <= place[:, None]).sum(axis=1) for place in ((total - 1) // 2, total // 2))
    last = len(ordered) - 1
    return np.asarray((ordered[np.minimum(low, last)] + ordered[np.minimum(high, last)]) / 2)


def _places(n: int, resamples: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray | None]:
    """Places in the sorted data of a sample's middle value; for even n of its two middle values."""
    k = (n + 1) // 2
    lower = rng.beta(k, n - k + 1, size=resamples)
    upper = lower + (1 - lower) * rng.beta(1, n - k, size=resamples) if n % 2 == 0 else None
    return _index(lower, n), None if upper is None else _index(upper, n)


@lru_cache(maxsize=64)
def _seeded_places(n: int, resamples: int, seed: int) -> tuple[np.ndarray, np.ndarray | None]:
    """The places depend on the data only through n, so cells of one size share them."""
    return _places(n, resamples, np.random.default_rng(seed))


def _at(ordered: np.ndarray, lower: np.ndarray, upper: np.ndarray | None) -> np.ndarray:
    values: np.ndarray = ordered[lower] if upper is None else (ordered[lower] + ordered[upper]) / 2
    return values


def _index(uniform: np.ndarray, n: int) -> np.ndarray:
    # rounding may push a draw to exactly 0 or 1
    index: np.ndarray = np.clip(np.ceil(n * uniform).astype(np.intp) - 1, 0, n - 1)
    return index
