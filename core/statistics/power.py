"""What a sample could have shown, and what a planned one can: the smallest effect, and the n that a margin needs.

References:
    [1] Julious, S. A. (2004). Sample sizes for clinical trials with Normal data. Statistics in Medicine 23, 1921-1986.
    [2] van der Vaart, A. W. (1998). Asymptotic Statistics, sections 14.1 and 21.2: efficiencies under normal data.
    [3] Fieller, E. C., Hartley, H. O. and Pearson, E. S. (1957). Tests for rank correlation coefficients. I.
        Biometrika 44, 470-481.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import betaincinv, chndtrinc, ndtri

from core.errors import InvalidInput
from core.statistics.bootstrap import Interval
from core.statistics.shares import wilson

POWER = 0.8  # probability with which an effect is to be found
LEVEL = 0.05  # two-sided level at which it is to be found

EFFICIENCY = {"median": 2 / math.pi, "Wilcoxon": 3 / math.pi, "paired t": 1.0}
"""Asymptotic relative efficiency against the mean where shifts are normal [2]: n items count like n times as many."""

FOUND = float(ndtri(1 - LEVEL / 2)) + float(ndtri(POWER))
"""Standard errors that an effect must be away from 0: z₀.₉₇₅ + z₀.₈."""


def among(tests: int) -> float:
    """How many times as large an effect must be to be found as one of several tests, each at LEVEL over their number.

    >>> among(1), round(among(5), 3)
    (1.0, 1.22)
    """
    return (float(ndtri(1 - LEVEL / (2 * max(tests, 1)))) + float(ndtri(POWER))) / FOUND


@dataclass(frozen=True, slots=True)
class Reach:
    """What an interval of a median says of the sample behind it."""

    # smallest true median that the 95 % interval would exclude 0 for, with probability POWER; NaN where the interval
    # has no width
    detectable: float
    # items that would place the 90 % interval inside the margin with probability POWER if the true median were 0; NaN
    # likewise
    needed: float


def reach(interval: Interval, *, margin: float) -> Reach:
    """Power of a median, from the width of its interval.

    The standard error is half the interval's width over the normal quantile of its level; it falls with √n. Found with
    probability 0.8 at two-sided 5 %: (z₀.₉₇₅ + z₀.₈) · SE. Equivalence by two one-sided tests at 5 %, the true median
    being 0: n · ((z₀.₉₅ + z₀.₉) · SE / margin)² [1]. ``interval``: of a median; its level gives the quantile;
    ``margin``: equivalence margin, in the unit of the interval; NaN where there is none.

    >>> reach(Interval(0.0, -1.96, 1.96, 100, 0.95), margin=1.0).needed
    857
    """
    width = interval.high - interval.low
    if not width > 0:
        return Reach(math.nan, math.nan)
    error = width / (2 * float(ndtri((1 + interval.level) / 2)))
    found = FOUND * error
    equal = (float(ndtri(0.95)) + float(ndtri((1 + POWER) / 2))) * error / margin
    return Reach(found, math.nan if math.isnan(equal) else math.ceil(interval.n * equal**2))


def rescaled(detectable: float, *, n: int, planned: int) -> float:
    """What :class:`Reach` calls detectable, for another number of items of the same spread: it falls with √n.
    ``planned``: items that there will be; 0 gives NaN."""
    return detectable * math.sqrt(n / planned) if planned > 0 else math.nan


def smallest_effect(n: int, *, test: str = "median") -> float:
    """Smallest shift that n items find with probability POWER, where nothing is known of their spread.

    In standard deviations of the items' own shifts, were these normal: (z₀.₉₇₅ + z₀.₈) / √(n · ARE) [2]. ``n``: items;
    0 gives NaN; ``test``: of EFFICIENCY: ``median`` for the interval of a median, which a drift is claimed by.

    >>> round(smallest_effect(100), 3), round(smallest_effect(100, test="paired t"), 3)
    (0.351, 0.28)
    """
    if test not in EFFICIENCY:
        raise InvalidInput(f"the efficiency of {', '.join(EFFICIENCY)} is known, got {test!r}")
    return FOUND / math.sqrt(n * EFFICIENCY[test]) if n > 0 else math.nan


def smallest_share(n: int) -> float:
    """Smallest share above one half that the exact two-sided sign test of n items finds with probability POWER.

    The test rejects from c successes on, the least c with Pr[X ≥ c] ≤ LEVEL / 2 at one half; the share p solves Pr[X ≥
    c] = I_p(c, n - c + 1) = POWER. The result lies in (0.5, 1); NaN below 6 items, of which not even all on one side
    reject.

    >>> round(smallest_share(100), 3)
    0.645
    """
    critical = int(stats.binom.isf(LEVEL / 2, n, 0.5)) + 1 if n > 0 else 1
    if critical > n:
        return math.nan
    return float(betaincinv(critical, n - critical + 1, POWER))


def smallest_rho(n: int) -> float:
    """Smallest Spearman correlation that n pairs find with probability POWER.

    By Fisher's z, whose variance of a rank correlation is 1.06 / (n - 3) [3]. The result lies in (0, 1); NaN of three
    pairs or fewer.

    >>> round(smallest_rho(30), 3)
    0.504
    """
    return math.tanh(FOUND * math.sqrt(1.06 / (n - 3))) if n > 3 else math.nan


def widest_half(n: int) -> float:
    """Half the width of Wilson's 95 % interval of a share of n items where it is widest, at one half; NaN of none."""
    low, high = wilson((n // 2) / n, n) if n > 0 else (math.nan, math.nan)
    return (high - low) / 2


def items_within(half: float) -> int:
    """Fewest items with which every share is known to within ±half: the n at which :func:`widest_half` falls to it.
    ``half``: half the width of Wilson's 95 % interval, in (0, 0.5).

    >>> items_within(0.05)
    381
    """
    if not 0 < half < 0.5:
        raise InvalidInput(f"half the width of a share's interval lies in (0, 0.5), got {half!r}")
    z = float(ndtri(1 - LEVEL / 2))
    return max(1, math.ceil((z / (2 * half)) ** 2 - z**2 - 1e-9))  # Wilson's at one half, turned round


def items_for_share(least: float) -> int:
    """Fewest items from which on the exact sign test finds such a share with probability POWER; not one less does.
    ``least``: share above one half, in (0.5, 1); see :func:`smallest_share`, which is no steady function of n.

    >>> smallest_share(items_for_share(0.6)) <= 0.6
    True
    """
    if not 0.5 < least < 1:
        raise InvalidInput(f"a share that is to be told from one half lies in (0.5, 1), got {least!r}")
    n = math.ceil(1.3 * (FOUND / (2 * (least - 0.5))) ** 2) + 40  # above what the normal approximation asks for
    while n > 1 and smallest_share(n - 1) <= least:
        n -= 1
    return n


def least_agreement(voters: int, answers: int) -> float:
    """Share of equal pairs among the votes on one item when they are spread as evenly as can be; NaN of one voter."""
    if voters < 2:
        return math.nan
    each, more = divmod(voters, answers)
    equal = more * (each + 1) * each + (answers - more) * each * (each - 1)
    return equal / (voters * (voters - 1))


def widest_agreement(n: int, voters: int, answers: int) -> float:
    """Bound on half the width of the 95 % interval of percent agreement over n items.

    An item's share of equal pairs lies between :func:`least_agreement` and 1, so its variance is at most that of a
    coin between the two: the half width of a share, times the distance."""
    return (1 - least_agreement(voters, answers)) * widest_half(n)


# Do independent groups have one effect? What their intervals allow to say, and could have shown.
#
# References:
#     [1] Cochran, W. G. (1954). The combination of estimates from different experiments. Biometrics 10(1), 101-129.
#     [2] Higgins, J. P. T. and Thompson, S. G. (2002). Quantifying heterogeneity in a meta-analysis. Statistics in
#         Medicine 21(11), 1539-1558.
#     [3] Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures: a general approach.
#         Statistics in Medicine 27(10), 1693-1702.


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
    Returns: see :class:`Heterogeneity`; without a test below two groups."""
    values, low, high = (np.asarray(each, dtype=np.float64).ravel() for each in (estimates, lows, highs))
    if not len(values) == len(low) == len(high):
        raise InvalidInput(
            f"estimates and bounds come in equal numbers, got {[len(each) for each in (values, low, high)]}"
        )
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
    Returns: on the scale of the effects.

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
