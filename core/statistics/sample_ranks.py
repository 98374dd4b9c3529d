"""Rank correlations of bootstrap samples, from how often each has each item: nothing is sorted again for a sample.

Ranks, ties and pairs are whole numbers or halves of them, so that no sum of them is rounded, in whatever order it is
taken: the coefficients are to the bit those of scipy and numpy over the rows of the sample itself.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

_AT_ONCE = 100_000  # counts (items × samples) that are looked at together: they stay in the processor's cache


def sample_correlations(one: np.ndarray, other: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Spearman's ρ and Kendall's τ_b and τ_c of each sample.

    Args:
        one, other: two scorings of the same items, finite, float64 [n], n ≥ 1.
        counts: how often each sample has each item, int [n, samples].

    Returns:
        float64 [3, samples], each in [-1, 1]; NaN where a side of the sample is all alike.
    """
    step = max(1, _AT_ONCE // len(one))
    parts = [counts[:, start : start + step].astype(np.float64) for start in range(0, counts.shape[1], step)]
    return np.concatenate([np.empty((3, 0)), *(_correlations(one, other, own) for own in parts)], axis=1)


def _correlations(one: np.ndarray, other: np.ndarray, counts: np.ndarray) -> np.ndarray:
    total = counts.sum(axis=0)
    first, second = (_Alike.of(counts, each) for each in (one, other))
    # where either side has no two items alike, none are so on both
    both = _Alike.of(counts, other, one) if first.some and second.some else second if first.some else first
    rising = np.lexsort((other, one))  # of items alike on the first side, those lower on the second come first
    ranks = np.empty(len(one), dtype=np.intp)
    ranks[np.argsort(other[rising], kind="stable")] = np.arange(len(one))
    pairs, levels = total * (total - 1) / 2, np.minimum(first.levels, second.levels)
    surplus = pairs - first.pairs - second.pairs + both.pairs - 2 * _falling(ranks, counts[rising])
    with np.errstate(invalid="ignore", divide="ignore"):
        tau_c = np.clip(2 * surplus / (total**2 * (levels - 1) / levels), -1.0, 1.0)
        untied = (pairs - first.pairs) * (pairs - second.pairs)
        tau_b = tau_c * total**2 * (levels - 1) / (2 * levels) / np.sqrt(untied)
        found = np.array([_rho(counts, total, first.ranks(), second.ranks()), tau_b, tau_c])
    return np.where(levels > 1, found, math.nan)


@dataclass(frozen=True, slots=True, eq=False)
class _Alike:
    """Items of equal keys.

    Args:
        of_item: number of each item's key, in rising order of the keys, int [n].
        counts: how often each sample has a key, float64 [keys, samples].
    """

    of_item: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, counts: np.ndarray, *keys: np.ndarray) -> "_Alike":
        """Args: float64 [n, samples], and keys [n] as :func:`numpy.lexsort` takes them."""
        order = np.lexsort(keys)
        new = np.any([np.diff(each[order], prepend=math.nan) != 0 for each in keys], axis=0)
        of_item = np.empty(len(order), dtype=np.intp)
        of_item[order] = np.cumsum(new) - 1
        own = counts[order]
        return cls(of_item, own if new.all() else np.add.reduceat(own, np.flatnonzero(new), axis=0))

    @property
    def some(self) -> bool:
        """Whether two items have one key."""
        return len(self.counts) < len(self.of_item)

    @property
    def levels(self) -> np.ndarray:
        """Different keys of each sample, float64 [samples]."""
        return np.asarray(np.minimum(self.counts, 1).sum(axis=0))

    @property
    def pairs(self) -> np.ndarray:
        """Pairs of rows of one key, float64 [samples]."""
        return np.asarray((self.counts * (self.counts - 1) / 2).sum(axis=0))

    def ranks(self) -> np.ndarray:
        """Mean rank of each item in each sample less the middle rank, float64 [n, samples]."""
        upto = self.counts.cumsum(axis=0)
        middle = upto[-1] / 2
        upto -= self.counts / 2
        upto -= middle
        return np.asarray(upto[self.of_item])


def _rho(counts: np.ndarray, total: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Correlation of the ranks of each sample's rows, in the steps of :func:`numpy.corrcoef`."""
    share = 1 / (total - 1)
    weighted = counts * first
    covariance = (weighted * second).sum(axis=0) * share
    spreads = [np.sqrt(each.sum(axis=0) * share) for each in (weighted * first, counts * second**2)]
    return np.asarray(np.clip(covariance / spreads[0] / spreads[1], -1.0, 1.0))


def _falling(ranks: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Pairs of each sample whose first item stands before the second and ranks above it.

    Places and ranks are cut into √n blocks of √n. A pair lies in one block of places, or in two but in one of ranks:
    both are products of small matrices; or in two of either, which running sums over the blocks count.

    Args:
        ranks: of the items in the order in which they stand, a permutation [n].
        counts: float64 [n, samples].

    Returns:
        float64 [samples].
    """
    n, side = len(ranks), math.isqrt(len(ranks) - 1) + 1
    padded = np.zeros((side * side, counts.shape[1]))
    padded[:n] = counts
    every = np.concatenate([ranks, np.arange(n, side * side)])
    placed = np.argsort(every)
    found = _falling_within(every, padded, side) + _falling_within(placed // side, padded[placed], side)
    cells = np.arange(side * side) // side * side + every // side
    spread = csr_array((np.ones(len(cells)), (cells, np.arange(len(cells)))), shape=(len(cells), len(cells)))
    blocks = (spread @ padded).reshape(side, side, -1)
    before = blocks[:-1].cumsum(axis=0)  # places of earlier blocks, by their block of ranks
    above = before[:, :0:-1].cumsum(axis=1)[:, ::-1]
    return np.asarray(found + (above * blocks[1:, :-1]).sum(axis=(0, 1)))


def _falling_within(keys: np.ndarray, counts: np.ndarray, side: int) -> np.ndarray:
    """Pairs within a block whose first has the larger key, float64 [samples]; keys [side²], counts [side², samples]."""
    key, own = keys.reshape(side, side), counts.reshape(side, side, -1)
    falls = (key[:, None, :] > key[:, :, None]) & np.tri(side, k=-1, dtype=bool)
    return np.asarray(((falls.astype(np.float64) @ own) * own).sum(axis=(0, 1)))
