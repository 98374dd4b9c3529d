"""Writing a whole file or nothing: a kill, a full disk or a second reader never meets half of one."""

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from core.errors import StoreError
from core.outputs import why_not_file
from core.store.spreadsheets import guarded, guarded_csv

if TYPE_CHECKING:
    import pandas as pd


_LONGEST = 200
"""Characters of a file's name in that of its temporary folder; a file system takes 255."""


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Let ``write`` fill a temporary file, sync it, and give it its name in one step.

    Args:
        path: final name; its folder is made when needed.
        write: called with the temporary path.

    Raises:
        StoreError: if the file cannot be written, or the name is that of a folder, a device or a link; what stood under
            that name before still stands.
    """
    if why := why_not_file(path):
        raise StoreError(why)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _aside(path) as temporary:
            write(temporary)
            _sync(temporary)
            if why := why_not_file(path):  # as it is now, after what may have been long work
                raise StoreError(why)
            temporary.replace(path)
            _sync(path.parent)
    except OSError as error:
        raise StoreError(cannot_write(path, error)) from error


def remove_leftovers(folder: Path) -> None:
    """Remove what a kill left of files that were being written in a folder and below."""
    for left in folder.glob("**/.*.tmp"):
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


@contextmanager
def _aside(path: Path) -> Iterator[Path]:
    """A name beside a file in a folder that is new, nobody can guess and nobody else may enter.

    So what lies under the temporary name is never another's file, nor a link that leads writing elsewhere.
    """
    folder = Path(mkdtemp(prefix=f".{path.name[:_LONGEST]}.", suffix=".tmp", dir=path.parent))
    try:
        yield folder / path.name
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
    write_whole(path, lambda temporary: _write_text(temporary, text))
    return path


def cannot_write(path: Path, error: OSError) -> str:
    """One sentence: which file, why, what to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{path} cannot be written: the disk is full; free some space and start the same run again, it goes on"
    return f"{path} cannot be written: {error.strerror or error}; check the folder and start the same run again"


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
