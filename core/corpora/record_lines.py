"""Files of records, one a line: JSON Lines and CSV, each record with where it stands."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from core.corpora.corpus_files import parse_json, read_text
from core.corpora.table_cells import Cells
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


def csv_cells(path: Path, *, fold: bool = True) -> Cells:
    """Open a table with a line of columns, its cells parted by what parts the first line into most.

    Args:
        fold: capitals in the names of columns are made small; blanks around them are never part of a name.

    Raises:
        BadCorpus: if the first line can be no line of columns, or names one twice.
    """
    cells = Cells(StringIO(read_text(path), newline=""), where=str(path))
    names = [" ".join((name.casefold() if fold else name).split()) for name in cells.header]
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None:
        raise BadCorpus(f"{path} has the columns {', '.join(names)}; each may stand once, and {twice!r} does not")
    cells.header = names
    return cells


def csv_records(
    path: Path, check: Callable[[Path, Sequence[str]], None] | None = None, *, fold: bool = True
) -> Iterator[Record]:
    """Read the rows of a table, as :func:`csv_cells` opens it.

    Args:
        check: raises where the columns will not do.

    Raises:
        BadCorpus: if a row has another number of cells, the quoting is broken, or a column stands twice.
    """
    cells = csv_cells(path, fold=fold)
    if check is not None:
        check(path, cells.header)
    for number, row in cells.rows():
        yield f"{path.name}, line {number}", dict(zip(cells.header, row, strict=True))
