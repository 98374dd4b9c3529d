"""Tests of items that share their source: the source is the independent unit, so it counts once, by its items' mean.

Two items of one cut-out, scene or photograph shift together; a test that takes them for two finds shifts where there
are none (with no effect, 12 sources of 15 items each: p < 0.05 in half of the runs). The mean over a source's items is
one number a source, and any test of independent units holds for these: exactly where it is exact, and the t test also
where sources differ in their number of items and so in their spread [1, 2]. Where no two items share their source,
nothing is averaged and the test is that of the items.

References:
    [1] Matthews, J. N. S. et al. (1990). Analysis of serial measurements in medical research. BMJ 300, 230-235: summary
        measures.
    [2] Ibragimov, R. and Müller, U. K. (2010). t-statistic based correlation and heterogeneity robust inference.
        Journal of Business & Economic Statistics 28(4), 453-468.
"""

import numpy as np
from numpy.typing import ArrayLike

from core.errors import InvalidInput

BY_SOURCE = "by source"
"""Ends the name of a test whose units are sources."""


def ranks_of(groups: ArrayLike | None, n: int) -> np.ndarray | None:
    """Rank of each value's source, int [n]; None where each is one of its own.

    Args:
        groups: name or number of each value's source, shape [n]; None: each is one.
        n: number of values.

    Raises:
        InvalidInput: if the numbers differ.

    Example:
        >>> ranks_of(["b", "a", "b"], 3)
        array([1, 0, 1])
        >>> ranks_of(["b", "a", "c"], 3) is None
        True
    """
    if groups is None:
        return None
    names, ranks = np.unique(np.asarray(groups).ravel(), return_inverse=True)
    if len(ranks) != n:
        raise InvalidInput(f"each value needs its source: got {n} values and {len(ranks)} sources")
    return None if len(names) == n else ranks


def source_means(values: np.ndarray, ranks: np.ndarray | None) -> np.ndarray:
    """Mean over each source's values; the values themselves where each is a source of its own.

    Args:
        values: finite, float64 [n].
        ranks: what :func:`ranks_of` gives for these values.

    Example:
        >>> source_means(np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]))
        array([1.5, 5. ])
    """
    if ranks is None:
        return values
    counts = np.bincount(ranks)
    sums = np.bincount(ranks, values)[counts > 0]
    return np.asarray(sums / counts[counts > 0])


def named(test: str, ranks: np.ndarray | None) -> str:
    """Name of a test with what its units are.

    Example:
        >>> named("Mann-Whitney", None), named("Mann-Whitney", np.array([0, 0]))
        ('Mann-Whitney', 'Mann-Whitney, by source')
    """
    return test if ranks is None else f"{test}, {BY_SOURCE}"
