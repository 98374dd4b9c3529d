import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from core.errors import InvalidInput
from core.statistics.shares import wilson


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.sampled_from([0.9, 0.95]))
def test_the_interval_is_that_of_statsmodels(drawn: tuple[int, int], level: float) -> None:
    successes, n = drawn
    found = wilson(successes, n, level=level)
    low, high = proportion_confint(successes, n, alpha=1 - level, method="wilson")
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)
    assert (found.estimate, found.n, found.level) == (successes / n, n, level)


def test_all_of_few_still_has_an_interval_with_a_width() -> None:
    assert wilson(4, 4).low < 0.6
    assert wilson(4, 4).high == 1.0


def test_nothing_has_no_share_and_more_successes_than_trials_are_refused() -> None:
    found = wilson(0, 0)
    assert math.isnan(found.estimate)
    assert math.isnan(found.low)
    assert found.note == "no values"
    with pytest.raises(InvalidInput, match="among n, got 3 of 2"):
        wilson(3, 2)
