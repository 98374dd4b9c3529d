"""Which way scores go beside their median: the share of movers that fall, and the change of the mean score."""

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from core.errors import InvalidInput
from core.statistics.bootstrap import Interval, too_few, widened
from core.statistics.crossed_sources import first_of
from core.statistics.resamples import ranks_of
from core.statistics.shares import share

NOTHING_MOVES = 1e-12
"""A change below this share of the score is rounding: the score stands still."""


def movers(
    delta: np.ndarray, before: np.ndarray, *, groups: np.ndarray | None = None, level: float = 0.95
) -> tuple[float, Interval]:
    """Share of the items that stand still, and of those that move the share that fall. The result lies in [0, 1], NaN
    without an item; and Wilson's interval, items of one source together, which has no bounds below LEAST_N movers or
    sources of them. ``delta``: change of each item's score, float64 [n]; NaN are left out; ``groups``: source of each
    item, int [n], or two, [n, 2]; None: each is one of its own.

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
    of the ratio's linearisation, whose residuals are summed within sources. ``delta``, ``before``, ``groups``: see
    :func:`movers`; ``levels``: confidence levels. Returns one interval a level. NaN where the sum of the scores before
    is not above 0; no bounds below LEAST_N items or sources, nor where all change by the same percent. Raises
    InvalidInput if a score is infinite.

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
