"""The noun that an English caption is about, by rules: the object noun of the phrase that opens it.

A caption opens with its head where nothing stands before the noun but *there is*, a measure (*a group of*), a
determiner, a number and the noun's adjectives. Every other beginning may be about something else (*In the kitchen a
man cooks*, *The top of a car*), so that the rules say nothing of it; and so they do where the noun is a part of another
one (*a dog house*) or is denied (:mod:`core.probes.words.insertion`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.corpora.labels import RULES as RULES
from core.errors import ProbeRejected
from core.probes.words.caption_words import closed_words, words
from core.probes.words.insertion import noun_place
from core.probes.words.whole_names import describing

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
        name: of TAGGERS, or of one's own tagger.
        single: whether a caption counts only where it names exactly one object.
    """

    name: str
    single: bool

    def objects(self, caption: str) -> tuple[ObjectNoun, ...]:
        """The object noun phrases of a caption, in its order."""
        ...

    def modified(self, caption: str, start: int, end: int, *, noun: bool) -> ObjectNoun | None:
        """The object noun that a word modifies, None where it modifies none.
        ``noun``: whether the word is a noun that is used as a modifier (*a luxury car*), not an adjective."""
        ...

    def head(self, caption: str) -> ObjectNoun | None:
        """The object noun that a caption is about; None where the tagger cannot tell."""
        ...

    def describe(self) -> Mapping[str, str]:
        """What decides its answers, for manifests and fingerprints."""
        ...


MEASURES = frozenset(("bunch", "couple", "group", "lot", "number", "pair", "set"))
"""Words that say how many before *of*: what a caption is about stands after it."""

_THERE = ("is", "are", "was", "were")
_SEVERAL = "named-twice"
"""A noun that stands twice is still what the caption is about."""


def head_by_rules(caption: str, objects: Sequence[ObjectNoun]) -> ObjectNoun | None:
    """The first of the object nouns of a caption where it is what the caption is about; None where nobody can tell.

    >>> from core.probes.words.taggers import Rules
    >>> head_by_rules("A group of young men near a car.", Rules().objects("A group of young men near a car.")).noun
    'men'
    """
    first = next((each for each in objects if not _is_measure(caption, each)), None)
    if first is None or not _opens(caption[: first.start], first.noun):
        return None
    return first if stands_alone(caption, first.noun) else None


def stands_alone(caption: str, noun: str) -> bool:
    """Whether a caption says a noun as a separate word that is no part of another one, and does not deny it."""
    try:
        noun_place(caption, noun)
    except ProbeRejected as rejection:
        return rejection.code == _SEVERAL
    return True


def _is_measure(caption: str, noun: ObjectNoun) -> bool:
    """Whether a noun says how many, as in *a couple of kids*."""
    return noun.noun in MEASURES and caption[noun.end :].lstrip(" ").casefold().startswith("of ")


def _opens(before: str, noun: str) -> bool:
    """Whether what stands before a noun leaves it the head of the caption."""
    found = words(f"{before}{noun}")
    last = len(found) - len(noun.split())
    rest = [word.core.casefold() for word in found[: describing(found, last)]]
    if any(word.trail.strip(",") for word in found[:last]):
        return False
    rest = rest[2:] if rest[:1] == ["there"] and rest[1:2] and rest[1] in _THERE else rest
    return _measured(rest) or _determined(rest)


def _measured(rest: Sequence[str]) -> bool:
    """Whether words end in *of* after a measure, with a determiner on either side at most: *a group of the*."""
    if "of" not in rest:
        return False
    at = rest.index("of")
    return at > 0 and rest[at - 1] in MEASURES and _determined(rest[: at - 1]) and _determined(rest[at + 1 :])


def _determined(rest: Sequence[str]) -> bool:
    """Whether words are a determiner or a number, or none is left."""
    return len(rest) <= 1 and all(closed_words(text, ("determiners",)) or text.isdigit() for text in rest)
