"""Bootstrap of Spearman's ρ along λ, for all strengths and all resamples at once."""

import math
from collections.abc import Sequence

import numpy as np

from core.errors import InvalidInput
from core.seeds import RUN_SEED

BAND_RESAMPLES = 300
"""Bootstrap samples of a band: enough for a band that is looked at, few enough to follow a choice at once."""

WORK = 24_000_000
"""Ranks (items × resamples × strengths) that a band may take; beyond it, strengths are left out and interpolated."""


def spearman_band(
    clean: np.ndarray,
    change: np.ndarray,
    ratings: np.ndarray,
    lambdas: Sequence[float],
    *,
    level: float = 0.95,
    resamples: int = BAND_RESAMPLES,
    seed: int = RUN_SEED,
) -> tuple[np.ndarray, np.ndarray]:
    """Percentile band of ρ(S + λ · change, H) over items, the same samples at every λ.

    A sample is a vector of counts. Ordered once by score, the mean ranks of the sample are running sums of its
    counts (ties share the mean of theirs), so nothing is sorted again.

    Args:
        clean: S, float64 [n]; an item with a NaN in any of the three is left out.
        change: what λ multiplies, float64 [n].
        ratings: H, float64 [n].
        lambdas: strengths, l of them.
        level: confidence level in (0, 1).
        resamples: bootstrap samples.
        seed: seed of the draws.

    Returns:
        Lower and upper bound, float64 [l] each; NaN where fewer than three items are whole, or a scoring is constant.

    Raises:
        InvalidInput: if level is out of range.
    """
    if not 0 < level < 1:
        raise InvalidInput(f"level must lie in (0, 1), got {level!r}")
    strengths = np.asarray(lambdas, dtype=np.float64)
    whole = ~(np.isnan(clean) | np.isnan(ratings) | np.isnan(change))
    s, c, h = clean[whole], change[whole], ratings[whole]
    n = len(s)
    if n < 3 or len(strengths) == 0:
        return np.full(len(strengths), math.nan), np.full(len(strengths), math.nan)
    rng = np.random.default_rng(seed)
    picks = rng.integers(n, size=(resamples, n)) + n * np.arange(resamples)[:, None]
    counts = np.bincount(picks.ravel(), minlength=resamples * n).reshape(resamples, n).astype(np.float64)
    target = _ranks(h, counts)
    at = _chosen(strengths, n, resamples) if c.any() else np.zeros(1, dtype=int)
    drawn = [_correlations(_ranks(s + strengths[k] * c, counts), target, counts) for k in at]
    low, high = np.array([_bounds(row, level) for row in drawn]).T
    if len(at) == 1:
        return np.full(len(strengths), low[0]), np.full(len(strengths), high[0])
    return np.interp(strengths, strengths[at], low), np.interp(strengths, strengths[at], high)


def _bounds(drawn: np.ndarray, level: float) -> tuple[float, float]:
    known = drawn[~np.isnan(drawn)]  # a sample may hold one value only
    if len(known) == 0:
        return math.nan, math.nan
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _chosen(strengths: np.ndarray, n: int, resamples: int) -> np.ndarray:
    """Which strengths are computed: all, or as many as the work allows, the ends always."""
    most = max(2, min(len(strengths), WORK // (n * resamples)))
    return np.unique(np.linspace(0, len(strengths) - 1, most).round().astype(int))


def _ranks(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Centred mean ranks of every sample, float64 [resamples, n], in the order of the items."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.searchsorted(ordered, ordered, side="left")
    ends = np.searchsorted(ordered, ordered, side="right")
    below = np.zeros((len(counts), len(values) + 1))
    np.cumsum(counts[:, order], axis=1, out=below[:, 1:])
    ranks = np.empty_like(counts)
    ranks[:, order] = (below[:, starts] + below[:, ends] - len(values)) / 2
    return ranks


def _correlations(one: np.ndarray, other: np.ndarray, counts: np.ndarray) -> np.ndarray:
    weighted = counts * one
    both = np.einsum("ij,ij->i", weighted, other)
    sizes = np.einsum("ij,ij->i", weighted, one) * np.einsum("ij,ij,ij->i", counts, other, other)
    return np.divide(both, np.sqrt(sizes), out=np.full(len(counts), math.nan), where=sizes > 0)
