"""Intervals of the agreement before and after a calibration: they hold what they name, and count a source once."""

import math

import numpy as np
import pytest
from scipy import stats

from core.features.calibration.effect import _kendall
from core.statistics.rank_agreement import spearman_bands


def correlated(rng: np.random.Generator, rho: float, size: int | tuple[int, ...]) -> np.ndarray:
    return rng.multivariate_normal([0.0, 0.0], [[1.0, rho], [rho, 1.0]], size)


def held(rng: np.random.Generator, rho: float, n: int, rounds: int) -> float:
    truth = 2 / math.pi * math.asin(rho)  # of a bivariate normal
    hits = []
    for _ in range(rounds):
        both = correlated(rng, rho, n).T
        found = _kendall(float(stats.kendalltau(*both).statistic), *both, np.arange(n))
        hits += [] if math.isnan(found.low) else [found.low <= truth <= found.high]
    assert len(hits) > 0.9 * rounds
    return float(np.mean(hits))


@pytest.mark.parametrize("n", [10, 30, 100])
@pytest.mark.parametrize("rho", [0.0, 0.9])
def test_kendall_s_interval_holds_what_it_names(n: int, rho: float) -> None:
    rounds = 800
    slack = 2.6 * math.sqrt(0.05 * 0.95 / rounds)
    assert 0.92 - slack <= held(np.random.default_rng(n), rho, n, rounds) <= 0.98 + slack


def test_kendall_s_interval_holds_where_items_share_sources() -> None:
    rng, rho, hits = np.random.default_rng(3), 0.9, []
    truth = 2 / math.pi * math.asin(rho)
    for _ in range(300):
        pairs = math.sqrt(0.8) * correlated(rng, rho, 12)[:, None] + math.sqrt(0.2) * correlated(rng, rho, (12, 16))
        both = pairs.reshape(-1, 2).T
        found = _kendall(float(stats.kendalltau(*both).statistic), *both, np.repeat(np.arange(12), 16))
        hits.append(found.low <= truth <= found.high)
    assert np.mean(hits) > 0.92


def test_kendall_s_interval_holds_where_a_second_source_crosses_the_first() -> None:
    rng, rho, hits = np.random.default_rng(4), 0.6, np.zeros(2)
    truth = 2 / math.pi * math.asin(rho)
    for _ in range(300):
        groups = np.stack([np.arange(240), rng.integers(15, size=240)], axis=1)
        pairs = math.sqrt(0.3) * correlated(rng, rho, 15)[groups[:, 1]] + math.sqrt(0.7) * correlated(rng, rho, 240)
        tau = float(stats.kendalltau(*pairs.T).statistic)
        for place, of in enumerate((groups, groups[:, 0])):
            found = _kendall(tau, *pairs.T, of)
            hits[place] += found.low <= truth <= found.high
    assert hits[0] / 300 > 0.92
    assert hits[1] / 300 < 0.9
    few = _kendall(tau, *pairs.T, np.stack([groups[:, 0], groups[:, 1] % 2], axis=1))
    assert few.note.startswith("by the first source alone")


@pytest.mark.parametrize(("n", "sources"), [(9, 9), (74, 5), (10, 9)])
def test_too_few_items_or_sources_have_no_interval(n: int, sources: int) -> None:
    rng = np.random.default_rng(0)
    clean, change, other = rng.normal(size=(3, n))
    found = _kendall(0.7, clean, other, np.arange(n) % sources)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert "no interval" in found.note
    low, high = spearman_bands(clean, change, {"h": other}, [0.0, 1.0], sources=np.arange(n) % sources)["h"]
    assert np.isnan(low).all()
    assert np.isnan(high).all()
