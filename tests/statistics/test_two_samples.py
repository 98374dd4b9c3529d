"""The difference of two medians against scipy's two-sample bootstrap."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.errors import InvalidInput
from core.statistics.bootstrap import Interval
from core.statistics.shift_tests import median_differences


def difference(one: object, other: object, **options: int) -> Interval:
    return median_differences(one, other, levels=(0.95,), **options)[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(("n", "m"), [(40, 61), (61, 40), (25, 25)])
def test_the_interval_of_a_difference_is_that_of_scipys_two_sample_bca(n: int, m: int) -> None:
    rng = np.random.default_rng(n)
    one, other = rng.gamma(2, 1, n), rng.normal(3, 2, m)
    expected = stats.bootstrap(
        (one, other),
        lambda a, b, axis: np.median(a, axis=axis) - np.median(b, axis=axis),
        n_resamples=9999,
        method="BCa",
        rng=np.random.default_rng(1),
    ).confidence_interval
    found = difference(one, other)
    assert found.estimate == pytest.approx(np.median(one) - np.median(other))
    width = expected.high - expected.low
    assert found.low == pytest.approx(expected.low, abs=0.1 * width)
    assert found.high == pytest.approx(expected.high, abs=0.1 * width)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.floats(-50, 50), min_size=10, max_size=40),
    st.lists(st.floats(-50, 50), min_size=10, max_size=40),
    st.floats(-10, 10),
)
def test_moving_one_side_moves_the_difference_and_its_interval(one: list[float], other: list[float], by: float) -> None:
    still = difference(one, other, resamples=500)
    moved = difference(np.array(one) + by, other, resamples=500)
    assert moved.estimate == pytest.approx(still.estimate + by, abs=1e-9)
    assert still.low <= still.high


def test_every_level_is_what_it_is_alone_and_a_wider_one_is_wider() -> None:
    rng = np.random.default_rng(2)
    one, other = rng.normal(size=30), rng.normal(size=30)
    wide, narrow = median_differences(one, other, levels=(0.95, 0.90))
    assert narrow == median_differences(one, other, levels=(0.90,))[0]
    assert wide.low <= narrow.low <= narrow.high <= wide.high


@pytest.mark.parametrize(
    ("one", "other", "note"), [([], [1.0], "without values"), ([1.0] * 9, [1.0, 2.0] * 9, "n = 9, below 10")]
)
def test_too_little_has_no_bounds_and_says_why(one: list[float], other: list[float], note: str) -> None:
    found = difference(one, other)
    assert np.isnan(found.low)
    assert note in found.note


def test_equal_values_differ_by_nothing_and_say_so() -> None:
    found = difference([1.0] * 10, [3.0] * 12)
    assert (found.estimate, found.low, found.high, found.n) == (-2.0, -2.0, -2.0, 22)
    assert "exact bound" in found.note


def test_missing_values_are_left_out_and_infinite_ones_refused() -> None:
    assert difference([1.0, math.nan, 3.0], [0.0, 1.0]).n == 4
    with pytest.raises(InvalidInput, match="infinite"):
        difference([1.0, math.inf], [0.0, 1.0])


def test_values_of_one_source_are_drawn_together_as_scipy_draws_sources() -> None:
    rng = np.random.default_rng(4)
    of = [np.repeat(np.arange(m), rng.integers(1, 6, m)) for m in (50, 40)]
    sides = [rng.normal(size=each.max() + 1)[each] + rng.normal(scale=0.2, size=len(each)) for each in of]
    members = [[side[own == source] for source in range(own.max() + 1)] for side, own in zip(sides, of, strict=True)]

    def medians(a: np.ndarray, b: np.ndarray) -> float:
        one, other = (
            np.median(np.concatenate([members[k][int(at)] for at in drawn])) for k, drawn in enumerate((a, b))
        )
        return float(one - other)

    expected = stats.bootstrap(
        (np.arange(50), np.arange(40)),
        medians,
        n_resamples=2999,
        method="BCa",
        vectorized=False,
        rng=np.random.default_rng(1),
    )
    alone, found = difference(*sides), median_differences(*sides, levels=(0.95,), groups=(of[0], of[1]))[0]
    assert (found.estimate, found.n) == (alone.estimate, len(of[0]) + len(of[1]))
    assert found.high - found.low > 1.2 * (alone.high - alone.low)
    error = expected.standard_error
    assert found.low == pytest.approx(expected.confidence_interval.low, abs=0.35 * error)
    assert found.high == pytest.approx(expected.confidence_interval.high, abs=0.35 * error)


def test_sources_of_their_own_change_nothing_but_the_expansion_and_few_have_no_bounds() -> None:
    rng = np.random.default_rng(5)
    one, other = rng.normal(size=400), rng.normal(size=400)
    plain, grouped = (
        median_differences(one, other, levels=(0.95,), groups=groups)[0]
        for groups in (None, (np.arange(400), np.arange(400)))
    )
    assert grouped.low == pytest.approx(plain.low, abs=0.1 * (plain.high - plain.low))
    few = median_differences(one, other, levels=(0.95,), groups=(np.arange(400) % 9, np.arange(400)))[0]
    assert np.isnan(few.low)
    assert "9 sources" in few.note
