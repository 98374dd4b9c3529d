"""Do independent groups have one effect? What their intervals allow to say.

References:
    [1] Cochran, W. G. (1954). The combination of estimates from different experiments. Biometrics 10(1), 101-129.
    [2] Higgins, J. P. T. and Thompson, S. G. (2002). Quantifying heterogeneity in a meta-analysis. Statistics in
        Medicine 21(11), 1539-1558.
    [3] Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures: a general approach.
        Statistics in Medicine 27(10), 1693-1702.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import chndtrinc, ndtri

from core.errors import InvalidInput
from core.statistics.bootstrap import Interval
from core.statistics.power import POWER


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """How far the effects of several groups lie apart, beside what chance alone would give."""

    q: float  # Cochran's Q [1]; NaN where there is none
    p: float  # of Q under χ² with k - 1 degrees of freedom
    share: float  # I² [2], share of the spread between groups that is beyond chance, in percent, in [0, 100]
    k: int  # groups that took part
    # least spread of the true effects that Q, at these intervals, finds with a power of POWER; see
    # :func:`least_spread`
    detectable: float
    note: str = ""  # why there is no test, or what was left out; empty otherwise


def heterogeneity(estimates: ArrayLike, lows: ArrayLike, highs: ArrayLike, *, level: float = 0.95) -> Heterogeneity:
    """Cochran's Q and I² of independent estimates, each weighing by its interval.

    An estimate's standard error is the width of its interval over twice the normal quantile: exact for a Wald interval,
    close for a BCa one that is not lopsided. With few groups Q finds little: a large p is no proof that the effects are
    one. ``estimates``: one a group, shape [k]; ``lows``: lower bounds; a group without an interval of some width is
    left out. Raises InvalidInput if the shapes differ.

    Returns:
        See :class:`Heterogeneity`; without a test below two groups.
    """
    values, low, high = _columns(estimates, lows, highs)
    whole = np.isfinite(values) & (high > low)
    left_out = f"{int((~whole).sum())} without an interval left out" if not whole.all() else ""
    k = int(whole.sum())
    if k < 2:
        return Heterogeneity(math.nan, math.nan, math.nan, k, math.nan, "fewer than two with an interval")
    weights = (2 * -ndtri((1 - level) / 2) / (high[whole] - low[whole])) ** 2
    centre = float(weights @ values[whole] / weights.sum())
    q = float(weights @ (values[whole] - centre) ** 2)
    share = 100 * max(0.0, (q - (k - 1)) / q) if q > 0 else 0.0
    return Heterogeneity(q, float(stats.chi2.sf(q, k - 1)), share, k, least_spread(weights), left_out)


def least_spread(weights: ArrayLike) -> float:
    """Least spread of true effects that Cochran's Q of groups of such weights finds at 0.05, with POWER.

    The spread is the standard deviation of the groups' true effects, each weighing as in Q: √(Σ w (θ - θ̄)² / Σ w).
    Under it Q is noncentral χ² with k - 1 degrees of freedom and noncentrality spread² · Σ w, whatever the pattern.
    ``weights``: inverse squared standard error of each group, shape [k], k ≥ 2.

    Returns:
        On the scale of the effects.

    Example:
        >>> round(least_spread([1.0, 1.0]) * 2 / 2**0.5, 2)  # of two: a difference of 2.80 standard errors of it
        2.8
    """
    each = np.asarray(weights, dtype=np.float64).ravel()
    degrees = len(each) - 1
    return math.sqrt(float(chndtrinc(stats.chi2.isf(0.05, degrees), degrees, 1 - POWER)) / float(each.sum()))


def difference(one: Interval, other: Interval) -> Interval:
    """Difference of two independent estimates with its interval, from their own intervals, lopsided or not [3]. Returns
    one minus other; NaN bounds where one of the two has none. n: the smaller of the two. Raises InvalidInput if the
    levels differ.

    Example:
        >>> found = difference(Interval(5.0, 2.0, 9.0, 20, 0.95), Interval(1.0, -3.0, 4.0, 30, 0.95))
        >>> found.estimate, round(found.low, 3), round(found.high, 3)
        (4.0, -0.243, 9.657)
    """
    if one.level != other.level:
        raise InvalidInput(f"two intervals are compared at one level, got {one.level} and {other.level}")
    value = one.estimate - other.estimate
    below = math.hypot(one.estimate - one.low, other.high - other.estimate)
    above = math.hypot(one.high - one.estimate, other.estimate - other.low)
    note = "" if math.isfinite(below + above) else "no interval on one side"
    return Interval(value, value - below, value + above, min(one.n, other.n), one.level, note)


def _columns(*columns: ArrayLike) -> tuple[np.ndarray, ...]:
    found = tuple(np.asarray(each, dtype=np.float64).ravel() for each in columns)
    if len({len(each) for each in found}) != 1:
        raise InvalidInput(f"estimates and bounds come in equal numbers, got {[len(each) for each in found]}")
    return found
