"""What a calibration changes on a split, before and after, every number with its interval.

Intervals over items, 95 %: medians by BCa (:mod:`core.statistics.bootstrap`), flip risk in closed form or drawn
(:mod:`core.statistics.flip_risk`), Spearman's ρ and the mean over an axis' families by the percentiles of bootstrap
samples of items, Kendall's τ by Fieller's variance of atanh τ, 0.437 / (n - 4) [1].

References:
    [1] Fieller, E. C., Hartley, H. O. and Pearson, E. S. (1957). Tests for rank correlation coefficients. I.
        Biometrika 44(3/4), 470-481.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np
import pandas as pd

from core.calibration.orbits import Family, Orbits
from core.calibration.readings import Terms, corrections
from core.calibration.sweep import moved
from core.seeds import RUN_SEED
from core.statistics.arithmetic import row_medians
from core.statistics.bootstrap import Interval, median_bca
from core.statistics.changes import interquartile_range, item_medians, percent_change, standard_deviation
from core.statistics.flip_risk import GAPS, flip_risk_intervals
from core.statistics.rank_agreement import rank_agreement
from core.statistics.spearman_band import spearman_bands

LEVEL = 0.95

COLUMNS = (
    "measure", "axis", "name", "gap", "before", "before_low", "before_high", "after", "after_low", "after_high", "n",
)  # fmt: skip

_AXIS_RESAMPLES = 400
_AXIS_WORK = 8_000_000  # items × resamples × families


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
        ``flip risk`` (by family and gap), ``spearman``, ``kendall_b``, ``kendall_c`` (by H). Intervals are NaN where
        undefined.
    """
    changes = corrections(scores, terms)
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
    units = [standard_deviation(each.clean) or math.nan for each in (scores, after)]
    halves = [interquartile_range(each.clean) for each in (scores, after)]
    for name, family in scores.families.items():
        pair = (family, after.families[name])
        head = {"axis": family.axis, "name": name}
        sizes = (_sensitivity(each, unit) for each, unit in zip(pair, units, strict=True))
        records.append({**head, "measure": "sensitivity", **_both(*sizes)})
        records.append({**head, "measure": "percent", **_both(*(_percent(each) for each in pair))})
        risks = [_risks(each, [gap * half for gap in gaps]) for each, half in zip(pair, halves, strict=True)]
        records += [
            {**head, "measure": "flip risk", "gap": gap, **_both(first, second)}
            for gap, first, second in zip(gaps, *risks, strict=True)
        ]
    for axis in dict.fromkeys(family.axis for family in scores.families.values()):
        both = _both(*(_axis(each, axis, unit) for each, unit in zip((scores, after), units, strict=True)))
        records.append({"measure": "axis sensitivity", "axis": axis, "name": axis, **both})
    for name, ratings in others.items():
        records += _agreements(name, scores.clean, after.clean, ratings, bands[name])
    return pd.DataFrame(records, columns=list(COLUMNS))


def _bands(
    scores: Orbits, change: np.ndarray, others: Mapping[str, np.ndarray], strength: float
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    return spearman_bands(scores.clean, change, others, [0.0, strength], level=LEVEL)


def _both(before: Interval, after: Interval) -> dict[str, object]:
    return {
        "before": before.estimate, "before_low": before.low, "before_high": before.high,
        "after": after.estimate, "after_low": after.low, "after_high": after.high, "n": before.n,
    }  # fmt: skip


def _sensitivity(family: Family, unit: float) -> Interval:
    return median_bca(row_medians(np.abs(family.shifts)) / unit, level=LEVEL)


def _percent(family: Family) -> Interval:
    return median_bca(item_medians(np.abs(percent_change(family.scores, family.baselines))), level=LEVEL)


def _risks(family: Family, gaps: Sequence[float]) -> list[Interval]:
    items = np.tile(np.arange(family.scores.shape[1]), len(family.probes))
    return flip_risk_intervals(family.shifts.ravel(), gaps, items=items, level=LEVEL)


def _axis(scores: Orbits, axis: str, unit: float) -> Interval:
    """Mean over an axis' families of their sensitivity; bootstrap over items, the same sample for every family."""
    sizes = np.array([row_medians(np.abs(f.shifts)) / unit for f in scores.families.values() if f.axis == axis])
    sizes = sizes[:, ~np.isnan(sizes).all(axis=0)]
    n = sizes.shape[1]
    if n == 0:
        return Interval(math.nan, math.nan, math.nan, 0, LEVEL, "no shifts")
    estimate = _means(row_medians(sizes.T)[:, None])[0]
    if n == 1:
        return Interval(float(estimate), math.nan, math.nan, 1, LEVEL, "one item has no interval")
    resamples = int(np.clip(_AXIS_WORK // sizes.size, 50, _AXIS_RESAMPLES))
    medians = [sample_medians(family, _drawn(n, resamples)) for family in sizes]
    low, high = np.nanquantile(_means(np.array(medians)), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(estimate), float(low), float(high), n, LEVEL)


@lru_cache(maxsize=2)  # before and after, and every axis, have the same items as a rule
def _drawn(n: int, resamples: int) -> np.ndarray:
    """How often each of n items is in each sample, int32 [resamples, n]."""
    picks = np.random.default_rng(RUN_SEED).integers(n, size=(resamples, n))
    counts = np.bincount((picks + n * np.arange(resamples)[:, None]).ravel(), minlength=resamples * n)
    return counts.reshape(resamples, n).astype(np.int32)


def sample_medians(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Median of each sample, from how often it has each value, [n] and [samples, n] -> [samples]; NaN are left out.

    Sorted once, the middle of every sample is where the running sum of its counts passes half of them.
    """
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known])]
    if len(order) == 0:
        return np.full(len(counts), math.nan)
    ordered, below = values[order], np.cumsum(counts[:, order], axis=1, dtype=np.int32)
    total = below[:, -1]
    low, high = ((below <= place[:, None]).sum(axis=1) for place in ((total - 1) // 2, total // 2))
    some = total > 0
    medians = np.full(len(counts), math.nan)
    medians[some] = (ordered[low[some]] + ordered[high[some]]) / 2
    return medians


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
