"""Factors of several levels against scipy and on degenerate tables."""

import math

import numpy as np
import pytest
from scipy import stats

from core.errors import InvalidInput
from core.statistics.factors import factor_test
from core.statistics.shift_tests import WILCOXON, holm


def long(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    items, levels = np.indices(table.shape)
    return table.ravel(), np.array(list("abcdefg"))[levels.ravel()], items.ravel()


def test_paired_levels_get_both_tests_and_paired_comparisons() -> None:
    table = np.random.default_rng(0).exponential(size=(30, 3)) + np.array([0, 0, 1])
    found = factor_test(*long(table))
    assert found.kruskal.p == pytest.approx(stats.kruskal(*table.T).pvalue)
    assert found.friedman.p == pytest.approx(stats.friedmanchisquare(*table.T).pvalue)
    pairs = found.pairs.set_index(["a", "b"])
    assert set(pairs["test"]) == {WILCOXON}
    assert pairs.loc[("a", "c"), "p"] == pytest.approx(stats.wilcoxon(table[:, 0] - table[:, 2]).pvalue)
    np.testing.assert_allclose(pairs["p_holm"], holm(pairs["p"]))
    assert pairs.loc[("a", "c"), "cliffs_delta"] < 0


def test_levels_of_different_items_are_compared_as_independent() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=60)
    found = factor_test(values, np.repeat(["x", "y", "z"], 20), np.arange(60))
    assert "0 items with every level, below 5" in found.friedman.note
    row = found.pairs.iloc[0]
    assert (row["test"], row["n"]) == ("Mann-Whitney", 40)
    assert row["p"] == pytest.approx(stats.mannwhitneyu(values[:20], values[20:40]).pvalue)


def test_items_that_lack_a_level_are_counted_and_left_out_of_friedman() -> None:
    table = np.random.default_rng(2).normal(size=(20, 3))
    table[0, 1] = math.nan
    found = factor_test(*long(table))
    assert (found.friedman.n, found.friedman.note) == (19, "1 item lacks a level")
    assert found.friedman.p == pytest.approx(stats.friedmanchisquare(*table[1:].T).pvalue)


def test_an_item_with_several_values_of_a_level_counts_by_their_median() -> None:
    found = factor_test([1, 2, 9, 4, 5], ["a", "a", "a", "b", "b"], [0, 0, 0, 0, 1])
    assert found.kruskal.n == 3


def test_a_level_of_few_items_is_in_no_pair_that_is_tested_or_named() -> None:
    values = np.concatenate([np.random.default_rng(3).normal(size=40), [9.0, 9.1, 9.2, 9.3]])
    found = factor_test(values, np.repeat(["x", "y", "few"], [20, 20, 4]), np.arange(44))
    assert (found.kruskal.levels, found.kruskal.note) == (2, "1 level of fewer than 5 items left out")
    pairs = found.pairs.set_index(["a", "b"])
    for pair in (("few", "x"), ("few", "y")):
        assert pairs.loc[pair, ["test", "m_tests", "note"]].tolist() == ["none", 0, "fewer than 5 items on a side"]
        assert pairs.loc[pair, ["p", "p_holm", "cliffs_delta"]].isna().all()
    assert pairs.loc[("x", "y"), "p_holm"] == pairs.loc[("x", "y"), "p"]


@pytest.mark.parametrize(
    ("values", "levels", "items", "kruskal", "friedman"),
    [
        ([], [], [], "fewer than two levels", "fewer than three levels"),
        ([1.0, 2.0], ["a", "a"], [0, 1], "fewer than two levels", "fewer than three levels"),
        ([1.0] * 15, list("abc") * 5, np.arange(15) // 3, "all values are equal", "no item differs"),
        (
            np.arange(12.0),
            list("abc") * 4,
            np.arange(12) // 3,
            "no test: fewer than two levels of 5 items",
            "4 items with every level, below 5",
        ),
        (
            np.arange(13.0),
            list("aabb") * 3 + ["c"],
            np.arange(13),
            "1 level of fewer than 5 items left out",
            "0 items with every level, below 5",
        ),
        ([math.nan, 2.0, 3.0], list("abb"), [0, 0, 1], "fewer than two levels", "fewer than three levels"),
    ],
)
def test_degenerate_factors_say_why(values: list, levels: list, items: list, kruskal: str, friedman: str) -> None:
    found = factor_test(values, levels, items)
    assert found.kruskal.note == kruskal
    assert friedman in found.friedman.note


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(InvalidInput, match="equal numbers"):
        factor_test([1.0], ["a", "b"], [0])


def test_tests_of_all_levels_say_that_they_reckon_with_the_first_of_two_sources() -> None:
    table = np.random.default_rng(5).normal(size=(30, 3))
    values, levels, items = long(table)
    two = np.stack([items, items % 6], axis=1)
    found = factor_test(values, levels, items, sources=two)
    alone = factor_test(values, levels, items, sources=items)
    assert {found.kruskal.note, found.friedman.note} == {"by the first source alone"}
    assert (found.kruskal.p, found.friedman.p) == (alone.kruskal.p, alone.friedman.p)
    assert (alone.kruskal.note, alone.friedman.note) == ("", "")
