"""Shares of items against statsmodels, a design effect counted by hand, and simulation."""

import math

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from core.statistics.shares import share


@pytest.mark.parametrize(("hits", "n"), [(0, 5), (5, 5), (3, 11), (60, 200)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_items_of_their_own_have_wilsons_interval(hits: int, n: int, level: float) -> None:
    marked = np.arange(n) < hits
    expected = proportion_confint(hits, n, alpha=1 - level, method="wilson")
    for groups in (None, np.arange(n)):
        found = share(marked, groups=groups, level=level)
        assert (found.estimate, found.n) == (hits / n, n)
        assert (found.low, found.high) == pytest.approx(expected, abs=0.02 if groups is not None else 1e-12)


def test_sources_that_are_of_one_mind_count_once() -> None:
    sources = np.random.default_rng(0).uniform(size=40) < 0.4
    apart, together = share(sources), share(np.repeat(sources, 5), groups=np.repeat(np.arange(40), 5))
    assert together.estimate == apart.estimate
    assert together.n == 200
    assert (together.low, together.high) == pytest.approx((apart.low, apart.high), abs=0.01)


def test_one_source_is_worth_one_item() -> None:
    found = share([True, False, True, True], groups=np.zeros(4, dtype=int))
    one = proportion_confint(0.75, 1, method="wilson")
    assert (found.low, found.high) == pytest.approx(one)


def test_the_interval_covers_where_items_share_their_sources() -> None:
    rng, covered = np.random.default_rng(1), 0
    for _ in range(400):
        leaning = rng.beta(1.2, 2.8, size=60)
        groups = np.repeat(np.arange(60), 4)
        found = share(rng.uniform(size=240) < leaning[groups], groups=groups)
        covered += found.low <= 0.3 <= found.high
    assert 0.92 < covered / 400 < 0.98


def test_no_item_has_no_share() -> None:
    assert math.isnan(share([]).estimate)
