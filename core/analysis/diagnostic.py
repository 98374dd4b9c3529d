"""Numbers by probe and item that few probes have: only the rows of those are held."""

from dataclasses import dataclass

import numpy as np

Items = slice | np.ndarray
"""Places of some items: a run of them, or their numbers."""

EVERY = slice(None)


def picked(rows: np.ndarray, places: np.ndarray, items: Items = EVERY) -> np.ndarray:
    """Some rows of some items, a copy [k, n].

    Args:
        rows: [m, N].
        places: of k rows.
        items: n of them.
    """
    return np.asarray(rows[places, items] if isinstance(items, slice) else rows[places[:, None], items])


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """What was measured of every variant of a table, a number a (probe, item) [P, N]; NaN where it was not.

    Args:
        rows: row of each probe in ``values``, int [P]; that of a probe without a number is the last.
        values: float64 [k + 1, N]; the last row is NaN.
    """

    rows: np.ndarray
    values: np.ndarray

    def of(self, probes: np.ndarray, items: Items = EVERY) -> np.ndarray:
        """The numbers of some probes and items by their places, float64 [k, n]."""
        return picked(self.values, self.rows[probes], items)

    def there(self) -> np.ndarray:
        """Items of which some variant was measured, bool [N]."""
        return np.asarray(~np.isnan(self.values).all(axis=0))

    def at(self, items: Items) -> "Diagnostic":
        """The same of some items; those of a slice are no copies."""
        return Diagnostic(self.rows, self.values[:, items])

    def part(self, probes: np.ndarray) -> "Diagnostic":
        """The same of some probes, by their places."""
        held, rows = np.unique(np.append(self.rows[probes], len(self.values) - 1), return_inverse=True)
        return Diagnostic(rows[:-1], self.values[held])
