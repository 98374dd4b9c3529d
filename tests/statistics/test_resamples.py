"""Samples as counts against the samples written out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.statistics.resamples import sample_counts, sample_deviations, sample_medians, unit_medians, unit_totals


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
