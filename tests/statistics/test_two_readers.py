"""Two readers against scikit-learn and statsmodels, and what clusters do to their intervals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, precision_score, recall_score
from statsmodels.stats.proportion import proportion_confint

from core.errors import InvalidInput
from core.statistics.agreement import two_readers, weighted_kappa

RNG = np.random.default_rng(4)
ONE = RNG.random(200) < 0.4
OTHER = np.where(RNG.random(200) < 0.8, ONE, ~ONE)


def test_the_numbers_are_those_of_scikit_learn_and_statsmodels() -> None:
    found = two_readers(ONE, OTHER, resamples=2_000)
    assert found.precision.estimate == pytest.approx(precision_score(OTHER, ONE))
    assert found.recall.estimate == pytest.approx(recall_score(OTHER, ONE))
    assert found.kappa.estimate == pytest.approx(cohen_kappa_score(ONE, OTHER))
    for each, n in ((found.precision, ONE.sum()), (found.recall, OTHER.sum())):
        wilson = proportion_confint(round(each.estimate * n), n, method="wilson")
        assert (each.low, each.high) == pytest.approx(wilson)
    assert (found.n, found.n_one, found.n_other, found.n_both) == (200, ONE.sum(), OTHER.sum(), (ONE & OTHER).sum())


def test_the_interval_of_kappa_is_that_of_the_weighted_one_where_nothing_is_clustered() -> None:
    found, other = two_readers(ONE, OTHER).kappa, weighted_kappa(ONE.astype(int), OTHER.astype(int), answers=2)
    assert (found.low, found.high) == pytest.approx((other.low, other.high), abs=0.01)


def test_things_of_one_source_are_no_further_evidence() -> None:
    alone = two_readers(ONE, OTHER, resamples=2_000)
    thrice = two_readers(np.repeat(ONE, 3), np.repeat(OTHER, 3), sources=np.repeat(np.arange(200), 3), resamples=2_000)
    assert thrice.kappa.estimate == pytest.approx(alone.kappa.estimate)
    assert (thrice.kappa.low, thrice.kappa.high) == pytest.approx((alone.kappa.low, alone.kappa.high), abs=0.01)
    assert thrice.precision.low == pytest.approx(alone.precision.low, abs=0.005)
    assert thrice.n == 600


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40))
def test_any_answers_give_numbers_in_their_range_or_none(answers: list[tuple[bool, bool]]) -> None:
    found = two_readers([a for a, _ in answers], [b for _, b in answers], resamples=50)
    for each, lowest in ((found.precision, 0.0), (found.recall, 0.0), (found.kappa, -1.0)):
        assert math.isnan(each.estimate) or lowest <= each.estimate <= 1.0
        assert math.isnan(each.estimate) or not each.low > each.high


def test_answers_of_other_lengths_are_refused_and_one_answer_has_no_kappa() -> None:
    with pytest.raises(InvalidInput, match="2 and 1 answers"):
        two_readers([True, False], [True])
    assert "one and the same answer" in two_readers([True] * 12, [True] * 12).kappa.note
    assert "below 30" in two_readers([True, False, True], [True, True, True]).kappa.note
