"""Sums over bootstrap samples of whole sources, a part of the samples at a time."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from core.seeds import RUN_SEED
from core.statistics.bootstrap import RESAMPLES
from core.statistics.resamples import sample_counts

FEWER, MANY = 2_000, 400
"""Draws where there are more than MANY sources: their mean is so near normal that more draws show nothing new."""

BLOCKS = 2_000
"""Nor do more units: more sources than these are drawn as BLOCKS blocks of them that chance puts together.

A standard error of so many blocks has its own error of 1 / √(2 · BLOCKS), 1.6 %, which is that of FEWER draws.
"""

_HELD = 4_000_000  # counts held at once: 32 MB while they are drawn
_KEPT = 20_000_000  # counts that cells of one number of sources share: 40 MB


def draws_for(sources: int, wanted: int | None) -> int:
    """Draws of an interval: as many as are wanted, else RESAMPLES, or FEWER of more than MANY sources."""
    if wanted is not None:
        return wanted
    return RESAMPLES if sources <= MANY else FEWER


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
    if units * draws <= _HELD:
        return _sums_in_parts(values, draws, seed)
    return np.concatenate([counts @ values for counts in drawn_counts(len(values), draws, seed=seed)])


_AT_ONCE = 200  # draws


def _sums_in_parts(values: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """The same, some draws at a time: samples of so many units are seldom asked for twice, and 30 MB as numbers."""
    found, numbers = np.empty((draws, values.shape[1])), np.empty((len(values), _AT_ONCE))
    counts = sample_counts(len(values), draws, seed=seed)
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
