"""The band against resampling written out with scipy's ranks."""

import math
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.errors import InvalidInput
from core.statistics import rank_agreement as module
from core.statistics.rank_agreement import spearman_bands


def band(clean: np.ndarray, change: np.ndarray, ratings: np.ndarray, lambdas: list[float], **how: float) -> tuple:
    return spearman_bands(clean, change, {"h": ratings}, lambdas, **how)["h"]


def of_samples(s: np.ndarray, h: np.ndarray, samples: Iterable[np.ndarray]) -> tuple[float, float]:
    """scipy's ρ of each sample, the outer 2.5 % cut off; NaN where they do not differ."""
    varied = [each for each in samples if np.ptp(s[each]) and np.ptp(h[each])]
    found = [float(stats.spearmanr(s[each], h[each]).statistic) for each in varied]
    if not found or max(found) - min(found) < 1e-9:
        return math.nan, math.nan
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


scores_st = st.lists(st.integers(-5, 5), min_size=10, max_size=25)


@settings(deadline=None)
@given(scores_st, st.integers(0, 1000))
def test_every_sample_has_scipys_rho_ties_included(values: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    s, h = np.array(values, dtype=float), rng.integers(0, 4, len(values)).astype(float)
    low, high = band(s, np.zeros_like(s), h, [0.0], resamples=2, seed=seed)
    samples = np.random.default_rng(seed).integers(len(s), size=(2, len(s)))
    expected = of_samples(s, h, samples)
    assert (low[0], high[0]) == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_the_band_follows_the_corrected_scores() -> None:
    rng = np.random.default_rng(2)
    s, h = rng.normal(size=80), rng.normal(size=80)
    low, high = band(s, h - s, h, [0.0, 0.5, 1.0])
    assert low[0] < stats.spearmanr(s, h).statistic < high[0]
    assert low[1] > low[0]
    assert np.isnan((low[2], high[2])).all(), "every sample's ρ is 1: no interval of no width"


def test_items_of_one_source_are_drawn_together() -> None:
    rng = np.random.default_rng(5)
    sources = rng.permutation(np.repeat(np.arange(20), 3))
    s = rng.normal(size=20)[sources] + 0.2 * rng.normal(size=60)
    h = s + rng.normal(size=20)[sources]
    low, high = band(s, np.zeros(60), h, [0.0], resamples=2, seed=7, sources=sources)
    drawn = np.random.default_rng(7).integers(20, size=(2, 20))
    samples = [np.concatenate([np.flatnonzero(sources == each) for each in one]) for one in drawn]
    assert (low[0], high[0]) == pytest.approx(of_samples(s, h, samples))
    together, alone = band(s, np.zeros(60), h, [0.0], sources=sources), band(s, np.zeros(60), h, [0.0])
    assert together[1][0] - together[0][0] > 1.3 * (alone[1][0] - alone[0][0])
    each = band(s, np.zeros(60), h, [0.0], sources=np.arange(60))
    np.testing.assert_array_equal(each, alone)


def test_where_the_work_is_too_much_fewer_strengths_are_drawn_and_the_ends_are_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(3)
    s, c, h = rng.normal(size=(3, 60))
    lambdas = np.arange(21) / 20
    full = np.array(band(s, c, h, lambdas))
    monkeypatch.setattr(module, "WORK", 60 * 200 * 5)
    few = np.array(band(s, c, h, lambdas))
    np.testing.assert_array_equal(few[:, [0, -1]], full[:, [0, -1]])
    assert np.abs(few - full).max() < 0.05


def test_too_few_or_constant_items_have_no_band() -> None:
    assert np.isnan(band(np.ones(2), np.ones(2), np.ones(2), [0.0, 1.0])).all()
    assert np.isnan(band(np.ones(9), np.zeros(9), np.arange(9.0), [0.0])).all()
    with pytest.raises(InvalidInput, match="level"):
        band(np.ones(9), np.zeros(9), np.arange(9.0), [0.0], level=95)


@pytest.mark.parametrize("ties", [False, True])
def test_a_band_asked_for_again_is_that_of_its_own_scores(ties: bool) -> None:
    rng = np.random.default_rng(4)
    first, second, h = (each.round(1) if ties else each for each in rng.normal(size=(3, 40)))
    still = np.zeros(40)
    for _ in range(2):  # the second time from what is kept
        for s in (first, second):
            # a correction that moves every score alike moves no rank: it is drawn anew, and gives the same
            np.testing.assert_array_equal(
                band(s, still, h, [0.0, 1.0]), band(s + 8, np.full(40, 2.0**-40), h, [0.0, 1.0])
            )
    sources = np.arange(40) // 2
    assert not np.array_equal(band(first, still, h, [0.0]), band(first, still, h, [0.0], sources=sources))
    assert not np.array_equal(band(first, still, h, [0.0]), band(second, still, h, [0.0]))


def test_ranks_are_the_same_in_either_type(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    counts = rng.poisson(1.0, size=(50, 20)).astype(np.float64)
    for values in (rng.normal(size=50), rng.integers(5, size=50).astype(np.float64)):
        narrow = module._ranks(values, counts)
        with monkeypatch.context() as patched:
            patched.setattr(module, "_EXACT", 0)
            wide = module._ranks(values, counts)
        np.testing.assert_array_equal(narrow, wide)
        for sample, ranks in zip(counts.T.astype(int), narrow.T, strict=True):
            drawn = np.repeat(np.arange(50), sample)
            expected = stats.rankdata(values[drawn])
            np.testing.assert_array_equal(ranks[drawn], expected - (len(drawn) + 1) / 2)
