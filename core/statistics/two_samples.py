"""The difference of two medians.

References:
    [1] Efron, B. and Tibshirani, R. (1993). An Introduction to the Bootstrap, 8.3 (two samples) and 14.3 (BCa).
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.bootstrap import (
    LEAST_N,
    RESAMPLES,
    Interval,
    acceleration,
    bca_bounds,
    bootstrap_medians,
    jackknife_medians,
    median_bca,
    too_few,
)


def median_differences(
    one: ArrayLike, other: ArrayLike, *, levels: Sequence[float], resamples: int = RESAMPLES, seed: int = RUN_SEED
) -> tuple[Interval, ...]:
    """Difference of the medians of two independent samples, with its BCa bootstrap interval [1] at each level.

    Args:
        one: first sample, any shape; NaN are left out.
        other: second sample, likewise.
        levels: confidence levels in (0, 1).
        resamples: number of bootstrap differences.
        seed: seed of the draws.

    Returns:
        median(one) - median(other), n the values of both. Fewer than LEAST_N values on a side: no bounds, and a note.

    Raises:
        InvalidInput: if a value is infinite.

    Example:
        >>> median_differences([4.0, 5.0, 6.0], [1.0, 2.0, 3.0], levels=(0.95,))[0].estimate
        3.0
    """
    a, b = (_present(values) for values in (one, other))
    estimates = median_bca(a).estimate - median_bca(b).estimate if len(a) and len(b) else math.nan
    n = len(a) + len(b)
    least = min(len(a), len(b))
    if least < LEAST_N:
        note = too_few(least, least) if least else "a side without values"
        return tuple(Interval(estimates, math.nan, math.nan, n, level, note) for level in levels)
    drawn = [
        bootstrap_medians(values, resamples=resamples, rng=np.random.default_rng((seed, side)))
        for side, values in enumerate((a, b))
    ]
    differences = drawn[0] - drawn[1]
    if np.ptp(differences) == 0:
        return tuple(
            Interval(estimates, estimates, estimates, n, level, "nearly all values of each side are equal: exact bound")
            for level in levels
        )
    influence = np.concatenate([_influence(a), -_influence(b)])
    bent = acceleration(influence)
    return tuple(
        Interval(estimates, *bca_bounds(differences, estimate=estimates, acceleration=bent, level=level), n, level)
        for level in levels
    )


def _influence(values: np.ndarray) -> np.ndarray:
    """Jackknife influence of each value, weighed by its share of its own sample."""
    left_out = jackknife_medians(values)
    influence: np.ndarray = (left_out.mean() - left_out) * (len(values) - 1) / len(values)
    return influence


def _present(values: ArrayLike) -> np.ndarray:
    found = np.asarray(values, dtype=np.float64).ravel()
    found = found[~np.isnan(found)]
    if np.isinf(found).any():
        raise InvalidInput("values must be finite or NaN, got an infinite one; drop it and count it")
    return found
