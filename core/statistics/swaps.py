"""Do neighbours on a leaderboard change places under an edit that should not matter?

A bootstrap sample of items is scored twice, unedited and edited: what changes between the two is the edit's, and not
the sample's. So a swap's probability tells an unstable pair from one that the choice of images alone decides, which
stands beside it. Source: paper A, 3.4, equation 1, on means of any number of systems.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.bootstrap import too_few
from core.statistics.standings import drawn_means, source_ranks

DRAWS = 2_000
"""Bootstrap samples behind a swap's probability: one of 0.5 has a Monte-Carlo error of 1.1 points."""


@dataclass(frozen=True, slots=True)
class Swap:
    """What one edit does to one pair of systems.

    Args:
        before, after: mean gap, first minus second, on the same items.
        swapped: whether the sign of the mean gap changes, a tie that is broken or made included.
        probability: share of bootstrap samples of items in which it does; NaN below LEAST_N items or sources.
        chance: share of samples whose unedited gap has another sign than the gap of all items; likewise.
        n: items on which both systems have a score, unedited and edited.
        note: why there is no probability; empty otherwise.
    """

    before: float
    after: float
    swapped: bool
    probability: float
    chance: float
    n: int
    note: str = ""


def neighbours(means: ArrayLike) -> tuple[tuple[int, int], ...]:
    """Places of the systems that follow each other on a leaderboard, the highest mean first; ties in their order.

    Example:
        >>> neighbours([0.2, 0.5, 0.4])
        ((1, 2), (2, 0))
    """
    order = np.argsort(-np.asarray(means, dtype=np.float64), kind="stable").tolist()
    return tuple(pairwise(order))


def swap(
    before: ArrayLike,
    after: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    resamples: int = DRAWS,
    seed: int = RUN_SEED,
) -> Swap:
    """Compare the gap of two systems before and after one edit.

    Args:
        before: scores of both systems on n unedited items, float64 [n, 2]; higher is better.
        after: the same under the edit; an item with a NaN on either side is left out.
        groups: source of each item, shape [n]; None: each is one.
        resamples: number of samples.
        seed: of the draws.

    Raises:
        InvalidInput: if the shapes differ.
    """
    one, other = (np.asarray(each, dtype=np.float64) for each in (before, after))
    if one.ndim != 2 or one.shape != other.shape or one.shape[1] != 2:
        raise InvalidInput(f"two systems have two scores an item and side, got the shapes {one.shape}, {other.shape}")
    whole = np.isfinite(np.column_stack([one, other])).all(axis=1)
    every = source_ranks(groups, len(one))
    one, other, n = one[whole], other[whole], int(whole.sum())
    if n == 0:
        return Swap(math.nan, math.nan, False, math.nan, math.nan, 0, "no item is whole")
    sources = source_ranks(every[whole], n)
    gap_before, gap_after = (float(np.diff(each.mean(axis=0)[::-1])[0]) for each in (one, other))
    swapped = bool(np.sign(gap_before) != np.sign(gap_after))
    if note := too_few(n, int(sources.max()) + 1):
        return Swap(gap_before, gap_after, swapped, math.nan, math.nan, n, note)
    drawn = drawn_means(np.column_stack([one, other]), groups=sources, resamples=resamples, seed=seed)
    clean, edited = (np.sign(drawn[:, first] - drawn[:, first + 1]) for first in (0, 2))
    chance = float((clean != np.sign(gap_before)).mean())
    return Swap(gap_before, gap_after, swapped, float((clean != edited).mean()), chance, n)
