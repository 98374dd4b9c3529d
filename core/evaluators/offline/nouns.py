"""The nouns of an English caption as the judge looks for them: phrases with their heads in the singular."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from core.probes.words.english import NOUN, kinds, listed
from core.probes.words.grammar import singular
from core.probes.words.languages import MARKUP

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*['’]?|\d+|[^\w\s]")
_MODIFIERS = 3


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun and the nouns right before it.

    Args:
        head: the noun itself, singular (``holder``).
        text: with the nouns that modify it (``toilet paper roll holder``); adjectives are left out.
    """

    head: str
    text: str


def find_nouns(caption: str) -> tuple[NounPhrase, ...]:
    """Return the noun phrases of a caption, each once, in the order in which they first stand there.

    What a noun is: :mod:`core.probes.words.english`. Nouns in a row are one phrase, whose last word is the head; a
    phrase keeps its last four words. Tags, addresses and names of files are passed over.

    Example:
        >>> find_nouns("Two dogs play with an expensive tennis ball.")
        (NounPhrase(head='dog', text='dog'), NounPhrase(head='ball', text='tennis ball'))
    """
    found: dict[str, NounPhrase] = {}
    for run, counted in _runs([word.lower() for word in _WORD.findall(MARKUP.sub(" ", caption))]):
        head = singular(run[-1], counted=counted)
        text = " ".join([*run[-1 - _MODIFIERS : -1], head])
        found.setdefault(text, NounPhrase(head, text))
    return tuple(found.values())


def _runs(words: list[str]) -> Iterator[tuple[list[str], bool]]:
    """Nouns in a row, and whether the words around them say that they are several of one thing."""
    first = 0
    for noun, places in groupby(kinds(words), key=NOUN.__eq__):
        end = first + len(list(places))
        if noun:
            before, after = words[max(0, first - 1) : first], words[end : end + 1]
            yield words[first:end], after == ["of"] or not listed("counts").isdisjoint(before)
        first = end
