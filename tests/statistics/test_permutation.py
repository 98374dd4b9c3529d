"""The permutation test of few ranks against counting by hand, scipy, and its own laws."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.errors import InvalidInput
from core.statistics.rank_agreement import DRAWN, EXACT, EXACT_MOST, rank_test

few = st.lists(st.integers(-5, 5), min_size=3, max_size=5)


def by_hand(one: list[int], other: list[int]) -> tuple[float, float]:
    rho = stats.spearmanr(one, other).statistic
    every = [stats.spearmanr(one, list(order)).statistic for order in permutations(other)]
    return rho, float(np.mean(np.abs(every) >= abs(rho) - 1e-9))


@given(few, st.data())
@settings(max_examples=15, deadline=None)
def test_every_order_is_counted_as_by_hand_ties_included(one: list[int], data: st.DataObject) -> None:
    other = data.draw(st.lists(st.integers(-3, 3), min_size=len(one), max_size=len(one)))
    found = rank_test(one, other)
    if len(set(one)) == 1 or len(set(other)) == 1:
        assert math.isnan(found.rho)
        assert found.note == "all points have the same value on one side"
        return
    rho, p = by_hand(one, other)
    assert found.rho == pytest.approx(rho)
    assert found.p == pytest.approx(p)
    assert found.method == EXACT


def test_seven_points_in_order_have_the_smallest_p_that_seven_can_give() -> None:
    found = rank_test(range(7), range(7))
    assert (found.rho, found.n, found.orders) == (1.0, 7, math.factorial(7))
    assert found.p == found.least == 2 / math.factorial(7)


def test_more_points_are_drawn_and_agree_with_scipy() -> None:
    rng = np.random.default_rng(0)
    one = rng.normal(size=30)
    other = one + rng.normal(scale=2.0, size=30)
    found = rank_test(one, other)
    assert found.method == DRAWN
    assert found.rho == pytest.approx(stats.spearmanr(one, other).statistic)
    assert found.p == pytest.approx(stats.spearmanr(one, other).pvalue, abs=0.006)
    assert rank_test(one, other) == found


def test_exact_and_drawn_agree_where_both_can_be_done() -> None:
    one, other = [1, 2, 3, 4, 5, 6, 7, 8, 9], [2, 1, 4, 3, 9, 5, 6, 8, 7]
    exact = rank_test(one, other)
    assert len(one) == EXACT_MOST
    drawn = rank_test([*one, 10], [*other, 10])
    assert exact.method == EXACT
    assert drawn.method == DRAWN
    assert drawn.p > 0


def test_under_chance_small_p_are_as_rare_as_they_say() -> None:
    rng = np.random.default_rng(1)
    p = np.array([rank_test(rng.normal(size=5), rng.normal(size=5)).p for _ in range(200)])
    for level in (0.1, 0.2, 0.5):
        assert (p <= level).mean() <= level + 3 * math.sqrt(level * (1 - level) / 200)


@pytest.mark.parametrize("points", [[], [1.0], [1.0, 2.0], [1.0, 2.0, math.nan]])
def test_fewer_than_three_points_have_no_test(points: list[float]) -> None:
    found = rank_test(points, points)
    assert math.isnan(found.p)
    assert found.note == "fewer than three points have no rank correlation"
    assert found.n == len([each for each in points if not math.isnan(each)])


def test_bad_points_are_refused() -> None:
    with pytest.raises(InvalidInput, match="equal lengths"):
        rank_test([1.0], [1.0, 2.0])
    with pytest.raises(InvalidInput, match="infinite"):
        rank_test([math.inf, 1, 2], [1, 2, 3])


@given(few)
@settings(max_examples=25, deadline=None)
def test_reversing_one_side_turns_the_sign_and_keeps_p(values: list[int]) -> None:
    other = list(range(len(values)))
    forward, backward = rank_test(values, other), rank_test([-value for value in values], other)
    if not math.isnan(forward.rho):
        assert forward.rho == pytest.approx(-backward.rho)
        assert forward.p == pytest.approx(backward.p)


def within_by_hand(one: np.ndarray, other: np.ndarray, groups: np.ndarray) -> tuple[float, float]:
    """ρ of ranks within groups, and the share of the orders within groups that reach it, each written out."""
    a, b = np.empty(len(one)), np.empty(len(one))
    for name in np.unique(groups):
        own = groups == name
        a[own], b[own] = (stats.rankdata(each[own]) - stats.rankdata(each[own]).mean() for each in (one, other))
    every = [[]]
    for name in np.unique(groups):
        every = [[*done, *order] for done in every for order in permutations(np.flatnonzero(groups == name))]
    place = np.concatenate([np.flatnonzero(groups == name) for name in np.unique(groups)])
    scale = math.sqrt((a @ a) * (b @ b))
    found = np.array([a[place] @ b[order] / scale for order in every])
    return float(a @ b / scale), float(np.mean(np.abs(found) >= abs(a @ b / scale) - 1e-9))


@pytest.mark.parametrize("seed", range(6))
def test_points_change_places_within_their_group_alone(seed: int) -> None:
    rng, groups = np.random.default_rng(seed), np.array([0, 1, 0, 1, 0, 1, 0])
    one, other = rng.integers(0, 6, 7).astype(float), rng.normal(size=7)
    found = rank_test(one, other, groups=groups)
    rho, p = within_by_hand(one, other, groups)
    assert (found.rho, found.p) == (pytest.approx(rho), pytest.approx(p))
    assert found.orders == math.factorial(4) * math.factorial(3)
    assert found.least == 2 / (math.factorial(4) * math.factorial(3))


def test_groups_that_lie_apart_make_no_correlation() -> None:
    groups = np.repeat(["low", "high"], 15)
    rng = np.random.default_rng(3)
    one, other = rng.normal(size=30) + 10 * (groups == "high"), rng.normal(size=30) + 10 * (groups == "high")
    mixed, within = rank_test(one, other), rank_test(one, other, groups=groups)
    assert mixed.p < 0.001
    assert within.p > 0.05
    assert within.method == DRAWN


def test_a_group_of_one_says_nothing_and_one_group_is_the_usual_test() -> None:
    one, other = [3.0, 1.0, 2.0, 5.0, 4.0], [1.0, 2.0, 3.0, 5.0, 4.0]
    usual = rank_test(one, other)
    assert rank_test(one, other, groups=["a"] * 5) == usual
    assert rank_test([*one, 9.0], [*other, 0.0], groups=[*"aaaaa", "b"]) == usual
