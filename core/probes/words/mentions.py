"""Mentions of annotated categories in an English caption, and another category named in their place.

A mention is a category's own name, singular or plural, that ends a noun phrase (*bus*, not *bus stop*), with what
makes a longer name of it (*city bus*, *polar bear*), so that no *polar zebra* comes of it. Other words for a category
(*puppy*) are no mentions to be replaced; they count where a category must not be named at all
(:func:`core.probes.words.categories.named`). Source: paper D, 4.2; FOIL-COCO (Shekhar et al., ACL 2017).

Places in the picture that a caption names: where one changes, the caption is no longer true.

``assets/words/places.csv`` lists the words, ``assets/video/motions.csv`` those that say so of a motion and count beside
a video; a language without a line there is not looked at.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from core.corpora.schema import Item
from core.errors import ProbeRejected
from core.probes.tables import read_table, words_path
from core.probes.words.articles import sounded
from core.probes.words.caption_words import Word, closed_words, join, words
from core.probes.words.categories import (
    MOST_WORDS,
    Name,
    absent,
    also_called,
    annotated,
    every_name,
    forms,
    named_in,
    own_names,
    surest,
    vocabulary,
)
from core.probes.words.english import dictionary
from core.probes.words.grammar import Number, capital_like, in_number, number_of
from core.probes.words.whole_names import describing, noun_places, of_several, whole_name
from core.settings import assets_dir


@dataclass(frozen=True, slots=True)
class Mention:
    """A category's own name in a caption.
    ``first``, ``last``: its words, and those that make a longer name of it."""

    first: int
    last: int
    label: str  # the category
    many: bool  # whether it is said in the plural


def mentions(caption: str, further: Mapping[Name, tuple[str, str]] | None = None) -> tuple[Mention, ...]:
    """Find every mention, the longest name first at each place.
    ``further``: names beside the categories' own, each with its category and its singular
    (:func:`core.probes.words.categories.also_called`)."""
    further = further or {}
    found = words(caption)
    nouns = noun_places(found)
    made: list[Mention] = []
    place = 0
    while place < len(found):
        mention = next(
            (each for size in range(MOST_WORDS, 0, -1) if (each := _at(found, place, size, nouns, further))), None
        )
        made += [mention] if mention else []
        place = mention.last + 1 if mention else place + 1
    return tuple(made)


def target_mentions(item: Item, caption: str) -> tuple[Mention, ...]:
    """Mentions of categories that are annotated in the item.
    Raises ProbeRejected ``no-mention`` where there is none."""
    further = also_called(item)
    there = annotated(item).keys() | {label for label, _ in further.values()}
    found = tuple(each for each in mentions(caption, further) if each.label in there)
    if not found:
        raise ProbeRejected("no-mention", f"{caption!r} names no annotated category by its own name")
    return found


def replaced(caption: str, mention: Mention, label: str) -> str:
    """Name another category in a mention's place: its number, a preceding *a* or *an* and the capital are refitted."""
    found = words(caption)
    noun = in_number(label, many=True) if mention.many else label
    first, last = found[mention.first], found[mention.last]
    noun = noun if mention.first else capital_like(noun, first.core)
    texts = [word.text for word in found]
    if mention.first:
        texts[mention.first - 1] = sounded(found[mention.first - 1], noun)
    return join([*texts[: mention.first], first.lead + noun + last.trail, *texts[mention.last + 1 :]])


def siblings(item: Item, mention: Mention, *, strange: bool = False) -> tuple[str, ...]:
    """Categories of the same supercategory that are absent, the surest, and fit the mention's number.
    ``strange``: of another supercategory instead."""
    kinds, kind = vocabulary(), vocabulary()[mention.label]
    found = (label for label in absent(item) if (kinds[label] != kind) == strange and fits(mention, label))
    return surest(item, list(found))


def neighbours(item: Item, mention: Mention, caption: str) -> tuple[str, ...]:
    """Other annotated objects that a caption does not name and that fit the mention's number; see :func:`unnamed`."""
    return tuple(label for label in unnamed(item, caption) if label != mention.label and fits(mention, label))


def named_beside(caption: str, mention: Mention) -> bool:
    """Whether a caption says no more of a mention than that it is there, beside or among other things."""
    found = words(caption)
    start = describing(found, mention.first)
    determined = start and closed_words(found[start - 1].core.casefold(), ("determiners",))
    before = found[: start - 1] if determined else found[:start]
    after = found[mention.last + 1 : mention.last + 2]
    listed_on = found[mention.last].trail[:1] == "," or (after and after[0].core.casefold() in ("and", "or"))
    joined = before and (before[-1].trail[:1] == "," or before[-1].core.casefold() in _BESIDE)
    bare = len(before) > 1 and before[-1].core.casefold() == "to" and before[-2].core.casefold() == "next"
    return bool(listed_on or joined or bare)


_BESIDE = frozenset(
    ("alongside", "and", "beside", "besides", "by", "like", "near", "or", "with", "including", "without")
)
"""Words before a thing of which a caption says that it is there."""


def unnamed(item: Item, caption: str) -> tuple[str, ...]:
    """Annotated objects that a caption does not name.
    COCO's categories come first, in their order; they may be named by any word. A label of the source's own comes
    after them, and counts as named where any word of it stands in the caption. Of a caption that names nothing of the
    picture by a name that is known no such label is told: it may be what the caption is of, under another name
    (*a field glass* for *pair of binoculars*)."""
    there, named = annotated(item), named_in(caption)
    said = {word.core.casefold() for word in words(caption)}
    own = [label for label in there if label not in vocabulary()]
    left = [label for label in own if not said & ({*" ".join(forms(label)).casefold().split()} - {"of"})]
    known = len(left) < len(own) or any(there[label] for label in named)
    return (*(label for label in vocabulary() if there[label] and label not in named), *(left if known else ()))


def fits(mention: Mention, label: str) -> bool:
    """Whether a label can stand in the number of a mention: *scissors* for several things, never for one."""
    number = number_of(label)
    if mention.many or number_of(mention.label) is not Number.SINGULAR:
        return number is not Number.MASS
    return number is Number.SINGULAR


def _at(
    found: Sequence[Word], place: int, size: int, nouns: set[int], further: Mapping[Name, tuple[str, str]]
) -> Mention | None:
    last = place + size - 1
    if last >= len(found):
        return None
    inner = found[place : last + 1]
    name = tuple(word.core.casefold() for word in inner)
    if any(word.trail for word in inner[:-1]) or any(word.lead for word in inner[1:]):
        return None
    label = own_names().get(name, "")
    label, singular = further.get(name, (label, label))
    if not label or (last + 1 < len(found) and not found[last].trail and found[last + 1].core.casefold() == "of"):
        return None  # *a bowl of noodles*
    unknown = name in further and not dictionary(name[-1])  # no rule can take it for a noun: *satchel*, *TV*
    if size == 1 and last not in nouns and not unknown:  # a name of several words is hardly anything else
        return None
    first = name_begins(found, nouns, place, last, singular)
    if first is None:
        return None
    before = [word.core.casefold() for word in found[max(0, min(first, place - 1)) : place]]
    longer = ((*before[start:], *name) for start in range(len(before)))
    if any(label not in every_name().get(each, (label,)) for each in longer):  # *a microwave oven* is no oven
        return None
    if [word.core.casefold() for word in found[max(0, first - 2) : first]] in (["pair", "of"], ["pairs", "of"]):
        return None
    many = number_of(singular) is not Number.SINGULAR or of_several(found, first, last)
    return None if many is None else Mention(first, last, label, many)


def name_begins(found: Sequence[Word], nouns: set[int], first: int, last: int, singular: str) -> int | None:
    """The first word of the longest name that a noun is the head of; None where it may be the head of none."""
    longer = whole_name(found, nouns, first, last, singular)
    if longer is None:
        return first
    return longer.first if longer.headed else None


PLACES = SIDE, HEIGHT, SPOT = ("side", "height", "spot")
"""What a mirror changes; what standing on its head changes; what moving the object changes besides."""

VIDEO = "video"  # folder of the tables that are read beside videos alone
_WHOLE = "ja"  # written without blanks: its words are looked for anywhere


def place_named(caption: str, language: str, places: Iterable[str], *, moving: bool = False) -> str:
    """Return the first word of a caption that names one of some places; empty where none does.
    ``places``: of PLACES. ``moving``: whether the way of a motion counts too: beside a video.

    >>> place_named("A dog on the Left of a bench.", "en", ("side",))
    'Left'
    """
    tables = [_table(words_path("places.csv")), *([_table(assets_dir() / VIDEO / "motions.csv")] if moving else [])]
    known = [word for table in tables for place in places for word in table.get((language, place), ())]
    if not known:
        return ""
    either = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    found = re.search(either if language == _WHOLE else rf"(?<!\w)(?:{either})(?!\w)", caption, re.IGNORECASE)
    return found.group() if found else ""


@cache
def _table(path: Path) -> Mapping[tuple[str, str], tuple[str, ...]]:
    rows = read_table(path, ("language", "place", "words"))
    return {(row.required("language"), row.one_of("place", PLACES)): row.alternatives("words") for row in rows}
