"""Texts, JSON and CSV as whole files or nothing (:mod:`core.writing`), and cells that no spreadsheet runs as a formula.

Whoever writes a caption, a label, a name or a comment decides what a cell of an export begins with. Every CSV for
people guards such cells by a single quote in front, which spreadsheets take for "this is text". What is written so is
read back exactly by :func:`exact`.

Source: OWASP ASVS 5.0, requirement 1.2.10; OWASP, CSV Injection.
"""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.writing import write_bytes

if TYPE_CHECKING:
    import pandas as pd


def remove_leftovers(folder: Path) -> None:
    """Remove what a kill left of files that were being written in a folder and below."""
    for left in folder.glob("**/.*.tmp"):
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def csv_text(table: "pd.DataFrame", *, digits: int | None = None) -> str:
    """Write a table as CSV whose texts are read back as texts; its index is not written.
    A reader takes ``null``, ``NA`` or ``None`` for a missing value, quoted or not. The axis and the family of edits
    that nobody can see are ``invisible edits`` here; another such text stands in single quotes, ``'NA'``, and an empty
    cell alone is a missing one. A text that a spreadsheet would run as a formula is guarded (:func:`guarded`), in a
    column's name too.
    ``digits``: significant ones of a number; None: all.

    >>> import pandas as pd
    >>> csv_text(pd.DataFrame({"family": ["null", "blur"], "n": [3, 4]}))
    'family,n\\ninvisible edits,3\\nblur,4\\n'
    """
    texts = [name for name in table if name in _NAMED and table[name].dtype.kind not in "biuf"]
    named = {name: table[name].astype(object).replace("null", "invisible edits") for name in texts}
    return guarded_csv(
        table.assign(**named),
        digits=digits,
        cell=lambda text: f"'{text}'" if text in _READ_AS_MISSING else guarded(text),
    )


_NAMED = ("axis", "family", "label")  # Columns that name an axis or a family

_READ_AS_MISSING = frozenset(
    ("#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
     "NULL", "NaN", "None", "n/a", "nan", "null")
)  # fmt: skip
"""What pandas reads as a missing value, unless it is told otherwise."""


def write_json(path: Path, value: Any) -> None:
    """Write strict JSON (no NaN), indented, as a whole file or nothing."""
    write_text(path, json_text(value))


def json_text(value: Any) -> str:
    """A value as strict JSON (no NaN), indented."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_text(path: Path, text: str) -> Path:
    """Write UTF-8 text as a whole file or nothing; returns the path. Raises StoreError if it cannot be written; what
    stood under that name before still stands."""
    write_bytes(path, text.encode("utf-8", "backslashreplace"))
    return path


_FORMULA = re.compile(r"[\s']*[=+\-@\t\r\0＝＋－＠]")
"""What begins a formula, whatever blanks stand before it; quotes there are passed over, so that each can be undone."""

_INSIDE = re.compile(r"([;\t\r\n])(?=[\s'\"]*[=+\-@＝＋－＠])")
_GUARDED_INSIDE = re.compile(r"([;\t\r\n])'(?=[\s'\"]*[=+\-@＝＋－＠])")
"""A formula for a spreadsheet that takes a semicolon or a tab for the end of a cell, or a line break for that of a row.
It splits a comma's CSV there whatever quotes stand around the whole text, which do not stand where its cell begins."""

_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)*|[.,]\d+)([eE][+-]?\d+)?\s?%?")


def guarded(text: str) -> str:
    """Return a text as a cell of a spreadsheet may hold it; a number, a negative one too, stays what it is.

    >>> guarded("=HYPERLINK(1)"), guarded("a cat"), guarded("-1.5"), guarded("a cat;=1+1")
    ("'=HYPERLINK(1)", 'a cat', '-1.5', "a cat;'=1+1")
    """
    inside = _INSIDE.sub(r"\1'", text)
    return f"'{inside}" if _is_formula(inside) else inside


def exact(cell: str) -> str:
    """Return what :func:`guarded` was given.

    >>> exact("'=HYPERLINK(1)"), exact("'tis"), exact(guarded("'=1+1"))
    ('=HYPERLINK(1)', "'tis", "'=1+1")
    """
    inside = cell[1:] if cell.startswith("'") and _is_formula(cell[1:]) else cell
    return _GUARDED_INSIDE.sub(r"\1", inside)


def guarded_csv(table: "pd.DataFrame", *, digits: int | None = None, cell: Callable[[str], str] = guarded) -> str:
    """Write a table as CSV for people, numbers with so many significant digits (None: all); ``cell``: what is made of
    each text and of each column's name."""
    import pandas as pd

    def told(value: object) -> object:
        return cell(value) if isinstance(value, str) else value

    texts = [name for name in table.columns if not pd.api.types.is_numeric_dtype(table[name])]
    # a column of categories keeps its own kind of cells: it is written as plain ones
    plain = table.assign(**{name: table[name].astype(object).map(told) for name in texts})
    plain.columns = [told(name) for name in plain.columns]
    returns = any("\r" in text for name in texts for text in table[name] if isinstance(text, str))
    # the writer quotes only its own line ends: a lone carriage return would begin a row with what stands behind it
    ends = "\r\n" if returns else "\n"
    return str(plain.to_csv(index=False, float_format=f"%.{digits}g" if digits else None, lineterminator=ends))


def _is_formula(text: str) -> bool:
    return _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None
