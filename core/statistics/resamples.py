"""Bootstrap samples as counts: how often each value is in each sample, so that nothing is drawn or sorted twice.

Source: Davison, A. C. and Hinkley, D. V. (1997). Bootstrap Methods and their Application, 3.8 (samples of sources).
"""

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.arithmetic import one_thread
from core.statistics.crossed_sources import first_of

_ROWS = 64  # units that are gathered at once: their counts stay in the processor's cache
_COUNTED = 65_536  # draws counted at once: they and their counts stay in the processor's cache
_AT_ONCE = 200  # draws


def sample_counts(
    n: int, resamples: int, *, sources: np.ndarray | None = None, seed: int | tuple[int, ...] = RUN_SEED
) -> np.ndarray:
    """How often each of n values is in each sample, int16 [resamples, n].
    ``sources``: number of the source of each value, int [n]: values of one source are in a sample together. None: each
    is one of its own."""
    if sources is None or n == 0:
        return _drawn(n, resamples, seed)
    names, ranks = np.unique(sources, return_inverse=True)
    return np.asarray(_drawn(len(names), resamples, seed).T[ranks].T)


def sample_medians(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Median of each sample, from how often it has each value, [n] and [samples, n] -> [samples]; NaN are left out."""
    return unit_medians(values, np.ascontiguousarray(counts.T), np.arange(len(values)))


def unit_medians(
    values: np.ndarray, by_unit: np.ndarray, units: np.ndarray, *, totals: np.ndarray | None = None
) -> np.ndarray:
    """Median of each sample of units that hold some values each; NaN are left out.

    Sorted once, the middle of every sample is where the running sum of its counts passes half of them. That lies near
    the middle of the values: the sum runs over a window there, and over a wider one for samples that it misses. What
    lies below the window is summed by units, none of which is written out for each of its values. Returns float64
    [samples]; NaN for a sample without a value.
    ``values``: float64 [n]. ``by_unit``: how often each unit is in each sample, int [units, samples].
    ``units``: unit of each value, int [n].
    ``totals``: of :func:`unit_totals`, where they are known and no value is NaN; None: they are worked out."""
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known])]
    ordered, own = values[order], units[order]
    total = unit_totals(by_unit, own) if totals is None else totals
    medians, half = np.full(by_unit.shape[1], math.nan), len(order) // 2
    width, rows = 8 + math.ceil(2.5 * math.sqrt(len(order))), np.arange(len(medians) if len(order) else 0)
    while len(rows):
        window = slice(max(0, half - width), half + width)
        some = len(rows) < len(medians)
        medians[rows], found = _middles(ordered, by_unit[:, rows] if some else by_unit, own, total[rows], window)
        rows, width = rows[~found], 4 * width
    return medians


def unit_totals(by_unit: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Values of each sample, int [samples]; ``by_unit``, ``units``: as of :func:`unit_medians`."""
    most = len(units) * int(by_unit.max(initial=0))
    # a sum of int16 takes a quarter of the time
    kind = np.int16 if by_unit.dtype == np.int16 and most <= np.iinfo(np.int16).max else np.int32
    return _summed(by_unit, units, kind)


def _middles(
    ordered: np.ndarray, by_unit: np.ndarray, units: np.ndarray, total: np.ndarray, window: slice
) -> tuple[np.ndarray, np.ndarray]:
    """Median of each sample whose middle lies in a window of the ordered values, and which these are.

    A sample without any value counts as found: its median is NaN. The sums run over all samples at once, a value after
    the other: counts [units, samples] are read in the order in which they lie."""
    kind = np.int16 if by_unit.dtype == np.int16 and total.max() <= np.iinfo(np.int16).max else np.int32
    start, own = _summed(by_unit, units[: window.start], kind), units[window]
    total = total.astype(kind)
    first, second = (total - 1) // 2, total // 2
    below, at_most = start.copy(), np.empty(len(start), dtype=bool)
    one: np.ndarray = at_most.view(np.uint8)
    low, high = (np.zeros(len(start), dtype=np.uint8 if len(own) < 256 else np.int32) for _ in range(2))
    for unit in own:
        below += by_unit[unit]
        for many, middle in ((low, first), (high, second)):
            np.less_equal(below, middle, out=at_most)
            np.add(many, one, out=many)
    inside = (start <= first) & (second < below)
    medians = np.full(by_unit.shape[1], math.nan)
    near = ordered[window]
    medians[inside] = (near[low[inside]] + near[high[inside]]) / 2
    return medians, inside | (total == 0)


def _summed(by_unit: np.ndarray, units: np.ndarray, kind: type[np.signedinteger]) -> np.ndarray:
    """How many values of some units each sample has, [samples]; a unit counts as often as it is named."""
    times, found = np.bincount(units, minlength=len(by_unit)), np.zeros(by_unit.shape[1], dtype=kind)
    for many in np.unique(times[times > 0]):
        rows, sums = np.flatnonzero(times == many), np.zeros_like(found)
        for start in range(0, len(rows), _ROWS):
            sums += by_unit[rows[start : start + _ROWS]].sum(axis=0, dtype=kind)
        found += sums * kind(many)
    return found


@one_thread
def sample_deviations(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Standard deviation (n - 1) of each sample, [n] and [samples, n] -> [samples]; NaN are left out.

    NaN for a sample of fewer than two values, or of one value alone."""
    known = ~np.isnan(values)
    if not known.any():
        return np.full(len(counts), math.nan)
    # by a power of two, which rounds nothing, squares of huge or tiny scores stay numbers
    _, power = np.frexp(np.abs(values[known]).max())
    scaled = np.ldexp(values[known], -int(power))
    centred = scaled - scaled.mean()
    own = counts[:, known].astype(np.float64)
    total, sums, squares = own.sum(axis=1), own @ centred, own @ centred**2
    some = total > 1
    variance = np.full(len(counts), math.nan)
    variance[some] = (squares[some] - sums[some] ** 2 / total[some]) / (total[some] - 1)
    tiny = 1e-12 * float((centred**2).max())  # a sample of one value repeated has no spread but rounding
    return np.asarray(np.ldexp(np.sqrt(np.where(variance > tiny, variance, math.nan)), int(power)))


@lru_cache(maxsize=8)  # cells of one number of sources share their draws
def _drawn(n: int, resamples: int, seed: int | tuple[int, ...]) -> np.ndarray:
    """Counts int16 [resamples, n]; those of one value lie together, as sums over samples want them."""
    rng, part = np.random.default_rng(seed), max(1, _COUNTED // max(n, 1))
    counts = np.empty((n, resamples), dtype=np.int16)
    for start in range(0, resamples, part):
        many = min(part, resamples - start)
        own = rng.integers(n, size=(many, n))
        own *= many
        own += np.arange(many)[:, None]
        counts[:, start : start + many] = np.bincount(own.ravel(), minlength=many * n).reshape(n, many)
    return counts.T


# Tests of items that share their source: the source is the independent unit, so it counts once, by its items' mean.
#
# Two items of one cut-out, scene or photograph shift together; a test that takes them for two finds shifts where there
# are none (with no effect, 12 sources of 15 items each: p < 0.05 in half of the runs). The mean over a source's items
# is one number a source, and any test of independent units holds for these: exactly where it is exact, and the t test
# also where sources differ in their number of items and so in their spread [1, 2]. Where no two items share their
# source, nothing is averaged and the test is that of the items.
#
# References:
#     [1] Matthews, J. N. S. et al. (1990). Analysis of serial measurements in medical research. BMJ 300, 230-235:
#         summary measures.
#     [2] Ibragimov, R. and Müller, U. K. (2010). t-statistic based correlation and heterogeneity robust inference.
#         Journal of Business & Economic Statistics 28(4), 453-468.


BY_SOURCE = "by source"  # ends the name of a test whose units are sources


def ranks_of(groups: ArrayLike | None, n: int) -> np.ndarray | None:
    """Rank of each value's source, int [n]; None where each is one of its own. Raises InvalidInput if the numbers
    differ.
    ``groups``: name or number of each value's source, shape [n]; None: each is one. Of two sources, [n, 2], the first.

    >>> ranks_of(["b", "a", "b"], 3)
    array([1, 0, 1])
    >>> ranks_of(["b", "a", "c"], 3) is None
    True
    """
    if groups is None:
        return None
    names, ranks = np.unique(first_of(groups), return_inverse=True)
    if len(ranks) != n:
        raise InvalidInput(f"each value needs its source: got {n} values and {len(ranks)} sources")
    return None if len(names) == n else ranks


def source_means(values: np.ndarray, ranks: np.ndarray | None) -> np.ndarray:
    """Mean over each source's values; the values themselves where each is its own source. ``values``: finite, float64
    [n]; ``ranks``: what :func:`ranks_of` gives for these values.

    >>> source_means(np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]))
    array([1.5, 5. ])
    """
    if ranks is None:
        return values
    counts = np.bincount(ranks)
    sums = np.bincount(ranks, values)[counts > 0]
    return np.asarray(sums / counts[counts > 0])


def source_sums(values: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Sum over each source's rows of every column, [n, c] -> [m, c], every rank from 0 to m - 1 there."""
    sums = np.zeros((int(ranks.max()) + 1, values.shape[1]))
    np.add.at(sums, ranks, values)
    return sums


def named(test: str, ranks: np.ndarray | None) -> str:
    """Name of a test with what its units are.

    >>> named("Mann-Whitney", None), named("Mann-Whitney", np.array([0, 0]))
    ('Mann-Whitney', 'Mann-Whitney, by source')
    """
    return test if ranks is None else f"{test}, {BY_SOURCE}"


# Sums over bootstrap samples of whole sources, a part of the samples at a time.


FEWER, MANY = 2_000, 400
"""Draws where there are more than MANY sources: their mean is so near normal that more draws show nothing new."""

BLOCKS = 2_000
"""Nor do more units: more sources than these are drawn as BLOCKS blocks of them that chance puts together.

A standard error of so many blocks has its own error of 1 / √(2 · BLOCKS), 1.6 %, which is that of FEWER draws.
"""

_HELD = 4_000_000  # counts held at once: 32 MB while they are drawn
_KEPT = 20_000_000  # counts that cells of one number of sources share: 40 MB


@lru_cache(maxsize=16)  # cells of one number of sources share their blocks
def blocks_of(sources: int, seed: int) -> tuple[np.ndarray, int]:
    """Block of each source, int [sources], and how many there are: each its own, or BLOCKS put together by chance."""
    if sources <= BLOCKS:
        return np.arange(sources), sources
    return np.random.default_rng((seed, sources)).permutation(sources) % BLOCKS, BLOCKS


def block_sums(values: np.ndarray, seed: int) -> np.ndarray:
    """Sums over blocks of sources, [sources, m] -> [blocks, m]; see BLOCKS."""
    blocks, many = blocks_of(len(values), seed)
    if many == len(values):
        return values
    return np.stack([np.bincount(blocks, column, minlength=many) for column in values.T], axis=1)


def drawn_sums(values: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """Sums of values over each sample of their rows, float64 [units, m] -> [draws, m]."""
    units = len(values)
    if units * draws <= _HELD and (units <= MANY or units == BLOCKS):
        return np.asarray(_as_numbers(units, draws, seed) @ values)
    # some draws at a time: samples of so many units are seldom asked for twice, and 30 MB as numbers
    found, numbers = np.empty((draws, values.shape[1])), np.empty((units, _AT_ONCE))
    counts = sample_counts(units, draws, seed=seed)
    for start in range(0, draws, _AT_ONCE):
        own = counts[start : start + _AT_ONCE]
        part = numbers[:, : len(own)]
        part[:] = own.T
        np.matmul(part.T, values, out=found[start : start + len(own)])
    return found


@lru_cache(maxsize=2)  # a page asks for hundreds of means of as many units
def _as_numbers(units: int, draws: int, seed: int) -> np.ndarray:
    """The counts as float64, since a product would make them so each time; 32 MB at most."""
    numbers, start = np.empty((draws, units), order="F"), 0
    for each in drawn_counts(units, draws, seed=seed):
        numbers[start : start + len(each)] = each
        start += len(each)
    return numbers


def drawn_counts(
    sources: int, resamples: int, *, seed: int = RUN_SEED, each: int | None = None
) -> Iterator[np.ndarray]:
    """How often each source is in each sample of as many, int16 [part, sources], a part of the samples at a time.
    ``each``: numbers that a sample is spread over where there are more of them than sources; bounds the parts."""
    part = max(1, _HELD // max(sources, each or 0, 1))
    if sources * resamples <= _KEPT:
        known = sample_counts(sources, resamples, seed=seed)
        yield from (known[start : start + part] for start in range(0, resamples, part))
        return
    rng = np.random.default_rng(seed)
    for start in range(0, resamples, part):
        rows = min(part, resamples - start)
        picks = rng.integers(sources, size=(rows, sources)) + sources * np.arange(rows)[:, None]
        yield np.bincount(picks.ravel(), minlength=rows * sources).reshape(rows, sources).astype(np.int16)


def but_one(sources: int, each: int) -> Iterator[np.ndarray]:
    """Counts of the samples that hold all sources but one each in turn, as :func:`drawn_counts` gives them."""
    part = max(1, _HELD // max(sources, each))
    for start in range(0, sources, part):
        rows = min(part, sources - start)
        counts = np.ones((rows, sources), dtype=np.int16)
        counts[np.arange(rows), start + np.arange(rows)] = 0
        yield counts
