"""Risk of ranking flip at a fixed gap: how often an edit that should not matter inverts a near tie.

RRF(d) = Pr[δ′ - δ > d], δ and δ′ independent draws from the shifts of one family: first an item, then one
of its transforms, both uniformly. Two independent items are almost never the same one, so the estimate is
over all pairs of different items (a U-statistic, without bias). Every such pair counts: the value is exact,
only its interval is drawn. RRF(d) ≤ 1/2 for every d ≥ 0, since δ′ - δ is symmetric.

References:
    [1] Paper A, section 3.4 and appendix B.5.
    [2] Efron, B. (1987). Better bootstrap confidence intervals. JASA 82(397), 171-185.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from core.analysis.bootstrap import RESAMPLES, Interval, acceleration, bca_bounds
from core.errors import InvalidInput
from core.seeds import RUN_SEED

GAPS = (0.003, 0.005, 0.007, 0.010)
"""Gaps as shares: 0.7 % is 0.007 of the scale, or of the interquartile range. Source: [1]."""

SCALE, IQR = "scale", "interquartile range"
UNITS = (SCALE, IQR)
"""What a gap is a share of: the score's own scale (1), or the range that the evaluator's scores spread over."""

_ROUNDING = 1e-12
_CHUNK = 131_072  # weights held at once, 1 MB: what stays near the processor


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
    return _Pairs(shifts, items).risks(np.atleast_1d(np.asarray(gaps, dtype=np.float64)))


def flip_risk_intervals(
    shifts: ArrayLike,
    gaps: Sequence[float] = GAPS,
    *,
    items: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = RUN_SEED,
) -> list[Interval]:
    """RRF at every gap with its BCa interval over items, the same draws for all gaps.

    A bootstrap sample of items is a vector of counts; the pairs that exceed a gap are found once, so a
    replicate costs one running sum of the counts: O(n), without a sort. An item drawn twice makes no pair with
    its copy: such pairs would pull every replicate down. The acceleration comes from the empirical
    influence of each item [2].

    Args:
        shifts: δ, shape [n]; NaN are left out.
        gaps: d in the unit of the shifts.
        items: item of each shift, shape [n]; None: every shift is an item of its own.
        level: confidence level in (0, 1).
        resamples: number of bootstrap samples.
        seed: seed of the draws.

    Returns:
        One interval a gap; ``n`` counts items. No shift, one item, or a risk that no sample can change
        (every pair inside the gap) give a defined answer, and ``note`` says which.
    """
    pairs = _Pairs(shifts, items)
    wanted = np.asarray(gaps, dtype=np.float64)
    risks = pairs.risks(wanted)
    if pairs.n_items == 0:
        return [Interval(math.nan, math.nan, math.nan, 0, level, "no shifts") for _ in wanted]
    if pairs.n_items == 1:
        return [Interval(float(risk), math.nan, math.nan, 1, level, "one item makes no pair") for risk in risks]
    drawn = pairs.drawn(wanted, resamples, np.random.default_rng(seed))
    intervals = []
    for gap, risk, row in zip(wanted, risks, drawn, strict=True):
        replicates = row[~np.isnan(row)]
        if len(replicates) == 0:
            intervals.append(Interval(float(risk), math.nan, math.nan, pairs.n_items, level, "no sample has two items"))
            continue
        if np.ptp(replicates) < _ROUNDING:
            note = "no pair lies further apart than the gap" if risk == 0 else "every sample gives the same risk"
            intervals.append(Interval(float(risk), float(risk), float(risk), pairs.n_items, level, note))
            continue
        a = acceleration(pairs.influence(float(gap)))
        low, high = bca_bounds(replicates, estimate=float(risk), acceleration=a, level=level)
        intervals.append(Interval(float(risk), low, high, pairs.n_items, level))
    return intervals


def interquartile_range(scores: ArrayLike) -> float:
    """Distance from the first to the third quartile of an evaluator's scores; NaN without a score."""
    values = np.asarray(scores, dtype=np.float64).ravel()
    values = values[~np.isnan(values)]
    if len(values) == 0:
        return math.nan
    low, high = np.quantile(values, [0.25, 0.75])
    return float(high - low)


def flip_risks(
    shifts: pd.DataFrame,
    *,
    by: Sequence[str] = ("evaluator", "axis", "family"),
    gaps: Sequence[float] = GAPS,
    unit: str = SCALE,
    resamples: int = RESAMPLES,
) -> pd.DataFrame:
    """RRF of every cell at every gap.

    Args:
        shifts: rows of the store's ``shifts`` view; needs the columns in ``by`` and evaluator, corpus,
            item, delta, baseline_score.
        by: columns that make a cell.
        gaps: shares of the unit.
        unit: SCALE: d = gap. IQR: d = gap · interquartile range of the evaluator's baseline scores, one an
            item, since evaluators' scales differ.
        resamples: bootstrap samples of each interval.

    Returns:
        One row a (cell, gap): ``by`` + gap, d (on the score's scale), risk, low, high, n_items, n_shifts,
        n_missing, note.

    Raises:
        InvalidInput: if unit is not one of UNITS.
    """
    if unit not in UNITS:
        raise InvalidInput(f"unit must be one of {', '.join(UNITS)}, got {unit!r}")
    ranges = _ranges(shifts) if unit == IQR else {}
    keys, records = list(by), []
    for cell, rows in shifts.groupby(keys, sort=True, observed=True):
        names = dict(zip(keys, cell, strict=True))
        size = ranges[rows["evaluator"].iloc[0]] if unit == IQR else 1.0
        records += [{**names, **record} for record in _cell(rows, gaps, size, resamples)]
    return pd.DataFrame(records, columns=[*keys, *_COLUMNS])


_COLUMNS = ("gap", "d", "risk", "low", "high", "n_items", "n_shifts", "n_missing", "note")


def _cell(rows: pd.DataFrame, gaps: Sequence[float], size: float, resamples: int) -> Iterator[dict[str, object]]:
    items = rows.groupby(["corpus", "item"], observed=True).ngroup().to_numpy()
    distances = [gap * size for gap in gaps]
    found = flip_risk_intervals(rows["delta"], distances, items=items, resamples=resamples)
    for gap, d, interval in zip(gaps, distances, found, strict=True):
        yield {
            "gap": gap,
            "d": d,
            "risk": interval.estimate,
            "low": interval.low,
            "high": interval.high,
            "n_items": interval.n,
            "n_shifts": int(rows["delta"].notna().sum()),
            "n_missing": int(rows["delta"].isna().sum()),
            "note": interval.note,
        }


def _ranges(shifts: pd.DataFrame) -> dict[str, float]:
    per_item = shifts.groupby(["evaluator", "corpus", "item"], observed=True)["baseline_score"].median()
    return {str(name): interquartile_range(scores) for name, scores in per_item.groupby(level="evaluator")}


class _Pairs:
    """Shifts in order, with the item and the weight of each; an item's weights sum to 1."""

    def __init__(self, shifts: ArrayLike, items: ArrayLike | None) -> None:
        values = np.asarray(shifts, dtype=np.float64).ravel()
        if np.isinf(values).any():
            raise InvalidInput("shifts must be finite or NaN, got an infinite one; drop it and count it")
        codes = np.arange(len(values)) if items is None else np.asarray(items).ravel()
        if len(codes) != len(values):
            raise InvalidInput(f"each shift needs its item: got {len(values)} shifts and {len(codes)} items")
        present = ~np.isnan(values)
        values, (names, codes) = values[present], np.unique(codes[present], return_inverse=True)
        order = np.argsort(values)
        self.n_items = len(names)
        self._values, self._items = values[order], codes[order]
        self._sizes = np.bincount(codes, minlength=self.n_items)
        self._weights = 1.0 / self._sizes[self._items]
        self._table = self._padded(values, codes)

    def _padded(self, values: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Shifts of each item in a row, NaN behind the last one, shape [items, most shifts of an item]."""
        order = np.argsort(codes, kind="stable")
        columns = np.arange(len(codes)) - np.repeat(np.cumsum(self._sizes) - self._sizes, self._sizes)
        table = np.full((self.n_items, self._sizes.max(initial=0)), math.nan)
        table[codes[order], columns] = values[order]
        return table

    def risks(self, gaps: np.ndarray) -> np.ndarray:
        n = self.n_items
        if n < 2:
            return np.full(len(gaps), math.nan)
        below = np.concatenate([[0.0], np.cumsum(self._weights)])
        pairs = [self._weights @ below[self._below(gap)] - self._own(gap).sum() for gap in gaps]
        # sums of weights round; a share cannot leave [0, 1]
        return np.clip(np.array(pairs) / (n * (n - 1)), 0.0, 1.0)

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
        above = below[-1] - below[np.searchsorted(position, np.arange(len(position)), side="right")]
        pairs = np.bincount(self._items, self._weights * (below[position] + above), self.n_items) - 2 * self._own(gap)
        return pairs - pairs.mean()

    def _below(self, gap: float) -> np.ndarray:
        """For each δ′, how many of the ordered shifts lie below δ′ - gap."""
        return np.searchsorted(self._values, self._values - gap, side="left")

    def _own(self, gap: float) -> np.ndarray:
        """Weight of the pairs within each item that exceed the gap, shape [items]."""
        exceeding = np.zeros(self.n_items)
        for column in self._table.T:
            exceeding += (self._table < (column - gap)[:, None]).sum(axis=1)  # NaN, no shift, compares false
        return exceeding / self._sizes**2
