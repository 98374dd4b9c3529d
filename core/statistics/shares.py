"""Shares with intervals that hold: Wilson's, with the sources as units where several values share one.

A bootstrap of a share has no spread where all answer alike, and covers too rarely beside 0 and 1. Wilson's interval
does neither. Where values come in clusters (votes on one item, pairs of one image, items of one cut-out) the variance
is that of the clusters' sums [2], and the interval that of as many independent values as have this variance [3].

References:
    [1] Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. JASA 22, 209-212.
    [2] Cochran, W. G. (1977). Sampling Techniques, 3rd ed., 3.12 (proportions in cluster sampling).
    [3] Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of
        positive counts estimated from survey data. Survey Methodology 24, 193-201.
    [4] Agresti, A. and Coull, B. A. (1998). Approximate is better than "exact" for interval estimation of binomial
        proportions. The American Statistician 52, 119-126.
    [5] Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures: a general approach.
        Statistics in Medicine 27, 1693-1702.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit

from core.errors import InvalidInput
from core.statistics.bootstrap import Interval, too_few, widened
from core.statistics.crossed_sources import crossed, first_of, unreckoned, widening
from core.statistics.resamples import ranks_of

ONE_SOURCE = "one source has no interval"


def share(values: ArrayLike, *, groups: ArrayLike | None = None, level: float = 0.95) -> Interval:
    """Mean of values between 0 and 1 with its Wilson interval. ``n`` counts values. Without a value no number; one
    source: no interval, and a note. Raises InvalidInput if a value lies outside [0, 1], or the lengths differ.
    ``values``: e.g. right 1, tie 0.5, wrong 0; any shape, NaN are left out.
    ``groups``: source of each value (its item, image or cut-out), [n], or two sources, [n, 2]; None: every value is one
    of its own.

    >>> found = share([True] * 8 + [False] * 2)
    >>> round(found.low, 3), round(found.high, 3)
    (0.49, 0.943)
    """
    flat = np.asarray(values, dtype=np.float64).ravel()
    codes = None if groups is None else np.unique(first_of(groups), return_inverse=True)[1]
    if codes is not None and len(codes) != len(flat):
        raise InvalidInput(f"each value needs its source: got {len(flat)} values and {len(codes)} sources")
    present = ~np.isnan(flat)
    flat = flat[present]
    if len(flat) and not 0 <= flat.min() <= flat.max() <= 1:
        raise InvalidInput(f"a share is of values in [0, 1], got {flat.min():g} to {flat.max():g}")
    if codes is None:
        return share_of_sums(flat, np.ones(len(flat)), level=level)
    codes = codes[present]
    sizes = np.bincount(codes)
    kept = sizes > 0
    sums = np.bincount(codes, flat)[kept]
    if not crossed(groups):
        return share_of_sums(sums, sizes[kept], level=level)
    of = np.asarray(groups)[present]
    times = widening(flat - flat.mean(), of, level=level) if len(flat) else 1.0
    found = share_of_sums(sums, sizes[kept], level=level, times=times)
    return replace(found, note=found.note or unreckoned(of))


def share_of_flags(flags: np.ndarray, *, ranks: np.ndarray | None = None) -> Interval:
    """:func:`share` of whether something is so, where nothing is left to check or to sort: to the bit the same.
    ``flags``: bool [n].
    ``ranks``: of each one's source, int [n], every rank from 0 to m - 1 there; None: every value is one of its own. Or
    two sources, [n, 2]."""
    n, many = len(flags), int(np.count_nonzero(flags))
    if ranks is None and n:
        p = many / n
        return Interval(p, *wilson(p, n), n, 0.95)
    if ranks is None:
        return share_of_sums(flags, flags)
    if crossed(ranks):
        return share(flags, groups=ranks)
    return share_of_sums(np.bincount(ranks, flags), np.bincount(ranks))


def share_of_fractions(values: np.ndarray, *, groups: np.ndarray | None = None, level: float = 0.95) -> Interval:
    """Mean of fractions between 0 and 1, one an item, with the interval of as many votes as have its variance [3].

    Unlike :func:`share`, whose values are yes or no, an item's fraction may spread less than a vote does, and counts
    for more then. Its bounds lie in [0, 1], and it has a length where all fractions are alike. ``n`` counts items.
    Below LEAST_N items or sources: no interval, and a note. ``values``: float64 [n]; NaN are left out; ``groups``:
    source of each, int [n], or two, [n, 2]; None: every item is one of its own."""
    there = ~np.isnan(values)
    own = values[there]
    of = None if groups is None else groups[there]
    ranks = np.arange(len(own)) if of is None else np.unique(first_of(of), return_inverse=True)[1]
    n, sources = len(own), int(ranks.max(initial=-1)) + 1
    if n == 0:
        return Interval(math.nan, math.nan, math.nan, 0, level, "no values")
    p = float(own.mean())
    if said := too_few(n, sources):
        return Interval(p, math.nan, math.nan, n, level, said)
    spread = sources / (sources - 1) * float((np.bincount(ranks, own - p) ** 2).sum()) / n**2
    spread *= widening(own - p, of, level=level) ** 2
    effective = p * (1 - p) / spread if spread > 1e-15 and 0 < p < 1 else float(sources)
    reach = float(stdtrit(sources - 1, (1 + level) / 2))
    return Interval(p, *wilson(p, effective, level=level, reach=reach), n, level, unreckoned(of))


def share_of_sums(sums: ArrayLike, sizes: ArrayLike, *, level: float = 0.95, times: float = 1.0) -> Interval:
    """Share Σ sums / Σ sizes over sources, each a sum of values in [0, 1]; see :func:`share`. ``sums``: of the values
    of each source, shape [sources]; ``times``: of :func:`core.statistics.crossed_sources.widening`, where the values
    have a second source."""
    tops, parts = np.asarray(sums, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    n, sources = int(parts.sum()), len(parts)
    if n == 0:
        return Interval(math.nan, math.nan, math.nan, 0, level, "no values")
    p = float(min(max(tops.sum() / n, 0.0), 1.0))
    if sources == 1 and n > 1:
        return Interval(p, math.nan, math.nan, n, level, ONE_SOURCE)
    if sources == n:
        return Interval(p, *wilson(p, n / times**2, level=level), n, level)
    spread = sources / (sources - 1) * float(((tops - p * parts) ** 2).sum()) / n**2
    # no cluster disagrees within itself, or all agree: the sources are what was seen, not the values
    effective = min(p * (1 - p) / spread, n) if spread > 0 and 0 < p < 1 else float(sources)
    reach = float(stdtrit(sources - 1, (1 + level) / 2))
    return Interval(p, *wilson(p, effective / times**2, level=level, reach=reach), n, level)


def mean_of_shares(shares: Sequence[Interval]) -> Interval:
    """Mean of the shares of several groups, each weighing the same, with the interval that theirs join to [5].

    The distance from the mean to either end is the root of the sum of the squared distances of the groups' own, over
    their number: groups are taken as independent. Unlike a bootstrap it has a length where all answer alike.
    ``shares``: of :func:`share`, one a group, at one level. ``n`` counts the values of all. No number below two groups,
    no interval where a group has none; a note says why.

    >>> found = mean_of_shares([share([True] * 8 + [False] * 2), share([True] * 2 + [False] * 8)])
    >>> round(found.estimate, 3), round(found.low, 3), round(found.high, 3)
    (0.5, 0.329, 0.671)
    """
    n, level = sum(each.n for each in shares), shares[0].level if shares else 0.95
    if len(shares) < 2:
        return Interval(math.nan, math.nan, math.nan, n, level, "a mean of groups takes two")
    mean = sum(each.estimate for each in shares) / len(shares)
    lacking = next((each.note for each in shares if math.isnan(each.low)), "")
    if lacking:
        return Interval(mean, math.nan, math.nan, n, level, f"no interval of the mean: {lacking}")
    below = math.hypot(*(each.estimate - each.low for each in shares)) / len(shares)
    above = math.hypot(*(each.high - each.estimate for each in shares)) / len(shares)
    return Interval(mean, max(mean - below, 0.0), min(mean + above, 1.0), n, level)


def wilson(p: float, n: float, *, level: float = 0.95, reach: float | None = None) -> tuple[float, float]:
    """Wilson's interval [1] of a share p, in [0, 1], of n > 0 independent values; fractions are fine. ``reach``:
    quantile in place of the normal one, e.g. Student's where the variance was estimated."""
    z = float(ndtri((1 + level) / 2)) if reach is None else reach
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return (0.0 if p == 0 else max(middle - half, 0.0)), (1.0 if p == 1 else min(middle + half, 1.0))


def agresti_coull(p: float, n: float, *, reach: float) -> tuple[float, float]:
    """Agresti and Coull's interval [4], as :func:`wilson`: about Wilson's middle, never shorter. Beside 0 and 1 it
    holds the truth more often than is said, where Wilson's may do so more rarely."""
    more = n + reach**2
    middle = (p * n + reach**2 / 2) / more
    half = reach * math.sqrt(middle * (1 - middle) / more)
    return max(middle - half, 0.0), min(middle + half, 1.0)


# Which way scores go beside their median: the share of movers that fall, and the change of the mean score.


NOTHING_MOVES = 1e-12  # a change below this share of the score is rounding: the score stands still


def movers(
    delta: np.ndarray, before: np.ndarray, *, groups: np.ndarray | None = None, level: float = 0.95
) -> tuple[float, Interval]:
    """Share of the items that stand still, and of those that move the share that fall. The result lies in [0, 1], NaN
    without an item; and Wilson's interval, items of one source together, which has no bounds below LEAST_N movers or
    sources of them. ``delta``: change of each item's score, float64 [n]; NaN are left out; ``groups``: source of each
    item, int [n], or two, [n, 2]; None: each is one of its own.

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
