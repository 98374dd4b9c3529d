"""What a sample could have shown: the smallest effect, and the n that a margin needs.

References:
    [1] Julious, S. A. (2004). Sample sizes for clinical trials with Normal data. Statistics in Medicine 23, 1921-1986.
"""

import math
from dataclasses import dataclass

from scipy.special import ndtri

from core.statistics.bootstrap import Interval

POWER = 0.8
"""Probability with which an effect is to be found."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What an interval of a median says of the sample behind it.

    Args:
        detectable: smallest true median that the 95 % interval would exclude 0 for, with probability POWER; NaN where
            the interval has no width.
        needed: items that would place the 90 % interval inside the margin with probability POWER if the true median
            were 0; NaN likewise.
    """

    detectable: float
    needed: float


def reach(interval: Interval, *, margin: float) -> Reach:
    """Power of a median, from the width of its interval.

    The standard error is half the interval's width over the normal quantile of its level; it falls with √n. Found with
    probability 0.8 at two-sided 5 %: (z₀.₉₇₅ + z₀.₈) · SE. Equivalence by two one-sided tests at 5 %, the true median
    being 0: n · ((z₀.₉₅ + z₀.₉) · SE / margin)² [1].

    Args:
        interval: of a median; its level gives the quantile.
        margin: equivalence margin, in the unit of the interval.

    Example:
        >>> reach(Interval(0.0, -1.96, 1.96, 100, 0.95), margin=1.0).needed
        857
    """
    width = interval.high - interval.low
    if not width > 0:
        return Reach(math.nan, math.nan)
    error = width / (2 * float(ndtri((1 + interval.level) / 2)))
    found = (float(ndtri(0.975)) + float(ndtri(POWER))) * error
    equal = (float(ndtri(0.95)) + float(ndtri((1 + POWER) / 2))) * error / margin
    return Reach(found, math.ceil(interval.n * equal**2))
