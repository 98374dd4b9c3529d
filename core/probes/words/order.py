"""Shuffles of a caption's words, as paper D makes them: without the final full stop, lower case, a capital, the stop.

Source: paper D, 4.4.2 and its code, which draws without a seed, so that its captions cannot be made again.
"""

from collections.abc import Sequence

import numpy as np

from core.probes.words.caption_words import Word, join, words
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


def written(found: Sequence[str], stop: str, language: str = "en") -> str:
    """Write words as a sentence: a capital at its beginning, the stop at its end."""
    text = join(found, language)
    return text[:1].upper() + text[1:] + stop
