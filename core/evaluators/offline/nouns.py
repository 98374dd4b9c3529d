"""The nouns of an English caption as the judge looks for them: phrases with their heads in the singular."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.probes.words.english import NOUN, kinds
from core.probes.words.grammar import singular

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*['’]?|\d+|[^\w\s]")
_MARKUP = re.compile(r"<[^<>]*>|&#?\w+;|\bhttps?://\S+|\bwww\.\S+")
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
    phrase keeps its last four words. Tags and addresses of the web are passed over.

    Example:
        >>> find_nouns("Two dogs play with an expensive tennis ball.")
        (NounPhrase(head='dog', text='dog'), NounPhrase(head='ball', text='tennis ball'))
    """
    found: dict[str, NounPhrase] = {}
    for run in _runs([word.lower() for word in _WORD.findall(_MARKUP.sub(" ", caption))]):
        head = singular(run[-1])
        text = " ".join([*run[-1 - _MODIFIERS : -1], head])
        found.setdefault(text, NounPhrase(head, text))
    return tuple(found.values())


def _runs(words: list[str]) -> Iterator[list[str]]:
    """Nouns in a row."""
    run: list[str] = []
    for word, kind in zip(words, kinds(words), strict=True):
        if kind == NOUN:
            run.append(word)
        elif run:
            yield run
            run = []
    if run:
        yield run
