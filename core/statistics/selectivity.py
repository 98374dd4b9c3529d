"""Selectivity: does a broken meaning cost more than a harmless edit, within one item?

An evaluator that never moves is invariant and useless; one that moves at everything detects every broken caption. Both
halves of an audit meet in one number: the probability that a broken meaning costs more than a harmless edit moves, ties
half. 0.5: a broken meaning costs as much as a harmless edit does. 1: every broken meaning costs more than any of
them. Chance is neither: a drop has a sign and a harm has none, so that noise has about ¼ and a deaf evaluator ½. What
an evaluator has by chance is what it would have if right and wrong sides changed places at random within each item:
the mean over both ways of every drop [2], exact, with its own ties. It is a probability of superiority [1] taken
within items, so that no scale, no unit and no difference between items enters it.

References:
    [1] Vargha, A. and Delaney, H. D. (2000). A critique and improvement of the CL common language effect size
        statistics of McGraw and Wong. Journal of Educational and Behavioral Statistics 25(2), 101-132.
    [2] Pesarin, F. and Salmaso, L. (2010). Permutation Tests for Complex Data, 2.7: exchanging within pairs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.errors import InvalidInput
from core.statistics.arithmetic import row_medians
from core.statistics.bootstrap import Interval, median_bca
from core.statistics.ratios import means_bca, median_ratios_bca
from core.statistics.shares import share_of_fractions
from core.statistics.shift_tests import cliffs_delta

NO_UNIT = "the unedited scores do not differ: there is no unit to measure a shift in"
UNMOVED = "harmless edits cannot be distinguished from no change: a ratio to them says nothing"


@dataclass(frozen=True, slots=True)
class Selectivity:
    """What one evaluator does under broken meanings and under harmless edits."""

    # mean over items of an item's Pr[drop > harm] + ½ Pr[=], in [0, 1], BCa over items or their sources
    value: Interval
    chance: float  # the same, were the right and the wrong side of each comparison exchanged at random
    # value less chance, in [-½, ½], with its 95 % interval over items or their sources: about 0 for noise
    above: Interval
    pooled: float  # value over all drops and all harms, whichever items they are of
    nuisance: Interval  # median over items of an item's median harm, in the unit given
    signal: Interval  # median over items of an item's median drop, likewise
    ratio: Interval  # signal over nuisance, over the items that have both; see ``said``
    said: str  # why the ratio says nothing; empty where it does
    n_pairs: int  # pairs of a drop and a harm of one item


def selectivity(
    drops: np.ndarray, harms: np.ndarray, *, unit: float = 1.0, sources: np.ndarray | None = None
) -> Selectivity:
    """Work out the selectivity of one evaluator. Raises InvalidInput if the shapes do not fit.
    ``drops``: score of the right side minus that of the wrong one, float64 [D, N]; NaN where there is none.
    ``harms``: absolute shift under a harmless edit, float64 [H, N]; likewise.
    ``unit``: what drops and harms are divided by for signal and nuisance: the standard deviation of the evaluator's
    unedited scores. 0 or NaN leaves them without a number; the selectivity needs none.
    ``sources``: number of each item's source, int [N]; None: each is one of its own."""
    _check(drops, harms)
    return told_of(
        [_counted(drops, harms)],
        [row_medians(np.ascontiguousarray(drops))],
        row_medians(np.ascontiguousarray(harms)),
        [cliffs_delta(drops, harms)],
        unit=unit,
        sources=sources,
    )[0]


def told_of(
    counted: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]],
    signals: Sequence[np.ndarray],
    nuisance: np.ndarray,
    deltas: Sequence[float],
    *,
    unit: float = 1.0,
    sources: np.ndarray | None = None,
) -> tuple[Selectivity, ...]:
    """:func:`selectivity` of several sets of drops against the same harms, from what is known of each item.
    ``counted``: of each set of drops, pairs won, pairs won by their opposites, and pairs of each item, float64 [N]
    each.
    ``signals``: likewise the median drop of each item, float64 [N].
    ``nuisance``: median harm of each item, float64 [N].
    ``deltas``: of each set, Cliff's δ of all drops over all harms."""
    size = unit if unit > 0 else math.nan
    of_items = [_share(won, pairs) for won, _, pairs in counted]
    above = [above_chance(_share((won - other) / 2, pairs), sources=sources) for won, other, pairs in counted]
    moved, harmed = np.stack(signals) / size, nuisance / size
    below = median_bca(harmed, groups=sources)
    ratios = median_ratios_bca(moved, harmed, groups=sources)
    means, said, found = _means(of_items, sources), _unmoved(below, size), []
    for delta, value, over, signal, ratio, (*_, pairs) in zip(
        deltas, means, above, moved, ratios, counted, strict=True
    ):
        chance, pooled, moves = value.estimate - over.estimate, (delta + 1) / 2, median_bca(signal, groups=sources)
        found.append(Selectivity(value, chance, over, pooled, below, moves, ratio, said, int(pairs.sum())))
    return tuple(found)


def above_chance(of_items: np.ndarray, *, sources: np.ndarray | None = None) -> Interval:
    """Mean of what items have above their own chance, with its interval; see :class:`Selectivity`. ``of_items``: half
    of an item's selectivity less that of its drops' opposites, float64 [N] in [-½, ½]; NaN for none; ``sources``: as of
    :func:`selectivity`."""
    found = share_of_fractions(of_items + 0.5, groups=sources)
    return replace(found, estimate=found.estimate - 0.5, low=found.low - 0.5, high=found.high - 0.5)


def check_distance(least: float | None) -> None:
    """Refuse a distance from chance that no evaluator can have; None asks for none. Raises InvalidInput if it is out of
    range."""
    if least is not None and not 0 <= least <= 0.5:
        raise InvalidInput(
            "a selectivity lies at most 0.5 above its own chance, where every broken meaning costs more than any "
            f"harmless edit; ask for 0 to 0.5, got {least:g}"
        )


def _means(of_items: Sequence[np.ndarray], sources: np.ndarray | None) -> list[Interval]:
    """Mean of each with its interval; those that hold the same items share one product with the draws."""
    found: dict[int, Interval] = {}
    there = [~np.isnan(each) for each in of_items]
    for place, kept in enumerate(there):
        if place not in found:
            alike = [other for other in range(place, len(there)) if np.array_equal(there[other], kept)]
            groups = None if sources is None else sources[kept]
            rows = np.stack([of_items[other][kept] for other in alike])
            found |= dict(zip(alike, means_bca(rows, groups=groups, fractions=True), strict=True))
    return [found[place] for place in range(len(of_items))]


def item_selectivity(drops: np.ndarray, harms: np.ndarray) -> np.ndarray:
    """Pr[drop > harm] + ½ Pr[=] over the pairs of each item. ``drops``: float64 [D, N]; NaN where there is none;
    ``harms``: float64 [H, N]; likewise. Returns float64 [N], in [0, 1]; NaN for an item without a pair.

    >>> item_selectivity(np.array([[2.0, 0.0]]), np.array([[1.0, 0.0], [3.0, 0.0]]))
    array([0.5, 0.5])
    """
    _check(drops, harms)
    won, _, pairs = _counted(drops, harms)
    return _share(won, pairs)


def _share(wins: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Share of each item's pairs that are won; NaN without a pair."""
    return np.asarray(np.divide(wins, pairs, out=np.full(len(pairs), math.nan), where=pairs > 0))


def _counted(drops: np.ndarray, harms: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs won, a tie one half, pairs won by the drops' opposites, and pairs, of each item; float64 [N] each."""
    n = drops.shape[1]
    wins, known = np.zeros((2, n)), (~np.isnan(harms)).sum(axis=0).astype(np.float64)
    for drop in drops:  # one at a time holds no cube
        for way, own in zip((drop, -drop), wins, strict=True):
            # a comparison with a NaN is false on both sides
            own += (way > harms).sum(axis=0) + 0.5 * (way == harms).sum(axis=0)
    return wins[0], wins[1], known * (~np.isnan(drops)).sum(axis=0)


def _unmoved(nuisance: Interval, unit: float) -> str:
    """Why a ratio to the nuisance says nothing; empty where the interval of the nuisance lies above 0."""
    if math.isnan(unit):
        return NO_UNIT
    if math.isnan(nuisance.low):
        return nuisance.note or "no interval of what harmless edits do"
    return "" if nuisance.low > 0 else UNMOVED


def _check(drops: np.ndarray, harms: np.ndarray) -> None:
    if drops.ndim != 2 or harms.ndim != 2 or drops.shape[1] != harms.shape[1]:
        raise InvalidInput(f"drops and harms are [edits, items] of the same items, got {drops.shape} and {harms.shape}")


# Drops against harms, counted once for all items: a choice of items or of drops changes only which counts are summed.
#
# All counts are whole, so that no sum of them is rounded: what they give is to the bit what the scores of the chosen
# items give by themselves.


@dataclass(frozen=True, slots=True, eq=False)
class Duels:
    """Every drop of one evaluator against every harm, of N items."""

    drops: np.ndarray  # as of :func:`core.statistics.selectivity.selectivity`, float64 [D, N]
    nuisance: np.ndarray  # median harm of each item, float64 [N]; NaN where there is none
    # twice the pairs that a drop wins of the harms of a family, a tie being half a pair, uint [D, F, N]
    twice: np.ndarray
    won: np.ndarray  # the same of all harms, uint [2, D, N]: of the drop, and of its opposite
    harms: np.ndarray  # harms of each family, uint [F, N]
    levels: int  # different harms of all items
    ranks: np.ndarray  # of each harm among these, int32 [H, N]; ``levels`` where there is none
    below: np.ndarray  # different harms below each drop, int32 [D, N]; 0 where there is none
    not_above: np.ndarray  # likewise not above it

    @classmethod
    def of(cls, drops: np.ndarray, harms: np.ndarray, families: np.ndarray) -> "Duels":
        """Hold every drop against every harm.
        ``drops``: float64 [D, N]; NaN where there is none. ``harms``: float64 [H, N]; likewise.
        ``families``: number of each harm's family, int [H], every number from 0 to F - 1 there."""
        count, n = int(families.max()) + 1, drops.shape[1]
        most = np.bincount(families, minlength=count).max()
        twice = np.zeros((len(drops), count, n), dtype=np.min_scalar_type(2 * most))
        for drop, own in zip(drops, twice, strict=True):
            for family, harm in zip(families, harms, strict=True):
                own[family] += drop > harm  # a comparison with a NaN is false
                own[family] += drop >= harm
        won = np.zeros((2, len(drops), n), dtype=np.min_scalar_type(2 * len(harms)))
        np.sum(twice, axis=1, out=won[0], dtype=won.dtype)
        for drop, own in zip(-drops, won[1], strict=True):
            for harm in harms:
                own += drop > harm
                own += drop >= harm
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
        return cls(drops, nuisance, twice, won, sizes, len(levels), every, below, not_above)

    def counted(self, counting: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pairs won, a tie one half, pairs won by the drops' opposites, and pairs, of some items; float64 [n] each.
        ``counting``: drops that count, bool [D, n]."""
        there = counting & ~np.isnan(self.drops[:, places])
        won = self.won[:, :, places].sum(axis=1, dtype=np.int64, where=there)
        pairs = self.harms[:, places].sum(axis=0, dtype=np.int64) * np.count_nonzero(there, axis=0)
        return won[0] / 2, won[1] / 2, pairs.astype(np.float64)

    def cells(self, counting: np.ndarray, places: np.ndarray, of_drops: np.ndarray, *, out: np.ndarray) -> None:
        """Selectivity of some items, each family of drops against each of harms; NaN without a pair.
        ``counting``, ``places``: see :meth:`counted`.
        ``of_drops``: number of each drop's family, int [D], every number from 0 to G - 1 there.
        ``out``: where it is written to, float64 [G, F, n]."""
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
        ``counting``, ``places``: see :meth:`counted`."""
        harms = np.bincount(self.ranks[:, places].ravel(), minlength=self.levels)[: self.levels]
        upto = np.concatenate([[0], np.cumsum(harms)])
        total = int(upto[-1])
        there = counting & ~np.isnan(self.drops[:, places])
        below, not_above = (upto[each[:, places][there]] for each in (self.below, self.not_above))
        if not len(below) or not total:
            return math.nan
        return float((below - (total - not_above)).sum() / (len(below) * total))
