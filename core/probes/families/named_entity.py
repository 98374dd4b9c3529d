"""A place, a person's role or a brand in a human caption gives way to its like: *in a kitchen* to *in a bathroom*.

Words of one line of ``assets/words/entities.csv`` may stand for one another. One that any caption of the item says does
not, since the picture may show it too; for the same reason the falsity is *presumed*. Names of cities, countries and
brands are found as they are written, with their capital; other words where they end a noun phrase (*a kitchen*, not *a
kitchen table*), singular or plural, with what makes a longer name of them (*a city street*: there is no *city
runway*). Words of one line take the same prepositions, so that the edit reads as well as what it replaces. English.
Source: ours, after the named entities of FOIL-like news captions (Biten et al., GoodNews, CVPR 2019).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from core.errors import ProbeRejected
from core.probes.base import FALSITY, PRESUMED, Subject, Variant, caption_probe
from core.probes.scene import Scene
from core.probes.tables import read_table, words_path
from core.probes.words.caption_language import check_english
from core.probes.words.caption_words import Word, words
from core.probes.words.grammar import plural
from core.probes.words.mentions import Mention, name_begins, replaced
from core.probes.words.whole_names import noun_places

Form = tuple[str, ...]  # the words of an entity, one or several


@dataclass(frozen=True, slots=True)
class Entity:
    """What one form of an entity stands for."""

    name: str  # of the entity, singular
    kind: str  # of its line
    many: bool  # whether the form is the plural


@cache
def lines() -> Mapping[str, tuple[str, ...]]:
    """Kind -> the names that may stand for one another."""
    found: dict[str, tuple[str, ...]] = {}
    for row in read_table(words_path("entities.csv"), ("kind", "words")):
        kind = row.required("kind")
        if kind in found or len(row.alternatives("words")) < 2:
            row.fail(f"the kind {kind!r} stands twice, or has fewer than two words; keep one line of several")
        found[kind] = row.alternatives("words")
    return found


@cache
def forms() -> Mapping[Form, Entity]:
    """Every form, as it is written: a name with its capital, other words in lower case, singular and plural."""
    found: dict[Form, Entity] = {}
    for kind, names in lines().items():
        for name in names:
            found[tuple(name.split())] = Entity(name, kind, many=False)
            if name.islower():
                found[tuple(plural(name).split())] = Entity(name, kind, many=True)
    return found


def entities(caption: str) -> tuple[tuple[Mention, str], ...]:
    """Entities of an English caption that can be replaced, each with its kind, the longest at each place."""
    found = words(caption)
    nouns = noun_places(found)
    made = list[tuple[Mention, str]]()
    for first, last, entity in _found(found):
        begins = first
        if entity.name.islower():
            whole = name_begins(found, nouns, first, last, entity.name) if last in nouns else None
            if whole is None:
                continue
            begins = whole
        made.append((Mention(begins, last, entity.name, entity.many), entity.kind))
    return tuple(made)


def _found(found: Sequence[Word]) -> Iterator[tuple[int, int, Entity]]:
    longest, place = max(map(len, forms())), 0
    while place < len(found):
        for size in range(longest, 0, -1):
            inner = found[place : place + size]
            exact = tuple(word.core for word in inner)
            entity = forms().get(exact) or forms().get(tuple(each.casefold() for each in exact))
            if len(inner) == size and entity and not any(word.trail for word in inner[:-1]):
                yield place, place + size - 1, entity
                place += size
                break
        else:
            place += 1


def _make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    caption = check_english(subject)
    there = entities(caption)
    if not there:
        raise ProbeRejected("no-entity", f"{caption!r} names no place, role or brand of assets/words/entities.csv")
    mention, kind = there[int(rng.integers(len(there)))]
    texts = (caption, *scene.item.captions.get("en", ()))
    said = {entity.name for text in texts for _, _, entity in _found(words(text))}
    left = [name for name in lines()[kind] if name not in said]
    if not left:
        raise ProbeRejected("no-replacement", f"the captions of the item name every {kind} that is listed")
    chosen = left[int(rng.integers(len(left)))]
    facts = {"kind": kind, "replaced": mention.label, "by": chosen, FALSITY: PRESUMED}
    return Variant("named-entity", caption=replaced(caption, mention, chosen), facts=facts)


_SAYS = "In a human caption a place, a person's role or a brand gives way to its like, which no caption names."
named_entity = caption_probe("named-entity", "named-entity", _SAYS, _make, source="ours, after GoodNews (CVPR 2019)")
