"""The change of a score: what a percent change is, and what an item counts where it has several."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.statistics.arithmetic import row_medians

SHIFT_FLOOR = 1e-6
"""Baselines below this have no percent change, negative ones neither: divided by one, a rise would read as a fall. They
are counted. Source: PROTOCOL section 3."""

NULL_SHARE = 0.95  # share of invisible edits whose |% change| lies inside the noise band of single pairs
SURE = 20  # fewest invisible edits of which one in twenty may lie outside the band
WITHHELD = "% change withheld: some baseline scores are negative"


@dataclass(frozen=True, slots=True)
class NullBand:
    """How far invisible edits move a score, whichever way: the noise that one shift is read against."""

    reach: float  # the 95th percentile of their |% change|; the band is ±reach. NaN where there is none.
    n: int  # shifts behind it
    # median absolute unedited score of the run that the band is of; NaN where it is of no run
    typical: float = math.nan

    def holds(self, percent: float) -> bool:
        """Whether a shift in percent lies inside the band."""
        return abs(percent) <= self.reach


def null_band(percent: ArrayLike) -> NullBand:
    """The noise band of single pairs, of an evaluator's shifts under invisible edits. ``percent``: % change of every
    pair, any shape; NaN are left out.

    >>> null_band([-2.0, 0.0, 1.0]).n
    3
    """
    sizes = np.abs(np.asarray(percent, dtype=np.float64)).ravel()
    sizes = sizes[~np.isnan(sizes)]
    return NullBand(float(np.quantile(sizes, NULL_SHARE)) if len(sizes) else math.nan, len(sizes))


def percent_change(after: ArrayLike, before: ArrayLike) -> np.ndarray:
    """% change = 100 · (after - before) / before; NaN where before is below SHIFT_FLOOR or a score is missing.
    ``before``: scores of their baselines, the same shape. Returns float64 of that shape.
    Source: PROTOCOL section 3 (paper A, 3.3).

    >>> percent_change([0.5, 0.5, -0.3], [0.4, 0.0, -0.4]).round(1)
    array([25., nan, nan])
    """
    first = np.asarray(before, dtype=np.float64)
    floored = np.where(first >= SHIFT_FLOOR, first, math.nan)
    return np.asarray(100 * (np.asarray(after, dtype=np.float64) - first) / floored)


def percent_changes(after: ArrayLike, before: ArrayLike) -> np.ndarray:
    """:func:`percent_change` of one evaluator's pairs; NaN throughout where a baseline is negative, see WITHHELD.

    A percent change of a negative score has the wrong sign, and without those pairs the others are a choice by score.
    """
    first = np.asarray(before, dtype=np.float64)
    found = percent_change(after, first)
    return np.full(found.shape, math.nan) if bool((first < 0).any()) else found


def item_medians(values: np.ndarray) -> np.ndarray:
    """Median over probes of each item, so that an item counts once: float64 [k, n] to [n], NaN left out."""
    return row_medians(np.ascontiguousarray(values))


@dataclass(frozen=True, slots=True)
class Changes:
    """What some edits do to every item under one evaluator; an item counts once, by the median over the edits."""

    # median % change, float64 [N]; NaN where no baseline is above the floor, and where it is withheld
    percent: np.ndarray
    size: np.ndarray  # median |% change|, likewise
    edits: np.ndarray  # |% change| of every edit, float32 [k, N]; likewise
    delta: np.ndarray  # median Δ on the score's own scale, float64 [N]; NaN where no pair was scored
    baseline: np.ndarray  # median score of the baselines whose pair was scored, likewise
    n_shifts: np.ndarray  # shifts with a % change, int [N]
    n_zero_baseline: np.ndarray  # scored shifts without one: the baseline lies below the floor
    n_missing: np.ndarray  # shifts without a score, of the variant or of its baseline
    # items whose % change is withheld, since a baseline of their corpus is negative, bool [N]: among scores of both
    # signs the rest would be a choice of items by their score
    withheld: np.ndarray

    @classmethod
    def of(cls, after: np.ndarray, before: np.ndarray, stored: np.ndarray, withheld: np.ndarray) -> "Changes":
        """Changes from one score to another. ``after``, ``before``: scores under each edit and of its baseline, float64
        [k, N]; NaN where there is none; ``stored``: whether the pair is stored, scored or not, bool [k, N]."""
        delta, percent = after - before, percent_change(after, before)
        scored, counted = ~np.isnan(delta), ~np.isnan(percent)
        percent = np.where(withheld, math.nan, percent)
        return cls(
            percent=item_medians(percent),
            size=item_medians(np.abs(percent)),
            edits=np.abs(percent).astype(np.float32),
            delta=item_medians(delta),
            baseline=item_medians(np.where(scored, before, math.nan)),
            n_shifts=counted.sum(axis=0),
            n_zero_baseline=(scored & ~counted).sum(axis=0),
            n_missing=(stored & ~scored).sum(axis=0),
            withheld=withheld,
        )


AT_THE_MARGIN = 1e-6
"""A |% change| that exceeds the margin by less than this share of it is at the margin: rounding decides nothing."""


def exceeds(sizes: np.ndarray, margin: float) -> np.ndarray:
    """Which |% change| lie beyond a margin, bool; NaN do not.

    >>> exceeds(np.array([1.0, 1.0000000001, 1.1]), 1.0)
    array([False, False,  True])
    """
    return np.asarray(sizes > margin * (1 + AT_THE_MARGIN))


def interquartile_range(values: ArrayLike) -> float:
    """Distance from the first to the third quartile, NaN left out; NaN without a value."""
    present = np.asarray(values, dtype=np.float64).ravel()
    present = present[~np.isnan(present)]
    if len(present) == 0:
        return math.nan
    low, high = np.quantile(present, [0.25, 0.75])
    return float(high - low)


def standard_deviation(values: ArrayLike) -> float:
    """Sample standard deviation, NaN left out; NaN below two values, exactly 0 where all are equal."""
    present = np.asarray(values, dtype=np.float64).ravel()
    present = present[~np.isnan(present)]
    if len(present) < 2:
        return math.nan
    if np.ptp(present) == 0:
        return 0.0
    _, power = np.frexp(np.abs(present).max())  # by a power of two, which rounds nothing, squares stay numbers
    return float(np.ldexp(np.ldexp(present, -int(power)).std(ddof=1), int(power)))
