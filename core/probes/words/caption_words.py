"""Words of a caption in five languages, and which of them are nouns, by rules that are written down."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from core.errors import InvalidInput
from core.probes.tables import lexicon_path, read_table, words_path

LANGUAGES = ("en", "de", "fr", "es", "ja")
"""ISO 639-1 codes of the languages of paper B."""

_SIGNS = re.compile(r"^(?P<lead>\W*)(?P<core>.*?)(?P<trail>\W*)$", re.DOTALL)
_ELIDED = re.compile(r"^(?P<lead>\W*l['’])(?P<rest>\w.*)$", re.DOTALL | re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?:…]\W*$")

Phrase = tuple[int, int]
"""Index of a phrase's first and last word."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word with the signs that are written to it: ``lead + core + trail`` is its text."""

    lead: str
    core: str
    trail: str
    kind: str = ""

    @property
    def text(self) -> str:
        """The word as it stands in the caption."""
        return self.lead + self.core + self.trail


def words(caption: str, language: str = "en") -> tuple[Word, ...]:
    """Split a caption: at blanks; in Japanese into the words of janome's dictionary (IPADIC).

    Raises:
        InvalidInput: for a language other than :data:`LANGUAGES`.
    """
    if language not in LANGUAGES:
        raise InvalidInput(f"captions can be edited in {', '.join(LANGUAGES)}, got language {language!r}")
    if language == "ja":
        return tuple(_japanese(caption))
    return tuple(_split(text, language) for text in caption.split())


def join(found: Sequence[Word | str], language: str = "en") -> str:
    """Write words as a caption again: with blanks, in Japanese without."""
    return ("" if language == "ja" else " ").join(each if isinstance(each, str) else each.text for each in found)


def noun_phrases(found: Sequence[Word], language: str) -> tuple[Phrase, ...]:
    """Find the nouns; nouns in a row are one phrase, unless a sign parts them.

    - English: words that lemminflect's dictionary knows as nouns, not of the closed classes and not in -ing. One that
      may also be an adjective is none where a possible noun follows; one that may also be a verb is one after a
      determiner, number, preposition or adjective, after *and*, at the beginning, and after a noun that does nothing
      by itself (*baseball bat*, but *dog plays*).
    - German: words with a capital, not at the beginning of a sentence.
    - French, Spanish: the word after an article, possessive, demonstrative or number; the usual adjectives that stand
      before a noun are passed over, and so is a second determiner.
    - Japanese: janome's part of speech 名詞, without pronouns, numbers, suffixes and dependent nouns.
    """
    flags = list(_RULES[language](found))
    phrases: list[Phrase] = []
    for index, is_noun in enumerate(flags):
        if not is_noun:
            continue
        if phrases and phrases[-1][1] == index - 1 and not found[index - 1].trail and not found[index].lead:
            phrases[-1] = (phrases[-1][0], index)
        else:
            phrases.append((index, index))
    return tuple(phrases)


def named_phrases(found: Sequence[Word], names: Sequence[str], language: str) -> tuple[Phrase, ...]:
    """Find where a caption says some names, each once, at its last place; longer names first, none inside another.

    Source: paper B, 5.2: the last occurrence of each critical object.
    """
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
    inner = [found[first].text if first != last else found[first].core]
    if first != last:
        inner = [found[first].text.removeprefix(found[first].lead), *(each.text for each in found[first + 1 : last])]
        inner.append(found[last].text.removesuffix(found[last].trail) if found[last].trail else found[last].text)
    return join(inner, language)


def _split(text: str, language: str) -> Word:
    elided = _ELIDED.match(text) if language == "fr" else None
    lead, rest = (elided["lead"], elided["rest"]) if elided else ("", text)
    signs = _SIGNS.match(rest)
    assert signs is not None  # every text matches
    return Word(lead + signs["lead"], signs["core"], signs["trail"], "elided" if elided else "")


def _japanese(caption: str) -> Iterator[Word]:
    for token in _segmenter().tokenize(caption):
        if token.surface.strip():
            yield Word("", token.surface, "", token.part_of_speech)


@cache
def _segmenter() -> Any:
    from janome.tokenizer import Tokenizer  # type: ignore[import-untyped]

    return Tokenizer(mmap=True)  # reads the words that it is asked for; all of them take a second and 220 MB


@cache
def _list(path: Path, language: str, name: str) -> frozenset[str]:
    return frozenset(tomllib.loads(path.read_text(encoding="utf-8"))[language][name].split())


def _words(language: str, name: str) -> frozenset[str]:
    """A list of ``assets/lexicons/caption_words.toml``."""
    return _list(lexicon_path("caption_words.toml"), language, name)


def _english(found: Sequence[Word]) -> Iterator[bool]:
    before, in_phrase = "", False
    for index, word in enumerate(found):
        text = word.core.casefold()
        after = found[index + 1].core.casefold() if index + 1 < len(found) and not word.trail else ""
        in_phrase = in_phrase and not word.lead and not found[index - 1].trail
        is_noun = _english_noun(text, before, after, in_phrase=in_phrase)
        yield is_noun
        before, in_phrase = text, is_noun


def _english_noun(text: str, before: str, after: str, *, in_phrase: bool) -> bool:
    if not may_be_noun(text):
        return False
    classes = _classes(text)
    if "ADJ" in classes and may_be_noun(after):
        return False
    if "VERB" not in classes:
        return True
    if in_phrase:
        return before not in _words("en", "agents")  # "the dog plays", but "the baseball bat"
    introduced = before in _words("en", "determiners") or before in _words("en", "prepositions")
    return not before or introduced or before in ("and", "or") or before.isdigit() or "ADJ" in _classes(before)


def closed_words(text: str, lists: Sequence[str] = ("determiners", "prepositions", "others")) -> bool:
    """Whether an English word, in lower case, stands in some of the lists of ``assets/lexicons/caption_words.toml``."""
    return any(text in _words("en", name) for name in lists)


def may_be_noun(text: str) -> bool:
    """Whether an English word, in lower case, can be a noun by the dictionary and is of no closed class."""
    closed = closed_words(text)
    if closed or not text.isalpha() or text.endswith("ing"):
        return False
    return "NOUN" in _classes(text)


@cache
def colours() -> tuple[str, ...]:
    """Colours of ``assets/words/colours.csv``."""
    return tuple(row.required("word").casefold() for row in read_table(words_path("colours.csv"), ("word",)))


def nouns_and_adjectives(found: Sequence[Word]) -> tuple[bool, ...]:
    """Which words of an English caption are nouns or adjectives, by the dictionary and the rules of nouns."""
    return tuple(noun or is_adjective(word.core.casefold()) for noun, word in zip(_english(found), found, strict=True))


def is_adjective(text: str) -> bool:
    """Whether a word is an adjective: a colour, or one by the dictionary that no closed class holds."""
    closed = closed_words(text)
    return text in colours() or (not closed and text.isalpha() and "ADJ" in _classes(text) and text not in _FINITE)


def holds_clause(caption: str) -> bool:
    """Whether an English caption is a clause of its own, as *A dog plays.*, and no noun phrase, as *A dog at play.*

    A clause holds a finite verb: a word of the dictionary's verbs that is no noun where it stands, no adjective or
    adverb, and has not the ending of a participle. A rule, not a parser: a phrase with a relative clause counts as one.
    """
    found = words(caption)
    nouns = tuple(_english(found))
    return any(not noun and _finite(word.core.casefold()) for word, noun in zip(found, nouns, strict=True))


def _finite(text: str) -> bool:
    if text in _FINITE:
        return True
    closed = closed_words(text)
    if closed or not text.isalpha() or text.endswith(("ing", "ed", "en")):
        return False
    classes = _classes(text)
    return "VERB" in classes and not classes & {"ADJ", "ADV"}


_FINITE = frozenset(
    (
        "is", "are", "was", "were", "am", "has", "have", "had", "can", "could", "will", "would", "does", "do", "did",
        "may", "might", "must", "shall",
    )
)  # fmt: skip
"""Verbs that the dictionary knows as nouns, or as closed words, too."""


def _classes(word: str) -> frozenset[str]:
    return frozenset(dictionary(word))


@lru_cache(maxsize=20_000)
def dictionary(word: str) -> Mapping[str, tuple[str, ...]]:
    """Parts of speech of an English word, in lower case, with its lemmas by lemminflect; empty where it is not known.

    Example:
        >>> dict(dictionary("tied"))
        {'VERB': ('tie',)}
    """
    from lemminflect import getAllLemmas

    return MappingProxyType(getAllLemmas(word) if word else {})


def _german(found: Sequence[Word]) -> Iterator[bool]:
    begins = True
    for word in found:
        yield not begins and word.core[:1].isupper() and word.core.isalpha() and len(word.core) > 1
        begins = bool(_SENTENCE_END.search(word.text))


def _french(found: Sequence[Word]) -> Iterator[bool]:
    return _after_determiner(found, _words("fr", "determiners"), _words("fr", "before"))


def _spanish(found: Sequence[Word]) -> Iterator[bool]:
    return _after_determiner(found, _words("es", "determiners"), _words("es", "before"))


def _after_determiner(found: Sequence[Word], determiners: frozenset[str], passed: frozenset[str]) -> Iterator[bool]:
    waiting = False
    for word in found:
        text = word.core.casefold()
        if text in determiners:
            waiting = not word.trail
            yield False
        elif (waiting or word.kind == "elided") and text in passed and not word.trail:
            waiting = True
            yield False
        else:
            yield (waiting or word.kind == "elided") and text.isalpha()
            waiting = False


def _japanese_nouns(found: Sequence[Word]) -> Iterator[bool]:
    for word in found:
        kind, detail, *_ = [*word.kind.split(","), "", ""]
        yield kind == "名詞" and detail not in ("代名詞", "数", "接尾", "非自立")


_RULES: dict[str, Callable[[Sequence[Word]], Iterator[bool]]] = {
    "en": _english, "de": _german, "fr": _french, "es": _spanish, "ja": _japanese_nouns,
}  # fmt: skip
