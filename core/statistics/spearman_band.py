"""Bootstrap of Spearman's ρ along λ, for all strengths and all resamples at once."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.bootstrap import too_few

BAND_RESAMPLES = 200
"""Bootstrap samples of a band: enough for a band that is looked at, few enough to follow a choice at once."""

WORK = 4_000_000
"""Ranks (items × resamples × strengths) that a band may take; beyond it, strengths are left out and interpolated."""

_EXACT = 2**24
"""Whole numbers below it, and their halves below half of it, are exact as float32."""


def spearman_bands(
    clean: np.ndarray,
    change: np.ndarray,
    others: Mapping[str, np.ndarray],
    lambdas: Sequence[float],
    *,
    level: float = 0.95,
    sources: np.ndarray | None = None,
    resamples: int = BAND_RESAMPLES,
    seed: int = RUN_SEED,
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Percentile bands of ρ(S + λ · change, H) over items, one for each H, the same samples at every λ.

    A sample is a vector of counts. Ordered once by score, the mean ranks of the sample are running sums of its
    counts (ties share the mean of theirs), so nothing is sorted again.

    Args:
        clean: S, float64 [n]; an item with a NaN in any of the three is left out.
        change: what λ multiplies, float64 [n].
        others: H by name, float64 [n] each; those rated on the same items share the ranks of Ŝ.
        lambdas: strengths, l of them.
        level: confidence level in (0, 1).
        sources: number of each item's source, int [n]: items of one source are drawn together; None: each is its own.
        resamples: bootstrap samples.
        seed: seed of the draws.

    Returns:
        By H: lower and upper bound, float64 [l] each; NaN where fewer than LEAST_N items or sources are whole, or a
        scoring is constant.

    Raises:
        InvalidInput: if level is out of range.
    """
    if not 0 < level < 1:
        raise InvalidInput(f"level must lie in (0, 1), got {level!r}")
    groups: dict[bytes, list[str]] = {}
    for name, ratings in others.items():
        whole = ~(np.isnan(clean) | np.isnan(ratings) | np.isnan(change))
        groups.setdefault(whole.tobytes(), []).append(name)
    found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    strengths = np.asarray(lambdas, dtype=np.float64)
    for mask, names in groups.items():
        whole = np.frombuffer(mask, dtype=bool)
        targets = [others[name][whole] for name in names]
        own = None if sources is None else np.unique(sources[whole], return_inverse=True)[1]
        bounds = _group(clean[whole], change[whole], targets, strengths, level, own, resamples, seed)
        found |= zip(names, bounds, strict=True)
    return {name: found[name] for name in others}


def _group(
    s: np.ndarray,
    c: np.ndarray,
    targets: Sequence[np.ndarray],
    strengths: np.ndarray,
    level: float,
    sources: np.ndarray | None,
    resamples: int,
    seed: int,
) -> list[tuple[np.ndarray, np.ndarray]]:
    n = len(s)
    if too_few(n, n if sources is None else int(sources.max(initial=-1)) + 1) or len(strengths) == 0:
        return [(np.full(len(strengths), math.nan), np.full(len(strengths), math.nan)) for _ in targets]
    if not c.any():
        # no strength moves a rank: readings that leave clean scores alone ask this again for every choice of edits
        asked = (s.tobytes(), tuple(each.tobytes() for each in targets), None if sources is None else sources.tobytes())
        return [(np.full(len(strengths), low), np.full(len(strengths), high))
                for low, high in _unmoved(*asked, level, resamples, seed)]  # fmt: skip
    at = _chosen(strengths, n, resamples)
    bounds = _drawn_bounds([s + strengths[step] * c for step in at], targets, level, sources, resamples, seed)
    return [(np.interp(strengths, strengths[at], low), np.interp(strengths, strengths[at], high))
            for low, high in (each.T for each in bounds)]  # fmt: skip


@lru_cache(maxsize=32)  # 0.3 MB each for four H of 8 000 items
def _unmoved(
    s: bytes, targets: tuple[bytes, ...], sources: bytes | None, level: float, resamples: int, seed: int
) -> tuple[tuple[float, float], ...]:
    """Bounds of ρ(S, H) for each H, from the bytes of the arrays of :func:`_group`."""
    scored, *others = (np.frombuffer(each) for each in (s, *targets))
    own = None if sources is None else np.frombuffer(sources, dtype=np.intp)
    found = _drawn_bounds([scored], others, level, own, resamples, seed)
    return tuple((float(low), float(high)) for [[low, high]] in found)


def _drawn_bounds(
    scorings: Sequence[np.ndarray],
    targets: Sequence[np.ndarray],
    level: float,
    sources: np.ndarray | None,
    resamples: int,
    seed: int,
) -> np.ndarray:
    """Bounds of ρ of every scoring with every H, the same samples for all, float64 [targets, scorings, 2]."""
    counts = _drawn(len(scorings[0]) if sources is None else int(sources.max()) + 1, resamples, seed)
    counts = counts if sources is None else counts[sources]
    ranked = [_ranks(target, counts) for target in targets]
    sizes = [np.einsum("ij,ij,ij->j", counts, each, each) for each in ranked]
    bounds = np.empty((len(targets), len(scorings), 2))
    for place, scores in enumerate(scorings):
        ranks = _ranks(scores, counts)
        own = np.einsum("ij,ij,ij->j", counts, ranks, ranks)
        for row, (each, size) in enumerate(zip(ranked, sizes, strict=True)):
            both, scale = np.einsum("ij,ij,ij->j", counts, each, ranks), own * size
            drawn = np.divide(both, np.sqrt(scale), out=np.full(resamples, math.nan), where=scale > 0)
            bounds[row, place] = _bounds(drawn, level)
    return bounds


@lru_cache(maxsize=8)  # 7 MB for 4 000 items
def _drawn(m: int, resamples: int, seed: int) -> np.ndarray:
    """How often each of m sources is in each sample, float64 [m, resamples]; shared, never changed.

    One column a sample: what every sample does with an item then lies side by side in memory.
    """
    picks = np.random.default_rng(seed).integers(m, size=(resamples, m)) * resamples + np.arange(resamples)[:, None]
    return np.bincount(picks.ravel(), minlength=m * resamples).reshape(m, resamples).astype(np.float64)


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
    """Centred mean ranks of every sample, float64 [n, resamples], in the order of the items."""
    order = np.argsort(values)  # equal values share a rank, in whatever order they stand
    ordered = values[order]
    # sums of counts are whole numbers, exact in half the bytes as long as twice them is
    exact = 2 * len(values) * counts.max(initial=0) < _EXACT
    below = np.zeros((len(values) + 1, counts.shape[1]), dtype=np.float32 if exact else np.float64)
    np.cumsum(counts.astype(below.dtype, copy=False)[order], axis=0, out=below[1:])
    if (ordered[1:] == ordered[:-1]).any():
        ends = [np.searchsorted(ordered, ordered, side=side) for side in ("left", "right")]
        twice = below[ends[0]] + below[ends[1]]
    else:  # every value ends where the next one starts
        twice = below[:-1] + below[1:]
    twice -= below[-1]
    twice /= 2
    ranks = np.empty_like(counts)
    ranks[order] = twice
    return ranks
