"""The nouns of an English caption, by a dictionary of word classes and the words that stand around."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+|[^\w\s]")
_MODIFIERS = 3
_LISTING = (",", "and", "or", "&")
_ENDS = ("", ".", "!", "?", ";")


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun and the nouns right before it.

    Args:
        head: the noun itself, singular (``holder``).
        text: with the nouns that modify it (``toilet paper roll holder``); adjectives are left out.
    """

    head: str
    text: str


@dataclass(frozen=True, slots=True)
class WordLists:
    """The word lists of the rubric, see ``assets/rubrics/grounding-judge.toml``."""

    determiners: frozenset[str]
    prepositions: frozenset[str]
    closed: frozenset[str]
    frames: frozenset[str]
    colours: frozenset[str]
    agents: frozenset[str]
    no_noun_endings: frozenset[str]
    noun_endings: frozenset[str]
    being: frozenset[str]

    @classmethod
    def from_texts(cls, texts: Mapping[str, str]) -> "WordLists":
        """Split lists that are written as words with blanks between them."""
        return cls(**{name: frozenset(words.split()) for name, words in texts.items()})


class NounFinder:
    """Finds nouns by rule, so that each decision can be explained.

    The rubric's text tells of these rules; with it they stand in the judge's fingerprint, so both change together.

    1. Words of the closed classes (articles, prepositions, conjunctions, auxiliaries…) and colours are no nouns.
    2. A word that the dictionary knows as a noun, or does not know and that has no adjective's or verb's ending,
       may be one.
    3. If it may also be an adjective, it is one where another possible noun follows.
    4. If it may also be a verb, it is a noun at the beginning, after an article, number, preposition or adjective,
       in a list after a noun, and after a noun that is no agent; after an agent it is a verb (*the dog plays*),
       and so is a word in -ing after any noun (*a cup standing*).
    5. After *there is* and *there are* a word that may also be a verb is a noun (*There are skis.*). A colour, or a
       word that the dictionary knows as an adjective alone, is one between an article or number, which adjectives may
       follow, and the end of the sentence or a form of *to be* (*There is a remote.*, *There is a cheap orange.*).
    6. Nouns in a row are one phrase, whose last word is the head; a phrase keeps its last four words. Parts and
       amounts (*top*, *bunch*) are left out.

    Example:
        >>> finder.find("Two dogs play with an expensive tennis ball.")     # doctest: +SKIP
        (NounPhrase(head='dog', text='dog'), NounPhrase(head='ball', text='tennis ball'))
    """

    def __init__(self, words: WordLists) -> None:
        self._words = words
        self._never = words.determiners | words.prepositions | words.closed | words.colours
        self._endings = tuple(sorted(words.no_noun_endings))
        self._noun_endings = tuple(sorted(words.noun_endings))

    def find(self, caption: str) -> tuple[NounPhrase, ...]:
        """Return the noun phrases of a caption, each once, in the order in which they first stand there."""
        found: dict[str, NounPhrase] = {}
        for run in self._runs([word.lower() for word in _WORD.findall(caption)]):
            head = _singular(run[-1])
            if head not in self._words.frames:
                modifiers = [word for word in run[:-1] if word not in self._words.frames]
                text = " ".join([*modifiers[-_MODIFIERS:], head])
                found.setdefault(text, NounPhrase(head, text))
        return tuple(found.values())

    def _runs(self, words: list[str]) -> Iterator[list[str]]:
        run: list[str] = []
        listed = False  # whether a noun stood before the last comma or "and"
        for index, word in enumerate(words):
            before = words[index - 1] if index else ""
            if self._is_noun(words, index, run=run, listed=listed):
                run.append(word)
                continue
            if run:
                yield run
            listed = word in _LISTING and (bool(run) or (before in _LISTING and listed))
            run = []
        if run:
            yield run

    def _is_noun(self, words: list[str], index: int, *, run: list[str], listed: bool) -> bool:
        word, before = words[index], words[index - 1] if index else ""
        after = words[index + 1] if index + 1 < len(words) else ""
        if not self._may_be_noun(word):
            return self._stands_alone(words, index, after)
        classes = _classes(word)
        if "ADJ" in classes and self._may_be_noun(after):
            return False
        if "VERB" not in classes:
            return True
        if run:
            return not word.endswith("ing") and _singular(run[-1]) not in self._words.agents
        if before in _LISTING:
            return listed
        there = before in self._words.being and "there" in words[max(0, index - 2) : index - 1]
        return not before or there or self._introduces(before)

    def _stands_alone(self, words: list[str], index: int, after: str) -> bool:
        """Whether an adjective is a noun for want of one: nothing follows that it could tell more of."""
        known = self._words
        if not self._is_adjective(words[index]) or not (after in _ENDS or after == "there" or after in known.being):
            return False
        first = index - 1
        while first > 0 and self._tells_more(words[first]):
            first -= 1
        return first >= 0 and words[first] in known.determiners

    def _is_adjective(self, word: str) -> bool:
        """A colour, or what the dictionary knows as an adjective alone."""
        return word in self._words.colours or (word not in self._never and _classes(word) == {"ADJ"})

    def _tells_more(self, word: str) -> bool:
        """Whether a word between an article and a noun may be an adjective."""
        if word in self._never:
            return word in self._words.colours
        classes = _classes(word)
        return "ADJ" in classes if classes else word.endswith(self._endings)

    def _may_be_noun(self, word: str) -> bool:
        if not word or not word[0].isalpha() or word in self._never:
            return False
        classes = _classes(word)
        if classes:
            return "NOUN" in classes
        return word.endswith(self._noun_endings) or not word.endswith(self._endings)

    def _introduces(self, before: str) -> bool:
        words = self._words
        return (
            before in words.determiners
            or before in words.prepositions
            or before in words.colours
            or before.isdigit()
            or before.endswith(self._endings)
            or "ADJ" in _classes(before)
        )


@lru_cache(maxsize=20_000)
def _classes(word: str) -> frozenset[str]:
    from lemminflect import getAllLemmas

    return frozenset(getAllLemmas(word))


def _singular(word: str) -> str:
    from lemminflect import getAllLemmas

    lemmas = getAllLemmas(word, upos="NOUN").get("NOUN", ())
    return lemmas[0] if lemmas else word
