"""Slices: the part of the stored shifts that a reader looks at, and how many shifts each further choice would leave."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import pandas as pd
import pyarrow as pa

from core.audit.store import Store
from core.errors import InvalidInput

CHOICES: Mapping[str, str] = {
    "runs": "run",
    "corpora": "corpus",
    "categories": "category",
    "coverage_bins": "coverage_bin",
    "axes": "axis",
    "families": "family",
    "probes": "probe",
    "modifiers": "modifier",
    "evaluators": "evaluator",
    "subjects": "subject",
}
"""Field of a slice -> column of the store's ``shifts``."""

SIGNS: Mapping[str, str] = {"up": "delta > 0", "down": "delta < 0", "none": "delta = 0"}
"""Where the score went -> condition."""

_SIGN = "case when s.delta > 0 then 'up' when s.delta < 0 then 'down' when s.delta = 0 then 'none' end"
_VERDICT = "verdicts v on v.corpus = s.corpus and v.item = s.item and v.probe = s.probe and v.subject = s.subject"


@dataclass(frozen=True, slots=True)
class Slice:
    """What to look at; an empty choice keeps everything.

    Args:
        runs, corpora, categories, coverage_bins, axes, families, probes, modifiers, evaluators, subjects:
            values kept of that column of ``shifts``.
        sign: "up", "down" or "none": the sign of the shift; None keeps all.
        inside: least and largest share of the object inside the evaluator's crop, in [0, 1]; shifts whose share
            is not known are left out. None keeps all.
        controls: keep controls (neutral words, blur); the null axis is kept either way.
        accepted: least share of people who found both versions acceptable, in [0, 1]; shifts that nobody judged
            are left out. None keeps all.
    """

    runs: tuple[str, ...] = ()
    corpora: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    coverage_bins: tuple[str, ...] = ()
    axes: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    probes: tuple[str, ...] = ()
    modifiers: tuple[str, ...] = ()
    evaluators: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    sign: str | None = None
    inside: tuple[float, float] | None = None
    controls: bool = False
    accepted: float | None = None

    def __post_init__(self) -> None:
        if self.sign is not None and self.sign not in SIGNS:
            raise InvalidInput(f"sign must be one of {', '.join(SIGNS)}, got {self.sign!r}")
        if self.inside is not None and not 0 <= self.inside[0] <= self.inside[1] <= 1:
            raise InvalidInput(f"inside must be two shares in [0, 1], the smaller first, got {self.inside}")
        if self.accepted is not None and not 0 <= self.accepted <= 1:
            raise InvalidInput(f"accepted must be a share in [0, 1], got {self.accepted}")

    def without(self, field: str) -> "Slice":
        """The same slice with one choice taken back."""
        usual: Any = getattr(Slice(), field)
        return replace(self, **{field: usual})


def where(chosen: Slice) -> tuple[str, dict[str, Any]]:
    """The slice as SQL over ``shifts s``.

    Returns:
        What follows ``from shifts s``: joins and the condition; and its parameters by name.
    """
    conditions, params = ["s.expectation = 'invariant'"], dict[str, Any]()
    for field, column in CHOICES.items():
        if values := getattr(chosen, field):
            named = {f"{field}_{index}": value for index, value in enumerate(values)}
            params |= named
            conditions.append(f"s.{column} in ({', '.join(f'${name}' for name in named)})")
    if not chosen.controls:
        conditions.append("(not s.control or s.axis = 'null')")
    if chosen.sign:
        conditions.append(f"s.{SIGNS[chosen.sign]}")
    if chosen.inside is not None:
        params["inside_low"], params["inside_high"] = chosen.inside
        conditions.append("s.object_inside between $inside_low and $inside_high")
    join = ""
    if chosen.accepted is not None:
        params["accepted"] = chosen.accepted
        join = f"join {_VERDICT} and v.accepted >= $accepted"
    return f"{join} where {' and '.join(conditions)}", params


def shift_table(store: Store, chosen: Slice, *, columns: Sequence[str]) -> pa.Table:
    """Rows of ``shifts`` in the slice as an Arrow table: a fraction of the time that a frame of them takes."""
    clause, params = where(chosen)
    return store.table(f"select {', '.join(f's.{name}' for name in columns)} from shifts s {clause}", params)


def shifts(store: Store, chosen: Slice, *, columns: Sequence[str]) -> pd.DataFrame:
    """Rows of ``shifts`` in the slice.

    Args:
        store: opened runs.
        chosen: what to keep.
        columns: columns of the store's ``shifts`` to return.
    """
    clause, params = where(chosen)
    return store.query(f"select {', '.join(f's.{name}' for name in columns)} from shifts s {clause}", params)


def judged(store: Store) -> bool:
    """Whether people judged any pair of these runs."""
    return not store.query("select 1 from verdicts limit 1").empty


def facets(store: Store, chosen: Slice) -> dict[str, dict[str, int]]:
    """Count the shifts that each value of each choice would leave, the other choices kept as they are.

    Returns:
        Field of :class:`Slice` -> value -> count, every value that occurs in the store (count 0 where the other
        choices leave none of it); beside :data:`CHOICES` also ``sign``.
    """
    together: dict[Slice, list[str]] = {}  # fields without a choice of their own see the same rows: one scan for all
    for field in _EXPRESSIONS:
        together.setdefault(chosen.without(field), []).append(field)
    found = {
        field: counts for seen, fields in together.items() for field, counts in _counts(store, seen, fields).items()
    }
    known = _known(store)
    return {field: dict.fromkeys(known[field], 0) | found[field] for field in _EXPRESSIONS}


_WHENS = " ".join(f"when s.{condition} then '{name}'" for name, condition in SIGNS.items())
_EXPRESSIONS = {field: f"s.{column}" for field, column in CHOICES.items()} | {"sign": f"case {_WHENS} end"}
"""Field of a slice that has counts -> what is counted."""

_values: WeakKeyDictionary[Store, dict[str, tuple[str, ...]]] = WeakKeyDictionary()


def _known(store: Store) -> dict[str, tuple[str, ...]]:
    """Every value of every choice in a store; what a store holds never changes."""
    if store not in _values:
        found = _grouped(store, list(_EXPRESSIONS), "", {})
        _values[store] = {field: tuple(sorted(counts)) for field, counts in found.items()}
    return _values[store]


def _counts(store: Store, seen: Slice, fields: Sequence[str]) -> dict[str, dict[str, int]]:
    return _grouped(store, fields, *where(seen))


def _grouped(store: Store, fields: Sequence[str], clause: str, params: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Count the rows by each field's value, in one scan."""
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
