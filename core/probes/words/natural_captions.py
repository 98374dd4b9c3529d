"""Finding the human captions in which a societal word modifies an object.

A caption is used where a modifier of the lexicon modifies a noun of ``assets/lexicons/object_nouns.csv``, as a tagger
reads it. The default reads by rules: the modifier stands directly before the noun and the noun group ends there. See
:mod:`core.probes.words.taggers` for the other one.
Source: paper A, A.12.

Names of the probes of natural captions: which lexicon's family, which tagger, which rewrite, which word.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.corpora.schema import Item, Rejection
from core.probes.words.categories import WORD
from core.probes.words.grammar import article_like, capital_like
from core.probes.words.screening import Family, Modifier, accepted_controls, families, screen
from core.probes.words.taggers import RULES, TAGGERS, Tagger, tagger

NEUTRALISED, SWAPPED = "neutralised", "swapped"
"""Rewrites beside the caption as it was written: the control, and the word's contrast in its place."""

PREFIX = "natural-"


@dataclass(frozen=True, slots=True)
class NaturalName:
    """What the name of a probe says."""

    family: str  # of the lexicon, e.g. ``economic``.
    tagger: str  # that reads the captions
    rewrite: str  # NEUTRALISED, SWAPPED, or empty for the caption as it was written
    word: str  # that the caption then says; empty for the neutral one


def family_of(owner: str, reader: str = RULES) -> str:
    """Name of the natural probes of a lexicon's family as a tagger reads captions, e.g. ``natural-economic-spacy``."""
    return f"{PREFIX}{owner}" if reader == RULES else f"{PREFIX}{owner}-{reader}"


def families_of() -> dict[str, tuple[str, str]]:
    """Family of probes -> (family of the lexicon, tagger); by tagger, then in the lexicon's order."""
    return {family_of(owner, reader): (owner, reader) for reader in TAGGERS for owner in families()}


def read_name(probe: str) -> NaturalName | None:
    """Read the name of a probe; None where it is none of a natural caption."""
    family, colon, rest = probe.partition(":")
    known = families_of().get(family)
    if known is None or not colon:
        return None
    if rest == NEUTRALISED:
        return NaturalName(*known, NEUTRALISED, "")
    swapped = rest.startswith(f"{SWAPPED}-")
    return NaturalName(*known, SWAPPED if swapped else "", rest.removeprefix(f"{SWAPPED}-") if swapped else rest)


@dataclass(frozen=True, slots=True)
class NaturalCaption:
    """A human caption with one modifier of an object noun.
    ``text``: the caption as it was written.
    ``start``, ``end``: where the modifier stands in it.
    ``modifier``: the lexicon's entry."""

    text: str
    start: int
    end: int
    modifier: Modifier
    noun: str
    category: str

    def with_word(self, word: str) -> str:
        """Return the caption with another word in the modifier's place, its casing and its article fitted."""
        found = self.text[self.start : self.end]
        before, opens = self.text[: self.start], not self.text[: self.start].strip(" \"'")
        fitted = capital_like(word.lower() if found.islower() else word, found if opens else "")
        leading = re.search(r"\b(an?)(\s+)$", before, re.IGNORECASE)
        if leading:
            before = before[: leading.start()] + article_like(leading[1], word) + leading[2]
        made = before + fitted + self.text[self.end :]
        return made.upper() if self.text.isupper() else made

    @property
    def neutral(self) -> Modifier:
        """The neutral control whose caption is the closest in characters, then the first in the alphabet."""
        return min(
            accepted_controls(self.noun, self.modifier.family),
            key=lambda word: (abs(len(self.with_word(word.word)) - len(self.text)), word.word),
        )


def find(item: Item, owner: Family, reader: Tagger | None = None) -> NaturalCaption | None:
    """Return the first English caption of an item that one modifier of a family can be replaced in.
    ``reader``: says what modifies what; None: the rules."""
    return next((found for text in item.captions.get("en", ()) if (found := find_in(text, owner, reader))), None)


def find_in(text: str, owner: Family, reader: Tagger | None = None) -> NaturalCaption | None:
    """Return a caption with the one modifier of a family that can be replaced in it; see :func:`find`.

    A caption that names two words of the family is passed over, and so is a pair that the compatibility
    screen keeps out (*African elephant* names a species).
    """
    found = _said_once(text, owner, reader)
    if found is None or screen(found.noun, found.category, owner.name, found.modifier.word) is not None:
        return None
    return found


def why_none(item: Item, owner: Family, reader: Tagger | None = None) -> Rejection:
    """Why :func:`find` finds no caption: what the screen says of the first word before a noun, or that none is."""
    for text in item.captions.get("en", ()):
        found = _said_once(text, owner, reader)
        if found and (screened := screen(found.noun, found.category, owner.name, found.modifier.word)):
            return screened
    told = f"no English caption of item {item.id!r} has one {owner.name} word before a noun of the table"
    return Rejection(item.id, "no-natural-caption", told)


def _said_once(text: str, owner: Family, reader: Tagger | None) -> NaturalCaption | None:
    hits = list(_hits(text, owner))
    return _attributive(text, *hits[0], reader or tagger(RULES)) if len(hits) == 1 else None


def _hits(text: str, owner: Family) -> Iterator[tuple[re.Match[str], Modifier]]:
    known = {word.word.casefold(): word for word in owner.modifiers}
    for match in WORD.finditer(text):
        if match.group().casefold() in known:
            yield match, known[match.group().casefold()]


def _attributive(text: str, match: re.Match[str], modifier: Modifier, reader: Tagger) -> NaturalCaption | None:
    """The caption with the object that the word modifies, if the tagger finds one, and no other where it asks so."""
    noun = reader.modified(text, match.start(), match.end(), noun=modifier.part_of_speech == "noun")
    if noun is None or (reader.single and len(reader.objects(text)) != 1):
        return None
    return NaturalCaption(text, match.start(), match.end(), modifier, noun.noun, noun.category)
