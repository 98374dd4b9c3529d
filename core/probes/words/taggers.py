"""Taggers: which words of an English caption name an object, and which word modifies one of them.

Two read captions: documented rules, the default, and spaCy's parser, which is an optional extra. Neither ever stands
in for the other: who asks for a tagger that is not here is told so.
Source: paper A, A.12, which asks for adjectives that modify an object in clear, single-object captions.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from core.errors import UnknownName
from core.probes.words import spacy_tagger
from core.probes.words.head_nouns import RULES, SPACY, TAGGERS, ObjectNoun, Tagger, head_by_rules
from core.probes.words.object_nouns import WORD, group_ends, noun_at

__all__ = ["RULES", "SPACY", "TAGGERS", "ObjectNoun", "Rules", "Tagger", "tagger", "unavailable"]


class Rules:
    """A modifier stands directly before a noun of the table, and the noun group ends there.

    It fits a caption with several objects too: that is what runs were made with before there was another tagger.
    """

    name = RULES
    single = False

    def objects(self, caption: str) -> tuple[ObjectNoun, ...]:
        """Read from left to right, the longest known noun first; one inside a longer group is none."""
        found, position = list[ObjectNoun](), 0
        while (word := WORD.search(caption, position)) is not None:
            noun = _ending_noun(caption, word.start())
            found += [] if noun is None else [noun]
            position = word.end() if noun is None else noun.end
        return tuple(found)

    def modified(self, caption: str, start: int, end: int, *, noun: bool) -> ObjectNoun | None:
        """The noun after one or more blanks; adjectives and nouns are told apart by the lexicon alone."""
        after = len(caption[end:]) - len(caption[end:].lstrip(" "))
        return _ending_noun(caption, end + after) if after else None

    def head(self, caption: str) -> ObjectNoun | None:
        """The object noun of the phrase that opens the caption; see :mod:`core.probes.words.head_nouns`."""
        return head_by_rules(caption, self.objects(caption))

    def describe(self) -> Mapping[str, str]:
        """The rules depend on the lexicons, whose digest a run holds anyway."""
        return MappingProxyType({"name": RULES})


def _ending_noun(caption: str, position: int) -> ObjectNoun | None:
    found = noun_at(caption, position)
    if found is None or not group_ends(caption, found[0]):
        return None
    return ObjectNoun(position, *found)


@cache
def tagger(name: str) -> Tagger:
    """Return a tagger.

    Raises:
        UnknownName: for a name that is not of TAGGERS.
        NotAvailable: where its packages are not here, with the command that installs them.
    """
    if name == RULES:
        return Rules()
    if name == SPACY:
        return spacy_tagger.SpacyTagger()
    raise UnknownName(f"no tagger is named {name!r}; there are: {', '.join(TAGGERS)}")


def unavailable(name: str) -> str:
    """Why a tagger cannot read here, in a sentence that says what to do; empty where it can. Loads no model."""
    return spacy_tagger.lacking() if name == SPACY else ""
