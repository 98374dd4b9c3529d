"""How sure it is that the largest of several medians is the largest."""

import math

import numpy as np
import pytest

from core.statistics.factors import shares_of_largest


def test_the_share_is_that_of_samples_drawn_one_by_one() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(3, 40)) + np.array([[0.2], [0.0], [0.1]])
    values[1, :6] = math.nan
    tops = []
    for _ in range(4000):
        picks = rng.integers(40, size=40)
        tops.append(int(np.nanmedian(values[:, picks], axis=1).argmax()))
    expected = np.bincount(tops, minlength=3) / 4000
    assert shares_of_largest(values) == pytest.approx(expected, abs=0.045)


def test_equal_rows_have_equal_parts_and_all_sum_to_one() -> None:
    one = np.random.default_rng(2).normal(size=25)
    assert shares_of_largest(np.stack([one, one, one - 9])).tolist() == [0.5, 0.5, 0.0]
    assert shares_of_largest(np.zeros((4, 30))).tolist() == [0.25] * 4


def test_items_of_one_source_are_drawn_together() -> None:
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(12), 30)
    rows = np.stack([rng.normal(size=12)[groups] + 0.25, rng.normal(size=12)[groups]])
    apart, together = shares_of_largest(rows), shares_of_largest(rows, groups=groups)
    assert max(together) < max(apart)


@pytest.mark.parametrize("values", [np.zeros((1, 50)), np.zeros((3, 9)), np.full((2, 50), math.nan)])
def test_one_row_or_too_few_items_say_nothing(values: np.ndarray) -> None:
    assert np.isnan(shares_of_largest(values)).all()
    assert np.isnan(shares_of_largest(np.zeros((2, 60)), groups=np.arange(60) % 9)).all()
