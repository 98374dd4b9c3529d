import math

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

from core.errors import InvalidInput
from core.statistics.agreement import NOTHING, ONE_ANSWER, agreement, in_words, pairwise_kappas, weighted_kappa

TEXTBOOK = np.array(
    [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
)


def equal_tables() -> st.SearchStrategy[np.ndarray]:
    def build(seed: int, items: int, raters: int, answers: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        shares = rng.dirichlet(np.full(answers, 0.7), size=items)
        return np.array([rng.multinomial(raters, share) for share in shares])

    return st.builds(build, st.integers(0, 10**6), st.integers(2, 25), st.integers(2, 6), st.integers(2, 5))


def from_raters(seed: int, items: int, raters: int, answers: int) -> np.ndarray:
    """Values [raters, items] with gaps, as ``krippendorff`` reads them."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(answers, size=items)
    values = np.where(rng.random((raters, items)) < 0.7, truth, rng.integers(answers, size=(raters, items))).astype(
        float
    )
    values[rng.random((raters, items)) < 0.3] = np.nan
    return values


def counted(values: np.ndarray, answers: int) -> np.ndarray:
    return np.stack([(values == answer).sum(axis=0) for answer in range(answers)], axis=1)


def test_the_textbook_case_of_fleiss() -> None:
    assert agreement(TEXTBOOK, resamples=100).fleiss.estimate == pytest.approx(0.2099, abs=1e-4)


@settings(max_examples=60, deadline=None)
@given(table=equal_tables())
def test_fleiss_and_randolph_are_those_of_statsmodels_where_all_have_as_many_votes(table: np.ndarray) -> None:
    found = agreement(table, resamples=50)
    for method, ours in (("fleiss", found.fleiss), ("randolph", found.randolph)):
        with np.errstate(invalid="ignore", divide="ignore"):
            theirs = float(fleiss_kappa(table, method=method))
        if math.isnan(ours.estimate):
            assert (table.sum(axis=0) > 0).sum() == 1
        else:
            assert ours.estimate == pytest.approx(theirs, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), items=st.integers(2, 30), raters=st.integers(2, 6), answers=st.integers(2, 5))
@pytest.mark.parametrize("metric", ["nominal", "ordinal"])
def test_alpha_is_that_of_the_krippendorff_package_with_unequal_votes(
    metric: str, seed: int, items: int, raters: int, answers: int
) -> None:
    values = from_raters(seed, items, raters, answers)
    ours = agreement(counted(values, answers), ordinal=metric == "ordinal", resamples=50).alpha
    usable = values[:, (~np.isnan(values)).sum(axis=0) >= 2]
    if len(np.unique(usable[~np.isnan(usable)])) < 2:
        assert math.isnan(ours.estimate)
        return
    theirs = krippendorff.alpha(usable, level_of_measurement=metric, value_domain=list(range(answers)))
    assert ours.estimate == pytest.approx(theirs, abs=1e-9)


def test_ac1_and_the_others_by_hand_with_unequal_votes() -> None:
    # item 1: 3 of 3 say a; item 2: 1 a, 1 b; item 3: 2 of 2 say b. Pairs agree: 1, 0, 1 -> 2/3.
    found = agreement([[3, 0], [1, 1], [0, 2]], resamples=100)
    assert found.percent.estimate == pytest.approx(2 / 3)
    assert found.fleiss.estimate == pytest.approx((2 / 3 - 0.5) / 0.5)  # shares (1 + .5 + 0)/3 = .5 each
    assert found.randolph.estimate == pytest.approx(1 / 3)
    assert found.gwet.estimate == pytest.approx((2 / 3 - 0.5) / 0.5)
    # α: coincidences aa 3, bb 2, ab = ba = 1; n = 7; marginals a 4, b 3; 1 - 2 · 6 / (2 · 4 · 3)
    assert found.alpha.estimate == pytest.approx(1 - 2 * 6 / (2 * 4 * 3))
    assert (found.n_items, found.n_votes) == (3, 7)


def test_gwets_ac1_of_a_skewed_case_by_hand() -> None:
    table = [[3, 0, 0]] * 93 + [[2, 1, 0]] * 7
    found = agreement(table, resamples=200)
    percent = (93 + 7 / 3) / 100
    share = (93 + 7 * 2 / 3) / 100
    chance = (share * (1 - share) + (1 - share) * share) / 2
    assert found.percent.estimate == pytest.approx(percent)
    assert found.gwet.estimate == pytest.approx((percent - chance) / (1 - chance))
    assert found.fleiss.estimate < 0.1 < 0.9 < found.randolph.estimate


def test_one_answer_throughout_is_told_in_words_where_chance_leaves_nothing() -> None:
    found = agreement([[3, 0, 0]] * 5)
    assert found.percent.estimate == 1.0
    assert (found.randolph.estimate, found.gwet.estimate) == (1.0, 1.0)
    for measure in (found.fleiss, found.alpha):
        assert math.isnan(measure.estimate)
        assert measure.note == ONE_ANSWER


@pytest.mark.parametrize("table", [np.zeros((0, 3)), [[1, 0, 0], [0, 1, 0]], [[0, 0, 0]]])
def test_without_two_votes_on_an_item_there_is_nothing_to_agree_on(table: object) -> None:
    found = agreement(table)  # type: ignore[arg-type]
    assert {measure.note for measure in (found.percent, found.fleiss, found.gwet, found.alpha)} == {NOTHING}
    assert found.n_items == 0


def test_items_with_one_vote_change_nothing() -> None:
    table = [[2, 1], [3, 0], [0, 3]]
    more = agreement([*table, [1, 0], [0, 1]])
    assert more.n_items == 3
    assert more.fleiss == agreement(table).fleiss


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    big = np.array([rng.multinomial(3, share) for share in rng.dirichlet([2, 0.5, 0.5], size=20_000)])
    truth = agreement(big, resamples=2).gwet.estimate
    inside = 0
    for trial in range(120):
        found = agreement(big[rng.integers(len(big), size=80)], resamples=400, seed=trial).gwet
        inside += found.low <= truth <= found.high
    assert 0.88 <= inside / 120 <= 1.0


def test_versions_of_an_item_are_resampled_together() -> None:
    rng = np.random.default_rng(2)
    votes = np.array([rng.multinomial(3, share) for share in rng.dirichlet([1, 1], size=60)])
    flat = agreement(np.concatenate([votes, votes]))
    paired = agreement(np.stack([votes, votes], axis=1))
    assert paired.fleiss.estimate == pytest.approx(flat.fleiss.estimate)
    width = {name: found.fleiss.high - found.fleiss.low for name, found in (("flat", flat), ("paired", paired))}
    assert width["paired"] > 1.2 * width["flat"]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 60), answers=st.integers(2, 5))
def test_the_weighted_kappa_is_that_of_statsmodels(seed: int, n: int, answers: int) -> None:
    rng = np.random.default_rng(seed)
    one = rng.integers(answers, size=n)
    other = np.where(rng.random(n) < 0.6, one, rng.integers(answers, size=n))
    ours = weighted_kappa(one, other, answers=answers, resamples=50)
    table = np.zeros((answers, answers))
    np.add.at(table, (one, other), 1)
    if math.isnan(ours.estimate):
        assert len(set(one) | set(other)) == 1
        return
    assert ours.estimate == pytest.approx(cohens_kappa(table, wt="quadratic", return_results=False), abs=1e-9)


def test_a_weighted_kappa_that_is_not_defined_says_why() -> None:
    assert "one and the same" in weighted_kappa([1, 1], [1, 1], answers=3).note
    assert "both answered" in weighted_kappa([], [], answers=3).note
    with pytest.raises(InvalidInput, match="lie in"):
        weighted_kappa([3], [0], answers=3)
    with pytest.raises(InvalidInput, match="same items"):
        weighted_kappa([0], [0, 1], answers=3)


def test_every_pair_of_annotators_is_compared_on_what_both_answered() -> None:
    rows = [("ann", u, 1 + u % 4) for u in range(8)] + [("bob", u, 1 + u % 4) for u in range(4)]
    rows += [("cem", u, 4 - u % 4) for u in range(8)] + [("dan", 7, 1)]
    table = pairwise_kappas(pd.DataFrame(rows, columns=["annotator", "unit", "answer"]), levels=[1, 2, 3, 4])
    found = {(row.one, row.other): (row.kappa, row.n) for row in table.itertuples()}
    assert found["ann", "bob"] == (1.0, 4)
    assert found["ann", "cem"] == (-1.0, 8)
    assert not any("dan" in pair for pair in found)


@pytest.mark.parametrize("counts", [[1, 2], [[1], [2]], [[-1, 2]], [[0.5, 2]]])
def test_what_is_no_table_of_counts_is_refused(counts: object) -> None:
    with pytest.raises(InvalidInput):
        agreement(counts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kappa", "word"),
    [
        (-0.01, "poor"),
        (0.0, "slight"),
        (0.204, "slight"),
        (0.21, "fair"),
        (0.6, "moderate"),
        (0.61, "substantial"),
        (0.8, "substantial"),
        (0.81, "almost perfect"),
        (1.0, "almost perfect"),
        (math.nan, ""),
    ],
)
def test_the_words_of_landis_and_koch_are_those_of_their_table(kappa: float, word: str) -> None:
    assert in_words(kappa) == word
