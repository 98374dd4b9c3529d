"""Slices: the part of a scope's shifts that a reader looks at."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.scope import Narrowed
from core.corpora.schema import OWN
from core.errors import InvalidInput
from core.probes.base import IDENTITY
from core.store.run_files import Run
from core.store.store import Store

CHOICES: Mapping[str, str] = {
    "categories": "category",
    "coverage_bins": "coverage_bin",
    "axes": "axis",
    "families": "family",
    "probes": "probe",
    "modifiers": "modifier",
    "evaluators": "evaluator",
}
"""Field of a slice -> column of the store's ``shifts``."""

CHOSEN_BY: Mapping[str, str] = {column: name for name, column in CHOICES.items()}
"""Column -> the field of a slice that chooses its values."""

PROBES = ("axes", "families", "probes", "modifiers")
"""Fields that choose probes, and so rows of a table. Such a choice changes no corrected p-value of what it leaves."""

SIGNS: Mapping[str, str] = {"up": "delta > 0", "down": "delta < 0", "none": "delta = 0"}
"""Where the score went -> condition."""

WHOLE = 0.98  # Share of the object's mask that an edit must leave in the image for the object to count as whole


def is_cut(kept: np.ndarray) -> np.ndarray:
    """Which edits cut the object: less than WHOLE of its mask is left in the image. What was not measured is not cut;
    ``kept``: the diagnostic ``object_kept``, in [0, 1]; NaN where it was not measured. This is what the edit itself
    does; what an evaluator's own crop takes away besides is another matter (``inside``). Returns bool, of the same
    shape."""
    return np.asarray(kept < WHOLE)


MOST_OWN = 100  # Columns of their owners that are read of the items of some runs, the first by name

_OWN_VALUES = """
with told as (
    select distinct key, value from variants
    where probe = $identity and starts_with(key, $own) and value is not null
)
select * from told where key in (select distinct key from told order by key limit $most) order by key, value
"""

_VERDICT = (
    "verdicts v on v.corpus = s.corpus and v.item = s.item and v.probe = s.probe and v.subject = s.subject "
    "and v.language = s.language and v.rank = s.rank"
)


@dataclass(frozen=True, slots=True)
class Slice:
    """What to look at; an empty choice keeps everything."""

    # categories, coverage_bins, axes, families, probes, modifiers, evaluators: values kept of that column
    categories: tuple[str, ...] = ()
    coverage_bins: tuple[str, ...] = ()
    axes: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    probes: tuple[str, ...] = ()
    modifiers: tuple[str, ...] = ()
    evaluators: tuple[str, ...] = ()
    sign: str | None = None  # "up", "down" or "none": the sign of the shift; None keeps all
    # least and largest share of the object inside the evaluator's crop, in [0, 1]; shifts whose share is not known
    # are left out. None keeps all.
    inside: tuple[float, float] | None = None
    controls: bool = False  # keep controls (neutral words, blur); the null axis is kept either way
    # least share of people who found both versions acceptable, in [0, 1]; shifts that nobody judged are left out.
    # None keeps all.
    accepted: float | None = None
    # least share of people who uphold a comparison, in [0, 1]; comparisons that nobody judged are left out. Of what
    # is no comparison it leaves out nothing. None keeps all.
    upheld: float | None = None
    whole: bool = False  # leave out the shifts whose edit cut the object, see :func:`is_cut`
    # (key, value) facts, e.g. ``("knob", "count")`` of a variant or ``("own:site", "hospital")`` of a column of the
    # owner's: keep the items that tell one of the values of every key that is named. Empty keeps all.
    told: tuple[tuple[str, str], ...] = ()
    # leave out the items whose label could as well belong to another category; where a run does not record which
    # these are (see :mod:`core.analysis.slices`), nothing is left out
    untied: bool = False

    def __post_init__(self) -> None:
        if self.sign is not None and self.sign not in SIGNS:
            raise InvalidInput(f"sign must be one of {', '.join(SIGNS)}, got {self.sign!r}")
        if self.inside is not None and not 0 <= self.inside[0] <= self.inside[1] <= 1:
            raise InvalidInput(f"inside must be two shares in [0, 1], the smaller first, got {self.inside}")
        for name, share in (("accepted", self.accepted), ("upheld", self.upheld)):
            if share is not None and not 0 <= share <= 1:
                raise InvalidInput(f"{name} must be a share in [0, 1], got {share}")

    def of_items(self) -> "Slice":
        """The same slice of items and evaluators, whichever of their edits it keeps."""
        kept = ("categories", "coverage_bins", "evaluators", "told", "untied")
        return Slice(**{name: getattr(self, name) for name in kept})

    def without(self, field: str) -> "Slice":
        """The same slice with one choice taken back."""
        usual: Any = getattr(Slice(), field)
        return replace(self, **{field: usual})


def where(scope: Narrowed, chosen: Slice, ties: pd.DataFrame | None) -> tuple[str, dict[str, Any]]:
    """A slice of the scope's corpus in view, as SQL over ``shifts s``: for what shows pairs and not numbers of many.
    Returns what follows ``from shifts s``, and its parameters by name; ``ties``: of the run in view, see
    :func:`recorded`."""
    params: dict[str, Any] = {name: getattr(scope, name) for name in ("run", "subject", "language", "rank")}
    conditions = [f"s.{name} = ${name}" for name in params] + ["s.expectation = 'invariant'"]
    for field, column in CHOICES.items():
        if values := getattr(chosen, field) or (scope.evaluators if field == "evaluators" else ()):
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
    if chosen.whole:
        params["whole"] = WHOLE
        conditions.append("coalesce(s.object_kept, 1) >= $whole")
    for place, key in enumerate(dict.fromkeys(key for key, _ in chosen.told)):
        named = {f"told_{place}_{index}": value for index, (name, value) in enumerate(chosen.told) if name == key}
        params |= named | {f"told_{place}": key}
        conditions.append(
            "exists (select 1 from variants f where f.run = s.run and f.corpus = s.corpus and f.item = s.item "
            f"and f.key = $told_{place} and f.value in ({', '.join(f'${name}' for name in named)}))"
        )
    if chosen.untied and ties is not None:
        params["tied"] = [f"{label}\x1f{each}" for label, *both in ties.itertuples(index=False) for each in both]
        conditions.append("not coalesce(list_contains($tied, s.label || chr(31) || s.category), false)")
    join = ""
    if chosen.accepted is not None:
        params["accepted"] = chosen.accepted
        join = f"join {_VERDICT} and v.accepted >= $accepted"
    return f"{join} where {' and '.join(conditions)}", params


def stored_values(store: Store) -> dict[str, tuple[str, ...]]:
    """Values of each choice of a slice in any run, sorted."""
    told: dict[str, tuple[str, ...]] = {}
    for name, column in CHOICES.items():
        source = "items" if column in ("category", "coverage_bin") else "groups"
        rows = store.query(f"select distinct {column} from {source} where {column} is not null order by {column}")
        told[name] = tuple(map(str, rows[column]))
    return told


def told_values(store: Store, keys: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Values that the variants of any run tell of some facts, sorted."""
    rows = store.query(
        "select distinct key, value from variants where list_contains($keys, key) and value is not null "
        "order by key, value",
        {"keys": list(keys)},
    )
    return {key: tuple(map(str, rows.loc[rows["key"] == key, "value"])) for key in keys}


def told_of(asked: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """What items are to tell of columns of their owners, of texts such as ``site=hospital``. Raises InvalidInput for
    what is no column=value."""
    found = []
    for each in asked:
        column, equals, value = (part.strip() for part in each.partition("="))
        if not (column and equals and value):
            raise InvalidInput(f"where needs column=value, e.g. site=hospital, got {each[:80]!r}")
        found.append((OWN + column, value))
    return tuple(dict.fromkeys(found))


def told_said(told: Sequence[tuple[str, str]]) -> list[str]:
    """What items are to tell, a phrase a column.

    Example:
        >>> told_said([("own:site", "north"), ("own:site", "south"), ("own:camera", "A1")])
        ['site north or south', 'camera A1']
    """
    values: dict[str, list[str]] = {}
    for key, value in told:
        values.setdefault(key.removeprefix(OWN), []).append(value)
    return [f"{column} {' or '.join(own)}" for column, own in values.items()]


def own_keys() -> dict[str, Any]:
    """Parameters by which a question finds the facts of unedited items, of MOST_OWN columns at most."""
    return {"identity": IDENTITY, "own": OWN, "most": MOST_OWN}


def own_values(store: Store) -> dict[str, tuple[str, ...]]:
    """Columns of their owners that items of any run tell -> their values, both sorted."""
    rows = store.query(_OWN_VALUES, own_keys())
    return {str(key): tuple(map(str, own["value"])) for key, own in rows.groupby("key", sort=True)}


def judged(store: Store) -> bool:
    """Whether people judged any pair of which both versions should be equally good."""
    return not store.query("select 1 from verdicts where accepted is not null limit 1").empty


Items = slice | np.ndarray  # Places of some items: a run of them, or their numbers

EVERY = slice(None)


def picked(rows: np.ndarray, places: np.ndarray, items: Items = EVERY) -> np.ndarray:
    """Some rows of some items, a copy [k, n]; ``rows``: [m, N]."""
    return np.asarray(rows[places, items] if isinstance(items, slice) else rows[places[:, None], items])


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """What was measured of every variant of a table, a number a (probe, item) [P, N]; NaN where it was not."""

    rows: np.ndarray  # row of each probe in ``values``, int [P]; that of a probe without a number is the last
    values: np.ndarray  # float64 [k + 1, N]; the last row is NaN

    def of(self, probes: np.ndarray, items: Items = EVERY) -> np.ndarray:
        """The numbers of some probes and items by their places, float64 [k, n]."""
        return picked(self.values, self.rows[probes], items)

    def there(self) -> np.ndarray:
        """Items of which some variant was measured, bool [N]."""
        return np.asarray(~np.isnan(self.values).all(axis=0))

    def at(self, items: Items) -> "Diagnostic":
        """The same of some items; those of a slice are no copies."""
        return Diagnostic(self.rows, self.values[:, items])

    def part(self, probes: np.ndarray) -> "Diagnostic":
        """The same of some probes, by their places."""
        held, rows = np.unique(np.append(self.rows[probes], len(self.values) - 1), return_inverse=True)
        return Diagnostic(rows[:-1], self.values[held])


TIES = "ties"  # Name under which a table keeps them: columns :data:`TIE_COLUMNS`

TIE_COLUMNS = ("corpus", "label", "category", "other")
"""A row a tied label of a corpus; a corpus whose run counted ties and has none has one row without a label."""


def recorded(run: Run) -> pd.DataFrame | None:
    """Ties that a run records, one a row, without the corpus; None where it was audited before ties were counted."""
    told = run.manifest["corpus"].get("tied")
    if not isinstance(told, Mapping):
        return None
    rows = [
        (str(label), str(each["category"]), str(each["or"]))
        for label, each in told.items()
        if isinstance(each, Mapping) and {"category", "or"} <= each.keys()
    ]
    return pd.DataFrame(rows, columns=list(TIE_COLUMNS[1:]), dtype=object)


def ties_of(runs: Sequence[Run], scope: Narrowed) -> pd.DataFrame:
    """Ties of the runs of a scope, columns :data:`TIE_COLUMNS`; a corpus that is not among them has none recorded."""
    found = []
    for run in (each for each in runs if each.id in scope.run_ids):
        ties = recorded(run)
        if ties is not None:
            none = pd.DataFrame([(None, None, None)], columns=list(TIE_COLUMNS[1:]), dtype=object)
            found.append((ties if len(ties) else none).assign(corpus=str(run.manifest["corpus"].get("name", ""))))
    return pd.concat(found, ignore_index=True)[list(TIE_COLUMNS)] if found else pd.DataFrame(columns=list(TIE_COLUMNS))


def other_category(items: pd.DataFrame, ties: pd.DataFrame) -> pd.Series:
    """The other category of every item (corpus, label, category) whose label has one by the ties, None elsewhere; an
    item that has neither of the two categories got its own elsewhere: it has no tie."""
    rows = ties.dropna(subset="label").itertuples(index=False)
    known = dict[tuple[object, ...], object]()
    for corpus, label, category, other in rows:
        known |= {(corpus, label, category): other, (corpus, label, other): category}
    named = zip(*(items[column].tolist() for column in ("corpus", "label", "category")), strict=True)
    found = [known.get(each) for each in named] if known else [None] * len(items)
    return pd.Series(found, index=items.index, dtype=object)
