"""Paired tests, Holm, Cliff's δ and standardised shifts against scipy, statsmodels, brute force and hand counts."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from core.errors import InvalidInput
from core.seeds import RUN_SEED, stream
from core.statistics import shift_tests as module
from core.statistics.shift_tests import (
    NO_TEST,
    PAIRED_T,
    WILCOXON,
    cliffs_delta,
    holm,
    paired_test,
    standardised_shift,
)

values_st = st.lists(st.integers(-5, 5), min_size=1, max_size=30)


def test_normal_samples_get_the_paired_t() -> None:
    rng = np.random.default_rng(0)
    before, after = rng.normal(size=40), rng.normal(0.3, size=40)
    ours, reference = paired_test(before, after), stats.ttest_rel(after, before)
    assert (ours.name, ours.n) == (PAIRED_T, 40)
    assert (ours.statistic, ours.p) == (pytest.approx(reference.statistic), pytest.approx(reference.pvalue))


@pytest.mark.parametrize("skewed", ["before", "after"])
def test_one_skewed_sample_is_enough_for_wilcoxon(skewed: str) -> None:
    rng = np.random.default_rng(1)
    samples = {"before": rng.normal(size=60), "after": rng.normal(size=60)}
    samples[skewed] = rng.exponential(size=60) ** 2
    ours, reference = paired_test(**samples), stats.wilcoxon(samples["after"] - samples["before"])
    assert ours.name == WILCOXON
    assert ours.p == pytest.approx(reference.pvalue)


def test_zero_differences_are_counted() -> None:
    ours = paired_test([0, 0, 0, 0, 9, 9] * 2, [0, 0, 1, 2, 9, 30] * 2)
    assert (ours.name, ours.note) == (WILCOXON, "6 pairs without a difference")


def test_large_samples_are_judged_without_a_warning() -> None:
    rng = np.random.default_rng(2)
    before = rng.normal(size=6000)
    assert paired_test(before, before + rng.normal(size=6000)).name == PAIRED_T


def test_a_shift_that_is_the_same_everywhere_goes_to_wilcoxon() -> None:
    before = np.random.default_rng(3).normal(size=20)
    ours = paired_test(before, before + 0.1)
    assert ours.name == WILCOXON
    assert ours.p < 1e-4


@pytest.mark.parametrize(
    ("before", "after", "n", "note"),
    [
        ([], [], 0, "fewer than 10 pairs"),
        ([1.0], [2.0], 1, "fewer than 10 pairs"),
        ([1.0, math.nan], [2.0, 3.0], 1, "fewer than 10 pairs"),
        (range(9), range(1, 10), 9, "fewer than 10 pairs"),
        (range(10), range(10), 10, "no pair differs"),
    ],
)
def test_data_without_a_test_say_why(before: list, after: list, n: int, note: str) -> None:
    ours = paired_test(before, after)
    assert (ours.name, ours.n) == (NO_TEST, n)
    assert math.isnan(ours.p)
    assert note in ours.note


def test_unequal_or_infinite_samples_are_refused() -> None:
    with pytest.raises(InvalidInput, match="2 and 1"):
        paired_test([1.0, 2.0], [1.0])
    with pytest.raises(InvalidInput, match="infinite"):
        paired_test([1.0, 2.0], [1.0, math.inf])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_equals_statsmodels(p: list[float]) -> None:
    np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1])


def test_holm_does_not_count_what_was_not_tested() -> None:
    np.testing.assert_allclose(holm([0.01, math.nan, 0.04]), [0.02, math.nan, 0.04])
    assert np.isnan(holm([math.nan])).all()
    assert len(holm([])) == 0


@given(values_st, values_st)
def test_cliffs_delta_equals_every_pair(after: list[int], before: list[int]) -> None:
    expected = np.mean([np.sign(one - other) for one in after for other in before])
    assert cliffs_delta(after, before) == pytest.approx(expected)


def test_cliffs_delta_is_mann_whitneys_u_rescaled() -> None:
    rng = np.random.default_rng(4)
    after, before = rng.normal(size=300), rng.normal(0.2, size=200)
    u = stats.mannwhitneyu(after, before).statistic
    assert cliffs_delta(after, before) == pytest.approx(2 * u / (300 * 200) - 1)


def test_cliffs_delta_of_nothing_is_undefined() -> None:
    assert math.isnan(cliffs_delta([math.nan], [1.0]))


def test_the_standardised_shift_is_in_baseline_deviations() -> None:
    assert standardised_shift([0.0, 2.0], [1.0, 3.0]) == pytest.approx(1 / math.sqrt(2))
    assert math.isnan(standardised_shift([1.0, 1.0], [1.0, 2.0]))
    assert math.isnan(standardised_shift([1.0], [2.0]))


@pytest.mark.parametrize("scale", [2.0**-900, 2.0**-40, 2.0**60, 2.0**665])
def test_the_unit_of_the_scores_changes_no_test(scale: float) -> None:
    rng = np.random.default_rng(12)
    for before in (rng.normal(5, 1, size=40), rng.gamma(0.3, size=40)):
        after = before + rng.normal(0.2, 0.5, size=40)
        usual, scaled = paired_test(before, after), paired_test(before * scale, after * scale)
        assert (usual.name, usual.n) == (scaled.name, scaled.n)
        assert scaled.p == pytest.approx(usual.p, rel=1e-9)


def test_shapiro_judges_the_part_that_is_drawn_from_the_values_themselves() -> None:
    values = np.random.default_rng(1).normal(size=module.SHAPIRO_MOST + 700)
    for _ in range(2):
        expected = stream(RUN_SEED, "shapiro").choice(values, module.SHAPIRO_MOST, replace=False)
        np.testing.assert_array_equal(values[module._looked_at(len(values))], expected)
