"""The change of a score: what a percent change is, and what an item counts where it has several."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from core.errors import InvalidInput
from core.statistics.arithmetic import row_medians
from core.statistics.bootstrap import Interval, too_few, widened
from core.statistics.crossed_sources import first_of
from core.statistics.resamples import ranks_of
from core.statistics.shares import share

SHIFT_FLOOR = 1e-6
"""Baselines below this have no percent change, negative ones neither: divided by one, a rise would read as a fall. They
are counted. Source: PROTOCOL section 3."""

NULL_SHARE = 0.95
"""Share of invisible edits whose |% change| lies inside the noise band of single pairs."""

SURE = 20
"""Fewest invisible edits of which one in twenty may lie outside the band."""


@dataclass(frozen=True, slots=True)
class NullBand:
    """How far invisible edits move a score, whichever way: the noise that one shift is read against."""

    reach: float  # the 95th percentile of their |% change|; the band is ±reach. NaN where there is none.
    n: int  # shifts behind it
    # median absolute unedited score of the run that the band is of; NaN where it is of no run
    typical: float = math.nan

    def holds(self, percent: float) -> bool:
        """Whether a shift in percent lies inside the band."""
        return abs(percent) <= self.reach


def null_band(percent: ArrayLike) -> NullBand:
    """The noise band of single pairs, of an evaluator's shifts under invisible edits.

    Args:
        percent: % change of every pair, any shape; NaN are left out.

    Example:
        >>> null_band([-2.0, 0.0, 1.0]).n
        3
    """
    sizes = np.abs(np.asarray(percent, dtype=np.float64)).ravel()
    sizes = sizes[~np.isnan(sizes)]
    return NullBand(float(np.quantile(sizes, NULL_SHARE)) if len(sizes) else math.nan, len(sizes))


def percent_change(after: ArrayLike, before: ArrayLike) -> np.ndarray:
    """% change = 100 · (after - before) / before; NaN where before is below SHIFT_FLOOR or a score is missing.

    Args:
        before: scores of their baselines, the same shape.

    Returns:
        float64 of that shape.

    Source: PROTOCOL section 3 (paper A, 3.3).

    Example:
        >>> percent_change([0.5, 0.5, -0.3], [0.4, 0.0, -0.4]).round(1)
        array([25., nan, nan])
    """
    first = np.asarray(before, dtype=np.float64)
    floored = np.where(first >= SHIFT_FLOOR, first, math.nan)
    return np.asarray(100 * (np.asarray(after, dtype=np.float64) - first) / floored)


WITHHELD = "% change withheld: some baseline scores are negative"


def percent_changes(after: ArrayLike, before: ArrayLike) -> np.ndarray:
    """:func:`percent_change` of one evaluator's pairs; NaN throughout where a baseline is negative, see WITHHELD.

    A percent change of a negative score has the wrong sign, and without those pairs the others are a choice by score.
    """
    first = np.asarray(before, dtype=np.float64)
    found = percent_change(after, first)
    return np.full(found.shape, math.nan) if bool((first < 0).any()) else found


def item_medians(values: np.ndarray) -> np.ndarray:
    """Median over probes of each item, so that an item counts once: float64 [k, n] to [n], NaN left out."""
    return row_medians(np.ascontiguousarray(values))


@dataclass(frozen=True, slots=True)
class Changes:
    """What some edits do to every item under one evaluator; an item counts once, by the median over the edits."""

    # median % change, float64 [N]; NaN where no baseline is above the floor, and where it is withheld
    percent: np.ndarray
    size: np.ndarray  # median |% change|, likewise
    edits: np.ndarray  # |% change| of every edit, float32 [k, N]; likewise
    delta: np.ndarray  # median Δ on the score's own scale, float64 [N]; NaN where no pair was scored
    baseline: np.ndarray  # median score of the baselines whose pair was scored, likewise
    n_shifts: np.ndarray  # shifts with a % change, int [N]
    n_zero_baseline: np.ndarray  # scored shifts without one: the baseline lies below the floor
    n_missing: np.ndarray  # shifts without a score, of the variant or of its baseline
    # items whose % change is withheld, since a baseline of their corpus is negative, bool [N]: among scores of both
    # signs the rest would be a choice of items by their score
    withheld: np.ndarray

    @classmethod
    def of(cls, after: np.ndarray, before: np.ndarray, stored: np.ndarray, withheld: np.ndarray) -> "Changes":
        """Changes from one score to another.

        Args:
            after, before: scores under each edit and of its baseline, float64 [k, N]; NaN where there is none.
            stored: whether the pair is stored, scored or not, bool [k, N].
        """
        delta, percent = after - before, percent_change(after, before)
        scored, counted = ~np.isnan(delta), ~np.isnan(percent)
        percent = np.where(withheld, math.nan, percent)
        return cls(
            percent=item_medians(percent),
            size=item_medians(np.abs(percent)),
            edits=np.abs(percent).astype(np.float32),
            delta=item_medians(delta),
            baseline=item_medians(np.where(scored, before, math.nan)),
            n_shifts=counted.sum(axis=0),
            n_zero_baseline=(scored & ~counted).sum(axis=0),
            n_missing=(stored & ~scored).sum(axis=0),
            withheld=withheld,
        )


AT_THE_MARGIN = 1e-6
"""A |% change| that exceeds the margin by less than this share of it is at the margin: rounding decides nothing."""


def exceeds(sizes: np.ndarray, margin: float) -> np.ndarray:
    """Which |% change| lie beyond a margin, bool; NaN do not.

    Example:
        >>> exceeds(np.array([1.0, 1.0000000001, 1.1]), 1.0)
        array([False, False,  True])
    """
    return np.asarray(sizes > margin * (1 + AT_THE_MARGIN))


def interquartile_range(values: ArrayLike) -> float:
    """Distance from the first to the third quartile, NaN left out; NaN without a value."""
    present = np.asarray(values, dtype=np.float64).ravel()
    present = present[~np.isnan(present)]
    if len(present) == 0:
        return math.nan
    low, high = np.quantile(present, [0.25, 0.75])
    return float(high - low)


def standard_deviation(values: ArrayLike) -> float:
    """Sample standard deviation, NaN left out; NaN below two values, exactly 0 where all are equal."""
    present = np.asarray(values, dtype=np.float64).ravel()
    present = present[~np.isnan(present)]
    if len(present) < 2:
        return math.nan
    if np.ptp(present) == 0:
        return 0.0
    _, power = np.frexp(np.abs(present).max())  # by a power of two, which rounds nothing, squares stay numbers
    return float(np.ldexp(np.ldexp(present, -int(power)).std(ddof=1), int(power)))


# Which way scores go beside their median: the share of movers that fall, and the change of the mean score.


NOTHING_MOVES = 1e-12
"""A change below this share of the score is rounding: the score stands still."""


def movers(
    delta: np.ndarray, before: np.ndarray, *, groups: np.ndarray | None = None, level: float = 0.95
) -> tuple[float, Interval]:
    """Share of the items that stand still, and of those that move the share that fall.

    Args:
        delta: change of each item's score, float64 [n]; NaN are left out.
        groups: source of each item, int [n], or two, [n, 2]; None: each is one of its own.
        level: confidence level.

    Returns:
        In [0, 1], NaN without an item; and Wilson's interval, items of one source together, which has no bounds below
        LEAST_N movers or sources of them.

    Example:
        >>> still, falls = movers(np.array([0.0, -1.0, -1.0, 1.0]), np.ones(4))
        >>> still, round(falls.estimate, 2)
        (0.25, 0.67)
    """
    known = ~np.isnan(delta)
    moved = known & (np.abs(delta) > NOTHING_MOVES * np.abs(before))
    own = None if groups is None else groups[moved]
    falls = share(delta[moved] < 0, groups=own, level=level)
    few = too_few(falls.n, falls.n if own is None else len(np.unique(first_of(own))))
    if few and falls.n:
        falls = Interval(falls.estimate, math.nan, math.nan, falls.n, falls.level, few)
    return (1 - falls.n / int(known.sum()) if known.any() else math.nan), falls


def mean_changes(
    delta: np.ndarray, before: np.ndarray, *, levels: Sequence[float], groups: np.ndarray | None = None
) -> tuple[Interval, ...]:
    """Change of the mean score in percent of the mean before, 100 · Σ delta / Σ before, with intervals.

    A ratio of means: an item whose score is about 0 counts what it moves, and not many times that. Student's interval
    of the ratio's linearisation, whose residuals are summed within sources.

    Args:
        delta, before, groups: see :func:`movers`.
        levels: confidence levels.

    Returns:
        One interval a level. NaN where the sum of the scores before is not above 0; no bounds below LEAST_N items or
        sources, nor where all change by the same percent.

    Raises:
        InvalidInput: if a score is infinite.

    Source: Cochran, W. G. (1977). Sampling Techniques, 3rd ed., 6.4, with the sums of clusters as in 9A.

    Example:
        >>> found = mean_changes(np.array([-1.0, -3.0] * 10), np.full(20, 10.0), levels=(0.95,))[0]
        >>> round(found.estimate, 2), round(found.low, 2), round(found.high, 2)
        (-20.0, -24.8, -15.2)
    """
    known = ~np.isnan(delta)
    if np.isinf(delta[known]).any() or np.isinf(before[known]).any():
        raise InvalidInput("scores must be finite or NaN, got an infinite one; drop it and count it")
    # a ratio knows no unit: by a power of two, which rounds nothing, squares of huge or tiny scores stay numbers
    _, power = np.frexp(np.abs([delta[known], before[known]]).max(initial=0))
    moved, whole = np.ldexp(delta[known], -int(power)), np.ldexp(before[known], -int(power))
    n, total = len(moved), float(whole.sum())
    if not total > 0:
        return tuple(Interval(math.nan, math.nan, math.nan, n, level, "nothing to divide by") for level in levels)
    ratio = float(moved.sum()) / total
    own = None if groups is None else groups[known]
    apart, ranks = moved - ratio * whole, ranks_of(own, n)
    sums = apart if ranks is None else np.bincount(ranks, apart)
    sources = len(sums)
    if said := too_few(n, sources):
        return tuple(Interval(100 * ratio, math.nan, math.nan, n, level, said) for level in levels)
    error = math.sqrt(sources / (sources - 1) * float((sums**2).sum())) / total
    if not error > 0:
        none = "every score changes by the same percent: no interval of the mean"
        return tuple(Interval(100 * ratio, math.nan, math.nan, n, level, none) for level in levels)
    reach = [float(stdtrit(sources - 1, (1 + level) / 2)) * error for level in levels]
    return tuple(
        widened(Interval(100 * ratio, 100 * (ratio - each), 100 * (ratio + each), n, level), apart, own)
        for each, level in zip(reach, levels, strict=True)
    )
