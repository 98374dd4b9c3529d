"""What a tagger is: says which words of an English caption name an object, and which word modifies one of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from core.corpora.read_labels import RULES as RULES

SPACY = "spacy"
"""Names of the taggers."""

TAGGERS = (RULES, SPACY)
"""The first is the default."""


@dataclass(frozen=True, slots=True)
class ObjectNoun:
    """A noun of the table of object nouns in a caption.

    Args:
        start, end: where it stands.
        noun: singular, lower case, as the table has it.
        category: of the table.
    """

    start: int
    end: int
    noun: str
    category: str


class Tagger(Protocol):
    """What reads captions.

    Attributes:
        name: of TAGGERS, or of a tagger of one's own.
        single: whether a caption counts only where it names exactly one object.
    """

    name: str
    single: bool

    def objects(self, caption: str) -> tuple[ObjectNoun, ...]:
        """The object noun phrases of a caption, in its order."""
        ...

    def modified(self, caption: str, start: int, end: int, *, noun: bool) -> ObjectNoun | None:
        """The object noun that a word modifies, None where it modifies none.

        Args:
            caption: the text.
            start, end: where the word stands in it.
            noun: whether the word is a noun that is used as a modifier (*a luxury car*), not an adjective.
        """
        ...

    def head(self, caption: str) -> ObjectNoun | None:
        """The object noun that a caption is about; None where the tagger cannot tell."""
        ...

    def describe(self) -> Mapping[str, str]:
        """What decides its answers, for manifests and fingerprints."""
        ...
