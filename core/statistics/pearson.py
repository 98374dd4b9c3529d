"""Pearson's correlation of many bootstrap samples of the same items at once."""

import math

import numpy as np

_ALIKE = 1e-12
"""Share of the items' variance below which a sample's is rounding alone: its items are all alike."""


def sample_pearson(one: np.ndarray, other: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Pearson's r of each sample.

    Args:
        one, other: two scorings of the same items, finite, float64 [n], n ≥ 1.
        counts: how often each sample has each item, int [n, samples].

    Returns:
        float64 [samples], each in [-1, 1]; NaN where a side of the sample is all alike.
    """
    a, b = (each - each.mean() for each in (one, other))
    spread = [float((each**2).mean()) for each in (a, b)]
    # each row's products, so that one product of matrices gives every sum of every sample
    sums = np.stack([np.ones(len(a)), a, b, a * a, b * b, a * b]) @ counts
    mean_a, mean_b, square_a, square_b, product = sums[1:] / sums[0]
    variances = square_a - mean_a**2, square_b - mean_b**2
    varied = np.all([own > _ALIKE * whole for own, whole in zip(variances, spread, strict=True)], axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = (product - mean_a * mean_b) / np.sqrt(variances[0] * variances[1])
    return np.where(varied, np.clip(found, -1.0, 1.0), math.nan)
