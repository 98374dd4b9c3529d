"""Files of records, one a line: JSON Lines and CSV, each record with where it stands."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from core.corpora.csv_header import check_columns
from core.corpora.files import parse_json, read_text
from core.errors import BadCorpus

Record = tuple[str, Mapping[str, Any]]
"""Where a record stands, for messages, and its cells by column, still unchecked."""


def jsonl_records(path: Path) -> Iterator[Record]:
    """Read the JSON objects of a file, one a line; blank lines are passed over.

    Raises:
        BadCorpus: if a line is no JSON object.
    """
    for number, text in enumerate(read_text(path).split("\n"), start=1):
        if text.strip():
            record = parse_json(text, where=f"{path}, line {number}", first_line=number)
            if not isinstance(record, dict):
                raise BadCorpus(f"{path}, line {number} must be a JSON object, got {type(record).__name__}")
            yield f"{path.name}, line {number}", record


SEPARATORS = ",;\t"
"""What may stand between the cells of a table."""


def csv_rows(text: str, *, where: str, fold: bool = True, strict: bool = False) -> "csv.DictReader[str]":
    """The rows of a table by its columns; the cells are parted by what parts the first line into most columns.

    Args:
        text: of the file, without its byte order mark.
        where: what messages call it.
        fold: capitals in the names of columns are made small; blanks around them are never part of a name.
        strict: broken quoting raises csv.Error.

    Raises:
        BadCorpus: if the first line can be no line of columns, or names one twice.
    """
    check_columns(text, where=where)
    first = text.partition("\n")[0].strip("\r")
    between = max(SEPARATORS, key=lambda sign: len(next(csv.reader([first], delimiter=sign), [])))
    rows = csv.DictReader(StringIO(text, newline=""), delimiter=between, strict=strict)
    names = [" ".join((name.casefold() if fold else name).split()) for name in rows.fieldnames or ()]
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None:
        raise BadCorpus(f"{where} has the columns {', '.join(names)}; each may stand once, and {twice!r} does not")
    rows.fieldnames = names
    return rows


def csv_records(
    path: Path, check: Callable[[Path, Sequence[str]], None] | None = None, *, fold: bool = True
) -> Iterator[Record]:
    """Read the rows of a table with a line of columns, commas, semicolons or tabs between the cells.

    Args:
        check: raises where the columns will not do.
        fold: see :func:`csv_rows`.

    Raises:
        BadCorpus: if a row has another number of cells, the quoting is broken, or a column stands twice.
    """
    reader = csv_rows(read_text(path), where=str(path), fold=fold, strict=True)
    try:
        if check is not None:
            check(path, list(reader.fieldnames or ()))
        for row in reader:
            if None in row or None in row.values():
                raise BadCorpus(f"{path}, line {reader.line_num}: another number of cells than the first line")
            yield f"{path.name}, line {reader.line_num}", row
    except csv.Error as error:
        raise BadCorpus(f"{path}, line {reader.line_num}: {error}; mend the line or quote the cell") from error
