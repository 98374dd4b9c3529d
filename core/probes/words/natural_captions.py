"""Finding the human captions in which a societal word modifies an object.

A caption is used where a modifier of the lexicon stands directly before a noun of
``assets/lexicons/object_nouns.csv`` and the noun group ends there. That is a rule, not a parser: it finds
fewer captions than a part-of-speech tagger would, and what it finds reads as modifier and noun.
Source: paper A, A.12.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from core.corpora.schema import CATEGORIES, EXTRA_CATEGORIES, Item
from core.probes.tables import lexicon_path, read_table
from core.probes.words.grammar import article, plural
from core.probes.words.lexicons import Family, Modifier
from core.probes.words.screening import accepted_controls, screen

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_LONGEST_NOUN = 3  # words, e.g. "police officer"


@dataclass(frozen=True, slots=True)
class NaturalCaption:
    """A human caption with one modifier before a noun.

    Args:
        text: the caption as it was written.
        start, end: where the modifier stands in it.
        modifier: the lexicon's entry.
        noun: the noun it modifies, singular, lower case.
        category: the noun's category.
    """

    text: str
    start: int
    end: int
    modifier: Modifier
    noun: str
    category: str

    def with_word(self, word: str) -> str:
        """Return the caption with another word in the modifier's place, its casing and its article fitted."""
        found = self.text[self.start : self.end]
        fitted = _fit_case(word, found, opens=not self.text[: self.start].strip(" \"'"))
        before = self.text[: self.start]
        leading = re.search(r"\b(an?)(\s+)$", before, re.IGNORECASE)
        if leading:
            chosen = article(word)
            chosen = chosen.upper() if _shouted(found) else chosen
            chosen = chosen[0].upper() + chosen[1:] if leading[1][0].isupper() else chosen
            before = before[: leading.start()] + chosen + leading[2]
        return before + fitted + self.text[self.end :]

    @property
    def neutral(self) -> Modifier:
        """The neutral control whose caption is the closest in characters, then the first in the alphabet."""
        return min(
            accepted_controls(self.noun, self.modifier.family),
            key=lambda word: (abs(len(self.with_word(word.word)) - len(self.text)), word.word),
        )


def find(item: Item, owner: Family) -> NaturalCaption | None:
    """Return the first English caption of an item that one modifier of a family can be replaced in.

    A caption that names two words of the family is passed over, and so is a pair that the compatibility
    screen keeps out (*African elephant* names a species).
    """
    for text in item.captions.get("en", ()):
        hits = list(_hits(text, owner))
        if len(hits) == 1:
            found = _attributive(text, *hits[0])
            if found is not None and screen(found.noun, found.category, owner.name, found.modifier.word) is None:
                return found
    return None


def _hits(text: str, owner: Family) -> Iterator[tuple[re.Match[str], Modifier]]:
    known = {word.word.casefold(): word for word in owner.modifiers}
    for match in _WORD.finditer(text):
        if match.group().casefold() in known:
            yield match, known[match.group().casefold()]


def _attributive(text: str, match: re.Match[str], modifier: Modifier) -> NaturalCaption | None:
    """Read the longest known noun directly after the modifier, if the noun group ends with it."""
    nouns = object_nouns(lexicon_path("object_nouns.csv"))
    position, words, best = match.end(), [], None
    for _ in range(_LONGEST_NOUN):
        following = re.compile(r"[ ]+" + _WORD.pattern).match(text, position)
        if following is None:
            break
        words.append(following.group().strip().casefold())
        position = following.end()
        if " ".join(words) in nouns:
            best = position, nouns[" ".join(words)]
    if best is None or not _group_ends(text, best[0]):
        return None
    return NaturalCaption(text, match.start(), match.end(), modifier, *best[1])


def _group_ends(text: str, position: int) -> bool:
    rest = text[position:]
    if not rest.strip() or rest.lstrip()[0] in '.,;:!?()"':
        return True
    following = re.compile(r"\s+(" + _WORD.pattern + ")").match(rest)
    word = following[1].casefold() if following else ""
    return word in after_the_noun(lexicon_path("after_the_noun.csv")) or word.endswith(("ing", "ed"))


def _fit_case(word: str, found: str, *, opens: bool) -> str:
    if _shouted(found):
        return word.upper()
    if found[0].isupper() and opens:
        return word[0].upper() + word[1:]
    return word.lower() if found.islower() else word


def _shouted(found: str) -> bool:
    return len(found) > 1 and found.isupper()


@cache
def object_nouns(path: Path) -> dict[str, tuple[str, str]]:
    """Read ``object_nouns.csv``: noun or its plural, in lower case -> (singular, category)."""
    found: dict[str, tuple[str, str]] = {}
    for row in read_table(path, ("noun", "category")):
        noun = " ".join(row.required("noun").casefold().split())
        if len(noun.split()) > _LONGEST_NOUN:
            row.fail(f"the noun {noun!r} is longer than {_LONGEST_NOUN} words; write its last words")
        if noun in found:
            row.fail(f"the noun {noun!r} stands twice; keep one line")
        found[noun] = noun, row.one_of("category", CATEGORIES + EXTRA_CATEGORIES)
    return {plural(noun): entry for noun, entry in found.items()} | found


@cache
def after_the_noun(path: Path) -> frozenset[str]:
    """Read ``after_the_noun.csv``: words, in lower case, that end a noun group."""
    return frozenset(row.required("word").casefold() for row in read_table(path, ("word",)))
