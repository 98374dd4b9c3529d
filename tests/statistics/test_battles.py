"""Systems ranked by battles, against the likelihood itself, samples made by hand, and worlds whose order is known."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize

from core.seeds import RUN_SEED
from core.statistics.battles import Battles, strengths, two_orders
from core.statistics.bootstrap import expanded
from core.statistics.resamples import sample_counts


def world(rng: np.random.Generator, pictures: int, each: int, people: np.ndarray, metric: np.ndarray) -> Battles:
    """Random battles; captions of one picture are better or worse in both judges' eyes, so its battles go together."""
    s, parts = len(people), []
    quality = rng.normal(scale=0.6, size=(pictures, s))
    for _ in range(each):
        one = rng.integers(s, size=pictures)
        other = (one + 1 + rng.integers(s - 1, size=pictures)) % s
        shared = quality[np.arange(pictures), one] - quality[np.arange(pictures), other]
        first = [(theta[one] - theta[other] + shared + rng.logistic(size=pictures)) > 0 for theta in (people, metric)]
        tied = np.where(rng.random(pictures) < 0.1, 0.5, first[0])
        parts.append((np.stack([one, other], axis=1), np.array([tied, first[1]]), np.arange(pictures)))
    pairs, won, places = zip(*parts, strict=True)
    return Battles(np.concatenate(pairs), np.concatenate(won, axis=1), np.concatenate(places), s)


def test_strengths_maximise_the_likelihood_and_have_mean_zero() -> None:
    battles = world(np.random.default_rng(0), 60, 5, np.linspace(1, -1, 4), np.array([0.0, 1.0, -2.0, 0.5]))
    tables = np.asarray(battles.wins().sum(axis=0)).reshape(2, 4, 4)
    for judge, found in enumerate(strengths(tables)):
        one, other = battles.pairs.T
        won = battles.won[judge]

        def cost(theta: np.ndarray, won: np.ndarray = won, one: np.ndarray = one, other: np.ndarray = other) -> float:
            gap = theta[one] - theta[other]
            return float((won * np.logaddexp(0, -gap) + (1 - won) * np.logaddexp(0, gap)).sum() + theta.mean() ** 2)

        assert found.sum() == pytest.approx(0, abs=1e-9)
        assert found == pytest.approx(minimize(cost, np.zeros(4), tol=1e-10).x, abs=1e-3)


def test_lopsided_tables_too_end_where_everybody_wins_as_often_as_their_strengths_say() -> None:
    rng = np.random.default_rng(1)
    ring = np.roll(np.eye(6), 1, axis=1)  # everybody beat somebody: strengths are finite
    tables = np.array([ring + rng.integers(0, 300, size=(6, 6)) * (rng.random((6, 6)) < 0.3) for _ in range(200)])
    tables[:, range(6), range(6)] = 0
    found = strengths(tables)
    chance = 1 / (1 + np.exp(found[:, None, :] - found[:, :, None]))
    expected = ((tables + tables.swapaxes(1, 2)) * chance).sum(axis=2)
    assert expected == pytest.approx(tables.sum(axis=2), abs=1e-6)


def test_who_never_lost_has_no_finite_strength() -> None:
    never = np.array([[0, 2, 1], [0, 0, 1], [0, 1, 0.0]])
    islands = np.array([[0, 0.5, 0, 0], [0.5, 0, 0, 0], [0, 0, 0, 0.5], [0, 0, 0.5, 0]])
    assert np.isnan(strengths(never[None])).all()
    assert np.isnan(strengths(islands[None])).all()
    assert strengths((never + never.T)[None]) == pytest.approx(np.zeros((1, 3)), abs=1e-9)


def test_the_bounds_are_those_of_samples_made_by_hand() -> None:
    battles = world(np.random.default_rng(2), 30, 4, np.linspace(1, -1, 5), np.array([1.0, 0.2, 0.4, -0.6, -1.0]))
    found = two_orders(battles, resamples=50)
    rhos, taus, ranks = [], [], []
    for counts in sample_counts(30, 50, seed=RUN_SEED):
        tables = np.zeros((2, 5, 5))
        for (one, other), won, picture in zip(battles.pairs, battles.won.T, battles.pictures, strict=True):
            tables[:, one, other] += counts[picture] * won
            tables[:, other, one] += counts[picture] * (1 - won)
        people, metric = strengths(tables)
        assert not np.isnan(people + metric).any()
        rhos.append(stats.spearmanr(people, metric).statistic)
        taus.append(stats.kendalltau(people, metric).statistic)
        ranks.append([stats.rankdata(-people), stats.rankdata(-metric)])
    at = expanded(0.95, 30)
    for interval, drawn in ((found.spearman, rhos), (found.kendall, taus)):
        low, high = np.quantile(drawn, [(1 - at) / 2, (1 + at) / 2])
        reflected = 2 * interval.estimate - high, 2 * interval.estimate - low
        assert interval.low == pytest.approx(max(-1, min(low, reflected[0])))
        assert interval.high == pytest.approx(min(1, max(high, reflected[1])))
    for bound, share in ((found.low, (1 - at) / 2), (found.high, (1 + at) / 2)):
        assert (bound == np.quantile(ranks, share, axis=0, method="inverted_cdf")).all()


@pytest.mark.parametrize("turned", [1, -1])
def test_intervals_hold_the_agreement_and_the_ranks_of_a_known_world(turned: int) -> None:
    people = np.linspace(1.5, -1.5, 6)
    metric = turned * np.array([1.5, 0.3, 0.9, -0.9, -0.3, -1.5])
    truth = stats.spearmanr(people, metric).statistic, stats.kendalltau(people, metric).statistic
    places = stats.rankdata(-people), stats.rankdata(-metric)
    held, ranks, far = np.zeros(2), [], 0
    runs = 60
    for run in range(runs):
        found = two_orders(world(np.random.default_rng((7, run)), 50, 5, people, metric), resamples=100)
        both = found.spearman, found.kendall
        for place, (each, value) in enumerate(zip(both, truth, strict=True)):
            held[place] += each.low - 1e-9 <= value <= each.high + 1e-9
        ranks.append([(found.low[side] <= place) & (place <= found.high[side]) for side, place in enumerate(places)])
        far += found.spearman.low <= -truth[0] <= found.spearman.high
    assert (held >= 0.92 * runs).all()
    assert np.mean(ranks) >= 0.92
    assert far <= 0.05 * runs  # not by being wide enough for anything


def test_what_cannot_have_an_interval_says_why() -> None:
    rng = np.random.default_rng(3)
    alike, apart = np.zeros(4), np.linspace(1, -1, 4)
    few = two_orders(world(rng, 19, 5, apart, apart))
    assert few.spearman.note == "no interval (n = 19, below 20)"
    assert np.isnan(few.low).all()
    two = two_orders(world(rng, 60, 2, apart[:2], apart[:2]))
    assert math.isnan(two.spearman.estimate)
    assert "2 captioners, below 3" in two.spearman.note
    battles = world(rng, 60, 5, alike, apart)
    even = Battles(battles.pairs, np.array([np.full(300, 0.5), battles.won[1]]), battles.pictures, 4)
    assert "every captioner alike" in two_orders(even).kendall.note
    many = Battles(
        np.stack([np.arange(101), np.roll(np.arange(101), 1)], axis=1),
        np.tile([[0.0], [1.0]], 101),
        np.arange(101),
        101,
    )
    assert two_orders(many).spearman.note == "no interval (101 captioners, above 100)"


def test_samples_without_finite_strengths_rank_by_win_rates_and_are_counted() -> None:
    people = np.array([4.0, 1.0, 0.0, -4.0])
    found = two_orders(world(np.random.default_rng(5), 60, 3, people, people[[0, 2, 1, 3]]), resamples=200)
    assert not np.isnan(found.strengths).any()
    assert 0 < found.without < 1
    assert found.spearman.low < 1
