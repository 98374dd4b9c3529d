"""Two rank tests as scipy's, without the checks around them: a page asks for hundreds of p-values at once.

Where scipy's null distribution is exact, so is this one: the signs of few differences are gone through by their sums.

References:
    [1] Wilcoxon, F. (1945). Individual comparisons by ranking methods. Biometrics Bulletin 1(6), 80-83.
    [2] Mann, H. B. & Whitney, D. R. (1947). On a test of whether one of two random variables is stochastically larger
        than the other. Annals of Mathematical Statistics 18(1), 50-60.
"""

import math

import numpy as np
from scipy import stats
from scipy.special import ndtr

MANN_WHITNEY = "Mann-Whitney"

EXACT, EXACT_TIED = 50, 13
"""Differences up to which the signed-rank test is exact: without ties and zeros, and with them."""

EXACT_SUM = 8
"""Values of the smaller sample up to which scipy may look at every arrangement of two samples."""


def signed_rank(differences: np.ndarray) -> tuple[float, float]:
    """Wilcoxon's signed-rank test [1] as ``scipy.stats.wilcoxon(differences)``: zeros are dropped, ties corrected for.

    Args:
        differences: finite, shape [n], not all zero.

    Returns:
        The smaller of the two rank sums, and the two-sided p.
    """
    moved = differences[differences != 0]
    n = len(moved)
    ranks, ties = _ranked(np.abs(moved))
    above = float(ranks[moved > 0].sum())
    below = n * (n + 1) / 2 - above
    if len(differences) <= (EXACT if n == len(differences) and not ties else EXACT_TIED):
        return min(above, below), _exact(ranks, above)
    spread = math.sqrt((n * (n + 1) * (2 * n + 1) - ties / 2) / 24)
    return min(above, below), _two_sided(abs(above - below) / (2 * spread))


def _exact(ranks: np.ndarray, above: float) -> float:
    """Two-sided p of a sum of ranks when every sign is as likely as the other; ranks of ties end in ½."""
    steps = np.rint(2 * ranks).astype(int)
    shares = np.zeros(int(steps.sum()) + 1)
    shares[0] = 1.0
    for step in steps:
        moved = np.zeros_like(shares)
        moved[step:] = shares[: len(shares) - step]
        shares = (shares + moved) / 2
    at = round(2 * above)
    return min(1.0, 2 * float(min(shares[: at + 1].sum(), shares[at:].sum())))


def rank_sum(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Mann and Whitney's test [2] as ``scipy.stats.mannwhitneyu(one, other)``: ties and continuity corrected for.

    Args:
        one: finite, shape [n], n > 0.
        other: finite, shape [m], m > 0.

    Returns:
        U of the first sample, and the two-sided p.
    """
    n, m = len(one), len(other)
    if min(n, m) <= EXACT_SUM:
        found = stats.mannwhitneyu(one, other)
        return float(found.statistic), float(found.pvalue)
    ranks, ties = _ranked(np.concatenate([one, other]))
    u, total = float(ranks[:n].sum()) - n * (n + 1) / 2, n + m
    variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)))
    if variance <= 0:
        return u, 1.0
    return u, _two_sided((abs(u - n * m / 2) - 0.5) / math.sqrt(variance))


def _two_sided(z: float) -> float:
    return min(1.0, 2 * float(ndtr(-z)))


def _ranked(values: np.ndarray) -> tuple[np.ndarray, float]:
    """Average ranks from 1, and Σ(t³ - t) over the sizes t of the ties."""
    order = np.argsort(values)  # equal values get one rank, in whatever order they stand
    ordered = values[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    sizes = np.diff(np.append(first, len(values)))
    ranks = np.empty(len(values))
    ranks[order] = np.repeat(first + (sizes + 1) / 2, sizes)
    return ranks, float((sizes.astype(np.float64) ** 3 - sizes).sum())
