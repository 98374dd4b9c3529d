"""Rank correlations, preference accuracy and directions against scipy, brute force and hand counts."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.errors import InvalidInput
from core.statistics.rank_agreement import direction_agreement, rank_agreement


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
