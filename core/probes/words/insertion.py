"""A word put before the noun of an object in a sentence that somebody wrote.

The noun is the object's label, in the singular or the plural, as a separate word. Nothing else of the sentence
changes but what English asks for: *a* or *an* before the word that now follows it, and the capital of a noun that
began the sentence. The noun must stand for itself (:mod:`core.probes.words.whole_names`): no *dog house*, *police
dog* or *hot dog*. Where the rules cannot tell, the sentence is left alone and the reason is told.

One place for all words of a family, so that a modifier and its control differ in the word alone. Mood and price say
what somebody thinks of the thing and stand before its adjectives (*a happy brown dog*); every other family says what
kind it is and stands next to the noun (*a brown African dog*), as English orders adjectives. Source: paper A, A.12,
extended.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from core.errors import ProbeRejected
from core.probes.words.caption_words import words
from core.probes.words.english import dictionary
from core.probes.words.grammar import article_like, capital_like, clean_label
from core.probes.words.screening import Modifier, accepted_controls, family, screen
from core.probes.words.templates import closest_control
from core.probes.words.whole_names import denied, describing, first_adjective, named_spans, noun_places, whole_name

_ARTICLE = re.compile(r"(?<![\w'’-])(an?)(\s+[\"'“‘«(\[]*)$", re.IGNORECASE)
_LEADING_ARTICLE = re.compile(r"^(?:an?|the) (?=\S)", re.IGNORECASE)
_OPENS = re.compile(r"(?:^|[.!?]\s+)[\s\"'“‘«(\[]*$")


@dataclass(frozen=True, slots=True)
class Inserted:
    """A sentence with one word more.
    ``text``: the whole sentence. ``start``, ``end``: where the word stands in it, in characters."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NounPlace:
    """Where a sentence names an object."""

    caption: str  # the sentence
    noun: int  # where the noun begins, in characters
    # where its adjectives begin, in characters; as ``noun`` where it has none, or where they cannot be told for sure
    adjectives: int
    described: tuple[str, ...]  # the words that stand between the determiner and the noun, in lower case
    label: str  # the noun as the label has it
    written: str  # the noun as the sentence has it, in lower case
    titled: bool  # whether the sentence is written as a title, With Capitals

    @property
    def phrase(self) -> str:
        """Adjectives and singular noun: what the compatibility screen reads (*wild dog*)."""
        return " ".join((*self.described, self.label))

    def insert(self, word: str, *, before_adjectives: bool = False) -> Inserted:
        """Put a word before the noun, or before the adjectives of the noun.

        >>> place = noun_place("A big dog is tied to a fire hydrant.", "dog")
        >>> place.insert("African").text
        'A big African dog is tied to a fire hydrant.'
        >>> place.insert("happy", before_adjectives=True).text
        'A happy big dog is tied to a fire hydrant.'
        """
        at = self.adjectives if before_adjectives else self.noun
        before, after = self.caption[:at], self.caption[at:]
        opens = _OPENS.search(before) is not None
        fitted = capital_like(word, after) if opens or self.titled else word
        first = after.split()[0].rstrip(".,;:!?\"'”’»)]")
        named = (len(first) > 1 and first.isupper()) or not (self.label[0].islower() or dictionary(first.casefold()))
        if opens and not self.titled and not named:  # the capital only began the sentence: not *TV*, *Christmas tree*
            after = after[0].lower() + after[1:]
        if article := _ARTICLE.search(before):
            before = before[: article.start()] + article_like(article[1], fitted) + article[2]
        return Inserted(f"{before}{fitted} {after}", len(before), len(before) + len(fitted))


def noun_place(caption: str, label: str) -> NounPlace:
    """Find where an English sentence names an object.
    ``label``: the object's noun in the singular; an article before it is passed over.
    Raises InvalidInput for an empty label.
    Raises ProbeRejected: ``not-named`` where it does not say the label's noun; ``named-twice`` where it says it more
    than once; ``compound`` where the noun is part of another one; ``already-negated`` where it is denied.

    >>> noun_place("There are two dogs in a dog house.", "dog").written
    'dogs'
    """
    found = _noun_place(caption, _LEADING_ARTICLE.sub("", clean_label(label)))
    if isinstance(found, tuple):
        raise ProbeRejected(*found)
    return found


@lru_cache(maxsize=4096)
def _noun_place(caption: str, label: str) -> NounPlace | tuple[str, str]:
    """The place, or the code and the sentence of a refusal: what is raised is not kept."""
    found = words(caption)
    nouns, spans = noun_places(found), named_spans(found, label)
    longer = [whole_name(found, nouns, *span, label) for span in spans]
    alone = [span for span, name in zip(spans, longer, strict=True) if name is None]
    if not spans:
        told = f"the caption does not say {label!r} as a separate word; name the object as the caption does"
        return "not-named", told
    if longer[0] and not alone:
        return "compound", f"in the caption, {longer[0].told}"
    if len(alone) > 1:
        return "named-twice", f"the caption says {label!r} more than once, so nobody can say which is meant"
    first, last = alone[0]
    if denied(found, first):
        return "already-negated", f"the caption denies that there is {label!r}"
    starts = [match.start() + len(word.lead) for match, word in zip(re.finditer(r"\S+", caption), found, strict=True)]
    begin = describing(found, first)
    described = tuple(word.core.casefold() for word in found[begin:first])
    outer = first_adjective(found, first)
    written = " ".join(word.core.casefold() for word in found[first : last + 1])
    long = [word.core for word in found if len(word.core) > 3]
    titled = len(long) > 1 and all(word[0].isupper() for word in long)
    return NounPlace(caption, starts[first], starts[outer], described, label, written, titled)


PREFIX = "inserted-"  # before the name of a family of the lexicon: the family of its words in one's own caption
BEFORE_ADJECTIVES = frozenset(("economic", "emotion"))  # families whose words stand before the adjectives of the noun

GENDER_FAMILIES = ("gender", "gender-colloquial")
GENDERED = re.compile(r"\b(?:he|him|his|himself|she|her|hers|herself)\b", re.IGNORECASE)
"""Words that a word of gender may contradict."""


def insert_word(caption: str, label: str, category: str | None, word: Modifier) -> tuple[NounPlace, Inserted]:
    """Put a modifier or a control before the noun of the object in an English caption.
    Returns where the noun stands, and the caption with the word.
    Raises ProbeRejected a code of :func:`core.probes.words.insertion.noun_place` or of
    :func:`core.probes.words.screening.screen`, which reads the noun with its adjectives (*African wild dog*);
    ``part-of-speech`` where it is a noun and adjectives stand there (*a black boy bear*, *a luxury big dog*);
    ``family-word`` where the caption says a word of the family already; ``contradiction`` where a word of gender meets
    *his* or *her*.

    >>> african = family("cultural").get("African")
    >>> insert_word("A dog is tied to a fire hydrant.", "dog", "animal", african)[1].text
    'An African dog is tied to a fire hydrant.'
    """
    owner = family(word.family)
    place = noun_place(caption, label)
    # a word of the family: an adjective anywhere, a control or a noun where it describes the object
    anywhere = {each.word.casefold() for each in owner.modifiers if each.part_of_speech == "adjective"}
    beside = {each.word.casefold() for each in owner.words}
    texts = (each.strip(".,;:!?\"'“”‘’()[]") for each in caption.casefold().split())
    held = [text for text in (*place.described, *texts) if text in anywhere]
    if said := next(iter((*held, *(text for text in place.described if text in beside))), ""):
        raise ProbeRejected("family-word", f"the caption says {said!r} already, a word of the family {owner.name}")
    rejection = screen(place.phrase, category, owner.name, word.word)
    if rejection is not None:
        raise ProbeRejected(rejection.code, rejection.detail)
    if word.part_of_speech == "noun" and place.described:
        told = f"{word.word!r} is a noun, so {' '.join(place.described)!r} would describe it, or stand behind it"
        raise ProbeRejected("part-of-speech", told)
    if owner.name in GENDER_FAMILIES and not word.control and (other := GENDERED.search(caption)):
        raise ProbeRejected("contradiction", f"the caption says {other[0]!r}, which {word.word!r} may contradict")
    return place, place.insert(word.word, before_adjectives=word.family in BEFORE_ADJECTIVES)


def length_matched_in(
    caption: str,
    modified: str,
    label: str,
    family_name: str,
    *,
    count_tokens: Callable[[str], int | None] | None = None,
) -> str:
    """Name the neutral control whose insertion into the same caption is the closest in length to the modified one.
    ``count_tokens``: see :func:`core.probes.words.templates.length_matched`.
    Returns a probe name, e.g. ``inserted-cultural:typical``.
    Raises ProbeRejected where the caption has no place for it.

    >>> length_matched_in("A dog sits.", "An African dog sits.", "dog", "cultural")
    'inserted-cultural:ordinary'
    """
    place = noun_place(caption, label)
    controls, early = accepted_controls(place.phrase, family_name), family_name in BEFORE_ADJECTIVES

    def write(word: str) -> str:
        return place.insert(word, before_adjectives=early).text

    return f"{PREFIX}{closest_control(controls, modified, write, count_tokens=count_tokens).probe}"
