"""English enough for ``There is a …``: a or an by sound, plural-only and mass nouns.

The general a/an rule is the ``inflect`` package's; ``assets/lexicons/articles.csv`` holds the words where
it errs, ``nouns.csv`` the labels that take no article. Both may be edited without reading code.
"""

import re
import unicodedata
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from core.errors import InvalidInput
from core.probes.tables import lexicon_path, read_table

if TYPE_CHECKING:
    import inflect

T = TypeVar("T")

_AFTER_THE_HEAD = re.compile(r"\s(?:of|with|in|on|from|for)\s")
_LEADING_DIGITS = re.compile(r"[0-9]+")
_FIRST_WORD = re.compile(r"[^\W_][\w&'’.-]*")


class Number(StrEnum):
    """How a label stands in the template: ``There is a``, ``There are``, ``There is``."""

    SINGULAR = "singular"
    PLURAL = "plural"
    MASS = "mass"


def clean_label(label: str) -> str:
    """Return a label on one line, blanks joined, otherwise as it stands.

    Raises:
        InvalidInput: if nothing is left.
    """
    cleaned = " ".join(label.split())
    if not cleaned:
        raise InvalidInput(f"a caption needs a noun, got the label {label!r}; give the object a name, e.g. 'bed'")
    return cleaned


def head_endings(label: str) -> Iterator[str]:
    """Yield the endings of a label's noun group in lower case, longest first.

    What follows *of*, *with*, *in*, *on*, *from*, *for* is no part of the head.

    Example:
        >>> list(head_endings("Big slice of bread"))
        ['big slice', 'slice']
    """
    words = _AFTER_THE_HEAD.split(" ".join(label.split()), maxsplit=1)[0].casefold().split()
    for start in range(max(0, len(words) - _LONGEST_ENDING), len(words)):
        yield " ".join(words[start:])


_LONGEST_ENDING = 4  # words; bounds the work on a label of any length


def number_of(label: str) -> Number:
    """Return whether a label is a plural (``scissors``), a mass noun (``broccoli``) or a count noun (``bed``)."""
    known = numbers(lexicon_path("nouns.csv"))
    return next((known[ending] for ending in head_endings(label) if ending in known), Number.SINGULAR)


def article(phrase: str) -> str:
    """Return ``a`` or ``an``, by the sound that a phrase begins with.

    Numbers are read out (``an 8-bit console``); accents are ignored; a phrase that begins with no Latin
    letter or digit takes ``a``.

    Example:
        >>> [article(word) for word in ("hour", "European bed", "umbrella", "SUV")]
        ['an', 'a', 'an', 'an']
    """
    found = _FIRST_WORD.search(phrase)
    if found is None:
        return "a"
    word = _unaccented(found.group())
    exceptions = articles(lexicon_path("articles.csv"))
    if word.casefold() in exceptions:
        return exceptions[word.casefold()]
    digits = _LEADING_DIGITS.match(word)
    if digits:
        length = len(digits.group())
        word = str(_engine().number_to_words(digits.group()[: length % 3 or 3]))
    return str(_engine().a(word)).split(maxsplit=1)[0]


def noun_group(label: str, *, adjective: str | None = None) -> str:
    """Return verb, article, adjective and noun as they stand after *There*.

    Example:
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
    return str(_engine().plural_noun(noun))


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


_IMPORTING = Lock()


@cache
def _engine() -> "inflect.engine":
    """The package, without the checks of types that it has typeguard write into itself for over a second."""
    import typeguard

    with _IMPORTING:
        usual, typeguard.typechecked = typeguard.typechecked, _as_it_is  # type: ignore[assignment]
        try:
            import inflect
        finally:
            typeguard.typechecked = usual
    return inflect.engine()


def _as_it_is(checked: T) -> T:
    return checked


def _unaccented(word: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFKD", word) if not unicodedata.combining(sign))
