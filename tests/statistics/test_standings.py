"""Leaderboards against loops over resamples, scipy and statsmodels, and a small simulation of what intervals hold."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy import stats
from statsmodels.stats.multitest import multipletests

from core.errors import InvalidInput
from core.statistics.battles import length_controlled
from core.statistics.resamples import sample_counts
from core.statistics.standings import drawn_means, neighbours, order_agreement, placed, source_ranks, standings, swap


def made(n: int, steps: list[float], *, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, len(steps))) * 0.1 + rng.normal(size=(n, 1)) * 0.1 + np.array(steps)


def test_means_ranks_and_differences_are_those_of_scipy_and_statsmodels() -> None:
    scores = made(40, [0.0, 0.05, 0.2, 0.21])
    found = standings(scores, resamples=200)
    assert [each.estimate for each in found.means] == pytest.approx(scores.mean(axis=0).tolist())
    assert found.ranks.tolist() == stats.rankdata(-scores.mean(axis=0), method="min").tolist()
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    assert [(each.one, each.other) for each in found.differences] == pairs
    p = []
    for each, (a, b) in zip(found.differences, pairs, strict=True):
        assert each.interval.estimate == pytest.approx(scores[:, a].mean() - scores[:, b].mean())
        test = stats.ttest_rel if each.test.name == "paired t" else lambda x, y: stats.wilcoxon(x - y)
        p.append(test(scores[:, a], scores[:, b]).pvalue)
        assert each.test.p == pytest.approx(p[-1])
        bca = stats.bootstrap((scores[:, a] - scores[:, b],), np.mean, n_resamples=4000, rng=1).confidence_interval
        width = bca.high - bca.low
        assert each.interval.low == pytest.approx(bca.low, abs=0.12 * width)
        assert each.interval.high == pytest.approx(bca.high, abs=0.12 * width)
    assert [each.p_holm for each in found.differences] == pytest.approx(multipletests(p, method="holm")[1].tolist())


def test_rank_intervals_are_percentiles_of_the_ranks_in_the_samples() -> None:
    scores = made(12, [0.0, 0.01, 0.3])
    found = standings(scores, resamples=500, level=0.9)
    ranks = []
    for counts in sample_counts(12, 500, seed=2025):
        picked = np.repeat(np.arange(12), counts)
        ranks.append(stats.rankdata(-scores[picked].mean(axis=0), method="min"))
    first = (np.array(ranks) == 1).mean(axis=0)
    assert found.first == pytest.approx(first)
    wider = np.quantile(np.array(ranks), [0.02, 0.98], axis=0, method="inverted_cdf")
    inner = np.quantile(np.array(ranks), [0.05, 0.95], axis=0, method="inverted_cdf")
    assert (wider[0] <= found.low).all()
    assert (found.low <= inner[0]).all()
    assert (inner[1] <= found.high).all()
    assert (found.high <= wider[1]).all()


def test_equal_systems_share_their_ranks_and_no_difference_is_sure() -> None:
    one = made(30, [0.0])
    found = standings(np.column_stack([one, one, one + 0.5]), resamples=200)
    assert found.ranks.tolist() == [2, 2, 1]
    assert (found.low.tolist(), found.high.tolist()) == ([2, 2, 1], [3, 3, 1])
    assert np.isnan(found.differences[0].test.p)
    assert (found.sure_low.tolist(), found.sure_high.tolist()) == ([2, 2, 1], [3, 3, 1])


def test_systems_that_are_equal_throughout_are_no_test_and_make_no_other_difference_less_sure() -> None:
    """Their pair has p = 1 under every order of its signs: it takes no share of the error. Source: Tarone (1990)."""
    columns = made(30, [0.0, 0.04])
    twice = standings(np.column_stack([columns, columns[:, 0]]), resamples=200)
    apart = [each for each in twice.differences if each.test.name != "none"]
    assert len(apart) == 2
    assert [each.p_holm for each in apart] == pytest.approx(
        multipletests([each.test.p for each in apart], method="holm")[1].tolist()
    )
    (equal,) = [each for each in twice.differences if each.test.name == "none"]
    assert math.isnan(equal.p_holm)
    assert not equal.sure


def test_few_items_have_a_rank_and_no_interval() -> None:
    found = standings(made(9, [0.0, 1.0]))
    assert found.ranks.tolist() == [2, 1]
    assert np.isnan(found.low).all()
    assert "below 10" in found.note


def test_items_of_one_source_are_drawn_together() -> None:
    groups = np.repeat(np.arange(12), 5)
    scores = np.repeat(made(12, [0.0, 0.03]), 5, axis=0)
    together, apart = standings(scores, groups=groups), standings(scores)
    assert together.differences[0].test.n == 12
    width = [each.means[0].high - each.means[0].low for each in (together, apart)]
    assert width[0] > 1.5 * width[1]


def test_one_system_is_first_and_stands_alone() -> None:
    found = standings(made(20, [0.4]), resamples=50)
    assert (found.ranks.tolist(), found.low.tolist(), found.high.tolist(), found.differences) == ([1], [1], [1], ())


@pytest.mark.parametrize("bad", [np.empty((0, 2)), np.empty((3, 0)), [[1.0, np.nan]], [1.0, 2.0]])
def test_what_is_no_whole_table_is_refused(bad: object) -> None:
    with pytest.raises(InvalidInput):
        standings(bad)  # type: ignore[arg-type]


@given(some.lists(some.integers(-3, 3), min_size=1, max_size=7))
def test_ranks_with_ties_are_scipys(values: list[int]) -> None:
    best, worst = placed(np.array([values], dtype=float))
    negative = [-each for each in values]
    assert best[0].tolist() == stats.rankdata(negative, method="min").tolist()
    assert worst[0].tolist() == stats.rankdata(negative, method="max").tolist()


def test_intervals_of_ranks_hold_the_true_rank_as_often_as_they_say() -> None:
    steps, rank = [0.0, 0.02, 0.05, 0.06, 0.1], np.array([5, 4, 3, 2, 1])
    held, sure = [], []
    for seed in range(60):
        found = standings(made(60, steps, seed=seed), resamples=300)
        held.append((found.low <= rank) & (rank <= found.high))
        sure.append(((found.sure_low <= rank) & (rank <= found.sure_high)).all())
    assert np.mean(held) >= 0.92  # 95 % less two standard errors of 300 trials
    assert np.mean(sure) >= 0.9


def test_a_swap_is_counted_in_each_sample_of_items() -> None:
    before = made(15, [0.02, 0.0])
    after = before + made(15, [-0.02, 0.0], seed=5)
    after[3, 1] = np.nan
    found = swap(before, after, resamples=300)
    b, a = np.delete(before, 3, axis=0), np.delete(after, 3, axis=0)
    flips = chance = 0
    for counts in sample_counts(14, 300, seed=2025):
        picked = np.repeat(np.arange(14), counts)
        clean, edited = (np.sign((x[picked, 0] - x[picked, 1]).mean()) for x in (b, a))
        flips += clean != edited
        chance += clean != np.sign((b[:, 0] - b[:, 1]).mean())
    assert found.n == 14
    assert found.probability == pytest.approx(flips / 300)
    assert found.chance == pytest.approx(chance / 300)
    assert (found.before, found.after) == pytest.approx(((b[:, 0] - b[:, 1]).mean(), (a[:, 0] - a[:, 1]).mean()))
    assert found.swapped == (np.sign(found.before) != np.sign(found.after))


def test_an_edit_that_moves_everything_alike_swaps_nobody() -> None:
    before = made(20, [0.0, 0.0])
    found = swap(before, before + 0.25)
    assert (found.swapped, found.probability) == (False, 0.0)
    assert found.chance > 0


def test_a_pair_without_a_whole_item_says_so() -> None:
    found = swap(made(5, [0.0, 0.1]), np.full((5, 2), np.nan))
    assert (found.n, found.note) == (0, "no item is whole")


def test_neighbours_follow_each_other_from_the_top() -> None:
    assert neighbours([0.2, 0.5, 0.4, 0.4]) == ((1, 2), (2, 3), (3, 0))


def test_the_slope_of_length_is_that_of_dummies_by_least_squares() -> None:
    rng = np.random.default_rng(4)
    lengths = rng.integers(5, 30, size=(25, 3)).astype(float)
    scores = 0.01 * lengths + rng.normal(size=(25, 1)) + rng.normal(size=(25, 3)) * 0.05 + np.array([0.0, 0.1, 0.05])
    item, system = np.indices((25, 3)).reshape(2, -1)
    design = np.column_stack([np.eye(25)[item], np.eye(3)[system][:, 1:], lengths.ravel()])
    slope = np.linalg.lstsq(design, scores.ravel(), rcond=None)[0][-1]
    found = length_controlled(scores, lengths, resamples=300)
    assert found.slope == pytest.approx(slope)
    expected = scores.mean(axis=0) - slope * (lengths.mean(axis=0) - lengths.mean())
    assert found.means == pytest.approx(expected)
    assert found.slope_low < slope < found.slope_high


def test_length_alone_makes_no_ranking_once_it_is_held() -> None:
    rng = np.random.default_rng(1)
    lengths = rng.integers(5, 9, size=(40, 2)).astype(float) + np.array([0.0, 6.0])
    found = length_controlled(0.02 * lengths + rng.normal(size=(40, 2)) * 0.001, lengths)
    assert standings(0.02 * lengths).ranks.tolist() == [2, 1]
    assert abs(found.means[0] - found.means[1]) < 0.001


def test_lengths_that_never_vary_apart_give_no_slope() -> None:
    lengths = np.tile([8.0, 12.0], (20, 1)) + np.arange(20)[:, None]
    found = length_controlled(made(20, [0.0, 0.1]), lengths)
    assert np.isnan(found.slope)
    assert "vary" in found.note


def test_agreement_of_orders_is_that_of_the_means_with_percentiles_over_items() -> None:
    one, other = made(30, [0.0, 0.1, 0.2, 0.15]), made(30, [0.1, 0.0, 0.2, 0.25], seed=3)
    found = order_agreement(one, other, resamples=200)
    means = one.mean(axis=0), other.mean(axis=0)
    assert found.tau.estimate == pytest.approx(stats.kendalltau(*means).statistic)
    assert found.spearman.estimate == pytest.approx(stats.spearmanr(*means).statistic)
    for interval, of in ((found.tau, stats.kendalltau), (found.spearman, stats.spearmanr)):
        drawn = [
            of(*(np.repeat(x, counts, axis=0).mean(axis=0) for x in (one, other))).statistic
            for counts in sample_counts(30, 200, seed=2025)
        ]
        assert min(drawn) - 1e-9 <= interval.low <= np.quantile(drawn, 0.06)
        assert np.quantile(drawn, 0.94) - 1e-9 <= interval.high <= max(drawn) + 1e-9
        assert interval.low < interval.high


def test_tied_systems_share_their_rank_in_every_sample() -> None:
    one = made(30, [0.0, 0.1, 0.3])
    tied = one[:, [0, 0, 2]]
    found = order_agreement(one, tied, resamples=50)
    assert found.spearman.estimate == pytest.approx(stats.spearmanr([1, 2, 3], [1.5, 1.5, 3]).statistic)
    assert found.spearman.low <= found.spearman.estimate <= found.spearman.high


def test_few_items_or_sources_have_no_interval_of_agreement() -> None:
    one, other = made(9, [0.0, 0.1, 0.2]), made(9, [0.1, 0.0, 0.2], seed=3)
    for found in (
        order_agreement(one, other),
        order_agreement(np.tile(one, (2, 1)), np.tile(other, (2, 1)), groups=[*range(9), *range(9)]),
    ):
        for each in (found.tau, found.spearman):
            assert each.estimate == each.estimate
            assert np.isnan([each.low, each.high]).all()
            assert "below 10" in each.note


def test_two_systems_have_no_agreement_of_orders() -> None:
    assert "below 3" in order_agreement(made(20, [0, 1]), made(20, [0, 1])).tau.note


def test_draws_weigh_sources_by_their_items() -> None:
    values = np.array([[1.0], [2.0], [9.0]])
    drawn = drawn_means(values, groups=source_ranks(["a", "a", "b"], 3), resamples=400)
    assert sorted({round(float(each), 6) for each in drawn[:, 0]}) == [1.5, 4.0, 9.0]
