"""Three more edits of a caption, of its nouns: from the checklist that paper B takes its five edits from.

Source: Sai et al., Perturbation CheckLists for Evaluating NLG Evaluation Metrics, EMNLP 2021; nouns as
:func:`core.probes.words.caption_words.noun_phrases` finds them.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from core.errors import ProbeRejected
from core.probes.words.agreement import placed, sounded
from core.probes.words.caption_words import Phrase, Word, core_text, join, noun_phrases


def drop_nouns(found: Sequence[Word], language: str) -> list[str]:
    """Leave every noun out; signs beside it go with it.

    Raises:
        ProbeRejected: ``few-nouns`` where the caption has none, or nothing else.
    """
    phrases = _nouns(found, language, least=1)
    gone = {index for first, last in phrases for index in range(first, last + 1)}
    if len(gone) == len(found):
        raise ProbeRejected("few-nouns", f"nothing is left of {join(found, language)!r} without its nouns")
    return [word.text for index, word in enumerate(found) if index not in gone]


def repeat_first_noun(found: Sequence[Word], language: str) -> list[str]:
    """Say the first noun once more before the last word.

    Raises:
        ProbeRejected: ``few-nouns`` where the caption has none.
    """
    phrases = _nouns(found, language, least=1)
    end = max(index for index, word in enumerate(found) if any(sign.isalnum() for sign in word.core))
    texts, noun = [word.text for word in found], core_text(found, *phrases[0], language)
    if language == "en" and end:
        texts[end - 1] = sounded(found[end - 1], noun)
    return [*texts[:end], noun, *texts[end:]]


def swap_first_and_last_noun(found: Sequence[Word], language: str) -> list[str]:
    """Let the first and the last noun change places, the articles before them fitted.

    Raises:
        ProbeRejected: ``few-nouns`` where they are the same word, or there is one.
    """
    phrases = _nouns(found, language, least=2)
    first, last = phrases[0], phrases[-1]
    one, other = core_text(found, *first, language), core_text(found, *last, language)
    if one.casefold() == other.casefold():
        raise ProbeRejected("few-nouns", f"the first and the last noun of {join(found, language)!r} are one word")
    order = [len(phrases) - 1, *range(1, len(phrases) - 1), 0]
    return placed(found, phrases, order, language)


NOUN_EDITS: Mapping[str, Callable[[Sequence[Word], str], list[str]]] = MappingProxyType(
    {"drop-nouns": drop_nouns, "repeat-first-noun": repeat_first_noun, "swap-nouns": swap_first_and_last_noun}
)
"""The three edits by name; each takes (words of a caption, language) and returns the words of the edited one."""


def _nouns(found: Sequence[Word], language: str, *, least: int) -> tuple[Phrase, ...]:
    phrases = noun_phrases(found, language)
    if len(phrases) < least:
        named = ", ".join(repr(core_text(found, *each, language)) for each in phrases) or "none"
        raise ProbeRejected("few-nouns", f"{least} nouns are needed; {join(found, language)!r} has {named}")
    return phrases
