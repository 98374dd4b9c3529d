"""Lexical edits of a caption: words repeated, removed, masked, jumbled, and nouns that change places.

Each is a pure function of a caption and a random generator. Source: paper B, section 5.2 and Algorithm 1.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from core.errors import ProbeRejected
from core.probes.words.caption_words import Word, join, noun_phrases, words

SHARE = 0.4
"""Probability that a word is hit. Source: paper B, section 5.2 (its Algorithm 1 leaves the threshold open)."""
MASK = "[MASK]"

_TRIES = 20


def repeat(caption: str, rng: np.random.Generator, *, language: str = "en", share: float = SHARE) -> str:
    """Say each word twice with probability ``share``; one word where chance chose none.

    Example:
        >>> repeat("I am a boy", np.random.default_rng(3))
        'I I am am a boy'
    """
    found = words(caption, language)
    hit = _hits(len(found), rng, share)
    return join([each for word, twice in zip(found, hit, strict=True) for each in (word,) * (1 + twice)], language)


def remove(caption: str, rng: np.random.Generator, *, language: str = "en", share: float = SHARE) -> str:
    """Leave each word out with probability ``share``: at least one word goes, and at least one stays.

    A caption of one word stays as it is.
    """
    found = words(caption, language)
    if len(found) < 2:
        return join(found, language)
    hit = _hits(len(found), rng, share)
    if hit.all():
        hit[rng.integers(len(found))] = False
    return join([word for word, gone in zip(found, hit, strict=True) if not gone], language)


def mask(caption: str, rng: np.random.Generator, *, language: str = "en", share: float = SHARE) -> str:
    """Put ``[MASK]`` in the place of each word with probability ``share``; of one word where chance chose none."""
    found = words(caption, language)
    hit = _hits(len(found), rng, share)
    return join([MASK if hidden else word for word, hidden in zip(found, hit, strict=True)], language)


def jumble(caption: str, rng: np.random.Generator, *, language: str = "en", share: float = SHARE) -> str:  # noqa: ARG001
    """Put all words into a random order; the old one only where there is no other (one word, or one repeated).

    ``share`` plays no part.
    """
    found = words(caption, language)
    return join([found[index] for index in _other_order(found, rng)], language)


def substitute(caption: str, rng: np.random.Generator, *, language: str = "en", share: float = SHARE) -> str:  # noqa: ARG001
    """Let the nouns change places: a random order that is not the old one; all other words stay.

    What a noun is in each language: :func:`core.probes.words.caption_words.noun_phrases`. ``share`` plays no part.

    Raises:
        ProbeRejected: code ``few-nouns``, where fewer than two different nouns are found.
    """
    found = words(caption, language)
    phrases = noun_phrases(found, language)
    texts = [_core_text(found, first, last, language) for first, last in phrases]
    if len({text.casefold() for text in texts}) < 2:
        named = ", ".join(repr(text) for text in texts) or "none"
        raise ProbeRejected("few-nouns", f"two different nouns must change places; {caption!r} has {named}")
    order = _other_order([text.casefold() for text in texts], rng)
    edited: list[str] = []
    end = 0
    for place, (first, last) in enumerate(phrases):
        edited += [word.text for word in found[end:first]]
        edited.append(found[first].lead + texts[order[place]] + found[last].trail)
        end = last + 1
    return join([*edited, *(word.text for word in found[end:])], language)


EDITS: Mapping[str, Callable[..., str]] = MappingProxyType(
    {"repetition": repeat, "removal": remove, "masking": mask, "jumble": jumble, "substitution": substitute}
)
"""The five edits of paper B by name; each takes ``(caption, rng, *, language, share)``."""


def _hits(count: int, rng: np.random.Generator, share: float) -> np.ndarray:
    """Which of ``count`` words are hit, bool [count]; at least one: an edit that changes nothing tests nothing."""
    hit: np.ndarray = rng.random(count) < share
    if count and not hit.any():
        hit[rng.integers(count)] = True
    return hit


def _other_order(found: Sequence[object], rng: np.random.Generator) -> list[int]:
    """A random order that reads differently, where one exists."""
    keys = [each.text if isinstance(each, Word) else each for each in found]
    for _ in range(_TRIES):
        order = [int(index) for index in rng.permutation(len(keys))]
        if [keys[index] for index in order] != keys:
            return order
    order = list(range(len(keys)))
    other = next((index for index in order if keys[index] != keys[0]), None)
    if other is not None:
        order[0], order[other] = other, 0
    return order


def _core_text(found: Sequence[Word], first: int, last: int, language: str) -> str:
    """A phrase without the signs around it."""
    inner = [found[first].text if first != last else found[first].core]
    if first != last:
        inner = [found[first].text.removeprefix(found[first].lead), *(each.text for each in found[first + 1 : last])]
        inner.append(found[last].text.removesuffix(found[last].trail) if found[last].trail else found[last].text)
    return join(inner, language)
