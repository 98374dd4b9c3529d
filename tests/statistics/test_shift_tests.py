"""Paired tests, Holm, Cliff's δ and standardised shifts against scipy, statsmodels, brute force and hand counts."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.multitest import multipletests

from core.errors import InvalidInput
from core.seeds import RUN_SEED, stream
from core.statistics import shift_tests as module
from core.statistics.factors import factor_test
from core.statistics.mixed_model import mean_by_source, mixed_effect
from core.statistics.resamples import BY_SOURCE, named, ranks_of, source_means
from core.statistics.shift_tests import (
    NO_TEST,
    PAIRED_T,
    WILCOXON,
    cliffs_delta,
    holm,
    paired_test,
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


SOURCES = np.repeat(list("abcdefghijklmnop"), [1, 2, 3, 1, 1, 5, 2, 2, 1, 4, 1, 1, 2, 3, 1, 2])


def scores(*, skewed: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    before = rng.normal(0.5, 0.1, size=len(SOURCES))
    before = np.exp(8 * before) if skewed else before
    return before, before + rng.normal(0.02, 0.1, size=len(SOURCES))


@pytest.mark.parametrize(("skewed", "name"), [(False, PAIRED_T), (True, WILCOXON)])
def test_where_items_share_their_source_the_test_is_that_of_the_sources_means(skewed: bool, name: str) -> None:
    before, after = scores(skewed=skewed)
    means = pd.DataFrame({"before": before, "after": after}).groupby(SOURCES).mean()
    reference = stats.wilcoxon if skewed else stats.ttest_rel
    found = paired_test(before, after, groups=SOURCES)
    assert (found.name, found.n) == (f"{name}, {BY_SOURCE}", 16)
    assert found.p == pytest.approx(reference(means["after"], means["before"]).pvalue)
    assert "32 pairs of 16 sources" in found.note


@pytest.mark.parametrize("skewed", [False, True])
def test_where_each_item_is_its_own_source_nothing_changes(skewed: bool) -> None:
    before, after = scores(skewed=skewed)
    assert paired_test(before, after, groups=np.arange(len(before))[::-1]) == paired_test(before, after)
    values, levels, items = (
        np.random.default_rng(4).normal(size=90),
        np.tile([0, 1, 2], 30),
        np.repeat(np.arange(30), 3),
    )
    one, other = (factor_test(values, levels, items, sources=own) for own in (None, 100 - items))
    assert (one.kruskal, one.friedman) == (other.kruskal, other.friedman)
    pd.testing.assert_frame_equal(one.pairs, other.pairs)
    model, clustered = (
        mixed_effect(values, levels % 2, np.arange(90) // 2, np.arange(90) % 4, sources=own)
        for own in (None, np.arange(90) // 2)
    )
    assert model == clustered


def test_items_without_both_scores_are_no_part_of_their_source() -> None:
    before, after = scores()
    before[3], after[7] = math.nan, math.nan
    whole = ~np.isnan(before + after)
    assert paired_test(before, after, groups=SOURCES) == paired_test(before[whole], after[whole], groups=SOURCES[whole])
    with pytest.raises(InvalidInput, match="needs its source"):
        paired_test(before, after, groups=SOURCES[:-1])
    with pytest.raises(InvalidInput, match="needs its source"):
        ranks_of(["a"], 2)


def test_one_source_has_no_test_whatever_its_items_do() -> None:
    found = paired_test(np.zeros(40), np.ones(40), groups=np.zeros(40))
    assert (found.name, found.n) == (NO_TEST, 1)
    assert math.isnan(found.p)
    assert "fewer than 10 sources" in found.note


def test_levels_are_compared_by_the_sources_means_at_each() -> None:
    rng = np.random.default_rng(5)
    wide = pd.DataFrame(rng.normal(size=(len(SOURCES), 3)))
    means = wide.groupby(SOURCES).mean()
    found = factor_test(
        wide.to_numpy().ravel(),
        np.tile([0, 1, 2], len(SOURCES)),
        np.repeat(np.arange(len(SOURCES)), 3),
        sources=np.repeat(SOURCES, 3),
    )
    columns = [means[name] for name in means]
    assert found.friedman.p == pytest.approx(stats.friedmanchisquare(*columns).pvalue)
    assert found.kruskal.p == pytest.approx(stats.kruskal(*columns).pvalue)
    assert (found.kruskal.n, found.friedman.n) == (48, 16)
    u = stats.mannwhitneyu(wide[0], wide[1]).statistic
    assert found.pairs["cliffs_delta"].iloc[0] == pytest.approx(2 * u / len(SOURCES) ** 2 - 1)  # of items
    apart = factor_test(wide[0], pd.factorize(SOURCES)[0] % 2, np.arange(len(SOURCES)), sources=SOURCES)
    sides = [means[0][pd.factorize(means.index)[0] % 2 == side] for side in (0, 1)]
    assert apart.pairs["test"].iloc[0] == named("Mann-Whitney", np.zeros(1))
    assert apart.pairs["p"].iloc[0] == pytest.approx(stats.mannwhitneyu(*sides).pvalue)


def test_a_mean_by_source_is_students_t_of_sources_of_as_many_items() -> None:
    rng = np.random.default_rng(6)
    ranks, values = np.repeat(np.arange(12), 4), rng.normal(0.3, 1.0, size=48)
    found = mean_by_source(values, ranks, about=float(values.mean()))
    means = source_means(values, ranks)
    reference = stats.ttest_1samp(means, 0.0)
    assert found.p == pytest.approx(reference.pvalue)
    assert (found.low, found.high) == pytest.approx(tuple(reference.confidence_interval(0.95)))


def test_a_mean_of_uneven_sources_has_nearly_the_cluster_robust_error_of_statsmodels() -> None:
    rng = np.random.default_rng(7)
    ranks = np.repeat(np.arange(60), 1 + np.arange(60) % 4)
    values = rng.normal(size=60)[ranks] + rng.normal(size=len(ranks))
    fit = OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": ranks})
    found = mean_by_source(values, ranks, about=float(values.mean()))
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * fit.bse[0], rel=0.04)


def test_the_degrees_of_freedom_of_uneven_sources_are_those_of_the_whole_matrix() -> None:
    sizes = 1.0 + np.arange(30) % 4
    ranks, n = np.repeat(np.arange(30), sizes.astype(int)), sizes.sum()
    values = np.random.default_rng(8).normal(0.2, size=len(ranks))
    room = 1 - sizes / n
    matrix = (np.diag(sizes) - np.outer(sizes, sizes) / n) / np.sqrt(np.outer(room, room))
    freedom = np.trace(matrix) ** 2 / (matrix**2).sum()
    error = np.sqrt((np.bincount(ranks, values - values.mean()) ** 2 / room).sum()) / n
    found = mean_by_source(values, ranks, about=float(values.mean()))
    assert found.p == pytest.approx(2 * stats.t.sf(values.mean() / error, freedom), rel=1e-9)
    assert found.high - values.mean() == pytest.approx(stats.t.ppf(0.975, freedom) * error, rel=1e-9)


def test_the_mixed_model_keeps_its_estimate_and_says_whose_interval_it_gives() -> None:
    before, after = scores()
    items, n = np.arange(len(SOURCES)), len(SOURCES)
    rows = (np.concatenate([before, after]), np.repeat([0, 1], n), np.tile(items, 2), np.tile(items % 3, 2))
    alone, clustered = mixed_effect(*rows), mixed_effect(*rows, sources=np.tile(SOURCES, 2))
    assert clustered.effect == alone.effect
    assert (clustered.image_sd, clustered.residual_sd) == (alone.image_sd, alone.residual_sd)
    assert "interval and p by source (16)" in clustered.note
    assert clustered.low != alone.low
    one = mixed_effect(*rows, sources=np.zeros(2 * n))
    assert math.isnan(one.low)
    assert math.isnan(one.p)
