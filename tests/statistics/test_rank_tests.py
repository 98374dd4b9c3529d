"""The rank tests are scipy's to rounding: with and without ties, zeros, and at the sizes where it becomes exact."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from core.statistics.shift_tests import rank_sum, signed_rank

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
