"""Do two metrics rank the same systems alike? Kendall's τ_b and Spearman's ρ over system means."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.bootstrap import Interval, expanded, too_few
from core.statistics.rank_agreement import rank_agreement
from core.statistics.standings import drawn_means, source_ranks
from core.statistics.swaps import DRAWS
from core.statistics.wording import counted

LEAST_SYSTEMS = 3
"""Fewest systems whose orders are compared: two agree or they do not."""


@dataclass(frozen=True, slots=True)
class OrderAgreement:
    """How alike two metrics order some systems.

    Args:
        tau: Kendall's τ_b of the two rows of system means, percentile interval over bootstrap samples of items.
        spearman: Spearman's ρ of the same, likewise.
        systems: how many.
    """

    tau: Interval
    spearman: Interval
    systems: int


def order_agreement(
    one: ArrayLike,
    other: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = DRAWS,
    seed: int = RUN_SEED,
) -> OrderAgreement:
    """Compare the orders of s systems by two metrics over the same items.

    Args:
        one, other: finite scores, float64 [n, s], of the same items and systems; higher is better.
        groups: source of each item, shape [n]; None: each is one.
        level: confidence level in (0, 1).
        resamples: bootstrap samples; both metrics are read on the same ones.
        seed: of the draws.

    Raises:
        InvalidInput: if the shapes differ.
    """
    a, b = (np.asarray(each, dtype=np.float64) for each in (one, other))
    if a.ndim != 2 or a.shape != b.shape:
        raise InvalidInput(f"two metrics score the same items and systems, got the shapes {a.shape} and {b.shape}")
    n, s = a.shape
    found = rank_agreement(a.mean(axis=0), b.mean(axis=0)) if n else rank_agreement([], [])
    nan = float("nan")
    if s < LEAST_SYSTEMS:
        none = Interval(nan, nan, nan, n, level, f"{counted(s, 'system')}, below {LEAST_SYSTEMS}")
        return OrderAgreement(none, none, s)
    sources = source_ranks(groups, n)
    count = int(sources.max()) + 1 if n else 0
    if note := found.note or too_few(n, count):
        tau, rho = (Interval(value, nan, nan, n, level, note) for value in (found.kendall_b, found.spearman))
        return OrderAgreement(tau, rho, s)
    drawn = drawn_means(np.column_stack([a, b]), groups=sources, resamples=resamples, seed=seed)
    at = expanded(level, count)

    def interval(value: float, samples: np.ndarray) -> Interval:
        low, high = np.nanquantile(samples, [(1 - at) / 2, (1 + at) / 2])
        return Interval(value, float(low), float(high), n, level)

    sides = drawn[:, :s], drawn[:, s:]
    return OrderAgreement(interval(found.kendall_b, row_taus(*sides)), interval(found.spearman, row_rhos(*sides)), s)


def row_taus(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """τ_b of every row: Σ of products of signs over the root of the untied pairs of each side; NaN where all tie."""
    pairs = np.array(list(combinations(range(one.shape[1]), 2)))
    a, b = (np.sign(each[:, pairs[:, 0]] - each[:, pairs[:, 1]]) for each in (one, other))
    untied = np.abs(a).sum(axis=1) * np.abs(b).sum(axis=1)
    taus: np.ndarray = np.divide((a * b).sum(axis=1), np.sqrt(untied), out=np.full(len(a), np.nan), where=untied > 0)
    return taus


def row_rhos(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Spearman's ρ of every row: the correlation of mean ranks; NaN where a side is all ties."""
    a, b = (rankdata(each, axis=1) for each in (one, other))
    a, b = (each - each.mean(axis=1, keepdims=True) for each in (a, b))
    size = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    rhos: np.ndarray = np.divide((a * b).sum(axis=1), size, out=np.full(len(a), np.nan), where=size > 0)
    return rhos
