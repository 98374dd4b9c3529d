"""The share of items of which something holds, with its interval.

References:
    [1] Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. JASA 22, 209-212.
    [2] Rao, J. N. K. and Scott, A. J. (1992). A simple method for the analysis of clustered binary data. Biometrics
        48(2), 577-585.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from core.statistics.bootstrap import Interval


def share(hits: ArrayLike, *, groups: np.ndarray | None = None, level: float = 0.95) -> Interval:
    """Share of items with its Wilson interval [1]; with sources, on the effective number of items [2].

    Items of one source are no independent ones: n is divided by the design effect, the variance of the share over
    sources against that of as many independent items, where it is above 1.

    Args:
        hits: of each item, bool [n].
        groups: number of the source of each item, int [n]; None: every item is one of its own.
        level: confidence level in (0, 1).

    Returns:
        In [0, 1]; NaN without an item.

    Example:
        >>> found = share([True, True, False, False])
        >>> found.estimate, round(found.low, 3), round(found.high, 3)
        (0.5, 0.15, 0.85)
    """
    marked = np.asarray(hits, dtype=np.float64).ravel()
    n = len(marked)
    if n == 0:
        return Interval(math.nan, math.nan, math.nan, 0, level, "no values")
    p = float(marked.mean())
    effective = n / _design_effect(marked, groups)
    square = float(ndtri((1 + level) / 2)) ** 2
    centre = (p + square / (2 * effective)) / (1 + square / effective)
    half = math.sqrt(square * (p * (1 - p) / effective + square / (4 * effective**2))) / (1 + square / effective)
    return Interval(p, max(0.0, centre - half), min(1.0, centre + half), n, level)


def _design_effect(marked: np.ndarray, groups: np.ndarray | None) -> float:
    """At least 1; what is the same everywhere has none."""
    n, p = len(marked), float(marked.mean())
    if groups is None or not 0 < p < 1:
        return 1.0
    _, source = np.unique(groups, return_inverse=True)
    sums = np.bincount(source, weights=marked - p)
    if len(sums) < 2:
        return float(n)
    variance = len(sums) / (len(sums) - 1) * float((sums**2).sum()) / n**2
    return max(1.0, variance / (p * (1 - p) / n))
