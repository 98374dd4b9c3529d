"""Pairs of shifts in order: what flip risk is counted from, exactly, drawn, or in closed form."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from core.errors import InvalidInput
from core.statistics.bootstrap import acceleration

CURVE_ERROR = 1e-3
"""No risk of :meth:`ShiftPairs.curve` is further than this from the exact one."""

_CHUNK = 131_072  # weights held at once, 1 MB: what stays near the processor
_BINS = 32_768
_FEW = 2_000  # shifts below which counting exactly takes no longer than the grid


class ShiftPairs:
    """Shifts in order, with the item and the weight of each; an item's weights sum to 1."""

    def __init__(self, shifts: ArrayLike, items: ArrayLike | None) -> None:
        values = np.asarray(shifts, dtype=np.float64).ravel()
        if np.isinf(values).any():
            raise InvalidInput("shifts must be finite or NaN, got an infinite one; drop it and count it")
        codes = np.arange(len(values)) if items is None else np.asarray(items).ravel()
        if len(codes) != len(values):
            raise InvalidInput(f"each shift needs its item: got {len(values)} shifts and {len(codes)} items")
        present = ~np.isnan(values)
        values, (self.n_items, codes) = values[present], _dense(codes[present])
        order = np.argsort(values)
        self._values, self._items = values[order], codes[order]
        self._sizes = np.bincount(codes, minlength=self.n_items)
        self._weights = 1.0 / self._sizes[self._items]
        self._table = self._padded(values, codes)
        self._last: tuple[float, np.ndarray] | None = None

    def _padded(self, values: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Shifts of each item in a column, NaN below the last one, shape [most shifts of an item, items]."""
        order = np.argsort(codes, kind="stable")
        rows = np.arange(len(codes)) - np.repeat(np.cumsum(self._sizes) - self._sizes, self._sizes)
        table = np.full((self._sizes.max(initial=0), self.n_items), math.nan)
        table[rows, codes[order]] = values[order]
        return table

    def risks(self, gaps: np.ndarray) -> np.ndarray:
        """RRF at every gap, shape [gaps]; NaN where fewer than two items have a shift."""
        n = self.n_items
        if n < 2:
            return np.full(len(gaps), math.nan)
        below = np.concatenate([[0.0], np.cumsum(self._weights)])
        pairs = [_dot(self._weights, below[self._below(gap)]) - self._own(gap).sum() for gap in gaps]
        # sums of weights round; a share cannot leave [0, 1]
        return np.clip(np.array(pairs) / (n * (n - 1)), 0.0, 1.0)

    def curve(self, gaps: np.ndarray) -> np.ndarray:
        """RRF at many gaps at once, each at most CURVE_ERROR from the exact one, shape [gaps].

        Shifts are counted on a grid. Of two shifts whose places differ by more than the gap everything is known;
        those about the gap count by the share of two uniform places. Where these are too many, and for negative
        gaps, the risk is counted exactly. Pairs within an item, which do not count, are exact in any case.
        """
        n = self.n_items
        spread = float(np.ptp(self._values)) if n > 1 else 0.0
        if len(self._values) < _FEW or spread == 0 or not (gaps >= 0).all():
            return self.risks(gaps)
        shares = np.bincount(((self._values - self._values[0]) * (_BINS / spread)).astype(np.intp), self._weights)
        below = np.concatenate([[0.0], np.cumsum(shares)])
        steps = np.minimum(gaps * (_BINS / spread), len(shares))
        whole = steps.astype(np.intp)
        # pairs whose places differ by at least so many steps
        near, next_, far = (np.array([_apart(shares, below, lag) for lag in whole + more]) for more in range(3))
        rest = steps - whole
        pairs = far + (next_ - far) * (1 - rest**2 / 2) + (near - next_) * (1 - rest) ** 2 / 2 - self._owns(gaps)
        risks: np.ndarray = np.clip(pairs / (n * (n - 1)), 0.0, 1.0)
        unsure = (near - far) / (n * (n - 1)) > CURVE_ERROR
        risks[unsure] = self.risks(gaps[unsure])
        return risks

    def drawn(self, gaps: np.ndarray, resamples: int, rng: np.random.Generator) -> np.ndarray:
        """Risks of bootstrap samples of items, shape [gaps, resamples]; NaN where a sample is one item only."""
        positions, own = [self._below(gap) for gap in gaps], np.array([self._own(gap) for gap in gaps])
        n = self.n_items
        risks = np.full((len(gaps), resamples), math.nan)
        step = max(8, _CHUNK // len(self._values))
        for start in range(0, resamples, step):
            chosen = slice(start, min(start + step, resamples))
            samples = np.arange(chosen.stop - start)
            # one column a sample: what every sample does with a shift then lies side by side in memory
            picks = rng.integers(n, size=(n, len(samples))) * len(samples) + samples
            counts = np.bincount(picks.ravel(), minlength=n * len(samples)).reshape(n, -1).astype(np.float64)
            weights = counts[self._items] * self._weights[:, None]
            below = np.zeros((len(self._values) + 1, len(samples)))
            np.cumsum(weights, axis=0, out=below[1:])
            squares = counts**2
            different = n**2 - squares.sum(axis=0)
            for gap, position in enumerate(positions):
                pairs = np.einsum("ij,ij->j", weights, below[position]) - own[gap] @ squares
                np.divide(pairs, different, out=risks[gap, chosen], where=different > 0)
        return risks

    def influence(self, gap: float) -> np.ndarray:
        """Empirical influence of each item on the risk, up to a constant factor, shape [items]."""
        below, position = np.concatenate([[0.0], np.cumsum(self._weights)]), self._below(gap)
        # a shift counts as δ′ above what lies below it, and as δ below what lies above it
        above = below[-1] - below[np.cumsum(np.bincount(position, minlength=len(position)))[: len(position)]]
        pairs = np.bincount(self._items, self._weights * (below[position] + above), self.n_items) - 2 * self._own(gap)
        influence: np.ndarray = pairs - pairs.mean()
        return influence

    def abc(self, gap: float, risk: float, influence: np.ndarray, level: float) -> tuple[float, float]:
        """Approximate bootstrap confidence (ABC) bounds: what BCa intervals tend to, without a draw.

        A sample of items is a vector of shares p, and the risk of it is p'Kp / (1 - p'p), K_ij the share of the
        pairs of item i's and item j's shifts that exceed the gap and K_ii = 0. Its derivatives are closed forms:
        in the direction of the influence the risk is (risk + s·se + s²·q/D) / (1 - s²/(n²·D)), D = 1 - 1/n.

        Args:
            gap: d.
            risk: RRF(d).
            influence: of :meth:`influence` at that gap, not all 0.
            level: confidence level in (0, 1).

        Source: DiCiccio, T. and Efron, B. (1992). More accurate confidence intervals in exponential families.
            Biometrika 79(2), 231-245; Efron and Tibshirani (1993), An Introduction to the Bootstrap, 14.4.
        """
        n = self.n_items
        first, rest = influence / (n - 1), 1 - 1 / n
        error = math.sqrt(_dot(first, first)) / n
        toward = (first / (n**2 * error))[self._items] * self._weights
        below = np.concatenate([[0.0], np.cumsum(toward)])
        own = _dot(self._own(gap), (first / (n**2 * error)) ** 2)
        second = (_dot(toward, below[self._below(gap)]) - own) / rest
        bend, a = (second + risk / (n**2 * rest)) / error, acceleration(first)
        z0 = ndtri(np.clip(2 * ndtr(a) * ndtr(bend), 1e-6, 1 - 1e-6))
        shift = z0 + ndtri([(1 - level) / 2, (1 + level) / 2])
        steps = shift / (1 - a * shift) ** 2
        ends = (risk + steps * error + steps**2 * second) / (1 - steps**2 / (n**2 * rest))
        low, high = np.clip(np.sort(ends), 0.0, 0.5 if gap >= 0 else 1.0)
        return float(low), float(high)

    def _below(self, gap: float) -> np.ndarray:
        """For each δ′, how many of the ordered shifts lie below δ′ - gap."""
        last = self._last  # risk, influence and bounds of a gap need it in turn
        if last is None or last[0] != gap:
            last = (gap, np.searchsorted(self._values, self._values - gap, side="left"))
            self._last = last
        return last[1]

    def _own(self, gap: float) -> np.ndarray:
        """Weight of the pairs within each item that exceed the gap, shape [items]."""
        exceeding = np.zeros(self.n_items)
        for late in self._table:
            edge = late - gap
            for early in self._table:
                exceeding += early < edge  # NaN, no shift, compares false
        return exceeding / self._sizes**2

    def _owns(self, gaps: np.ndarray) -> np.ndarray:
        """Sum of :meth:`_own` at every gap, none negative, shape [gaps]; each pair is looked at once."""
        order = np.argsort(gaps)
        weights, found = 1.0 / self._sizes**2, np.zeros(len(gaps) + 1)
        for row, late in enumerate(self._table):
            for early in self._table[:row]:
                apart = np.fmax(np.abs(late - early), -1.0)  # NaN, no shift, exceeds no gap
                found += np.bincount(np.searchsorted(gaps[order], apart), weights, len(gaps) + 1)
        sums = np.empty(len(gaps))
        sums[order] = found[::-1].cumsum()[::-1][1:]
        return sums


def _dense(codes: np.ndarray) -> tuple[int, np.ndarray]:
    """Number of the items and, for each shift, its item's rank."""
    if codes.dtype.kind != "i" or len(codes) == 0 or codes.min() < 0 or codes.max() > 4 * len(codes) + 1_000_000:
        names, ranks = np.unique(codes, return_inverse=True)
        return len(names), ranks
    seen = np.bincount(codes) > 0
    return int(seen.sum()), (np.cumsum(seen) - 1)[codes]


def _apart(shares: np.ndarray, below: np.ndarray, lag: int) -> float:
    """Weight of the pairs of which one lies at least so many places above the other."""
    return _dot(shares[lag:], below[1 : max(len(shares) - lag, 0) + 1])


def _dot(left: np.ndarray, right: np.ndarray) -> float:
    """Inner product in this thread: BLAS would wake all processors for a millisecond's work."""
    return float(np.einsum("i,i->", left, right))
