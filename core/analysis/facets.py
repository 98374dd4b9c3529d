"""Facets: how many shifts each further choice would leave of a slice.

The shifts of a table are counted once by all choices together, and the counts of any slice are sums of these cells.
What is no choice of values, the share inside the crop and people's verdict, is asked of the scores themselves.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from core.analysis.memo import once
from core.analysis.slices import CHOICES, SIGNS, Slice
from core.analysis.table import ScoreTable, View
from core.probes.base import Axis, Expectation

FIELDS = (*CHOICES, "sign")  # Fields of a slice that have counts

_ITEM_FIELDS, _PROBE_FIELDS = ("categories", "coverage_bins"), ("axes", "families", "probes", "modifiers")
_SIGNS = ("none", "up", "", "down")
"""Name of a sign at its place in the counts: that of the sign, modulo 4; one that is not known has none."""


def facets(table: ScoreTable, chosen: Slice) -> dict[str, dict[str, int]]:
    """Count the shifts that each value of each choice would leave, the other choices kept as they are.

    Returns:
        Field of :class:`Slice` -> value -> count, every value that occurs in the table (count 0 where the other choices
        leave none of it); beside :data:`CHOICES` also ``sign``, and the key of every column of the items' owners.
    """
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
    asked = (table.probes["expectation"] == Expectation.INVARIANT.value) & (_plain(table) | view.chosen.controls)
    probes = view.probes(tuple(map(str, table.probes.index[asked])))
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
        asked, signs = table.probes.index[invariant], table.signs()
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
