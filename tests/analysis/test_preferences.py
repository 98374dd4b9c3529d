"""Agreement with people against counting by hand, scipy, and simulation."""

import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

from core.analysis.preferences import accuracy, correlations, length, mean_of_groups, rated_pairs
from core.corpora.suites.model import TAU_B, TAU_C
from core.errors import InvalidInput


def test_ties_count_half_and_missing_scores_not_at_all() -> None:
    found = accuracy(np.array([0.9, 0.5, 0.1, math.nan]), np.array([0.1, 0.5, 0.2, 0.3]), ["a", "b", "c", "d"])
    assert (found.estimate, found.n) == (0.5, 3)
    assert found.low <= 0.5 <= found.high


def test_pairs_of_one_image_stand_together() -> None:
    rng = np.random.default_rng(0)
    image = np.repeat(np.arange(60), 10)
    right = np.repeat(rng.random(60) < 0.7, 10).astype(float)  # all pairs of an image answer alike
    clustered = accuracy(right, np.full(600, 0.5), image.astype(str).tolist())
    alone = accuracy(right, np.full(600, 0.5), [str(each) for each in range(600)])
    assert clustered.estimate == alone.estimate
    assert clustered.high - clustered.low > 2 * (alone.high - alone.low)


def test_the_interval_over_images_equals_scipys_bootstrap() -> None:
    rng = np.random.default_rng(1)
    sums, sizes = rng.binomial(5, 0.7, size=50).astype(float), np.full(50, 5.0)
    right = np.concatenate([np.repeat([1.0, 0.0], [int(s), 5 - int(s)]) for s in sums])
    ours = accuracy(right, np.full(250, 0.5), np.repeat(np.arange(50), 5).astype(str).tolist())
    reference = stats.bootstrap((sums / sizes,), np.mean, n_resamples=9999, method="BCa", rng=3).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((reference.low, reference.high), abs=0.006)


def test_degenerate_suites_have_a_defined_answer() -> None:
    assert accuracy(np.array([]), np.array([]), []).note == "no pair has both scores"
    assert accuracy(np.array([1.0]), np.array([0.0]), ["a"]).note == "one image, or text, has no interval"
    alike = accuracy(np.ones(4), np.zeros(4), list("abcd"))
    assert (alike.estimate, alike.high) == (1.0, 1.0)
    assert alike.low == pytest.approx(stats.binomtest(4, 4).proportion_ci(method="wilson").low)
    assert math.isnan(correlations(np.ones(5), np.arange(5.0), list("abcde"))[TAU_B].estimate)
    with pytest.raises(InvalidInput, match="two scores"):
        accuracy(np.ones(2), np.ones(1), ["a"])


def test_length_with_the_ratings_held_is_the_correlation_of_the_residuals_of_ranks() -> None:
    rng = np.random.default_rng(6)
    ratings, words = rng.integers(1, 5, 120).astype(float), rng.integers(5, 20, 120)
    scores = 0.2 * ratings + 0.05 * words + rng.normal(0, 0.4, 120)
    images = np.repeat(np.arange(40), 3).astype(str).tolist()
    plain, held = length(scores, words, images), length(scores, words, images, ratings=ratings)
    assert plain.estimate == pytest.approx(100 * stats.spearmanr(scores, words).statistic)
    known = sm.add_constant(stats.rankdata(ratings))
    left = [sm.OLS(stats.rankdata(each), known).fit().resid for each in (scores, words)]
    assert held.estimate == pytest.approx(100 * stats.pearsonr(*left).statistic)
    assert held.n == 120
    assert held.low < held.estimate < held.high


def test_length_is_not_told_where_nothing_varies_or_is_scored() -> None:
    images = list("abcdef")
    assert "all alike" in length(np.arange(6.0), np.full(6, 7), images).note
    assert math.isnan(length(np.full(6, math.nan), np.arange(6), images).estimate)
    ratings = np.arange(6.0)  # which leave nothing to correlate
    assert math.isnan(length(np.arange(6.0), np.arange(6), images, ratings=ratings).estimate)


def test_every_two_captions_of_an_image_that_people_rated_differently_make_a_pair() -> None:
    table = pd.DataFrame(
        {
            "image": ["a", "a", "a", "a", "b"],
            "caption": ["x", "x", "y", "z", "x"],
            "rating": [1.0, 3.0, 2.0, 4.0, 1.0],
            "score": [0.1, 0.1, 0.2, 0.05, 0.9],
        }
    )
    pairs = rated_pairs(table)
    assert sorted(zip(pairs["preferred"], pairs["other"], strict=True)) == [(0.05, 0.1), (0.05, 0.2)]


@pytest.mark.parametrize(("convention", "variant"), [(TAU_B, "b"), (TAU_C, "c")])
def test_tau_is_scipys_times_a_hundred_inside_its_interval(convention: str, variant: str) -> None:
    rng = np.random.default_rng(2)
    ratings = rng.integers(1, 5, 120).astype(float)
    scores = ratings + rng.normal(scale=2, size=120)
    scores[3] = math.nan
    found = correlations(scores, ratings, [str(each // 3) for each in range(120)])[convention]
    whole = ~np.isnan(scores)
    expected = 100 * stats.kendalltau(scores[whole], ratings[whole], variant=variant).statistic
    assert found.estimate == pytest.approx(expected)
    assert found.low < found.estimate < found.high
    assert found.n == 119


def test_over_draws_of_the_references_tau_and_accuracy_are_the_means_over_draws() -> None:
    rng = np.random.default_rng(3)
    ratings = rng.integers(1, 5, 60).astype(float)
    draws = ratings + rng.normal(scale=2, size=(3, 60))
    images = [str(each // 3) for each in range(60)]
    for name, variant in ((TAU_B, "b"), (TAU_C, "c")):
        alone = [100 * stats.kendalltau(each, ratings, variant=variant).statistic for each in draws]
        assert correlations(draws, ratings, images)[name].estimate == pytest.approx(np.mean(alone))
    other = rng.normal(size=(3, 60))
    alone = [accuracy(one, two, images).estimate for one, two in zip(draws, other, strict=True)]
    assert accuracy(draws, other, images).estimate == pytest.approx(np.mean(alone))


def test_a_tie_is_one_half_or_an_error() -> None:
    scores = np.array([1.0, 0.5, 0.5, 0.0]), np.full(4, 0.5)
    assert accuracy(*scores, list("abcd")).estimate == 0.5
    assert accuracy(*scores, list("abcd"), strict=True).estimate == 0.25


def test_the_mean_of_groups_weighs_groups_and_not_pairs() -> None:
    right = np.concatenate([np.ones(30), np.zeros(10)])
    images = np.array([str(each) for each in range(40)])
    found = mean_of_groups(right, images, np.array(["HC"] * 30 + ["MM"] * 10))
    assert found.estimate == 0.5
    assert right.mean() == 0.75
    mixed = np.random.default_rng(4).integers(0, 2, 40).astype(float)
    found = mean_of_groups(mixed, images, np.array(["HC", "MM"] * 20))
    assert found.low < (mixed[::2].mean() + mixed[1::2].mean()) / 2 < found.high
