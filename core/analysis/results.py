"""One value an item, one row a cell: what every table and figure of the results is made of.

An item counts once in a cell, by the median over its probes (PROTOCOL section 3). Items are summarised where the
rows are, in the store; what leaves it is a row an item and cell.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from core.analysis.bootstrap import median_bca, median_bca_levels
from core.analysis.contrasts import MARGIN, verdict
from core.analysis.shift_tests import cliffs_delta, holm, paired_test, standardised_shift
from core.analysis.slices import CHOICES, Slice, where
from core.audit.schema import SHIFT_FLOOR
from core.audit.store import Store
from core.errors import InvalidInput
from core.evaluators.score_arithmetic import row_medians
from core.probes.base import BASE_CAPTION, IDENTITY

Measure = Literal["percent", "standardised", "delta"]
MEASURES: Mapping[str, str] = {
    "percent": "%Δ, the change in percent of the baseline score",
    "standardised": "Δ in standard deviations of the baseline scores",
    "delta": "Δ on the evaluator's own scale",
}
"""Measure of a shift -> what it is."""

Against = Literal["baseline", "bare"]

_BARE = f"""(
select s.* exclude (baseline_score, delta, percent), b.score as baseline_score, s.score - b.score as delta,
       case when abs(b.score) >= {SHIFT_FLOOR!r} then 100 * (s.score - b.score) / b.score end as percent
from shifts s join scores b
  on b.run = s.run and b.corpus = s.corpus and b.item = s.item and b.subject = s.subject
 and b.evaluator = s.evaluator and b.probe = '{BASE_CAPTION}'
)"""

ITEM_CHOICES = ("runs", "corpora", "categories", "coverage_bins", "evaluators", "subjects")


def item_changes(
    store: Store,
    chosen: Slice,
    *,
    by: Sequence[str],
    only: Mapping[str, Sequence[str]] | None = None,
    against: Against = "baseline",
) -> pd.DataFrame:
    """Median change of every item in every cell.

    Args:
        store: opened runs.
        chosen: which shifts to keep.
        by: columns of the store's ``shifts`` that make a cell.
        only: column of ``shifts`` -> the values kept of it, beside what ``chosen`` says.
        against: "baseline" is the shift as stored, against the length-matched neutral for a modified caption;
            "bare" is the one against the caption without any modifier.

    Returns:
        One row a (cell, corpus, item): ``by`` + corpus, item, percent (NaN where no baseline is above the floor),
        delta (NaN where no score is), baseline (median score of the baseline), category, and the counts n_shifts,
        n_zero_baseline, n_missing.

    Raises:
        InvalidInput: if a column is not one of the store's choices.
    """
    keys = [*dict.fromkeys([*by, "corpus"]), "item"]
    return per_item(change_rows(store, chosen, columns=by, only=only, against=against), keys)


def change_rows(
    store: Store,
    chosen: Slice,
    *,
    columns: Sequence[str],
    only: Mapping[str, Sequence[str]] | None = None,
    against: Against = "baseline",
) -> pd.DataFrame:
    """Every shift of a slice: ``columns`` + corpus, item, category, percent, delta, baseline; see item_changes."""
    clause, params = where(chosen)
    for column, values in (only or {}).items():
        _known(column)
        params[f"only_{column}"] = list(values)
        clause += f" and list_contains($only_{column}, s.{column}::varchar)"
    kept = list(dict.fromkeys([*map(_known, columns), "corpus", "item", "category"]))
    source = "shifts" if against == "baseline" else _BARE
    rows = store.table(
        f"select {', '.join(f's.{name}' for name in kept)}, s.percent, s.delta, s.baseline_score as baseline "
        f"from {source} s {clause}",
        params,
    )
    return _frame(rows)


def per_item(rows: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """One row an item and cell: medians over its rows, none of them where a key is missing."""
    rows = rows[~rows[list(keys)].isna().any(axis=1)].reset_index(drop=True)
    code = np.zeros(len(rows), dtype=np.int64)
    for name in keys:
        code = code * max(len(rows[name].cat.categories), 1) + rows[name].cat.codes.to_numpy()
    order = np.argsort(code, kind="stable")
    starts = np.flatnonzero(np.diff(code[order], prepend=-1))
    sizes = np.diff(starts, append=len(rows))
    number = np.repeat(np.arange(len(starts)), sizes)
    percent, delta, baseline = (rows[name].to_numpy()[order] for name in ("percent", "delta", "baseline"))
    scored, counted = ~np.isnan(delta), ~np.isnan(percent)
    items = rows.drop(columns=["percent", "delta", "baseline"]).iloc[order[starts]].reset_index(drop=True)
    place = (int(sizes.max(initial=0)), np.arange(len(rows)) - starts[number], number)
    return items.assign(
        percent=_medians(percent, *place),
        delta=_medians(delta, *place),
        baseline=_medians(np.where(scored, baseline, math.nan), *place),
        n_shifts=_counts(number, counted, len(starts)),
        n_zero_baseline=_counts(number, scored & ~counted, len(starts)),
        n_missing=_counts(number, ~scored, len(starts)),
    )


def _medians(values: np.ndarray, most: int, place: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Median of the values of each group, NaN left out; ``place`` is the position of each value in its group."""
    if most < 2:
        return values
    table = np.full((most, int(number[-1]) + 1), math.nan)
    table[place, number] = values
    return row_medians(table, overwrite=True)


def _counts(number: np.ndarray, marks: np.ndarray, groups: int) -> np.ndarray:
    return np.bincount(number[marks], minlength=groups)


def of_items(chosen: Slice) -> Slice:
    """What a slice says of items and evaluators; the choices of edits are taken back."""
    return Slice(**{field: getattr(chosen, field) for field in ITEM_CHOICES})


def item_scores(store: Store, chosen: Slice) -> pd.DataFrame:
    """Score of every unedited item with its caption; of the slice only what it says of items and evaluators.

    Returns:
        One row an (evaluator, corpus, item): evaluator, corpus, item, category, coverage, coverage_bin, score.
    """
    conditions, params = [f"s.probe = '{IDENTITY}'", "s.score is not null"], dict[str, Any]()
    for field in ITEM_CHOICES:
        if values := getattr(chosen, field):
            params[field] = list(values)
            conditions.append(f"list_contains(${field}, s.{CHOICES[field]}::varchar)")
    table = store.table(
        "select s.evaluator, s.corpus, s.item, any_value(s.category) as category, any_value(s.coverage) as coverage, "
        "any_value(s.coverage_bin) as coverage_bin, median(s.score) as score "
        f"from scores s where {' and '.join(conditions)} group by s.evaluator, s.corpus, s.item order by 1, 2, 3",
        params,
    )  # fmt: skip
    return _frame(table)


def _frame(table: pa.Table) -> pd.DataFrame:
    """Texts as categories in the order of their names: a million rows group as fast as by number."""
    frame = table.to_pandas(strings_to_categorical=True)
    for name in frame.select_dtypes("category"):
        known = list(frame[name].cat.categories)
        if known != sorted(known):
            frame[name] = frame[name].cat.reorder_categories(sorted(known), ordered=False)
    return frame


def effects(
    items: pd.DataFrame, *, by: Sequence[str], measure: Measure = "percent", margin: float = MARGIN, tests: bool = True
) -> pd.DataFrame:
    """Median change of every cell with its interval, verdict, test and effect sizes; Holm over the table.

    Args:
        items: rows of :func:`item_changes`.
        by: columns that make a cell.
        measure: what value, low and high are of. The verdict is of the percent change whatever is shown.
        margin: equivalence margin in percent.
        tests: compute test, p, p_holm, cliffs_delta and standardised too.

    Returns:
        One row a cell: ``by`` + value, low, high (95 % BCa), n_items, verdict, n_shifts, n_zero_baseline, n_missing,
        note, and the tests. Fewer than LEAST_N items have the verdict TOO_FEW.

    Raises:
        InvalidInput: if the measure is unknown, or the margin not positive.
    """
    if measure not in MEASURES:
        raise InvalidInput(f"a change is measured as one of {', '.join(MEASURES)}, got {measure!r}")
    if not margin > 0:
        raise InvalidInput(f"the margin must be a positive percentage, got {margin!r}")
    keys = list(by)
    values = {name: items[name].to_numpy() for name in ("percent", "delta", "baseline", *_VALUES[5:8])}
    records = []
    for name, rows in items.groupby(keys, sort=True, observed=True).indices.items():
        cell = dict(zip(keys, name if isinstance(name, tuple) else (name,), strict=True))
        records.append({**cell, **_effect(_Columns(values, np.asarray(rows)), measure, margin, tests)})
    table = pd.DataFrame(records, columns=[*keys, *_VALUES, *(_TESTS if tests else ())])
    if tests:
        table.insert(list(table.columns).index("p") + 1, "p_holm", holm(table["p"].astype(float)))
    return table


_VALUES = ("value", "low", "high", "n_items", "verdict", "n_shifts", "n_zero_baseline", "n_missing", "note")
_TESTS = ("standardised", "cliffs_delta", "test", "p", "test_note")


class _Columns:
    """Columns of some rows as arrays."""

    def __init__(self, values: Mapping[str, np.ndarray], rows: np.ndarray) -> None:
        self.percent, self.delta, self.baseline = (
            values[name][rows].astype(np.float64, copy=False) for name in ("percent", "delta", "baseline")
        )
        self.counts = {name: int(values[name][rows].sum()) for name in _VALUES[5:8]}


def _effect(cell: _Columns, measure: Measure, margin: float, tests: bool) -> dict[str, object]:
    moved, equivalent = median_bca_levels(cell.percent, levels=(0.95, 0.90))
    shown = moved if measure == "percent" else median_bca(_measured(cell, measure))
    found = {
        "value": shown.estimate, "low": shown.low, "high": shown.high, "n_items": shown.n, "note": shown.note,
        "verdict": verdict(moved, equivalent, margin=margin), **cell.counts,
    }  # fmt: skip
    return found | (_tested(cell) if tests else {})


def _measured(cell: _Columns, measure: Measure) -> np.ndarray:
    if measure == "delta":
        return cell.delta
    spread = clean_spread(cell.baseline, cell.delta)
    return cell.delta / spread if spread > 0 else np.full(len(cell.delta), math.nan)


def clean_spread(baseline: np.ndarray, delta: np.ndarray) -> float:
    """Standard deviation of the baseline scores whose item has a change; NaN below two items."""
    there = baseline[~(np.isnan(baseline) | np.isnan(delta))]
    return float(there.std(ddof=1)) if len(there) > 1 else math.nan


def _tested(cell: _Columns) -> dict[str, object]:
    before, after = cell.baseline, cell.baseline + cell.delta
    test = paired_test(before, after)
    whole = ~np.isnan(after)
    return {
        "standardised": standardised_shift(before, after),
        "cliffs_delta": cliffs_delta(after[whole], before[whole]),
        "test": test.name, "p": test.p, "test_note": test.note,
    }  # fmt: skip


def _known(column: str) -> str:
    if column not in CHOICES.values():
        raise InvalidInput(f"shifts are grouped by one of {', '.join(CHOICES.values())}, got {column!r}")
    return column


def with_controls(chosen: Slice) -> Slice:
    """The slice with neutral words and blurs kept, for tables that show them beside what they control for."""
    return replace(chosen, controls=True)
