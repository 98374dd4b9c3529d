"""Spearman's ρ of few points, with the p-value of a permutation test: every order where they can be counted."""

import math
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from core.errors import InvalidInput
from core.seeds import RUN_SEED

EXACT_MOST = 9
"""Points up to which every order is tried: 9! = 362 880."""

DRAWS = 100_000
"""Orders drawn where there are more points; the p-value's own standard error is then at most 0.0016."""

EXACT, DRAWN = "every order", "orders drawn"

_ROUNDING = 1e-12
_CHUNK = 50_000


@dataclass(frozen=True, slots=True)
class RankTest:
    """Spearman's ρ with its permutation p.

    Args:
        rho: in [-1, 1], mean ranks for ties; NaN where undefined.
        p: two-sided; NaN where undefined.
        n: points with both values.
        method: EXACT or DRAWN; empty without a test.
        orders: how many orders were tried.
        least: smallest p that n points without ties can give, 2 / n!; NaN below 2 points.
        note: why there is no value; empty otherwise.
    """

    rho: float
    p: float
    n: int
    method: str
    orders: int
    least: float
    note: str = ""


def rank_test(one: ArrayLike, other: ArrayLike, *, draws: int = DRAWS, seed: int = RUN_SEED) -> RankTest:
    """Spearman's ρ and the share of orders that give at least as large a |ρ|.

    Args:
        one: shape [n]; a point with a NaN in either is left out.
        other: shape [n].
        draws: orders drawn above EXACT_MOST points; the observed order counts as one more, so p is never 0.
        seed: of the draws.

    Raises:
        InvalidInput: if the shapes differ or a value is infinite.

    Example:
        >>> rank_test([1, 2, 3, 4], [10, 20, 30, 40]).p
        0.08333333333333333
    """
    a, b = (np.asarray(values, dtype=np.float64).ravel() for values in (one, other))
    if a.shape != b.shape:
        raise InvalidInput(f"two scorings of the same points have equal lengths, got {len(a)} and {len(b)}")
    if np.isinf(a).any() or np.isinf(b).any():
        raise InvalidInput("ranks need finite values or NaN, got an infinite one")
    whole = ~(np.isnan(a) | np.isnan(b))
    n = int(whole.sum())
    least = 2 / math.factorial(n) if 2 <= n <= 100 else math.nan
    if n < 3:
        return RankTest(math.nan, math.nan, n, "", 0, least, "fewer than three points have no rank correlation")
    first, second = (_centred(values[whole]) for values in (a, b))
    if not first.any() or not second.any():
        return RankTest(math.nan, math.nan, n, "", 0, least, "all points have the same value on one side")
    scale = math.sqrt((first @ first) * (second @ second))
    rho = float(np.clip(first @ second / scale, -1, 1))
    if n <= EXACT_MOST:
        orders = np.array(list(permutations(range(n))), dtype=np.int8)
        hits = int((np.abs(second[orders] @ first) / scale >= abs(rho) - _ROUNDING).sum())
        return RankTest(rho, hits / len(orders), n, EXACT, len(orders), least)
    hits = _drawn(first, second, scale, abs(rho), draws, np.random.default_rng(seed))
    return RankTest(rho, (hits + 1) / (draws + 1), n, DRAWN, draws, least)


def _centred(values: np.ndarray) -> np.ndarray:
    ranks = rankdata(values)
    return np.asarray(ranks - ranks.mean())


def _drawn(
    first: np.ndarray, second: np.ndarray, scale: float, size: float, draws: int, rng: np.random.Generator
) -> int:
    hits, table = 0, np.tile(second, (min(draws, _CHUNK), 1))
    for start in range(0, draws, _CHUNK):
        part = table[: min(_CHUNK, draws - start)]
        hits += int((np.abs(rng.permuted(part, axis=1) @ first) / scale >= size - _ROUNDING).sum())
    return hits
