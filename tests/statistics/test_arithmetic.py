"""Medians of short columns against numpy's."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from core.statistics.arithmetic import row_medians


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
