"""Which of several medians is the largest, and how sure is it? A maximum is picked after seeing the data.

Its own interval says nothing of that: another draw of the same items may have had another one on top. So the same
items, or whole sources of them, are drawn for all rows at once, and the share of the draws stands beside the pick.

Source: Hall, P. and Miller, H. (2009). Using the bootstrap to quantify the authority of an empirical ranking. Annals of
Statistics 37(6B), 3929-3959.
"""

import math

import numpy as np

from core.seeds import RUN_SEED
from core.statistics.bootstrap import LEAST_N
from core.statistics.by_source import ranks_of
from core.statistics.ratios import drawn_counts
from core.statistics.resamples import sample_medians

DRAWS, FEWER, MANY = 1_000, 200, 2_000
"""Draws, and those where there are more than MANY sources: each costs a pass over all items."""


def shares_of_largest(values: np.ndarray, *, groups: np.ndarray | None = None, seed: int = RUN_SEED) -> np.ndarray:
    """Share of bootstrap samples in which each row's median is the largest.

    Args:
        values: a row each, of the same items, float64 [m, n]; NaN are left out of their row.
        groups: source of each item, [n]: those of one source are drawn together. None: each is one of its own.
        seed: of the draws.

    Returns:
        float64 [m], which sum to 1: of equal largest ones each has its part. NaN below LEAST_N items or sources, and
        where there is one row.

    Example:
        >>> shares_of_largest(np.array([np.arange(20.0), np.arange(20.0) + 100])).tolist()
        [0.0, 1.0]
    """
    rows = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(rows).all(axis=0)
    rows, m = rows[:, known], len(rows)
    n = rows.shape[1]
    ranks = ranks_of(None if groups is None else np.asarray(groups)[known], n)
    sources = n if ranks is None else int(ranks.max()) + 1
    if m < 2 or sources < LEAST_N:
        return np.full(m, math.nan)
    draws, won = DRAWS if sources <= MANY else FEWER, np.zeros(m)
    for counts in drawn_counts(sources, draws, seed=seed, each=n):
        spread = counts if ranks is None else counts[:, ranks]
        medians = np.stack([np.nan_to_num(sample_medians(row, spread), nan=-math.inf) for row in rows])
        top = medians == medians.max(axis=0)
        won += (top / top.sum(axis=0)).sum(axis=1)
    return np.asarray(won / draws)
