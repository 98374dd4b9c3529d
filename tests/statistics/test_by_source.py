"""Tests by source: today's test where each item is its own source, that of the sources' means where it is not."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.regression.linear_model import OLS

from core.errors import InvalidInput
from core.statistics.factors import factor_test
from core.statistics.mixed_model import mean_by_source, mixed_effect
from core.statistics.resamples import BY_SOURCE, named, ranks_of, source_means
from core.statistics.shift_tests import NO_TEST, PAIRED_T, WILCOXON, paired_test

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
