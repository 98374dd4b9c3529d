"""Factors of several levels (bins, categories, modifiers, quadrants): is any level different, and which?

Source: PROTOCOL section 3 (paper A, A.6).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from core.errors import InvalidInput
from core.statistics.by_source import named, ranks_of, source_means
from core.statistics.rank_tests import MANN_WHITNEY, rank_sum
from core.statistics.shift_tests import cliffs_delta, holm_of_tests, paired_test
from core.statistics.wording import counted

LEAST_OMNIBUS = 5
"""Fewest items (of each level, or with every level) for an omnibus test: below, χ² approximates nothing."""


@dataclass(frozen=True, slots=True)
class Omnibus:
    """One test of all levels at once.

    Args:
        statistic: H of Kruskal-Wallis, or Friedman's χ²; NaN without a test.
        p: likewise.
        n: values (Kruskal-Wallis) or complete items (Friedman) behind it, or the sources that they are of.
        levels: levels that took part.
        note: why there is no test, or what was left out; empty otherwise.
    """

    statistic: float
    p: float
    n: int
    levels: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class FactorTest:
    """What a factor does.

    Args:
        kruskal: Kruskal-Wallis over the levels of at least LEAST_OMNIBUS items, which takes every value for an
            independent one; of sources that lie at several levels too, which makes it cautious.
        friedman: Friedman over the items that have every level; it knows the pairing. Without a test where
            each item has one level only (categories, bins).
        pairs: one row a pair of levels: a, b, test, p, p_holm (NaN without a test), m_tests (tests in the correction;
            0 without one), cliffs_delta (a over b), n, note.
    """

    kruskal: Omnibus
    friedman: Omnibus
    pairs: pd.DataFrame


def factor_test(
    values: ArrayLike, levels: ArrayLike, items: ArrayLike, *, sources: ArrayLike | None = None
) -> FactorTest:
    """Compare the levels of a factor.

    Pairs of levels are compared by the paired test over the items that have both, where at least half of the
    items of the smaller level do; by Mann-Whitney otherwise. Where items share their source, a source counts once at a
    level, by the mean over its items there; see :mod:`core.statistics.by_source`.

    Args:
        values: e.g. percent changes, shape [n]; NaN are left out.
        levels: level of each value, shape [n].
        items: item of each value, shape [n]. An item with several values of one level counts by their median.
        sources: source of each value, shape [n], the same for all values of an item. None: every item is one of its
            own. Cliff's δ is of items all the same.

    Returns:
        See :class:`FactorTest`; fewer than two levels or only equal values have no test, and a note.

    Raises:
        InvalidInput: if the shapes differ.
    """
    columns = [np.asarray(column).ravel() for column in (values, levels, items, items if sources is None else sources)]
    if len({len(column) for column in columns}) != 1:
        raise InvalidInput(f"values, levels, items and sources come in equal numbers, got {[len(c) for c in columns]}")
    there = ~np.logical_or.reduce([pd.isna(column) for column in columns])
    value, level, item, source = (column[there] for column in columns)
    table, names, first = _table(value, level, item)
    ranks = ranks_of(source[first], len(table))
    at = [_Level(name, column, ~np.isnan(column)) for name, column in zip(names, table.T.copy(), strict=True)]
    return FactorTest(_kruskal(at, ranks), _friedman(at, ranks), _pairwise(at, ranks))


@dataclass(frozen=True, slots=True)
class _Level:
    """One level of a factor.

    Args:
        name: of the level.
        values: of each item there, float64 [N]; NaN where an item has none.
        there: which items have one, bool [N].
    """

    name: object
    values: np.ndarray
    there: np.ndarray


def _table(values: np.ndarray, levels: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lay values out as [items, levels], both in order.

    Returns:
        Values, float64 [items, levels]; names of the levels; where each item comes first, int [items].
    """
    (item, known), (level, names) = (pd.factorize(column, sort=True) for column in (items, levels))
    place = item * len(names) + level
    table = np.full((len(known), len(names)), math.nan)
    if len(np.unique(place)) < len(place):
        several = pd.Series(values.astype(np.float64)).groupby(place).median()
        table.ravel()[several.index.to_numpy()] = several.to_numpy()
    else:
        table.ravel()[place] = values
    return table, names, np.unique(item, return_index=True)[1]


def _at(values: np.ndarray, ranks: np.ndarray | None, there: np.ndarray) -> np.ndarray:
    """Means over the sources of the items that are there; the values of these where none share theirs."""
    return source_means(values[there], None if ranks is None else ranks[there])


def _kruskal(levels: Sequence[_Level], ranks: np.ndarray | None) -> Omnibus:
    groups = [_at(each.values, ranks, each.there) for each in levels]
    n = sum(map(len, groups))
    if len(groups) < 2:
        return Omnibus(math.nan, math.nan, n, len(groups), "fewer than two levels")
    kept = [group for group in groups if len(group) >= LEAST_OMNIBUS]
    note = (
        f"{counted(len(groups) - len(kept), 'level')} of fewer than {LEAST_OMNIBUS} items left out"
        if len(kept) < len(groups)
        else ""
    )
    if len(kept) < 2:
        return Omnibus(math.nan, math.nan, n, len(groups), f"no test: fewer than two levels of {LEAST_OMNIBUS} items")
    groups, n = kept, sum(map(len, kept))
    if np.ptp(np.concatenate(groups)) == 0:
        return Omnibus(math.nan, 1.0, n, len(groups), "; ".join(filter(None, ("all values are equal", note))))
    found = stats.kruskal(*groups)
    return Omnibus(float(found.statistic), float(found.pvalue), n, len(groups), note)


def _friedman(at: Sequence[_Level], ranks: np.ndarray | None) -> Omnibus:
    there = np.logical_and.reduce([each.there for each in at]) if at else np.empty(0, dtype=bool)
    left_out = int((~there).sum())
    columns = [_at(each.values, ranks, there) for each in at]
    complete = np.column_stack(columns) if columns else np.empty((0, 0))
    n, levels = complete.shape
    note = f"{counted(left_out, 'item')} {'lacks' if left_out == 1 else 'lack'} a level" if left_out else ""
    if levels < 3 or n < LEAST_OMNIBUS:
        few = f"no test: {counted(n, 'item')} with every level, below {LEAST_OMNIBUS}"
        reason = "fewer than three levels" if levels < 3 else few
        return Omnibus(math.nan, math.nan, n, levels, reason)
    if (np.ptp(complete, axis=1) == 0).all():
        return Omnibus(math.nan, 1.0, n, levels, "no item differs between levels")
    found = stats.friedmanchisquare(*complete.T)
    return Omnibus(float(found.statistic), float(found.pvalue), n, levels, note)


def _pairwise(levels: Sequence[_Level], ranks: np.ndarray | None) -> pd.DataFrame:
    found = [_compare(a, b, ranks) for a, b in combinations(levels, 2)]
    pairs = pd.DataFrame(found, columns=["a", "b", "test", "p", "cliffs_delta", "n", "note"])
    adjusted, sizes = holm_of_tests(pairs["p"], pairs["test"])
    pairs.insert(4, "p_holm", adjusted)
    pairs.insert(5, "m_tests", sizes)
    return pairs


def _compare(one: _Level, other: _Level, ranks: np.ndarray | None) -> dict[str, object]:
    a, b, both = one.values[one.there], other.values[other.there], one.there & other.there
    if 2 * both.sum() >= min(len(a), len(b)):
        paired = paired_test(other.values[both], one.values[both], groups=None if ranks is None else ranks[both])
        found = {"test": paired.name, "p": paired.p, "n": paired.n, "note": paired.note}
    else:
        sides = [_at(each.values, ranks, each.there) for each in (one, other)]
        n = sum(map(len, sides))
        test = named(MANN_WHITNEY, ranks if n < len(a) + len(b) else None)
        found = {"test": test, "p": rank_sum(*sides)[1], "n": n, "note": ""}
    return {"a": one.name, "b": other.name, **found, "cliffs_delta": cliffs_delta(a, b)}
