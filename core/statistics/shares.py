"""Shares: how many of n, with an interval that has a width even where all or none are.

References:
    [1] Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. JASA 22, 209-212.
"""

import math

from scipy.special import ndtri

from core.errors import InvalidInput
from core.statistics.bootstrap import Interval


def wilson(successes: int, n: int, *, level: float = 0.95) -> Interval:
    """Share of successes with Wilson's score interval [1].

    Args:
        successes: in [0, n].
        n: independent trials; 0 gives an interval of NaN.
        level: confidence level in (0, 1).

    Raises:
        InvalidInput: if the successes are not among n.

    Example:
        >>> found = wilson(0, 10)
        >>> found.low, round(found.high, 3)
        (0.0, 0.278)
    """
    if not 0 <= successes <= n:
        raise InvalidInput(f"a share is of successes among n, got {successes} of {n}")
    if n == 0:
        return Interval(math.nan, math.nan, math.nan, 0, level, "no values")
    z, share = float(ndtri((1 + level) / 2)), successes / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low, high = (0.0 if successes == 0 else middle - half), (1.0 if successes == n else middle + half)
    return Interval(share, low, high, n, level)
