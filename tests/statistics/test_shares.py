"""Wilson's intervals against scipy's and statsmodels', and against resampled clusters."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from core.errors import InvalidInput
from core.statistics.shares import mean_of_shares, share, share_of_flags, share_of_sums, wilson


@given(st.integers(1, 300), st.data(), st.sampled_from([0.9, 0.95]))
def test_the_interval_of_independent_answers_is_scipys(n: int, data: st.DataObject, level: float) -> None:
    yes = data.draw(st.integers(0, n))
    found = share([True] * yes + [False] * (n - yes), level=level)
    expected = stats.binomtest(yes, n).proportion_ci(level, method="wilson")
    assert (found.estimate, found.n) == (yes / n, n)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(st.lists(st.sampled_from([0.0, 0.3, 0.5, 1.0, math.nan]), max_size=40))
def test_values_without_sources_are_each_of_a_source_of_its_own(values: list[float]) -> None:
    assert repr(share(values)) == repr(share(values, groups=np.arange(len(values))))


@given(st.floats(0.01, 0.99), st.floats(1, 500))
def test_fractions_of_an_answer_are_those_of_statsmodels(p: float, n: float) -> None:
    assert wilson(p, n) == pytest.approx(proportion_confint(p * n, n, method="wilson"), abs=1e-9)


def test_answers_that_share_a_source_count_for_less() -> None:
    rng = np.random.default_rng(0)
    inclined = rng.beta(1, 1, size=80)
    answers = rng.uniform(size=(80, 3)) < inclined[:, None]
    found = share(answers, groups=np.repeat(np.arange(80), 3))
    drawn = answers[rng.integers(80, size=(4000, 80))].mean(axis=(1, 2))
    assert (found.high - found.low) / 3.98 == pytest.approx(float(drawn.std()), rel=0.1)
    assert (found.estimate, found.n) == (answers.mean(), 240)
    alone = share(answers)
    assert found.high - found.low > 1.2 * (alone.high - alone.low)


def test_sources_that_answer_alike_throughout_are_what_was_seen() -> None:
    found = share([1.0] * 40, groups=np.repeat(np.arange(10), 4))
    assert (found.estimate, found.high) == (1.0, 1.0)
    assert found.low < stats.binomtest(40, 40).proportion_ci(method="wilson").low
    assert found.low == pytest.approx(10 / (10 + stats.t.ppf(0.975, 9) ** 2))


def test_one_source_and_no_value_have_no_interval_and_say_why() -> None:
    one, none = share([True, False, True], groups=["x"] * 3), share([math.nan])
    assert (one.estimate, one.n, one.note) == (pytest.approx(2 / 3), 3, "one source has no interval")
    assert math.isnan(one.low)
    assert (none.n, none.note) == (0, "no values")
    assert math.isnan(none.estimate)


def test_ties_count_one_half_and_missing_answers_not_at_all() -> None:
    found = share([1.0, 0.5, 0.0, math.nan], groups=["a", "b", "c", "c"])
    assert (found.estimate, found.n) == (0.5, 3)
    assert found == share_of_sums([1.0, 0.5, 0.0], [1, 1, 1])


def test_what_is_no_share_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"in \[0, 1\], got 0 to 2"):
        share([0.0, 2.0])
    with pytest.raises(InvalidInput, match="2 values and 1 sources"):
        share([0.0, 1.0], groups=["a"])


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_the_mean_of_two_shares_joins_their_intervals_as_newcombes_difference_does(
    n: int, m: int, data: st.DataObject
) -> None:
    """Twice the mean of p and q is the difference of p and 1 - q plus one, whose interval is Newcombe's."""
    yes, other = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    found = mean_of_shares([share([True] * k + [False] * (of - k)) for k, of in ((yes, n), (other, m))])
    low, high = confint_proportions_2indep(yes, n, m - other, m, compare="diff", method="newcomb")
    assert found.estimate == pytest.approx((yes / n + other / m) / 2)
    assert (found.low, found.high) == pytest.approx(((low + 1) / 2, (high + 1) / 2), abs=1e-9)
    assert found.n == n + m


def test_the_interval_of_a_mean_of_shares_holds_the_truth_about_as_often_as_it_says() -> None:
    """Every outcome of 24 and 12 answers; like Wilson's own it holds a little less often beside 0 and 1."""
    rates = np.linspace(0.02, 0.98, 25)
    held = np.zeros((len(rates), len(rates)))
    middle = (rates[:, None] + rates) / 2
    for yes in range(25):
        for other in range(13):
            found = mean_of_shares([share([True] * k + [False] * (n - k)) for k, n in ((yes, 24), (other, 12))])
            often = np.outer(stats.binom.pmf(yes, 24, rates), stats.binom.pmf(other, 12, rates))
            held += often * ((found.low <= middle) & (middle <= found.high))
    assert 0.94 < held.mean() < 0.97
    assert held.min() > 0.88


def test_a_mean_of_shares_that_are_all_nothing_is_no_certainty() -> None:
    found = mean_of_shares([share([False] * 20), share([False] * 10)])
    assert (found.estimate, found.low) == (0.0, 0.0)
    assert found.high > 0.1


def test_a_mean_of_shares_needs_two_groups_and_their_intervals() -> None:
    one = mean_of_shares([share([True, False])])
    assert math.isnan(one.estimate)
    assert one.note == "a mean of groups takes two"
    bare = mean_of_shares([share([True, False]), share([True, True], groups=["x", "x"])])
    assert (bare.estimate, bare.note) == (0.75, "no interval of the mean: one source has no interval")
    assert math.isnan(bare.low)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=60))
def test_a_share_of_flags_is_the_share_to_the_bit(rows: list[tuple[bool, int]]) -> None:
    flags, groups = np.array([flag for flag, _ in rows], dtype=bool), np.array([each for _, each in rows], dtype=int)
    assert repr(share_of_flags(flags)) == repr(share(flags))
    ranks = np.unique(groups, return_inverse=True)[1]
    assert repr(share_of_flags(flags, ranks=ranks)) == repr(share(flags, groups=groups))
