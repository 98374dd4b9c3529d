"""Columns of people's own in a table beside pictures, such as ``site`` or ``camera``: which of them are slices."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.corpora.caption_tables import said_text
from core.corpora.findings import Findings
from core.corpora.schema import OWN, Rejection

NOT_STATED = "not stated"
"""What an item tells of a column that says nothing of it."""

SEVERAL = "several"
"""What an item tells of a column whose rows about it differ."""

MOST_COLUMNS = 20
"""Columns that are kept of a corpus."""

MOST_VALUES = 100
"""Values of a column up to which it is a slice: more are names or measurements, not kinds."""

MOST_CHARACTERS = 80
"""Of a value, and of a column's name."""

_MOST_LOOKED_AT = 100
"""Columns of a table that are looked at."""

_MOST_NAMED = 8
"""Columns that a remark names."""

OwnCells = tuple[tuple[str, str], ...]
"""What one row states: (column, value)."""


class OwnColumns:
    """Takes the cells of a table row by row, and tells at the end which columns are slices.

    A column with too many values is let go of as soon as that is known, so that no table of ids is held.
    """

    def __init__(self) -> None:
        self._values: dict[str, dict[str, str]] = {}
        self._passed: dict[str, str] = {}
        self._rows: dict[OwnCells, OwnCells] = {}
        self._where = ""

    def take(self, cells: Iterable[tuple[str, Any]], where: str) -> OwnCells:
        """Take the cells of a row that nothing else reads; return what is kept of them."""
        self._where = self._where or where
        found = tuple((column, value) for column, cell in cells if (value := self._value(column, cell, where)))
        return self._rows.setdefault(found, found) if found else ()

    def of_pictures(self, rows: Mapping[str, Sequence[OwnCells]], findings: Findings) -> dict[str, dict[str, str]]:
        """What each picture tells by the columns that are slices; remarks those that are, and those that are none.

        A slice has at most MOST_VALUES values, and one that two pictures share.
        Returns picture -> OWN and the column -> value: NOT_STATED where no row of the picture has one, SEVERAL where
        its rows differ. Empty where no column is a slice.
        """
        told = {picture: _of_one(own) for picture, own in rows.items()}
        counts = {column: Counter(own[column] for own in told.values() if column in own) for column in self._values}
        for column, values in counts.items():
            if reason := _no_slice(values):
                self._passed[column] = reason
        kept = [column for column in counts if column not in self._passed]
        self._passed |= dict.fromkeys(kept[MOST_COLUMNS:], f"more than {MOST_COLUMNS} columns")
        kept = kept[:MOST_COLUMNS]
        self._remark({column: counts[column] for column in kept}, len(rows), findings)
        if not kept:
            return {}
        return {
            picture: {OWN + column: own.get(column, NOT_STATED) for column in kept} for picture, own in told.items()
        }

    def _value(self, column: str, cell: object, where: str) -> str:
        """The text of a cell; empty where it states nothing, or its column is no slice."""
        if column in self._passed:
            return ""
        if column not in self._values and (reason := self._unfit(column)):
            self._passed[column] = reason
            return ""
        values, text = self._values.setdefault(column, {}), _text(cell)
        if text is None:
            reason = f"{where} holds a {type(cell).__name__}, no text or number"
        elif len(text) > MOST_CHARACTERS:
            reason = f"{where} holds {len(text):,} characters"
        elif text and text not in values and len(values) == MOST_VALUES:
            reason = f"more than {MOST_VALUES} different values"
        else:
            return values.setdefault(text, text) if text else ""
        del self._values[column]
        self._passed[column] = reason
        return ""

    def _unfit(self, column: str) -> str:
        if len(column) > MOST_CHARACTERS or not column.isprintable():
            return f"a name of {len(column):,} characters, at most {MOST_CHARACTERS} that can be printed are read"
        return f"more than {_MOST_LOOKED_AT} columns" if len(self._values) >= _MOST_LOOKED_AT else ""

    def _remark(self, kept: Mapping[str, Counter[str]], pictures: int, findings: Findings) -> None:
        said = [
            f"{column!r} ({len(values)} values, not stated of {pictures - values.total()} pictures)"
            for column, values in kept.items()
        ]
        passed = [f"{column[:40]!r} ({reason})" for column, reason in self._passed.items()]
        for code, told in (("column-kept", said), ("column-passed-over", passed)):
            if told:
                more = f" and {len(told) - _MOST_NAMED:,} more" if len(told) > _MOST_NAMED else ""
                findings.count(code, len(told), Rejection(self._where, code, ", ".join(told[:_MOST_NAMED]) + more))


def _of_one(rows: Sequence[OwnCells]) -> dict[str, str]:
    """What the rows of one picture state together."""
    found: dict[str, str] = {}
    for column, value in (cell for row in rows for cell in row):
        found[column] = value if found.get(column, value) == value else SEVERAL
    return found


def _no_slice(values: Counter[str]) -> str:
    """Why a column is no slice, by the pictures that each of its values is of; empty where it is one."""
    if not values:
        return "no value of a picture"
    if set(values) == {SEVERAL}:
        return "the rows of each picture differ"
    return "" if max(values.values()) > 1 else "another value for each picture"


def _text(cell: object) -> str | None:
    """A cell as a category, empty where it states nothing; None for a list or an object."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float):
        cell = None if math.isnan(cell) else int(cell) if cell.is_integer() else cell
    if isinstance(cell, int | float):
        return str(cell)
    text = None if isinstance(cell, dict) else said_text(cell)
    if text is None:
        return None
    return "".join(each if each.isprintable() else "\ufffd" for each in " ".join(text.split()))
