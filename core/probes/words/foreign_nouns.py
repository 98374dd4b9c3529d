"""The nouns of German, French, Spanish and Japanese captions, by rules that are written down.

Their lists are those of ``assets/lexicons/caption_words.toml``. The words of a Japanese caption and their parts of
speech are those of janome's dictionary (IPADIC).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Protocol

from core.probes.words.english import listed

_SENTENCE_END = re.compile(r"[.!?:…]\W*$")
_ADJECTIVES_TOO = ("end", "ende", "ender", "endes", "enden")
"""Endings of German participles."""
_ADVERBS = ("mente", "ment")
_TO_DO = ("ar", "er", "ir", "arse", "erse", "irse", "re")
"""Endings of infinitives: after a preposition they are no nouns."""
_NO_PART = ("たち", "達", "さん", "ちゃん", "くん", "君", "様", "ら", "側", "中", "的", "化", "用", "風", "さ")
"""Japanese suffixes that are no part of a noun's name, as 犬 of 大型犬 is."""


class Said(Protocol):
    """A word with the signs that are written to it; see :class:`core.probes.words.caption_words.Word`."""

    @property
    def lead(self) -> str:
        """Signs before the word."""
        ...

    @property
    def core(self) -> str:
        """The word itself."""
        ...

    @property
    def trail(self) -> str:
        """Signs after the word."""
        ...

    @property
    def kind(self) -> str:
        """Its part of speech in Japanese; ``elided`` after l' and d' in French."""
        ...


def german(found: Sequence[Said]) -> Iterator[bool]:
    """Words with a capital; at the beginning of a sentence those that are of no closed class and no adjective.

    Where capitals do not tell nouns, as in a caption of capitals alone, there are none.
    """
    closed = listed("closed", "de")
    begins, told = True, capitals_tell(found)
    for index, word in enumerate(found):
        named = told and word.core[:1].isupper() and _letters(word.core) and len(word.core) > 1
        if begins and named:
            after = found[index + 1].core if index + 1 < len(found) and not word.trail else ""
            text = word.core.casefold()
            named = text not in closed and not after[:1].isupper() and not text.endswith(_ADJECTIVES_TOO)
        yield named
        begins = bool(_SENTENCE_END.search(word.lead + word.core + word.trail))


def capitals_tell(found: Sequence[Said]) -> bool:
    """Whether a German caption is written with capitals for nouns: not in capitals alone, and not as a title."""
    letters = "".join(word.core for word in found)
    titled = any(
        word.core[:1].isupper() and _is_small(word.core) and not _SENTENCE_END.search(before.core + before.trail)
        for before, word in pairwise(found)
    )
    return not titled and (len(letters) < 2 or not letters.isupper())


def _is_small(word: str) -> bool:
    """Whether a German word is of the closed classes and has no capital within a sentence; not *Sie*."""
    return word != "Sie" and word.casefold() in listed("closed", "de")


def french(found: Sequence[Said]) -> Iterator[bool]:
    """See :func:`_romance`."""
    return _romance(found, "fr")


def spanish(found: Sequence[Said]) -> Iterator[bool]:
    """See :func:`_romance`."""
    return _romance(found, "es")


def _romance(found: Sequence[Said], language: str) -> Iterator[bool]:
    """The word after a determiner, a preposition or a verb of ``bare``; the first word; and in lists of such.

    The usual adjectives that stand before a noun are passed over, and so is a second determiner. Closed words,
    adverbs and, after a preposition, infinitives and gerunds are no nouns.
    """
    waiting, listing, bare, before = "beginning", False, False, ""
    for word in found:
        text = word.core.casefold()
        waiting = "elided" if word.kind == "elided" else waiting
        kind = _kind(text, language)
        if kind == "passed" and waiting:
            is_noun = False
        elif kind in ("determiners", "prepositions", "bare"):
            is_noun, waiting = False, kind
        elif kind == "joins":
            is_noun, waiting = False, "listed" if listing else ""
        else:
            is_noun = bool(waiting) and kind == "open" and not _is_verb(text, waiting, before, language)
            bare, listing, waiting = waiting != "determiners", False, ""
            listing = is_noun and bare
        if word.trail:
            waiting = "listed" if word.trail == "," and listing else ""
        if _SENTENCE_END.search(word.trail):
            waiting = "beginning"
        before = text
        yield is_noun


def _kind(text: str, language: str) -> str:
    for name in ("determiners", "prepositions", "joins", "others", "bare"):
        if text in listed(name, language):
            return name
    if text in listed("before", language):
        return "passed"
    return "open" if _letters(text) else "others"


def _is_verb(text: str, waiting: str, before: str, language: str) -> bool:
    """Whether a word where a noun may stand is an adverb, an infinitive or a gerund."""
    if text.endswith(_ADVERBS) and text not in listed("nouns", language):
        return True
    if waiting != "prepositions" or text in listed("nouns", language):
        return False
    if language == "fr":
        return _is_french_verb(text, before)
    return text.endswith(_TO_DO[:-1])


def _is_french_verb(text: str, before: str) -> bool:
    if before == "en":
        return text.endswith("ant") or text == "train"  # en train de manger
    return text in listed("verbs", "fr") or (text.endswith(("er", "ir")) and not text.endswith("ier"))


def japanese(found: Sequence[Said]) -> Iterator[bool]:
    """janome's 名詞, with the suffix that is its head (大型犬); no pronouns, numbers, counters, and verbs with する."""
    before = False
    for index, word in enumerate(found):
        kind, detail, more, *_ = [*word.kind.split(","), "", "", ""]
        after = found[index + 1] if index + 1 < len(found) else None
        if kind == "接頭詞":
            named = detail == "名詞接続" and after is not None and after.kind.startswith("名詞,一般")
        elif detail == "接尾":
            named = before and more in ("一般", "地域") and word.core not in _NO_PART
        else:
            named = kind == "名詞" and detail not in ("代名詞", "数", "非自立", "特殊", "形容動詞語幹")
            named = named and not (detail == "サ変接続" and after is not None and _does(after))
        yield named
        before = named


def _does(word: Said) -> bool:
    """Whether a word is a form of する, with which a noun is a verb (着陸する)."""
    return word.kind.startswith("動詞,自立") and word.core in ("する", "し", "さ", "すれ", "せよ", "しろ")


def _letters(text: str) -> bool:
    return text.replace("-", "").replace("’", "").replace("'", "").isalpha()


RULES: Mapping[str, Callable[[Sequence[Said]], Iterator[bool]]] = MappingProxyType(
    {"de": german, "fr": french, "es": spanish, "ja": japanese}
)
"""Language -> which words of a caption are nouns."""
