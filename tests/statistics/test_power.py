"""What a sample could have shown, against statsmodels and against simulation."""

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import NormalIndPower, TTestPower
from statsmodels.stats.proportion import proportion_confint

from core.errors import InvalidInput
from core.statistics.bootstrap import Interval, median_bca
from core.statistics.power import (
    among,
    items_for_share,
    items_within,
    least_agreement,
    reach,
    rescaled,
    smallest_effect,
    smallest_rho,
    smallest_share,
    widest_agreement,
    widest_half,
)


def test_the_items_of_a_half_width_and_of_a_share_are_the_least_that_hold_it() -> None:
    for half in (0.02, 0.05, 0.1):
        n = items_within(half)
        assert widest_half(n) <= half
        assert widest_half(n - 2) > half  # an odd n has its share beside one half, a shade narrower
    for least in (0.55, 0.6, 0.75):
        n = items_for_share(least)
        assert smallest_share(n - 1) > least
        assert max(smallest_share(m) for m in range(n, n + 200)) <= least
    for refused, value in ((items_within, 0.5), (items_within, 0.0), (items_for_share, 0.5), (items_for_share, 1.0)):
        with pytest.raises(InvalidInput, match="lies in"):
            refused(value)


def test_the_smallest_rank_correlation_is_found_in_four_of_five_samples() -> None:
    n, rng = 40, np.random.default_rng(0)
    rho = smallest_rho(n)
    normal = 2 * math.sin(math.pi * rho / 6)  # the correlation of normals that have this rank correlation
    found = 0
    for _ in range(400):
        one = rng.normal(size=n)
        found += stats.spearmanr(one, normal * one + math.sqrt(1 - normal**2) * rng.normal(size=n)).pvalue < 0.05
    assert 0.74 <= found / 400 <= 0.86
    assert math.isnan(smallest_rho(3))


def test_the_detectable_effect_equals_statsmodels_for_one_sample() -> None:
    error, n = 0.3, 50
    found = reach(Interval(0.0, -1.959964 * error, 1.959964 * error, n, 0.95), margin=1.0)
    # one sample of n with standard deviation error · √n
    effect = NormalIndPower(ddof=0).solve_power(nobs1=n, alpha=0.05, power=0.8, ratio=0, alternative="two-sided")
    assert found.detectable == pytest.approx(effect * error * math.sqrt(n), rel=1e-3)


def test_an_effect_of_the_detectable_size_is_found_four_times_of_five() -> None:
    rng, n = np.random.default_rng(8), 60
    usual = np.mean([reach(median_bca(rng.normal(size=n)), margin=1.0).detectable for _ in range(200)])
    found = [median_bca(rng.normal(usual, 1.0, size=n), resamples=500).excludes_zero() for _ in range(800)]
    low, high = proportion_confint(sum(found), len(found), method="wilson")
    assert low - 0.04 <= 0.8 <= high + 0.04


def test_the_n_needed_shows_equivalence_four_times_of_five() -> None:
    rng, margin = np.random.default_rng(9), 0.35
    told = [reach(median_bca(rng.normal(size=60)), margin=margin).needed for _ in range(200)]
    needed = round(float(np.mean(told)))
    inside = [median_bca(rng.normal(size=needed), level=0.90, resamples=500).within(margin) for _ in range(800)]
    low, high = proportion_confint(sum(inside), len(inside), method="wilson")
    assert low - 0.04 <= 0.8 <= high + 0.04


def test_the_n_needed_falls_with_the_square_of_the_margin() -> None:
    interval = Interval(0.0, -1.0, 1.0, 100, 0.95)
    error = 1.0 / stats.norm.ppf(0.975)
    assert reach(interval, margin=0.5).needed == math.ceil(100 * ((1.6448536 + 1.2815516) * error / 0.5) ** 2)
    assert reach(interval, margin=0.25).needed == pytest.approx(4 * reach(interval, margin=0.5).needed, abs=4)


def test_an_interval_without_width_says_nothing_of_power() -> None:
    for interval in (Interval(0.0, 0.0, 0.0, 9, 0.95), Interval(0.0, math.nan, math.nan, 1, 0.95)):
        assert math.isnan(reach(interval, margin=1.0).detectable)
        assert math.isnan(reach(interval, margin=1.0).needed)


@pytest.mark.parametrize(
    ("test", "efficiency"), [("paired t", 1.0), ("Wilcoxon", 3 / math.pi), ("median", 2 / math.pi)]
)
def test_without_a_spread_the_effect_is_that_of_statsmodels_at_n_times_the_efficiency(test, efficiency) -> None:
    expected = NormalIndPower(ddof=0).solve_power(nobs1=200 * efficiency, alpha=0.05, power=0.8, ratio=0)
    assert smallest_effect(200, test=test) == pytest.approx(expected, rel=1e-4)


def test_for_the_paired_t_it_is_what_the_t_distribution_gives_but_for_few_items() -> None:
    assert smallest_effect(200, test="paired t") == pytest.approx(
        TTestPower().solve_power(nobs=200, alpha=0.05, power=0.8), rel=0.01
    )


def test_a_shift_of_that_size_moves_a_median_four_times_of_five() -> None:
    rng, n = np.random.default_rng(10), 60
    shift = smallest_effect(n)
    found = [median_bca(rng.normal(shift, 1.0, size=n), resamples=500).excludes_zero() for _ in range(800)]
    low, high = proportion_confint(sum(found), len(found), method="wilson")
    assert low - 0.04 <= 0.8 <= high + 0.04


def test_a_planned_n_finds_what_its_own_interval_would() -> None:
    known = reach(Interval(0.0, -1.0, 1.0, 100, 0.95), margin=1.0).detectable
    assert rescaled(known, n=100, planned=100) == known
    assert rescaled(known, n=100, planned=400) == pytest.approx(known / 2)
    assert math.isnan(rescaled(known, n=100, planned=0))
    assert math.isnan(smallest_effect(0))
    with pytest.raises(InvalidInput, match="efficiency of median, Wilcoxon, paired t is known, got 'sign'"):
        smallest_effect(10, test="sign")


def test_a_drift_among_several_is_found_four_times_of_five_at_the_level_of_the_family() -> None:
    rng, n, tests = np.random.default_rng(12), 60, 5
    usual = np.mean([reach(median_bca(rng.normal(size=n)), margin=1.0).detectable for _ in range(200)])
    truth, level = usual * among(tests), 1 - 0.05 / tests
    found = [
        median_bca(rng.normal(truth, 1.0, size=n), level=level, resamples=2000).excludes_zero() for _ in range(500)
    ]
    low, high = proportion_confint(sum(found), len(found), method="wilson")
    assert low - 0.04 <= 0.8 <= high + 0.04


@pytest.mark.parametrize("n", [6, 7, 20, 100, 480])
def test_the_smallest_share_is_found_by_the_binomial_test_four_times_of_five(n: int) -> None:
    share = smallest_share(n)
    rejects = [stats.binomtest(k, n).pvalue < 0.05 for k in range(n + 1)]
    above = [k for k in range(n // 2, n + 1) if rejects[k]]
    assert stats.binom.sf(min(above) - 1, n, share) == pytest.approx(0.8)


def test_of_five_items_no_share_can_be_told_from_one_half() -> None:
    assert math.isnan(smallest_share(5))
    assert math.isnan(smallest_share(0))


def test_a_share_is_known_least_at_one_half() -> None:
    for n in (9, 10, 200):
        widths = np.subtract(*proportion_confint(np.arange(n + 1), n, method="wilson")[::-1]) / 2
        assert widest_half(n) == pytest.approx(widths.max())
    assert math.isnan(widest_half(0))


def test_votes_spread_evenly_agree_least() -> None:
    assert [least_agreement(voters, 3) for voters in (2, 3, 4)] == [0.0, 0.0, pytest.approx(1 / 6)]
    assert math.isnan(least_agreement(1, 3))
    assert widest_agreement(100, 3, 3) == widest_half(100)
    assert widest_agreement(100, 3, 2) == pytest.approx(2 / 3 * widest_half(100))
