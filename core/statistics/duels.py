"""Drops against harms, counted once for all items: a choice of items or of drops changes only which counts are summed.

All counts are whole, so that no sum of them is rounded: what they give is to the bit what the scores of the chosen
items give by themselves.
"""

import math
from dataclasses import dataclass

import numpy as np

from core.statistics.arithmetic import row_medians


@dataclass(frozen=True, slots=True, eq=False)
class Duels:
    """Every drop of one evaluator against every harm, of N items.

    Args:
        drops: as of :func:`core.statistics.selectivity.selectivity`, float64 [D, N].
        nuisance: median harm of each item, float64 [N]; NaN where there is none.
        twice: twice the pairs that a drop wins of the harms of a family, a tie being half a pair, uint [D, F, N].
        harms: harms of each family, uint [F, N].
        levels: different harms of all items.
        ranks: of each harm among these, int32 [H, N]; ``levels`` where there is none.
        below: different harms below each drop, int32 [D, N]; 0 where there is none.
        not_above: likewise not above it.
    """

    drops: np.ndarray
    nuisance: np.ndarray
    twice: np.ndarray
    harms: np.ndarray
    levels: int
    ranks: np.ndarray
    below: np.ndarray
    not_above: np.ndarray

    @classmethod
    def of(cls, drops: np.ndarray, harms: np.ndarray, families: np.ndarray) -> "Duels":
        """Hold every drop against every harm.

        Args:
            drops: float64 [D, N]; NaN where there is none.
            harms: float64 [H, N]; likewise.
            families: number of each harm's family, int [H], every number from 0 to F - 1 there.
        """
        count, n = int(families.max()) + 1, drops.shape[1]
        most = np.bincount(families, minlength=count).max()
        twice = np.zeros((len(drops), count, n), dtype=np.min_scalar_type(2 * most))
        for drop, own in zip(drops, twice, strict=True):
            for family, harm in zip(families, harms, strict=True):
                own[family] += drop > harm  # a comparison with a NaN is false
                own[family] += drop >= harm
        there = ~np.isnan(harms)
        sizes = np.stack([there[families == each].sum(axis=0) for each in range(count)]).astype(twice.dtype)
        levels, ranks = np.unique(harms[there], return_inverse=True)
        every = np.full(harms.shape, len(levels), dtype=np.int32)
        every[there] = ranks
        scored = ~np.isnan(drops)
        below, not_above = (np.zeros(drops.shape, dtype=np.int32) for _ in range(2))
        different, at = np.unique(drops[scored], return_inverse=True)  # searching in order stays in the cache
        below[scored] = np.searchsorted(levels, different, side="left")[at]
        not_above[scored] = np.searchsorted(levels, different, side="right")[at]
        nuisance = row_medians(np.ascontiguousarray(harms))
        return cls(drops, nuisance, twice, sizes, len(levels), every, below, not_above)

    def counted(self, counting: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pairs won, a tie one half, and pairs, of some items; float64 [n] each.

        Args:
            counting: drops that count, bool [D, n].
            places: of n items.
        """
        there = counting & ~np.isnan(self.drops[:, places])
        won = self.twice[:, :, places].sum(axis=1, dtype=np.int64)
        pairs = self.harms[:, places].sum(axis=0, dtype=np.int64) * np.count_nonzero(there, axis=0)
        return (won * there).sum(axis=0) / 2, pairs.astype(np.float64)

    def cells(self, counting: np.ndarray, places: np.ndarray, of_drops: np.ndarray, *, out: np.ndarray) -> None:
        """Selectivity of some items, each family of drops against each of harms; NaN without a pair.

        Args:
            counting, places: see :meth:`counted`.
            of_drops: number of each drop's family, int [D], every number from 0 to G - 1 there.
            out: where it is written to, float64 [G, F, n].
        """
        there = counting & ~np.isnan(self.drops[:, places])
        twice, harms = self.twice[:, :, places], self.harms[:, places].astype(np.int64)
        out[:] = math.nan
        for family, cells in enumerate(out):
            own = np.flatnonzero(of_drops == family)
            won = (twice[own] * there[own][:, None]).sum(axis=0, dtype=np.int64)
            pairs = harms * np.count_nonzero(there[own], axis=0)
            np.divide(won / 2, pairs, out=cells, where=pairs > 0)

    def pooled(self, counting: np.ndarray, places: np.ndarray) -> float:
        """Cliff's δ of the drops of some items over their harms, whichever items both are of; NaN where one lacks.

        Args:
            counting, places: see :meth:`counted`.
        """
        harms = np.bincount(self.ranks[:, places].ravel(), minlength=self.levels)[: self.levels]
        upto = np.concatenate([[0], np.cumsum(harms)])
        total = int(upto[-1])
        there = counting & ~np.isnan(self.drops[:, places])
        below, not_above = (upto[each[:, places][there]] for each in (self.below, self.not_above))
        if not len(below) or not total:
            return math.nan
        return float((below - (total - not_above)).sum() / (len(below) * total))
