"""Two sides of the runs held against each other: two runs, two evaluators, or any two slices.

References:
    [1] Efron, B. and Tibshirani, R. (1993). An Introduction to the Bootstrap, 8.3 (two samples) and 14.3 (BCa).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from core.analysis.bootstrap import (
    RESAMPLES,
    Interval,
    acceleration,
    bca_bounds,
    bootstrap_medians,
    jackknife_medians,
    median_bca,
    median_bca_levels,
)
from core.analysis.contrasts import INVARIANT, LEAST_N, MARGIN, MOVES, MOVES_WITHIN, TOO_FEW, verdict
from core.analysis.results import change_rows, clean_spread, per_item
from core.analysis.shift_tests import cliffs_delta, holm, paired_test
from core.analysis.slices import CHOICES, Slice
from core.audit.manifest import Run
from core.audit.store import Store
from core.errors import InvalidInput
from core.probes.base import Axis
from core.seeds import RUN_SEED

PAIRED, INDEPENDENT = "paired by item", "independent"
ALL = "all shifts"
"""Label of the row that takes every shift of a side together."""

DIFFER, DIFFER_WITHIN, ALIKE = "differ", "differ, but within the margin", "alike within the margin"
_SAID = {MOVES: DIFFER, MOVES_WITHIN: DIFFER_WITHIN, INVARIANT: ALIKE}

MEASURES = ("percent", "standardised")
"""Measures in which two sides can be compared: raw scales of two evaluators cannot."""

_OF_ITEMS = ("corpora", "categories", "coverage_bins", "inside", "accepted", "sign")

COLUMNS = (
    "label", "a_value", "a_low", "a_high", "a_n", "b_value", "b_low", "b_high", "b_n", "difference", "low", "high",
    "n_items", "how", "shared", "verdict", "test", "p", "p_holm", "cliffs_delta", "note",
)  # fmt: skip


def median_difference(
    one: ArrayLike, other: ArrayLike, *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = RUN_SEED
) -> Interval:
    """Difference of the medians of two independent samples, with its BCa bootstrap interval [1].

    Args:
        one: first sample, any shape; NaN are left out.
        other: second sample, likewise.
        level: confidence level in (0, 1).
        resamples: number of bootstrap differences.
        seed: seed of the draws.

    Returns:
        median(one) - median(other), n the values of both. Fewer than two values on a side: no bounds, and a note.

    Raises:
        InvalidInput: if the level is out of range or a value is infinite.

    Example:
        >>> median_difference([4.0, 5.0, 6.0], [1.0, 2.0, 3.0]).estimate
        3.0
    """
    return _median_differences(one, other, (level,), resamples, seed)[0]


def _median_differences(
    one: ArrayLike, other: ArrayLike, levels: Sequence[float], resamples: int, seed: int
) -> tuple[Interval, ...]:
    a, b = (_present(values) for values in (one, other))
    estimates = median_bca(a).estimate - median_bca(b).estimate if len(a) and len(b) else math.nan
    n = len(a) + len(b)
    if min(len(a), len(b)) < 2:
        note = "a side without values" if min(len(a), len(b)) == 0 else "a side of one value has no interval"
        return tuple(Interval(estimates, math.nan, math.nan, n, level, note) for level in levels)
    drawn = [
        bootstrap_medians(values, resamples=resamples, rng=np.random.default_rng((seed, side)))
        for side, values in enumerate((a, b))
    ]
    differences = drawn[0] - drawn[1]
    if np.ptp(differences) == 0:
        return tuple(Interval(estimates, estimates, estimates, n, level, "no draw differs") for level in levels)
    influence = np.concatenate([_influence(a), -_influence(b)])
    bent = acceleration(influence)
    return tuple(
        Interval(estimates, *bca_bounds(differences, estimate=estimates, acceleration=bent, level=level), n, level)
        for level in levels
    )


def _influence(values: np.ndarray) -> np.ndarray:
    """Jackknife influence of each value, weighed by its share of its own sample."""
    left_out = jackknife_medians(values)
    return (left_out.mean() - left_out) * (len(values) - 1) / len(values)


def compare(
    store: Store, a: Slice, b: Slice, *, by: str = "family", measure: Literal["percent", "standardised"] = "percent",
    margin: float = MARGIN,
) -> pd.DataFrame:  # fmt: skip
    """Hold side A against side B: everything together, then each level that both have.

    An item counts once on a side, by the median over its probes. Where at least half of the items of the smaller
    side stand on the other side too, and the sides are different shifts of them (another run, evaluator, family …),
    the difference is the median of the items' own differences, and its interval a paired bootstrap. Otherwise it is
    the difference of the two medians, the sides resampled independently.

    Args:
        store: opened runs.
        a: one side; its shifts are of one evaluator.
        b: the other.
        by: column of ``shifts`` whose levels are compared, e.g. ``family``.
        measure: ``percent`` or ``standardised`` (over the SD of that side's own baseline scores).
        margin: equivalence margin in percentage points; there is none for standardised shifts.

    Returns:
        One row a level: COLUMNS; difference is A - B, n_items the pairs or the items of both sides, shared the items
        on both sides, verdict one of DIFFER, DIFFER_WITHIN, ALIKE, undecided, TOO_FEW. Empty where a side is. The
        first row leaves the null edits out, unless a side asks for them.

    Raises:
        InvalidInput: if a side has several evaluators, or the measure or column is unknown.
    """
    return compare_sides(
        read_side(store, a, by=by, called="side A"), read_side(store, b, by=by, called="side B"), measure=measure,
        margin=margin,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Side:
    """What a comparison takes of one side.

    Args:
        chosen: its slice.
        by: column whose levels are compared.
        whole: a row an item, all shifts together: corpus, item (categories in the order of their names), percent,
            delta, baseline; in the order of corpus and item.
        levels: the same of each level.
    """

    chosen: Slice
    by: str
    whole: pd.DataFrame
    levels: Mapping[str, pd.DataFrame]


def read_side(store: Store, chosen: Slice, *, by: str = "family", called: str = "a side") -> Side:
    """Read one side of :func:`compare`.

    Args:
        store: opened runs.
        chosen: its shifts.
        by: column whose levels are compared.
        called: what a message calls it.

    Raises:
        InvalidInput: if the side has several evaluators, or the column is unknown.
    """
    if by not in CHOICES.values():
        raise InvalidInput(f"sides are compared by one of {', '.join(CHOICES.values())}, got {by!r}")
    rows = change_rows(store, chosen, columns=("evaluator", "axis", by))
    evaluators = list(rows["evaluator"].unique())
    if len(evaluators) > 1:
        raise InvalidInput(f"{called} has {len(evaluators)} evaluators; choose one: {', '.join(evaluators)}")
    whole = per_item(_visible(rows, chosen), ("corpus", "item"))
    parts = per_item(rows, tuple(dict.fromkeys((by, "corpus", "item"))))
    levels = {str(level): part[_KEPT] for level, part in parts.groupby(parts[by].astype(object), sort=True)}
    return Side(chosen, by, whole[_KEPT], levels)


_KEPT = ["corpus", "item", "percent", "delta", "baseline"]


def compare_sides(
    a: Side, b: Side, *, measure: Literal["percent", "standardised"] = "percent", margin: float = MARGIN
) -> pd.DataFrame:
    """Hold two sides of the same levels against each other; see :func:`compare`.

    Raises:
        InvalidInput: if the measure is unknown.
    """
    if measure not in MEASURES:
        raise InvalidInput(f"two sides are compared in one of {', '.join(MEASURES)}, got {measure!r}")
    if a.whole.empty or b.whole.empty:
        return pd.DataFrame(columns=list(COLUMNS))
    pairing, (in_a, in_b) = can_pair(a.chosen, b.chosen), _places(a, b)
    pairs = [(ALL, a.whole, b.whole)]
    pairs += [(level, a.levels[level], b.levels[level]) for level in sorted(set(a.levels) & set(b.levels))]
    records = [
        _row(label, _measured(one, measure, in_a), _measured(other, measure, in_b), pairing, measure, margin)
        for label, one, other in pairs
    ]
    table = pd.DataFrame(records)
    table["p_holm"] = holm(table["p"].astype(float))
    return table.reindex(columns=list(COLUMNS))


def can_pair(a: Slice, b: Slice) -> bool:
    """Whether the sides are different shifts, so that an item on both has two values; not the same ones twice."""
    return any(getattr(a, field.name) != getattr(b, field.name) for field in fields(a) if field.name not in _OF_ITEMS)


def _visible(rows: pd.DataFrame, side: Slice) -> pd.DataFrame:
    return rows if side.axes else rows[rows["axis"] != Axis.NULL.value]


@dataclass(frozen=True, slots=True)
class _Values:
    """What is compared of one side: numbers of the items, ascending, and their values, none of them NaN."""

    items: np.ndarray
    values: np.ndarray


def _measured(items: pd.DataFrame, measure: str, places: tuple[np.ndarray, np.ndarray]) -> _Values:
    values = items["percent"].to_numpy()
    if measure != "percent":
        delta = items["delta"].to_numpy()
        spread = clean_spread(items["baseline"].to_numpy(), delta)
        values = delta / (spread if spread > 0 else math.nan)
    corpus, item = (items[column].cat.codes.to_numpy() for column in ("corpus", "item"))
    known = ~np.isnan(values)
    return _Values((places[0][corpus] + places[1][item])[known], values[known])


def _places(a: Side, b: Side) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each side, what each of its corpora and items adds to an item's number; equal items have equal numbers."""
    found = []
    for column in ("corpus", "item"):
        own = [side.whole[column].cat.categories.to_numpy(dtype=object) for side in (a, b)]
        names = np.array(sorted({*own[0], *own[1]}), dtype=object)
        found.append([np.searchsorted(names, each) for each in own])
    (corpora, items), width = found, 1 + max(int(each.max(initial=0)) for each in found[1])
    return [(corpus * width, item) for corpus, item in zip(corpora, items, strict=True)]


def _row(label: str, a: _Values, b: _Values, pairing: bool, measure: str, margin: float) -> dict[str, Any]:
    shown = _difference(a, b, pairing)
    sides: dict[str, float] = {}
    for name, own in (("a", a), ("b", b)):
        found = median_bca(own.values)
        sides |= {f"{name}_value": found.estimate, f"{name}_low": found.low, f"{name}_high": found.high,
                  f"{name}_n": found.n}  # fmt: skip
    # a margin in percent says nothing of standard deviations: only "differ" can be claimed of them
    bound = margin if measure == "percent" else 0.0
    word = TOO_FEW if shown.least < LEAST_N else verdict(shown.interval, shown.narrow, margin=bound)
    return {
        "label": label, **sides, "difference": shown.interval.estimate, "low": shown.interval.low,
        "high": shown.interval.high, "n_items": shown.interval.n, "how": shown.how, "shared": shown.shared,
        "verdict": _SAID.get(word, word), "test": shown.test, "p": shown.p,
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
        wide, narrow = median_bca_levels(one - other, levels=(0.95, 0.90))
        test = paired_test(other, one)
        return _Found(wide, narrow, PAIRED, len(both), len(both), test.name, test.p)
    wide, narrow = _median_differences(a.values, b.values, (0.95, 0.90), RESAMPLES, RUN_SEED)
    p = float(stats.mannwhitneyu(a.values, b.values).pvalue) if least else math.nan
    return _Found(wide, narrow, INDEPENDENT, len(both), least, "Mann-Whitney" if least else "none", p)


def manifest_differences(one: Run, other: Run) -> pd.DataFrame:
    """What two runs were made with that is not the same.

    Returns:
        One row a difference: what (a path such as ``evaluators.conse-lite0.fingerprint.weights``), a, b; missing
        entries are empty. When, where and how fast the runs were made is left out, and their counts.
    """
    a, b = (dict(_flat(_identity(run.manifest))) for run in (one, other))
    records = [
        {"what": path, "a": a.get(path, ""), "b": b.get(path, "")}
        for path in sorted({*a, *b})
        if a.get(path) != b.get(path)
    ]
    return pd.DataFrame(records, columns=["what", "a", "b"])


_MADE_WITH = ("invariscope", "corpus", "subjects", "seed", "evaluators", "probes", "lexicons", "constants", "versions")
_ABOUT = ("corpus.root", "corpus.description", "corpus.items")


def _identity(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {name: manifest[name] for name in _MADE_WITH if name in manifest}


def _flat(value: object, path: str = "") -> list[tuple[str, str]]:
    """Leaves of nested data by their path; a list of named entries goes by the names."""
    if path in _ABOUT:
        return []
    if isinstance(value, Mapping):
        return [leaf for name in value for leaf in _flat(value[name], f"{path}.{name}".lstrip("."))]
    if isinstance(value, list) and value and all(isinstance(each, Mapping) and "name" in each for each in value):
        return [leaf for each in value for leaf in _flat({**each, "name": "present"}, f"{path}.{each['name']}")]
    return [(path, ", ".join(map(str, value)) if isinstance(value, list) else str(value))]


def _present(values: ArrayLike) -> np.ndarray:
    found = np.asarray(values, dtype=np.float64).ravel()
    found = found[~np.isnan(found)]
    if np.isinf(found).any():
        raise InvalidInput("values must be finite or NaN, got an infinite one; drop it and count it")
    return found
