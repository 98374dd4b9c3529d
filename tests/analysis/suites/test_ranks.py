"""Captioners ranked by battles, people beside an evaluator; the statistics are held in tests/statistics."""

import math

import numpy as np
import pytest

from core.corpora.suites import ACCURACY, Compared, Suite
from core.features.suites.suite_measures import NO_STRENGTH, ranked
from core.scoring.suite_scores import SuiteScores

NAMES = ("A", "B", "C", "D")


def drawn(count: int, seed: int) -> tuple[list[tuple[str, str]], np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = np.array([1.5, 0.5, 0.0, -1.0])
    pairs, won = [], []
    for _ in range(count):
        one, other = rng.choice(4, size=2, replace=False)
        pairs.append((NAMES[one], NAMES[other]))
        won.append(rng.choice([0.5, float(rng.random() < 1 / (1 + math.exp(truth[other] - truth[one])))], p=[0.1, 0.9]))
    return pairs, np.array(won)


def suite_of(pairs: list[tuple[str, str]], won: np.ndarray) -> Suite:
    sides = [pair if first >= 0.5 else pair[::-1] for pair, first in zip(pairs, won, strict=True)]
    battles = [
        Compared(f"{place % 50}", f"{place} one", f"{place} two", systems=side, tied=first == 0.5)
        for place, (side, first) in enumerate(zip(sides, won, strict=True))
    ]
    return Suite("CapArena", ACCURACY, (), tuple(battles))


def test_an_evaluator_that_judges_as_people_do_has_their_order_and_the_opposite_one_its_reverse() -> None:
    pairs, won = drawn(300, 1)
    suite = suite_of(pairs, won)
    agrees = np.array([0.5 if each.tied else 1.0 for each in suite.compared])
    same = ranked(suite, SuiteScores(np.array([]), agrees, 1 - agrees, ()))
    turned = ranked(suite, SuiteScores(np.array([]), 1 - agrees, agrees, ()))
    assert same is not None
    assert turned is not None
    orders = (same.spearman, same.kendall, turned.spearman, turned.kendall)
    assert [each.estimate for each in orders] == [1.0, 1.0, -1.0, -1.0]
    # one judge twice agrees with itself in every sample of images: no interval, and why
    assert all(math.isnan(each.low) and math.isnan(each.high) for each in orders)
    assert same.note == "no interval: every sample of images agrees as much"
    assert (same.battles, same.spearman.n) == (300, 50)
    assert same.table["people_strength"].to_numpy() == pytest.approx(same.table["metric_strength"].to_numpy())
    assert same.table["people"].to_numpy() == pytest.approx(100 - turned.table["metric"].to_numpy())
    assert same.table["n"].sum() == 600
    assert same.table["people_rank"].tolist() == [1, 2, 3, 4]
    assert (same.table["people_low"] < same.table["people"]).all()


def test_without_finite_strengths_win_rates_rank_and_it_is_said() -> None:
    pairs = [("A", "B"), ("A", "C"), ("B", "C")] * 5
    suite = suite_of(pairs, np.ones(15))
    found = ranked(suite, SuiteScores(np.array([]), np.ones(15), np.zeros(15), ()))
    assert found is not None
    assert found.note == f"{NO_STRENGTH}; no interval (n = 15, below 20)"
    assert found.table["system"].tolist() == ["A", "B", "C"]
    assert found.table["people_strength"].isna().all()
    assert found.table["people"].tolist() == [100.0, 50.0, 0.0]


def test_a_battle_without_a_score_and_a_suite_without_captioners_are_left_out() -> None:
    pairs, won = drawn(40, 2)
    suite = suite_of(pairs, won)
    scores = np.ones(40)
    scores[0] = math.nan
    found = ranked(suite, SuiteScores(np.array([]), scores, np.zeros(40), ()))
    assert found is not None
    assert found.table["n"].sum() == 78
    plain = Suite("FOIL", ACCURACY, (), (Compared("a", "x", "y"),))
    assert ranked(plain, SuiteScores(np.array([]), np.ones(1), np.zeros(1), ())) is None


def test_ranks_and_agreement_of_another_judge_have_intervals_over_images() -> None:
    pairs, won = drawn(100, 3)
    suite = suite_of(pairs, won)
    noise = np.random.default_rng(4).normal(size=100)
    agrees = np.array([0.5 if each.tied else 1.0 for each in suite.compared]) + 0.8 * noise
    found = ranked(suite, SuiteScores(np.array([]), agrees, np.full(100, 0.5), ()))
    assert found is not None
    for side in ("people", "metric"):
        rank, low, high = (found.table[f"{side}_rank{end}"] for end in ("", "_low", "_high"))
        assert (low <= rank).all()
        assert (rank <= high).all()
        assert ((high - low) > 0).any()
    assert found.spearman.low < found.spearman.estimate <= found.spearman.high <= 1
    assert found.kendall.low < found.kendall.estimate <= found.kendall.high <= 1


def test_two_captioners_have_no_agreement_of_orders_and_it_is_said() -> None:
    suite = suite_of([("A", "B")] * 40, np.tile([1.0, 1.0, 0.0, 0.5], 10))
    found = ranked(suite, SuiteScores(np.array([]), np.ones(40), np.tile([0.0, 2.0], 20), ()))
    assert found is not None
    assert math.isnan(found.spearman.estimate)
    assert "2 captioners, below 3" in found.note
