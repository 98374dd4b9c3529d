"""Risk of ranking flip at a fixed gap: how often an edit that should not matter inverts a near tie.

RRF(d) = Pr[δ′ - δ > d], δ and δ′ independent draws from the shifts of one family: first an item, then one
of its transforms, both uniformly. Two independent items are almost never the same one, so the estimate is
over all pairs of different items (a U-statistic, without bias). Every such pair counts: the value is exact.
Its interval is the bootstrap's over items, in closed form (ABC), or drawn where there are few.
RRF(d) ≤ 1/2 for every d ≥ 0, since δ′ - δ is symmetric.

References:
    [1] Paper A, section 3.4 and appendix B.5.
    [2] Efron, B. (1987). Better bootstrap confidence intervals. JASA 82(397), 171-185.
    [3] DiCiccio, T. and Efron, B. (1992). More accurate confidence intervals in exponential families.
        Biometrika 79(2), 231-245.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from core.seeds import RUN_SEED
from core.statistics.bootstrap import RESAMPLES, Interval, acceleration, bca_bounds
from core.statistics.shift_pairs import ShiftPairs

GAPS = (0.003, 0.005, 0.007, 0.010)
"""Gaps as shares: 0.7 % is 0.007 of the scale, or of the interquartile range. Source: [1]."""

FEW = 50
"""Items below which intervals are drawn and not taken from the closed form."""

_ROUNDING = 1e-12


def flip_risk(shifts: ArrayLike, gaps: ArrayLike, *, items: ArrayLike | None = None) -> np.ndarray:
    """RRF at every gap, exact over all pairs, in O(n log n).

    Args:
        shifts: δ, score minus baseline, shape [n]; NaN (a score that is missing) are left out.
        gaps: d in the unit of the shifts, shape [g].
        items: item of each shift, shape [n]; every item weighs the same, however many transforms it has.
            None: every shift is an item of its own.

    Returns:
        float64 [g], each in [0, 1]; NaN where fewer than two items have a shift.

    Example:
        >>> flip_risk([0.0, 1.0], [0.0, 0.5, 1.0])
        array([0.5, 0.5, 0. ])
    """
    return ShiftPairs(shifts, items).risks(np.atleast_1d(np.asarray(gaps, dtype=np.float64)))


def flip_risk_intervals(
    shifts: ArrayLike,
    gaps: Sequence[float] = GAPS,
    *,
    items: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int | None = None,
    seed: int = RUN_SEED,
) -> list[Interval]:
    """RRF at every gap with its interval over items.

    From FEW items up, the interval is the approximate bootstrap confidence (ABC) interval [3]: the BCa interval
    that the bootstrap over items tends to, from derivatives in closed form, without a draw, O(n log n) a gap.
    Below, where it is coarse and drawing is cheap, and wherever ``resamples`` is given, the BCa interval is
    drawn, which at 10 000 items and 10 000 samples takes seconds.

    Drawn: a bootstrap sample of items is a vector of counts; the pairs that exceed a gap are found once, so a
    replicate costs one running sum of the counts: O(n), without a sort. An item drawn twice makes no pair with
    its copy: such pairs would pull every replicate down. The acceleration comes from the empirical
    influence of each item [2].

    Args:
        shifts: δ, shape [n]; NaN are left out.
        gaps: d in the unit of the shifts.
        items: item of each shift, shape [n]; None: every shift is an item of its own.
        level: confidence level in (0, 1).
        resamples: number of bootstrap samples; None: RESAMPLES below FEW items, from there on nothing is drawn.
        seed: seed of the draws.

    Returns:
        One interval a gap; ``n`` counts items. No shift, one item, or a risk that no sample can change
        (every pair inside the gap) give a defined answer, and ``note`` says which.
    """
    return intervals_of(ShiftPairs(shifts, items), gaps, level=level, resamples=resamples, seed=seed)


def intervals_of(
    pairs: ShiftPairs,
    gaps: Sequence[float],
    *,
    level: float = 0.95,
    resamples: int | None = None,
    seed: int = RUN_SEED,
) -> list[Interval]:
    """RRF at every gap with its interval, of shifts that are in order already; see :func:`flip_risk_intervals`."""
    wanted = np.asarray(gaps, dtype=np.float64)
    if pairs.n_items == 0:
        return [Interval(math.nan, math.nan, math.nan, 0, level, "no shifts") for _ in wanted]
    if pairs.n_items == 1:
        return [Interval(math.nan, math.nan, math.nan, 1, level, "one item makes no pair") for _ in wanted]
    if resamples is None and pairs.n_items >= FEW:
        return [_in_closed_form(pairs, gap, level) for gap in wanted.tolist()]
    risks = pairs.risks(wanted)
    drawn = pairs.drawn(wanted, resamples or RESAMPLES, np.random.default_rng(seed))
    return [_from_draws(pairs, *each, level) for each in zip(wanted.tolist(), risks, drawn, strict=True)]


def _in_closed_form(pairs: ShiftPairs, gap: float, level: float) -> Interval:
    risk = float(pairs.risks(np.array([gap]))[0])
    influence = pairs.influence(gap)
    if np.abs(influence).max() < _ROUNDING * pairs.n_items:
        return _unmoved(pairs, risk, level)
    return Interval(risk, *pairs.abc(gap, risk, influence, level), pairs.n_items, level)


def _from_draws(pairs: ShiftPairs, gap: float, risk: float, row: np.ndarray, level: float) -> Interval:
    replicates = row[~np.isnan(row)]
    if len(replicates) == 0:
        return Interval(float(risk), math.nan, math.nan, pairs.n_items, level, "no sample has two items")
    if np.ptp(replicates) < _ROUNDING:
        return _unmoved(pairs, risk, level)
    a = acceleration(pairs.influence(gap))
    low, high = bca_bounds(replicates, estimate=float(risk), acceleration=a, level=level)
    return Interval(float(risk), low, high, pairs.n_items, level)


def _unmoved(pairs: ShiftPairs, risk: float, level: float) -> Interval:
    note = "no pair lies further apart than the gap" if risk == 0 else "every sample gives the same risk"
    return Interval(float(risk), float(risk), float(risk), pairs.n_items, level, note)
