"""In which order the scores of several groups stand, item by item: e.g. a caption and three kinds of wrong ones.

Source: paper D, section 4 and the authors' code, which prints every order with its share.
"""

from collections.abc import Mapping
from itertools import combinations, permutations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from core.errors import InvalidInput
from core.statistics.shares import share

MOST = 4
"""Groups whose orders are listed, at most: 24 orders."""

TIED = "tied"
"""Stands for the items two of whose scores are equal."""


def orders(groups: Mapping[str, ArrayLike], *, sources: ArrayLike | None = None) -> pd.DataFrame:
    """How often the scores of each item's groups stand in each order.

    Args:
        groups: name of a group -> a score of every item, shape [n]; two to MOST groups. An item that lacks one
            is left out.
        sources: what each item is of, [n]; the intervals take items of one source together. None: each is its own.

    Returns:
        One row an order of all groups, highest first: order (names joined by `` > ``), n (items whose scores stand in
        it without a tie), n_items (items with every score),
        n_sources (of these items), share. Ties have a row of their own, named ``tied``. The
        most frequent first, ties last.

    Raises:
        InvalidInput: if there are fewer than two groups, too many, or their lengths differ.

    Example:
        >>> orders({"a": [3.0, 1.0], "b": [2.0, 2.0]})["order"].tolist()
        ['a > b', 'b > a', 'tied']
    """
    names, scores, of = _grouped(groups, sources)
    ranked = np.argsort(-scores, axis=0, kind="stable")
    ordered = np.sort(scores, axis=0)
    tied = (ordered[1:] == ordered[:-1]).any(axis=0) if scores.shape[1] else np.zeros(0, dtype=bool)
    found = []
    for order in permutations(range(len(names))):
        hits = (ranked == np.array(order)[:, None]).all(axis=0) & ~tied
        found.append((" > ".join(names[place] for place in order), hits))
    found.sort(key=lambda each: -int(each[1].sum()))
    return _shares([*found, (TIED, tied)], "order", of)


def pairwise_orders(groups: Mapping[str, ArrayLike], *, sources: ArrayLike | None = None) -> pd.DataFrame:
    """How often one group lies above another, for every two of some groups; see :func:`orders`.

    Returns:
        Columns above, below, n, n_items, n_sources, share, ties (share of equal ones), with Wilson's intervals low to
        high and ties_low to ties_high.
    """
    names, scores, of = _grouped(groups, sources)
    records = []
    for one, other in combinations(range(len(names)), 2):
        for above, below in ((one, other), (other, one)):
            found, ties = (
                share(each, groups=of) for each in (scores[above] > scores[below], scores[above] == scores[below])
            )
            records.append(
                {"above": names[above], "below": names[below], "n": int((scores[above] > scores[below]).sum()),
                 "n_items": found.n, "n_sources": _sources(of, found.n), "share": found.estimate,
                 "low": found.low, "high": found.high,
                 "ties": ties.estimate, "ties_low": ties.low, "ties_high": ties.high}
            )  # fmt: skip
    return pd.DataFrame(records)


def _grouped(
    groups: Mapping[str, ArrayLike], sources: ArrayLike | None
) -> tuple[list[str], np.ndarray, np.ndarray | None]:
    if not 2 <= len(groups) <= MOST:
        raise InvalidInput(f"orders are of 2 to {MOST} groups, got {len(groups)}")
    columns = [np.asarray(each, dtype=np.float64).ravel() for each in groups.values()]
    if len({len(each) for each in columns}) != 1:
        raise InvalidInput(f"every group has a score of every item, got {[len(each) for each in columns]}")
    scores = np.stack(columns)
    whole = ~np.isnan(scores).any(axis=0)
    return list(groups), scores[:, whole], None if sources is None else np.asarray(sources).ravel()[whole]


def _shares(found: list[tuple[str, np.ndarray]], name: str, of: np.ndarray | None) -> pd.DataFrame:
    rows = [(said, share(hits, groups=of)) for said, hits in found]
    return pd.DataFrame(
        {name: [said for said, _ in rows], "n": [int(hits.sum()) for _, hits in found],
         "n_items": [each.n for _, each in rows], "n_sources": [_sources(of, each.n) for _, each in rows],
         "share": [each.estimate for _, each in rows],
         "low": [each.low for _, each in rows], "high": [each.high for _, each in rows]}
    )  # fmt: skip


def _sources(of: np.ndarray | None, items: int) -> int:
    return items if of is None else len(np.unique(of))
