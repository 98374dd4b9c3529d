"""Two scorings of the same pairs, each over the spread of its own clean scores, with one set of bootstrap samples.

A correction that only shrinks the scale gains nothing, so both sides are divided by the standard deviation of their own
clean scores; the ratio of after to before has an interval of samples that hold both sides at once.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.calibration.orbits import Orbits
from core.statistics.arithmetic import row_medians
from core.statistics.bootstrap import Interval, median_bca
from core.statistics.changes import interquartile_range, standard_deviation
from core.statistics.resamples import sample_counts, sample_deviations, sample_medians

LEVEL = 0.95

_RESAMPLES = 1000
_SOURCE_RESAMPLES = 2000  # of medians where sources are drawn: each takes every item, and a reader drags λ
_WORK = 8_000_000  # items × resamples × families


@dataclass(frozen=True, slots=True)
class Side:
    """One scoring, with what its samples say.

    Args:
        unit: standard deviation of the clean scores; NaN where there is none.
        half: their interquartile range.
        sizes: by family, median |Δ| of each item, float64 [n].
        drawn: by family, median of them in each sample, float64 [samples].
        units: standard deviation of the clean scores in each sample.
        sources: of the items.
    """

    unit: float
    half: float
    sizes: Mapping[str, np.ndarray]
    drawn: Mapping[str, np.ndarray]
    units: np.ndarray
    sources: np.ndarray | None

    def sensitivity(self, name: str) -> Interval:
        """Of a family, in SD of the clean scores."""
        return median(self.sizes[name] / self.unit, self.sources)

    def mean(self, names: Sequence[str]) -> Interval:
        """Mean over families of their sensitivity; the same samples for every family."""
        sizes = np.array([self.sizes[name] for name in names]) / self.unit
        n = int((~np.isnan(sizes).all(axis=0)).sum())
        if n == 0:
            return Interval(math.nan, math.nan, math.nan, 0, LEVEL, "no shifts")
        estimate = self.over(names)
        if n == 1:
            return Interval(estimate, math.nan, math.nan, 1, LEVEL, "one item has no interval")
        return Interval(estimate, *_ends(_means(np.array([self.drawn[name] for name in names]) / self.unit)), n, LEVEL)

    def over(self, names: Sequence[str]) -> float:
        """The estimate of :meth:`mean`."""
        return float(_means(row_medians(np.array([self.sizes[name] for name in names]).T)[:, None] / self.unit)[0])


def sides(scores: Orbits, after: Orbits) -> tuple[Side, Side]:
    """Two scorings of the same pairs, with the same samples of items."""
    n = len(scores.clean)
    resamples = int(np.clip(_WORK // max(n * len(scores.families), 1), 50, _RESAMPLES))
    counts = sample_counts(n, resamples, sources=scores.sources) if n else np.zeros((resamples, 0), dtype=np.int32)

    def side(each: Orbits) -> Side:
        sizes = {name: row_medians(np.abs(family.shifts)) for name, family in each.families.items()}
        drawn = {name: sample_medians(values, counts) for name, values in sizes.items()}
        spread = standard_deviation(each.clean) or math.nan
        units = sample_deviations(each.clean, counts)
        return Side(spread, interquartile_range(each.clean), sizes, drawn, units, scores.sources)

    return side(scores), side(after)


def ratio(before: Side, after: Side, names: Sequence[str]) -> dict[str, float]:
    """After over before, each in SD of its own side; undefined where nothing moved before."""
    first, second = before.over(names), after.over(names)
    if not first > 0:
        return {}
    drawn = [_means(np.array([side.drawn[name] for name in names]) / side.units) for side in (before, after)]
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = _ends(drawn[1] / drawn[0])
    return {"ratio": second / first, "ratio_low": low, "ratio_high": high}


def _ends(drawn: np.ndarray) -> tuple[float, float]:
    known = drawn[np.isfinite(drawn)]
    if len(known) < 2 or np.ptp(known) == 0:
        return math.nan, math.nan
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def median(values: np.ndarray, sources: np.ndarray | None) -> Interval:
    """Median over items with its interval; items of one source are resampled together."""
    if sources is None:
        return median_bca(values, level=LEVEL)
    resamples = int(np.clip(_WORK // max(len(values), 1), 400, _SOURCE_RESAMPLES))
    return median_bca(values, level=LEVEL, groups=sources, resamples=resamples)


def _means(medians: np.ndarray) -> np.ndarray:
    """[families, samples] -> [samples]; a family without a value in a sample is left out of it."""
    known = ~np.isnan(medians)
    total = np.where(known, medians, 0.0).sum(axis=0)
    return np.asarray(
        np.divide(total, known.sum(axis=0), out=np.full(medians.shape[1], math.nan), where=known.any(axis=0))
    )
