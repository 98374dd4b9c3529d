"""Contrasts on tables small enough to work out by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from core.analysis.bootstrap import Interval, median_bca
from core.analysis.contrasts import (
    INVARIANT,
    LEAST_N,
    MOVES,
    MOVES_WITHIN,
    TOO_FEW,
    UNDECIDED,
    contrasts,
    verdict,
)


def table(percents: dict[str, list[float]], *, delta: float = 0.1) -> pd.DataFrame:
    rows = [
        {"evaluator": "e", "corpus": "c", "item": item, "percent": value, "delta": delta}
        for item, values in percents.items()
        for value in values
    ]
    return pd.DataFrame(rows)


def test_an_item_counts_once_however_many_probes_its_family_has() -> None:
    cell = contrasts(table({"a": [1, 3], "b": [10], "c": [-4, -4, -4]}), by=["evaluator"]).iloc[0]
    assert cell["median_percent"] == 2.0  # of 2, 10, -4
    assert cell["median_abs_percent"] == 4.0  # of 2, 10, 4
    assert (cell["n_items"], cell["n_shifts"]) == (3, 6)


def test_the_interval_is_that_of_the_item_medians() -> None:
    values = np.random.default_rng(0).normal(2, 1, size=50)
    cell = contrasts(table({str(i): [value] for i, value in enumerate(values)}), by=["evaluator"]).iloc[0]
    expected = median_bca(values)
    assert (cell["low"], cell["high"]) == (expected.low, expected.high)


def test_zero_baselines_and_missing_scores_are_counted_apart() -> None:
    shifts = table({"a": [1], "b": [math.nan], "c": [math.nan]})
    shifts.loc[shifts["item"] == "c", "delta"] = math.nan
    cell = contrasts(shifts, by=["evaluator"]).iloc[0]
    assert (cell["n_items"], cell["n_zero_baseline"], cell["n_missing"]) == (1, 1, 1)


def test_an_empty_table_gives_an_empty_table_with_the_same_columns() -> None:
    empty = contrasts(table({"a": [1.0]}).iloc[:0], by=["evaluator"])
    assert empty.empty
    assert "verdict" in empty


@pytest.mark.parametrize(
    ("moved", "equivalent", "expected"),
    [
        ((2.0, 4.0), (2.1, 3.9), MOVES),
        ((-4.0, -2.0), (-3.9, -2.1), MOVES),
        ((0.1, 0.5), (0.15, 0.45), MOVES_WITHIN),
        ((-0.5, 0.5), (-0.4, 0.4), INVARIANT),
        ((-3.0, 3.0), (-2.0, 2.0), UNDECIDED),
        ((math.nan, math.nan), (math.nan, math.nan), UNDECIDED),
    ],
)
def test_verdicts(moved: tuple[float, float], equivalent: tuple[float, float], expected: str) -> None:
    assert verdict(Interval(0, *moved, 10, 0.95), Interval(0, *equivalent, 10, 0.90), margin=1.0) == expected


def test_nothing_is_claimed_of_fewer_than_ten_items() -> None:
    moved, equivalent = Interval(5, 4, 6, LEAST_N - 1, 0.95), Interval(5, 4, 6, LEAST_N - 1, 0.90)
    assert verdict(moved, equivalent) == TOO_FEW
