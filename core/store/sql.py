"""Pieces of SQL that every reader and writer of the stored tables shares."""

from pathlib import Path

import pyarrow as pa

from core.statistics.changes import SHIFT_FLOOR
from core.store.schema import ADDED, SCHEMAS, schemas_of

SQL_TYPES = {
    pa.string(): "VARCHAR", pa.float64(): "DOUBLE", pa.bool_(): "BOOLEAN", pa.int32(): "INTEGER",
}  # fmt: skip
"""Column type of a stored table -> its name in DuckDB."""


def shifts_of(scores: str) -> str:
    """SELECT that makes the rows of ``shifts`` from a relation with the columns of ``scores``."""
    return f"""
select s.*, b.score as baseline_score, b.caption as baseline_caption, s.score - b.score as delta,
       case when b.score >= {SHIFT_FLOOR!r} then 100 * (s.score - b.score) / b.score end as percent
from {scores} s left join {scores} b
  on b.run = s.run and b.corpus = s.corpus and b.item = s.item and b.subject = s.subject
 and b.language = s.language and b.rank = s.rank and b.evaluator = s.evaluator and b.probe = s.baseline
where s.baseline is not null"""


def empty_select(schema: pa.Schema) -> str:
    """SELECT of no rows with the columns of a schema."""
    columns = ", ".join(f'cast(null as {SQL_TYPES[field.type]}) as "{field.name}"' for field in schema)
    return f"select {columns} where false"


def column_list(schema: pa.Schema) -> str:
    """Names of a schema's columns, quoted, with commas between."""
    return ", ".join(f'"{name}"' for name in schema.names)


def table_select(table: str, source: str, *, version: int) -> str:
    """SELECT of a stored table's rows, with the columns of today, from one of an older version.

    Args:
        table: a key of SCHEMAS.
        source: relation that holds the table as its version has it.
        version: of ``source``.
    """
    held = schemas_of(version)
    if table not in held:
        return empty_select(SCHEMAS[table])
    columns = [
        f'"{field.name}"' if field.name in held[table].names else _stands_for(table, field) for field in SCHEMAS[table]
    ]
    return f"select {', '.join(columns)} from {source}"


def _stands_for(table: str, field: pa.Field) -> str:
    value = ADDED[table, field.name].means
    text = "null" if value is None else quoted(value) if isinstance(value, str) else str(value)
    return f'cast({text} as {SQL_TYPES[field.type]}) as "{field.name}"'


def quoted(text: str) -> str:
    """Text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def no_glob(path: Path) -> str:
    """DuckDB reads ``*?[`` in a file name as a pattern; a class of one character stands for itself."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in str(path))


def first_line(error: Exception) -> str:
    """First line of a message that may have many."""
    return (str(error).splitlines() or [type(error).__name__])[0]
