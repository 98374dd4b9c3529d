"""Whether a caption reads as the language that it is named as: nouns of another one would be found wrongly in silence.

By its script, by the small words (articles, prepositions) that one language has and another has not, and in English by
the dictionary. The lists are those of ``assets/lexicons/caption_words.toml``.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from types import MappingProxyType

from core.errors import ProbeRejected
from core.probes.base import ENGLISH, Subject
from core.probes.words.caption_words import LANGUAGES
from core.probes.words.english import dictionary, is_closed, is_known, listed

MARKUP = re.compile(
    r"<[^<>]*>|&#?\w+;|\bhttps?://\S+|\bwww\.\S+|\[[A-Z_]+\]|[^\s@]*@\w\S*|\b[\w-]+\.(?:jpe?g|png|gif|webp)\b"
)
"""What is no part of a sentence: tags, addresses, ``[MASK]``, names of people and files."""

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_ELIDED = re.compile(r"\b(?:[cdjlmnst]|qu)['’](?=\w)", re.I)  # a small word of French before a vowel: l'homme, d'un

_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_SMALL: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "de": ("closed",),
        "fr": ("determiners", "prepositions", "joins", "others"),
        "es": ("determiners", "prepositions", "joins", "others"),
    }
)
_FEW = 3
"""Words of a caption that may do without a small word; in these, one of another language tells at its start alone."""

_ENGLISH = ("of_one", "determiners", "prepositions", "conjunctions", "being", "auxiliaries", "others")


@lru_cache(maxsize=20_000)
def reads_as(caption: str, language: str) -> bool:
    """Whether a caption may be in a language; where nothing tells, as without letters, it may.
    ``language``: one of en, de, fr, es, ja.

    >>> reads_as("A dog sleeps on the bed.", "de"), reads_as("Man wearing red hat", "en")
    (False, True)
    """
    words = [word.casefold() for word in _WORD.findall(MARKUP.sub(" ", caption))]
    if not words:
        return True
    japanese = any(_JAPANESE.search(word) for word in words)
    if language == "ja" or japanese:
        return japanese == (language == "ja")
    if not any(_plain(word).isascii() for word in words):
        return language != "en"
    if language == "en" and 2 * sum(is_known(word) or is_known(_plain(word)) for word in words) < len(words):
        return False
    return not any(_is_rather(words, other, language) for other in ("en", *_SMALL) if other != language)


def _plain(word: str) -> str:
    """Without accents: a café, a fiancée."""
    return "".join(sign for sign in unicodedata.normalize("NFD", word) if not unicodedata.combining(sign))


def _is_rather(words: Sequence[str], other: str, language: str) -> bool:
    """Whether the small words of a caption are another language's."""
    there, here = _telling(other, language)
    against, own = sum(map(there.__contains__, words)), sum(map(here.__contains__, words))
    own += language == "fr" and any(map(_ELIDED.match, words))
    short = len(words) <= _FEW
    alone = own == 0 and ((words[0] in there and short) or (language != "en" and not short))
    return against > own and (against > 1 or alone)


@cache
def _telling(other: str, language: str) -> tuple[frozenset[str], frozenset[str]]:
    """Small words of one language that are none of the other, and the other way round."""
    there, here = _small(other), _small(language)
    if language == "en":  # hat, man, die: nobody can tell
        there = frozenset(word for word in there if not dictionary(word))
    return there - here, here - there


@cache
def _small(language: str) -> frozenset[str]:
    if language == "en":
        return frozenset(word for name in _ENGLISH for word in listed(name) if is_closed(word))
    return frozenset().union(*(listed(name, language) for name in _SMALL[language]))


def changed_words(before: Sequence[str], after: Sequence[str]) -> int:
    """How many words an edit changed.
    Of texts of one length, the places at which they differ; else the words in the stretches that differ, the longer
    side of each: 2 for two words that are said twice, or left out."""
    if len(before) == len(after):
        return sum(old != new for old, new in zip(before, after, strict=True))
    stretches = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return sum(max(i2 - i1, j2 - j1) for kind, i1, i2, j1, j2 in stretches if kind != "equal")


def check_language(subject: Subject, known: Sequence[str] = LANGUAGES) -> str:
    """Return the language of a caption.
    Raises ProbeRejected ``language-not-edited`` where no rule for it is known, or where the caption reads as another's.
    """
    if subject.language not in known:
        told = f"captions are edited in {', '.join(known)}, and this one is in {subject.language!r}"
        raise ProbeRejected("language-not-edited", told)
    if not reads_as(subject.caption, subject.language):
        told = f"{subject.caption!r} does not read as language {subject.language!r}, which the corpus names"
        raise ProbeRejected("language-not-edited", told)
    return subject.language


def check_english(subject: Subject) -> str:
    """Return the caption, which must be English. Raises ProbeRejected ``language-not-edited`` for another language."""
    check_language(subject, (ENGLISH,))
    return subject.caption
