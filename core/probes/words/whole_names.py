"""Whether a noun stands for itself in an English sentence, or is a part of a longer name; and what describes it.

*A police dog* is named by two words, *a dog house* is no dog, and *in bed* names no bed. Rules and lemminflect's
dictionary, no parser: where they cannot tell, the noun counts as part of a longer name.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.probes.tables import lexicon_path
from core.probes.words.caption_words import Word, closed_words, is_adjective, noun_phrases
from core.probes.words.categories import after_the_noun, every_noun, forms
from core.probes.words.english import colours, dictionary, is_closed, listed, object_words
from core.probes.words.grammar import Number, number_of, plural

Span = tuple[int, int]  # index of a noun's first and last word
_LONGEST_NAME = 4  # words of a known noun, e.g. *hot dog*, that the label may be a part of.

_ONE_THING = frozenset(("a", "an", "one", "this", "that", "each", "every", "another"))
"""Determiners after which the head of the phrase is singular: a plural that follows the noun is then a verb."""

_LIMITERS = frozenset(
    ("couple", "first", "last", "main", "next", "only", "other", "own", "same", "second", "such", "third")
)
"""Words that stand between a determiner and the adjectives; the dictionary takes some of them for nouns."""

_DENIES = frozenset(
    ("no", "neither", "nor", "not", "never", "without", "hardly", "barely", "scarcely", "lacks", "lacking")
)

_THINGS = frozenset(
    (
        "bedding", "building", "ceiling", "clothing", "covering", "crossing", "drawing", "dressing", "filling",
        "frosting", "grooming", "housing", "icing", "landing", "lighting", "painting", "parking", "pudding", "racing",
        "railing", "stuffing", "topping", "training", "wedding",
    )
)  # fmt: skip
"""Nouns in -ing, which make a compound where another word in -ing says what the object does."""

_PURPOSES = frozenset(
    (
        "baking", "boxing", "cooking", "cutting", "dining", "fishing", "frying", "living", "measuring", "mixing",
        "rocking", "rowing", "sailing", "serving", "sewing", "shopping", "swimming", "washing", "watering",
    )
)  # fmt: skip
"""Words in -ing that say before a noun what the thing is for, where others say what it does: *a fishing boat*."""

_TRUE_ADJECTIVES = frozenset(("adult", "remote"))  # nouns of the tables that describe another noun as adjectives
_NOUNS = frozenset(("pickup",))  # nouns before another noun that the dictionary has as adjectives, too

_PARTS = frozenset(("bottom", "bunch", "couple", "front", "group", "number", "pair", "piece", "set", "side", "top"))
"""Nouns among the closed words: *dog group* is a group."""


def named_spans(found: Sequence[Word], label: str) -> list[Span]:
    """First and last word of every place that says the label, singular or plural."""
    names = {tuple(form.casefold().split()) for form in forms(label)}
    size = len(label.split())
    return [
        (first, first + size - 1)
        for first in range(len(found) - size + 1)
        if tuple(word.core.casefold() for word in found[first : first + size]) in names
        and not any(word.trail for word in found[first : first + size - 1])
        and not any(word.lead for word in found[first + 1 : first + size])
    ]


@dataclass(frozen=True, slots=True)
class WholeName:
    """The longer name that a noun is a part of."""

    first: int  # its first word; its last is the noun's where it is headed by it
    headed: bool  # whether the noun is its head: a police dog is a dog, a dog house is none
    told: str  # why the noun does not stand for itself
    sure: bool = False  # whether a table says so of one that is not headed, and no rule alone


def noun_places(found: Sequence[Word]) -> set[int]:
    """Indices of the words of an English sentence that are nouns."""
    return {index for first, last in noun_phrases(found, "en") for index in range(first, last + 1)}


def whole_name(found: Sequence[Word], nouns: set[int], first: int, last: int, label: str) -> WholeName | None:
    """The longer name that a noun is a part of; None where it stands for itself.
    ``nouns``: see :func:`noun_places`. ``label``: the noun in the singular.

    >>> from core.probes.words.caption_words import words
    >>> said = words("Two big polar bears")
    >>> whole_name(said, noun_places(said), 3, 3, "bear").first
    2
    """
    start, end, known = _known_longer(found, first, last, label)
    told = f"{known!r} is a name by itself" if known else ""
    if not told and first and _modifies(found, nouns, first):
        told = f"{found[first - 1].core.casefold()!r} before {label!r} makes another noun of it"
    said = f"{found[first - 1].core}-{label}".casefold() if first else ""
    if said in listed("sayings"):
        return WholeName(first, False, f"{said.replace('-', ' ')!r} is a saying", sure=True)
    if end > last or _goes_on(found, first, last, label):
        after = f"{found[last + 1].core.casefold()!r} after {label!r} may make another noun of it"
        return WholeName(first, False, told or after, sure=end > last)
    if not told:
        return None
    while start and _modifies(found, nouns, start):
        start, *_ = _known_longer(found, start - 1, start - 1, found[start - 1].core)  # *a hot dog cake*
    one = " ".join(word.core for word in found[first : last + 1]).casefold() == label.casefold()
    if start and one and not found[start - 1].trail:  # the number is of the first word: *a ten speed bicycle*
        text = found[start - 1].core.casefold()
        start -= text.isdigit() or text in listed("counts")
    return WholeName(start, not _may_be_told(found, start, first), told)


def _may_be_told(found: Sequence[Word], start: int, first: int) -> bool:
    """Whether a word before the noun may be the verb instead: *somebody cutting cake*, *a girl kicks balls*."""
    for place in range(start, first):
        text = found[place].core.casefold()
        doing = text.endswith("ing") and text not in _THINGS and place and not _introduces(found[place - 1])
        if doing or (text.endswith("s") and text not in dictionary(text).get("VERB", (text,))):
            return True
    return False


def _modifies(found: Sequence[Word], nouns: set[int], first: int) -> bool:
    """Whether the word before the noun makes a compound of it: *police dog*, *fishing boat*, *dining room table*."""
    before = found[first - 1]
    text = before.core.casefold()
    if before.trail or found[first].lead or text in _LIMITERS or text in _TRUE_ADJECTIVES or text in colours():
        return False
    if first - 1 in nouns or text in _NOUNS or text in every_noun():
        return True
    base = text in dictionary(text).get("NOUN", ())
    if text.endswith("ing"):  # "a fishing boat", but "a man riding horses" and "a sleeping dog"
        return text in _THINGS or text in _PURPOSES or (base and (first == 1 or _introduces(found[first - 2])))
    after_ing = first > 1 and found[first - 2].core.casefold().endswith("ing") and not found[first - 2].trail
    return after_ing and base and text.isalpha() and not is_closed(text) and not is_adjective(text)


def _introduces(word: Word) -> bool:
    text = word.core.casefold()
    return bool(word.trail) or is_adjective(text) or closed_words(text, ("determiners", "prepositions"))


def _known_longer(found: Sequence[Word], first: int, last: int, label: str) -> tuple[int, int, str]:
    """Where a longer noun of the tables stands that holds the label, and the noun; the label's place, and nothing."""
    for start in range(max(0, last + 1 - _LONGEST_NAME), first + 1):
        for end in range(last, min(len(found), start + _LONGEST_NAME)):
            if (start, end) == (first, last):
                continue
            inner = found[start : end + 1]
            if any(word.trail for word in inner[:-1]) or any(word.lead for word in inner[1:]):
                continue
            text = [word.core.casefold() for word in inner]
            singular = [*text[: first - start], label.casefold(), *text[last - start + 1 :]]
            for name in (" ".join(text), " ".join(singular)):
                if name in every_noun():
                    return start, end, name
    return first, last, ""


def _goes_on(found: Sequence[Word], first: int, last: int, label: str) -> bool:
    """Whether the word after the noun may be the head of a compound, as in *dog house* or *dog friendly café*."""
    if last + 1 >= len(found) or found[last].trail or found[last + 1].lead:
        return False
    word = found[last + 1].core.casefold()
    if word in _PARTS:
        return True
    if word in after_the_noun(lexicon_path("after_the_noun.csv")) or is_closed(word):
        return False
    head = re.split(r"['’]", word.rpartition("-")[2])[0]
    classes = dictionary(head)
    if not classes:
        return True
    if "VERB" in classes and head not in classes["VERB"] and (head.endswith("ing") or "NOUN" not in classes):
        return head in _THINGS  # a participle or a verb's third person: "a dog sitting", "a dog eats", "a dog tied"
    if "NOUN" in classes:
        # after *a* no plural noun can be the head, and a plural noun is hardly ever the first half of a compound
        start, plural_head = describing(found, first), head not in classes["NOUN"]
        one = start > 0 and found[start - 1].core.casefold() in _ONE_THING
        many = " ".join(word.core for word in found[first : last + 1]).casefold() != label.casefold()
        return "VERB" not in classes or not (one if plural_head else many)  # *a car drives*, *two dogs play*
    if "ADJ" not in classes or last + 2 >= len(found) or found[last + 1].trail:
        return False
    return not is_closed(found[last + 2].core.casefold())  # "a dog asleep on a bed", but "a dog friendly café"


def of_several(found: Sequence[Word], first: int, last: int) -> bool | None:
    """Whether a noun is said of several things, by what determines it or by its form; None where nothing tells.
    *The sheep* may be one or many, *a large trains* is neither, and of *cake* after *to have* there may be a piece."""
    noun = " ".join(word.core for word in found[first : last + 1]).casefold()
    start = describing(found, first)
    before = found[start - 1].core.casefold() if start and not found[start - 1].trail else ""
    if before in listed("of_one"):
        return None if number_of(noun) is Number.PLURAL else False
    if before in listed("counts") or (before.isdigit() and before != "1"):
        return True
    if number_of(noun) is Number.SINGULAR and plural(noun) == noun:
        return None if before in ("the", "no") else True
    bare = start > 0 and not closed_words(before, ("determiners",)) and not before.endswith(("'s", "’s"))
    if bare and number_of(noun) is Number.SINGULAR and object_words().get(noun) == "food":
        return None
    return number_of(noun) is Number.PLURAL


def denied(found: Sequence[Word], first: int) -> bool:
    """Whether the noun stands under a negative word: *no dog*, *without a dog*."""
    start = describing(found, first)
    return bool(_DENIES & {word.core.casefold() for word in found[max(0, start - 2) : start]})


def describing(found: Sequence[Word], first: int) -> int:
    """The first of the words that describe the noun; ``first`` where none does."""
    start = first
    while start and found[start - 1].trail in ("", ","):
        text = found[start - 1].core.casefold()
        joins = text == "and" and start > 1 and _quality(found, start - 2)
        if not (joins or text in _LIMITERS or _quality(found, start - 1)):
            break
        start -= 1
    return start


def _quality(found: Sequence[Word], index: int) -> bool:
    """Whether a word is an adjective, by the dictionary or by its form: *brown*, *Italian*, *long-haired*, *parked*."""
    text, core = found[index].core.casefold(), found[index].core
    if text in _LIMITERS or (is_closed(text) and not is_adjective(text)):
        return False
    proper = index > 0 and core[:1].isupper() and core.isalpha() and not dictionary(text)
    formed = "-" in text or (text.endswith(("ed", "ing")) and "VERB" in dictionary(text))
    return is_adjective(text) or proper or formed


def first_adjective(found: Sequence[Word], first: int) -> int:
    """The first of the adjectives in a row before the noun, where a determiner or a preposition stands before them.
    Otherwise ``first``: before *very big*, *black and white* or *big, brown* no word can be put without a change of
    meaning or of signs, and a participle may be a verb (*a man riding brown horses*)."""
    start = first
    while start and _plain_adjective(found, start - 1):
        start -= 1
    before = found[start - 1] if start else None
    if before is None or before.trail or any(word.lead for word in found[start : first + 1]):
        return first
    text = before.core.casefold()
    ends = text in _LIMITERS or text.isdigit() or closed_words(text, ("determiners", "prepositions"))
    return start if ends or text.endswith(("'s", "’s")) else first


def _plain_adjective(found: Sequence[Word], index: int) -> bool:
    """Whether a word is an adjective that needs no sign and no other word beside it."""
    word = found[index]
    formed = word.core.casefold().endswith(("ed", "ing")) and not is_adjective(word.core.casefold())
    return not word.trail and not formed and _quality(found, index)
