"""Replicates kept as distinct values with their numbers, against the same replicates one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from core.seeds import RUN_SEED
from core.statistics.bootstrap import RESAMPLES, Draws, acceleration, bootstrap_medians, jackknife_medians, median_bca

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
