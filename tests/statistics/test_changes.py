"""Percent changes, what an item counts, the two spreads, and medians of short columns."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from core.statistics.arithmetic import row_medians
from core.statistics.changes import (
    SHIFT_FLOOR,
    interquartile_range,
    item_medians,
    percent_change,
    standard_deviation,
)

values_st = st.lists(st.floats(-1e6, 1e6) | st.just(math.nan), min_size=1, max_size=30)


def test_the_floor_is_that_of_the_protocol() -> None:
    assert SHIFT_FLOOR == 1e-6


@pytest.mark.parametrize(
    ("after", "before", "expected"),
    [
        (0.5, 0.4, 25.0),
        (0.3, 0.4, -25.0),
        (0.4, 0.4, 0.0),
        (-0.2, 0.1, -300.0),
        (2e-6, 1e-6, 100.0),
        (1e12, 5e11, 100.0),
        (-0.25, -0.5, math.nan),
        (0.1, -0.1, math.nan),
        (2e-6, -1e-6, math.nan),
        (0.5, 9.99e-7, math.nan),
        (0.5, -9.99e-7, math.nan),
        (0.5, 0.0, math.nan),
        (math.nan, 0.5, math.nan),
        (0.5, math.nan, math.nan),
    ],
)
def test_percent_changes_by_hand(after: float, before: float, expected: float) -> None:
    assert percent_change([after], [before])[0] == pytest.approx(expected, nan_ok=True)


def test_a_percent_change_keeps_the_shape_and_the_scores() -> None:
    before = np.array([[0.5, 0.0, -1.0]])
    after = np.array([[0.25, 1.0, 1.0]])
    np.testing.assert_allclose(percent_change(after, before), [[-50.0, math.nan, math.nan]])
    np.testing.assert_array_equal(before, [[0.5, 0.0, -1.0]])


@given(st.integers(1, 9), st.integers(1, 5), st.randoms(use_true_random=False))
def test_an_item_counts_the_median_of_its_values_as_pandas_counts_it(k: int, n: int, random) -> None:
    values = np.array([[random.choice([math.nan, random.uniform(-9, 9)]) for _ in range(n)] for _ in range(k)])
    np.testing.assert_allclose(item_medians(values), pd.DataFrame(values).median(axis=0))


@given(values_st)
def test_the_interquartile_range_is_pandas(values: list[float]) -> None:
    series = pd.Series(values)
    expected = series.quantile(0.75) - series.quantile(0.25)
    assert interquartile_range(values) == pytest.approx(expected, nan_ok=True, abs=1e-9)


@given(values_st)
def test_the_standard_deviation_is_pandas(values: list[float]) -> None:
    assert standard_deviation(values) == pytest.approx(pd.Series(values).std(), nan_ok=True, abs=1e-6)


def test_spreads_of_nothing_and_of_one_value() -> None:
    assert interquartile_range([1.0, 2.0, 3.0, 4.0, math.nan]) == 1.5
    assert math.isnan(interquartile_range([math.nan]))
    assert interquartile_range([3.0]) == 0.0
    assert math.isnan(standard_deviation([3.0, math.nan]))
    assert standard_deviation([2.0, 2.0]) == 0.0
    assert standard_deviation([0.3] * 12) == 0.0  # though their mean is not 0.3 to the last digit


@pytest.mark.parametrize("power", [-900, 60, 665])
def test_the_unit_of_the_scores_changes_no_spread(power: int) -> None:
    values = np.random.default_rng(3).normal(size=20)
    assert standard_deviation(np.ldexp(values, power)) == np.ldexp(standard_deviation(values), power)


@given(
    hnp.arrays(float, st.tuples(st.integers(1, 11), st.integers(1, 6)), elements=st.floats(-9, 9) | st.just(math.nan))
)
def test_row_medians_equal_numpys(values: np.ndarray) -> None:
    expected = [np.median(column[~np.isnan(column)]) if (~np.isnan(column)).any() else math.nan for column in values.T]
    np.testing.assert_allclose(row_medians(values), expected)


def test_no_row_has_no_median() -> None:
    assert np.isnan(row_medians(np.empty((0, 3)))).all()


@pytest.mark.parametrize("rows", [1, 5, 9])
def test_the_values_stay_as_they_were_unless_they_may_be_reordered(rows: int) -> None:
    values = np.random.default_rng(rows).normal(size=(rows, 7))
    values[0, 0] = math.nan
    before = values.copy()
    medians = row_medians(values)
    np.testing.assert_array_equal(values, before)
    np.testing.assert_array_equal(row_medians(values, overwrite=True), medians)
