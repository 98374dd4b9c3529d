"""Pearson's r of bootstrap samples, against scipy on the rows written out."""

import numpy as np
import pytest
from scipy import stats

from core.statistics.pearson import sample_pearson


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
