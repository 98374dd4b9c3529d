"""Means, and ratios of means, with BCa intervals over items or over the sources that items share.

A mean over items is Σ values / Σ 1, a drop of means Σ (wrong - right) / Σ right: both are ratios of sums, so that one
draw serves them, and sources of several items weigh what their items weigh.

References:
    [1] Efron, B. (1987). Better bootstrap confidence intervals. JASA 82(397), 171-185.
    [2] Davison, A. C. and Hinkley, D. V. (1997). Bootstrap Methods and their Application, 3.8 (samples of sources).
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.bootstrap import (
    Interval,
    acceleration,
    bca_bounds,
    draws_for,
    expanded,
    jackknife_medians,
    too_few,
    widened,
)
from core.statistics.crossed_sources import crossed, first_of
from core.statistics.resamples import (
    block_sums,
    blocks_of,
    but_one,
    drawn_counts,
    drawn_sums,
    unit_medians,
    unit_totals,
)
from core.statistics.shares import share_of_fractions

ALL_EQUAL = "all values are equal: no interval"
"""Of a mean; a median has its order statistics for bounds, whatever they are."""


def mean_bca(
    values: ArrayLike, *, groups: ArrayLike | None = None, level: float = 0.95, resamples: int | None = None
) -> Interval:
    """Mean of values with its BCa interval [1]. ``n`` counts values. Below LEAST_N values or sources, and of equal
    values: no interval, and a note. Raises InvalidInput if the lengths differ or a value is infinite.
    ``values``: shape [n]; NaN are left out.
    ``groups``: source of each value, shape [n]: values of one source are drawn together [2]. None: each is one. Of two
    sources, [n, 2], the second makes the interval :func:`core.statistics.bootstrap.widened`.
    ``resamples``: number of draws; None: RESAMPLES, or FEWER of more than MANY sources.

    >>> mean_bca([0.0, 1.0] * 10).estimate
    0.5
    """
    flat = np.asarray(values, dtype=np.float64).ravel()
    return ratio_bca(flat, np.ones(len(flat)), groups=groups, level=level, resamples=resamples)


def ratio_bca(
    tops: ArrayLike,
    bottoms: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int | None = None,
    bounds: bool = True,
) -> Interval:
    """Σ tops / Σ bottoms with its BCa interval; see :func:`mean_bca`. Returns NaN where Σ bottoms is not above 0.
    ``tops``: shape [n]; an entry with a NaN in either is left out. ``bottoms``: shape [n].
    ``bounds``: draw the interval; otherwise its bounds are NaN where they would have to be drawn."""
    a, b = (np.asarray(each, dtype=np.float64).ravel() for each in (tops, bottoms))
    if groups is not None and crossed(groups):
        of = np.asarray(groups)
        alone = ratio_bca(a, b, groups=first_of(of), level=level, resamples=resamples, bounds=bounds)
        if (b == 1).all():
            return _widened_mean(alone, a, of)
        apart = a - alone.estimate * b
        return widened(alone, apart[~np.isnan(apart)], of[~np.isnan(apart)])
    a, b, codes = _there(a, b, np.arange(len(a)) if groups is None else np.asarray(groups).ravel())
    if np.isinf(a).any() or np.isinf(b).any():
        raise InvalidInput("values must be finite or NaN, got an infinite one; drop it and count it")
    of_sources: list[np.ndarray] = [a, b]
    if groups is not None:
        ranks = np.unique(codes, return_inverse=True)[1]
        of_sources = [np.bincount(ranks, each) for each in (a, b)]
    tops_of, bottoms_of = of_sources
    n, sources, whole = len(a), len(tops_of), float(b.sum())
    if not whole > 0:
        return Interval(math.nan, math.nan, math.nan, n, level, "no values" if not n else "nothing to divide by")
    # without the rounding of a sum where all values are one: a mean of halves is a half
    estimate = float(a[0] / b[0]) if np.ptp(a) == 0 == np.ptp(b) else float(a.sum() / b.sum())
    if said := too_few(n, sources):
        return Interval(estimate, math.nan, math.nan, n, level, said)
    if np.ptp(a) == 0 and np.ptp(b) == 0:
        return Interval(estimate, math.nan, math.nan, n, level, ALL_EQUAL)
    if not bounds:
        return Interval(estimate, math.nan, math.nan, n, level)
    both, draws = block_sums(np.stack([tops_of, bottoms_of], axis=1), RUN_SEED), draws_for(sources, resamples)
    sums = drawn_sums(both, draws, RUN_SEED)
    left_out = _divided(a.sum() - tops_of, whole - bottoms_of)
    drawn = _divided(sums[:, 0], sums[:, 1])
    return _bca(drawn, left_out, estimate, n=n, sources=sources, level=level)


def mean_of_ratios_bca(
    tops: Sequence[ArrayLike], bottoms: Sequence[ArrayLike], groups: Sequence[ArrayLike]
) -> Interval:
    """Mean of several ratios of sums that share their sources, each weighing the same, with its 95 % BCa interval.
    ``n`` counts entries. NaN where the bottoms of one ratio do not sum to more than 0. Raises InvalidInput if there is
    no ratio, or the lengths differ.
    ``tops``: of each ratio, shape [n_k]; an entry with a NaN in either is left out.
    ``groups``: source of each entry, one each: one that several ratios hold is drawn in all of them together.

    >>> mean_of_ratios_bca([[1.0] * 10, [3.0] * 10], [[2.0] * 10] * 2, [range(10)] * 2).estimate
    1.0
    """
    if not len(tops) == len(bottoms) == len(groups) or not len(tops):
        raise InvalidInput(
            f"ratios are of as many tops, bottoms and sources, one at least: got {len(tops)}, "
            f"{len(bottoms)}, {len(groups)}"
        )
    parts = [_there(*each) for each in zip(tops, bottoms, groups, strict=True)]
    names, ranks = np.unique(np.concatenate([each[2] for each in parts]), return_inverse=True)
    n, sources = len(ranks), len(names)
    cuts = np.split(ranks, np.cumsum([len(each[2]) for each in parts])[:-1])
    sums_of = zip(cuts, parts, strict=True)
    both = np.stack([np.bincount(cut, each, minlength=sources) for cut, part in sums_of for each in part[:2]])
    whole = both.sum(axis=1)
    if not (whole[1::2] > 0).all():
        return Interval(math.nan, math.nan, math.nan, n, 0.95, "no values" if not n else "nothing to divide by")
    estimate = float(_divided(whole[::2], whole[1::2]).mean())
    if said := too_few(n, sources):
        return Interval(estimate, math.nan, math.nan, n, 0.95, said)
    left = whole[:, None] - both
    left_out = _divided(left[::2], left[1::2]).mean(axis=0)
    units, draws = block_sums(both.T, RUN_SEED), draws_for(sources, None)
    sums = drawn_sums(units, draws, RUN_SEED)
    drawn = _divided(sums[:, ::2], sums[:, 1::2]).mean(axis=1)
    if np.ptp(drawn) == 0:
        return Interval(estimate, math.nan, math.nan, n, 0.95, ALL_EQUAL)
    return _bca(drawn, left_out, estimate, n=n, sources=sources, level=0.95)


def _there(top: ArrayLike, bottom: ArrayLike, group: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Entries of one ratio that have both numbers, with their sources."""
    a, b = (np.asarray(each, dtype=np.float64).ravel() for each in (top, bottom))
    source = np.asarray(group)
    if not len(a) == len(b) == len(source):
        raise InvalidInput(
            f"a ratio is of as many numbers each, with their sources: got {len(a)}, {len(b)}, {len(source)}"
        )
    there = ~(np.isnan(a) | np.isnan(b))
    return a[there], b[there], source[there]


def median_ratios_bca(
    tops: np.ndarray, bottoms: ArrayLike, *, groups: ArrayLike | None = None, resamples: int | None = None
) -> tuple[Interval, ...]:
    """Median of every row of tops over that of the same bottoms with its 95 % BCa interval; what rows share is drawn
    once. Returns NaN where the median of the bottoms is 0; an upper bound of ∞ where that of too many draws is.
    ``tops``: float64 [m, n]; an entry with a NaN in either is left out. ``bottoms``: of the same items, shape [n].
    ``groups``, ``resamples``: see :func:`mean_bca`."""
    rows, below = np.asarray(tops, dtype=np.float64), np.asarray(bottoms, dtype=np.float64).ravel()
    if groups is not None and crossed(groups):
        of = first_of(groups)
        alone = median_ratios_bca(rows, below, groups=of, resamples=resamples)
        return tuple(_widened_ratio(*each, below, np.asarray(groups)) for each in zip(alone, rows, strict=True))
    codes = np.arange(len(below)) if groups is None else np.asarray(groups).ravel()
    there = ~(np.isnan(rows) | np.isnan(below))
    found: dict[int, Interval] = {}
    for place, kept in enumerate(there):
        if place not in found:  # rows of the same entries share the draws, and the median below of each
            alike = [other for other in range(place, len(rows)) if np.array_equal(there[other], kept)]
            own = _median_ratios(rows[alike][:, kept], below[kept], codes[kept], resamples)
            found |= dict(zip(alike, own, strict=True))
    return tuple(found[place] for place in range(len(rows)))


def _widened_ratio(found: Interval, top: np.ndarray, bottom: np.ndarray, groups: np.ndarray) -> Interval:
    """:func:`core.statistics.bootstrap.widened` by whichever of the two medians owes more to the second source."""
    there = ~(np.isnan(top) | np.isnan(bottom))
    both = [
        widened(found, np.sign(each[there] - np.median(each[there])), groups[there])
        for each in (top, bottom)
        if there.any()
    ]
    return max(both, key=lambda each: each.high - each.low, default=found)


def _median_ratios(rows: np.ndarray, b: np.ndarray, codes: np.ndarray, resamples: int | None) -> list[Interval]:
    """The same of rows without a NaN."""
    n, ranks = len(b), np.unique(codes, return_inverse=True)[1]
    if n == 0:
        return [Interval(math.nan, math.nan, math.nan, 0, 0.95, "no values")] * len(rows)
    sources, below = int(ranks.max()) + 1, float(np.median(b))
    if below == 0:
        none = Interval(math.nan, math.nan, math.nan, n, 0.95, "nothing to divide by: the median below is 0")
        return [none] * len(rows)
    estimates = [float(np.median(row)) / below for row in rows]
    if said := too_few(n, sources):
        return [Interval(each, math.nan, math.nan, n, 0.95, said) for each in estimates]

    blocks, units = blocks_of(sources, RUN_SEED)

    def ratios(counts: np.ndarray, places: np.ndarray) -> np.ndarray:
        by_unit = np.ascontiguousarray(counts.T)
        totals = unit_totals(by_unit, places)
        under = unit_medians(b, by_unit, places, totals=totals)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.stack([unit_medians(row, by_unit, places, totals=totals) / under for row in rows])

    drawn = np.concatenate(
        [ratios(counts, blocks[ranks]) for counts in drawn_counts(units, draws_for(sources, resamples))], axis=1
    )
    if sources == n:
        under = _median_without_each(b)
        left_out = np.stack([_divided(_median_without_each(row), under) for row in rows])
    else:
        left_out = np.concatenate([ratios(counts, ranks) for counts in but_one(sources, n)], axis=1)
    found = []
    for own, without, estimate in zip(drawn, left_out, estimates, strict=True):
        if np.nanmin(own) == np.nanmax(own):
            said = "no draw moves the medians: exact bound"
            found.append(Interval(estimate, estimate, estimate, n, 0.95, said))
        else:
            found.append(_bca(own, without[np.isfinite(without)], estimate, n=n, sources=sources, level=0.95))
    return found


def means_bca(
    values: np.ndarray,
    *,
    groups: ArrayLike | None = None,
    held: np.ndarray | None = None,
    level: float = 0.95,
    seed: int = RUN_SEED,
    bounds: bool = True,
    fractions: bool = False,
) -> tuple[Interval, ...]:
    """Mean of every row with its BCa interval, all rows from the same draws; see :func:`mean_bca`.
    ``values``: float64 [m, n]; NaN are left out of their row.
    ``groups``: source of each column, shape [n]; None: each is one.
    ``held``: which columns of a longer table these are, bool [N] with n of them: the others are NaN in every row, and
    ``groups`` has the source of all N. The draws are of all of them. None: these are all.
    ``bounds``: draw the intervals; otherwise their bounds are NaN where they would have to be drawn.
    ``fractions``: the values lie in [0, 1]: equal ones have the interval of
    :func:`core.statistics.shares.share_of_fractions`."""
    if fractions:
        means = means_bca(values, groups=groups, held=held, level=level, seed=seed, bounds=bounds)
        of = None if groups is None else np.asarray(groups)[slice(None) if held is None else held]
        votes = [
            share_of_fractions(row, groups=of, level=level) if each.note == ALL_EQUAL else each
            for each, row in zip(means, np.asarray(values, dtype=np.float64), strict=True)
        ]
        return tuple(votes)
    rows = np.asarray(values, dtype=np.float64)
    there = np.ones(rows.shape[1], dtype=bool) if held is None else held
    if groups is not None and crossed(groups):
        alone = means_bca(rows, groups=first_of(groups), held=held, level=level, seed=seed, bounds=bounds)
        of = np.asarray(groups)[there]
        return tuple(_widened_mean(each, row, of) for each, row in zip(alone, rows, strict=True))
    codes = np.arange(len(there)) if groups is None else np.asarray(groups).ravel()
    ranks = codes if groups is None else np.unique(codes, return_inverse=True)[1]
    sources = int(ranks.max()) + 1 if len(ranks) else 0
    if groups is None and not bounds:
        return _bare_means(rows, there, level)
    found: dict[int, Interval] = {}
    moving = dict[int, tuple[np.ndarray, np.ndarray]]()
    for place, row in enumerate(rows):
        held = ~np.isnan(row)
        known, of = row[held], ranks[there][held]
        tops, bottoms = np.bincount(of, known, minlength=sources), np.bincount(of, minlength=sources).astype(np.float64)
        if too_few(len(known), int((bottoms > 0).sum())) or not np.ptp(known) > 0:
            found[place] = mean_bca(row, groups=codes[there], level=level, resamples=1)
        elif bounds:
            moving[place] = tops, bottoms
        else:
            found[place] = _bare(tops, bottoms, level)
    if moving:
        draws = draws_for(sources, None)
        tops_of, bottoms_of = (np.stack(each, axis=1) for each in zip(*moving.values(), strict=True))
        alike = bool((bottoms_of == bottoms_of[:, :1]).all())  # rows of the same entries: one sum below serves all
        above, below = (
            drawn_sums(block_sums(each, seed), draws, seed)
            for each in (tops_of, bottoms_of[:, :1] if alike else bottoms_of)
        )
        drawn_means = _divided(above, np.broadcast_to(below, above.shape))
        for drawn, (place, (tops, bottoms)) in zip(drawn_means.T, moving.items(), strict=True):
            bare, kept = _bare(tops, bottoms, level), bottoms > 0
            left_out = _divided(tops.sum() - tops[kept], bare.n - bottoms[kept])
            found[place] = _bca(drawn, left_out, bare.estimate, n=bare.n, sources=int(kept.sum()), level=level)
    return tuple(found[place] for place in range(len(rows)))


def _widened_mean(found: Interval, row: np.ndarray, groups: np.ndarray) -> Interval:
    known = ~np.isnan(row)
    own = row[known]
    ends = (own.min(initial=math.inf), own.max(initial=-math.inf))
    return widened(found, own - found.estimate, groups[known], within=ends)


def _bare_means(rows: np.ndarray, there: np.ndarray, level: float) -> tuple[Interval, ...]:
    """Mean of every row, each column its own source; no interval is drawn. See :func:`means_bca`."""
    places, whole, found = np.flatnonzero(there), np.zeros(len(there)), []
    for row in rows:  # one at a time stays in the processor's cache
        known = ~np.isnan(row)
        n = int(np.count_nonzero(known))
        own = row if n == len(row) else row[known]
        if too_few(n, n) or not own.min() < own.max():
            found.append(mean_bca(row, level=level, resamples=1))
            continue
        whole[places] = row if n == len(row) else np.where(known, row, 0.0)
        # summed in the order of the longer table: another would round otherwise
        found.append(Interval(float(whole.sum() / n), math.nan, math.nan, n, level))
    return tuple(found)


def _bare(tops: np.ndarray, bottoms: np.ndarray, level: float) -> Interval:
    """Σ tops / Σ bottoms over sources, its bounds not drawn."""
    n = bottoms.sum()
    return Interval(float(tops.sum() / n), math.nan, math.nan, int(n), level)


def _bca(drawn: np.ndarray, left_out: np.ndarray, estimate: float, *, n: int, sources: int, level: float) -> Interval:
    """BCa interval [1] from what was drawn and what is left without each source; NaN of either are left out.

    At a level that is expanded for the number of sources: samples of 10 values vary too little for a mean (86 to 91 of
    100 intervals held it, expanded 93 to 96) and for a ratio of medians (87, expanded 93)."""
    drawn, kept = drawn[~np.isnan(drawn)], left_out[~np.isnan(left_out)]
    a_hat = acceleration(kept.mean() - kept) if len(kept) else 0.0
    low, high = bca_bounds(drawn, estimate=estimate, acceleration=a_hat, level=expanded(level, sources))
    return Interval(estimate, low, high, n, level)


def _median_without_each(values: np.ndarray) -> np.ndarray:
    """Median without each value in turn, in the order of the values."""
    found = np.empty(len(values))
    found[np.argsort(values, kind="stable")] = jackknife_medians(values)
    return found


def _divided(tops: np.ndarray, bottoms: np.ndarray) -> np.ndarray:
    return np.asarray(np.divide(tops, bottoms, out=np.full(tops.shape, math.nan), where=bottoms > 0))
