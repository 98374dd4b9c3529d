"""Two sides held against each other: two runs, two evaluators, or any two slices."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import stats

from core.analysis.table import Changes, View
from core.analysis.verdicts import DRIFTS, DRIFTS_WITHIN, MARGIN, STILL, TOO_FEW, agreed, drift
from core.errors import InvalidInput
from core.probes.base import BASE_CAPTION, Axis
from core.statistics.bootstrap import LEAST_N, Interval, median_bca, median_bca_levels
from core.statistics.by_source import named, ranks_of, source_means
from core.statistics.power import reach
from core.statistics.rank_tests import MANN_WHITNEY
from core.statistics.shift_tests import NO_TEST, cliffs_delta, holm, paired_test
from core.statistics.two_samples import median_differences

PAIRED, INDEPENDENT = "paired by item", "independent"
ALL = "all shifts"
"""Label of the row that takes every shift of a side together."""

DIFFER, DIFFER_WITHIN, ALIKE = "differ", "differ, but within the margin", "alike within the margin"
_SAID = {DRIFTS: DIFFER, DRIFTS_WITHIN: DIFFER_WITHIN, STILL: ALIKE}

MEASURES = ("percent", "standardised")
"""Measures in which two sides can be compared: raw scales of two evaluators cannot."""

OF_PROBES, OF_ITEMS = ("family", "modifier", "probe"), ("category", "coverage_bin")
BY = (*OF_PROBES, *OF_ITEMS)
"""What the levels of a comparison may be."""

_OF_SHIFTS = ("axes", "families", "probes", "modifiers", "controls")

COLUMNS = (
    "label", "a_value", "a_low", "a_high", "a_n", "b_value", "b_low", "b_high", "b_n", "difference", "low", "high",
    "n_items", "how", "shared", "verdict", "test", "p", "p_holm", "cliffs_delta", "detectable", "needed", "note",
)  # fmt: skip


def compare(
    a: View, b: View, *, by: str = "family", measure: Literal["percent", "standardised"] = "percent",
    margin: float = MARGIN,
) -> pd.DataFrame:  # fmt: skip
    """Hold side A against side B: everything together, then each level that both have.

    An item counts once on a side, by the median over its probes. Where at least half of the items of the smaller
    side stand on the other side too, and the sides are different shifts of them (another run, evaluator, family …),
    the difference is the median of the items' own differences, and its interval a paired bootstrap. Otherwise it is
    the difference of the two medians, the sides resampled independently. Items of one source are resampled
    together, and a source counts once in the test.

    Args:
        a: one side; its shifts are of one evaluator.
        b: the other, of the same table or another.
        by: one of BY, whose levels are compared.
        measure: ``percent`` or ``standardised`` (over the SD of that side's evaluator's clean scores).
        margin: equivalence margin in percentage points; there is none for standardised shifts.

    Returns:
        One row a level: COLUMNS; difference is A - B, n_items the pairs or the items of both sides, shared the items
        on both sides, verdict one of DIFFER, DIFFER_WITHIN, ALIKE, undecided, TOO_FEW. Empty where a side is. The
        first row leaves the null edits out, unless a side asks for them. Holm's correction is over the rows; a
        difference that its corrected test does not bear out is undecided.

    Raises:
        InvalidInput: if a side has not one evaluator, or the measure or the levels are unknown.
    """
    if measure not in MEASURES:
        raise InvalidInput(f"two sides are compared in one of {', '.join(MEASURES)}, got {measure!r}")
    numbers = _numbers(a, b)
    sides = [_Side(view, of, called=f"side {name}") for name, view, of in zip("AB", (a, b), numbers, strict=True)]
    one, other = (side.whole(measure) for side in sides)
    if not one.stored or not other.stored:
        return pd.DataFrame(columns=list(COLUMNS))
    first, second = (side.levels(by, measure) for side in sides)
    pairs = [(ALL, one, other)]
    both = [level for level in sorted(set(first) & set(second)) if first[level].stored and second[level].stored]
    pairs += [(level, first[level], second[level]) for level in both]
    pairing = can_pair(a, b)
    table = pd.DataFrame([_row(label, x, y, pairing, measure, margin) for label, x, y in pairs])
    table["p_holm"] = holm(table["p"].astype(float))
    held = [agreed(word, p).drift for word, p in zip(table["verdict"], table["p_holm"], strict=True)]
    table["verdict"] = [_SAID.get(word, word) for word in held]
    return table.reindex(columns=list(COLUMNS))


def can_pair(a: View, b: View) -> bool:
    """Whether the sides are different shifts, so that an item on both has two values; not the same ones twice."""
    one, other = ((view.evaluators, view.table.scope.run_ids, view.table.scope.subject, view.table.scope.language,
                   *(getattr(view.chosen, name) for name in _OF_SHIFTS)) for view in (a, b))  # fmt: skip
    return one != other


def _numbers(a: View, b: View) -> tuple[np.ndarray, np.ndarray]:
    """A number for each item of each side; equal items of two sides have equal numbers."""
    names = [(view.table.items["corpus"] + "\x1f" + view.table.items["item"]).to_numpy() for view in (a, b)]
    codes, _ = pd.factorize(np.concatenate(names))
    return codes[: len(names[0])], codes[len(names[0]) :]


@dataclass(frozen=True, slots=True)
class _Values:
    """What is compared of one side: numbers of the items, ascending, their values, none of them NaN, and sources."""

    items: np.ndarray
    values: np.ndarray
    sources: np.ndarray | None
    stored: bool


class _Side:
    """The changes of one side's items, all together and by level."""

    def __init__(self, view: View, numbers: np.ndarray, *, called: str) -> None:
        if len(view.evaluators) != 1:
            some = ", ".join(view.evaluators) or "none is left"
            raise InvalidInput(f"{called} has {len(view.evaluators)} evaluators; choose one: {some}")
        self._view, self._evaluator = view, view.evaluators[0]
        self._numbers = numbers
        self._probes = {name: probes for name, probes in view.families().items() if name != BASE_CAPTION}

    def whole(self, measure: str) -> _Values:
        """Every shift together, null edits aside unless the slice asks for an axis."""
        table, chosen = self._view.table, self._view.chosen
        kept = [
            probe for name, probes in self._probes.items() for probe in probes
            if (chosen.axes or table.axis_of(name) != Axis.NULL.value) and (chosen.controls or not self._bare(name))
        ]  # fmt: skip
        return self._values(kept, measure, self._view.items)

    def levels(self, by: str, measure: str) -> Mapping[str, _Values]:
        """The same of each level."""
        if by not in BY:
            raise InvalidInput(f"sides are compared by one of {', '.join(BY)}, got {by!r}")
        table, items = self._view.table, self._view.items
        if by in OF_ITEMS:
            kept = [probe for name, probes in self._probes.items() for probe in probes if not self._bare(name)]
            column = table.items[by]
            names = sorted(map(str, column[items].dropna().unique()))
            return {name: self._values(kept, measure, items & (column == name).to_numpy()) for name in names}
        groups: dict[str, list[str]] = {}
        for family, probes in self._probes.items():
            for probe in probes:
                level = family if by == "family" else probe if by == "probe" else table.probes.loc[probe, by]
                if isinstance(level, str):
                    groups.setdefault(level, []).append(probe)
        return {name: self._values(probes, measure, items) for name, probes in sorted(groups.items())}

    def _bare(self, family: str) -> bool:
        """Whether a family holds controls alone, the null edits aside."""
        table = self._view.table
        return table.is_control(family) and table.axis_of(family) != Axis.NULL.value

    def _values(self, probes: list[str], measure: str, items: np.ndarray) -> _Values:
        if not probes:
            return _Values(self._numbers[:0], np.empty(0), None, stored=False)
        found = self._view.changes(self._evaluator, tuple(probes))
        values = found.percent if measure == "percent" else self._standardised(found)
        kept = items & ~np.isnan(values)
        order = np.argsort(self._numbers[kept])
        stored = bool((found.n_shifts + found.n_zero_baseline + found.n_missing)[items].any())
        sources = self._view.table.sources
        of = None if sources is None else sources[kept][order]
        return _Values(self._numbers[kept][order], values[kept][order], of, stored)

    def _standardised(self, changes: Changes) -> np.ndarray:
        table, values = self._view.table, np.full(len(changes.delta), math.nan)
        for corpus in table.corpora:
            own, spread = table.of_corpus(corpus), table.spread(self._evaluator, corpus)
            values[own] = changes.delta[own] / (spread if spread > 0 else math.nan)
        return values


def _row(label: str, a: _Values, b: _Values, pairing: bool, measure: str, margin: float) -> dict[str, Any]:
    shown = _difference(a, b, pairing)
    sides: dict[str, float] = {}
    for name, own in (("a", a), ("b", b)):
        found = median_bca(own.values, groups=own.sources)
        sides |= {f"{name}_value": found.estimate, f"{name}_low": found.low, f"{name}_high": found.high,
                  f"{name}_n": found.n}  # fmt: skip
    # a margin in percent says nothing of standard deviations: only "differ" can be claimed of them
    bound = margin if measure == "percent" else 0.0
    power = reach(shown.interval, margin=bound or math.nan)
    word = TOO_FEW if shown.least < LEAST_N else drift(shown.interval, shown.narrow, margin=bound)
    return {
        "label": label, **sides, "difference": shown.interval.estimate, "low": shown.interval.low,
        "high": shown.interval.high, "n_items": shown.interval.n, "how": shown.how, "shared": shown.shared,
        "verdict": word, "test": shown.test, "p": shown.p, "detectable": power.detectable, "needed": power.needed,
        "cliffs_delta": cliffs_delta(a.values, b.values), "note": shown.interval.note,
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Found:
    """A difference with what was done to find it; ``least`` is the smaller side's n."""

    interval: Interval
    narrow: Interval
    how: str
    shared: int
    least: int
    test: str
    p: float


def _difference(a: _Values, b: _Values, pairing: bool) -> _Found:
    both, in_a, in_b = np.intersect1d(a.items, b.items, assume_unique=True, return_indices=True)
    least = min(len(a.items), len(b.items))
    if pairing and least and 2 * len(both) >= least:
        one, other = a.values[in_a], b.values[in_b]
        groups = None if a.sources is None else a.sources[in_a]
        wide, narrow = median_bca_levels(one - other, levels=(0.95, 0.90), groups=groups)
        test = paired_test(other, one, groups=groups)
        return _Found(wide, narrow, PAIRED, len(both), len(both), test.name, test.p)
    known = [np.arange(len(each.items)) if each.sources is None else each.sources for each in (a, b)]
    of = None if a.sources is None and b.sources is None else (known[0], known[1])
    wide, narrow = median_differences(a.values, b.values, levels=(0.95, 0.90), groups=of)
    ranks = [ranks_of(each.sources, len(each.values)) for each in (a, b)]
    sides = [source_means(each.values, own) for each, own in zip((a, b), ranks, strict=True)]
    p = float(stats.mannwhitneyu(*sides).pvalue) if least else math.nan
    shared = next((own for own in ranks if own is not None), None)
    name = named(MANN_WHITNEY, shared) if least else NO_TEST
    return _Found(wide, narrow, INDEPENDENT, len(both), least, name, p)
