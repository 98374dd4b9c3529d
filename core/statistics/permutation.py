"""Spearman's ρ of few points, with the p-value of a permutation test: every order where they can be counted.

Points of several groups whose values cannot be held against each other (modifiers of families with baselines of their
own) are ranked within their group and change places within it alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from core.errors import InvalidInput
from core.seeds import RUN_SEED

EXACT_MOST = 9  # points up to which every order is tried: 9! = 362 880
DRAWS = 100_000  # orders drawn where there are more points; the p-value's own standard error is then at most 0.0016
EXACT, DRAWN = "every order", "orders drawn"
_ROUNDING = 1e-12
_CHUNK = 50_000


@dataclass(frozen=True, slots=True)
class RankTest:
    """Spearman's ρ with its permutation p."""

    rho: float  # in [-1, 1], mean ranks for ties; NaN where undefined
    p: float  # two-sided; NaN where undefined
    n: int  # points with both values
    method: str  # EXACT or DRAWN; empty without a test
    orders: int  # how many orders were tried
    # smallest p that these points without ties can give, 2 / n! (over groups, 2 / the product of their factorials);
    # NaN below 2 points
    least: float
    note: str = ""  # why there is no value; empty otherwise


def rank_test(one: ArrayLike, other: ArrayLike, *, groups: ArrayLike | None = None) -> RankTest:
    """Spearman's ρ and the share of orders that give at least as large a |ρ|.

    With groups, ρ is that of the ranks within each group, each group's about its own mean: Σ ab / √(Σ a² Σ b²) over all
    points, a and b the centred ranks. Orders are those that keep every point in its group; above EXACT_MOST points
    DRAWS of them are drawn, and the observed one counts as one more, so that p is never 0. Raises InvalidInput if the
    shapes differ or a value is infinite.
    ``one``: shape [n]; a point with a NaN in either is left out. ``other``: shape [n].
    ``groups``: group of each point, shape [n]; None: all are of one. A group of one point says nothing, and is not
    counted.

    >>> rank_test([1, 2, 3, 4], [10, 20, 30, 40]).p
    0.08333333333333333
    """
    a, b = (np.asarray(values, dtype=np.float64).ravel() for values in (one, other))
    own = np.zeros(len(a), dtype=np.intp) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    if not a.shape == b.shape == own.shape:
        raise InvalidInput(f"two scorings of the same points have equal lengths, got {len(a)}, {len(b)}, {len(own)}")
    if np.isinf(a).any() or np.isinf(b).any():
        raise InvalidInput("ranks need finite values or NaN, got an infinite one")
    whole = ~(np.isnan(a) | np.isnan(b))
    if groups is not None:
        whole &= np.bincount(own[whole], minlength=int(own.max(initial=0)) + 1)[own] > 1
    n, parts = int(whole.sum()), [np.flatnonzero(own[whole] == each) for each in np.unique(own[whole])]
    least = 2 / math.prod(math.factorial(len(part)) for part in parts) if 2 <= n <= 100 else math.nan
    if n < 3:
        return RankTest(math.nan, math.nan, n, "", 0, least, "fewer than three points have no rank correlation")
    first, second = (_centred(values[whole], parts) for values in (a, b))
    if not first.any() or not second.any():
        return RankTest(math.nan, math.nan, n, "", 0, least, "all points have the same value on one side")
    scale = math.sqrt((first @ first) * (second @ second))
    rho = float(np.clip(first @ second / scale, -1, 1))
    if n <= EXACT_MOST:
        sums = np.zeros(1)  # Σ ab under every order within the groups: the sums of the groups' own, each with each
        for part in parts:
            orders = np.array(list(permutations(range(len(part)))), dtype=np.int8)
            sums = (sums[:, None] + second[part][orders] @ first[part]).ravel()
        hits = int((np.abs(sums) / scale >= abs(rho) - _ROUNDING).sum())
        return RankTest(rho, hits / len(sums), n, EXACT, len(sums), least)
    rng, hits = np.random.default_rng(RUN_SEED), 0
    tables = [np.tile(second[part], (_CHUNK, 1)) for part in parts]
    for start in range(0, DRAWS, _CHUNK):
        many = min(_CHUNK, DRAWS - start)
        sums = np.zeros(many)
        for part, table in zip(parts, tables, strict=True):
            sums += rng.permuted(table[:many], axis=1) @ first[part]
        hits += int((np.abs(sums) / scale >= abs(rho) - _ROUNDING).sum())
    return RankTest(rho, (hits + 1) / (DRAWS + 1), n, DRAWN, DRAWS, least)


def _centred(values: np.ndarray, parts: Sequence[np.ndarray]) -> np.ndarray:
    ranks = np.empty(len(values))
    for part in parts:
        own = rankdata(values[part])
        ranks[part] = own - own.mean()
    return ranks
