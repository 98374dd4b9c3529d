"""The societal lexicon: families, their modifiers and their neutral controls.

Read from ``assets/lexicons/families.csv`` and ``societal.csv``, which a person may edit.
Source: paper A, A.3.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import MappingProxyType

from core.corpora.schema import ANIMATE_CATEGORIES
from core.errors import UnknownName
from core.probes.tables import Row, lexicon_path, read_table

_FAMILY_COLUMNS = ("family", "applies_to", "default", "summary", "source")
_MODIFIER_COLUMNS = ("family", "modifier", "role", "part_of_speech", "applies_to", "contrast")


class Scope(StrEnum):
    """What a family or a modifier can be said of."""

    ANYTHING = "anything"
    NON_PERSON = "non-person"
    ANIMATE = "animate"
    PERSON = "person"

    def holds(self, category: str) -> bool:
        """Whether objects of a category are within the scope."""
        return {
            Scope.ANYTHING: True,
            Scope.NON_PERSON: category != "person",
            Scope.ANIMATE: category in ANIMATE_CATEGORIES,
            Scope.PERSON: category == "person",
        }[self]


@dataclass(frozen=True, slots=True)
class Modifier:
    """One word that is put before the noun.

    Args:
        control: whether it is a neutral control of its family.
        part_of_speech: ``adjective``, or ``noun`` for a noun used attributively (*a luxury car*).
        scope: what it can be said of; never wider than its family's.
        contrast: the modifier of the same family that replaces it in a swapped caption, or None.
    """

    family: str
    word: str
    control: bool
    part_of_speech: str
    scope: Scope
    contrast: str | None = None

    @property
    def probe(self) -> str:
        """Name of its probe, e.g. ``cultural:African``."""
        return f"{self.family}:{self.word}"


@dataclass(frozen=True, slots=True)
class Family:
    """Modifiers of one meaning, in the order of the file; ``default``: part of the standard grid."""

    name: str
    scope: Scope
    default: bool
    summary: str
    source: str
    words: tuple[Modifier, ...]

    @property
    def modifiers(self) -> tuple[Modifier, ...]:
        """The words under test."""
        return tuple(word for word in self.words if not word.control)

    @property
    def controls(self) -> tuple[Modifier, ...]:
        """The neutral words that hold the length."""
        return tuple(word for word in self.words if word.control)

    def get(self, word: str) -> Modifier:
        """Return a modifier or control by its word.

        Raises:
            UnknownName: if the family has no such word.
        """
        for each in self.words:
            if each.word == word:
                return each
        known = ", ".join(each.word for each in self.words)
        raise UnknownName(f"family {self.name!r} has no modifier {word!r}; it has {known}")


def families() -> Mapping[str, Family]:
    """The families that come with Invariscope, by name, in the order of the file.

    Raises:
        InvalidInput: where a table has been edited into something that cannot be read.
    """
    return read_families(lexicon_path("families.csv"), lexicon_path("societal.csv"))


def family(name: str) -> Family:
    """Return one family.

    Raises:
        UnknownName: if there is none of that name.
    """
    known = families()
    if name not in known:
        raise UnknownName(f"no societal family is named {name!r}; known: {', '.join(known)}")
    return known[name]


@cache
def read_families(families_path: Path, modifiers_path: Path) -> Mapping[str, Family]:
    """Read and check the two tables.

    Raises:
        InvalidInput: with the file, the line and the remedy.
    """
    heads: dict[str, Row] = {}
    for row in read_table(families_path, _FAMILY_COLUMNS):
        if heads.setdefault(row.required("family"), row) is not row:
            row.fail(f"the family {row['family']!r} stands twice; keep one line")
    words: dict[str, list[tuple[Row, Modifier]]] = {name: [] for name in heads}
    for row in read_table(modifiers_path, _MODIFIER_COLUMNS):
        name = row.one_of("family", heads)
        words[name].append((row, _modifier(row, _scope(heads[name]))))
    return MappingProxyType({name: _family(row, words[name]) for name, row in heads.items()})


def _scope(row: Row) -> Scope:
    return Scope(row.one_of("applies_to", Scope))


def _modifier(row: Row, widest: Scope) -> Modifier:
    word = row.required("modifier")
    if ":" in word or "|" in word or word.split() != [word]:
        row.fail(f"the modifier {word!r} must be one word without ':' or '|'; join words with a hyphen")
    control = row.one_of("role", ("modifier", "control")) == "control"
    scope = _scope(row) if row["applies_to"] else widest
    if control and row["applies_to"]:
        row.fail(f"the control {word!r} must apply to what its family applies to; leave applies_to empty")
    speech = row.one_of("part_of_speech", ("adjective", "noun"))
    return Modifier(row["family"], word, control, speech, scope, row["contrast"] or None)


def _family(head: Row, words: list[tuple[Row, Modifier]]) -> Family:
    default = head.one_of("default", ("yes", "no")) == "yes"
    made = Family(
        head["family"],
        _scope(head),
        default,
        head.required("summary"),
        head["source"],
        tuple(word for _, word in words),
    )
    if not made.controls or not made.modifiers:
        head.fail(f"the family {made.name!r} needs at least one modifier and one control; add them to societal.csv")
    under_test = {word.word for word in made.modifiers}
    seen: set[str] = set()
    for row, word in words:
        if word.word in seen:
            row.fail(f"{word.probe} stands twice; keep one line")
        seen.add(word.word)
        if word.contrast is not None and (
            word.contrast not in under_test or word.contrast == word.word or word.control
        ):
            row.fail(f"contrast is {word.contrast!r}; write another modifier of {made.name}, and none for a control")
    return made
