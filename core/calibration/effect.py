"""What a calibration changes on a split, before and after, every number with its interval.

Intervals, 95 %: medians in percent by BCa (:mod:`core.statistics.bootstrap`), flip risk in closed form
(:mod:`core.statistics.flip_risk`), Spearman's ρ, sensitivities and the ratio of after to before by the percentiles of
bootstrap samples (:mod:`core.calibration.sides`), Kendall's τ by Fieller's variance of atanh τ, 0.437 / (n - 4) [1],
with Student's quantile for the normal one, which is too short for few. Items of one source are taken together: for τ,
whose formula knows independent items alone, n is the number of sources. A ratio's samples hold both sides at once, each
with its own spread.

References:
    [1] Fieller, E. C., Hartley, H. O. and Pearson, E. S. (1957). Tests for rank correlation coefficients. I.
        Biometrika 44(3/4), 470-481.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from core.calibration.orbits import Family, Orbits
from core.calibration.readings import Corrections, Terms, corrections
from core.calibration.sides import LEVEL, Side, median, ratio, side_of
from core.calibration.sweep import moved
from core.statistics.bootstrap import Interval, too_few
from core.statistics.changes import item_medians, percent_changes
from core.statistics.flip_risk import GAPS, flip_risk_intervals
from core.statistics.rank_agreement import rank_agreement
from core.statistics.spearman_band import spearman_bands

COLUMNS = (
    "measure", "axis", "name", "gap", "before", "before_low", "before_high", "after", "after_low", "after_high",
    "ratio", "ratio_low", "ratio_high", "n", "note",
)  # fmt: skip


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
        before, of sensitivities alone. Intervals are NaN where undefined; ``note`` says why, of one side alone by name.
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
    both = first, second = side_of(scores), side_of(after)
    for name, family in scores.families.items():
        pair = (family, after.families[name])
        head = {"axis": family.axis, "name": name}
        sizes = _both(*(each.sensitivity(name) for each in both))
        records.append({**head, "measure": "sensitivity", **sizes, **ratio(first, second, [name])})
        records.append({**head, "measure": "percent", **_both(*(_percent(each, scores.sources) for each in pair))})
        risks = [
            _risks(each, [gap * side.half for gap in gaps], scores.sources)
            for each, side in zip(pair, both, strict=True)
        ]
        records += [
            {**head, "measure": "flip risk", "gap": gap, **_both(*both)}
            for gap, *both in zip(gaps, *risks, strict=True)
        ]
    for axis in dict.fromkeys(family.axis for family in scores.families.values()):
        names = [name for name, family in scores.families.items() if family.axis == axis]
        ends = _both(*(each.mean(names) for each in both))
        records.append(
            {"measure": "axis sensitivity", "axis": axis, "name": axis, **ends, **ratio(first, second, names)}
        )
    for name, ratings in others.items():
        records += _agreements(name, scores.clean, after.clean, ratings, bands[name], scores.sources)
    return pd.DataFrame(records, columns=list(COLUMNS))


def _bands(
    scores: Orbits, change: np.ndarray, others: Mapping[str, np.ndarray], strength: float
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    return spearman_bands(scores.clean, change, others, [0.0, strength], level=LEVEL, sources=scores.sources)


def overall(scores: Orbits, changes: Corrections, strength: float, *, before: Side) -> dict[str, object]:
    """Mean over every family of its sensitivity, before and after a strength, and their ratio.

    Args:
        scores: of one split.
        changes: what is added to them at a strength of 1.
        strength: λ.
        before: :func:`core.calibration.sides.side_of` the scores, which no strength changes.
    """
    after, names = side_of(moved(scores, changes, strength)), list(scores.families)
    return {**_both(before.mean(names), after.mean(names)), **ratio(before, after, names)}


def _both(before: Interval, after: Interval) -> dict[str, object]:
    return {
        "before": before.estimate, "before_low": before.low, "before_high": before.high,
        "after": after.estimate, "after_low": after.low, "after_high": after.high, "n": before.n,
        "note": _noted(before.note, after.note),
    }  # fmt: skip


def _noted(before: str, after: str) -> str:
    """Why a side has no interval, or what it is of."""
    if before == after:
        return before
    return "; ".join(f"{side}: {said}" for side, said in (("before", before), ("after", after)) if said)


def _percent(family: Family, sources: np.ndarray | None) -> Interval:
    return median(item_medians(np.abs(percent_changes(family.scores, family.baselines))), sources)


def _risks(family: Family, gaps: Sequence[float], sources: np.ndarray | None) -> list[Interval]:
    items = np.tile(np.arange(family.scores.shape[1]), len(family.probes))
    return flip_risk_intervals(family.shifts.ravel(), gaps, items=items, sources=sources, level=LEVEL)


def _agreements(
    name: str,
    before: np.ndarray,
    after: np.ndarray,
    ratings: np.ndarray,
    band: tuple[np.ndarray, np.ndarray],
    sources: np.ndarray | None,
) -> Iterator[dict[str, object]]:
    first = rank_agreement(before, ratings)
    still = np.array_equal(before, after, equal_nan=True)  # of readings that leave clean scores alone
    sides = first, first if still else rank_agreement(after, ratings)
    whole = ~(np.isnan(before) | np.isnan(after) | np.isnan(ratings))
    count = int(whole.sum()) if sources is None else len(np.unique(sources[whole]))
    rho = [
        Interval(agreement.spearman, float(low), float(high), agreement.n, LEVEL)
        for agreement, low, high in zip(sides, *band, strict=True)
    ]
    yield {"measure": "spearman", "name": name, **_both(*rho)}
    for measure in ("kendall_b", "kendall_c"):
        found = [_kendall(getattr(agreement, measure), agreement.n, count) for agreement in sides]
        yield {"measure": measure, "name": name, **_both(*found)}


def _kendall(tau: float, n: int, sources: int) -> Interval:
    """Fieller's interval of τ on Fisher's scale, with Student's quantile, of as many values as there are sources.

    Where items share sources it is wider than it need be: a source of several items says more than one item.
    """
    few = too_few(n, sources)
    if few or not abs(tau) < 1:
        return Interval(tau, math.nan, math.nan, n, LEVEL, few or "every pair in one order")
    reach = float(stdtrit(sources - 2, (1 + LEVEL) / 2)) * math.sqrt(0.437 / (sources - 4))
    return Interval(tau, math.tanh(math.atanh(tau) - reach), math.tanh(math.atanh(tau) + reach), n, LEVEL)
