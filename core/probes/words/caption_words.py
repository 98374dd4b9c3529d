"""Words of a caption in five languages, and which of them are nouns, by rules that are written down."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from core.errors import InvalidInput
from core.probes.words.english import NOUN, colours, dictionary, is_closed, kinds, listed

_SENTENCE_END = re.compile(r"[.!?:…]\W*$")
_ADJECTIVES_TOO = ("end", "ende", "ender", "endes", "enden")  # endings of German participles
_ADVERBS = ("mente", "ment")
_TO_DO = ("ar", "er", "ir", "arse", "erse", "irse")  # endings of Spanish infinitives: after a preposition no nouns
_NO_PART = ("たち", "達", "さん", "ちゃん", "くん", "君", "様", "ら", "側", "中", "的", "化", "用", "風", "さ")
"""Japanese suffixes that are no part of a noun's name, as 犬 of 大型犬 is."""
_DOES = ("する", "し", "さ", "すれ", "せよ", "しろ")  # forms of する, with which a noun is a verb (着陸する)


@dataclass(frozen=True, slots=True)
class Word:
    """One word with the signs that are written to it: ``lead + core + trail`` is its text."""

    lead: str
    core: str
    trail: str
    kind: str = ""  # its part of speech in Japanese; ``elided`` after l' and d' in French

    @property
    def text(self) -> str:
        """The word as it stands in the caption."""
        return self.lead + self.core + self.trail


def german(found: Sequence[Word]) -> Iterator[bool]:
    """Words with a capital; at the beginning of a sentence those that are of no closed class and no adjective.
    Where capitals do not tell nouns, as in a caption of capitals alone or in a title, there are none."""
    closed, begins, letters = listed("closed", "de"), True, "".join(word.core for word in found)
    titled = any(
        word.core[:1].isupper()
        and (word.core != "Sie" and word.core.casefold() in closed)
        and not _SENTENCE_END.search(before.core + before.trail)
        for before, word in pairwise(found)
    )
    told = not titled and (len(letters) < 2 or not letters.isupper())
    for index, word in enumerate(found):
        named = told and word.core[:1].isupper() and _letters(word.core) and len(word.core) > 1
        if begins and named:
            after = found[index + 1].core if index + 1 < len(found) and not word.trail else ""
            text = word.core.casefold()
            named = text not in closed and not after[:1].isupper() and not text.endswith(_ADJECTIVES_TOO)
        yield named
        begins = bool(_SENTENCE_END.search(word.lead + word.core + word.trail))


def _romance(found: Sequence[Word], language: str) -> Iterator[bool]:
    """The word after a determiner, a preposition or a verb of ``bare``; the first word; and in lists of such.
    The usual adjectives that stand before a noun are passed over, and so is a second determiner. Closed words,
    adverbs and, after a preposition, infinitives and gerunds are no nouns."""
    waiting, listing, bare, before = "beginning", False, False, ""
    for word in found:
        text = word.core.casefold()
        waiting = "elided" if word.kind == "elided" else waiting
        kind = kind_of(text, language)
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


def kind_of(text: str, language: str) -> str:
    """The closed class of a French or Spanish word, in lower case; ``open`` for every other word."""
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
    if language == "es":
        return text.endswith(_TO_DO)
    if before == "en":
        return text.endswith("ant") or text == "train"  # en train de manger
    return text in listed("verbs", "fr") or (text.endswith(("er", "ir")) and not text.endswith("ier"))


def japanese(found: Sequence[Word]) -> Iterator[bool]:
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
            does = after is not None and after.kind.startswith("動詞,自立") and after.core in _DOES
            named = named and not (detail == "サ変接続" and does)
        yield named
        before = named


def _letters(text: str) -> bool:
    return text.replace("-", "").replace("’", "").replace("'", "").isalpha()


LANGUAGES = ("en", "de", "fr", "es", "ja")  # ISO 639-1 codes of the languages of paper B

_SIGNS = re.compile(r"^(?P<lead>\W*)(?P<core>.*?)(?P<trail>\W*)$", re.DOTALL)
_ELIDED = re.compile(r"^(?P<lead>\W*[ld]['’])(?P<rest>\w.*)$", re.DOTALL | re.IGNORECASE)

Phrase = tuple[int, int]  # index of a phrase's first and last word


def words(caption: str, language: str = "en") -> tuple[Word, ...]:
    """Split a caption: at blanks; in Japanese into the words of janome's dictionary (IPADIC).
    Raises InvalidInput for a language other than :data:`LANGUAGES`."""
    if language not in LANGUAGES:
        raise InvalidInput(f"captions can be edited in {', '.join(LANGUAGES)}, got language {language!r}")
    if language == "ja":
        tokens = _segmenter().tokenize(caption)
        return tuple(Word("", each.surface, "", each.part_of_speech) for each in tokens if each.surface.strip())
    found = []
    for text in caption.split():
        elided = _ELIDED.match(text) if language == "fr" else None
        lead, rest = (elided["lead"], elided["rest"]) if elided else ("", text)
        signs = _SIGNS.match(rest)
        assert signs is not None  # every text matches
        found.append(Word(lead + signs["lead"], signs["core"], signs["trail"], "elided" if elided else ""))
    return tuple(found)


def join(found: Sequence[Word | str], language: str = "en") -> str:
    """Write words as a caption again: with blanks, in Japanese without."""
    return ("" if language == "ja" else " ").join(each if isinstance(each, str) else each.text for each in found)


def noun_phrases(found: Sequence[Word], language: str) -> tuple[Phrase, ...]:
    """Find the nouns; nouns in a row are one phrase, unless a sign parts them.
    English ones by :mod:`core.probes.words.english`, the others by the rules here. Parts, sides and amounts (``frames``
    of ``assets/lexicons``) name no thing and are left out."""
    frames = listed("frames", language)
    phrases: list[Phrase] = []
    for index, is_noun in enumerate(_RULES[language](found)):
        if not is_noun or (language != "en" and found[index].core.casefold() in frames):
            continue
        if phrases and phrases[-1][1] == index - 1 and not found[index - 1].trail and not found[index].lead:
            phrases[-1] = (phrases[-1][0], index)
        else:
            phrases.append((index, index))
    return tuple(phrases)


_NAMES = {"es": ("de",), "fr": ("de", "à", "aux", "en"), "ja": ("の",)}
"""Words that make one name of two nouns: *lata de basura*, *pomme de pin*, of a quality in Japanese (木のテーブル)."""


def whole_phrases(found: Sequence[Word], language: str) -> tuple[Phrase, ...]:
    """The nouns of :func:`noun_phrases`, those of one name as one: *voiture de course*.

    >>> whole_phrases(words("Una lata de basura en un prado.", "es"), "es")
    ((1, 3), (6, 6))
    """
    phrases: list[Phrase] = []
    for first, last in noun_phrases(found, language):
        joins = phrases and phrases[-1][1] == first - 2 and found[first - 1].core.casefold() in _NAMES.get(language, ())
        joins = joins and (language != "ja" or found[first - 2].core in listed("qualities", "ja"))
        if joins and found[first].kind != "elided" and not found[first - 1].trail and not found[first - 2].trail:
            first, _ = phrases.pop()
        phrases.append((first, last))
    return tuple(phrases)


def named_phrases(found: Sequence[Word], names: Sequence[str], language: str) -> tuple[Phrase, ...]:
    """Find where a caption says some names, each once, at its last place; longer names first, none inside another.
    Source: paper B, 5.2: the last occurrence of each critical object."""
    taken: dict[int, Phrase] = {}
    for name in sorted(dict.fromkeys(names), key=lambda each: (-len(each), each)):
        spans = (
            (first, last)
            for last in range(len(found) - 1, -1, -1)
            for first in range(last + 1)
            if core_text(found, first, last, language).casefold() == name.strip().casefold()
        )
        free = next((span for span in spans if not taken.keys() & set(range(span[0], span[1] + 1))), None)
        taken.update(dict.fromkeys(range(free[0], free[1] + 1), free) if free else {})
    return tuple(sorted(set(taken.values())))


def core_text(found: Sequence[Word], first: int, last: int, language: str) -> str:
    """The text of a phrase, without the signs around it."""
    if first == last:
        return found[first].core
    begin, end = found[first].core + found[first].trail, found[last].lead + found[last].core
    return join([begin, *found[first + 1 : last], end], language)


@cache
def _segmenter() -> Any:
    from janome.tokenizer import Tokenizer  # type: ignore[import-untyped]

    return Tokenizer(mmap=True)  # reads the words that it is asked for; all of them take a second and 220 MB


def _english(found: Sequence[Word]) -> Iterator[bool]:
    return (kind == NOUN for kind in _kinds(found))


def _kinds(found: Sequence[Word]) -> list[str]:
    """What each word of an English caption is; the signs beside it part it from its neighbours."""
    texts, places = list[str](), list[int]()
    for word in found:
        if word.lead and texts and texts[-1] != word.lead[0]:
            texts.append(word.lead[0])
        places.append(len(texts))
        texts.append(word.core.casefold())
        if word.trail:
            texts.append(word.trail[0])
    said = kinds(texts)
    return [said[place] for place in places]


def closed_words(text: str, lists: Sequence[str]) -> bool:
    """Whether an English word, in lower case, stands in some lists of ``assets/lexicons/caption_words.toml``; what
    determines one thing is a determiner, too."""
    return any(text in listed(name) for name in lists) or ("determiners" in lists and text in listed("of_one"))


def nouns_and_adjectives(found: Sequence[Word]) -> tuple[bool, ...]:
    """Which words of an English caption are nouns or adjectives, by the dictionary and the rules of nouns."""
    said = zip(_kinds(found), found, strict=True)
    return tuple(kind == NOUN or is_adjective(word.core.casefold()) for kind, word in said)


def is_adjective(text: str) -> bool:
    """Whether a word is an adjective: a colour, or one by the dictionary that no closed class holds."""
    closed = is_closed(text)
    return text in colours() or (not closed and text.isalpha() and "ADJ" in dictionary(text) and text not in _FINITE)


def holds_clause(caption: str, *, sure: bool = False) -> bool:
    """Whether an English caption is its own clause, as *A dog plays.*, and no noun phrase, as *A dog at play.*
    A clause holds a finite verb: a word of the dictionary's verbs that is no noun where it stands, no adjective or
    adverb, no infinitive, and has not the ending of a participle. A rule, not a parser: a phrase with a relative clause
    counts as one.
    ``sure``: whether a form that may be a participle is none: *a very well made bed*, *a man hit a ball*."""
    found = words(caption)
    texts = [word.core.casefold() for word in found]
    passed = listed("frames") | (listed("pasts") if sure else frozenset())
    verbs = (
        text
        for before, text, after, noun in zip(["", *texts], texts, [*texts[1:], ""], _english(found), strict=False)
        if not noun and before != "to" and text not in passed and not (after == "of" and text in listed("amounts"))
    )
    return any(map(_finite, verbs))


def _finite(text: str) -> bool:
    if text in _FINITE:
        return True
    closed = is_closed(text)
    if closed or not text.isalpha() or text.endswith(("ing", "ed", "en")):
        return False
    classes = dictionary(text).keys()
    return "VERB" in classes and not classes & {"ADJ", "ADV"}


_FINITE = frozenset(
    (
        "is", "are", "was", "were", "am", "has", "have", "had", "can", "could", "will", "would", "does", "do", "did",
        "may", "might", "must", "shall",
    )
)  # fmt: skip
"""Verbs that the dictionary knows as nouns, or as closed words, too."""

_RULES: Mapping[str, Callable[[Sequence[Word]], Iterator[bool]]] = MappingProxyType(
    {
        "en": _english,
        "de": german,
        "fr": partial(_romance, language="fr"),
        "es": partial(_romance, language="es"),
        "ja": japanese,
    }
)
"""Language -> which words of a caption are nouns."""
