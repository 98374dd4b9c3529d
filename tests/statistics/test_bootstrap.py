"""The order-statistic bootstrap against scipy's resampling one, and against brute force."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.errors import InvalidInput
from core.statistics.bootstrap import LEAST_N, bootstrap_medians, jackknife_medians, median_bca
from core.statistics.wording import counted

finite = st.floats(-1e6, 1e6, allow_nan=False)


@pytest.mark.parametrize("n", [5, 6, 41, 42, 300])
def test_drawn_medians_have_the_distribution_of_resampled_medians(n: int) -> None:
    rng = np.random.default_rng(n)
    values = rng.normal(size=n)
    resampled = np.median(rng.choice(values, size=(20_000, n)), axis=1)
    drawn = bootstrap_medians(values, resamples=20_000, seed=n)
    assert stats.ks_2samp(resampled, drawn).statistic < 0.02


@pytest.mark.parametrize("n", [11, 20, 101, 400])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_bounds_equal_scipys_within_monte_carlo_error(n: int, level: float) -> None:
    values = np.random.default_rng(n).gamma(2.0, size=n)
    ours = median_bca(values, level=level, resamples=20_000)
    reference = stats.bootstrap(
        (values,), np.median, confidence_level=level, n_resamples=20_000, method="BCa", rng=1, vectorized=True
    )
    tolerance = 0.15 * reference.standard_error
    assert ours.low == pytest.approx(reference.confidence_interval.low, abs=tolerance)
    assert ours.high == pytest.approx(reference.confidence_interval.high, abs=tolerance)


@given(st.lists(finite, min_size=2, max_size=40))
def test_jackknife_equals_leaving_each_value_out(values: list[float]) -> None:
    ordered = np.sort(values)
    expected = [np.median(np.delete(ordered, index)) for index in range(len(ordered))]
    np.testing.assert_allclose(jackknife_medians(values), expected)


@given(st.lists(finite, min_size=LEAST_N, max_size=40), st.randoms())
def test_interval_does_not_depend_on_the_order_of_the_values(values: list[float], random) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)
    assert median_bca(values, resamples=200) == median_bca(shuffled, resamples=200)


@given(st.lists(finite, min_size=LEAST_N, max_size=40))
def test_interval_stays_inside_the_data(values: list[float]) -> None:
    interval = median_bca(values, resamples=200)
    assert min(values) <= interval.low <= interval.high <= max(values)


def test_coverage_of_the_95_percent_interval_by_simulation() -> None:
    rng = np.random.default_rng(2)
    hits = sum(
        interval.low <= 0 <= interval.high
        for interval in (median_bca(rng.normal(size=60), resamples=1000, seed=i) for i in range(600))
    )
    assert stats.binomtest(hits, 600, 0.95).pvalue > 1e-3


def test_nan_values_are_left_out_and_not_counted() -> None:
    interval = median_bca([1.0, math.nan, 3.0, 2.0])
    assert (interval.estimate, interval.n) == (2.0, 3)


@pytest.mark.parametrize(
    ("values", "n", "note"),
    [([], 0, "no values"), ([math.nan], 0, "no values"), ([4.0], 1, "n = 1"), ([4.0, 5.0] * 4 + [4.0], 9, "n = 9")],
)
def test_too_little_data_gives_no_interval_and_says_why(values: list[float], n: int, note: str) -> None:
    interval = median_bca(values)
    assert interval.n == n
    assert math.isnan(interval.low)
    assert math.isnan(interval.high)
    assert note in interval.note


def test_equal_values_give_a_point() -> None:
    interval = median_bca([0.5] * LEAST_N)
    assert (interval.low, interval.high) == (0.5, 0.5)
    assert "equal" in interval.note
    most = median_bca([0.5] * 95 + [0.1, 0.2, 0.9, 1.0, 2.0])
    assert (most.low, most.high, most.note) == (0.5, 0.5, "95 of 100 values equal the median: exact bound")


@pytest.mark.parametrize("arguments", [{"level": 0.0}, {"level": 1.0}, {"resamples": 0}])
def test_arguments_out_of_range_are_refused(arguments: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match=r"must"):
        median_bca([1.0, 2.0], **arguments)


def test_an_infinite_value_is_refused() -> None:
    with pytest.raises(InvalidInput, match="infinite"):
        median_bca([1.0, math.inf])


def test_values_of_one_source_are_resampled_together_as_scipy_resamples_sources() -> None:
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(30), rng.integers(1, 5, size=30))
    values = rng.normal(size=30)[groups] + 0.4 * rng.normal(size=len(groups))
    members = [values[groups == source] for source in range(30)]
    reference = stats.bootstrap(
        (np.arange(30),),
        lambda drawn: np.median(np.concatenate([members[source] for source in drawn])),
        n_resamples=4000,
        method="BCa",
        rng=2,
        vectorized=False,
    )
    found = median_bca(values, groups=groups, resamples=4000)
    assert found.low == pytest.approx(reference.confidence_interval.low, abs=0.35 * reference.standard_error)
    assert found.high == pytest.approx(reference.confidence_interval.high, abs=0.35 * reference.standard_error)
    assert found.estimate == np.median(values)


def test_sources_of_one_value_each_change_no_interval() -> None:
    values = np.random.default_rng(6).gamma(2.0, size=41)
    assert median_bca(values, groups=np.random.default_rng(7).permutation(41)) == median_bca(values)


@pytest.mark.parametrize("sources", [1, LEAST_N - 1])
def test_few_sources_have_no_interval_however_many_values_they_have(sources: int) -> None:
    found = median_bca(np.arange(31.0), groups=np.arange(31) % sources)
    assert (found.estimate, math.isnan(found.low)) == (15.0, True)
    assert found.note == f"no interval (31 items of {counted(sources, 'source')}, below {LEAST_N})"
