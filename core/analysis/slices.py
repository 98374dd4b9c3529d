"""Slices: the part of the stored shifts that a reader looks at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

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
