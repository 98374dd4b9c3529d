"""The header of a CSV file, the columns that captions are looked for in, and what a cell of a table holds."""

import ast
import csv
import json
import re
import tokenize
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from io import StringIO
from itertools import chain
from typing import Any, NamedTuple

from core.errors import BadCorpus

MOST_COLUMNS = 1000
"""Columns of the widest table that is read; the widest that is published, Composite's, has some dozens."""

LONGEST = 100_000  # characters of the longest line of columns
MOST_CAPTION = 100_000  # characters of the longest caption that is read; what is longer is a document


def too_long(what: str, text: str) -> str:
    """Why a caption is not read, in words; empty where it is no longer than any that is."""
    return f"{what} has {len(text):,} characters, at most {MOST_CAPTION:,} are read" * (len(text) > MOST_CAPTION)


def check_columns(text: str, *, where: str) -> None:
    """Refuse what no table's columns can be, by the first line of the text of a file, or of its beginning.
    Raises BadCorpus for more than MOST_COLUMNS columns or LONGEST characters."""
    end = text.find("\n", 0, LONGEST + 1)
    line = text[: LONGEST + 1] if end < 0 else text[:end]
    count = 1 + max(line.count(between) for between in ",;\t")
    if len(line) > LONGEST:
        raise BadCorpus(f"{where}: its first line has more than {LONGEST:,} characters, and should name the columns")
    if count > MOST_COLUMNS:
        raise BadCorpus(
            f"{where} has {count:,} columns by its first line, and at most {MOST_COLUMNS:,} are read; keep some of them"
        )


_OF_FILES = ("image", "file_name", "filename", "image_path", "image_file", "image_name", "image_file_name")
_OF_VIDEOS = ("video", "video_id", "video_path")
IMAGE = (*_OF_FILES, "img", "img_path", "filepath", "path", *_OF_VIDEOS)
"""Names of the column that says which picture, or video, a line is about; of several the first counts."""

KEY = ("id", "image_id", "cocoid", "imgid", "img_id", "key")
"""Likewise of an id, of the line or of its picture; where no other column names the picture, ``id`` counts last.
Karpathy's ``imgid`` is a place in his file, which COCO's results do not go by."""

CAPTIONERS = ("prediction", "predictions", "candidate")
_BY_ANYBODY = ("caption", "captions", "caption_str", "annotations_captions", "text", "sentence", "sentences")
SAID = (*CAPTIONERS, *_BY_ANYBODY, "comment", "raw", "description")
"""Likewise of the caption: a captioner's comes before one by people."""

PEOPLE = ("references", "reference", "refs", "reference_strs")  # likewise of captions by people beside a captioner's
NUMBER = ("comment_number",)  # likewise of the number of a caption among those of its picture


class Roles(NamedTuple):
    """Which cell of a record is what, by its name in the record; what is nothing known, also by its plain name."""

    image: str | None
    key: str | None
    number: str | None
    said: str | None
    people: str | None
    rest: tuple[tuple[str, str], ...]


@lru_cache(maxsize=1000)
def roles_of(names: tuple[str, ...]) -> Roles:
    """Which cell of a record with such names is what; the name of one, None where there is none.
    Beside a captioner's caption, one by people is a reference."""
    own = {plain_name(name): name for name in names}
    image, number, said, people = (
        next((name for name in known if name in own), None) for known in (IMAGE, NUMBER, SAID, PEOPLE)
    )
    key = next((name for name in (KEY if image else (*KEY[1:], KEY[0])) if name in own), None)
    if people is None and said in CAPTIONERS:
        people = next((name for name in SAID if name in own and name not in CAPTIONERS), None)
    used = (image, key, number, said, people)
    rest = tuple((plain, name) for plain, name in own.items() if plain and plain not in used)
    image, key, number, said, people = (own[name] if name else None for name in used)
    return Roles(image, key, number, said, people, rest)


@lru_cache(maxsize=1000)
def plain_name(cell: str) -> str:
    """The plain name of a column; empty for the numbers of rows that pandas writes."""
    name = re.sub(r"[\s-]+", "_", cell.strip().casefold())
    return "" if name.startswith("unnamed:") else name


def written_list(text: str) -> list[Any] | None:
    """The list that a cell holds as JSON, or as Python or NumPy print it; None where it holds none.

    >>> written_list('["a b"]'), written_list("['a', 'b']"), written_list("['a' 'b']"), written_list("[sic]")
    (['a b'], ['a', 'b'], ['a', 'b'], None)
    """
    if not text.lstrip().startswith("["):
        return None
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        try:
            held = ast.literal_eval(text.strip())
            if isinstance(held, list) and all(isinstance(each, str) for each in held):
                # NumPy puts no comma between two texts, and Python would read them as one
                tokens = tokenize.generate_tokens(StringIO(text.strip()).readline)
                held = [ast.literal_eval(each.string) for each in tokens if each.type == tokenize.STRING]
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return None
    return held if isinstance(held, list) else None


def listed_texts(cell: object) -> list[str]:
    """The texts of a list, of the text of one, or of a text with ``|`` between them; none of anything else."""
    if isinstance(cell, str):
        held = written_list(cell)
        cell = cell.split("|") if held is None else held
    return [each for each in cell if isinstance(each, str)] if isinstance(cell, list) else []


LINES = (".jsonl", ".ndjson")  # endings of files that hold one JSON object a line
MOST_BYTES = 64 << 20  # largest file of captions that is taken from an upload: about half a million captions
SEPARATORS = ",;\t|"  # what may stand between the cells of a table
_EXCEL = re.compile('"?sep=.?"?')  # a first line that tells Excel what stands between cells


class Cells:
    """A table of text, read row by row.
    ``lines``: of the file with their ends, without its byte order mark.
    ``where``: what messages call the file.
    ``usual``: the separator where the first line does not tell.
    ``known``: plain names of columns, of which the first line holds one by the right separator.
    ``bare``: separators by which nothing is quoted, in whose tables a row that is too short has empty cells.
    Raises BadCorpus if the first line can be no line of columns."""

    def __init__(
        self, lines: Iterable[str], *, where: str, usual: str = ",", known: Collection[str] = (), bare: str = ""
    ) -> None:
        self.where = where
        waiting = iter(lines)
        self._skipped, first = 0, ""
        for first in waiting:
            if first.strip() and not _EXCEL.fullmatch(first.strip()):
                break
            self._skipped += 1
        check_columns(first, where=where)
        self.between = max(SEPARATORS, key=lambda each: _fits(first, each, usual, known))
        self.bare = self.between in bare
        self._rows = csv.reader(
            chain((first,), waiting),
            delimiter=self.between,
            strict=True,
            skipinitialspace=self.bare,
            quoting=csv.QUOTE_NONE if self.bare else csv.QUOTE_MINIMAL,
        )
        try:
            self.header = [cell.strip() for cell in next(self._rows, [])] if first.strip() else []
        except csv.Error as error:
            raise self._broken(error) from error

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """The rows below the header that hold anything, each with the number of its line; once.
        Raises BadCorpus naming the first line with another number of cells, or with broken quotes."""
        width = len(self.header)
        try:
            for row in self._rows:
                if len(row) != width:
                    if not any(map(str.strip, row)):
                        continue
                    if not self.bare or len(row) > width:
                        raise BadCorpus(
                            f"{self.where}, line {self.line}: another number of cells than the first line, {len(row)} "
                            f"cells under {width} columns; put a cell that holds the separator between double quotes"
                        )
                    row = [*row, *[""] * (width - len(row))]  # Flickr30k's own results.csv has such a line
                elif not row or (not row[0] and not any(map(str.strip, row))):
                    continue
                if self.between == "\t" and any("\n" in cell and "\t" in cell for cell in row):
                    raise self._broken("a cell begins with a quote that ends lines below")
                yield self.line, row
        except csv.Error as error:
            raise self._broken(error) from error

    @property
    def line(self) -> int:
        """Number of the line that was read last, from 1."""
        return self._skipped + self._rows.line_num

    def _broken(self, error: csv.Error | str) -> BadCorpus:
        remedy = "shorten that cell" if "field larger" in str(error) else "mend the line or quote the cell"
        return BadCorpus(f"{self.where}, line {self.line}: {error}; {remedy}")


def _fits(first: str, between: str, usual: str, known: Collection[str]) -> tuple[bool, int, bool]:
    try:
        cells = next(csv.reader([first.rstrip("\r\n")], delimiter=between), [])
    except csv.Error:
        cells = [first]
    return any(plain_name(cell) in known for cell in cells), len(cells), between == usual
