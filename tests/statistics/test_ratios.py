"""Means and ratios with BCa intervals against scipy's bootstrap and by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics import resamples
from core.statistics.bootstrap import expanded
from core.statistics.ratios import (
    mean_bca,
    mean_of_ratios_bca,
    means_bca,
    median_ratios_bca,
    ratio_bca,
)
from core.statistics.resamples import MANY, drawn_counts


def test_the_interval_of_a_mean_is_that_of_scipys_bca_bootstrap() -> None:
    values = np.random.default_rng(0).exponential(size=60)
    found = mean_bca(values)
    how = {"n_resamples": 10_000, "method": "BCa", "confidence_level": expanded(0.95, 60), "rng": 1}
    theirs = stats.bootstrap((values,), np.mean, **how).confidence_interval
    assert found.estimate == pytest.approx(values.mean())
    width = theirs.high - theirs.low
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.05 * width)


def test_the_interval_of_a_ratio_of_means_is_that_of_scipys_bca_bootstrap() -> None:
    rng = np.random.default_rng(2)
    right = rng.uniform(0.4, 0.9, size=50)
    drop = -0.1 * right + rng.normal(0, 0.05, size=50)

    def ratio(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
        return a.mean(axis=axis) / b.mean(axis=axis)

    found = ratio_bca(drop, right)
    how = {"n_resamples": 10_000, "method": "BCa", "confidence_level": expanded(0.95, 50), "rng": 1}
    theirs = stats.bootstrap((drop, right), ratio, paired=True, **how)
    low, high = theirs.confidence_interval
    assert found.estimate == pytest.approx(drop.mean() / right.mean())
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.05 * (high - low))


def test_the_ratio_of_two_medians_is_that_of_scipys_bca_bootstrap() -> None:
    rng = np.random.default_rng(3)
    signal, nuisance = rng.normal(2, 1, size=80), rng.uniform(0.5, 1.5, size=80)

    def ratio(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
        return np.median(a, axis=axis) / np.median(b, axis=axis)

    found = median_ratios_bca([signal], nuisance)[0]
    theirs = stats.bootstrap((signal, nuisance), ratio, paired=True, n_resamples=10_000, method="BCa", rng=1)
    low, high = theirs.confidence_interval
    assert found.estimate == pytest.approx(np.median(signal) / np.median(nuisance))
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.1 * (high - low))


def test_values_of_one_source_are_drawn_together() -> None:
    rng = np.random.default_rng(4)
    means = rng.normal(size=40)
    values = np.repeat(means, 5) + rng.normal(0, 0.01, size=200)
    whole, alone = mean_bca(values, groups=np.repeat(np.arange(40), 5)), mean_bca(values)
    # the five of a source say one thing: the interval is that of 40 values
    assert whole.high - whole.low > 2 * (alone.high - alone.low)
    one_each = mean_bca(means)
    assert whole.high - whole.low == pytest.approx(one_each.high - one_each.low, rel=0.1)


def test_few_values_have_a_mean_and_no_interval() -> None:
    found = mean_bca([0.0, 1.0, math.nan])
    assert (found.estimate, found.n) == (0.5, 2)
    assert math.isnan(found.low)
    assert "n = 2" in found.note


def test_equal_values_have_no_interval_of_their_mean_and_as_fractions_that_of_votes() -> None:
    found = mean_bca([0.5] * 30)
    assert (found.estimate, found.note) == (0.5, "all values are equal: no interval")
    assert np.isnan([found.low, found.high]).all()
    (share,) = means_bca(np.ones((1, 30)), fractions=True)
    assert (share.estimate, share.high) == (1.0, 1.0)
    assert 0.8 < share.low < 0.92


def test_a_median_of_zero_below_divides_nothing() -> None:
    found = median_ratios_bca(np.ones((1, 30)), np.zeros(30))[0]
    assert math.isnan(found.estimate)
    assert "median below is 0" in found.note


def test_nothing_gives_nothing() -> None:
    assert mean_bca([]).n == 0
    assert math.isnan(mean_bca([]).estimate)
    assert median_ratios_bca(np.empty((1, 0)), [])[0].n == 0
    assert "divide" in ratio_bca([1.0, 2.0], [0.0, 0.0]).note


@pytest.mark.parametrize(
    ("values", "groups", "words"), [([1.0, math.inf], None, "finite"), ([1.0, 2.0], [1], "as many numbers")]
)
def test_what_cannot_be_used_is_refused(values: list[float], groups: list[int] | None, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        mean_bca(values, groups=groups)


@given(st.integers(1, 40), st.integers(1, 50))
def test_every_sample_has_as_many_draws_as_there_are_sources(sources: int, resamples: int) -> None:
    parts = list(drawn_counts(sources, resamples, each=1_000_000))
    assert sum(map(len, parts)) == resamples
    assert all((each.sum(axis=1) == sources).all() for each in parts)


@given(st.lists(st.floats(0, 1), min_size=12, max_size=40))
def test_an_interval_holds_its_mean_and_stays_within_the_values(values: list[float]) -> None:
    found = mean_bca(values, resamples=500)
    if np.ptp(values) == 0:
        assert np.isnan([found.low, found.high]).all()
        return
    assert min(values) - 1e-12 <= found.low <= found.estimate + 1e-12
    assert found.estimate - 1e-12 <= found.high <= max(values) + 1e-12


@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(15), 2)])
def test_the_means_of_many_rows_are_those_of_each(groups: np.ndarray | None) -> None:
    rows = np.random.default_rng(6).uniform(size=(4, 30))
    rows[1] = 0.5
    rows[3, 4:] = math.nan
    for one, row in zip(means_bca(rows, groups=groups), rows, strict=True):
        alone = mean_bca(row, groups=groups)
        assert (one.estimate, one.n, one.note) == (pytest.approx(alone.estimate), alone.n, alone.note)
        assert (one.low, one.high) == pytest.approx((alone.low, alone.high), nan_ok=True)


@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(40), 2)])
def test_columns_that_no_row_has_need_not_be_given(groups: np.ndarray | None) -> None:
    rows = np.random.default_rng(6).uniform(size=(3, 80))
    held = np.arange(80) % 4 > 0
    rows[:, ~held] = math.nan
    rows[2, 20:] = math.nan
    assert means_bca(rows[:, held], groups=groups, held=held) == means_bca(rows, groups=groups)


@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(15), 2)])
def test_without_bounds_all_else_is_the_same(groups: np.ndarray | None) -> None:
    rows = np.random.default_rng(6).uniform(size=(3, 30))
    rows[1] = 0.5
    rows[2, 4:] = math.nan
    pairs = [*zip(means_bca(rows, groups=groups), means_bca(rows, groups=groups, bounds=False), strict=True)]
    pairs += [tuple(ratio_bca(row, rows[0], groups=groups, bounds=each) for each in (True, False)) for row in rows[1:]]
    for whole, bare in pairs:
        assert (bare.estimate, bare.n, bare.note) == (whole.estimate, whole.n, whole.note)
        # a bound that takes no draw is given all the same
        assert math.isnan(bare.low) == math.isnan(bare.high) == (whole.low != whole.high)


def test_many_sources_are_drawn_less_often_and_give_the_interval_of_the_normal() -> None:
    values = np.random.default_rng(7).normal(size=3000)
    found = mean_bca(values)
    half = 1.96 * values.std(ddof=1) / math.sqrt(3000)
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.15 * half)


def test_a_mean_of_one_ratio_twice_is_that_ratio_with_its_interval() -> None:
    rng = np.random.default_rng(7)
    tops, bottoms, groups = rng.normal(1, 1, 40), rng.uniform(0.5, 1, 40), np.repeat(np.arange(20), 2)
    one, both = ratio_bca(tops, bottoms, groups=groups), mean_of_ratios_bca([tops] * 2, [bottoms] * 2, [groups] * 2)
    assert (both.estimate, both.low, both.high) == pytest.approx((one.estimate, one.low, one.high))
    assert both.n == 80


def test_a_mean_of_ratios_weighs_them_alike_and_draws_their_sources_together() -> None:
    """What rises in one and falls in the other with the source has no spread in their mean."""
    up = np.random.default_rng(8).normal(size=30)
    sources = np.arange(30)
    found = mean_of_ratios_bca([1 + up, 3 - up], [np.ones(30)] * 2, [sources] * 2)
    assert found.estimate == pytest.approx(2)
    assert found.high - found.low < 1e-9
    apart = mean_of_ratios_bca([1 + up, 3 - up], [np.ones(30)] * 2, [sources, sources + 30])
    assert apart.high - apart.low > 0.2
    few = mean_of_ratios_bca([[1.0] * 4, [3.0] * 4], [[1.0] * 4, [2.0] * 4], [range(4)] * 2)
    assert few.estimate == pytest.approx(1.25)
    assert math.isnan(few.low)


@pytest.mark.parametrize("groups", [[[0, 1]], [[0], [1], [2]]])
def test_a_mean_of_ratios_refuses_what_does_not_belong_together(groups: list[list[int]]) -> None:
    with pytest.raises(InvalidInput, match="got"):
        mean_of_ratios_bca([[1.0], [2.0]], [[1.0], [1.0]], groups)


@pytest.mark.parametrize("shared", [False, True], ids=["each its own source", "sources of three"])
def test_blocks_of_many_sources_give_the_interval_that_the_sources_give(shared: bool) -> None:
    rng = np.random.default_rng(8)
    groups = np.arange(9000) // 3 if shared else np.arange(9000)
    values = rng.exponential(size=9000) + (rng.normal(size=3000)[groups] if shared else 0.0)
    totals, sizes = np.bincount(groups, values), np.bincount(groups).astype(float)
    drawn = np.array(
        [totals[picks].sum() / sizes[picks].sum() for picks in rng.integers(len(totals), size=(4000, len(totals)))]
    )
    low, high = np.quantile(drawn, [0.025, 0.975])
    for found in (
        mean_bca(values, groups=groups),
        means_bca(values[None, :], groups=groups)[0],
        mean_of_ratios_bca([values] * 2, [np.ones(9000)] * 2, [groups] * 2),
    ):
        assert found.estimate == pytest.approx(values.mean())
        assert found.low == pytest.approx(low, abs=0.15 * (high - low))
        assert found.high == pytest.approx(high, abs=0.15 * (high - low))
        assert found.high - found.low == pytest.approx(high - low, rel=0.08)
    halves = median_ratios_bca([values], values + 1, groups=groups)[0]
    assert halves.low < halves.estimate < halves.high


@pytest.mark.parametrize("shared", [False, True])
def test_ratios_over_one_bottom_are_each_as_alone(shared: bool) -> None:
    rng = np.random.default_rng(6)
    tops, below = rng.normal(2, 1, size=(4, 50)), rng.uniform(0.5, 2, size=50)
    tops[1, ::4], tops[2, ::4], tops[3] = math.nan, math.nan, math.nan
    groups = np.arange(50) // 2 if shared else None
    for several, row in zip(median_ratios_bca(tops, below, groups=groups), tops, strict=True):
        alone = median_ratios_bca([row], below, groups=groups)[0]
        assert (several.n, several.note) == (alone.n, alone.note)
        ends = ("estimate", "low", "high")
        np.testing.assert_array_equal([getattr(several, end) for end in ends], [getattr(alone, end) for end in ends])


@pytest.mark.parametrize("holes", [False, True])
def test_means_of_rows_that_hold_the_same_entries_are_those_of_each_alone(holes: bool) -> None:
    rng = np.random.default_rng(7)
    rows, groups = rng.normal(size=(3, 40)), np.arange(40) // 2
    if holes:
        rows[1, 5] = math.nan  # then the rows hold different entries, and each has sums of its own below
    for one, row in zip(means_bca(rows, groups=groups), rows, strict=True):
        there = ~np.isnan(row)
        alone = mean_bca(row[there], groups=groups[there])
        assert (one.estimate, one.n) == (pytest.approx(alone.estimate), alone.n)
        assert (one.low, one.high) == (pytest.approx(alone.low, rel=1e-9), pytest.approx(alone.high, rel=1e-9))


def test_sums_over_samples_are_the_same_whichever_way_the_counts_are_held() -> None:
    values = (
        np.random.default_rng(1).integers(-5, 6, size=(MANY + 90, 3)).astype(np.float64)
    )  # no sum of them is rounded
    counts = np.concatenate(list(drawn_counts(len(values), 450)))
    np.testing.assert_array_equal(resamples.drawn_sums(values, 450, RUN_SEED), counts.astype(np.float64) @ values)
