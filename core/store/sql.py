"""Pieces of SQL that every reader and writer of the stored tables shares."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from core.statistics.changes import SHIFT_FLOOR
from core.store.schema import ADDED, SCHEMAS, schemas_of

_SCORES = SCHEMAS["scores"]
KEY = ("run", "corpus", "item", "subject", "language", "rank", "evaluator")
"""Columns that a row of ``scores`` and its baseline share."""

_HELD_BY = tuple(name for name in KEY if name != "item")
_GROUPED_BY = (*_HELD_BY, "axis", "family", "probe", "modifier", "control", "expectation", "baseline")

_COMPARED = [("baseline_score", pa.float64()), ("baseline_caption", pa.string())]
SHIFTS = pa.schema([*_SCORES, *_COMPARED, ("delta", pa.float64()), ("percent", pa.float64())])
GROUPS = pa.schema([*map(_SCORES.field, _GROUPED_BY), ("named", pa.bool_()), ("n", pa.int64())])
HELD = pa.schema([*map(_SCORES.field, _HELD_BY), ("n_items", pa.int64())])
VIEWS = {**SCHEMAS, "shifts": SHIFTS, "groups": GROUPS, "held": HELD}
"""View of a store over runs -> its columns; what each says is in :mod:`core.store.store`."""

SQL_TYPES = {
    pa.string(): "VARCHAR",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
}
"""Column type of a stored table -> its name in DuckDB."""


def scored_of(scores: str, bases: str) -> str:
    """SELECT of every row of a relation ``scores`` with what its shift is; null where it has no baseline; ``bases``:
    relation that holds at least the rows that are baselines (:func:`bases_of`)."""
    same = " and ".join(f"b.{name} = s.{name}" for name in KEY)
    return f"""
select s.*, b.score as baseline_score, b.caption as baseline_caption, s.score - b.score as delta,
       case when b.score >= {SHIFT_FLOOR!r} then 100 * (s.score - b.score) / b.score end as percent
from {scores} s left join {bases} b on {same} and b.probe = s.baseline"""


def bases_of(scores: str) -> str:
    """SELECT of the rows that may be baselines: of every probe that some row names as one, which are few."""
    columns = ", ".join((*KEY, "probe", "score", "caption"))
    return f"select {columns} from {scores} where probe in (select distinct baseline from {scores})"


def shifts_of(scores: str) -> str:
    """SELECT that makes the rows of ``shifts`` from a relation with the columns of ``scores``."""
    return f"{scored_of(scores, scores)}\nwhere s.baseline is not null"


def groups_of(scores: str) -> str:
    """SELECT that counts the rows of ``scores``: how many each probe has under each evaluator."""
    return f"select {', '.join(_GROUPED_BY)}, item is not null as named, count(*) as n from {scores} group by all"


def held_of(scores: str) -> str:
    """SELECT that counts the items of ``scores`` that any probe was applied to, under each evaluator."""
    counted = "count(distinct item) as n_items"
    return f"select {', '.join(_HELD_BY)}, {counted} from {scores} where probe is not null group by all"


def empty_select(schema: pa.Schema) -> str:
    """SELECT of no rows with the columns of a schema."""
    columns = ", ".join(f'cast(null as {SQL_TYPES[field.type]}) as "{field.name}"' for field in schema)
    return f"select {columns} where false"


def column_list(schema: pa.Schema) -> str:
    """Names of a schema's columns, quoted, with commas between."""
    return ", ".join(f'"{name}"' for name in schema.names)


def table_select(table: str, source: str, *, version: int) -> str:
    """SELECT of a stored table's rows (a key of SCHEMAS), with the columns of today, from a relation that holds it as
    an older version has it."""
    held = schemas_of(version)
    if table not in held:
        return empty_select(SCHEMAS[table])
    columns = []
    for field in SCHEMAS[table]:
        column = f'"{field.name}"'
        if field.name not in held[table].names:
            value = ADDED[table, field.name].means
            text = "null" if value is None else quoted(value) if isinstance(value, str) else str(value)
            column = f"cast({text} as {SQL_TYPES[field.type]}) as {column}"
        columns.append(column)
    return f"select {', '.join(columns)} from {source}"


def quoted(text: str) -> str:
    """Text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def no_glob(path: Path) -> str:
    """DuckDB reads ``*?[`` in a file name as a pattern; a class of one character stands for itself."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in str(path))


Pair = tuple[str, str, str]  # Run, item and probe

MANY = 10_000_000
"""Rows of a copy from which on each pair is sought alone. A value that a sorted column equals is skipped to, in ten
milliseconds a pair and whatever the size; values of a list are compared with every row of the probes, which grows with
the copy: at 5 million rows both take as long."""

_NAMED = ("run", "item", "probe")
_OF = "language = $language and rank = $rank"


def shifts_select(
    large: Mapping[str, str], pairs: Iterable[Pair], *, language: str, rank: int
) -> tuple[str, dict[str, Any]]:
    """SELECT of the rows of ``shifts`` of some pairs, and its parameters.
    ``large``: run -> relation of a copy of at least MANY rows that holds it, with the columns of ``shifts``.
    ``pairs``: of any run; those of other runs are looked for in the view, all at once."""
    sought = tuple(dict.fromkeys(pairs))
    if not sought:
        return empty_select(SHIFTS), {}
    params: dict[str, Any] = {"language": language, "rank": rank}
    parts = []
    for place, pair in enumerate(each for each in sought if each[0] in large):
        own = dict(zip((f"{name}_{place}" for name in _NAMED), pair, strict=True))
        same = " and ".join(f"{name} = ${key}" for name, key in zip(_NAMED, own, strict=True))
        parts.append(
            f"select {column_list(SHIFTS)} from {large[pair[0]]} where {same} and {_OF} and baseline is not null"
        )
        params |= own
    if others := [each for each in sought if each[0] not in large]:
        columns = dict(zip(_NAMED, zip(*others, strict=True), strict=True))
        some = []
        for name, values in columns.items():  # each column by itself, too: so blocks without one of them are skipped
            own = {f"{name}s_{place}": value for place, value in enumerate(sorted(set(values)))}
            some.append(f"{name} in ({', '.join(f'${key}' for key in own)})")
            params |= own | {f"{name}s": list(values)}
        named = ", ".join(f"unnest(${name}s)" for name in _NAMED)
        parts.append(
            f"select {column_list(SHIFTS)} from shifts where {' and '.join(some)} and {_OF} "
            f"and ({', '.join(_NAMED)}) in (select ({named}))"
        )
    return " union all ".join(parts), params
