"""Composition-balanced bootstrap: a mean in which every stratum weighs the same, whatever a corpus holds of it.

Each resample draws from every stratum as many sources as it has, so that its composition is that of the data, and
every stratum's mean weighs the same. The plain mean of the same resample weighs each stratum by its items; so the two,
and their difference, are compared over the same draws.

Resamples of a stratum of few sources vary too little: where most strata hold two to seven, 88 of 100 intervals held
the mean. So what a stratum's mean is drawn away from it is stretched by √(m / (m - 1)) [1], and the bounds are taken at
the level of Student's quantile for Satterthwaite's degrees of freedom instead of the normal one [2].

Source: paper A, B.2, which names a composition-balanced bootstrap and does not print one. Davison and Hinkley (1997),
Bootstrap Methods and their Application, 3.2 (stratified) and 3.8 (sources).

References:
    [1] Rao, J. N. K. and Wu, C. F. J. (1988). Resampling inference with complex survey data. JASA 83(401), 231-241.
    [2] Hesterberg, T. C. (2015). What teachers should know about the bootstrap. Am. Stat. 69(4), 371-386, 6.1.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtrit

from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.bootstrap import LEAST_N, RESAMPLES, Interval, acceleration, bca_bounds
from core.statistics.one_thread import one_thread

LEAST_SOURCES = 2
"""Fewest sources of a stratum: one has no spread that could be resampled."""

LEAST_FREEDOM = LEAST_N - 1
"""Fewest degrees of freedom for an interval: those of a mean of LEAST_N values."""

_CHUNK = 100_000  # draws held at once: they stay in the processor's cache


@dataclass(frozen=True, slots=True)
class Balanced:
    """A mean over items, and over strata.

    Args:
        plain: mean over the items of the strata that take part, each item with the same weight.
        balanced: mean of the strata's means.
        difference: balanced minus plain, over the same draws.
        strata: that take part.
        left_out: strata of fewer than LEAST_SOURCES sources: they are in neither mean.
        items_left_out: items of theirs.
    """

    plain: Interval
    balanced: Interval
    difference: Interval
    strata: int
    left_out: int
    items_left_out: int


@one_thread
def balanced_mean(
    values: ArrayLike,
    strata: ArrayLike,
    *,
    sources: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = RUN_SEED,
) -> Balanced:
    """Mean of values as they are and with every stratum weighing the same, with BCa intervals.

    Args:
        values: shape [n]; NaN are left out.
        strata: number of each value's stratum, int [n]; negative for none: such a value is left out.
        sources: number of each value's source, int [n]: values of a source are drawn and left out together, within
            their stratum; one whose values lie in several strata is drawn in each by itself. None: every value is a
            source of its own.
        level: confidence level in (0, 1).
        resamples: number of draws.
        seed: of the draws; strata are drawn in the order of their numbers.

    Returns:
        See :class:`Balanced`. Below two strata the two means are one: a note says so, and there is no interval. Nor is
        there one below LEAST_FREEDOM degrees of freedom.

    Raises:
        InvalidInput: if the shapes differ, or a value is infinite.
    """
    y, stratum, source = _checked(values, strata, sources)
    cells = [_sums(y[stratum == each], source[stratum == each]) for each in np.unique(stratum)]
    kept = [each for each in cells if len(each[0]) >= LEAST_SOURCES]
    lost = int(sum(each[1].sum() for each in cells)) - int(sum(each[1].sum() for each in kept))
    counts = np.array([each[1].sum() for each in kept])
    n, about = int(counts.sum()), (len(kept), len(cells) - len(kept), lost)
    if len(kept) < 2:
        reason = "fewer than two strata of two sources or more"
        none = Interval(math.nan, math.nan, math.nan, n, level, reason)
        return Balanced(none, none, none, *about)
    rng = np.random.default_rng(seed)
    means = np.array([totals.sum() / sizes.sum() for totals, sizes in kept])
    drawn = np.array([_resampled(*each, resamples, rng) for each in kept])
    weights = {"plain": counts / n, "balanced": np.full(len(kept), 1 / len(kept))}
    weights["difference"] = weights["balanced"] - weights["plain"]
    found = {name: _interval(each, means, drawn, kept, n, level) for name, each in weights.items()}
    return Balanced(found["plain"], found["balanced"], found["difference"], *about)


Sums = tuple[np.ndarray, np.ndarray]
"""Total and number of the values of each source of a stratum."""


def _interval(
    weights: np.ndarray, means: np.ndarray, drawn: np.ndarray, kept: list[Sums], n: int, level: float
) -> Interval:
    """Weighted mean of the strata's means; the influence of a source is that on its stratum's mean."""
    estimate = float(weights @ means)
    influence = [_influence(weight, each) for weight, each in zip(weights, kept, strict=True)]
    variances = np.array([len(each) / (len(each) - 1) * float((each**2).sum()) for each in influence])
    if not variances.any():
        return Interval(estimate, estimate, estimate, n, level, "no stratum has any spread: exact bound")
    sources = np.array([len(each) for each in influence])
    freedom = float(variances.sum() ** 2 / (variances**2 / (sources - 1)).sum())  # Satterthwaite's
    if freedom < LEAST_FREEDOM - 1e-9:
        few = f"no interval ({freedom:.1f} degrees of freedom, below {LEAST_FREEDOM})"
        return Interval(estimate, math.nan, math.nan, n, level, few)
    at = float(2 * ndtr(stdtrit(freedom, (1 + level) / 2)) - 1)
    bent = acceleration(np.concatenate(influence))
    low, high = bca_bounds(weights @ drawn, estimate=estimate, acceleration=bent, level=at)
    return Interval(estimate, low, high, n, level)


def _influence(weight: float, cell: Sums) -> np.ndarray:
    """Jackknife within one stratum: influence of each source on the weighted mean, over the number of sources."""
    totals, sizes = cell
    without = (totals.sum() - totals) / (sizes.sum() - sizes)
    return np.asarray(weight * (len(totals) - 1) / len(totals) * (without.mean() - without))


def _resampled(totals: np.ndarray, sizes: np.ndarray, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Mean of each resample of a stratum's sources, stretched about their own [1], float64 [resamples]."""
    many, found = len(totals), np.empty(resamples)
    step, alike = max(1, _CHUNK // many), np.ptp(sizes) == 0
    for start in range(0, resamples, step):
        picks = rng.integers(many, size=(min(step, resamples - start), many))
        size = sizes.sum() if alike else sizes[picks].sum(axis=1)
        found[start : start + step] = totals[picks].sum(axis=1) / size
    mean = totals.sum() / sizes.sum()
    return np.asarray(mean + math.sqrt(many / (many - 1)) * (found - mean))


def _sums(values: np.ndarray, source: np.ndarray) -> Sums:
    ranks = np.unique(source, return_inverse=True)[1]
    return np.bincount(ranks, values), np.bincount(ranks).astype(np.float64)


def _checked(
    values: ArrayLike, strata: ArrayLike, sources: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    y, stratum = np.asarray(values, dtype=np.float64).ravel(), np.asarray(strata).ravel()
    source = np.arange(len(y)) if sources is None else np.asarray(sources).ravel()
    if not len(y) == len(stratum) == len(source):
        raise InvalidInput(f"values, strata and sources come in equal numbers, got {len(y)}, {len(stratum)} and "
                           f"{len(source)}")  # fmt: skip
    if np.isinf(y).any():
        raise InvalidInput("values must be finite or NaN, got an infinite one; drop it and count it")
    whole = ~np.isnan(y) & (stratum >= 0)
    return y[whole], stratum[whole], source[whole]
