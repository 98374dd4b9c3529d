"""Two scorings of the same pairs, each over the spread of its own clean scores, with one set of bootstrap samples.

A correction that only shrinks the scale gains nothing, so both sides are divided by the standard deviation of their own
clean scores. Every interval is of bootstrap samples of sources, and each sample has a standard deviation of its own:
divided by one that is taken as known, 82 to 91 of 100 intervals held the truth at 10 to 100 items, divided by each
sample's, 93 to 97. The percentiles are those of a level that is expanded for the number of sources; not so for a ratio,
whose samples hold both sides at once: 97 to 98 of 100 hold it as it is.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.calibration.orbits import Orbits
from core.statistics.arithmetic import row_medians
from core.statistics.bootstrap import Interval, expanded, median_bca, too_few
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
        return self.mean([name])

    def mean(self, names: Sequence[str]) -> Interval:
        """Mean over families of their sensitivity; the same samples for every family."""
        sizes = np.array([self.sizes[name] for name in names]) / self.unit
        there = np.asarray(~np.isnan(sizes).all(axis=0))
        if not there.any():
            return Interval(math.nan, math.nan, math.nan, 0, LEVEL, "no shifts")
        low, high, note = _ends(self.samples(names), there, self.sources, wide=True)
        return Interval(self.over(names), low, high, int(there.sum()), LEVEL, note)

    def samples(self, names: Sequence[str]) -> np.ndarray:
        """:meth:`over` in each sample, in SD of that sample's clean scores, float64 [samples]."""
        return _means(np.array([self.drawn[name] for name in names]) / self.units)

    def over(self, names: Sequence[str]) -> float:
        """The estimate of :meth:`mean`."""
        return float(_means(row_medians(np.array([self.sizes[name] for name in names]).T)[:, None] / self.unit)[0])


def side_of(scores: Orbits, *, like: Side | None = None, still: bool = False) -> Side:
    """One scoring; those of the same pairs have the same samples of items.

    Args:
        scores: of one split.
        like: another scoring of the same pairs: a family that moves every item as far as there is not drawn again.
        still: whether its clean scores are these.
    """
    n = len(scores.clean)
    resamples = int(np.clip(_WORK // max(n * len(scores.families), 1), 50, _RESAMPLES))
    counts = sample_counts(n, resamples, sources=scores.sources) if n else np.zeros((resamples, 0), dtype=np.int32)
    sizes = {name: row_medians(np.abs(family.shifts)) for name, family in scores.families.items()}
    drawn = {
        name: like.drawn[name] if like is not None and np.array_equal(like.sizes[name], values, equal_nan=True)
        else sample_medians(values, counts) for name, values in sizes.items()
    }  # fmt: skip
    if like is not None and still:
        return replace(like, sizes=sizes, drawn=drawn)
    spread = standard_deviation(scores.clean) or math.nan
    units = sample_deviations(scores.clean, counts)
    return Side(spread, interquartile_range(scores.clean), sizes, drawn, units, scores.sources)


def ratio(before: Side, after: Side, names: Sequence[str]) -> dict[str, float]:
    """After over before, each in SD of its own side; NaN where nothing moved before."""
    first, second = before.over(names), after.over(names)
    if not first > 0:
        return dict.fromkeys(("ratio", "ratio_low", "ratio_high"), math.nan)
    there = np.logical_or.reduce([~np.isnan(before.sizes[name]) for name in names])
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high, _ = _ends(after.samples(names) / before.samples(names), there, before.sources, wide=False)
    return {"ratio": second / first, "ratio_low": low, "ratio_high": high}


def _ends(
    drawn: np.ndarray, there: np.ndarray, sources: np.ndarray | None, *, wide: bool
) -> tuple[float, float, str]:  # fmt: skip
    """Ends of an interval from what was drawn, and why there is none.

    Args:
        drawn: in each sample; NaN where it is not defined.
        there: items behind it, bool [n].
        sources: of the items.
        wide: expand the level for the number of sources.
    """
    n = int(there.sum())
    count = n if sources is None else len(np.unique(sources[there]))
    known = drawn[np.isfinite(drawn)]
    if (said := too_few(n, count)) or len(known) < 2 or np.ptp(known) == 0:
        return math.nan, math.nan, said or "no interval: no sample differs"
    level = expanded(LEVEL, count) if wide else LEVEL
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high), ""


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
