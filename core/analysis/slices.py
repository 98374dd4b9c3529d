"""Slices: the part of the stored shifts that a reader looks at, and how many shifts each further choice would leave."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

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
            params[field] = list(values)
            conditions.append(f"list_contains(${field}, s.{column}::varchar)")
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


def shifts(store: Store, chosen: Slice, *, columns: Sequence[str]) -> pd.DataFrame:
    """Rows of ``shifts`` in the slice.

    Args:
        store: opened runs.
        chosen: what to keep.
        columns: columns of the store's ``shifts`` to return.
    """
    clause, params = where(chosen)
    return store.query(f"select {', '.join(f's.{name}' for name in columns)} from shifts s {clause}", params)


def facets(store: Store, chosen: Slice) -> dict[str, dict[str, int]]:
    """Count the shifts that each value of each choice would leave, the other choices kept as they are.

    Returns:
        Field of :class:`Slice` -> value -> count, every value that occurs in the store (count 0 where the other
        choices leave none of it); beside :data:`CHOICES` also ``sign``.
    """
    counts = {field: _counts(store, chosen.without(field), f"s.{column}") for field, column in CHOICES.items()}
    return counts | {"sign": _counts(store, chosen.without("sign"), _SIGN)}


def _counts(store: Store, chosen: Slice, expression: str) -> dict[str, int]:
    clause, params = where(chosen)
    found = store.query(
        f"select ({expression})::varchar as value, count(*) as n from shifts s {clause} group by 1", params
    ).dropna(subset=["value"])  # fmt: skip
    known = store.query(f"select distinct ({expression})::varchar as value from shifts s").dropna()
    counts = {str(value): 0 for value in sorted(known["value"])}
    return counts | {str(value): int(n) for value, n in zip(found["value"], found["n"], strict=True)}
