"""The order-statistic bootstrap against scipy's resampling one, and against brute force."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import ndtr, ndtri

from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.bootstrap import (
    LEAST_N,
    RESAMPLES,
    Draws,
    acceleration,
    bootstrap_medians,
    jackknife_medians,
    median_bca,
)
from core.statistics.factors import shares_of_largest
from core.statistics.resamples import sample_counts, sample_deviations, sample_medians, unit_medians, unit_totals
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


SHARES = np.array([0.0, 1e-4, 0.025, 0.31, 0.5, 0.975, 1 - 1e-9, 1.0])


@given(
    st.lists(
        st.tuples(st.floats(-1e6, 1e6), st.integers(1, 5)), min_size=1, max_size=40, unique_by=lambda each: each[0]
    )
)
def test_quantiles_and_shares_are_those_of_the_draws_one_by_one(given_: list[tuple[float, int]]) -> None:
    values, times = np.array([each for each, _ in given_]), np.array([each for _, each in given_])
    single = np.repeat(values, times)
    for found in (Draws.of(values, times), Draws.each(single)):
        np.testing.assert_array_equal(found.quantiles(SHARES), np.quantile(single, SHARES))
        assert len(found) == len(single)
        assert found.same() == (np.ptp(single) == 0)
        for value in (*values, values.mean()):
            assert found.below(value) == ((single < value).sum() + (single <= value).sum()) / (2 * len(single))


@pytest.mark.parametrize("n", [10, 11, 150, 2001])
def test_an_interval_of_distinct_draws_is_that_of_the_draws_written_out(n: int) -> None:
    values = np.random.default_rng(n).gamma(2.0, size=n)
    drawn = bootstrap_medians(values, resamples=RESAMPLES, seed=RUN_SEED)
    found, left_out = median_bca(values), jackknife_medians(values)
    bent = acceleration(left_out.mean() - left_out)
    z0 = ndtri(((drawn < found.estimate).mean() + (drawn <= found.estimate).mean()) / 2)
    reach = z0 + ndtri([0.025, 0.975])
    expected = np.quantile(drawn, ndtr(z0 + reach / (1 - bent * reach)))
    assert (found.low, found.high) == pytest.approx(tuple(expected), rel=1e-12)


@given(st.lists(st.sampled_from([math.nan, -1.0, 0.5, 2.0, 3.5]), min_size=1, max_size=9), st.integers(0, 9))
def test_the_median_of_a_sample_is_that_of_its_values_written_out(values: list[float], seed: int) -> None:
    every = np.array(values)
    picks = np.random.default_rng(seed).integers(len(every), size=(7, len(every)))
    counts = np.array([np.bincount(pick, minlength=len(every)) for pick in picks])
    written = [every[pick][~np.isnan(every[pick])] for pick in picks]
    expected = [np.median(each) if len(each) else math.nan for each in written]
    np.testing.assert_array_equal(sample_medians(every, counts), expected)


@pytest.mark.parametrize("sources", [None, np.arange(3000) // 500], ids=["each its own", "six sources"])
def test_medians_of_many_values_are_found_wherever_a_sample_has_its_middle(sources: np.ndarray | None) -> None:
    rng = np.random.default_rng(4)
    values = np.where(rng.random(3000) < 0.05, math.nan, np.round(rng.normal(size=3000) + np.arange(3000) // 500, 2))
    counts = sample_counts(3000, 40, sources=sources)
    counts[0] = 0
    written = [np.repeat(values, each)[~np.isnan(np.repeat(values, each))] for each in counts[1:]]
    np.testing.assert_array_equal(sample_medians(values, counts), [math.nan, *map(np.median, written)])


@given(st.lists(st.sampled_from([math.nan, -1.0, 0.5, 2.0, 3.5]), min_size=1, max_size=9), st.integers(0, 9))
def test_the_deviation_of_a_sample_is_that_of_its_values_written_out(values: list[float], seed: int) -> None:
    every = np.array(values)
    picks = np.random.default_rng(seed).integers(len(every), size=(7, len(every)))
    counts = np.array([np.bincount(pick, minlength=len(every)) for pick in picks])
    written = [every[pick][~np.isnan(every[pick])] for pick in picks]
    expected = [each.std(ddof=1) if len(each) > 1 and np.ptp(each) > 0 else math.nan for each in written]
    np.testing.assert_allclose(sample_deviations(every, counts), expected, rtol=1e-9)


def test_values_of_one_source_are_in_a_sample_together() -> None:
    counts = sample_counts(5, 50, sources=np.array([3, 7, 3, 1, 7]))
    assert (counts[:, 0] == counts[:, 2]).all()
    assert (counts[:, 1] == counts[:, 4]).all()
    assert (counts[:, [0, 1, 3]].sum(axis=1) == 3).all()  # three sources are drawn, each with all that it made
    assert (sample_counts(5, 50).sum(axis=1) == 5).all()


@pytest.mark.parametrize(("n", "resamples"), [(1, 3), (3, 12_000), (700, 100), (70_000, 2)])
def test_the_counts_are_those_of_the_picks_of_one_stream_however_they_are_counted(n: int, resamples: int) -> None:
    picks = np.random.default_rng(5).integers(n, size=(resamples, n))
    written = (
        (picks[:, :, None] == np.arange(n)).sum(axis=1) if n < 10 else [np.bincount(p, minlength=n) for p in picks]
    )
    np.testing.assert_array_equal(sample_counts(n, resamples, seed=5), written)


@pytest.mark.parametrize("most", [3, 20, 40])
def test_medians_are_the_same_where_sums_of_counts_are_too_large_for_small_integers(most: int) -> None:
    rng = np.random.default_rng(1)
    values, counts = rng.normal(size=1601), rng.integers(most + 1, size=(7, 1601)).astype(np.int16)
    assert (1601 * int(counts.max()) > np.iinfo(np.int16).max) == (most > 20)
    written = [np.median(np.repeat(values, row)) for row in counts]
    np.testing.assert_array_equal(sample_medians(values, counts), written)
    np.testing.assert_array_equal(sample_medians(values, 900 * counts.astype(np.int32)), written)


@pytest.mark.parametrize("n", [0, 1, 40, 3000])
def test_medians_of_units_are_those_of_their_values_written_out(n: int) -> None:
    rng = np.random.default_rng(n)
    values, units = np.round(rng.normal(size=n), 2), rng.integers(30, size=n)
    counts = sample_counts(30, 50)
    by_unit = np.ascontiguousarray(counts.T)
    written = sample_medians(values, counts[:, units])
    np.testing.assert_array_equal(unit_totals(by_unit, units), counts[:, units].sum(axis=1))
    totals = unit_totals(by_unit, units)
    np.testing.assert_array_equal(unit_medians(values, by_unit, units, totals=totals), written)
    gaps = np.where(rng.random(n) < 0.1, math.nan, values)
    np.testing.assert_array_equal(unit_medians(gaps, by_unit, units), sample_medians(gaps, counts[:, units]))


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
