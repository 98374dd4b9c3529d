"""A word put before the noun of an object in a sentence that somebody wrote.

The noun is the object's label, in the singular or the plural, as a separate word. Nothing else of the sentence
changes but what English asks for: *a* or *an* before the word that now follows it, and the capital of a noun that
began the sentence.

The noun must stand for itself (:mod:`core.probes.words.noun_alone`): no *dog house*, *police dog* or *hot dog*. Where
the rules cannot tell, the sentence is left alone and the reason is told. Source: paper A, A.12, extended.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.errors import ProbeRejected
from core.probes.words.caption_words import Word, noun_phrases, words
from core.probes.words.english import dictionary
from core.probes.words.grammar import article_like, clean_label
from core.probes.words.noun_alone import compound, denied, describing, first_adjective, named_spans

_ARTICLE = re.compile(r"(?<![\w'’-])(an?)(\s+[\"'“‘«(\[]*)$", re.IGNORECASE)
_LEADING_ARTICLE = re.compile(r"^(?:an?|the) (?=\S)", re.IGNORECASE)
_OPENS = re.compile(r"(?:^|[.!?]\s+)[\s\"'“‘«(\[]*$")


@dataclass(frozen=True, slots=True)
class Inserted:
    """A sentence with one word more.

    Args:
        text: the whole sentence.
        start, end: where the word stands in it, in characters.
    """

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NounPlace:
    """Where a sentence names an object.

    Args:
        caption: the sentence.
        noun: where the noun begins, in characters.
        adjectives: where its adjectives begin, in characters; as ``noun`` where it has none, or where they cannot be
            told for sure.
        described: the words that stand between the determiner and the noun, in lower case.
        label: the noun as the label has it.
        written: the noun as the sentence has it, in lower case.
        titled: whether the sentence is written as a title, With Capitals.
    """

    caption: str
    noun: int
    adjectives: int
    described: tuple[str, ...]
    label: str
    written: str
    titled: bool

    @property
    def phrase(self) -> str:
        """Adjectives and singular noun: what the compatibility screen reads (*wild dog*)."""
        return " ".join((*self.described, self.label))

    def insert(self, word: str, *, before_adjectives: bool = False) -> Inserted:
        """Put a word before the noun, or before the adjectives of the noun.

        Example:
            >>> place = noun_place("A big dog is tied to a fire hydrant.", "dog")
            >>> place.insert("African").text
            'A big African dog is tied to a fire hydrant.'
            >>> place.insert("happy", before_adjectives=True).text
            'A happy big dog is tied to a fire hydrant.'
        """
        at = self.adjectives if before_adjectives else self.noun
        before, after = self.caption[:at], self.caption[at:]
        opens = _OPENS.search(before) is not None
        fitted = self._fit_case(word, after, opens=opens)
        if opens and not self.titled and self._lowers(after):
            after = after[0].lower() + after[1:]
        before = _with_article(before, fitted, shouted=self._shouted)
        return Inserted(f"{before}{fitted} {after}", len(before), len(before) + len(fitted))

    @property
    def _shouted(self) -> bool:
        return self.caption.isupper()

    def _fit_case(self, word: str, after: str, *, opens: bool) -> str:
        if self._shouted:
            return word.upper()
        if self.titled or (opens and after[0].isupper()):
            return word[0].upper() + word[1:]
        return word

    def _lowers(self, after: str) -> bool:
        """Whether the noun had its capital only because it began the sentence: not *TV*, not *Christmas tree*."""
        first = after.split()[0].rstrip(".,;:!?\"'”’»)]")
        return not (len(first) > 1 and first.isupper()) and (
            self.label[0].islower() or bool(dictionary(first.casefold()))
        )


@dataclass(frozen=True, slots=True)
class _Refused:
    code: str
    detail: str


def noun_place(caption: str, label: str) -> NounPlace:
    """Find where an English sentence names an object.

    Args:
        caption: the sentence.
        label: the object's noun in the singular; an article before it is passed over.

    Raises:
        InvalidInput: for an empty label.
        ProbeRejected: ``not-named`` where it does not say the label's noun; ``named-twice`` where it says it more than
            once; ``compound`` where the noun is part of another one; ``already-negated`` where it is denied.

    Example:
        >>> noun_place("There are two dogs in a dog house.", "dog").written
        'dogs'
    """
    found = _noun_place(caption, _LEADING_ARTICLE.sub("", clean_label(label)))
    if isinstance(found, _Refused):
        raise ProbeRejected(found.code, found.detail)
    return found


@lru_cache(maxsize=4096)
def _noun_place(caption: str, label: str) -> NounPlace | _Refused:
    found = words(caption)
    nouns = {index for first, last in noun_phrases(found, "en") for index in range(first, last + 1)}
    spans = named_spans(found, label)
    refused = [(span, compound(found, nouns, *span, label)) for span in spans]
    alone = [span for span, reason in refused if not reason]
    if not spans:
        told = f"the caption does not say {label!r} as a separate word; name the object as the caption does"
        return _Refused("not-named", told)
    if not alone:
        return _Refused("compound", f"in the caption, {refused[0][1]}")
    if len(alone) > 1:
        return _Refused("named-twice", f"the caption says {label!r} more than once, so nobody can say which is meant")
    first, last = alone[0]
    if denied(found, first):
        return _Refused("already-negated", f"the caption denies that there is {label!r}")
    return _place(caption, found, first, last, label)


def _place(caption: str, found: Sequence[Word], first: int, last: int, label: str) -> NounPlace:
    starts = [match.start() + len(word.lead) for match, word in zip(re.finditer(r"\S+", caption), found, strict=True)]
    begin = describing(found, first)
    described = tuple(word.core.casefold() for word in found[begin:first])
    outer = first_adjective(found, first)
    written = " ".join(word.core.casefold() for word in found[first : last + 1])
    return NounPlace(caption, starts[first], starts[outer], described, label, written, _titled(found))


def _titled(found: Sequence[Word]) -> bool:
    long = [word.core for word in found if len(word.core) > 3]
    return len(long) > 1 and all(word[0].isupper() for word in long) and not all(word.isupper() for word in long)


def _with_article(before: str, word: str, *, shouted: bool) -> str:
    """The text before a word, with the *a* or *an* at its end fitted to it."""
    match = _ARTICLE.search(before)
    if match is None:
        return before
    return before[: match.start()] + article_like(match[1], word, shouted=shouted) + match[2]
