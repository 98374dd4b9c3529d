"""The order of pairs: which of a slice move the furthest, and a page of them."""

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.analysis.slices import Slice
from core.analysis.table import ScoreTable, View
from core.errors import InvalidInput
from core.probes.base import Axis, Expectation
from core.statistics.changes import percent_change

ORDERS = ("percent", "absolute", "standardised", "disagreement")
"""What a pair can be ranked by; see :func:`rank`."""

_UNRANKED, _ABSENT = -1.0, -2.0  # below every key: keys are sizes
_ITEMS_AT_ONCE = 16_384
"""Items whose shifts are held at once, under every evaluator."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """One page of pairs, the furthest first.

    Args:
        pairs: run, corpus, item, subject, probe, key (what the order counts; NaN where it is not defined, and then
            last), more (the other pairs of its item in the slice, where an item is there once; else 0) and leader (the
            evaluator whose shift is the key; None in the order ``disagreement``).
        n_pairs: pairs in the slice.
        n_shifts: shifts in the slice, one a (pair, evaluator).
        n_unranked: pairs without a key: unscored, without %Δ, below the floor, or under one evaluator only.
        n_items: items of the pairs.
    """

    pairs: pd.DataFrame
    n_pairs: int
    n_shifts: int
    n_unranked: int
    n_items: int


def rank(
    table: ScoreTable, chosen: Slice, usual: pd.DataFrame, *, order: str, limit: int, floor: float = 0.0,
    offset: int = 0, once: bool = False, item: str | None = None, named: Collection[tuple[str, str]] | None = None,
) -> Ranking:  # fmt: skip
    """Return one page of the slice's pairs in an order; ties by the names of item and probe.

    Args:
        table: scores of the scope whose corpus in view is looked at.
        chosen: which shifts count; a pair is there when one of its shifts is.
        usual: :func:`core.analysis.failures.scales` of the scope.
        order: one of ORDERS. ``percent`` is the largest |%Δ|, ``absolute`` the largest |Δ| on the evaluator's
            own scale, ``standardised`` the largest |Δ| over the standard deviation of the evaluator's clean scores
            in the run, ``disagreement`` the range (largest minus smallest) of the standardised shifts of one pair
            over its evaluators.
        limit, offset: pairs to return and to pass over.
        floor: least |baseline| of a shift that counts in the order ``percent``, as a share of the evaluator's
            typical clean score; a percent change of a tiny baseline is large whatever happened.
        once: an item is there with its furthest pair alone.
        item: the only item to look at; None: every one.
        named: the only (item, probe) of the scope to look at; None: every one.

    Raises:
        InvalidInput: for an unknown order or a number out of range.
    """
    check(order, floor, limit, offset)
    view = table.view(chosen)
    probes = _probes(view)
    looked = _looked(view, probes, item, named)
    count = _Count(probes, view.evaluators, usual, order, floor)
    best, shifts = _counted(count, view, looked)
    there = shifts > 0
    counted = np.where(there, np.where(np.isnan(best), _UNRANKED, best), _ABSENT)
    items, which, more = _page(counted, there, limit=limit, offset=offset, once=once)
    found = best[which, items]
    leaders = None
    if order != "disagreement":
        keys, _ = count.keys(table.at(items), looked[:, items], _of(view.cells, items))
        leaders = _leaders(keys[:, which, np.arange(len(items))], view.evaluators)
    pairs = pd.DataFrame({
        "run": table.scope.run, "corpus": table.scope.corpus, "item": table.items["item"].to_numpy()[items],
        "subject": table.scope.subject, "probe": np.array(probes, dtype=object)[which], "key": found, "more": more,
        "leader": leaders,
    })  # fmt: skip
    unranked = int((there & np.isnan(best)).sum())
    return Ranking(pairs, int(there.sum()), int(shifts.sum()), unranked, int(there.any(axis=0).sum()))


def check(order: str, floor: float, limit: int, offset: int) -> None:
    """Refuse a question that makes no sense.

    Raises:
        InvalidInput: with the value.
    """
    if order not in ORDERS:
        raise InvalidInput(f"order must be one of {', '.join(ORDERS)}, got {order!r}")
    if not 0 <= floor <= 1:
        raise InvalidInput(f"floor must be a share of the typical clean score in [0, 1], got {floor}")
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
) -> np.ndarray:
    """Pairs that are looked at, whether or not they have a shift, bool [k, N]."""
    names = view.table.items["item"]
    own = view.items & view.table.of_corpus(view.table.scope.corpus)
    if item is not None:
        own = own & (names == item).to_numpy()
    looked = np.broadcast_to(own, (len(probes), len(names)))
    if named is None:
        return looked
    wanted = pd.MultiIndex.from_product([probes, names]).isin([(probe, name) for name, probe in named])
    return looked & wanted.reshape(looked.shape)


@dataclass(frozen=True, slots=True)
class _Count:
    """What shifts of some probes under some evaluators count in an order; see :func:`rank`."""

    probes: tuple[str, ...]
    evaluators: tuple[str, ...]
    usual: pd.DataFrame
    order: str
    floor: float

    def keys(self, table: ScoreTable, looked: np.ndarray, cells: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """What every shift counts, float64 [E, k, N], NaN where nothing; and how many a pair has, int16 [k, N].

        Args:
            table: of N items.
            looked: pairs that are looked at, bool [k, N].
            cells: scores that are, bool [E, P, N]; None: all.
        """
        scales = {str(row["evaluator"]): (float(row["sd"]), float(row["typical"]))
                  for row in self.usual.to_dict("records")}  # fmt: skip
        keys = np.full((len(self.evaluators), *looked.shape), math.nan)
        shifts = np.zeros(looked.shape, dtype=np.int16)
        for place, name in enumerate(self.evaluators):
            delta, stored = table.shifts(name, self.probes, cells=cells)
            stored = stored & looked
            shifts += stored
            np.copyto(keys[place], self._key(table, name, delta, *scales[name]), where=stored)
        return keys, shifts

    def _key(self, table: ScoreTable, evaluator: str, delta: np.ndarray, sd: float, typical: float) -> np.ndarray:
        """What the shifts of one evaluator, of such a spread and typical score, count, [k, N]."""
        if self.order == "absolute":
            return np.asarray(np.abs(delta))
        if self.order != "percent":
            apart = delta / (sd if sd > 0 else math.nan)
            return np.asarray(apart if self.order == "disagreement" else np.abs(apart))
        before = table.before(evaluator, self.probes)
        least = self.floor * (0.0 if math.isnan(typical) else typical)
        size = np.abs(percent_change(table.after(evaluator, self.probes), before))
        return np.where(np.abs(before) >= least, size, math.nan)


def _counted(count: _Count, view: View, looked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What every pair counts, float64 [k, N], and how many shifts it has, int16 [k, N]; some items at a time."""
    best, shifts = np.full(looked.shape, math.nan), np.zeros(looked.shape, dtype=np.int16)
    for start in range(0, looked.shape[1], _ITEMS_AT_ONCE):
        own = slice(start, start + _ITEMS_AT_ONCE)
        if looked[:, own].any():
            keys, shifts[:, own] = count.keys(view.table.at(own), looked[:, own], _of(view.cells, own))
            best[:, own] = _best(keys, count.order)
    return best, shifts


def _of(cells: np.ndarray | None, items: slice | np.ndarray) -> np.ndarray | None:
    return None if cells is None else cells[..., items]


def _best(keys: np.ndarray, order: str) -> np.ndarray:
    """What a pair counts over its evaluators, [k, N]: the largest, or how far apart they are; NaN where nothing."""
    if not len(keys):
        return np.full(keys.shape[1:], math.nan)
    most = np.fmax.reduce(keys)
    if order != "disagreement":
        return np.asarray(most)
    several = (~np.isnan(keys)).sum(axis=0) > 1
    return np.where(several, most - np.fmin.reduce(keys), math.nan)


def _page(
    counted: np.ndarray, there: np.ndarray, *, limit: int, offset: int, once: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places of item and probe of the pairs of a page, and the other pairs of each item.

    Args:
        counted: keys [k, N], _UNRANKED where there is none, _ABSENT where there is no pair.
        there: which pairs there are, bool [k, N].
        limit, offset, once: see :func:`rank`.
    """
    if not counted.size:
        return (np.empty(0, dtype=np.intp),) * 3
    if once:
        items = _furthest(counted.max(axis=0), limit, offset)
        return items, counted[:, items].argmax(axis=0), there[:, items].sum(axis=0) - 1
    flat = _furthest(counted.T.ravel(), limit, offset)
    items, which = np.divmod(flat, len(counted))
    return items, which, np.zeros(len(flat), dtype=np.intp)


def _furthest(keys: np.ndarray, limit: int, offset: int) -> np.ndarray:
    """Places of the keys from ``offset`` on, the largest first, ties in their order; those that are absent left out."""
    most = min(offset + limit, len(keys))
    least = max(float(np.partition(keys, len(keys) - most)[len(keys) - most]), _UNRANKED)
    near = np.flatnonzero(keys >= least)
    return near[np.argsort(-keys[near], kind="stable")][offset : offset + limit]


def _leaders(keys: np.ndarray, evaluators: tuple[str, ...]) -> list[str | None]:
    """Evaluator with the largest of the keys [E, m] of each pair, the first by name among equals; None without one."""
    scored = ~np.isnan(keys).all(axis=0) if len(keys) else np.zeros(keys.shape[1], dtype=bool)
    first = np.where(np.isnan(keys), -1.0, keys).argmax(axis=0) if len(keys) else np.zeros(keys.shape[1], dtype=int)
    return [evaluators[place] if found else None for place, found in zip(first, scored, strict=True)]
