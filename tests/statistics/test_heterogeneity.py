"""Cochran's Q, I² and the difference of two intervals, against statsmodels and by hand."""

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.meta_analysis import combine_effects
from statsmodels.stats.power import GofChisquarePower

from core.errors import InvalidInput
from core.statistics.bootstrap import Interval, median_bca
from core.statistics.power import difference, heterogeneity, least_spread

Z = stats.norm.ppf(0.975)


@pytest.mark.parametrize("k", [2, 3, 6])
def test_q_and_i_squared_are_those_of_statsmodels(k: int) -> None:
    rng = np.random.default_rng(k)
    values, errors = rng.normal(5, 2, k), rng.uniform(0.3, 1.5, k)
    ours = heterogeneity(values, values - Z * errors, values + Z * errors)
    theirs = combine_effects(values, errors**2)
    assert ours.q == pytest.approx(theirs.q)
    assert ours.p == pytest.approx(stats.chi2.sf(theirs.q, k - 1))
    assert ours.share == pytest.approx(100 * max(0.0, theirs.i2))
    assert ours.k == k


def test_equal_effects_have_no_heterogeneity() -> None:
    found = heterogeneity([2.0, 2.0, 2.0], [1, 0, 1], [3, 4, 3])
    assert (found.q, found.p, found.share, found.k) == (0.0, 1.0, 0.0, 3)


def test_what_has_no_interval_is_left_out_and_counted() -> None:
    found = heterogeneity([1.0, 2.0, 3.0, math.nan], [0.0, 1.0, 3.0, 0.0], [2.0, 3.0, 3.0, 1.0])
    assert (found.k, found.note) == (2, "2 without an interval left out")
    alone = heterogeneity([1.0, 2.0], [0.0, math.nan], [2.0, math.nan])
    assert math.isnan(alone.q)
    assert alone.note == "fewer than two with an interval"


def test_the_difference_of_two_wald_intervals_is_the_wald_interval_of_the_difference() -> None:
    one, other = Interval(5.0, 5 - 2 * Z, 5 + 2 * Z, 40, 0.95), Interval(3.0, 3 - Z, 3 + Z, 30, 0.95)
    found = difference(one, other)
    assert found.estimate == 2.0
    assert (found.low, found.high) == pytest.approx((2 - math.sqrt(5) * Z, 2 + math.sqrt(5) * Z))
    assert found.n == 30


def test_the_difference_of_medians_covers_as_often_as_it_says() -> None:
    rng, hits = np.random.default_rng(1), 0
    for _ in range(200):
        one, other = median_bca(rng.exponential(2.0, 60)), median_bca(rng.exponential(1.0, 80))
        found = difference(one, other)
        hits += found.low <= math.log(2) <= found.high
    assert stats.binomtest(hits, 200, 0.95).pvalue > 1e-3


def test_a_side_without_an_interval_gives_none() -> None:
    found = difference(Interval(1.0, math.nan, math.nan, 1, 0.95), Interval(0.0, -1.0, 1.0, 9, 0.95))
    assert found.estimate == 1.0
    assert math.isnan(found.low)
    assert found.note


def test_other_levels_or_lengths_are_refused() -> None:
    with pytest.raises(InvalidInput, match="one level"):
        difference(Interval(1.0, 0.0, 2.0, 5, 0.95), Interval(1.0, 0.0, 2.0, 5, 0.9))
    with pytest.raises(InvalidInput, match="equal numbers"):
        heterogeneity([1.0], [0.0, 1.0], [2.0])


@pytest.mark.parametrize("k", [2, 3, 6])
def test_the_least_spread_has_the_noncentrality_that_statsmodels_solves_for(k: int) -> None:
    errors = np.random.default_rng(k).uniform(0.3, 1.5, k)
    found = heterogeneity(np.zeros(k), -Z * errors, Z * errors).detectable
    effect = GofChisquarePower().solve_power(nobs=(1 / errors**2).sum(), alpha=0.05, power=0.8, n_bins=k)
    assert found == pytest.approx(effect, rel=1e-4)


@pytest.mark.parametrize("pattern", [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 2.0, 3.0], [-1.0, 1.0, -1.0, 1.0]])
def test_q_finds_the_least_spread_in_four_of_five_draws(pattern: list[float]) -> None:
    rng, errors, draws = np.random.default_rng(7), np.array([0.4, 0.7, 1.1, 0.5]), 4000
    weights = errors**-2
    truth = np.array(pattern) - np.average(pattern, weights=weights)
    truth *= least_spread(weights) / np.sqrt(np.average(truth**2, weights=weights))
    drawn = rng.normal(truth, errors, (draws, 4))
    q = (weights * (drawn - np.average(drawn, axis=1, weights=weights)[:, None]) ** 2).sum(axis=1)
    assert q[:40] == pytest.approx([combine_effects(each, errors**2).q for each in drawn[:40]], rel=1e-9)
    assert np.mean(stats.chi2.sf(q, 3) < 0.05) == pytest.approx(0.8, abs=3 * math.sqrt(0.8 * 0.2 / draws))
