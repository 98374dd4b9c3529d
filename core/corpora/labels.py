"""A source's labels as captions say them, and their categories."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from core.corpora.records import csv_records
from core.corpora.schema import Corpus
from core.corpora.taxonomy import Taxonomy, TaxonomyEntry, load_taxonomy, taxonomy_names
from core.errors import InvalidInput
from core.settings import assets_dir

NOUNS = ("label", "noun")
OLDER = ("older", "label")


@dataclass(frozen=True, slots=True)
class Labels:
    """What is known of the labels of one source.

    Args:
        taxonomy: label -> category.
        nouns: what a caption calls a label that is no noun as it stands; keys in lower case.
        older: the label of the map for one that an older edition of the source spells otherwise; keys in lower case.
    """

    taxonomy: Taxonomy
    nouns: Mapping[str, str]
    older: Mapping[str, str]

    def noun(self, label: str) -> str:
        """The singular English noun of a label, or the plural of what has no singular.

        Example:
            >>> load_labels("objects365").noun("Cabinet/shelf"), load_labels("openimages").noun("Bat (Animal)")
            ('cabinet', 'bat')
        """
        label = self._today(label)
        return self.nouns.get(label.strip().casefold()) or plain(label)

    def others(self, label: str) -> tuple[str, ...]:
        """Further names that a label gives behind a stroke, as captions say them; not the one that is its noun.

        Example:
            >>> load_labels("objects365").others("Handbag/Satchel"), load_labels("objects365").others("Moniter/TV")
            (('satchel',), ('TV',))
        """
        found = (plain(part) for part in label.split("/")[1:] if part.strip())
        return tuple(name for name in dict.fromkeys(found) if name != self.noun(label))

    def category(self, label: str) -> str | None:
        """The category of a label, also where an older or a corrected edition spells it otherwise; None: not known.

        Example:
            >>> load_labels("openimages").category("Lifejacket"), load_labels("objects365").category("Basket")
            ('sports', 'kitchen')
        """
        return self.category_of_word(self._today(label))

    def ties(self) -> Mapping[str, TaxonomyEntry]:
        """The labels that could as well belong to another category, by their nouns in lower case.

        Example:
            >>> load_labels("coco").ties()["bench"].tie
            'outdoor'
        """
        return {self.noun(entry.label).casefold(): entry for entry in self.taxonomy.ties()}

    def category_of_word(self, word: str) -> str | None:
        """The category of a word that is a label or the noun of one.

        Names of an older edition do not count: they were changed because they mean several things (*bat*, *nail*).
        """
        found = self.taxonomy.category(word)
        return found or self.taxonomy.category(self._as_given().get(word.strip().casefold(), ""))

    def _today(self, label: str) -> str:
        return self.older.get(label.strip().casefold(), label)

    def _as_given(self) -> dict[str, str]:
        return {noun.casefold(): label for label, noun in self.nouns.items()}


@cache
def load_labels(source: str) -> Labels:
    """Read ``assets/taxonomy/<source>.csv``, and its files in ``nouns/`` and ``older/`` where there are any.

    Raises:
        InvalidInput: if a file has a slip.
    """
    folder = assets_dir() / "taxonomy"
    nouns, older = (_pairs(folder / name / f"{source}.csv", columns) for name, columns in _FILES.items())
    return Labels(load_taxonomy(source), nouns, older)


_FILES = {"nouns": NOUNS, "older": OLDER}
"""Folders of files beside the maps, and their columns."""


def tied(corpus: Corpus) -> dict[str, tuple[str, str, int]]:
    """Labels of a corpus that could as well belong to another category.

    The map is the one that the corpus was read with, COCO's where none has its name; an item that has neither of the
    two categories got its own elsewhere and does not count.

    Returns:
        label -> (category, the other one, items), the most frequent first.
    """
    asked = corpus.origin.options.get("taxonomy") if corpus.origin else None
    source = next((name for name in (asked, corpus.name) if name in taxonomy_names()), "coco")
    ties = load_labels(str(source)).ties()
    counts = Counter(
        item.label
        for item in corpus.items
        if item.label and (entry := ties.get(item.label.casefold())) and item.category in (entry.category, entry.tie)
    )
    entries = {label: ties[label.casefold()] for label in counts}
    return {label: (entries[label].category, entries[label].tie or "", count) for label, count in counts.most_common()}


def told_ties(corpus: Corpus) -> dict[str, dict[str, str | int]]:
    """What :func:`tied` finds, as a manifest and ``corpora show`` tell it: label -> ``category``, ``or``, ``items``."""
    return {
        label: {"category": category, "or": other, "items": count}
        for label, (category, other, count) in tied(corpus).items()
    }


def tied_in_words(corpus: Corpus) -> str:
    """What :func:`tied` finds as a sentence; empty where there is none."""
    each = [f"{label} ({one} or {two}, n = {count})" for label, (one, two, count) in tied(corpus).items()]
    return f"Of two categories, counted in the first: {'; '.join(each)}." if each else ""


def plain(label: str) -> str:
    """A label's first name, without what stands in brackets, in lower case except for abbreviations."""
    name = " ".join(label.partition("/")[0].partition("(")[0].split()) or " ".join(label.split())
    return " ".join(word if len(word) > 1 and word.isupper() else word.lower() for word in name.split())


def _pairs(path: Path, columns: tuple[str, str]) -> Mapping[str, str]:
    """What a file of two columns says, the first in lower case -> the second; nothing where there is no file."""

    def check(path: Path, found: Sequence[str]) -> None:
        if tuple(found) != columns:
            raise InvalidInput(f"{path} must begin with the header {','.join(columns)}")

    read: dict[str, str] = {}
    for where, row in csv_records(path, check) if path.is_file() else ():
        key, value = (str(row[name]).strip() for name in columns)
        if not key or not value or key.casefold() in read:
            raise InvalidInput(f"{where}: a cell is empty or {key!r} stands twice; mend {path}")
        read[key.casefold()] = value
    return MappingProxyType(read)
