"""From a source's own labels to the harmonised categories, by tables that a person may edit."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from core.corpora.schema import CATEGORIES, EXTRA_CATEGORIES, Rejection
from core.errors import InvalidInput
from core.settings import assets_dir

COLUMNS = ("label", "category", "tie", "note")


@dataclass(frozen=True, slots=True)
class TaxonomyEntry:
    """One label's category; ``tie`` is the other category it could as well belong to, or None."""

    label: str
    category: str
    tie: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """The map of one source, e.g. ``coco``.

    Source: paper A, section 3.1 and A.2 (ambiguous labels by majority use, ties flagged).
    """

    name: str
    entries: Mapping[str, TaxonomyEntry]

    def category(self, label: str) -> str | None:
        """Return the category of a label, or None where no line of the map names it."""
        entry = self.entries.get(_key(label))
        return None if entry is None else entry.category

    @property
    def names(self) -> frozenset[str]:
        """Every label of the map."""
        return frozenset(entry.label for entry in self.entries.values())

    def ties(self) -> tuple[TaxonomyEntry, ...]:
        """The labels that could as well belong to another category, in the order of the file."""
        return tuple(entry for entry in self.entries.values() if entry.tie is not None)

    def unmapped(self, labels: Iterable[str]) -> tuple[Rejection, ...]:
        """Return one rejection (code ``unmapped-label``) for each label without a category, with its count."""
        counts: dict[str, int] = {}
        for label in labels:
            if self.category(label) is None:
                counts[label] = counts.get(label, 0) + 1
        return tuple(
            Rejection(f"label {label}", "unmapped-label", f"{count} items labelled {label!r} have no category; "
                      f"add a line to assets/taxonomy/{self.name}.csv")
            for label, count in sorted(counts.items())
        )  # fmt: skip


def taxonomy_names() -> tuple[str, ...]:
    """Sources that have a map in ``assets/taxonomy``, sorted."""
    return tuple(sorted(path.stem for path in (assets_dir() / "taxonomy").glob("*.csv")))


def load_taxonomy(name: str) -> Taxonomy:
    """Read the map of a source from ``assets/taxonomy``.

    Raises:
        InvalidInput: if there is no such map, or the file has a slip.
    """
    if name not in taxonomy_names():
        raise InvalidInput(f"no taxonomy map is named {name!r}; there are {', '.join(taxonomy_names()) or 'none'}")
    return read_taxonomy(assets_dir() / "taxonomy" / f"{name}.csv")


def read_taxonomy(path: Path) -> Taxonomy:
    """Read a taxonomy map.

    Raises:
        InvalidInput: with file and line, for an unreadable file, another header, an unknown category, an empty
            or a repeated label.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read as UTF-8 text ({error}); restore the file") from error
    rows = [(number, _cells(line, where=f"{path}, line {number}"))
            for number, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")]  # fmt: skip
    if not rows or tuple(rows[0][1]) != COLUMNS:
        raise InvalidInput(f"{path} must begin with the header {','.join(COLUMNS)}")
    entries: dict[str, TaxonomyEntry] = {}
    for number, cells in rows[1:]:
        entry = _entry(cells, where=f"{path}, line {number}")
        if _key(entry.label) in entries:
            raise InvalidInput(f"{path}, line {number}: {entry.label!r} is given twice; remove one line")
        entries[_key(entry.label)] = entry
    return Taxonomy(path.stem, MappingProxyType(entries))


def known_category(name: str) -> bool:
    """Whether a word is one of the harmonised or of the extra categories."""
    return name in CATEGORIES or name in EXTRA_CATEGORIES


def _cells(line: str, *, where: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], strict=True))]
    except csv.Error as error:
        raise InvalidInput(f"{where}: {error}; a quoted cell must end on its own line") from error


def _entry(cells: list[str], *, where: str) -> TaxonomyEntry:
    if len(cells) != len(COLUMNS):
        raise InvalidInput(f"{where}: {len(cells)} cells instead of {len(COLUMNS)}; quote a cell that holds a comma")
    label, category, tie, note = cells
    if not label:
        raise InvalidInput(f"{where}: the label is empty; fill it in or remove the line")
    for word in (category, tie):
        if word and not known_category(word):
            raise InvalidInput(f"{where}: {word!r} is no category; write one of "
                               f"{', '.join((*CATEGORIES, *EXTRA_CATEGORIES))}")  # fmt: skip
    if not category:
        raise InvalidInput(f"{where}: {label!r} has no category; fill it in or remove the line")
    return TaxonomyEntry(label, category, tie or None, note)


def _key(label: str) -> str:
    return " ".join(label.replace("_", " ").split()).casefold()
