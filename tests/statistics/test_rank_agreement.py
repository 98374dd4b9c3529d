"""Rank correlations, preference accuracy, directions, rank tests: against scipy, numpy, brute force and counts."""

import itertools
import math
from collections.abc import Iterable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from core.analysis.preferences import sample_pearson
from core.errors import InvalidInput
from core.statistics import rank_agreement as module
from core.statistics.rank_agreement import direction_agreement, rank_agreement, spearman_bands
from core.statistics.shift_tests import rank_sum, signed_rank


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=2, max_size=25))
def test_correlations_equal_those_of_every_pair(points: list[tuple[int, int]]) -> None:
    a, b = np.array(points).T
    found = rank_agreement(a, b)
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        assert "constant" in found.note
        return
    signs = [(np.sign(a[i] - a[j]), np.sign(b[i] - b[j])) for i, j in itertools.combinations(range(len(a)), 2)]
    balance = sum(x * y for x, y in signs)
    untied = [sum(pair[side] != 0 for pair in signs) for side in (0, 1)]
    levels = min(len(set(a)), len(set(b)))
    assert found.kendall_b == pytest.approx(balance / math.sqrt(untied[0] * untied[1]))
    assert found.kendall_c == pytest.approx(2 * balance / (len(a) ** 2 * (levels - 1) / levels))
    assert found.spearman == pytest.approx(np.corrcoef(stats.rankdata(a), stats.rankdata(b))[0, 1])


@pytest.mark.parametrize(
    ("one", "other", "note"), [([], [], "fewer"), ([1.0], [1.0], "fewer"), ([1.0, 1.0], [1.0, 2.0], "constant")]
)
def test_too_little_has_no_correlation(one: list, other: list, note: str) -> None:
    found = rank_agreement(one, other)
    assert math.isnan(found.spearman)
    assert note in found.note


def test_missing_scores_are_left_out_pairwise() -> None:
    assert rank_agreement([1, math.nan, 2, 3], [1, 5, 2, math.nan]).n == 2
    with pytest.raises(InvalidInput, match="3 and 2"):
        rank_agreement([1, 2, 3], [1, 2])


def shifts(**deltas: list[float]) -> pd.DataFrame:
    rows = [(corpus, str(item), delta) for corpus, values in deltas.items() for item, delta in enumerate(values)]
    return pd.DataFrame(rows, columns=["corpus", "item", "delta"]).assign(evaluator="e", family="vflip")


def test_items_that_move_as_the_reference_does_agree() -> None:
    found = direction_agreement(shifts(coco=[1, 2, -1], demo=[3, 1, 0, -1]), reference="coco").iloc[0]
    assert (found["corpus"], found["reference_median"], found["n_items"]) == ("demo", 1.0, 4)
    assert found["agreement"] == (1 + 1 + 0.5 + 0) / 4
    assert found["same_direction"]


def test_a_reference_without_a_direction_agrees_with_nothing() -> None:
    found = direction_agreement(shifts(coco=[1, -1], demo=[3, 1]), reference="coco").iloc[0]
    assert math.isnan(found["agreement"])
    assert found["same_direction"] is None
    assert "no direction" in found["note"]


def test_an_unknown_reference_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="coco"):
        direction_agreement(shifts(demo=[1.0]), reference="coco")


def test_a_shared_source_is_no_evidence_twice() -> None:
    rng = np.random.default_rng(1)
    sources, rejected, naive = np.repeat(np.arange(12), 10), 0, 0
    for _ in range(200):
        one, other = (rng.normal(size=12)[sources] + 0.3 * rng.normal(size=120) for _ in range(2))
        found = rank_agreement(one, other, groups=sources)
        assert found.kendall_b == rank_agreement(one, other).kendall_b
        rejected += found.kendall_p < 0.05
        naive += rank_agreement(one, other).kendall_p < 0.05
    assert rejected <= 20  # 5 % and three standard errors
    assert naive > 60
    assert found.note == "p: means of 12 sources"
    means = [np.array([each[sources == source].mean() for source in range(12)]) for each in (one, other)]
    assert found.kendall_p == pytest.approx(stats.kendalltau(*means).pvalue)
    alike = rank_agreement([1, 2, 1, 2], [1, 2, 3, 4], groups=[0, 0, 1, 1])
    assert math.isnan(alike.kendall_p)
    assert alike.note == "no interval (n = 4, below 10), and no test"


FINE = st.floats(-1e3, 1e3, allow_nan=False).map(lambda value: round(value, 6))
COARSE = st.integers(-3, 3).map(float)
SIZES = (2, 5, 9, 14, 40, 50, 51, 400)
"""Of samples, around the sizes from which scipy's reference takes another way."""


def _sample(values: st.SearchStrategy[float]) -> st.SearchStrategy[np.ndarray]:
    return st.sampled_from(SIZES).flatmap(lambda n: arrays(np.float64, n, elements=values))


@given(_sample(FINE) | _sample(COARSE))
def test_signed_ranks_are_those_of_scipy(differences: np.ndarray) -> None:
    if not differences.any():
        return
    expected = stats.wilcoxon(differences)
    assert signed_rank(differences) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9, abs=1e-300)


def every_sign(differences: np.ndarray) -> tuple[float, float]:
    """The smaller sum of signed ranks and its two-sided p, from every way to give the ranks their signs."""
    moved = differences[differences != 0]
    ranks = stats.rankdata(np.abs(moved))
    sums = np.zeros(1)
    for rank in ranks:
        sums = np.concatenate([sums, sums + rank])
    least = min(float(ranks[moved > 0].sum()), float(ranks[moved < 0].sum()))
    return least, min(1.0, 2 * float(np.mean(sums <= least)))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("tied", [True, False])
def test_signed_ranks_of_thirteen_are_those_of_every_sign(tied: bool, seed: int) -> None:
    """The largest size at which scipy tries every sign where there are ties."""
    rng = np.random.default_rng(seed)
    differences = rng.integers(-2, 4, size=13).astype(float) if tied else rng.normal(0.5, 1.0, size=13)
    assert tied == (len(np.unique(np.abs(differences))) < 13)
    assert signed_rank(differences) == pytest.approx(every_sign(differences), rel=1e-9)
    if seed == 0:  # scipy calls a function for each of the signs: seconds where a few sums take none
        expected = stats.wilcoxon(differences)
        assert signed_rank(differences) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)


@given(_sample(FINE) | _sample(COARSE), _sample(FINE) | _sample(COARSE))
def test_rank_sums_are_those_of_scipy(one: np.ndarray, other: np.ndarray) -> None:
    expected = stats.mannwhitneyu(one, other)
    u, p = rank_sum(one, other)
    assert u == pytest.approx(expected.statistic)
    assert p == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-300)


def test_a_clear_shift_is_as_small_a_p_as_scipy_gives() -> None:
    rng = np.random.default_rng(1)
    one, other = rng.normal(1, 1, 4000), rng.normal(0, 1, 3000)
    assert rank_sum(one, other)[1] == pytest.approx(stats.mannwhitneyu(one, other).pvalue, rel=1e-6)
    assert signed_rank(one)[1] == pytest.approx(stats.wilcoxon(one).pvalue, rel=1e-6)


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


def test_every_sample_has_scipy_s_r() -> None:
    rng = np.random.default_rng(0)
    one, other = 1e6 + rng.normal(size=40), rng.integers(1, 5, 40).astype(float)
    counts = rng.multinomial(40, np.full(40, 1 / 40), size=30).T
    for found, times in zip(sample_pearson(one, other, counts), counts.T, strict=True):
        rows = np.repeat(np.arange(40), times)
        assert found == pytest.approx(stats.pearsonr(one[rows], other[rows]).statistic, abs=1e-9)


def test_a_sample_whose_side_is_all_alike_has_none() -> None:
    counts = np.array([[2, 1], [1, 0], [0, 2]])
    assert np.isnan(sample_pearson(np.array([0.3, 0.3, 0.9]), np.arange(3.0), counts)).tolist() == [True, False]
    assert np.isnan(sample_pearson(np.full(3, 0.1), np.arange(3.0), counts)).all()
    assert sample_pearson(np.arange(3.0), -np.arange(3.0), counts) == pytest.approx([-1.0, -1.0])
