"""Bootstrap confidence intervals of a median, without resampling.

References:
    [1] Efron, B. (1987). Better bootstrap confidence intervals. JASA 82(397), 171-185.
    [2] David, H. A. and Nagaraja, H. N. (2003). Order Statistics, 3rd ed., sections 2.2 and 2.4.
    [3] Davison, A. C. and Hinkley, D. V. (1997). Bootstrap Methods and their Application, 3.8.
    [4] Hesterberg, T. C. (2015). What teachers should know about the bootstrap. Am. Stat. 69(4), 371-386, 6.1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, stdtrit

from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.crossed_sources import crossed, first_of, unreckoned, widening
from core.statistics.resamples import FEWER, MANY, sample_counts, sample_medians
from core.statistics.wording import counted

# Bootstrap replicates as distinct values, each with how often it was drawn, in order: bounds need no second sort.
_ALL_EQUAL = "all values are equal"


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Replicates of a statistic."""

    values: np.ndarray  # the distinct ones, rising, float64 [m]
    upto: np.ndarray  # draws of each value and of all below it, int64 [m]; the last is the number of draws

    @classmethod
    def of(cls, values: np.ndarray, times: np.ndarray) -> "Draws":
        """Put values in order. ``values``: finite, in any order, float64 [m], m ≥ 1; ``times``: how often each was
        drawn, int [m]."""
        order = np.argsort(values)
        return cls(values[order], np.cumsum(times[order]))

    @classmethod
    def each(cls, values: np.ndarray) -> "Draws":
        """One draw a value, all finite, float64 [n], n ≥ 1."""
        return cls(np.sort(values), np.arange(1, len(values) + 1))

    def __len__(self) -> int:
        """Number of draws."""
        return int(self.upto[-1])

    def same(self) -> bool:
        """Whether every draw is the same value."""
        return bool(self.values[0] == self.values[-1])

    def below(self, value: float) -> float:
        """Share of the draws below a value, those equal to it counted half."""
        places = [int(np.searchsorted(self.values, value, side)) for side in ("left", "right")]
        return sum(int(self.upto[place - 1]) for place in places if place) / (2 * len(self))

    def quantiles(self, shares: np.ndarray) -> np.ndarray:
        """What :func:`numpy.quantile` gives of the draws one by one, float64 of the shares' shape."""
        places = (len(self) - 1) * np.asarray(shares, dtype=np.float64)
        first = np.floor(places)
        low, high = (
            self.values[np.searchsorted(self.upto, each, "right")]
            for each in (first, np.minimum(first + 1, len(self) - 1))
        )
        step, part = high - low, places - first
        return np.asarray(np.where(part < 0.5, low + step * part, high - step * (1 - part)))


RESAMPLES = 10_000  # bootstrap resamples of every interval. Source: paper A, A.6.
LEAST_N = 10  # fewest items, or sources of them, for an interval or a claim: below, it is little more than their range
_FINEST = 1 - 2.0**-50  # the level closest to 1 whose normal quantile is a number


@dataclass(frozen=True, slots=True)
class Interval:
    """A point estimate with its confidence interval."""

    estimate: float  # NaN where there is no value
    low: float  # lower bound; NaN where the interval is not defined
    high: float  # upper bound; likewise
    n: int  # number of finite values behind the estimate
    level: float  # confidence level, e.g. 0.95.
    note: str = ""  # why the interval is missing or exact; empty otherwise

    def numbers(self, times: float = 1) -> tuple[float, float, float]:
        """Estimate, low and high, each so many times as large."""
        return times * self.estimate, times * self.low, times * self.high

    def excludes_zero(self) -> bool:
        """Whether the interval is defined and lies on one side of zero."""
        return self.low > 0 or self.high < 0

    def within(self, margin: float) -> bool:
        """Whether the interval is defined and lies inside ±margin."""
        return self.low > -margin and self.high < margin


def widened(
    found: Interval, influence: ArrayLike, groups: ArrayLike | None, *, within: tuple[float, float] | None = None
) -> Interval:
    """An interval by the first source of values that name two, once the second counts. ``influence``, ``groups``: of
    the values behind it; see :func:`core.statistics.crossed_sources.widening`."""
    if math.isnan(found.low) or not crossed(groups):
        return found
    times, note = widening(influence, groups, level=found.level), found.note or unreckoned(groups)
    low, high = (found.estimate - times * (found.estimate - end) for end in (found.low, found.high))
    if times == 1:
        low, high = found.low, found.high
    elif within is not None:
        low, high = max(low, within[0]), min(high, within[1])
    return replace(found, low=low, high=high, note=note)


def too_few(n: int, sources: int, *, least: int = LEAST_N) -> str:
    """Why so few items have no interval, in words; empty where they are enough.

    >>> too_few(4, 4)
    'no interval (n = 4, below 10)'
    """
    if n < least:
        return f"no interval (n = {n}, below {least})"
    return (
        f"no interval ({counted(n, 'item')} of {counted(sources, 'source')}, below {least})" if sources < least else ""
    )


def draws_for(sources: int, wanted: int | None) -> int:
    """Draws of an interval: as many as are wanted, else RESAMPLES, or FEWER of more than MANY sources."""
    return wanted if wanted is not None else RESAMPLES if sources <= MANY else FEWER


TOO_FEW = "too few items"
TOO_FEW_SOURCES = "too few sources"


def few(items: int, sources: int) -> str:
    """Which of the two are too few for a claim, in words; empty where both are enough."""
    if items < LEAST_N:
        return TOO_FEW
    return TOO_FEW_SOURCES if sources < LEAST_N else ""


def lacks_sources(found: Interval) -> bool:
    """Whether an interval has no bounds because its items, enough by themselves, are of too few sources."""
    return found.n >= LEAST_N and math.isnan(found.low) and " of " in found.note and f", below {LEAST_N})" in found.note


def bootstrap_medians(values: ArrayLike, *, resamples: int, seed: int | tuple[int, ...]) -> np.ndarray:
    """Draw medians of bootstrap samples in O(resamples) after one sort.

    The k-th smallest of n uniform draws is Beta(k, n - k + 1) distributed [2], and a bootstrap sample is x at the
    ceilings of n such draws; so the sample's k-th order statistic is drawn directly. For even n the next order
    statistic follows from the conditional Beta(1, n - k) of the rest. ``values``: finite values, shape [n], n ≥ 1.
    Returns float64 [resamples]."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    return _at(ordered, *_drawn_places(len(ordered), resamples, seed))


def jackknife_medians(values: ArrayLike) -> np.ndarray:
    """Medians with one value left out, in sorted order of the value left out; closed form. ``values``: finite values,
    shape [n], n ≥ 2. Returns float64 [n]."""
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

    Returns the interval. No value: all NaN. Fewer than LEAST_N values or sources: bounds NaN. No resample moves the
    median, since by far most values equal it: both bounds are it, as are those of the exact interval by order
    statistics. Each of these says so in ``note``. Raises InvalidInput if level or resamples is out of range, or a value
    is infinite.
    ``values``: values of any shape; NaN are left out and not counted in ``n``.
    ``groups``: number of the source of each value; see :func:`median_bca_levels`.
    ``seed``: seed of the draws; the same values give the same interval.
    Source: PROTOCOL section 3 (paper A, A.6).

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
    ``levels``: confidence levels.
    ``groups``: number of the source of each value, int [n]: values of one source are resampled together, and left out
    together by the jackknife (the cluster bootstrap [3]), at a level :func:`expanded` for their number. None: every
    value is its own source. Of two sources, [n, 2], the second makes it :func:`widened`."""
    _check(levels, resamples)
    finite = np.asarray(values, dtype=np.float64).ravel()
    present = ~np.isnan(finite)
    if groups is not None and crossed(groups):
        alone = median_bca_levels(finite, levels=levels, groups=first_of(groups), resamples=resamples, seed=seed)
        finite, of = finite[present], groups[present]
        ends = (finite.min(initial=math.inf), finite.max(initial=-math.inf))
        return tuple(widened(each, np.sign(finite - each.estimate), of, within=ends) for each in alone)
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
    count = n if sources is None else int(sources.max()) + 1
    if said := too_few(n, count):
        return tuple(Interval(estimate, math.nan, math.nan, n, level, said) for level in levels)
    if finite[0] == finite[-1]:
        return tuple(Interval(estimate, estimate, estimate, n, level, f"{_ALL_EQUAL}: exact bound") for level in levels)
    if sources is None:
        lower, upper, times = _seeded_places(n, resamples, seed)
        drawn, left_out = Draws.of(_at(finite, lower, upper), times), jackknife_medians(finite)
    else:
        medians, left_out = source_medians(finite, sources[order], resamples=resamples, seed=seed)
        drawn = Draws.each(medians)
    if drawn.same():
        said = f"{int((finite == estimate).sum())} of {n} values equal the median: exact bound"
        return tuple(Interval(estimate, estimate, estimate, n, level, said) for level in levels)
    a = acceleration(left_out.mean() - left_out)
    drawn_at = levels if sources is None else [expanded(level, count) for level in levels]
    found = [bca_bounds(drawn, estimate=estimate, acceleration=a, level=at) for at in drawn_at]
    tied = f"{int((finite == estimate).sum())} of {n} values equal the median: exact bound"
    return tuple(
        Interval(estimate, low, high, n, level, tied if low == high else "")
        for level, (low, high) in zip(levels, found, strict=True)
    )


def no_point(found: Interval) -> Interval:
    """A median's interval, none where all values are equal: what does not vary tells nothing of what else it may be."""
    if not found.note.startswith(_ALL_EQUAL):
        return found
    return replace(found, low=math.nan, high=math.nan, note=f"{_ALL_EQUAL}: no interval")


def _check(levels: Sequence[float], resamples: int) -> None:
    for level in levels:
        if not 0 < level < 1:
            raise InvalidInput(f"level must lie in (0, 1), got {level!r}")
    if resamples < 1:
        raise InvalidInput(f"resamples must be at least 1, got {resamples!r}")


def source_medians(
    values: np.ndarray, sources: np.ndarray, *, resamples: int = RESAMPLES, seed: int | tuple[int, ...] = RUN_SEED
) -> tuple[np.ndarray, np.ndarray]:
    """Medians of samples of whole sources, and of all sources but one each in turn. ``values``: finite, float64 [n];
    ``sources``: rank of each value's source, int [n], every rank from 0 to m - 1 there; m > 1. Returns float64
    [resamples] and [m]."""
    drawn = sample_counts(len(values), resamples, sources=sources, seed=seed)
    left_out = (1 - np.eye(int(sources.max()) + 1, dtype=np.int16))[:, sources]
    return sample_medians(values, drawn), sample_medians(values, left_out)


def adjusted_level(of: int) -> float:
    """Level of the interval of whatever was picked as the largest of several, so that it holds as often as is said.

    >>> round(adjusted_level(5), 4)
    0.99
    """
    return 1 - (1 - 0.95) / max(of, 1)


def expanded(level: float, sources: int, *, fitted: int = 1) -> float:
    """Level at which the interval of a bootstrap over so many sources holds what it names [4].

    Resamples of few sources vary too little, by √(1 - k/m) where k parameters are fitted to m sources, and the normal
    quantile is Student's for them.
    ``level``: nominal, in (0, 1). ``sources``: m, above ``fitted``.
    ``fitted``: k; 1: a mean."""
    left = sources - fitted
    reach = math.sqrt(sources / left) * float(stdtrit(left, (1 + level) / 2))
    return min(float(2 * ndtr(reach) - 1), _FINEST)


def bca_bounds(drawn: np.ndarray | Draws, *, estimate: float, acceleration: float, level: float) -> tuple[float, float]:
    """Bounds of a BCa interval from what was drawn: steps 2 and 4 of :func:`median_bca`. ``drawn``: bootstrap
    replicates of the statistic, finite, shape [resamples]; ``acceleration``: a in [1]; see :func:`acceleration`."""
    own = drawn if isinstance(drawn, Draws) else Draws.each(drawn)
    # a share of 0 or 1 has no finite quantile; half a resample is the finest that the draws resolve
    finest = 0.5 / len(own)
    z0 = ndtri(min(max(own.below(estimate), finest), 1 - finest))
    z = ndtri([(1 - level) / 2, (1 + level) / 2])
    reach = z0 + z
    scale = 1 - acceleration * reach
    # at a level close to 1 the denominator may reach 0: from there on the bound is the furthest draw
    shares = ndtr(z0 + np.divide(reach, scale, out=np.copysign(math.inf, reach), where=scale > 0))
    low, high = own.quantiles(shares)
    return float(low), float(high)


def acceleration(influence: np.ndarray) -> float:
    """Acceleration Σd³ / (6 (Σd²)^1.5) of a BCa interval [1]; 0 where nothing has any influence. ``influence``: d,
    shape [n]: the jackknife mean minus the jackknife values, or the empirical influence."""
    d = np.asarray(influence, dtype=np.float64)
    scale = np.abs(d).max(initial=0.0)
    if scale == 0:
        return 0.0
    d = d / scale  # a has no unit; scaling keeps tiny differences from underflowing
    return float((d**3).sum() / (6 * (d**2).sum() ** 1.5))


def _sources(groups: np.ndarray | None, present: np.ndarray) -> np.ndarray | None:
    """Rank of each present value's source; None where each is one of its own."""
    if groups is None:
        return None
    names, ranks = np.unique(np.asarray(groups).ravel()[present], return_inverse=True)
    return None if len(names) == len(ranks) else ranks


def _places(n: int, resamples: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray | None]:
    """Places in the sorted data of a sample's middle value; for even n of its two middle values."""
    k = (n + 1) // 2
    lower = rng.beta(k, n - k + 1, size=resamples)
    upper = lower + (1 - lower) * rng.beta(1, n - k, size=resamples) if n % 2 == 0 else None
    return _index(lower, n), None if upper is None else _index(upper, n)


@lru_cache(maxsize=64)  # at most 80 kB each
def _drawn_places(n: int, resamples: int, seed: int | tuple[int, ...]) -> tuple[np.ndarray, np.ndarray | None]:
    """The pairs of middle places in the order in which they were drawn; they depend on the data only through n."""
    lower, upper = _places(n, resamples, np.random.default_rng(seed))
    return lower.astype(np.int32), None if upper is None else upper.astype(np.int32)


@lru_cache(maxsize=1024)  # at most 30 kB each for 10 000 values, mostly much less
def _seeded_places(n: int, resamples: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distinct pairs of middle places, and how often each was drawn.

    They depend on the data only through n, so cells of one size share them; around the middle of the data few differ.
    """
    lower, upper = _places(n, resamples, np.random.default_rng(seed))
    further = np.zeros_like(lower) if upper is None else upper - lower
    start, wide = int(lower.min()), int(further.max()) + 1
    times = np.bincount((lower - start) * wide + further)  # few places around the middle: counted, not sorted
    pairs = np.flatnonzero(times)
    first, apart = np.divmod(pairs, wide)
    first = first.astype(np.int32) + np.int32(start)
    return first, first + apart.astype(np.int32), times[pairs].astype(np.int32)


def _at(ordered: np.ndarray, lower: np.ndarray, upper: np.ndarray | None) -> np.ndarray:
    return np.asarray(ordered[lower] if upper is None else (ordered[lower] + ordered[upper]) / 2)


def _index(uniform: np.ndarray, n: int) -> np.ndarray:
    # rounding may push a draw to exactly 0 or 1
    return np.asarray(np.clip(np.ceil(n * uniform).astype(np.intp) - 1, 0, n - 1))
