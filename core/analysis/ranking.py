"""The order of pairs: which of a slice change the most, and a page of them."""

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pandas as pd

from core.analysis.slices import Items, Slice
from core.analysis.table import ScoreTable, View
from core.errors import InvalidInput
from core.probes.base import Axis, Expectation
from core.statistics.changes import percent_change

ORDERS = ("percent", "absolute", "standardised", "disagreement")  # What a pair can be ranked by; see :func:`rank`
_UNRANKED, _ABSENT = -1.0, -2.0  # below every key: keys are sizes
_PAIRS_AT_ONCE = 2**17
"""Pairs whose shifts are held at once, of every evaluator in turn: what the processor holds nearest to it."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """One page of pairs, the furthest first."""

    # run, corpus, item, subject, probe, key (what the order counts; NaN where it is not defined, and then last), more
    # (the other pairs of its item in the slice, where an item is there once; else 0) and leader (the evaluator whose
    # shift is the key; None in the order ``disagreement``)
    pairs: pd.DataFrame
    n_pairs: int  # pairs in the slice
    n_shifts: int  # shifts in the slice, one a (pair, evaluator)
    n_unranked: int  # pairs without a key: unscored, without % change, below the floor, or under one evaluator only
    n_items: int  # items of the pairs


def rank(
    table: ScoreTable,
    chosen: Slice,
    usual: pd.DataFrame,
    *,
    order: str,
    limit: int,
    floor: float = 0.0,
    offset: int = 0,
    once: bool = False,
    item: str | None = None,
    named: Collection[tuple[str, str]] | None = None,
    behind: Collection[str] = (),
) -> Ranking:
    """Return one page of the slice's pairs in an order; ties by the names of item and probe.

    Args:
        table: scores of the scope whose corpus in view is looked at.
        chosen: which shifts count; a pair is there when one of its shifts is.
        usual: :func:`core.analysis.failures.scales` of the scope.
        order: one of ORDERS. ``percent`` is the largest |% change|, ``absolute`` the largest |Δ| on the evaluator's
            own scale, ``standardised`` the largest |Δ| over the standard deviation of the evaluator's unedited scores
            in the run, ``disagreement`` the range (largest minus smallest) of the standardised shifts of one pair
            over its evaluators.
        floor: least |baseline| of a shift that counts in the order ``percent``, as a share of the evaluator's
            typical unedited score; a percent change of a tiny baseline is large whatever happened.
        once: an item is there with its furthest pair alone.
        item: the only item to look at; None: every one.
        named: the only (item, probe) of the scope to look at; None: every one.
        behind: families whose pairs come behind those of all others, as far as these have a key.

    Raises:
        InvalidInput: for an unknown order or a number out of range.
    """
    check(order, floor, limit, offset)
    view = table.view(chosen)
    probes = _probes(view)
    looked, items = _looked(view, probes, item, named)
    count = _Count(view, probes, usual, order, floor)
    page = _Page(offset + limit, table.probes.loc[list(probes), "family"].isin(behind).to_numpy(), once=once)
    most = max(_PAIRS_AT_ONCE // max(len(probes), 1), 1)
    for start in range(0, len(items), most):
        some = items[start : start + most]
        first, last = int(some[0]), int(some[-1])
        # neighbours are read faster as a slice
        there = slice(first, last + 1) if last - first + 1 == len(some) else some
        page.add(some, *count.pairs(looked[:, there], there))
    keys, places, which, more = (each[offset:] for each in (page.counted, page.items, page.probes, page.more))
    leaders = None
    if order != "disagreement":
        every = [key[which, np.arange(len(which))] for key, _ in count.shifts(places)]
        leaders = _leaders(np.array(every).reshape(len(every), len(which)), view.evaluators)
    pairs = pd.DataFrame(
        {
            "run": table.scope.run,
            "corpus": table.scope.corpus,
            "item": table.items["item"].to_numpy()[places],
            "subject": table.scope.subject,
            "probe": np.array(probes, dtype=object)[which],
            "key": np.where(keys == _UNRANKED, math.nan, keys),
            "more": more,
            "leader": leaders,
        }
    )
    return Ranking(pairs, page.n_pairs, page.n_shifts, page.n_unranked, page.n_items)


def check(order: str, floor: float, limit: int, offset: int) -> None:
    """Refuse a question that makes no sense. Raises InvalidInput, with the value."""
    if order not in ORDERS:
        raise InvalidInput(f"order must be one of {', '.join(ORDERS)}, got {order!r}")
    if not 0 <= floor <= 1:
        raise InvalidInput(f"floor must be a share of the typical unedited score in [0, 1], got {floor}")
    if limit < 1 or offset < 0:
        raise InvalidInput(f"limit must be at least 1 and offset at least 0, got {limit} and {offset}")


def _probes(view: View) -> tuple[str, ...]:
    """Probes of pairs that should not move: those that the slice keeps, controls only where it asks for them."""
    rows = view.table.probes
    asked = rows["expectation"] == Expectation.INVARIANT.value
    if not view.chosen.controls:
        asked &= ~rows["control"] | (rows["axis"] == Axis.NULL.value)
    return view.probes(tuple(map(str, rows.index[asked])))


def _looked(
    view: View, probes: tuple[str, ...], item: str | None, named: Collection[tuple[str, str]] | None
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs that are looked at, whether or not they have a shift, bool [k, N]; and the items of some, int [n]."""
    names = view.table.items["item"]
    own = view.items & view.table.of_corpus(view.table.scope.corpus)
    if item is not None:
        own = own & (names == item).to_numpy()
    if named is None:
        return np.broadcast_to(own, (len(probes), len(own))), np.flatnonzero(own)
    some = np.flatnonzero(own & names.isin({name for name, _ in named}).to_numpy())
    asked = pd.MultiIndex.from_product([probes, names.iloc[some]]).isin([(probe, name) for name, probe in named])
    looked = np.zeros((len(probes), len(own)), dtype=bool)
    looked[:, some] = asked.reshape(len(probes), len(some))
    return looked, some


@dataclass(frozen=True, slots=True)
class _Count:
    """What the shifts of some probes count in an order; see :func:`rank`."""

    view: View
    probes: tuple[str, ...]
    usual: pd.DataFrame
    order: str
    floor: float

    def shifts(self, items: Items) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """What the shifts of some items count, float64 [k, n], NaN where nothing, and whether they are stored, bool
        [k, n]; of one evaluator of the view after the other."""
        scales = {
            str(row["evaluator"]): (float(row["sd"]), float(row["typical"])) for row in self.usual.to_dict("records")
        }
        for name in self.view.evaluators:
            looked = self.view.where(name, self.probes, items=items)
            after, before, stored = self.view.table.pairs(name, self.probes, where=looked, items=items)
            yield self._keys(after, before, *scales[name]), stored

    def _keys(self, after: np.ndarray, before: np.ndarray, sd: float, typical: float) -> np.ndarray:
        """What the shifts of one evaluator, of such a spread and typical score, count, [k, n]."""
        if self.order == "percent":
            size = np.abs(percent_change(after, before))
            least = self.floor * (0.0 if math.isnan(typical) else typical)
            return np.where(np.abs(before) >= least, size, math.nan) if least > 0 else np.asarray(size)
        delta = after - before
        if self.order == "absolute":
            return np.asarray(np.abs(delta))
        apart = delta / (sd if sd > 0 else math.nan)
        return np.asarray(apart if self.order == "disagreement" else np.abs(apart))

    def pairs(self, looked: np.ndarray, items: Items) -> tuple[np.ndarray, np.ndarray]:
        """What the pairs of some items count over their evaluators: the largest, or how far apart they are.

        Args:
            looked: pairs that are looked at, bool [k, n].

        Returns:
            float64 [k, n], NaN where nothing; and how many shifts each pair has, 0 where it is not looked at, int16.
        """
        keys, n = [], np.zeros(looked.shape, dtype=np.int16)
        for key, stored in self.shifts(items):
            keys.append(key)
            n += stored
        n *= looked
        if not keys:
            return np.full(looked.shape, math.nan), n
        most = reduce(np.fmax, keys)
        if self.order != "disagreement":
            return np.asarray(most), n
        several = np.add.reduce([~np.isnan(key) for key in keys], dtype=np.int16) > 1
        return np.where(several, most - reduce(np.fmin, keys), math.nan), n


class _Page:
    """The furthest of the pairs that it was shown, at most so many; and how many it was shown.

    Args:
        most: pairs that are kept; of equal ones the first.
        last: probes whose pairs come behind those of all others, bool [k].
        once: keep an item's furthest pair alone, the first of equal ones.
    """

    def __init__(self, most: int, last: np.ndarray, *, once: bool) -> None:
        self._most, self._last, self._once = most, last[:, None], once
        self.keys, self.counted = np.empty(0), np.empty(0)
        """Where each stands, the largest first; and what it counts, _UNRANKED where nothing."""
        self.items, self.probes, self.more = (np.empty(0, dtype=np.intp) for _ in range(3))
        """Places of item and probe, and how many other pairs its item has; where an item may be there twice, 0."""
        self.n_pairs = self.n_shifts = self.n_unranked = self.n_items = 0

    def add(self, items: np.ndarray, keys: np.ndarray, n: np.ndarray) -> None:
        """Show it the pairs of some items, which come after those that it was shown before.

        Args:
            keys: what the pairs count, float64 [k, n]; NaN where nothing.
            n: how many shifts each has, int [k, n]; none: there is no pair.
        """
        if not keys.size:
            return
        there = n > 0
        unranked = np.isnan(keys) & there
        counted = np.where(there, np.where(unranked, _UNRANKED, keys), _ABSENT)
        keys = np.where(self._last & (counted >= 0), -1 / (2 + np.abs(counted)), counted)  # between 0 and _UNRANKED
        self.n_pairs += int(np.count_nonzero(there))
        self.n_shifts += int(n.sum())
        self.n_unranked += int(np.count_nonzero(unranked))
        self.n_items += int(np.count_nonzero(there.any(axis=0)))
        least = self.keys[-1] if len(self.keys) == self._most else _ABSENT
        if self._once:
            near = np.flatnonzero(keys.max(axis=0) > least)
            which, more = keys[:, near].argmax(axis=0), there[:, near].sum(axis=0) - 1
        else:
            near, which = np.nonzero((keys > least).T)
            more = np.zeros(len(near), dtype=np.intp)
        new = (keys[which, near], counted[which, near], items[near], which, more)
        every = [np.append(held, each) for held, each in zip(self._held(), new, strict=True)]
        kept = _largest(every[0], self._most)
        self.keys, self.counted, self.items, self.probes, self.more = (each[kept] for each in every)

    def _held(self) -> tuple[np.ndarray, ...]:
        return self.keys, self.counted, self.items, self.probes, self.more


def _largest(keys: np.ndarray, most: int) -> np.ndarray:
    """Places of the largest keys, the largest first, equal ones in their order."""
    near = np.arange(len(keys))
    if len(keys) > most:
        near = near[keys >= np.partition(keys, len(keys) - most)[len(keys) - most]]
    return near[np.argsort(-keys[near], kind="stable")][:most]


def _leaders(keys: np.ndarray, evaluators: tuple[str, ...]) -> list[str | None]:
    """Evaluator with the largest of the keys [E, m] of each pair, the first by name among equals; None without one."""
    scored = ~np.isnan(keys).all(axis=0) if len(keys) else np.zeros(keys.shape[1], dtype=bool)
    first = np.where(np.isnan(keys), -1.0, keys).argmax(axis=0) if len(keys) else np.zeros(keys.shape[1], dtype=int)
    return [evaluators[place] if found else None for place, found in zip(first, scored, strict=True)]
