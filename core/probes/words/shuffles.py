"""Shuffles of a caption's words, as paper D makes them: without the final full stop, lower case, a capital, the stop.

Source: paper D, 4.4.2 and its code, which draws without a seed, so that its captions cannot be made again; shuffles of
a part of the words: Yuksekgonul et al., When and why vision-language models behave like bags-of-words, ICLR 2023 (ARO).
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from core.probes.words.caption_words import Word, join, nouns_and_adjectives, words
from core.probes.words.lexical_edits import other_order

_STOPS = (".", "。")


def shuffle(caption: str, rng: np.random.Generator, *, language: str = "en") -> tuple[str, str]:
    """Shuffle the words of a caption until their order differs.

    English words are written in lower case, as paper D has them; elsewhere the first word alone, since the capital of a
    German noun belongs to the word.

    Returns:
        (the caption as it would be written without the shuffle, the shuffled one); they are equal where no other order
        reads differently.

    Example:
        >>> shuffle("A man rides.", np.random.default_rng(0))
        ('A man rides.', 'Rides a man.')
    """
    text = caption.strip()
    stop = next((each for each in _STOPS if text.endswith(each)), "")
    found = [each.text for each in words(text.removesuffix(stop), language)]
    english = language == "en"
    lowered = [each.lower() if english or place == 0 else each for place, each in enumerate(found)]
    order = other_order([Word("", each, "") for each in lowered], rng)
    return written(lowered, stop, language), written([lowered[index] for index in order], stop, language)


def shuffle_part(caption: str, rng: np.random.Generator, part: str) -> tuple[str, str]:
    """Shuffle a part of an English caption's words until their order differs; see :func:`shuffle`.

    Args:
        part: of PARTS.

    Returns:
        (the caption as it would be written without the shuffle, the shuffled one); they are equal where no other order
        of the part reads differently.

    Example:
        >>> shuffle_part("A red dog on grass.", np.random.default_rng(0), "nouns-and-adjectives")
        ('A red dog on grass.', 'A red grass on dog.')
    """
    text = caption.strip()
    stop = next((each for each in _STOPS if text.endswith(each)), "")
    found = [Word("", each.text.lower(), "") for each in words(text.removesuffix(stop))]
    after = PARTS[part](found, rng)
    return written([each.text for each in found], stop), written([each.text for each in after], stop)


def _among(found: Sequence[Word], places: Sequence[int], rng: np.random.Generator) -> list[Word]:
    """Put the words of some places into another order; all others stay."""
    after = list(found)
    for place, index in zip(places, other_order([found[each] for each in places], rng), strict=True):
        after[place] = found[places[index]]
    return after


def _content(found: Sequence[Word], rng: np.random.Generator) -> list[Word]:
    return _among(found, [place for place, said in enumerate(nouns_and_adjectives(found)) if said], rng)


def _function(found: Sequence[Word], rng: np.random.Generator) -> list[Word]:
    return _among(found, [place for place, said in enumerate(nouns_and_adjectives(found)) if not said], rng)


def _within(found: Sequence[Word], rng: np.random.Generator) -> list[Word]:
    return [word for three in _threes(found) for word in _among(three, range(len(three)), rng)]


def _trigrams(found: Sequence[Word], rng: np.random.Generator) -> list[Word]:
    threes = _threes(found)
    said = [Word("", join(three), "") for three in threes]
    return [word for index in other_order(said, rng) for word in threes[index]]


def _threes(found: Sequence[Word]) -> list[Sequence[Word]]:
    return [found[start : start + 3] for start in range(0, len(found), 3)]


PARTS: Mapping[str, Callable[[Sequence[Word], np.random.Generator], list[Word]]] = MappingProxyType(
    {
        "nouns-and-adjectives": _content,
        "all-but-nouns-and-adjectives": _function,
        "within-trigrams": _within,
        "trigrams": _trigrams,
    }
)
"""Which words change places: of a kind among themselves, within every three in a row, or the threes as wholes."""


def written(found: Sequence[str], stop: str, language: str = "en") -> str:
    """Write words as a sentence: a capital at its beginning, the stop at its end."""
    text = join(found, language)
    return text[:1].upper() + text[1:] + stop
