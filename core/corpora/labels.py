"""A source's labels as captions say them, and their categories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from core.corpora.records import csv_records
from core.corpora.taxonomy import Taxonomy, load_taxonomy
from core.errors import InvalidInput
from core.settings import assets_dir

COLUMNS = ("label", "noun")


@dataclass(frozen=True, slots=True)
class Labels:
    """What is known of the labels of one source.

    Args:
        taxonomy: label -> category.
        nouns: what a caption calls a label that is no noun as it stands; keys in lower case.
    """

    taxonomy: Taxonomy
    nouns: Mapping[str, str]

    def noun(self, label: str) -> str:
        """The singular English noun of a label, or the plural of what has no singular.

        Example:
            >>> load_labels("objects365").noun("Cabinet/shelf"), load_labels("openimages").noun("Bat (Animal)")
            ('cabinet', 'bat')
        """
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
        """The category of a label, also where a corrected edition spells it as its noun; None where none is known."""
        found = self.taxonomy.category(label)
        return found or self.taxonomy.category(self._as_given().get(label.strip().casefold(), ""))

    def _as_given(self) -> dict[str, str]:
        return {noun.casefold(): label for label, noun in self.nouns.items()}


@cache
def load_labels(source: str) -> Labels:
    """Read ``assets/taxonomy/<source>.csv`` and ``assets/taxonomy/nouns/<source>.csv``, where there is one.

    Raises:
        InvalidInput: if a file has a slip.
    """
    path = assets_dir() / "taxonomy" / "nouns" / f"{source}.csv"
    nouns: dict[str, str] = {}
    lines = csv_records(path, _check) if path.is_file() else iter(())
    for where, row in lines:
        label, noun = (str(row[name]).strip() for name in COLUMNS)
        if not label or not noun or label.casefold() in nouns:
            raise InvalidInput(f"{where}: a cell is empty or {label!r} stands twice; mend {path}")
        nouns[label.casefold()] = noun
    return Labels(load_taxonomy(source), MappingProxyType(nouns))


def plain(label: str) -> str:
    """A label's first name, without what stands in brackets, in lower case except for abbreviations."""
    name = " ".join(label.partition("/")[0].partition("(")[0].split()) or " ".join(label.split())
    return " ".join(word if len(word) > 1 and word.isupper() else word.lower() for word in name.split())


def _check(path: Path, columns: Sequence[str]) -> None:
    if tuple(columns) != COLUMNS:
        raise InvalidInput(f"{path} must begin with the header {','.join(COLUMNS)}")
