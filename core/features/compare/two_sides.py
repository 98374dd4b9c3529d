"""Two sides held against each other: two runs, two evaluators, or any two slices.

Two differences, never one for both: of *drift*, the signed medians, and of *scatter*, how much items change whichever
way.
Two sides whose signed medians are alike may scatter by 0.1 % and by 12 %.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.analysis.effects import ends
from core.analysis.scores import Memo
from core.analysis.table import View
from core.analysis.verdicts import DRIFTS, DRIFTS_WITHIN, MARGIN, NOT_SHOWN, STILL, TOO_FEW, agreed, drift
from core.corpora.schema import OWN
from core.errors import InvalidInput
from core.probes.base import BASE_CAPTION, Axis
from core.probes.titles import family_title, title
from core.statistics.bootstrap import LEAST_N, Interval, median_bca, median_bca_levels
from core.statistics.changes import Changes, item_medians
from core.statistics.power import reach
from core.statistics.resamples import named, ranks_of, source_means
from core.statistics.shift_tests import (
    MANN_WHITNEY,
    NO_TEST,
    cliffs_delta,
    crossed_rank_sum,
    holm_of_tests,
    median_differences,
    paired_test,
    rank_sum,
)
from core.store.run_files import Run

PAIRED, INDEPENDENT = "paired by item", "independent"
ALL = "all shifts"  # label of the row that takes every shift of a side together
DIFFER, DIFFER_WITHIN, ALIKE = "drift differs", "drift differs, but within the margin", "drift alike within the margin"
SCATTER_DIFFERS, SCATTER_DIFFERS_WITHIN, SCATTER_ALIKE = (
    each.replace("drift", "size") for each in (DIFFER, DIFFER_WITHIN, ALIKE)
)
NO_SPREAD = "no spread"
"""What is said where the unedited scores of a side have none, so that its shifts cannot be standardised."""

NO_PERCENT = "% change withheld"
"""What is said where a side has negative baselines; see :meth:`core.analysis.table.ScoreTable.withheld`."""

SIDES_NOT_SHOWN = "the test finds that the sides differ, the median difference does not show it"  # a conflict of drift
SIZES_NOT_SHOWN = "the test finds that the sides’ sizes differ, the median difference does not show it"
_SAID = {DRIFTS: DIFFER, DRIFTS_WITHIN: DIFFER_WITHIN, STILL: ALIKE}
_SCATTER_SAID = {DRIFTS: SCATTER_DIFFERS, DRIFTS_WITHIN: SCATTER_DIFFERS_WITHIN, STILL: SCATTER_ALIKE}

MEASURES = ("percent", "standardised")
"""Measures in which two sides can be compared: raw scales of two evaluators cannot."""

OF_PROBES, OF_ITEMS = ("family", "modifier", "probe"), ("category", "coverage_bin")
BY = (*OF_PROBES, *OF_ITEMS)  # what the levels of a comparison may be
_OF_SHIFTS = ("axes", "families", "probes", "modifiers", "controls")

COLUMNS = (
    "label", "a_value", "a_low", "a_high", "a_n", "b_value", "b_low", "b_high", "b_n", "difference", "low", "high",
    "n_items", "how", "shared", "verdict", "test", "p", "p_holm", "m_tests", "conflict", "cliffs_delta", "detectable",
    "needed", "note", "a_size", "a_size_low", "a_size_high", "b_size", "b_size_low", "b_size_high", "size_difference",
    "size_low", "size_high", "scatter", "size_test", "size_p", "size_p_holm", "size_m_tests", "size_conflict",
    "size_detectable", "size_needed", "size_note",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SidesCompared:
    """Two sides held against each other."""

    a: str  # a, b: what each side is, in words
    b: str
    by: str  # of which level a row is
    # of medians and differences: ``%`` (differences in percentage points), ``SD``, or ``score``; empty where each row
    # has its own
    unit: str
    margin: float | None  # equivalence margin; None where there is none
    # columns of :data:`COLUMNS`; all together first, then the largest difference first, whether of drift or of scatter.
    # Of reports those of :func:`core.features.compare.sides.of_reports`.
    rows: pd.DataFrame
    only_a: int  # only_a, only_b, shared: items of the first row that stand on one side alone, and on both
    only_b: int
    shared: int
    made_with: pd.DataFrame  # what two runs were made with that is not the same


def compare(
    a: View,
    b: View,
    *,
    by: str = "family",
    measure: Literal["percent", "standardised"] = "percent",
    margin: float = MARGIN,
    pairing: bool | None = None,
) -> pd.DataFrame:
    """Hold side A against side B: everything together, then each level that both have.

    An item counts once on a side, by the median over its probes. Where at least half of the items of the smaller side
    stand on the other side too, and the sides are different shifts of them (another run, evaluator, family …), the
    difference is the median of the items' own differences, and its interval a paired bootstrap. Otherwise it is the
    difference of the two medians, the sides resampled independently. Items of one source are resampled together, and a
    source counts once in the test. Raises InvalidInput if a side has not one evaluator, or the measure or the levels
    are unknown.

    Args:
        by: one of BY, or a column of the items' owners by its key, whose levels are compared.
        measure: ``percent`` or ``standardised`` (over the SD of that side's evaluator's unedited scores).
        margin: equivalence margin in percentage points; there is none for standardised shifts.
        pairing: whether an item on both sides has two values; None: as :func:`can_pair` finds.

    Returns:
        One row a level: COLUMNS; difference is A - B, n_items the pairs or the items of both sides, shared the items
        on both sides, verdict one of DIFFER, DIFFER_WITHIN, ALIKE, undecided, NO_SPREAD (a side cannot be
        standardised), NO_PERCENT, or of NO_CLAIM, or why a side's scores show no shift (SILENT). The columns with size
        are the same of an item's median absolute shift, scatter one of SCATTER_DIFFERS and so on. Empty where a side
        is. The first row leaves the invisible edits out, unless a side asks for them. Holm's correction is over the
        rows that have a test and are of no control, of drift and of scatter apart; m_tests is how many these are. A
        difference that its corrected test (a control's own) does not bear out is undecided, and conflict says so.
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
    paired = can_pair(a, b) if pairing is None else pairing
    return held_apart(pairs, pairing=paired, measure=measure, margin=margin)


def row_names(by: str, labels: Iterable[str]) -> dict[str, str]:
    """The words for the rows: titles where they are families or probes."""
    said: Callable[[str], str] = {"family": family_title, "probe": title}.get(by, str)
    return {label: "All together" if label == ALL else said(label) for label in map(str, labels)}


def held_apart(
    pairs: Sequence[tuple[str, "Values", "Values"]], *, pairing: bool, measure: str, margin: float = MARGIN
) -> pd.DataFrame:
    """A row for each (label, values of A, values of B); see :func:`compare`, whose rows these are. A measure other than
    ``percent`` has no margin; ``pairing``: an item on both sides has two values."""
    table = pd.DataFrame([_row(label, x, y, pairing, measure, margin) for label, x, y in pairs])
    table = _held(table, "", "verdict", _SAID, SIDES_NOT_SHOWN)
    return _held(table, "size_", "scatter", _SCATTER_SAID, SIZES_NOT_SHOWN).reindex(columns=list(COLUMNS))


def _held(table: pd.DataFrame, of: str, claim: str, said: Mapping[str, str], not_shown: str) -> pd.DataFrame:
    """Claims held to their tests, corrected over the rows; ``of`` begins the columns of the test."""
    alone = table[f"{of}p"].astype(float)
    corrected, sizes = holm_of_tests(alone, table[f"{of}test"], among=~table["control"].to_numpy(dtype=bool))
    held = [agreed(*row) for row in zip(table[claim], corrected, alone, strict=True)]
    words = [said.get(each.drift, each.drift) for each in held]
    conflicts = [not_shown if each.conflict == NOT_SHOWN else each.conflict for each in held]
    told: dict[str, Any] = {f"{of}p_holm": corrected, f"{of}m_tests": sizes, f"{of}conflict": conflicts}
    return table.assign(**told, **{claim: words})


def can_pair(a: View, b: View) -> bool:
    """Whether the sides are different shifts, so that an item on both has two values; not the same ones twice."""
    one, other = (
        (view.evaluators, of.run_ids, of.subject, of.language, *(getattr(view.chosen, name) for name in _OF_SHIFTS))
        for view in (a, b)
        for of in (view.table.scope,)
    )
    return one != other


def _numbers(a: View, b: View) -> tuple[np.ndarray, np.ndarray]:
    """A number for each item of each side; equal items of two sides have equal numbers."""
    names = [(view.table.items["corpus"] + "\x1f" + view.table.items["item"]).to_numpy() for view in (a, b)]
    codes, _ = pd.factorize(np.concatenate(names))
    return codes[: len(names[0])], codes[len(names[0]) :]


@dataclass(frozen=True, slots=True)
class Values:
    """What is compared of one side: numbers of the items, ascending, their values and sizes, no NaN, and sources.

    ``why`` says why nothing can be claimed of the side whatever its n; ``control`` whether it holds controls alone;
    ``kept`` has what was worked out of the side's slice, under ``asked`` of these values.
    """

    items: np.ndarray
    values: np.ndarray
    sizes: np.ndarray
    sources: np.ndarray | None
    stored: bool
    why: str = ""
    control: bool = False
    asked: Hashable = None
    kept: Memo = field(default_factory=Memo)

    def median(self, of: str) -> Interval:
        """Median of ``values`` or of ``sizes``, worked out once however many sides this one is held against."""
        return self.kept.get("median", (of, self.asked), lambda: median_bca(getattr(self, of), groups=self.sources))


class _Side:
    """The changes of one side's items, all together and by level."""

    def __init__(self, view: View, numbers: np.ndarray, *, called: str) -> None:
        if len(view.evaluators) != 1:
            some = ", ".join(view.evaluators) or "none is left"
            raise InvalidInput(f"{called} has {len(view.evaluators)} evaluators; choose one: {some}")
        self._view, self._evaluator = view, view.evaluators[0]
        self._numbers = numbers
        self._probes = {name: probes for name, probes in view.families().items() if name != BASE_CAPTION}

    def whole(self, measure: str) -> Values:
        """Every shift together, invisible edits aside unless the slice asks for an axis."""
        table, chosen = self._view.table, self._view.chosen
        kept = [
            probe
            for name, probes in self._probes.items()
            for probe in probes
            if (chosen.axes or table.axis_of(name) != Axis.NULL.value) and (chosen.controls or not self._bare(name))
        ]
        return self._values(kept, measure, self._view.items)

    def levels(self, by: str, measure: str) -> Mapping[str, Values]:
        """The same of each level."""
        table, items = self._view.table, self._view.items
        if by in OF_ITEMS or by in table.own:
            kept = [probe for name, probes in self._probes.items() for probe in probes if not self._bare(name)]
            column = table.items[by]
            names = sorted(map(str, column[items].dropna().unique()))
            return {
                name: self._values(kept, measure, items & (column == name).to_numpy(), of=(by, name)) for name in names
            }
        if by.startswith(OWN):  # the other side alone tells it
            return {}
        if by not in BY:
            raise InvalidInput(f"sides are compared by one of {', '.join(BY)}, got {by!r}")
        groups: dict[str, list[str]] = {}
        for family, probes in self._probes.items():
            for probe in probes:
                level = family if by == "family" else probe if by == "probe" else table.probes.loc[probe, by]
                if isinstance(level, str):
                    groups.setdefault(level, []).append(probe)
        return {name: self._values(probes, measure, items) for name, probes in sorted(groups.items())}

    def _bare(self, family: str) -> bool:
        """Whether a family holds controls alone, the invisible edits aside."""
        table = self._view.table
        return table.is_control(family) and table.axis_of(family) != Axis.NULL.value

    def _values(self, probes: list[str], measure: str, items: np.ndarray, of: Hashable = None) -> Values:
        """Values of some probes and items; ``of`` names the items where they are not all of the slice."""
        if not probes:
            return Values(self._numbers[:0], np.empty(0), np.empty(0), None, stored=False)
        found = self._view.changes(self._evaluator, tuple(probes))
        values, sizes = found.percent, found.size
        if measure != "percent":
            shifts = self._view.shifts(self._evaluator, tuple(probes))[0]
            values, sizes = self._standardised(found.delta), self._standardised(item_medians(np.abs(shifts)))
        kept = items & ~np.isnan(values)
        order = np.argsort(self._numbers[kept])
        stored = bool((found.n_shifts + found.n_zero_baseline + found.n_missing)[items].any())
        table = self._view.table
        sources = table.sources
        groups = None if sources is None else sources[kept][order]
        control = bool(table.probes["control"].to_numpy(dtype=bool)[table.places(probes)].all())
        why = self._why(found, measure, items, lost=not kept.any())
        asked, kept_of_slice = (tuple(probes), measure, of), self._view.kept
        numbers, values, sizes = (each[kept][order] for each in (self._numbers, values, sizes))
        return Values(numbers, values, sizes, groups, stored, why, control, asked, kept_of_slice)

    def _why(self, found: Changes, measure: str, items: np.ndarray, *, lost: bool) -> str:
        """Why nothing can be claimed of some changes whatever their n; ``lost``: no item has a value."""
        table = self._view.table
        silent = {
            table.silent(self._evaluator, name) for name in table.corpora if (table.of_corpus(name) & items).any()
        }
        if len(silent) == 1 and (said := silent.pop()):
            return said
        if measure == "percent":
            return NO_PERCENT if found.withheld[items].any() else ""
        scored = found.n_shifts + found.n_zero_baseline
        return NO_SPREAD if lost and (items & (scored > 0)).any() else ""

    def _standardised(self, shifts: np.ndarray) -> np.ndarray:
        table, values = self._view.table, np.full(len(shifts), math.nan)
        for corpus in table.corpora:
            own, spread = table.of_corpus(corpus), table.spread(self._evaluator, corpus)
            values[own] = shifts[own] / (spread if spread > 0 else math.nan)
        return values


def _row(label: str, a: Values, b: Values, pairing: bool, measure: str, margin: float) -> dict[str, Any]:
    # a margin in percent says nothing of standard deviations: only "differ" can be claimed of them
    bound = margin if measure == "percent" else 0.0
    both = _shared(a, b)
    told: dict[str, Any] = {"label": label, "a_n": len(a.items), "b_n": len(b.items)}
    told |= {"control": a.control and b.control, "cliffs_delta": cliffs_delta(a.values, b.values)}
    of_sizes = [replace(each, values=each.sizes) for each in (a, b)]
    for of, claim, (one, other) in (("size_", "scatter", of_sizes), ("", "verdict", [a, b])):
        found = _difference(one, other, pairing, both)
        power = reach(found.interval, margin=bound or math.nan)
        shown = TOO_FEW if found.least < LEAST_N else drift(found.interval, found.narrow, margin=bound)
        told |= {
            **_medians(of.rstrip("_"), a, b),
            **ends(found.interval, (f"{of}difference", f"{of}low", f"{of}high")),
            claim: a.why or b.why or shown,
            **{f"{of}test": found.test, f"{of}p": found.p, f"{of}note": _noted(a, b, found)},
            **{f"{of}detectable": power.detectable, f"{of}needed": power.needed},
        }
    return told | {"n_items": found.interval.n, "how": found.how, "shared": found.shared}


def _medians(of: str, a: Values, b: Values) -> dict[str, float]:
    """Median of each side with its interval: ``a_value``, ``a_low``, … or ``a_size``, ``a_size_low``, …"""
    kind, value, end = ("sizes", of, f"{of}_") if of else ("values", "value", "")
    told = dict[str, float]()
    for name, each in (("a", a), ("b", b)):
        told |= ends(each.median(kind), (f"{name}_{value}", f"{name}_{end}low", f"{name}_{end}high"))
    return told


def _noted(a: Values, b: Values, found: "_Found") -> str:
    """Why a side allows no claim, and the remark on the interval, which for pairs is of their differences."""
    why = [f"side {name}: {each.why}" for name, each in (("A", a), ("B", b)) if each.why]
    said = found.interval.note
    return "; ".join([*why, said.replace("values", "differences") if found.how == PAIRED else said]).strip("; ")


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


def _shared(a: Values, b: Values) -> tuple[np.ndarray, np.ndarray]:
    """Places of the items that stand on both sides, on either."""
    if np.array_equal(a.items, b.items):
        places = np.arange(len(a.items))
        return places, places
    _, in_a, in_b = np.intersect1d(a.items, b.items, assume_unique=True, return_indices=True)
    return in_a, in_b


def _difference(a: Values, b: Values, pairing: bool, both: tuple[np.ndarray, np.ndarray]) -> _Found:
    in_a, in_b = both
    least = min(len(a.items), len(b.items))
    if pairing and least and 2 * len(in_a) >= least:
        one, other = a.values[in_a], b.values[in_b]
        groups = None if a.sources is None else a.sources[in_a]
        wide, narrow = median_bca_levels(one - other, levels=(0.95, 0.90), groups=groups)
        test = paired_test(other, one, groups=groups)
        return _Found(wide, narrow, PAIRED, len(in_a), len(in_a), test.name, test.p)
    known = [np.arange(len(each.items)) if each.sources is None else each.sources for each in (a, b)]
    if all(each.ndim == 2 for each in known):  # the two sides are independent samples, of sources numbered apart
        known[1] = known[1] + known[0].max(axis=0, initial=-1) + 1
    of = None if a.sources is None and b.sources is None else (known[0], known[1])
    wide, narrow = median_differences(a.values, b.values, levels=(0.95, 0.90), groups=of)
    ranks = [ranks_of(each.sources, len(each.values)) for each in (a, b)]
    sides = [source_means(each.values, own) for each, own in zip((a, b), ranks, strict=True)]
    p = crossed_rank_sum((a.values, b.values), known, rank_sum(*sides)[1]) if least else math.nan
    shared = next((own for own in ranks if own is not None), None)
    name = named(MANN_WHITNEY, shared) if least else NO_TEST
    return _Found(wide, narrow, INDEPENDENT, len(in_a), least, name, p)


def manifest_differences(one: Run, other: Run) -> pd.DataFrame:
    """What two runs were made with that is not the same; when, where and how fast they were made is left out, and their
    counts. Returns one row a difference: what (a path such as ``evaluators.conse-lite0.fingerprint.weights``), a, b;
    missing entries are empty."""
    a, b = (
        dict(_flat({name: run.manifest[name] for name in _MADE_WITH if name in run.manifest})) for run in (one, other)
    )
    return made_apart(a, b, sorted({*a, *b}))


def made_apart(a: Mapping[str, str], b: Mapping[str, str], names: Iterable[str]) -> pd.DataFrame:
    """Those of some names under which two sides have not the same: what, a, b; missing entries are empty."""
    records = [(name, a.get(name, ""), b.get(name, "")) for name in names if a.get(name) != b.get(name)]
    return pd.DataFrame(records, columns=["what", "a", "b"])


_TABLES = ("lexicons", "words", "constants", "versions")
_MADE_WITH = ("invariscope", "corpus", "subjects", "seed", "evaluators", "probes", *_TABLES)
_ABOUT = ("corpus.root", "corpus.folder", "corpus.description", "corpus.items")


def _flat(value: object, path: str = "") -> list[tuple[str, str]]:
    """Leaves of nested data by their path; a list of named entries goes by the names."""
    if path in _ABOUT:
        return []
    if isinstance(value, Mapping):
        return [leaf for name in value for leaf in _flat(value[name], f"{path}.{name}".lstrip("."))]
    if isinstance(value, list) and value and all(isinstance(each, Mapping) and "name" in each for each in value):
        return [leaf for each in value for leaf in _flat({**each, "name": "present"}, f"{path}.{each['name']}")]
    return [(path, ", ".join(map(str, value)) if isinstance(value, list) else str(value))]
