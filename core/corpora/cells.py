"""Tables of text: what stands between their cells, and their rows."""

import csv
from collections.abc import Collection, Iterable, Iterator
from itertools import chain

from core.corpora.caption_columns import plain_name
from core.corpora.csv_header import check_columns
from core.errors import BadCorpus

SEPARATORS = ",;\t|"
"""What may stand between the cells of a table."""


class Cells:
    """A table of text, read row by row.

    Args:
        lines: of the file with their ends, without its byte order mark.
        where: what messages call the file.
        usual: the separator where the first line does not tell.
        known: plain names of columns, of which the first line holds one by the right separator.
        bare: separators by which nothing is quoted, in whose tables a row that is too short has empty cells.

    Raises:
        BadCorpus: if the first line can be no line of columns.
    """

    def __init__(
        self, lines: Iterable[str], *, where: str, usual: str = ",", known: Collection[str] = (), bare: str = ""
    ) -> None:
        self.where = where
        waiting = iter(lines)
        self._skipped, first = 0, ""
        for first in waiting:
            if first.strip():
                break
            self._skipped += 1
        check_columns(first, where=where)
        self.between = max(SEPARATORS, key=lambda each: _fits(first, each, usual, known))
        self.bare = self.between in bare
        self._rows = csv.reader(
            chain((first,), waiting), delimiter=self.between, strict=True, skipinitialspace=self.bare,
            quoting=csv.QUOTE_NONE if self.bare else csv.QUOTE_MINIMAL,
        )  # fmt: skip
        self.header = [cell.strip() for cell in self._next()] if first.strip() else []

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """The rows below the header that hold anything, each with the number of its line; once.

        Raises:
            BadCorpus: naming the first line with another number of cells, or with broken quotes.
        """
        width = len(self.header)
        try:
            for row in self._rows:
                if len(row) != width:
                    if not any(map(str.strip, row)):
                        continue
                    row = self._fitted(row)
                elif not row or (not row[0] and not any(map(str.strip, row))):
                    continue
                yield self.line, row
        except csv.Error as error:
            raise self._broken(error) from error

    @property
    def line(self) -> int:
        """Number of the line that was read last, from 1."""
        return self._skipped + self._rows.line_num

    def _next(self) -> list[str]:
        try:
            return next(self._rows, [])
        except csv.Error as error:
            raise self._broken(error) from error

    def _broken(self, error: csv.Error) -> BadCorpus:
        return BadCorpus(f"{self.where}, line {self.line}: {error}; mend the line or quote the cell")

    def _fitted(self, row: list[str]) -> list[str]:
        width = len(self.header)
        if self.bare and len(row) < width:  # Flickr30k's own results.csv has such a line
            return [*row, *[""] * (width - len(row))]
        raise BadCorpus(
            f"{self.where}, line {self.line}: another number of cells than the first line, {len(row)} cells under "
            f"{width} columns; put a cell that holds the separator between double quotes"
        )


def _fits(first: str, between: str, usual: str, known: Collection[str]) -> tuple[bool, int, bool]:
    try:
        cells = next(csv.reader([first.rstrip("\r\n")], delimiter=between), [])
    except csv.Error:
        cells = [first]
    return any(plain_name(cell) in known for cell in cells), len(cells), between == usual
