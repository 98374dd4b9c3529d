"""The difference of two medians.

References:
    [1] Efron, B. and Tibshirani, R. (1993). An Introduction to the Bootstrap, 8.3 (two samples) and 14.3 (BCa).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.bootstrap import (
    RESAMPLES,
    Interval,
    acceleration,
    bca_bounds,
    bootstrap_medians,
    expanded,
    jackknife_medians,
    source_medians,
    too_few,
)


def median_differences(
    one: ArrayLike,
    other: ArrayLike,
    *,
    levels: Sequence[float],
    groups: tuple[ArrayLike, ArrayLike] | None = None,
    resamples: int = RESAMPLES,
    seed: int = RUN_SEED,
) -> tuple[Interval, ...]:
    """Difference of the medians of two independent samples, with its BCa bootstrap interval [1] at each level.

    Args:
        one: first sample, any shape; NaN are left out.
        other: second sample, likewise.
        levels: confidence levels in (0, 1).
        groups: source of each value of the first sample, and of the second: values of one source are resampled
            together, at a level :func:`core.statistics.bootstrap.expanded` for the smaller number of sources. None:
            every value is one of its own.
        resamples: number of bootstrap differences.
        seed: seed of the draws.

    Returns:
        median(one) - median(other), n the values of both. Fewer than LEAST_N values or sources on a side: no bounds,
        and a note.

    Raises:
        InvalidInput: if a value is infinite.

    Example:
        >>> median_differences([4.0, 5.0, 6.0], [1.0, 2.0, 3.0], levels=(0.95,))[0].estimate
        3.0
    """
    of = (None, None) if groups is None else groups
    sides = [_Sample.of(values, sources) for values, sources in zip((one, other), of, strict=True)]
    (a, b), n = (each.values for each in sides), sum(len(each.values) for each in sides)
    estimate = float(np.median(a) - np.median(b)) if len(a) and len(b) else math.nan
    least = min(sides, key=lambda each: each.count)
    if said := too_few(len(least.values), least.count):
        note = said if len(a) and len(b) else "a side without values"
        return tuple(Interval(estimate, math.nan, math.nan, n, level, note) for level in levels)
    medians = [each.medians(resamples, (seed, side)) for side, each in enumerate(sides)]
    differences = medians[0][0] - medians[1][0]
    if np.ptp(differences) == 0:
        equal, whole = (" and ".join(map(str, each)) for each in zip(*map(_at_median, (a, b)), strict=True))
        said = f"{equal} of {whole} values of the sides equal their medians: exact bound"
        return tuple(Interval(estimate, estimate, estimate, n, level, said) for level in levels)
    bent = acceleration(np.concatenate([_influence(medians[0][1]), -_influence(medians[1][1])]))
    drawn_at = [level if groups is None else expanded(level, least.count) for level in levels]
    return tuple(
        Interval(estimate, *bca_bounds(differences, estimate=estimate, acceleration=bent, level=at), n, level)
        for level, at in zip(levels, drawn_at, strict=True)
    )


@dataclass(frozen=True, slots=True)
class _Sample:
    """Values of one side, the rank of each one's source, None where each is one of its own, and how many sources."""

    values: np.ndarray
    sources: np.ndarray | None
    count: int

    @classmethod
    def of(cls, values: ArrayLike, groups: ArrayLike | None) -> "_Sample":
        finite = np.asarray(values, dtype=np.float64).ravel()
        present = ~np.isnan(finite)
        if np.isinf(finite).any():
            raise InvalidInput("values must be finite or NaN, got an infinite one; drop it and count it")
        if groups is None:
            return cls(finite[present], None, int(present.sum()))
        names, ranks = np.unique(np.asarray(groups).ravel()[present], return_inverse=True)
        return cls(finite[present], ranks, len(names))

    def medians(self, resamples: int, seed: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        """Of samples, and of all but one value or source each in turn."""
        if self.sources is not None:
            return source_medians(self.values, self.sources, resamples=resamples, seed=seed)
        drawn = bootstrap_medians(self.values, resamples=resamples, seed=seed)
        return drawn, jackknife_medians(self.values)


def _at_median(values: np.ndarray) -> tuple[int, int]:
    """How many values equal the median, and of how many."""
    return int((values == np.median(values)).sum()), len(values)


def _influence(left_out: np.ndarray) -> np.ndarray:
    """Jackknife influence of each value or source, weighed by its share of its own sample."""
    influence: np.ndarray = (left_out.mean() - left_out) * (len(left_out) - 1) / len(left_out)
    return influence
