"""The first line of a table, looked at before a reader takes it apart."""

from pathlib import Path

from core.errors import BadCorpus

MOST_COLUMNS = 1000
"""Columns of the widest table that is read; the widest that is published, Composite's, has some dozens."""

LONGEST = 100_000
"""Characters of the longest line of columns."""


def check_csv_header(path: Path, *, where: str = "") -> None:
    """Read the first line of a text file and refuse what no table's columns can be.

    Args:
        where: what messages call the file; empty: by its path.

    Raises:
        BadCorpus: for more than MOST_COLUMNS columns or LONGEST characters. What cannot be read at all is left to the
            reader of the file, which says so.
    """
    try:
        with path.open("rb") as file:
            line = file.readline(LONGEST + 1)
    except OSError:
        return
    check_columns(line.decode("utf-8", "replace"), where=where or str(path))


def check_columns(text: str, *, where: str) -> None:
    """Like :func:`check_csv_header`, for the text of a file, or its beginning."""
    end = text.find("\n", 0, LONGEST + 1)
    line = text[: LONGEST + 1] if end < 0 else text[:end]
    count = 1 + max(line.count(between) for between in ",;\t")
    if len(line) > LONGEST:
        raise BadCorpus(f"{where}: its first line has more than {LONGEST:,} characters, and should name the columns")
    if count > MOST_COLUMNS:
        raise BadCorpus(
            f"{where} has {count:,} columns by its first line, and at most {MOST_COLUMNS:,} are read; keep some of them"
        )
