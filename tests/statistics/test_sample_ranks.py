"""Rank correlations from counts against scipy and numpy over the rows of every sample."""

import numpy as np
import pytest
from scipy import stats

from core.statistics import rank_agreement
from core.statistics.rank_agreement import sample_correlations


def _two_scorings(n: int, levels: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two that agree somewhat; with levels, of few different values each."""
    one = rng.normal(size=n)
    other = one + rng.normal(size=n)
    if not levels:
        return one, other
    return np.digitize(one, np.linspace(-1, 1, levels)) / 10, np.digitize(other, np.linspace(-1, 1, levels + 1)) / 10


@pytest.mark.parametrize("n", [3, 4, 5, 16, 17, 101, 400])
@pytest.mark.parametrize("levels", [0, 2, 4, 30])
def test_they_are_those_of_the_rows_of_each_sample(n: int, levels: int) -> None:
    rng = np.random.default_rng(n + 1000 * levels)
    one, other = _two_scorings(n, levels, rng)
    counts = rng.multinomial(n, np.full(n, 1 / n), size=12).T
    for found, times in zip(sample_correlations(one, other, counts).T, counts.T, strict=True):
        rows = rng.permutation(np.repeat(np.arange(n), times))
        a, b = one[rows], other[rows]
        if np.ptp(a) == 0 or np.ptp(b) == 0:
            assert np.isnan(found).all()
            continue
        rho, tau_b, tau_c = found
        assert rho == np.corrcoef(stats.rankdata(a), stats.rankdata(b))[0, 1]
        assert tau_c == stats.kendalltau(a, b, variant="c").statistic
        assert tau_b == pytest.approx(stats.kendalltau(a, b, variant="b").statistic, abs=1e-14)


def test_samples_of_several_lengths_are_cut_into_parts_without_a_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    one, other = _two_scorings(40, 5, rng)
    counts = rng.poisson(1.0, size=(40, 30))
    whole = sample_correlations(one, other, counts)
    monkeypatch.setattr(rank_agreement, "_AT_ONCE", 100)
    assert np.array_equal(sample_correlations(one, other, counts), whole, equal_nan=True)
    assert sample_correlations(one, other, counts[:, :0]).shape == (3, 0)


def test_a_sample_of_one_value_or_of_nothing_has_none() -> None:
    one, other = np.arange(4.0), np.array([0.0, 0.0, 1.0, 2.0])
    counts = np.array([[4, 2, 0, 1], [0, 2, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1]])
    assert np.isnan(sample_correlations(one, other, counts)).all(axis=0).tolist() == [True, True, True, False]
