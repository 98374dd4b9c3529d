"""Facets: how many shifts each further choice would leave of a slice.

The shifts of a store are counted once by all choices together: some ten thousand cells in place of millions of rows,
from which the counts of any slice follow in milliseconds. What is no choice of values, the share inside the crop and
people's verdict, is asked of the rows themselves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa

from core.analysis.slices import CHOICES, SIGNS, Slice, where
from core.audit.store import Store

_WHENS = " ".join(f"when s.{condition} then '{name}'" for name, condition in SIGNS.items())
_EXPRESSIONS = {field: f"s.{column}" for field, column in CHOICES.items()} | {"sign": f"case {_WHENS} end"}
"""Field of a slice that has counts -> what is counted."""


def facets(store: Store, chosen: Slice) -> dict[str, dict[str, int]]:
    """Count the shifts that each value of each choice would leave, the other choices kept as they are.

    Returns:
        Field of :class:`Slice` -> value -> count, every value that occurs in the store (count 0 where the other
        choices leave none of it); beside :data:`CHOICES` also ``sign``.
    """
    cells = _cells(store)
    if chosen.inside is None and chosen.accepted is None:
        return cells.counts(chosen)
    together: dict[Slice, list[str]] = {}  # fields without a choice of their own see the same rows: one scan for all
    for field in _EXPRESSIONS:
        together.setdefault(chosen.without(field), []).append(field)
    found = {field: counts for seen, fields in together.items() for field, counts in _scan(store, seen, fields).items()}
    return {field: dict.fromkeys(names, 0) | found[field] for field, names in cells.names.items()}


@dataclass(frozen=True, slots=True)
class _Cells:
    """The shifts of a store, counted by every choice at once; k cells.

    Args:
        names: values of each field, in order.
        codes: place of each cell's value in its field's names, int [k]; -1 where there is none.
        invariant: whether the score must not move there, bool [k]: slices are of these alone.
        plain: whether they are there without ``controls`` too, bool [k].
        n: shifts, int64 [k].
    """

    names: Mapping[str, tuple[str, ...]]
    codes: Mapping[str, np.ndarray]
    invariant: np.ndarray
    plain: np.ndarray
    n: np.ndarray

    def counts(self, chosen: Slice) -> dict[str, dict[str, int]]:
        """See :func:`facets`; of the slice, what it says of values and controls."""
        left_out = {field: ~self._chosen(field, chosen) for field in _EXPRESSIONS if getattr(chosen, field)}
        lost = np.sum(list(left_out.values()), axis=0) + np.zeros(len(self.n), dtype=int)
        kept = self.invariant if chosen.controls else self.invariant & self.plain
        open_to_all = np.flatnonzero(kept & (lost == 0))
        # a field with a choice of its own also counts what that choice alone leaves out
        rows = {field: np.flatnonzero(kept & (lost == own)) for field, own in left_out.items()}
        return {field: self._count(field, rows.get(field, open_to_all)) for field in _EXPRESSIONS}

    def _chosen(self, field: str, chosen: Slice) -> np.ndarray:
        values = (chosen.sign,) if field == "sign" else getattr(chosen, field)
        wanted = [place for place, name in enumerate(self.names[field]) if name in values]
        return np.isin(self.codes[field], wanted)

    def _count(self, field: str, rows: np.ndarray) -> dict[str, int]:
        names = self.names[field]
        counts = np.bincount(self.codes[field][rows] + 1, self.n[rows], minlength=len(names) + 1)[1:]
        return dict(zip(names, counts.astype(int).tolist(), strict=True))


_known: WeakKeyDictionary[Store, _Cells] = WeakKeyDictionary()


def _cells(store: Store) -> _Cells:
    """Cells of a store; what a store holds never changes."""
    if store not in _known:
        values = ", ".join(f"{expression} as {field}" for field, expression in _EXPRESSIONS.items())
        told = store.table(
            f"select {values}, coalesce(s.expectation = 'invariant', false) as invariant, "
            "coalesce(not s.control or s.axis = 'null', false) as plain, count(*) as n from shifts s group by all"
        )
        coded = {field: _coded(told[field]) for field in _EXPRESSIONS}
        _known[store] = _Cells(
            {field: names for field, (names, _) in coded.items()},
            {field: codes for field, (_, codes) in coded.items()},
            *(told[name].to_numpy() for name in ("invariant", "plain", "n")),
        )
    return _known[store]


def _coded(column: pa.ChunkedArray) -> tuple[tuple[str, ...], np.ndarray]:
    """The values of a column in order, and the place of each row's; -1 where there is none."""
    codes = column.combine_chunks().dictionary_encode()
    names = codes.dictionary.to_pylist()
    order = sorted(range(len(names)), key=lambda place: str(names[place]))
    ranks = np.empty(len(names) + 1, dtype=np.int32)
    ranks[order], ranks[-1] = np.arange(len(names)), -1
    return tuple(str(names[place]) for place in order), ranks[codes.indices.fill_null(len(names)).to_numpy()]


def _scan(store: Store, seen: Slice, fields: Sequence[str]) -> dict[str, dict[str, int]]:
    """Count a slice's rows by each field's value, in one scan."""
    clause, params = where(seen)
    values = ", ".join(f"{_EXPRESSIONS[field]} as {field}" for field in fields)
    sets = ", ".join(f"({field})" for field in fields)
    told = store.table(
        f"select {', '.join(fields)}, grouping({', '.join(fields)}) as kind, count(*) as n "
        f"from (select {values} from shifts s {clause}) group by grouping sets ({sets})", params,
    )  # fmt: skip
    counts: dict[str, dict[str, int]] = {field: {} for field in fields}
    # grouping() has a bit for each field, the first the highest; it is 0 for the field that a row counts
    kinds = {2 ** len(fields) - 1 - 2 ** (len(fields) - 1 - rank): field for rank, field in enumerate(fields)}
    for row in told.to_pylist():
        field = kinds[row["kind"]]
        if row[field] is not None:
            counts[field][str(row[field])] = row["n"]
    return counts
