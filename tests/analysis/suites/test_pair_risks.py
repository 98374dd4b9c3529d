"""Flip risk of a suite's comparisons, against counting pairs of shifts of the shipped run."""

import math
from itertools import permutations

import numpy as np
import pytest

from core.analysis.reading import read_table
from core.analysis.scope import narrow
from core.analysis.table import ScoreTable
from core.corpora.suites import ACCURACY, Compared, Suite
from core.features.suites.pair_risks import pair_risks
from core.scoring.suite_scores import SuiteScores
from core.settings import ROOT
from core.store.store import Store

EVALUATOR = "conse-lite0"


@pytest.fixture(scope="module")
def table() -> ScoreTable:
    with Store.open([ROOT / "data" / "results" / "demo"]) as store:
        return read_table(store, narrow(store).only())


def suite(count: int, *, tied: int = 0) -> Suite:
    pairs = tuple(
        Compared(f"a{place}", f"t{place}", f"t{place}", other_image=f"b{place}", tied=place < tied)
        for place in range(count)
    )
    return Suite("mine", ACCURACY, (), pairs, by_text=True)


def test_the_risk_is_the_mean_over_comparisons_of_how_often_two_pictures_shifts_exceed_their_gap(
    table: ScoreTable,
) -> None:
    delta, _ = table.view().shifts(EVALUATOR, ("vflip",))
    shifts = delta[0][~np.isnan(delta[0])]
    gaps = np.quantile(np.abs(shifts), [0.1, 0.5, 0.9]).tolist()
    preferred = np.array([math.nan, 9.0, *gaps[:2], 0.0])
    other = np.array([0.0, 0.0, 0.0, 0.0, gaps[2]])  # a wrong order has a gap, too
    scores = SuiteScores(np.array([]), preferred, other, ())
    found = pair_risks(suite(5, tied=2), scores, table, EVALUATOR).set_index("family")
    row = found.loc["vertical-flip"]
    exceeding = [np.mean([two - one > gap for one, two in permutations(shifts, 2)]) for gap in gaps]
    assert row["risk"] == pytest.approx(100 * np.mean(exceeding))
    assert (row["n"], row["n_items"]) == (3, len(shifts))
    assert row["gap"] == pytest.approx(gaps[1])
    assert row["near"] == pytest.approx(100 * np.mean([gap < row["evident"] for gap in gaps]))
    assert row["risk_low"] <= row["risk"] <= row["risk_high"] <= 50
    assert "null" in found.index
    assert "cultural" not in found.index  # an edit of the text is of both sides at once
    assert found.loc["null", "risk"] < row["risk"]


def test_an_evaluator_that_the_run_does_not_know_and_comparisons_without_scores_have_none(table: ScoreTable) -> None:
    known, none = np.ones(2), np.full(2, math.nan)
    assert pair_risks(suite(2), SuiteScores(np.array([]), known, none, ()), table, EVALUATOR).empty
    assert pair_risks(suite(2), SuiteScores(np.array([]), known, known, ()), table, "nobody").empty
