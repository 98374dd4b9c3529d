"""COCO's categories as a vocabulary: what an image shows, what a caption names, what neither does.

A category may be named as absent where no instance of it is annotated, nothing annotated may be one by
``assets/words/kinds.csv`` (a houseplant, food), and no caption of the item names it, by its own name or by a word of
``assets/words/synonyms.csv``. That is *verified* where the source looked for the category in that picture
(``Item.looked_for``), and else *presumed*: :func:`absence` is the one definition.

Nouns that name an object in a human caption: the table of them, and the rule that finds one in a text.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType

import numpy as np

from core.corpora.labels import load_taxonomy, taxonomy_names
from core.corpora.schema import CATEGORIES, EXTRA_CATEGORIES, Item
from core.errors import ProbeRejected
from core.probes.base import FALSITY, PRESUMED, VERIFIED
from core.probes.tables import SEPARATOR, lexicon_path, read_table, words_path
from core.probes.words.english import OTHER, dictionary, kinds
from core.probes.words.grammar import Number, head_endings, number_of, plural

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")

SIGN_OR_WORD = re.compile(rf"{WORD.pattern}|\d+|[^\w\s]")

LONGEST_NOUN = 3  # words of a noun, at most, e.g. ``police officer`` has two.


def noun_at(text: str, position: int) -> tuple[int, str, str] | None:
    """Read the longest known noun that begins at a place of a text.
    ``position``: where the noun's first word begins; blanks alone part its words.
    Returns where the noun ends, its singular in lower case, its category; None where no known noun stands there."""
    nouns = object_nouns(lexicon_path("object_nouns.csv"))
    words, best = list[str](), None
    following = WORD.match(text, position)
    while following is not None and len(words) < LONGEST_NOUN:
        words.append(following.group().casefold())
        if (said := " ".join(words)) in nouns:
            best = following.end(), *nouns[said]
        blanks = re.compile(r"[ ]+").match(text, following.end())
        following = WORD.match(text, blanks.end()) if blanks else None
    return best


def group_ends(text: str, position: int) -> bool:
    """Whether a noun group ends here: by a sign, a word of ``after_the_noun.csv``, -ing, -ed, a verb.
    Whether a word is a verb: :mod:`core.probes.words.english` (*a man drives a car*, but *a dog house*)."""
    rest = text[position:]
    if not rest.strip() or rest.lstrip()[0] in '.,;:!?()"':
        return True
    following = re.compile(r"\s+(" + WORD.pattern + ")").match(rest)
    word = following[1].casefold() if following else ""
    if word in after_the_noun(lexicon_path("after_the_noun.csv")) or word.endswith(("ing", "ed")):
        return True
    said = [SIGN_OR_WORD.findall(part.casefold()) for part in (text[:position], rest)]
    place, words = len(said[0]), [*said[0], *said[1]][: len(said[0]) + 3]
    return place < len(words) and "VERB" in dictionary(words[place]) and kinds(words)[place] == OTHER


@cache
def object_nouns(path: Path) -> dict[str, tuple[str, str]]:
    """Read ``object_nouns.csv``: noun or its plural, in lower case -> (singular, category)."""
    found: dict[str, tuple[str, str]] = {}
    for row in read_table(path, ("noun", "category")):
        noun = " ".join(row.required("noun").casefold().split())
        if len(noun.split()) > LONGEST_NOUN:
            row.fail(f"the noun {noun!r} is longer than {LONGEST_NOUN} words; write its last words")
        if noun in found:
            row.fail(f"the noun {noun!r} stands twice; keep one line")
        found[noun] = noun, row.one_of("category", CATEGORIES + EXTRA_CATEGORIES)
    return {plural(noun): entry for noun, entry in found.items()} | found


@cache
def after_the_noun(path: Path) -> frozenset[str]:
    """Read ``after_the_noun.csv``: words, in lower case, that end a noun group."""
    return frozenset(row.required("word").casefold() for row in read_table(path, ("word",)))


MOST_WORDS = 3  # of a category's name, or of a word for it
Name = tuple[str, ...]  # a name as its words, in lower case


@cache
def vocabulary() -> Mapping[str, str]:
    """COCO's categories with their supercategories, in the order of ``assets/taxonomy/coco.csv``."""
    return MappingProxyType({entry.label: entry.category for entry in load_taxonomy("coco").entries.values()})


@cache
def every_noun() -> Mapping[str, str]:
    """Nouns in lower case with their category: those of captions, and over them the labels of every taxonomy map."""
    nouns = {noun: category for noun, (_, category) in object_nouns(lexicon_path("object_nouns.csv")).items()}
    maps = [load_taxonomy(name) for name in reversed(taxonomy_names())]
    return MappingProxyType(nouns | {key: entry.category for each in maps for key, entry in each.entries.items()})


def usual_category(label: str) -> str | None:
    """Category of a noun that somebody typed, by the longest ending that a table names; None where none does.

    Asked are the maps of ``assets/taxonomy``, then the nouns of ``assets/lexicons/object_nouns.csv``.

    >>> usual_category("Small brown dog"), usual_category("bowl of soup"), usual_category("quasar")
    ('animal', 'kitchen', None)
    """
    known = every_noun()
    return next((known[ending] for ending in head_endings(label) if ending in known), None)


@cache
def own_names() -> Mapping[Name, str]:
    """A category's own name, singular and plural, and the category."""
    said = ((text, label) for label in vocabulary() for text in forms(label))
    return MappingProxyType({tuple(text.casefold().split()): label for text, label in said})


@cache
def every_name() -> Mapping[Name, frozenset[str]]:
    """Own names and other words, singular and plural, with the categories that they may stand for."""
    said = [(label, label) for label in vocabulary()]
    synonyms = read_table(words_path("synonyms.csv"), ("label", "word"))
    said += [(row.one_of("label", vocabulary()), row.required("word")) for row in synonyms]
    said += [
        ("person", noun)
        for noun, (_, category) in object_nouns(lexicon_path("object_nouns.csv")).items()
        if category == "person"
    ]
    return _by_name(said)


def _by_name(said: Iterable[tuple[str, str]]) -> Mapping[Name, frozenset[str]]:
    """Categories with a word for each -> the word's forms, with all categories that they may stand for."""
    found: dict[Name, set[str]] = {}
    for label, word in said:
        for text in forms(word):
            found.setdefault(tuple(text.casefold().split()), set()).add(label)
    return MappingProxyType({name: frozenset(labels) for name, labels in found.items()})


@cache
def _kinds(column: str) -> Mapping[Name, frozenset[str]]:
    """Names of other sources, singular and plural, with the categories that they are or leave open."""
    rows = read_table(words_path("kinds.csv"), ("label", "same", "open"))
    return _by_name(
        (row.one_of("label", vocabulary()), word.strip())
        for row in rows
        for word in row[column].split(SEPARATOR)
        if word
    )


def forms(label: str) -> tuple[str, ...]:
    """A noun as it is written of one thing and of several."""
    return (label,) if number_of(label) is not Number.SINGULAR else (label, plural(label))


def annotated(item: Item) -> Counter[str]:
    """Labels of an item's annotated instances, crowds included, with their number; a label of its caption is none."""
    own = [] if item.label is None or item.label_by else [item.label]
    return Counter([*own, *(other.label for other in item.others)])


def also_called(item: Item) -> Mapping[Name, tuple[str, str]]:
    """Further names, singular and plural, that the source gives annotated labels.
    A name that is a category's own stands for that one (*TV* of a monitor), any other for its label where that is a
    category (*satchel* of a handbag); the rest is left out.
    Returns the name as its words -> the category that it stands for, and the name in the singular."""
    found: dict[Name, tuple[str, str]] = {}
    for label, names in item.synonyms.items():
        for name in names:
            stands_for = next((each for each in (name.casefold(), label) if each in vocabulary()), None)
            if stands_for:
                found |= {tuple(text.casefold().split()): (stands_for, name) for text in forms(name)}
    return MappingProxyType(found)


def named(item: Item) -> frozenset[str]:
    """Categories that some English caption of an item may name, by any word."""
    return frozenset(label for text in item.captions.get("en", ()) for label in named_in(text))


def named_in(caption: str) -> frozenset[str]:
    """Categories that an English text may name, by any word."""
    words = tuple("".join(sign if sign.isalnum() else " " for sign in caption.casefold()).split())
    spans = (words[start : start + size] for size in range(1, MOST_WORDS + 1) for start in range(len(words)))
    return frozenset(label for span in spans for label in every_name().get(span, ()))


def left_open(label: str) -> frozenset[str]:
    """Categories of which nobody knows whether one is there beside a thing that a source calls so.

    >>> sorted(left_open("limousine")), sorted(left_open("car")), sorted(left_open("barge"))
    (['car'], ['car'], ['boat'])
    """
    if label in vocabulary():
        return named_in(label)
    name = tuple(label.replace("_", " ").casefold().split())
    return named_in(label).union(*(_kinds(column).get(name, ()) for column in ("same", "open")))


def absent(item: Item) -> tuple[str, ...]:
    """Categories that may be named as absent, in the order of the vocabulary; see :func:`absence`."""
    there = annotated(item).keys() | named(item) | {label for label, _ in also_called(item).values()}
    called = {name for names in item.synonyms.values() for name in names}
    there = there.union(*(left_open(label) for label in {*annotated(item), *called, *item.also_there}))
    return tuple(label for label in vocabulary() if label not in there)


def absence(item: Item, label: str) -> dict[str, str]:
    """What is known of a category that is named as absent: the facts ``basis`` and ``falsity`` of a variant."""
    sure = label in looked_for(item.looked_for)
    return {
        "basis": "annotated absent" if sure else "not annotated, nor known to have been looked for",
        FALSITY: VERIFIED if sure else PRESUMED,
    }


def surest(item: Item, labels: Sequence[str]) -> tuple[str, ...]:
    """Those of some absent categories that the source looked for; all where there are none."""
    known = looked_for(item.looked_for)
    return tuple(label for label in labels if label in known) or tuple(labels)


@cache
def looked_for(names: frozenset[str]) -> frozenset[str]:
    """Categories that a source looked for, given its names of them."""
    said = (tuple(name.casefold().split()) for name in names)
    return frozenset(
        label for name in said for label in ({own_names().get(name, "")} | _kinds("same").get(name, set()))
    )


def another_kind(item: Item, rng: np.random.Generator) -> str:
    """Draw a category that is absent, among the surest, of a supercategory that nothing annotated belongs to.
    Raises ProbeRejected ``no-absent-category`` where every supercategory is there, or nothing is annotated."""
    kinds = {vocabulary().get(label) for label in annotated(item)} | {item.category}
    found = tuple(label for label in absent(item) if vocabulary()[label] not in kinds and label != "person")
    if not found or not annotated(item):
        told = f"no category is known to be absent from item {item.id!r}, of its own kind"
        raise ProbeRejected("no-absent-category", told)
    found = surest(item, found)
    return found[int(rng.integers(len(found)))]
