"""Right against wrong: by hand, against scipy and statsmodels, and what must hold anyway."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from core.errors import InvalidInput
from core.statistics.bootstrap import TOO_FEW, TOO_FEW_SOURCES
from core.statistics.comparisons import (
    NO_SIGN,
    OPEN,
    RIGHT,
    TIED,
    WRONG,
    compare,
    orders,
    pairwise_orders,
    rates_of_signs,
)

SCORES = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=40)


def test_a_table_worked_out_by_hand() -> None:
    # right above twice (by 0.2 and 0.4), one tie, wrong above once (by 0.2); the scores run from 0.2 to 1.0
    right, wrong = [0.8, 1.0, 0.5, 0.2], [0.6, 0.6, 0.5, 0.4]
    found = compare(right, wrong)
    assert found.n == found.n_items == 4
    assert found.failure.estimate == pytest.approx(2 / 4)
    assert found.ties.estimate == pytest.approx(1 / 4)
    assert found.beaten.estimate == pytest.approx(1 / 4)
    assert found.detection.estimate == pytest.approx(2 / 4)
    assert found.tau == pytest.approx(0.01 * 0.8)
    assert found.near.estimate == pytest.approx(1 / 4)
    assert (found.mean_right, found.mean_wrong) == (pytest.approx(0.625), pytest.approx(0.525))
    assert found.scaled_right == pytest.approx((0.625 - 0.2) / 0.8)
    assert found.scaled_wrong == pytest.approx((0.525 - 0.2) / 0.8)
    assert found.scaled_sd_right == pytest.approx(found.sd_right / 0.8)
    assert found.scaled_sd_wrong == pytest.approx(found.sd_wrong / 0.8)
    assert found.drop.estimate == pytest.approx(100 * (0.525 - 0.625) / 0.625)
    # per item: -25 %, -40 %, 0 %, +100 %
    assert found.median_drop.estimate == pytest.approx(-12.5)
    assert (found.correct.mean, found.correct.n) == (pytest.approx(0.3 / 0.8), 2)
    assert (found.incorrect.mean, found.incorrect.n) == (pytest.approx(0.1 / 0.8), 2)
    # of the 16 pairs of a right and a wrong score 9 are above, 1 equal
    assert found.auroc == pytest.approx((9 + 0.5) / 16)
    assert found.verdict == TOO_FEW


@pytest.mark.parametrize(("right", "wrong", "failed"), [(0.6, 0.4, 0.0), (0.4, 0.6, 1.0), (0.5, 0.5, 1.0)])
def test_exactly_one_comparison_has_its_numbers_and_claims_nothing(right: float, wrong: float, failed: float) -> None:
    found = compare([right], [wrong])
    assert (found.n, found.n_items, found.verdict) == (1, 1, TOO_FEW)
    assert found.failure.estimate == failed
    assert (found.mean_right, found.mean_wrong) == (right, wrong)
    assert found.drop.estimate == pytest.approx(100 * (wrong - right) / right)
    assert found.auroc == (right > wrong) + 0.5 * (right == wrong)
    low, high = proportion_confint(int(failed), 1, method="wilson")
    assert (found.failure.low, found.failure.high) == (pytest.approx(low), pytest.approx(high))
    for absent in (found.drop.low, found.sd_right, found.test.p, found.t_p):
        assert math.isnan(absent)


def test_intervals_and_tests_are_those_of_the_references() -> None:
    rng = np.random.default_rng(1)
    right = rng.normal(0.7, 0.1, size=70)
    wrong = right - rng.normal(0.03, 0.1, size=70)
    found = compare(right, wrong)
    failures = int((wrong >= right).sum())
    low, high = proportion_confint(failures, 70, method="wilson")
    assert (found.failure.low, found.failure.high) == (pytest.approx(low), pytest.approx(high))
    t = stats.ttest_ind(wrong, right)
    assert (found.t, found.t_p) == (pytest.approx(t.statistic), pytest.approx(t.pvalue))
    paired = stats.ttest_rel(wrong, right)
    assert (found.test.name, found.test.p) == ("paired t", pytest.approx(paired.pvalue))
    u = stats.mannwhitneyu(right, wrong).statistic
    assert found.auroc == pytest.approx(u / 70**2)


def test_what_cannot_be_told_says_what_would_have_been() -> None:
    wrong = np.where(np.arange(100) < 45, 0.6, 0.4)
    found = compare(np.full(100, 0.5), wrong)
    assert found.verdict == OPEN
    error = (found.failure.high - found.failure.low) / (2 * stats.norm.ppf(0.975))
    distance = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * error
    assert found.detectable == pytest.approx(distance)
    tied = compare(np.full(100, 0.5), np.full(100, 0.5))  # no number of ties tells which side is preferred
    assert tied.verdict == OPEN
    assert tied.detectable > 0
    for told in (compare(np.ones(50), np.zeros(50)), compare(np.zeros(50), np.ones(50)), compare([1.0], [0.0])):
        assert told.verdict != OPEN
        assert math.isnan(told.detectable)


def test_two_comparisons_of_one_item_count_as_comparisons_and_are_drawn_together() -> None:
    rng = np.random.default_rng(2)
    fails = rng.uniform(size=50) < 0.3
    wrong = np.repeat(np.where(fails, 1.0, 0.0), 4)
    right, items = np.full(200, 0.5), np.repeat(np.arange(50), 4)
    found = compare(right, wrong, items=items)
    assert (found.n, found.n_items) == (200, 50)
    low, high = proportion_confint(int(fails.sum()), 50, method="wilson")
    # four comparisons that fail together are worth one
    assert found.failure.high - found.failure.low >= high - low
    assert found.failure.estimate == pytest.approx(fails.mean())
    assert found.test.n == 50


def test_sources_are_drawn_together_although_their_items_differ() -> None:
    rng = np.random.default_rng(5)
    wrong = np.repeat(rng.uniform(size=20), 5)
    right, sources = np.full(100, 0.5), np.repeat(np.arange(20), 5)
    apart, together = compare(right, wrong), compare(right, wrong, sources=sources)
    assert together.failure.estimate == apart.failure.estimate
    assert together.failure.high - together.failure.low > 1.5 * (apart.failure.high - apart.failure.low)
    assert together.median_drop.estimate == apart.median_drop.estimate


@given(st.floats(-5, 5), st.integers(10, 60))
def test_an_evaluator_of_one_number_ties_always_and_prefers_neither(value: float, n: int) -> None:
    found = compare(np.full(n, value), np.full(n, value))
    assert (found.failure.estimate, found.ties.estimate, found.near.estimate) == (1.0, 1.0, 1.0)
    assert found.auroc == 0.5
    assert found.verdict == OPEN
    assert (found.correct.n, found.incorrect.n, found.incorrect.mean) == (0, n, 0.0)


@given(SCORES)
def test_failures_and_detections_are_all_and_ties_are_failures(scores: list[tuple[int, int]]) -> None:
    right, wrong = np.array(scores, dtype=float).T
    found = compare(right, wrong)
    assert found.failure.estimate + found.detection.estimate == pytest.approx(1)
    assert found.failure.estimate == pytest.approx(found.ties.estimate + found.beaten.estimate)
    assert found.near.estimate >= found.ties.estimate
    assert found.correct.n + found.incorrect.n == found.n
    assert math.isnan(found.scaled_right) or 0 <= found.scaled_right <= 1


@given(SCORES, st.floats(0.1, 10), st.integers(-5, 5))
def test_another_scale_changes_no_share(scores: list[tuple[int, int]], factor: float, shift: int) -> None:
    right, wrong = np.array(scores, dtype=float).T
    one, other = compare(right, wrong), compare(factor * right + shift, factor * wrong + shift)
    for name in ("failure", "ties", "detection"):
        assert getattr(one, name).estimate == pytest.approx(getattr(other, name).estimate)
    assert one.auroc == pytest.approx(other.auroc)
    assert one.correct.mean == pytest.approx(other.correct.mean, abs=1e-9, nan_ok=True)


def test_verdicts_go_by_the_interval_and_not_by_the_number() -> None:
    right = np.full(40, 0.5)

    def of(failures: int) -> str:
        return compare(right, np.where(np.arange(40) < failures, 0.9, 0.1)).verdict

    assert (of(4), of(18), of(36)) == (RIGHT, OPEN, WRONG)
    assert compare(right[:9], np.zeros(9)).verdict == TOO_FEW


def test_a_pair_without_a_score_is_left_out_and_the_span_of_the_experiment_scales() -> None:
    found = compare([0.5, math.nan, 0.7], [0.4, 0.1, math.nan], span=(0.0, 2.0))
    assert (found.n, found.mean_right) == (1, 0.5)
    assert (found.scaled_right, found.tau) == (0.25, pytest.approx(0.02))


@pytest.mark.parametrize(("right", "said"), [(np.linspace(-1, -0.1, 20), "negative"), (np.zeros(20), "not above 0")])
def test_a_drop_of_means_is_withheld_where_there_is_nothing_to_divide_by(right: np.ndarray, said: str) -> None:
    found = compare(right, right - np.linspace(1, 2, 20))
    assert math.isnan(found.drop.estimate)
    assert said in found.drop.note
    assert found.median_drop.n == 0


def test_nothing_gives_nothing() -> None:
    found = compare([], [])
    assert (found.n, found.n_items, found.verdict) == (0, 0, TOO_FEW)
    assert math.isnan(found.failure.estimate)


@pytest.mark.parametrize(
    ("right", "wrong", "span", "words"),
    [([1.0], [1.0, 2.0], None, "two scores"), ([math.inf], [1.0], None, "finite"), ([1.0], [1.0], (1, 0), "span")],
)
def test_what_cannot_be_compared_is_refused(
    right: list[float], wrong: list[float], span: tuple[float, float] | None, words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        compare(right, wrong, span=span)


def test_orders_by_hand() -> None:
    found = orders({"a": [3, 3, 1, 2, math.nan], "b": [2, 1, 2, 2, 1], "c": [1, 2, 3, 0, 0]})
    counts = found.set_index("order")["n"].to_dict()
    assert {name: n for name, n in counts.items() if n} == {"a > b > c": 1, "a > c > b": 1, "c > b > a": 1, TIED: 1}
    assert (len(found), set(found["n_items"])) == (7, {4})
    pairs = pairwise_orders({"a": [3, 3, 1, 2], "b": [2, 1, 2, 2]}).set_index(["above", "below"])
    assert (pairs.loc[("a", "b"), "share"], pairs.loc[("b", "a"), "share"]) == (0.5, 0.25)
    assert set(pairs["ties"]) == {0.25}


@given(st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=30))
def test_every_item_stands_in_one_order_or_is_tied(scores: list[tuple[int, int, int]]) -> None:
    found = orders(dict(zip("abc", np.array(scores, dtype=float).T, strict=True)))
    assert found["n"].sum() == len(scores)
    assert found["share"].sum() == pytest.approx(1)
    assert found["n"].iloc[:-1].is_monotonic_decreasing


def test_more_than_four_groups_have_no_list_of_orders() -> None:
    with pytest.raises(InvalidInput, match="2 to 4 groups, got 5"):
        orders({name: [1.0] for name in "abcde"})
    with pytest.raises(InvalidInput, match="every group"):
        orders({"a": [1.0], "b": [1.0, 2.0]})


@pytest.mark.parametrize(("items", "sources", "said"), [(30, 6, TOO_FEW_SOURCES), (8, 4, TOO_FEW), (30, 10, RIGHT)])
def test_the_verdict_names_what_is_too_few(items: int, sources: int, said: str) -> None:
    assert compare(np.ones(items), np.zeros(items), sources=np.arange(items) % sources).verdict == said


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("count", [1, 3])
def test_shares_told_of_signs_are_those_of_the_scores(count: int, shared: bool) -> None:
    rng = np.random.default_rng(count)
    right, wrong = (rng.integers(0, 4, size=(count, 60)).astype(float) for _ in range(2))
    wrong[rng.uniform(size=wrong.shape) < 0.3] = math.nan
    right[:, 7] = math.nan
    moved = np.sign(wrong - right)
    signs = np.where(np.isnan(moved), NO_SIGN, moved).astype(np.int8)
    sources = rng.integers(0, 25, size=60) if shared else None
    items = np.broadcast_to(np.arange(60), right.shape)
    found = rates_of_signs(signs, sources=sources)
    whole = compare(
        right.ravel(),
        wrong.ravel(),
        items=items.ravel(),
        sources=None if sources is None else sources[items].ravel(),
        drops=False,
    )
    assert {name: getattr(whole, name) for name in ("failure", "ties", "beaten", "n", "n_items", "verdict")} == {
        name: getattr(found, name) for name in ("failure", "ties", "beaten", "n", "n_items", "verdict")
    }
    assert rates_of_signs(np.full((count, 4), NO_SIGN, dtype=np.int8)).n == 0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 9)), min_size=1, max_size=60))
def test_numbers_and_names_of_the_same_items_give_the_same(rows: list[tuple[int, int, int]]) -> None:
    right, wrong, items = (np.array(each) for each in zip(*rows, strict=True))
    sources = items // 2
    numbered = compare(right, wrong, items=items, sources=sources, drops=False)
    named = compare(right, wrong, items=items.astype("U1"), sources=sources.astype("U1"), drops=False)
    assert repr(numbered) == repr(named)
