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


def csv_records(path: Path, check: Callable[[Path, Sequence[str]], None]) -> Iterator[Record]:
    """Read the rows of a CSV file with a line of columns.

    Args:
        check: raises where the columns will not do.

    Raises:
        BadCorpus: if a row has another number of cells, or the quoting is broken.
    """
    text = read_text(path)
    check_columns(text, where=str(path))
    reader = csv.DictReader(StringIO(text, newline=""), strict=True)
    try:
        check(path, list(reader.fieldnames or ()))
        for row in reader:
            if None in row or None in row.values():
                raise BadCorpus(f"{path}, line {reader.line_num}: another number of cells than the first line")
            yield f"{path.name}, line {reader.line_num}", row
    except csv.Error as error:
        raise BadCorpus(f"{path}, line {reader.line_num}: {error}; mend the line or quote the cell") from error
