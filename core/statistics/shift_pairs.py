"""Pairs of shifts in order: what flip risk is counted from, exactly, and what its variance is made of."""

import math
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from core.errors import InvalidInput
from core.statistics.crossed_sources import crossed, first_of, widening

CURVE_ERROR = 1e-3  # no risk of :meth:`ShiftPairs.curve` is further than this from the exact one
_WORK = 1_000_000  # comparisons that the variance may cost; above, it is left a little too large
_BINS = 32_768
_FINE = 1e-7  # how closely a gap is looked for, as a share of the largest difference
_LAST_BITS = 8  # steps by which the rounding of a difference may be off
_FEW = 2_000  # shifts below which counting exactly at some gaps takes no longer than the grid
_ROUNDED = 1e-12  # share of the largest shift within which all shifts are one: what is left is of rounding
_FEWEST = 100  # shifts below which looking for a gap does not


class ShiftPairs:
    """Shifts in order, with the item and the weight of each; an item's weights sum to 1. Raises InvalidInput if a shift
    is infinite, or the lengths differ.
    ``shifts``: δ, score minus baseline, any shape; NaN are left out.
    ``items``: item of each shift, the same shape; None: every shift is its own item.
    ``sources``: number of the source of each item by the item's number, for items that are numbers; items of one source
    vary together. Or of two, [items, 2], the second of which :meth:`times` tells of. None: every item is a source of
    its own."""

    def __init__(self, shifts: ArrayLike, items: ArrayLike | None, sources: np.ndarray | None = None) -> None:
        values = np.asarray(shifts, dtype=np.float64).ravel()
        if np.isinf(values).any():
            raise InvalidInput("shifts must be finite or NaN, got an infinite one; drop it and count it")
        codes = np.arange(len(values)) if items is None else np.asarray(items).ravel()
        if len(codes) != len(values):
            raise InvalidInput(f"each shift needs its item: got {len(values)} shifts and {len(codes)} items")
        present = ~np.isnan(values)
        values, codes = values[present], codes[present]
        if len(values) and np.ptp(values) <= _ROUNDED * np.abs(values).max():
            values = np.full_like(values, values[0])
        named = codes if sources is None else np.asarray(sources)[codes]
        if codes.dtype.kind == "i" and len(codes) and 0 <= codes.min() <= codes.max() <= 4 * len(codes) + 1_000_000:
            seen = np.bincount(codes) > 0
            self.n_items, codes = int(seen.sum()), (np.cumsum(seen) - 1)[codes]  # of each shift its item's rank
        else:
            names, codes = np.unique(codes, return_inverse=True)
            self.n_items = len(names)
        owners = np.zeros((self.n_items, *named.shape[1:]), dtype=named.dtype)
        owners[codes] = named
        self._owners = owners if crossed(owners) else None
        self.sources, self._owner = np.unique(first_of(owners), return_inverse=True)
        order = np.argsort(values)
        self._values, self._items = values[order], codes[order]
        self._sizes = np.bincount(codes, minlength=self.n_items)
        self._weights = 1.0 / self._sizes[self._items]
        order = np.argsort(codes, kind="stable")
        rows = np.arange(len(codes)) - np.repeat(np.cumsum(self._sizes) - self._sizes, self._sizes)
        # shifts of each item in a column, NaN below the last one, shape [most shifts of an item, items]
        self._table = np.full((self._sizes.max(initial=0), self.n_items), math.nan)
        self._table[rows, codes[order]] = values[order]
        self._last: tuple[float, np.ndarray, np.ndarray] | None = None
        self._last_influence: tuple[float, np.ndarray] | None = None
        # looking for a gap comes back to the same gaps and places again and again
        self._squares: dict[float, float] = {}
        self._exceeding: dict[float, float] = {}
        self._further: dict[int, float] = {}

    def risks(self, gaps: np.ndarray) -> np.ndarray:
        """RRF at every gap, shape [gaps]; NaN where fewer than two items have a shift."""
        n = self.n_items
        if n < 2:
            return np.full(len(gaps), math.nan)
        pairs = [self._pairs(float(gap)) for gap in gaps]
        # sums of weights round; a share cannot leave [0, 1], and the share of no pair is 0
        return np.clip(np.round(np.array(pairs) / (n * (n - 1)), 13), 0.0, 1.0)

    def _pairs(self, gap: float) -> float:
        """Weight of the pairs of two items that exceed a gap, counted once."""
        if gap not in self._exceeding:
            position, own = self._counted(gap)
            self._exceeding[gap] = _dot(self._weights, self._weight_below[position]) - float(own.sum())
        return self._exceeding[gap]

    @cached_property
    def _weight_below(self) -> np.ndarray:
        """Weight of the first so many of the ordered shifts, shape [shifts + 1]."""
        return np.concatenate([[0.0], np.cumsum(self._weights)])

    def curve(self, gaps: np.ndarray) -> np.ndarray:
        """RRF at many gaps at once, each at most CURVE_ERROR from the exact one, shape [gaps].

        Shifts are counted on a grid. Of two shifts whose places differ by more than the gap everything is known;
        those about the gap count by the share of two uniform places. Where these are too many, and for negative
        gaps, the risk is counted exactly. Pairs within an item, which do not count, are exact in any case."""
        n = self.n_items
        spread = float(np.ptp(self._values)) if n > 1 else 0.0
        if len(self._values) < _FEW or spread == 0 or not (gaps >= 0).all():
            return self.risks(gaps)
        shares, below, step = self._grid
        steps = np.minimum(gaps / step, len(shares))
        whole = steps.astype(np.intp)
        # pairs whose places differ by at least so many steps
        near, next_, far = (np.array([_apart(shares, below, lag) for lag in whole + more]) for more in range(3))
        rest = steps - whole
        # weight of the pairs within each item that exceed a gap, each looked at once
        order = np.argsort(gaps)
        weights, counted = 1.0 / self._sizes**2, np.zeros(len(gaps) + 1)
        for row, late in enumerate(self._table):
            for early in self._table[:row]:
                apart = np.fmax(np.abs(late - early), -1.0)  # NaN, no shift, exceeds no gap
                counted += np.bincount(np.searchsorted(gaps[order], apart), weights, len(gaps) + 1)
        own = np.empty(len(gaps))
        own[order] = counted[::-1].cumsum()[::-1][1:]
        pairs = far + (next_ - far) * (1 - rest**2 / 2) + (near - next_) * (1 - rest) ** 2 / 2 - own
        risks: np.ndarray = np.clip(pairs / (n * (n - 1)), 0.0, 1.0)
        unsure = (near - far) / (n * (n - 1)) > CURVE_ERROR
        risks[unsure] = self.risks(gaps[unsure])
        return risks

    def influence(self, gap: float) -> np.ndarray:
        """Empirical influence of each item on the risk, up to a constant factor, shape [items]."""
        below, (position, own) = self._weight_below, self._counted(gap)
        # a shift counts as δ′ above what lies below it, and as δ below what lies above it
        above = below[-1] - below[np.cumsum(np.bincount(position, minlength=len(position)))[: len(position)]]
        pairs = np.bincount(self._items, self._weights * (below[position] + above), self.n_items) - 2 * own
        return np.asarray(pairs - pairs.mean())

    @property
    def largest(self) -> float:
        """The largest difference between two shifts; 0 without a pair."""
        return float(np.ptp(self._values)) if len(self._values) else 0.0

    @property
    def source_sizes(self) -> np.ndarray:
        """Items of each source, in the order of ``sources``."""
        return np.bincount(self._owner, minlength=len(self.sources))

    def by_source(self, gap: float) -> np.ndarray:
        """:meth:`influence` summed over the items of each source, in the order of ``sources``; never changed."""
        last = self._last_influence  # the risk of a gap and the excess of it over the null's need it in turn
        if last is None or last[0] != gap:
            last = (gap, np.bincount(self._owner, self.influence(gap), len(self.sources)))
            self._last_influence = last
        return last[1]

    def times(self, gap: float, *, level: float = 0.95) -> float:
        """How many times as long the interval of the risk is for the items' second source; 1 where none is named."""
        return 1.0 if self._owners is None else widening(self.influence(gap), self._owners, level=level)

    def between_sources(self, gap: float, risk: float) -> float:
        """Σ of squares, over pairs of different sources, of their share of exceeding pairs less its mean.

        Where counting it costs more than _WORK comparisons, the least that it can be is 0."""
        if gap in self._squares:
            return self._squares[gap]
        n = self.n_items
        if (n * len(self._table)) ** 2 > _WORK:
            return 0.0
        apart = np.zeros((n, n))
        for late in self._table:
            for early in self._table:
                apart += np.abs(late[:, None] - early[None, :]) > gap  # NaN, no shift, compares false
        apart = apart / np.outer(self._sizes, self._sizes) - 2 * risk
        if len(self.sources) < n:
            order = np.argsort(self._owner, kind="stable")
            starts = np.searchsorted(self._owner[order], np.arange(len(self.sources)))
            apart = np.add.reduceat(np.add.reduceat(apart[np.ix_(order, order)], starts, axis=0), starts, axis=1)
        np.fill_diagonal(apart, 0.0)
        self._squares[gap] = float(np.square(apart).sum() / 2)
        return self._squares[gap]

    def gap_within(self, risk: float) -> tuple[float, float]:
        """Two gaps that :meth:`gap_at` lies between, or equals one of, in a fraction of its time; NaN likewise.

        Looked for twice on the grid, the second time without what it counted too much where the first one led: pairs
        within an item above all."""
        if self.n_items < 2:
            return math.nan, math.nan
        low, high = 0.0, self.largest
        if len(self._values) >= _FEWEST and high > 0:
            places, step, place = len(self._grid[0]), self._grid[2], self._place(risk)
            place = self._place(risk, less=self._apart(place) - self._pairs(place * step))
            near, far = max(place - 4, 0) * step, min(place + 4, places) * step
            low, high = near if self._risk(near) >= risk else 0.0, far if self._risk(far) < risk else high
        return (0.0, 0.0) if low == 0 and self._risk(0.0) < risk else (low, high)

    def gap_at(self, risk: float) -> float:
        """Smallest gap of at least 0 whose risk is below a share; NaN where fewer than two items have a shift.

        The risk falls in steps at the differences between shifts, and counts only larger ones: at the last step the
        risk is below, at every smaller gap it is not. ``risk``: in (0, 0.5]."""
        if self.n_items < 2:
            return math.nan
        if self._risk(0.0) < risk:
            return 0.0
        low, high = self._between_places(risk)
        if not self._risk(high) < risk:  # the largest difference, as rounded, lies below the true one
            return self.largest
        fine = _FINE * self.largest
        if high - low > fine:
            # a risk that equals the share is not below it: no root
            found = float(brentq(lambda gap: (self._risk(gap) - risk) or risk, low, high, xtol=fine))
            high = found if self._risk(found) < risk else min(found + 2 * fine, high)
        least = self._values[np.searchsorted(self._values, self._values - high, side="left")]
        within = float((self._values - least).max())  # the largest difference between two shifts up to there
        gap = min(high, within)  # a difference between two shifts, whose own pair, as rounded, must not exceed it
        for _ in range(_LAST_BITS):
            if gap >= high or self._risk(gap) < risk:
                break
            gap = math.nextafter(gap, math.inf)
        return gap if self._risk(gap) < risk else high

    def gap_about(self, risk: float) -> float:
        """The same to a few places of the grid, about 1e-4 of the largest difference; exact where shifts are few.
        ``risk``: in [0, 0.5]; 0 gives the largest difference."""
        if risk == 0:
            return self.largest
        if len(self._values) < _FEWEST or self.largest == 0:
            return self.gap_at(risk)
        return self._place(risk) * self._grid[2]

    def _place(self, risk: float, *, less: float | None = None) -> int:
        """How many places of the grid apart the risk falls below a share, about. ``risk``: the share; ``less``: weight
        of the pairs that do not count; None: the most that those within an item can have, half an item's weight each.
        """
        wanted, less = risk * self.n_items * (self.n_items - 1), self.n_items / 2 if less is None else less
        few, many = 0, len(self._grid[0])
        while many - few > 1:
            lag = (few + many) // 2
            few, many = (lag, many) if self._apart(lag) - less >= wanted else (few, lag)
        return many

    def _apart(self, lag: int) -> float:
        """Weight of the pairs that lie at least so many places of the grid apart, counted once."""
        if lag not in self._further:
            shares, below, _ = self._grid
            self._further[lag] = _apart(shares, below, lag)
        return self._further[lag]

    def _between_places(self, risk: float) -> tuple[float, float]:
        """Gaps between which the risk falls below a share: a few places of the grid apart, where shifts are many."""
        if len(self._values) < _FEWEST or self.largest == 0:
            return 0.0, self.largest
        place, (shares, _, step) = self._place(risk), self._grid
        low, high = max(place - 4, 0) * step, min(place + 3, len(shares)) * step
        return (low if self._risk(low) >= risk else 0.0), (high if self._risk(high) < risk else self.largest)

    @cached_property
    def _grid(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Weight of the shifts in each of _BINS places, the weight below each place, and the width of a place."""
        scale = _BINS / self.largest
        shares = np.bincount(((self._values - self._values[0]) * scale).astype(np.intp), self._weights)
        return shares, np.concatenate([[0.0], np.cumsum(shares)]), 1 / scale

    def _risk(self, gap: float) -> float:
        return float(self.risks(np.array([gap]))[0])

    def _counted(self, gap: float) -> tuple[np.ndarray, np.ndarray]:
        """For each δ′, how many of the ordered shifts lie below δ′ - gap; and :meth:`_own`."""
        last = self._last  # risk, influence and bounds of a gap need them in turn
        if last is None or last[0] != gap:
            last = (gap, np.searchsorted(self._values, self._values - gap, side="left"), self._own(gap))
            self._last = last
        return last[1], last[2]

    def _own(self, gap: float) -> np.ndarray:
        """Weight of the pairs within each item that exceed the gap, shape [items]."""
        exceeding = np.zeros(self.n_items)
        for late in self._table:
            edge = late - gap
            for early in self._table:
                exceeding += early < edge  # NaN, no shift, compares false
        return exceeding / self._sizes**2


def _apart(shares: np.ndarray, below: np.ndarray, lag: int) -> float:
    """Weight of the pairs of which one lies at least so many places above the other."""
    return _dot(shares[lag:], below[1 : max(len(shares) - lag, 0) + 1])


def _dot(left: np.ndarray, right: np.ndarray) -> float:
    """Inner product in this thread: BLAS would wake all processors for a millisecond's work."""
    return float(np.einsum("i,i->", left, right))
