"""What a calibration changes on a split, before and after, every number with its interval.

Intervals, 95 %: medians by BCa (:mod:`core.statistics.bootstrap`), flip risk in closed form or drawn
(:mod:`core.statistics.flip_risk`), Spearman's ρ, the mean over an axis' families and the ratio of after to before by
the percentiles of bootstrap samples, Kendall's τ by Fieller's variance of atanh τ, 0.437 / (n - 4) [1]. Items of one
source are resampled together for medians, means and ratios; flip risk and correlations resample items. A ratio's
samples hold both sides at once, each with its own spread.

References:
    [1] Fieller, E. C., Hartley, H. O. and Pearson, E. S. (1957). Tests for rank correlation coefficients. I.
        Biometrika 44(3/4), 470-481.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.calibration.orbits import Family, Orbits
from core.calibration.readings import Corrections, Terms, corrections
from core.calibration.sweep import moved
from core.statistics.arithmetic import row_medians
from core.statistics.bootstrap import RESAMPLES, Interval, median_bca
from core.statistics.changes import interquartile_range, item_medians, percent_change, standard_deviation
from core.statistics.flip_risk import GAPS, flip_risk_intervals
from core.statistics.rank_agreement import rank_agreement
from core.statistics.resamples import sample_counts, sample_deviations, sample_medians
from core.statistics.spearman_band import spearman_bands

LEVEL = 0.95

COLUMNS = (
    "measure", "axis", "name", "gap", "before", "before_low", "before_high", "after", "after_low", "after_high",
    "ratio", "ratio_low", "ratio_high", "n",
)  # fmt: skip

_RESAMPLES = 1000
_WORK = 8_000_000  # items × resamples × families


def before_after(
    scores: Orbits,
    terms: Terms,
    strength: float,
    others: Mapping[str, np.ndarray],
    *,
    gaps: Sequence[float] = GAPS,
) -> pd.DataFrame:
    """What calibration changes on a split, normally the held-out one; each side on its own scale.

    A correction that only shrinks the scale gains nothing. So sensitivities are divided by the standard deviation, and
    gaps of the flip risk are shares of the interquartile range, of the clean scores of the same side.

    Args:
        scores: of the split.
        terms: learnt on the dev split.
        strength: λ.
        others: H by name, float64 [n].
        gaps: of the flip risk, as shares of the interquartile range of each side's clean scores.

    Returns:
        COLUMNS. Measures: ``sensitivity`` (by family, in SD of that side's clean scores; the societal families' rows
        are the societal gap), ``percent`` (the same as |%Δ|), ``axis sensitivity`` (mean over the axis' families),
        ``flip risk`` (by family and gap), ``spearman``, ``kendall_b``, ``kendall_c`` (by H). ``ratio`` is after over
        before, of sensitivities alone. Intervals are NaN where undefined.
    """
    return effect_of(scores, corrections(scores, terms), strength, others, gaps=gaps)


def effect_of(
    scores: Orbits,
    changes: Corrections,
    strength: float,
    others: Mapping[str, np.ndarray],
    *,
    gaps: Sequence[float] = GAPS,
) -> pd.DataFrame:
    """The same of corrections that were made already, or measured; see :func:`before_after`."""
    after = moved(scores, changes, strength)
    return changed(scores, after, others, bands=_bands(scores, changes.clean, others, strength), gaps=gaps)


def changed(
    scores: Orbits,
    after: Orbits,
    others: Mapping[str, np.ndarray],
    *,
    bands: Mapping[str, tuple[np.ndarray, np.ndarray]],
    gaps: Sequence[float] = GAPS,
) -> pd.DataFrame:
    """What differs between two scorings of the same pairs; see :func:`before_after`.

    Args:
        scores: before.
        after: the same families, probes and items, after.
        others: H by name, float64 [n].
        bands: bounds of ρ before and after, by H.
        gaps: of the flip risk.
    """
    records: list[dict[str, object]] = []
    first, second = sides = _sides(scores, after)
    for name, family in scores.families.items():
        pair = (family, after.families[name])
        head = {"axis": family.axis, "name": name}
        sizes = _both(*(each.sensitivity(name) for each in sides))
        records.append({**head, "measure": "sensitivity", **sizes, **_ratio(first, second, [name])})
        records.append({**head, "measure": "percent", **_both(*(_percent(each, scores.sources) for each in pair))})
        risks = [_risks(each, [gap * side.half for gap in gaps]) for each, side in zip(pair, sides, strict=True)]
        records += [
            {**head, "measure": "flip risk", "gap": gap, **_both(*both)}
            for gap, *both in zip(gaps, *risks, strict=True)
        ]
    for axis in dict.fromkeys(family.axis for family in scores.families.values()):
        names = [name for name, family in scores.families.items() if family.axis == axis]
        both = _both(*(each.mean(names) for each in sides))
        records.append(
            {"measure": "axis sensitivity", "axis": axis, "name": axis, **both, **_ratio(first, second, names)}
        )
    for name, ratings in others.items():
        records += _agreements(name, scores.clean, after.clean, ratings, bands[name])
    return pd.DataFrame(records, columns=list(COLUMNS))


@dataclass(frozen=True, slots=True)
class _Side:
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
        return _median(self.sizes[name] / self.unit, self.sources)

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


def _sides(scores: Orbits, after: Orbits) -> tuple[_Side, _Side]:
    n = len(scores.clean)
    resamples = int(np.clip(_WORK // max(n * len(scores.families), 1), 50, _RESAMPLES))
    counts = sample_counts(n, resamples, sources=scores.sources) if n else np.zeros((resamples, 0), dtype=np.int32)

    def side(each: Orbits) -> _Side:
        sizes = {name: row_medians(np.abs(family.shifts)) for name, family in each.families.items()}
        drawn = {name: sample_medians(values, counts) for name, values in sizes.items()}
        spread = standard_deviation(each.clean) or math.nan
        units = sample_deviations(each.clean, counts)
        return _Side(spread, interquartile_range(each.clean), sizes, drawn, units, scores.sources)

    return side(scores), side(after)


def _ratio(before: _Side, after: _Side, names: Sequence[str]) -> dict[str, float]:
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


def _bands(
    scores: Orbits, change: np.ndarray, others: Mapping[str, np.ndarray], strength: float
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    return spearman_bands(scores.clean, change, others, [0.0, strength], level=LEVEL)


def _both(before: Interval, after: Interval) -> dict[str, object]:
    return {
        "before": before.estimate, "before_low": before.low, "before_high": before.high,
        "after": after.estimate, "after_low": after.low, "after_high": after.high, "n": before.n,
    }  # fmt: skip


def _percent(family: Family, sources: np.ndarray | None) -> Interval:
    return _median(item_medians(np.abs(percent_change(family.scores, family.baselines))), sources)


def _median(values: np.ndarray, sources: np.ndarray | None) -> Interval:
    if sources is None:
        return median_bca(values, level=LEVEL)
    resamples = int(np.clip(_WORK // max(len(values), 1), _RESAMPLES, RESAMPLES))
    return median_bca(values, level=LEVEL, groups=sources, resamples=resamples)


def _risks(family: Family, gaps: Sequence[float]) -> list[Interval]:
    items = np.tile(np.arange(family.scores.shape[1]), len(family.probes))
    return flip_risk_intervals(family.shifts.ravel(), gaps, items=items, level=LEVEL)


def _means(medians: np.ndarray) -> np.ndarray:
    """[families, samples] -> [samples]; a family without a value in a sample is left out of it."""
    known = ~np.isnan(medians)
    total = np.where(known, medians, 0.0).sum(axis=0)
    return np.asarray(
        np.divide(total, known.sum(axis=0), out=np.full(medians.shape[1], math.nan), where=known.any(axis=0))
    )


def _agreements(
    name: str,
    before: np.ndarray,
    after: np.ndarray,
    ratings: np.ndarray,
    band: tuple[np.ndarray, np.ndarray],
) -> Iterator[dict[str, object]]:
    sides = rank_agreement(before, ratings), rank_agreement(after, ratings)
    rho = [
        Interval(agreement.spearman, float(low), float(high), agreement.n, LEVEL)
        for agreement, low, high in zip(sides, *band, strict=True)
    ]
    yield {"measure": "spearman", "name": name, **_both(*rho)}
    for measure in ("kendall_b", "kendall_c"):
        found = [_kendall(getattr(agreement, measure), agreement.n) for agreement in sides]
        yield {"measure": measure, "name": name, **_both(*found)}


def _kendall(tau: float, n: int) -> Interval:
    if n <= 4 or not abs(tau) < 1:
        return Interval(tau, math.nan, math.nan, n, LEVEL, "too few items")
    reach = 1.959964 * math.sqrt(0.437 / (n - 4))
    return Interval(tau, math.tanh(math.atanh(tau) - reach), math.tanh(math.atanh(tau) + reach), n, LEVEL)
