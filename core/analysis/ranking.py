"""Pairs of a slice: which change the most, a page of them; and facets: how many shifts each further choice would leave.

The shifts of a table are counted once by all choices together, and the counts of any slice are sums of these cells.
What is no choice of values, the share inside the crop and people's verdict, is asked of the scores themselves.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import pandas as pd

from core.analysis.scores import once
from core.analysis.slices import CHOICES, SIGNS, Items, Slice
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
        # the evaluator with the largest key of each pair, the first by name among equals; None without one
        own = np.nan_to_num(np.array(every).reshape(len(every), len(which)), nan=-1.0)
        leaders = [view.evaluators[each.argmax()] if (each >= 0).any() else None for each in own.T]
    pair = {"item": table.items["item"].to_numpy()[places], "probe": np.array(probes, dtype=object)[which]}
    of = {name: getattr(table.scope, name) for name in ("run", "corpus", "subject")}
    counted = {"key": np.where(keys == _UNRANKED, math.nan, keys), "more": more, "leader": leaders}
    names = ["run", "corpus", "item", "subject", "probe", *counted]
    pairs = pd.DataFrame(pair | of | counted, columns=names)
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
    asked = (rows["expectation"] == Expectation.INVARIANT.value) & (_plain(view.table) | view.chosen.controls)
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
        """What the pairs of some items count over their evaluators: the largest, or how far apart they are; ``looked``:
        pairs that are looked at, bool [k, n]. Returns float64 [k, n], NaN where nothing; and how many shifts each pair
        has, 0 where it is not looked at, int16."""
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
    """The furthest of the pairs that it was shown, at most so many; and how many it was shown. ``most``: pairs that are
    kept; of equal ones the first. ``last``: probes whose pairs come behind those of all others, bool [k]. ``once``:
    keep an item's furthest pair alone, the first of equal ones."""

    def __init__(self, most: int, last: np.ndarray, *, once: bool) -> None:
        self._most, self._last, self._once = most, last[:, None], once
        self.keys, self.counted = np.empty(0), np.empty(0)
        """Where each stands, the largest first; and what it counts, _UNRANKED where nothing."""
        self.items, self.probes, self.more = (np.empty(0, dtype=np.intp) for _ in range(3))
        """Places of item and probe, and how many other pairs its item has; where an item may be there twice, 0."""
        self.n_pairs = self.n_shifts = self.n_unranked = self.n_items = 0

    def add(self, items: np.ndarray, keys: np.ndarray, n: np.ndarray) -> None:
        """Show it the pairs of some items, which come after those that it was shown before. ``keys``: what the pairs
        count, float64 [k, n]; NaN where nothing. ``n``: how many shifts each has, int [k, n]; none: there is no
        pair."""
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
        held = (self.keys, self.counted, self.items, self.probes, self.more)
        every = [np.append(*both) for both in zip(held, new, strict=True)]
        near = np.arange(len(every[0]))
        if len(near) > self._most:  # equal ones stay in their order
            near = near[every[0] >= np.partition(every[0], len(near) - self._most)[len(near) - self._most]]
        kept = near[np.argsort(-every[0][near], kind="stable")][: self._most]
        self.keys, self.counted, self.items, self.probes, self.more = (each[kept] for each in every)


FIELDS = (*CHOICES, "sign")  # Fields of a slice that have counts

_ITEM_FIELDS, _PROBE_FIELDS = ("categories", "coverage_bins"), ("axes", "families", "probes", "modifiers")
_SIGNS = ("none", "up", "", "down")
"""Name of a sign at its place in the counts: that of the sign, modulo 4; one that is not known has none."""


def facets(table: ScoreTable, chosen: Slice) -> dict[str, dict[str, int]]:
    """Count the shifts that each value of each choice would leave, the other choices kept as they are. Returns field of
    :class:`Slice` -> value -> count, every value that occurs in the table (count 0 where the other choices leave none
    of it); beside :data:`CHOICES` also ``sign``, and the key of every column of the items' owners."""
    whole = _whole(table)
    # which shifts are inside, accepted, of a whole object and of no tied label depends on no other choice: one look
    # serves every field
    untied = chosen.untied and bool(table.tied.any())
    asked = Slice(inside=chosen.inside, accepted=chosen.accepted, whole=chosen.whole, untied=untied, told=chosen.told)
    own = _of_own_columns(table, chosen)
    if asked == Slice():
        return whole.counts(chosen) | own
    found = _Cells.of(table.view(asked)).counts(chosen)
    return {name: dict.fromkeys(whole.names[name], 0) | found[name] for name in FIELDS} | own


def _of_own_columns(table: ScoreTable, chosen: Slice) -> dict[str, dict[str, int]]:
    found, asked = dict[str, dict[str, int]](), dict[Slice, np.ndarray]()
    for key, names in table.own.items():
        others = replace(chosen, told=tuple(each for each in chosen.told if each[0] != key))
        if others not in asked:
            asked[others] = _of_items(table.view(others))
        sums = pd.Series(asked[others]).groupby(table.items[key]).sum()
        found[key] = {name: int(sums.get(name, 0)) for name in names}
    return found


def _of_items(view: View) -> np.ndarray:
    """Shifts of each item that a view leaves, int64 [N]."""
    table, n = view.table, np.zeros(len(view.items), dtype=np.int64)
    probes = _probes(view)
    for evaluator in view.evaluators:
        which, places = table.place(evaluator), table.places(probes)
        counted = table.stored[which, places] & (table.baselines[which, places] >= 0)
        kept = view.where(evaluator, probes)
        n += (counted if kept is None else counted & kept).sum(axis=0)
    return np.where(view.items, n, 0)


def _plain(table: ScoreTable) -> np.ndarray:
    """Which probes are there without ``controls`` too, bool [P]."""
    return np.asarray(~table.probes["control"] | (table.probes["axis"] == Axis.NULL.value))


@dataclass(frozen=True, slots=True)
class _Cells:
    """Shifts counted by evaluator, probe, kind of item and sign."""

    names: Mapping[str, tuple[str, ...]]  # values of each field, in order
    # place of each value along its side of ``n``, int, -1 where there is none: evaluators [E], the four fields of
    # probes [P], the two of items [K], sign [4]
    codes: Mapping[str, np.ndarray]
    plain: np.ndarray  # whether a probe is there without ``controls`` too, bool [P]
    n: np.ndarray  # shifts, int64 [E, P, K, 4]

    @classmethod
    def of(cls, view: View) -> "_Cells":
        """Count the shifts of a view."""
        table = view.table
        of = [CHOICES[name] for name in _ITEM_FIELDS]
        grouped = table.items[of].astype(object).groupby(of, dropna=False, sort=True)
        kinds, kind = grouped.size().reset_index()[of], grouped.ngroup().to_numpy()
        invariant = (table.probes["expectation"] == Expectation.INVARIANT.value).to_numpy()
        asked, signs = table.probes.index[invariant], table.signs
        first = kind * len(_SIGNS)
        n = np.zeros((*table.scores.shape[:2], len(kinds), len(_SIGNS)), dtype=np.int64)
        for which, evaluator in enumerate(table.evaluators):
            for name, probe in zip(asked, np.flatnonzero(invariant), strict=True):
                counted = table.stored[which, probe] & (table.baselines[which, probe] >= 0) & view.items
                kept = view.where(evaluator, (name,))
                counted = counted if kept is None else counted & kept[0]
                place = first + signs[which, probe] % len(_SIGNS)
                place = place if counted.all() else place[counted]
                n[which, probe].ravel()[:] = np.bincount(place, minlength=n.shape[2] * n.shape[3])
        columns = {
            **{name: table.probes.reset_index()[CHOICES[name]] for name in _PROBE_FIELDS},
            **{name: kinds[CHOICES[name]] for name in _ITEM_FIELDS},
            "evaluators": pd.Series(table.evaluators),
        }
        coded = {name: pd.factorize(column.astype(object), sort=True) for name, column in columns.items()}
        names = {name: tuple(map(str, values)) for name, (_, values) in coded.items()} | {"sign": tuple(sorted(SIGNS))}
        codes = {name: places for name, (places, _) in coded.items()}
        codes["sign"] = np.array([names["sign"].index(name) if name else -1 for name in _SIGNS])
        return cls(names, codes, _plain(table), n)

    def counts(self, chosen: Slice) -> dict[str, dict[str, int]]:
        """See :func:`facets`; of the slice, what it says of values and controls."""
        keep = {name: self._keep(name, chosen) for name in FIELDS}
        return {name: self._count(name, keep, chosen) for name in FIELDS}

    def _keep(self, field: str, chosen: Slice) -> np.ndarray:
        values = getattr(chosen, field)
        wanted = (values,) if field == "sign" and values else values
        codes = self.codes[field]
        if not wanted:
            return np.ones(len(codes), dtype=bool)
        return np.isin(codes, [place for place, name in enumerate(self.names[field]) if name in wanted])

    def _count(self, field: str, keep: Mapping[str, np.ndarray], chosen: Slice) -> dict[str, int]:
        masks = {name: keep[name] for name in FIELDS if name != field}
        probes = np.logical_and.reduce([masks[name] for name in _PROBE_FIELDS if name in masks])
        probes = probes if chosen.controls else probes & self.plain
        items = np.logical_and.reduce([masks[name] for name in _ITEM_FIELDS if name in masks])
        sides = (masks.get("evaluators"), probes, items, masks.get("sign"))
        left = self.n
        for axis, mask in enumerate(sides):
            if mask is not None and not mask.all():
                left = left.compress(mask, axis=axis)
        own = 0 if field == "evaluators" else 1 if field in _PROBE_FIELDS else 2 if field in _ITEM_FIELDS else 3
        sums = left.sum(axis=tuple(axis for axis in range(4) if axis != own))
        codes = self.codes[field]
        codes = codes if sides[own] is None else codes[sides[own]]
        names = self.names[field]
        counts = np.bincount(codes[codes >= 0], sums[codes >= 0], minlength=len(names))
        return dict(zip(names, counts.astype(int).tolist(), strict=True))


@once
def _whole(table: ScoreTable) -> _Cells:
    return _Cells.of(table.view())
