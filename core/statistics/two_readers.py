"""Two readers of the same things, yes or no: how far one agrees with the other, with intervals over sources.

References:
    [1] Cohen (1960), A coefficient of agreement for nominal scales. Educ. and Psychological Measurement 20, 37-46.
    [2] Efron (1987), Better bootstrap confidence intervals. JASA 82(397), 171-185.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.agreement import LEAST_CHANCE
from core.statistics.bootstrap import RESAMPLES, Interval, acceleration, bca_bounds, expanded, too_few
from core.statistics.shares import share


@dataclass(frozen=True, slots=True)
class TwoReaders:
    """What two readers say of the same things.

    Args:
        n: things.
        n_one, n_other, n_both: of which the first, the second, both say yes.
        precision: share of the first one's yes that is the second one's too, with Wilson's interval over sources.
        recall: share of the second one's yes that is the first one's too, likewise.
        kappa: Cohen's κ [1], with its BCa interval [2] over sources, from LEAST_CHANCE things and sources on.
    """

    n: int
    n_one: int
    n_other: int
    n_both: int
    precision: Interval
    recall: Interval
    kappa: Interval


def two_readers(
    one: ArrayLike, other: ArrayLike, *, sources: ArrayLike | None = None, resamples: int = RESAMPLES,
    seed: int = RUN_SEED,
) -> TwoReaders:  # fmt: skip
    """Compare two readers.

    Args:
        one: answers of the first, bool [n].
        other: of the second to the same things.
        sources: what each thing is of (its caption, its picture), [n]: those of one are resampled together. None: each
            is one of its own.
        resamples: bootstrap samples of κ's interval.
        seed: of the draws.

    Raises:
        InvalidInput: if the lengths differ.

    Example:
        >>> found = two_readers([True, True, False, False], [True, False, False, False])
        >>> found.precision.estimate, found.recall.estimate, found.kappa.estimate
        (0.5, 1.0, 0.5)
    """
    a, b = np.asarray(one, dtype=bool).ravel(), np.asarray(other, dtype=bool).ravel()
    of = np.arange(len(a)) if sources is None else np.unique(np.asarray(sources).ravel(), return_inverse=True)[1]
    if not len(a) == len(b) == len(of):
        raise InvalidInput(f"two readers answer the same things, got {len(a)} and {len(b)} answers, {len(of)} sources")
    return TwoReaders(
        len(a), int(a.sum()), int(b.sum()), int((a & b).sum()), share(b[a], groups=of[a]), share(a[b], groups=of[b]),
        _kappa(a, b, of, resamples=resamples, seed=seed),
    )  # fmt: skip


def _kappa(a: np.ndarray, b: np.ndarray, of: np.ndarray, *, resamples: int, seed: int) -> Interval:
    if not len(a):
        return Interval(math.nan, math.nan, math.nan, 0, 0.95, "nothing was read")
    tables = np.zeros((int(of.max()) + 1, 4))
    np.add.at(tables, (of, 2 * a + b), 1.0)
    estimate = float(_kappas(tables.sum(axis=0)[None])[0])
    if math.isnan(estimate):
        return Interval(math.nan, math.nan, math.nan, len(a), 0.95, "both gave one and the same answer throughout")
    if said := too_few(len(a), len(tables), least=LEAST_CHANCE):
        return Interval(estimate, math.nan, math.nan, len(a), 0.95, said)
    # sources of one table are one pattern, so that a resample is one draw over the patterns
    patterns, which, times = np.unique(tables, axis=0, return_inverse=True, return_counts=True)
    rng = np.random.default_rng(seed)
    drawn = _kappas(rng.multinomial(len(tables), times / len(tables), size=resamples) @ patterns)
    drawn = drawn[~np.isnan(drawn)]
    if not len(drawn) or np.ptp(drawn) == 0:
        return Interval(estimate, math.nan, math.nan, len(a), 0.95, "no interval: every resample gives the same value")
    left_out = _kappas(tables.sum(axis=0)[None] - patterns)
    influence = (np.nanmean(left_out) - np.nan_to_num(left_out, nan=estimate))[which.ravel()]
    at = expanded(0.95, len(tables))
    low, high = bca_bounds(drawn, estimate=estimate, acceleration=acceleration(influence), level=at)
    return Interval(estimate, low, high, len(a), 0.95)


def _kappas(tables: np.ndarray) -> np.ndarray:
    """κ of counts [k, 4] of (no, no), (no, yes), (yes, no), (yes, yes); NaN where chance explains everything."""
    n = tables.sum(axis=1)
    n = np.where(n > 0, n, np.nan)
    observed = (tables[:, 0] + tables[:, 3]) / n
    one, other = (tables[:, 2] + tables[:, 3]) / n, (tables[:, 1] + tables[:, 3]) / n
    chance = one * other + (1 - one) * (1 - other)
    return np.where(1 - chance > 1e-12, (observed - chance) / np.where(1 - chance > 1e-12, 1 - chance, 1.0), np.nan)
