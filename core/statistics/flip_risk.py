"""Risk of ranking flip: how often an edit that should not matter inverts a near tie, and the gap that outlasts it.

RRF(d) = Pr[δ′ - δ > d], δ and δ′ the shifts of two captions by an edit of one family, either of which may be the one
that was ahead. So RRF(d) ≤ 1/2 for every d ≥ 0, and it never rises with d, being the tail of one distribution. Which
two captions makes two numbers of it.

**Of one picture** (:class:`CaptionPairs`): both stand under the same edit of the same picture, as the captions of two
systems do that are ranked, and mostly move together. RRF(d) is half the share of such pairs whose difference of scores
moves by more than d. A picture counts once, by the mean over its pairs and transforms; the interval is half Wilson's,
with the pictures' sources as units. What is assumed is that a pair moves alike whatever its gap, and either way;
:attr:`CaptionPairs.turned` says what really happened to the near ties among them.

**Of different pictures** (:class:`ShiftPairs`): δ and δ′ are independent draws, first an item, then one
of its transforms, both uniformly [1]. Two independent items are almost never the same one, so the estimate is
over all pairs of different items (a U-statistic, without bias). Every such pair counts: the value is exact. Its
interval is Student's on the logit of 2·RRF, the share of pairs of items further apart than d, with the variance of
a U-statistic over sources [2, 3] and as many degrees of freedom as there are disjoint pairs of these. A bootstrap of so
few extreme pairs holds its level neither near the bound of 1/2 nor where few pairs exceed (measured: 20 to 80 % instead
of 95 % at 10 items, 60 to 90 % at 30). This one holds the truth in 93 to 98 of 100 runs from 60 sources on, at risks of
1 to 49.8 % (four worlds of shifts, 1500 runs each), and below none is given. Two heaps of equal size, whose risk has no
variance to first order, are always held. Where the exceeding pairs rest on few sources, the disjoint pairs are what is
certain: half as many as there are sources, and Wilson's interval of these; where no pair exceeds, or every one, the
exact (Clopper-Pearson) bound of these.

References:
    [1] Paper A, section 3.4 and appendix B.5.
    [2] Hoeffding, W. (1948). A class of statistics with asymptotically normal distribution. Ann. Math.
        Stat. 19, 293-325.
    [3] Efron, B. and Stein, C. (1981). The jackknife estimate of variance. Ann. Statist. 9, 586-596.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import expit, logit, stdtrit

from core.errors import InvalidInput
from core.statistics.bootstrap import LEAST_N, Interval, too_few
from core.statistics.crossed_sources import first_of, widening
from core.statistics.power import difference
from core.statistics.shares import share_of_sums, wilson
from core.statistics.shift_pairs import ShiftPairs

GAPS = (0.003, 0.005, 0.007, 0.010)
"""Gaps as shares: 0.7 % is 0.007 of the span of the scale, or of the interquartile range. Source: [1]."""

LEAST_SOURCES = 6 * LEAST_N
"""Fewest sources for an interval of a risk. With 20, one in ten misses the truth where shifts fall into two heaps; with
30 and 45, 98 to 99 of 100 hold it near the bound of 1/2 and in the tail, more than the level says."""

TOLERATED = 0.05
"""Flip risk below which a difference between two scores counts as evidence. Source: PROTOCOL section 4."""

LEAST_EVIDENCE = 72
"""Fewest sources for an interval of the trustworthy gap: below, not even a gap that no pair exceeds is shown to be one,
since 0 of 35 disjoint pairs do not exclude that a tenth of all pairs exceeds it (exact bound)."""

LEAST_PICTURES = 40
"""The same of pairs of captions of one picture: with 0 of 39 sources beyond a gap, a tenth is not excluded."""

FEW_SOURCES = 15  # sources on which the exceeding pairs must rest for their variance to be believed
_STEPS = 5  # tries to find a gap whose own precision leads back to it, before the range is searched


def intervals_of(pairs: ShiftPairs, gaps: Sequence[float], *, level: float = 0.95) -> list[Interval]:
    """RRF at every gap with its interval over sources, O(n log n) a gap. Returns one interval a gap; ``n`` counts
    items. Below LEAST_SOURCES sources, and where there is no pair, no bounds, and ``note`` says why.
    ``pairs``: see :class:`ShiftPairs`. ``gaps``: d in the unit of the shifts, each at least 0.

    >>> [each.estimate for each in intervals_of(ShiftPairs([0.0, 1.0], None), [0.0, 0.5, 1.0])]
    [0.5, 0.5, 0.0]
    """
    wanted = np.asarray(gaps, dtype=np.float64)
    if said := _nothing(pairs):
        return [Interval(math.nan, math.nan, math.nan, pairs.n_items, level, said) for _ in wanted]
    few, found = too_few(pairs.n_items, len(pairs.sources), least=LEAST_SOURCES), []
    for gap in wanted.tolist():  # one at a time: its interval needs the counts of its risk, which the next one replaces
        risk, note = float(pairs.risks(np.array([gap]))[0]), few
        low = high = math.nan
        if not few:
            p = min(2 * risk, 1.0)
            low, high = (end / 2 for end in _bounds(p, *_precision(pairs, gap), level))
            beyond = {0.0: "no", 1.0: "every"}.get(p)
            note = f"{beyond} pair lies further apart than the gap: exact bound" if beyond else ""
        found.append(Interval(risk, low, high, pairs.n_items, level, note))
    return found


def evident_gap(pairs: ShiftPairs, *, risk: float = TOLERATED, level: float = 0.95) -> Interval:
    """Smallest gap from which on the flip risk is below a share: the trustworthy gap.

    The risk never rises with the gap, so that there is one such gap, and it is always reached: at the largest
    difference between two shifts the risk is 0. It is the quantile 1 - 2·risk of the differences |δ′ - δ|. Its interval
    is that of the risk turned round: from the largest gap at which the risk is shown to be higher, to the smallest from
    which on it is shown to be lower. So it holds the truth as often as the interval of the risk does. ``risk``: in (0,
    0.5); ``level``: confidence level in (0, 1).
    Returns: in the unit of the shifts; 0 where no gap at all has that risk; ``n`` counts items.

    >>> evident_gap(ShiftPairs([0.0, 0.0, 1.0], None), risk=0.25).estimate
    1.0
    """
    if said := _nothing(pairs):
        return Interval(math.nan, math.nan, math.nan, pairs.n_items, level, said)
    found = pairs.gap_at(risk)
    if said := too_few(pairs.n_items, len(pairs.sources), least=LEAST_EVIDENCE):
        return Interval(found, math.nan, math.nan, pairs.n_items, level, said)
    if pairs.largest == 0:
        return Interval(found, math.nan, math.nan, pairs.n_items, level, "no interval: no two shifts differ")

    low = (
        0.0 if intervals_of(pairs, (0.0,), level=level)[0].low < risk else _end(pairs, found, risk, level, upper=False)
    )
    return _of_width(Interval(found, low, _end(pairs, found, risk, level, upper=True), pairs.n_items, level))


def _of_width(found: Interval) -> Interval:
    """An interval of a gap, or none where both its ends are the gap: scores of few values have few gaps."""
    if found.low < found.high:
        return found
    said = "no interval: the scores have so few values that both its ends are the gap"
    return replace(found, low=math.nan, high=math.nan, note=said)


def _end(pairs: ShiftPairs, found: float, risk: float, level: float, *, upper: bool) -> float:
    """Where a bound of the risk falls below a share, to a thousandth of the range in question. ``upper``: of the upper
    bound, which falls below at a larger gap; else of the lower one, at a smaller."""
    start, end = (found, pairs.largest) if upper else (0.0, found)
    close = (end - start) / 1000
    gap = found
    for _ in range(_STEPS):
        share = 2 * risk  # of pairs, whose bound from as many independent ones is about this
        precision = _precision(pairs, gap)
        for _ in range(_STEPS):
            reached = _bounds(share, *precision, level)[upper]
            if not 0 < reached < 1:
                break
            share = float(expit(logit(share) + logit(2 * risk) - logit(reached)))
        last, gap = gap, min(max(pairs.gap_about(share / 2), start), end)
        if abs(gap - last) <= close:
            return gap

    def above(gap: float) -> float:
        bounds = intervals_of(pairs, (gap,), level=level)[0]
        return risk - (bounds.high if upper else bounds.low)

    if not start < end or above(start) > 0:
        return start
    return end if above(end) <= 0 else float(brentq(above, start, end, xtol=close))


def excess(one: ShiftPairs, other: ShiftPairs, gap: float, *, level: float = 0.95) -> Interval:
    """Risk of one family minus that of another at one gap, e.g. over the null family's, paired by source.

    Student's interval on the difference, with the variance of the paired influences; none where one of the two rests on
    fewer than LEAST_SOURCES sources, or on few exceeding (or few not exceeding) pairs, whose variance cannot be known.
    ``one``, ``other``: shifts of the two families; items and sources are numbered alike; ``level``: confidence level in
    (0, 1). The result lies in [-0.5, 0.5]; ``n`` counts the items of ``one``."""
    if said := _nothing(one) or _nothing(other):
        return Interval(math.nan, math.nan, math.nan, one.n_items, level, said)
    risks = [float(each.risks(np.array([gap]))[0]) for each in (one, other)]
    difference = risks[0] - risks[1]
    found = [_variance(each, gap, risk) for each, risk in zip((one, other), risks, strict=True)]
    said = next(filter(None, (too_few(p.n_items, len(p.sources), least=LEAST_SOURCES) for p in (one, other))), "")
    if not said and any(shaky for *_, shaky in found):
        said = "no interval: the pairs on one side of the gap rest on too few sources"
    if said:
        return Interval(difference, math.nan, math.nan, one.n_items, level, said)
    names = np.sort(np.concatenate([one.sources, other.sources]), kind="stable")  # two rising runs are merged
    names = names[np.append(True, names[1:] != names[:-1])]
    together = np.zeros(len(names))
    for (influence, *_), pairs, sign in zip(found, (one, other), (1, -1), strict=True):
        together[np.searchsorted(names, pairs.sources)] += sign * influence
    n = len(names)
    times = max(each.times(gap, level=level) for each in (one, other))
    reach = times * float(stdtrit(n // 2 - 1, (1 + level) / 2)) * math.sqrt(_inflated(together, n)) / 2
    low, high = max(difference - reach, -0.5), min(difference + reach, 0.5)
    return Interval(difference, low, high, one.n_items, level)


class CaptionPairs:
    """Pairs of captions of one picture under one edit: how far apart they score before it, and after. Raises
    InvalidInput if a difference is infinite, or the lengths differ.
    ``before``: score of the one caption less that of the other on the unedited picture, any shape; NaN are left out.
    ``after``: the same on the edited picture, the same shape.
    ``items``: number of the item of each pair, the same shape.
    ``sources``: number of the source of each item by the item's number, or of two, [items, 2]; None: every item is a
    source of its own.

    >>> CaptionPairs([0.1, -0.2, 0.3], [-0.1, -0.2, 0.3], [0, 1, 2]).risk(0.1).estimate.__round__(3)
    0.167
    """

    def __init__(
        self, before: ArrayLike, after: ArrayLike, items: ArrayLike, sources: np.ndarray | None = None
    ) -> None:
        start, end = (np.asarray(each, dtype=np.float64).ravel() for each in (before, after))
        codes = np.asarray(items, dtype=np.intp).ravel()
        if not len(start) == len(end) == len(codes):
            raise InvalidInput(
                f"each pair needs both differences and its item: got {len(start)}, {len(end)} and {len(codes)}"
            )
        if np.isinf(start).any() or np.isinf(end).any():
            raise InvalidInput("differences must be finite or NaN, got an infinite one; drop it and count it")
        there = ~np.isnan(start - end)
        start, end, codes = start[there], end[there], codes[there]
        names, self._items = np.unique(codes, return_inverse=True)
        self.n_items, self.n_pairs = len(names), len(codes)
        self._owners = names if sources is None else sources[names]
        self.sources, self._owner = np.unique(first_of(self._owners), return_inverse=True)
        self._sizes = np.bincount(self._items, minlength=self.n_items)
        self._moved = np.abs(end - start)
        self.gaps = np.abs(start)
        """How far apart the pairs scored before the edit, float64 [pairs]."""
        self.turned = start * end < 0
        """Whether the caption that was ahead is behind after the edit, bool [pairs]; a tie, before or after, is not."""
        self.items, self.owners = names[self._items], self._owners[self._items]
        """Number of the item of each pair, int [pairs], and of its source, or of two, [pairs, 2]."""

    @cached_property
    def _steps(self) -> tuple[np.ndarray, np.ndarray]:
        """The gaps at which the risk falls, rising, and the risk at each; at 0 first."""
        order = np.argsort(self._moved)
        moved = np.concatenate([[0.0], self._moved[order]])
        upto = np.concatenate([[0.0], np.cumsum((1 / self._sizes)[self._items][order])])
        last = np.append(moved[1:] != moved[:-1], True)
        return moved[last], np.clip(np.round(1 - upto[last] / self.n_items, 13), 0.0, 1.0) / 2

    def risks(self, gaps: ArrayLike) -> np.ndarray:
        """RRF at every gap of at least 0, float64 [gaps]; NaN where fewer than two items have a pair."""
        wanted = np.atleast_1d(np.asarray(gaps, dtype=np.float64))
        if self.n_items < 2:
            return np.full(len(wanted), math.nan)
        steps, risks = self._steps
        return np.asarray(risks[np.searchsorted(steps, wanted, side="right") - 1])

    def risk(self, gap: float, *, level: float = 0.95) -> Interval:
        """RRF at a gap, with half of Wilson's interval over sources; ``n`` counts items."""
        if said := self._nothing:
            return Interval(math.nan, math.nan, math.nan, self.n_items, level, said)
        beyond = np.bincount(self._items, self._moved > gap, self.n_items) / self._sizes
        most = self._sizes.max()  # as many values an item as it has at most: what they agree in narrows nothing
        own = (np.bincount(self._owner, each) for each in (beyond, np.ones(self.n_items)))
        times = widening(beyond - beyond.mean(), self._owners, level=level)
        found = replace(share_of_sums(*(most * each for each in own), level=level, times=times), n=self.n_items)
        if said := too_few(self.n_items, len(self.sources)):
            found = replace(found, low=math.nan, high=math.nan, note=said)
        return replace(found, estimate=found.estimate / 2, low=found.low / 2, high=found.high / 2)

    def gap_at(self, risk: float = TOLERATED) -> float:
        """Smallest gap of at least 0 whose risk is below a share in (0, 0.5]; NaN where two items have no pair."""
        if self.n_items < 2:
            return math.nan
        steps, risks = self._steps
        return float(steps[np.argmax(risks < risk)])

    def evident(self, *, risk: float = TOLERATED, level: float = 0.95) -> Interval:
        """See :func:`evident_gap`: likewise the interval of the risk turned round, none below LEAST_PICTURES."""
        found = self.gap_at(risk)
        said = self._nothing or too_few(self.n_items, len(self.sources), least=LEAST_PICTURES)
        if not said and len(self._steps[0]) == 1:
            said = "no interval: no edit moves one caption of a picture otherwise than another"
        if said:
            return Interval(found, math.nan, math.nan, self.n_items, level, said)

        def below(end: str) -> float:
            steps = self._steps[0]
            place = bisect_left(
                range(len(steps) - 1),
                True,
                key=lambda at: getattr(self.risk(float(steps[at]), level=level), end) < risk,
            )
            return float(steps[place])

        return _of_width(Interval(found, min(below("low"), found), max(below("high"), found), self.n_items, level))

    def excess(self, other: "CaptionPairs", gap: float, *, level: float = 0.95) -> Interval:
        """Risk less that of another family at one gap, e.g. of the null family's.

        The two intervals are joined as if the families were independent (Zou and Donner 2008): no too short where the
        same pictures turn in both."""
        one, less = self.risk(gap, level=level), other.risk(gap, level=level)
        found = difference(one, less)
        low, high = max(found.low, -0.5), min(found.high, 0.5)
        return replace(found, low=low, high=high, n=one.n, note=one.note or less.note)

    @property
    def _nothing(self) -> str:
        return ("no pair of captions", "one picture")[self.n_items] if self.n_items < 2 else ""


def _variance(pairs: ShiftPairs, gap: float, risk: float) -> tuple[np.ndarray, float, bool]:
    """What Hoeffding's variance of 2·RRF over sources is made of: the influence of each; what pairs of sources add
    beside their sources' own, and the squared influences count twice; and whether no pair exceeds, every one does, or
    those that do rest on few sources."""
    n = pairs.n_items
    every = n * (n - 1) / 2
    influence, shaky = pairs.by_source(gap), True
    if 0 < risk < 0.5:
        involved = influence + 2 * risk * (n - 1) * pairs.source_sizes
        shaky = float(involved.sum() ** 2) < FEW_SOURCES * float(np.square(involved).sum())
    return influence / every, 2 * risk * pairs.between_sources(gap, risk) / every**2, shaky


def _inflated(influence: np.ndarray, n: int) -> float:
    # the jackknife's factor: centred on the estimate, influences are too small
    return float(np.square(influence).sum()) * n * (n - 1) / (n - 2) ** 2


def _precision(pairs: ShiftPairs, gap: float) -> tuple[float, int, bool]:
    """Independent pairs that know as much as these do, the number of sources, and whether only disjoint ones count."""
    risk, sources = float(pairs.risks(np.array([gap]))[0]), len(pairs.sources)
    influence, second, shaky = _variance(pairs, gap, risk)
    # taken back as far as pairs exceed the gap: the second part matters near the bound, elsewhere the first is the one
    # that few sources make too small
    if shaky or (whole := max(_inflated(influence, len(influence)) - second, second)) <= 0:
        return sources // 2, sources, True
    return 2 * risk * (1 - 2 * risk) / whole / pairs.times(gap) ** 2, sources, False


def _bounds(p: float, effective: float, sources: int, disjoint: bool, level: float) -> tuple[float, float]:
    """Interval of a share of pairs p from so many independent ones."""
    if disjoint:
        return exact(p, int(effective), level=level) if p in (0, 1) else wilson(p, effective, level=level)
    reach = float(stdtrit(sources // 2 - 1, (1 + level) / 2)) / math.sqrt(effective * p * (1 - p))
    return float(expit(logit(p) - reach)), float(expit(logit(p) + reach))


def exact(p: float, n: int, *, level: float) -> tuple[float, float]:
    """Clopper-Pearson bounds where none (p = 0) or all (p = 1) of n pairs exceed."""
    bound = ((1 - level) / 2) ** (1 / n)
    return (0.0, 1 - bound) if p == 0 else (bound, 1.0)


def _nothing(pairs: ShiftPairs) -> str:
    return ("no shifts", "one item makes no pair")[pairs.n_items] if pairs.n_items < 2 else ""
