"""What a sample could have shown, against statsmodels and against simulation."""

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import proportion_confint

from core.statistics.bootstrap import Interval, median_bca
from core.statistics.power import reach


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
