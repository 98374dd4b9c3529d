"""Texts, JSON and CSV as whole files or nothing (:mod:`core.writing`)."""

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.store.spreadsheets import guarded, guarded_csv
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
    """Write a table as CSV whose texts are read back as texts.

    A reader takes ``null``, ``NA`` or ``None`` for a missing value, quoted or not; here a family may have such a name.
    It is written in single quotes, ``'null'``, and an empty cell alone is a missing one. A text that a spreadsheet
    would run as a formula is guarded (:mod:`core.store.spreadsheets`), in a column's name too.

    Args:
        table: its index is not written.
        digits: significant ones of a number; None: all.

    Example:
        >>> import pandas as pd
        >>> csv_text(pd.DataFrame({"family": ["null", "blur"], "n": [3, 4]}))
        "family,n\\n'null',3\\nblur,4\\n"
    """
    return guarded_csv(
        table, digits=digits, cell=lambda text: f"'{text}'" if text in _READ_AS_MISSING else guarded(text)
    )


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
    """Write UTF-8 text as a whole file or nothing; returns the path.

    Raises:
        StoreError: if it cannot be written; what stood under that name before still stands.
    """
    write_bytes(path, text.encode("utf-8", "backslashreplace"))
    return path
