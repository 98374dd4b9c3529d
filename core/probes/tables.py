"""Reading the editable tables of ``assets/lexicons``: one clear sentence for every slip of the pen."""

import csv
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from core.errors import InvalidInput
from core.settings import assets_dir

WILDCARD = "*"
SEPARATOR = "|"
LISTS = ("caption_words.toml", "kept_words.toml")  # lists of words of captions in ``assets/lexicons``
BACKDROPS = "backdrops"  # folder of ``assets`` about the backgrounds of composed pictures

_TABLES = (".csv", ".toml")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: where it stands, and its cells by column, without surrounding blanks."""

    path: Path
    line: int
    cells: dict[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells[column]

    def fail(self, problem: str) -> NoReturn:
        """Raise InvalidInput naming the file and the line."""
        raise InvalidInput(f"{self.path}, line {self.line}: {problem}")

    def required(self, column: str) -> str:
        """Return a cell that may not be empty."""
        return self[column] or self.fail(f"{column} is empty; fill it in or remove the line")

    def one_of(self, column: str, allowed: Iterable[str]) -> str:
        """Return a cell that must hold one of some words."""
        known = list(allowed)
        if self[column] not in known:
            self.fail(f"{column} is {self[column]!r}; write one of {', '.join(known)}")
        return self[column]

    def alternatives(self, column: str) -> tuple[str, ...]:
        """Return the words of a cell, split at ``|``; ``()`` where the cell is ``*``: any."""
        cell = self.required(column)
        if cell == WILDCARD:
            return ()
        words = tuple(" ".join(word.split()) for word in cell.split(SEPARATOR))
        return words if all(words) else self.fail(f"{column} holds an empty alternative; write words between the '|'")


def lexicon_path(name: str) -> Path:
    """Path of a table that comes with Invariscope, e.g. ``lexicon_path("societal.csv")``."""
    return assets_dir() / "lexicons" / name


def words_path(name: str) -> Path:
    """Path of a table of the directional caption probes, e.g. ``words_path("synonyms.csv")``."""
    return assets_dir() / "words" / name


def words_fingerprint(folders: Sequence[str] = ("words",)) -> str:
    """Return a short digest of what edits depend on beside the lexicons: tables and the lists of nouns.
    Apart from :func:`lexicons_fingerprint`, so that a run of other probes keeps its own.
    ``folders``: of ``assets``: ``words`` of the directional probes, ``surface`` of the surface ones, ``video`` of
    videos, ``backdrops`` of moves along the ground."""
    tables = [path for folder in folders for path in sorted((assets_dir() / folder).glob("*.csv"))]
    return _digest([*tables, *map(lexicon_path, LISTS)])


def lexicons_fingerprint(folder: Path | None = None) -> str:
    """Digest, short, of every table and list in ``assets/lexicons``: captions depend on them, so a run notes it."""
    return _digest(sorted(each for each in (folder or assets_dir() / "lexicons").iterdir() if each.suffix in _TABLES))


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.name}\n".encode() + path.read_bytes() + b"\n")
    return digest.hexdigest()[:16]


def read_table(path: Path, columns: Sequence[str]) -> tuple[Row, ...]:
    """Read a UTF-8 CSV table; lines that start with ``#`` and empty lines are for the reader only.
    ``columns``: exactly the columns that the header must name, in any order.
    Raises InvalidInput naming the file, the line, what is wrong and what to write instead."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({error.strerror}); restore it from the repository") from error
    except UnicodeDecodeError as error:
        told = f"{path} is not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8"
        raise InvalidInput(told) from error
    numbered = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    if not numbered:
        raise InvalidInput(f"{path} is empty; its first line must be {','.join(columns)}")
    header = _cells(path, *numbered[0])
    if sorted(header) != sorted(columns):
        raise InvalidInput(f"{path}, line {numbered[0][0]}: the columns are {header}; they must be {list(columns)}")
    rows = []
    for number, line in numbered[1:]:
        cells = _cells(path, number, line)
        if len(cells) != len(header):
            told = (
                f"{len(cells)} cells under {len(header)} columns; put a text that holds a comma between double quotes"
            )
            raise InvalidInput(f"{path}, line {number}: {told}")
        rows.append(Row(path, number, dict(zip(header, cells, strict=True))))
    return tuple(rows)


def _cells(path: Path, number: int, line: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], strict=True))]
    except csv.Error as error:
        raise InvalidInput(f"{path}, line {number}: {error}; close every double quote on its own line") from error
