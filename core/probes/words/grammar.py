"""English enough for ``There is a …``: a or an by sound, plural-only and mass nouns.

The general a/an rule is the ``inflect`` package's; ``assets/lexicons/articles.csv`` holds the words where
it errs, ``nouns.csv`` the labels that take no article. Both may be edited without reading code.
"""

import re
import unicodedata
from collections.abc import Iterator
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from core.corpora.labels import load_taxonomy
from core.errors import InvalidInput
from core.probes.tables import lexicon_path, read_table
from core.probes.words.english import dictionary, is_closed, is_known, listed, object_words

if TYPE_CHECKING:
    import inflect

_AFTER_THE_HEAD = re.compile(r"\s(?:of|with|in|on|from|for)\s")
_LEADING_DIGITS = re.compile(r"[0-9]+")
_FIRST_WORD = re.compile(r"[^\W_][\w&'’.-]*")
_LETTER_ALONE = re.compile(r"([A-Za-z])(?:[\d&.-]|$)")
"""A letter that is said by its name: *an X-ray*, *an N95 mask*, *an M&M*, *a U-turn*."""
_ACRONYM = re.compile(r"([A-Z]{2,})(?:s|['’]s)?(?:[\d-]|$)")
_NAMED_WITH_A_VOWEL = frozenset("AEFHILMNORSX")
_SAID_IN_PAIRS = re.compile(r"(?:1100|18\d\d)(?!\d|,\d)")
"""Years and hundreds: *an 1800s house* is eighteen hundreds, where *a 1900s house* is nineteen hundreds."""

_LONGEST_ENDING = 4  # words; bounds the work on a label of any length
_SIGNS = ".,;:!?"
_SPELT_OUT = 3  # letters of a word in capitals up to which it is an abbreviation, though it may be a word (*UPS*)
_IMPORTING = Lock()


class Number(StrEnum):
    """How a label stands in the template: ``There is a``, ``There are``, ``There is``."""

    SINGULAR = "singular"
    PLURAL = "plural"
    MASS = "mass"


def clean_label(label: str) -> str:
    """Return a label as a caption says it: on one line, without underscores, English words in lower case.

    A word keeps its capitals where it is a name or an abbreviation: where the dictionary does not know it in lower
    case, and in a label of several words where it is written in three capitals at most.
    Raises InvalidInput if nothing is left.

    >>> clean_label("traffic_light"), clean_label("CAR"), clean_label("African Elephant"), clean_label("TV")
    ('traffic light', 'car', 'African elephant', 'TV')
    """
    words = _BETWEEN_WORDS.sub(" ", label).split()
    if not words:
        raise InvalidInput(f"a caption needs a noun, got the label {label!r}; give the object a name, e.g. 'bed'")
    return " ".join(_said(word, alone=len(words) == 1 or label.isupper()) for word in words)


_BETWEEN_WORDS = re.compile(r"_|(?<=[a-z]{2})(?=[A-Z][a-z])")
"""What stands between the words of a label beside blanks: *traffic_light*, *TrafficLight*."""


def _said(word: str, *, alone: bool) -> str:
    """A word of a label, in lower case where it is no name and no abbreviation."""
    lower = word.lower()
    short = word.isupper() and len(word) <= _SPELT_OUT and not (alone and dictionary(lower))
    if word == lower or lower in listed("names") or short:
        return word
    return lower if lower in _everyday() or all(dictionary(part) for part in lower.split("-")) else word


@cache
def _everyday() -> frozenset[str]:
    """Words of the nouns that captions use (*teddy*, *frisbee*), some of which the dictionary lacks."""
    rows = read_table(lexicon_path("object_nouns.csv"), ("noun", "category"))
    nouns = [*(row["noun"] for row in rows), *(entry.label for entry in load_taxonomy("coco").entries.values())]
    return frozenset(word for noun in nouns for word in noun.split() if word.islower()) - listed("names")


def head_endings(label: str) -> Iterator[str]:
    """Yield the endings of a label's noun group in lower case, longest first.

    What follows *of*, *with*, *in*, *on*, *from*, *for* is no part of the head.

    >>> list(head_endings("Big slice of bread"))
    ['big slice', 'slice']
    """
    words = _AFTER_THE_HEAD.split(" ".join(label.split()), maxsplit=1)[0].casefold().split()
    for start in range(max(0, len(words) - _LONGEST_ENDING), len(words)):
        yield " ".join(words[start:])


def number_of(label: str) -> Number:
    """Return whether a label is a plural (``scissors``), a mass noun (``broccoli``) or a count noun (``bed``)."""
    known = numbers(lexicon_path("nouns.csv"))
    endings = list(head_endings(_BETWEEN_WORDS.sub(" ", label)))
    found = next((known[ending] for ending in endings if ending in known), None)
    return found or (Number.PLURAL if endings and is_plural(endings[-1]) else Number.SINGULAR)


def is_plural(word: str) -> bool:
    """Whether a word, in lower case, is a plural: *dogs*, *leaves*, *pants*; not *bus*, not *sheep*."""
    return word in listed("no_singular") or singular(word) != word


@lru_cache(maxsize=20_000)
def singular(word: str, *, counted: bool = False) -> str:
    """The singular of an English noun, in lower case; a plural without one of its meaning (*pants*) stays as it is.

    By the dictionary, and by the ``inflect`` package where that does not know the word. Of two singulars that the
    dictionary has, the one in -f: *leaves* of a tree.
    ``counted``: whether it is several of one thing for sure: *two glasses*, *glasses of water*.

    >>> [singular(word) for word in ("leaves", "oxen", "pants", "buses", "bus")]
    ['leaf', 'ox', 'pants', 'bus', 'bus']
    """
    if word in listed("no_singular") and not counted:
        return word
    known = dictionary(word)
    lemmas = known.get("NOUN", ())
    if lemmas:
        return next((lemma for lemma in lemmas if lemma.endswith(("f", "fe"))), lemmas[0])
    if known or not word.isalpha() or not word.endswith(("s", "en")) or word.endswith(("ss", "us", "is")):
        return word
    return str(_engine().singular_noun(word) or word)


def article(phrase: str) -> str:
    """Return ``a`` or ``an``, by the sound that a phrase begins with.

    Numbers are read out (``an 8-bit console``), and so are letters (``an N95 mask``, ``a UPS truck``); accents are
    ignored; a phrase that begins with no Latin letter or digit takes ``a``. Capitals alone count as an abbreviation,
    unless they are an English word of more than three letters.

    >>> [article(word) for word in ("hour", "European bed", "umbrella", "SUV")]
    ['an', 'a', 'an', 'an']
    """
    found = _FIRST_WORD.search(phrase)
    if found is None:
        return "a"
    word = "".join(sign for sign in unicodedata.normalize("NFKD", found.group()) if not unicodedata.combining(sign))
    exceptions = articles(lexicon_path("articles.csv"))
    if word.casefold() in exceptions:
        return exceptions[word.casefold()]
    letter = _named_letter(word)
    if letter:
        return "an" if letter in _NAMED_WITH_A_VOWEL else "a"
    digits = _LEADING_DIGITS.match(word)
    if digits:
        length = 2 if _SAID_IN_PAIRS.match(word) else len(digits.group())
        word = str(_engine().number_to_words(digits.group()[: length % 3 or 3]))
    return str(_engine().a(word)).split(maxsplit=1)[0]


def article_like(said: str, following: str) -> str:
    """*a* or *an* before a text, with a capital where ``said`` has one."""
    return capital_like(article(following), said)


def capital_like(word: str, was: str) -> str:
    """A word that an edit writes, with a capital where what stood there has one.
    A caption in capitals alone needs no more: what is made of it is written so as a whole
    (:meth:`core.probes.base.Probe.make`)."""
    return word[:1].upper() + word[1:] if was[:1].isupper() else word


def within_sentence(text: str) -> str:
    """The beginning of an English sentence as it is written within one: without a capital that only begins it.

    A word keeps it where no table or dictionary knows it in small letters, where another capital follows, and where it
    may be somebody's name: no thing of the tables, alone before a verb in -s.

    >>> [within_sentence(text) for text in ("Plastic boxes", "Dog eats", "Bill eats", "Lake Tahoe", "TV set")]
    ['plastic boxes', 'dog eats', 'Bill eats', 'Lake Tahoe', 'TV set']
    """
    first, second = [*(word.strip(_SIGNS) for word in text.split(maxsplit=2)[:2]), "", ""][:2]
    lower, after = first.casefold(), second.casefold()
    small = first[1:].islower() or len(first) == 1
    known = small and is_known(lower) and lower not in (*listed("names"), "i")
    thing = is_closed(lower) or lower in object_words() or is_plural(lower)
    does = after.endswith("s") and not listed("verbs").isdisjoint(dictionary(after).get("VERB", ()))
    named = second[:1].isupper() or (does and not thing)
    return text[:1].lower() + text[1:] if known and not named else text


def _named_letter(word: str) -> str:
    """The letter, in upper case, by whose name a word begins; empty where it is said as a word."""
    if alone := _LETTER_ALONE.match(word):
        return alone[1].upper()
    acronym = _ACRONYM.match(word)
    if acronym is None or (len(acronym[1]) > _SPELT_OUT and dictionary(acronym[1].lower())):
        return ""
    spelt = acronym[1][0] == "U" or not set("AEIOU") & set(acronym[1])
    return acronym[1][0] if spelt else ""


def noun_group(label: str, *, adjective: str | None = None) -> str:
    """Return verb, article, adjective and noun as they stand after *There*.

    >>> noun_group("scissors", adjective="typical")
    'are typical scissors'
    """
    phrase = clean_label(label) if adjective is None else f"{clean_label(adjective)} {clean_label(label)}"
    number = number_of(label)
    if number is Number.PLURAL:
        return f"are {phrase}"
    return f"is {phrase}" if number is Number.MASS else f"is {article(phrase)} {phrase}"


def plural(noun: str) -> str:
    """Return the plural of a singular count noun, e.g. ``plural("wine glass") == "wine glasses"``."""
    return f"{noun}s" if noun[-2:].isupper() else str(_engine().plural_noun(noun))


@lru_cache(maxsize=20_000)
def in_number(noun: str, *, many: bool) -> str:
    """Return a noun in the plural or the singular; empty where it has no such form.

    >>> [in_number(noun, many=False) for noun in ("wine glasses", "people", "scissors", "TV")]
    ['wine glass', 'person', '', 'TV']
    >>> [in_number(noun, many=True) for noun in ("wine glass", "people", "broccoli", "TV")]
    ['wine glasses', 'people', '', 'TVs']
    """
    number = number_of(noun)
    if not noun.strip():
        return noun
    if number is not Number.PLURAL:
        return noun if not many else plural(noun) if number is Number.SINGULAR else ""
    before, blank, head = noun.rpartition(" ")
    lower = head.casefold()
    one = singular(lower, counted=bool(before))
    if one == lower not in listed("no_singular"):  # the dictionary has *people* for a noun of its own
        one = str(_engine().singular_noun(lower) or lower)
    if many or one == lower or plural(one) != lower:
        return noun if many else ""
    return before + blank + (one.upper() if head[:-1].isupper() else capital_like(one, head))


@cache
def numbers(path: Path) -> dict[str, Number]:
    """Read ``nouns.csv``: noun in lower case -> number."""
    found: dict[str, Number] = {}
    for row in read_table(path, ("noun", "number")):
        noun = row.required("noun").casefold()
        if noun in found:
            row.fail(f"the noun {noun!r} stands twice; keep one line")
        found[noun] = Number(row.one_of("number", Number))
    return found


@cache
def articles(path: Path) -> dict[str, str]:
    """Read ``articles.csv``: word in lower case -> ``a`` or ``an``."""
    rows = read_table(path, ("word", "article"))
    return {row.required("word").casefold(): row.one_of("article", ("a", "an")) for row in rows}


@cache
def _engine() -> "inflect.engine":
    """The package, without the checks of types that it has typeguard write into itself for over a second."""
    import typeguard

    with _IMPORTING:
        usual, typeguard.typechecked = typeguard.typechecked, lambda checked: checked  # type: ignore[assignment]
        try:
            import inflect
        finally:
            typeguard.typechecked = usual
    return inflect.engine()
