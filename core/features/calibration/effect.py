"""What a calibration changes on a split, before and after, every number with its interval.

Intervals, 95 %: medians in percent by BCa (:mod:`core.statistics.bootstrap`), flip risk in closed form
(:mod:`core.statistics.flip_risk`), Spearman's ρ, sensitivities and the ratio of after to before by the percentiles of
bootstrap samples (:mod:`core.features.calibration.orbits`), Kendall's τ by Fieller's variance of atanh τ, 0.437 / (n -
4) [1], with Student's quantile for the normal one, which is too short for few. Items of one source are taken together:
for τ, whose formula knows independent items alone, n is the number of sources, and a second one makes it longer
(:mod:`core.statistics.crossed_sources`). A ratio's samples hold both sides at once, each with its own spread.

References:
    [1] Fieller, E. C., Hartley, H. O. and Pearson, E. S. (1957). Tests for rank correlation coefficients. I.
        Biometrika 44(3/4), 470-481.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from core.analysis.effects import bounds, ends
from core.features.calibration.orbits import LEVEL, Family, Orbits, Side, median, ratio, side_of
from core.features.calibration.readings import Corrections, Terms, corrections
from core.features.calibration.sweep import moved
from core.statistics.bootstrap import LEAST_N, Interval, too_few
from core.statistics.changes import item_medians, percent_changes
from core.statistics.crossed_sources import first_of, unreckoned, widening
from core.statistics.flip_risk import GAPS, intervals_of
from core.statistics.rank_agreement import RankAgreement, pair_influence, rank_agreement, spearman, spearman_bands
from core.statistics.shift_pairs import ShiftPairs

COLUMNS = ("measure", "axis", "name", "gap", *bounds("before"), *bounds("after"), *bounds("ratio"), "n", "note")


OF_FAMILIES = ("sensitivity", "percent", "flip risk")
OF_AXES = "axis sensitivity"
OF_ORDER = ("spearman", "kendall_b", "kendall_c")
MEASURES = (*OF_FAMILIES, OF_AXES, *OF_ORDER)
"""``sensitivity`` (by family, in SD of that side's unedited scores; the societal families' rows are the societal gap),
``percent`` (the same as |% change|), ``flip risk`` (by family and gap), ``axis sensitivity`` (mean over the axis'
families), ``spearman``, ``kendall_b``, ``kendall_c`` (by H)."""

Record = dict[str, object]

Bands = Mapping[str, tuple[np.ndarray, np.ndarray]]  # by H: bounds of ρ before and after


def before_after(
    scores: Orbits,
    terms: Terms,
    strength: float,
    others: Mapping[str, np.ndarray],
    *,
    gaps: Sequence[float] = GAPS,
    measures: Collection[str] = MEASURES,
) -> pd.DataFrame:
    """What calibration at a strength λ changes on a split, normally the held-out one; each side on its own scale.

    A correction that only shrinks the scale gains nothing. So sensitivities are divided by the standard deviation, and
    gaps of the flip risk are shares of the interquartile range, of the unedited scores of the same side. ``others``: H
    by name, float64 [n]; ``measures``: what is asked for, the rest is not worked out. Returns COLUMNS, a row a measure
    and what it is of. ``ratio`` is after over before, of sensitivities alone. Intervals are NaN where undefined;
    ``note`` says why, of one side alone by name.
    """
    return effect_of(scores, corrections(scores, terms), strength, others, gaps=gaps).rows(measures)


def effect_of(
    scores: Orbits,
    changes: Corrections,
    strength: float,
    others: Mapping[str, np.ndarray],
    *,
    gaps: Sequence[float] = GAPS,
) -> "TwoSides":
    """The same of corrections that were made already, or measured, a measure at a time; see :func:`before_after`."""

    def bands() -> Bands:
        return spearman_bands(scores.clean, changes.clean, others, [0.0, strength], level=LEVEL, sources=scores.sources)

    return TwoSides(scores, moved(scores, changes, strength), others, bands=bands, gaps=gaps)


def axes_along(at: Callable[[float], pd.DataFrame], strengths: Sequence[float]) -> pd.DataFrame:
    """The held-out sensitivity of every axis after each strength, in the columns of ``fit.sweep_table`` but
    ``allowed``; ``at``: what a strength changes, the rows of OF_AXES at least, see :func:`before_after`."""
    told = {"after": "value", "after_low": "low", "after_high": "high"}
    parts = [at(each).assign(strength=each) for each in strengths]
    rows = pd.concat(parts, ignore_index=True).rename(columns=told)
    rows = rows[rows["measure"] == OF_AXES].assign(split="test")
    return rows[["split", "strength", "measure", "name", "value", "low", "high", "n"]]


class TwoSides:
    """Two scorings of the same pairs, and what differs between them; each measure is worked out once. ``bands`` makes
    the bounds of ρ before and after."""

    def __init__(
        self,
        scores: Orbits,
        after: Orbits,
        others: Mapping[str, np.ndarray],
        *,
        bands: Callable[[], Bands] = dict,
        gaps: Sequence[float] = GAPS,
    ) -> None:
        self._scores, self._after, self._others, self._make_bands, self._gaps = scores, after, others, bands, gaps
        self._known: dict[tuple[str, str], list[Record]] = {}
        self._ranked: dict[str, tuple[RankAgreement, RankAgreement]] = {}

    def rows(self, measures: Collection[str] = MEASURES) -> pd.DataFrame:
        """What differs, see :func:`before_after`; ``measures``: of these alone, in the order of the whole."""
        families = self._scores.families
        axes = dict.fromkeys(family.axis for family in families.values())
        asked = [(measure, name) for name in families for measure in OF_FAMILIES]
        asked += [(OF_AXES, axis) for axis in axes]
        asked += [(measure, name) for name in self._others for measure in OF_ORDER]
        records = [record for each in asked if each[0] in measures for record in self._records(each)]
        return pd.DataFrame(records, columns=list(COLUMNS))

    def _records(self, asked: tuple[str, str]) -> list[Record]:
        if asked not in self._known:
            measure, name = asked
            self._known[asked] = [{"measure": measure, **each} for each in self._made(measure, name)]
        return self._known[asked]

    def _made(self, measure: str, name: str) -> Iterator[Record]:
        if measure in OF_ORDER:
            yield {"name": name, **self._agreement(measure, name)}
        elif measure == OF_AXES:
            names = [each for each, family in self._scores.families.items() if family.axis == name]
            yield {"axis": name, "name": name, **self._sizes(names)}
        else:
            pair = before, _ = self._scores.families[name], self._after.families[name]
            head = {"axis": before.axis, "name": name}
            if measure == "sensitivity":
                yield {**head, **self._sizes([name])}
            elif measure == "percent":
                yield {**head, **_both(*(_percent(each, self._scores.sources) for each in pair))}
            else:
                risks = [
                    _risks(each, [gap * side.half for gap in self._gaps], self._scores.sources)
                    for each, side in zip(pair, self._sides, strict=True)
                ]
                for gap, *both in zip(self._gaps, *risks, strict=True):
                    yield {**head, "gap": gap, **_both(*both)}

    @cached_property
    def _sides(self) -> tuple[Side, Side]:
        before, still = side_of(self._scores), np.array_equal(self._scores.clean, self._after.clean, equal_nan=True)
        return before, side_of(self._after, like=before, still=still)

    def _sizes(self, names: Sequence[str]) -> Record:
        return {**_both(*(each.mean(names) for each in self._sides)), **ratio(*self._sides, names)}

    @cached_property
    def _bands(self) -> Bands:
        return self._make_bands()

    def _agreement(self, measure: str, name: str) -> Record:
        ratings, before, after = self._others[name], self._scores.clean, self._after.clean
        still = np.array_equal(before, after, equal_nan=True)  # of readings that leave unedited scores alone
        of = np.arange(len(ratings)) if self._scores.sources is None else self._scores.sources
        if measure == "spearman":
            first = spearman(before, ratings)
            found = first, first if still else spearman(after, ratings)
            whole = ~np.isnan(ratings + before + after)
            few = too_few(int(whole.sum()), len(np.unique(first_of(of)[whole])))
            ends = zip(found, *self._bands[name], strict=True)
            return _both(*(_spearman(*each, float(low), float(high), few) for each, low, high in ends))
        sides = zip(self._kendalls(name, still=still), (before, after), strict=True)
        return _both(*(_kendall(getattr(each, measure), scores, ratings, of) for each, scores in sides))

    def _kendalls(self, name: str, *, still: bool) -> tuple[RankAgreement, RankAgreement]:
        if name not in self._ranked:
            first = rank_agreement(self._scores.clean, self._others[name])
            self._ranked[name] = first, first if still else rank_agreement(self._after.clean, self._others[name])
        return self._ranked[name]


def overall(scores: Orbits, changes: Corrections, strength: float, *, before: Side) -> dict[str, object]:
    """Mean over every family of its sensitivity, before and after a strength, and their ratio; ``before`` is
    :func:`side_of` the scores, which no strength changes."""
    still, names = not (strength * changes.clean).any(), list(scores.families)
    after = side_of(moved(scores, changes, strength), like=before, still=still)
    return {**_both(before.mean(names), after.mean(names)), **ratio(before, after, names)}


def _both(before: Interval, after: Interval) -> dict[str, object]:
    sides = (("before", before), ("after", after))
    note = "; ".join(f"{side}: {each.note}" for side, each in sides if each.note)
    return {
        **ends(before, bounds("before")),
        **ends(after, bounds("after")),
        "n": before.n,
        "note": before.note if before.note == after.note else note,
    }


def _percent(family: Family, sources: np.ndarray | None) -> Interval:
    return median(item_medians(np.abs(percent_changes(family.scores, family.baselines))), sources)


def _risks(family: Family, gaps: Sequence[float], sources: np.ndarray | None) -> list[Interval]:
    items = np.tile(np.arange(family.scores.shape[1]), len(family.probes))
    return intervals_of(ShiftPairs(family.shifts.ravel(), items, sources), gaps, level=LEVEL)


def _spearman(rho: float, n: int, low: float, high: float, few: str) -> Interval:
    """ρ with its band, and why there is none."""
    why = few or ("one of the scorings is constant" if math.isnan(rho) else "no interval: no sample differs")
    rho = math.nan if n < LEAST_N else rho
    return Interval(rho, low, high, n, LEVEL, why if math.isnan(low) else "")


def _kendall(tau: float, scores: np.ndarray, ratings: np.ndarray, groups: np.ndarray) -> Interval:
    """Fieller's interval of τ with Student's quantile, of as many values as sources: wider than need be where items
    share one."""
    whole = ~(np.isnan(scores) | np.isnan(ratings))
    scores, ratings, groups = scores[whole], ratings[whole], groups[whole]
    n, sources = len(scores), len(np.unique(first_of(groups)))
    few = too_few(n, sources)
    if few or not abs(tau) < 1:
        return Interval(
            math.nan if n < LEAST_N else tau, math.nan, math.nan, n, LEVEL, few or "every pair in one order"
        )
    reach = float(stdtrit(sources - 2, (1 + LEVEL) / 2)) * math.sqrt(0.437 / (sources - 4))
    reach *= widening(pair_influence(scores, ratings), groups, level=LEVEL)
    low, high = (math.tanh(math.atanh(tau) + sign * reach) for sign in (-1, 1))
    return Interval(tau, low, high, n, LEVEL, unreckoned(groups))
