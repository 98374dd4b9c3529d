"""Which way scores go, and on how many tests an evaluator is better than a coin, in words true of little."""

import numpy as np
import pandas as pd
import pytest

from core.analysis.effect_of_items import effect
from core.analysis.effects import with_holm
from core.analysis.overview import family_contrasts
from core.analysis.reading import read_table
from core.analysis.verdicts import (
    DRIFTS,
    FURTHER,
    SCATTERS,
    TOO_FEW,
    TOO_FEW_SOURCES,
    against_coin,
    against_null,
    passed,
    too_few,
)
from core.statistics.bootstrap import adjusted_level, median_bca
from core.statistics.changes import Changes, exceeds
from core.statistics.comparisons import OPEN, RIGHT, WRONG
from core.statistics.selectivity import item_selectivity
from core.statistics.shares import mean_changes, movers, share_of_fractions
from core.store.store import Store
from tests.analysis.made_runs import SHIPPED

RUNS = 400


def told(delta: np.ndarray, sources: np.ndarray | None = None) -> pd.Series:
    """The row of a family alone in its table; scores of 0.5, a row of delta an edit."""
    delta = np.atleast_2d(delta)
    before, nothing = np.full(delta.shape, 0.5), np.zeros(delta.shape[1], dtype=bool)
    changes = Changes.of(before + delta, before, np.ones(delta.shape, dtype=bool), nothing)
    found = effect(changes, ~nothing, spread=0.1, sources=sources)
    assert found is not None
    names = {name: getattr(found, name) for name in found.__slots__}
    return with_holm(pd.DataFrame([{"evaluator": "e", "corpus": "c", "tests": "t", **names}])).iloc[0]


def test_a_fall_of_three_items_in_ten_by_a_quarter_is_told_as_a_fall() -> None:
    for run in range(40):
        rng = np.random.default_rng((3, run))
        falls = np.where(np.arange(200) < 60, -0.125, 0.0) + np.where(rng.random(200) < 0.3, 0.001, 0.0)
        row = told(falls)
        assert row["drift"] == DRIFTS
        assert "the mean score falls by 7." in row["direction"]


@pytest.mark.whole
def test_noise_about_nothing_drifts_in_about_five_of_a_hundred_families() -> None:
    sources = np.repeat(np.arange(50), 2)
    drifts = 0
    for run in range(RUNS):
        rng = np.random.default_rng((4, run))
        drifts += told(0.02 * (rng.normal(size=50)[sources] + rng.normal(size=100)), sources)["drift"] == DRIFTS
    assert drifts / RUNS <= 0.07


def test_the_judges_vertical_flip_is_told_by_those_that_move() -> None:
    with Store.open(SHIPPED) as store:
        found = family_contrasts(read_table(store).view())
    row = found[(found["evaluator"] == "grounding-judge") & (found["family"] == "vertical-flip")].iloc[0]
    assert row["low"] < 0 <= row["high"]
    assert row["drift"] == DRIFTS
    assert row["direction"].startswith("24 % of the items do not change; of those that do 70 % [62, 77] fall; the mean")
    assert row["scatter"] == SCATTERS


@pytest.mark.parametrize("edits", [1, 2, 3, 4, 10])
@pytest.mark.parametrize("heavy", [False, True])
def test_noise_of_any_number_of_edits_is_seldom_further_than_null_edits(edits: int, *, heavy: bool) -> None:
    rng, alarms = np.random.default_rng((edits, heavy)), 0
    for _ in range(RUNS):
        drawn = rng.standard_t(2, (edits + 3, 250)) if heavy else rng.normal(size=(edits + 3, 250))
        own = item_selectivity(np.abs(drawn[3:]), np.abs(drawn[:3]))
        alarms += against_null(share_of_fractions(own)) == FURTHER
    assert alarms / RUNS <= 0.07


def test_the_share_of_edits_beyond_the_margin_does_not_know_how_many_edits_an_item_has() -> None:
    rng = np.random.default_rng(0)
    for edits in (1, 2, 4, 10):
        row = told(np.where(rng.random((edits, 2000)) < 0.25, -0.125, 0.0))
        assert row["beyond_low"] < 25 < row["beyond_high"]
        assert row["beyond"] == pytest.approx(25, abs=3)


def test_rounding_decides_nothing_at_the_margin() -> None:
    assert not exceeds(100 * np.abs(np.array([0.495, 0.693, 0.2475]) / [0.5, 0.7, 0.25] - 1), 1.0).any()


def test_shares_of_movers_and_the_mean_say_where_they_have_no_interval() -> None:
    still, falls = movers(np.zeros(20), np.ones(20))
    assert (still, falls.n, np.isnan(falls.estimate)) == (1.0, 0, True)
    few = movers(np.where(np.arange(20) < 4, -1.0, 0.0), np.ones(20))[1]
    assert (few.estimate, np.isnan(few.low), few.note) == (1.0, True, "no interval (n = 4, below 10)")
    assert mean_changes(np.full(20, -0.1), np.zeros(20), levels=(0.95,))[0].note == "nothing to divide by"


def test_the_interval_of_the_worst_of_nine_equal_families_holds_what_it_names() -> None:
    held = 0
    for run in range(200):
        sizes = np.abs(np.random.default_rng((7, run)).normal(size=(9, 100)))
        worst = int(np.median(sizes, axis=1).argmax())
        found = median_bca(sizes[worst], level=adjusted_level(9))
        held += found.low <= 0.6745 <= found.high
    assert held / 200 >= 0.93


FEW = "No test here has enough independent pictures to say whether a metric is better than guessing."


def rates(*rows: tuple[str, str, str, float]) -> pd.DataFrame:
    found = pd.DataFrame(rows, columns=["evaluator", "label", "verdict", "failure"])
    return found.assign(family=found["label"].str.split(":").str[0], caption="human, en")


def test_equal_counts_share_a_clause() -> None:
    one = [("a", "foil", RIGHT, 10.0), ("a", "negation", RIGHT, 20.0), ("a", "masking", WRONG, 80.0)]
    other = [(name.replace("a", "b"), *rest) for name, *rest in one]
    told = rates(*one, *other, ("c", "foil", OPEN, 100.0), ("c", "masking", OPEN, 45.0))
    assert (
        against_coin(told)
        == "Better than guessing: a and b on 2 of 3 tests, c on none of 2 tests. Missed most: Words masked, 45 to 80 %."
    )
    assert passed(told)["b"] == "beats guessing on 2 of 3 tests"
    assert passed(told)["c"] == "beats guessing on none of 2 tests"


def test_no_test_is_named_as_missed_most_where_none_leads() -> None:
    assert "Missed most" not in against_coin(rates(("a", "foil", RIGHT, 20.0), ("a", "negation", RIGHT, 20.0)))
    assert against_coin(rates(("a", "foil", RIGHT, 20.0), ("a", "negation", OPEN, 49.6))).endswith(" Negated, 50 %.")


def test_kinds_of_a_test_and_tests_of_too_few_do_not_count() -> None:
    few = [("a", "negation", TOO_FEW, 100.0), ("a", "masking", TOO_FEW_SOURCES, 100.0)]
    known = [("a", "foil", RIGHT, 0.0), ("a", "foil: near", OPEN, 60.0)]
    assert against_coin(rates(*known, *few)) == "Better than guessing: a on 1 of 1 test."
    assert against_coin(rates(*few)) == against_coin(rates()) == FEW
    assert passed(rates(*few)) == {}


def test_a_test_has_too_few_where_it_has_under_every_evaluator() -> None:
    told = rates(("a", "foil", TOO_FEW, 0.0), ("b", "foil", RIGHT, 0.0), ("a", "order", TOO_FEW, 0.0))
    assert list(too_few(told)["label"]) == ["order"]
    assert too_few(rates()).empty
