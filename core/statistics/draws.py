"""Bootstrap replicates as distinct values, each with how often it was drawn, in order: bounds need no second sort."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Replicates of a statistic.

    Args:
        values: the distinct ones, rising, float64 [m].
        upto: draws of each value and of all below it, int64 [m]; the last is the number of draws.
    """

    values: np.ndarray
    upto: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, times: np.ndarray) -> "Draws":
        """Put values in order.

        Args:
            values: finite, in any order, float64 [m], m ≥ 1.
            times: how often each was drawn, int [m].
        """
        order = np.argsort(values)
        return cls(values[order], np.cumsum(times[order]))

    @classmethod
    def each(cls, values: np.ndarray) -> "Draws":
        """One draw a value, all finite, float64 [n], n ≥ 1."""
        return cls(np.sort(values), np.arange(1, len(values) + 1))

    def __len__(self) -> int:
        """Number of draws."""
        return int(self.upto[-1])

    def same(self) -> bool:
        """Whether every draw is the same value."""
        return bool(self.values[0] == self.values[-1])

    def below(self, value: float) -> float:
        """Share of the draws below a value, those equal to it counted half."""
        under, to = (self._before(int(np.searchsorted(self.values, value, side))) for side in ("left", "right"))
        return (under + to) / (2 * len(self))

    def quantiles(self, shares: np.ndarray) -> np.ndarray:
        """What :func:`numpy.quantile` gives of the draws one by one, float64 of the shares' shape."""
        places = (len(self) - 1) * np.asarray(shares, dtype=np.float64)
        first = np.floor(places)
        low, high = (self.values[np.searchsorted(self.upto, each, "right")]
                     for each in (first, np.minimum(first + 1, len(self) - 1)))  # fmt: skip
        step, part = high - low, places - first
        return np.asarray(np.where(part < 0.5, low + step * part, high - step * (1 - part)))

    def _before(self, place: int) -> int:
        return int(self.upto[place - 1]) if place else 0
