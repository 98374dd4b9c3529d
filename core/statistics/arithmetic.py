"""Arithmetic over arrays of scores that applying a calibration and learning one share."""

import math
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

_NETWORK = 8


def row_medians(values: np.ndarray, *, overwrite: bool = False) -> np.ndarray:
    """Median over the rows of each column, NaN left out; NaN for a column without a value.

    Few long rows are sorted by exchanging neighbours, which works on whole rows at once. ``values``: float64 [k, n];
    ``overwrite``: values may be reordered within their columns, which spares a copy. Returns float64 [n]."""
    k, n = values.shape
    if k == 0:
        return np.full(n, math.nan)
    if k == 1:
        return np.array(values[0])
    missing = np.isnan(values)
    if k > _NETWORK:
        ordered = np.sort(values, axis=0)  # NaN last
    else:
        ordered = values if overwrite else values.copy()
        ordered[missing] = math.inf
        smaller = np.empty(n)
        for turn in range(k):  # odd-even transposition
            for upper in range(turn % 2, k - 1, 2):
                np.minimum(ordered[upper], ordered[upper + 1], out=smaller)
                np.maximum(ordered[upper], ordered[upper + 1], out=ordered[upper + 1])
                ordered[upper] = smaller
    if not missing.any():
        return np.asarray(ordered[k // 2] if k % 2 else (ordered[k // 2 - 1] + ordered[k // 2]) / 2)
    count = k - missing.sum(axis=0)
    columns, full = np.arange(n), count > 0
    low, high = np.maximum(count - 1, 0) // 2, np.minimum(count // 2, k - 1)
    medians = np.full(n, math.nan)
    medians[full] = ((ordered[low, columns] + ordered[high, columns]) / 2)[full]
    return medians


def map_quantiles(scores: np.ndarray, quantiles: np.ndarray) -> np.ndarray:
    """Map scores from the first row's distribution to the second's; beyond its ends, move as the end does. ``scores``:
    float64 [n]; ``quantiles``: two rows of rising quantiles, float64 [2, q]. Returns float64 [n]."""
    source, target = quantiles
    inside = np.clip(scores, source[0], source[-1])
    # equal quantiles make a step: its middle, so that the map of a distribution to itself changes nothing much
    index = np.arange(len(source))
    last, first = np.interp(inside, source, index), index[-1] - np.interp(-inside, -source[::-1], index)
    places = (first + last) / 2
    return np.asarray(np.interp(places, index, target) + scores - inside)


# Products of a few thousand values by one thread: waking the others costs more, and they wait by spinning.
#
# What they take is lost to whatever else the machine does, a report's drawings among it. A sum may round otherwise in
# another number of threads: so this is for what only decides something, or is one sum a row.


P = ParamSpec("P")
R = TypeVar("R")


def one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """Have NumPy's matrix library keep to one thread while a function runs."""

    @wraps(function)
    def kept(*given: P.args, **named: P.kwargs) -> R:
        with _matrix_libraries().limit(limits=1):
            return function(*given, **named)

    return kept


@cache
def _matrix_libraries() -> Any:
    """Those that are loaded; looked for once, since that takes longer than a product."""
    return ThreadpoolController().select(internal_api="openblas")
