"""Captioners ranked by battles, against the definition of Bradley and Terry's likelihood."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from core.analysis.suites.ranks import NO_STRENGTH, ranked, strengths
from core.corpora.suites import ACCURACY, Compared, Suite
from core.scoring.suites import SuiteScores

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


def test_strengths_maximise_the_likelihood_and_have_mean_zero() -> None:
    pairs, won = drawn(300, 0)
    places = np.array([[NAMES.index(one), NAMES.index(other)] for one, other in pairs])

    def cost(theta: np.ndarray) -> float:
        gap = theta[places[:, 0]] - theta[places[:, 1]]
        return float((won * np.logaddexp(0, -gap) + (1 - won) * np.logaddexp(0, gap)).sum() + theta.mean() ** 2)

    found = strengths(pairs, won, NAMES)
    assert found.sum() == pytest.approx(0, abs=1e-9)
    assert found == pytest.approx(minimize(cost, np.zeros(4), tol=1e-10).x, abs=1e-3)


def test_who_never_lost_has_no_finite_strength() -> None:
    pairs = [("A", "B"), ("B", "C"), ("C", "B"), ("A", "C")]
    assert np.isnan(strengths(pairs, np.ones(4), ("A", "B", "C"))).all()
    assert np.isnan(strengths([("A", "B"), ("C", "D")], np.full(2, 0.5), NAMES)).all()  # two islands


def suite_of(pairs: list[tuple[str, str]], won: np.ndarray) -> Suite:
    sides = [pair if first >= 0.5 else pair[::-1] for pair, first in zip(pairs, won, strict=True)]
    battles = [Compared(f"{place % 50}", f"{place} one", f"{place} two", systems=side, tied=first == 0.5)
               for place, (side, first) in enumerate(zip(sides, won, strict=True))]  # fmt: skip
    return Suite("CapArena", ACCURACY, (), tuple(battles))


def test_an_evaluator_that_judges_as_people_do_has_their_order_and_the_opposite_one_its_reverse() -> None:
    pairs, won = drawn(300, 1)
    suite = suite_of(pairs, won)
    agrees = np.array([0.5 if each.tied else 1.0 for each in suite.compared])
    same = ranked(suite, SuiteScores(np.array([]), agrees, 1 - agrees, ()))
    turned = ranked(suite, SuiteScores(np.array([]), 1 - agrees, agrees, ()))
    assert same is not None
    assert turned is not None
    assert (same.spearman, same.kendall, turned.spearman, turned.kendall) == (1.0, 1.0, -1.0, -1.0)
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
    assert found.note == NO_STRENGTH
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
