"""Hollow tails and a distractor: words that add nothing, and an object that is not there. Source: paper C, 4 to 5.

A captioner that is trained on a metric's score learns to append words about nothing. ``hollow-tail`` appends such a
tail to a human caption, ``hollow-tail:dangling`` breaks off, ``hollow-tail:repeat`` says the last noun phrase again;
``hollow-tail:len1`` to ``hollow-tail:len8`` (``tail-sweep``) are the first words of one tail an item, so that they
are nested. The score must not rise: as everywhere, a variant that scores *at least as high* as its baseline is a
failure, so a score that does not notice the tail at all fails too; the share that rises is told beside it.

``distractor`` names a category that is annotated absent beside the true object. The tails are data: ``assets/words``.
"""

from functools import cache
from itertools import cycle, islice
from types import MappingProxyType

import numpy as np

from core.errors import ProbeRejected
from core.probes.base import HUMAN, TEMPLATE, Axis, Edits, Expectation, Maker, Probe, Subject, Variant
from core.probes.scene import Scene
from core.probes.tables import read_table, words_path
from core.probes.words.caption_language import check_english
from core.probes.words.caption_words import join, noun_phrases, words
from core.probes.words.categories import absence, another_kind
from core.probes.words.templates import item_label, named_objects

LONGEST = 8
"""Words of the longest tail of the sweep."""
SWEEP = "tail-sweep"
_DETERMINERS = ("a", "an", "the", "his", "her", "its", "their", "some", "two", "three", "four", "five")


@cache
def tails(kind: str) -> tuple[tuple[str, str], ...]:
    """Tails of a kind, ``hollow`` or ``dangling``, each with the words that a longer one repeats."""
    rows = read_table(words_path("tails.csv"), ("kind", "tail", "unit"))
    said = [(row.one_of("kind", ("hollow", "dangling")), row.required("tail"), row.required("unit")) for row in rows]
    return tuple((tail, unit) for own, tail, unit in said if own == kind)


def with_tail(caption: str, tail: str) -> str:
    """Append a tail before the final full stop.

    >>> with_tail("A man on a bench.", "area area")
    'A man on a bench area area.'
    """
    text = caption.strip()
    bare = text.rstrip(" .")
    return f"{bare} {tail}{'.' if text.endswith('.') else ''}"


def tail_of_length(tail: str, unit: str, length: int) -> str:
    """Return the first words of a tail, which its unit goes on repeating.

    >>> tail_of_length("in the background of setting", "area", 7)
    'in the background of setting area area'
    """
    said = tail.split()
    return " ".join([*said[:length], *islice(cycle(unit.split()), max(length - len(said), 0))])


def last_noun_phrase(caption: str) -> str:
    """Return the last noun phrase of an English caption with its determiner, without signs.
    Raises ProbeRejected ``few-nouns`` where it has none."""
    found = words(caption)
    phrases = noun_phrases(found, "en")
    if not phrases:
        raise ProbeRejected("few-nouns", f"no noun is found in {caption!r}, so none can be repeated")
    first, last = phrases[-1]
    start = first - 1 if first and found[first - 1].core.casefold() in _DETERMINERS else first
    return join([word.core for word in found[start : last + 1]])


def _probe(name: str, summary: str, make: Maker, *, selector: str = "") -> Probe:
    return Probe(
        name,
        Axis.SEMANTIC,
        "hollow-tail",
        Expectation.DIRECTIONAL,
        Edits.CAPTION,
        summary,
        make,
        source="paper C, 4 to 5 (what captioners learn under CLIP-S rewards)",
        default=False,
        subjects=(HUMAN,),
        draws="hollow-tail",
        selector=selector,
    )


def _tailed(name: str, subject: Subject, tail: str) -> Variant:
    caption = check_english(subject)
    if not caption.strip(" ."):
        raise ProbeRejected("unchanged", "there is no caption to append a tail to")
    facts: dict[str, str | float] = {"tail": tail, "length": float(len(tail.split()))}
    return Variant(name, caption=with_tail(caption, tail), facts=MappingProxyType(facts))


def _drawn(kind: str, rng: np.random.Generator) -> tuple[str, str]:
    found = tails(kind)
    return found[int(rng.integers(len(found)))]


def _hollow(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    return _tailed("hollow-tail", subject, _drawn("hollow", rng)[0])


def _dangling(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    return _tailed("hollow-tail:dangling", subject, _drawn("dangling", rng)[0])


def _repeat(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    return _tailed("hollow-tail:repeat", subject, last_noun_phrase(check_english(subject)))


def _length(length: int) -> Probe:
    name = f"hollow-tail:len{length}"

    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        return _tailed(name, subject, tail_of_length(*_drawn("hollow", rng), length))

    return _probe(name, f"The first {length} words of a hollow tail end a human caption.", make, selector=SWEEP)


def _distractor(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    label = item_label(scene.item)
    chosen = another_kind(scene.item, rng)
    facts = {"present": label, "absent": chosen, **absence(scene.item, chosen)}
    return Variant("distractor", caption=named_objects([label, chosen]), facts=MappingProxyType(facts))


TAILS = (
    _probe("hollow-tail", "A human caption ends with words about nothing.", _hollow),
    _probe("hollow-tail:dangling", "A human caption goes on and breaks off: 'on a.'.", _dangling),
    _probe("hollow-tail:repeat", "A human caption says its last noun phrase again.", _repeat),
    *(_length(length) for length in range(1, LONGEST + 1)),
)
DISTRACTOR = Probe(
    "distractor",
    Axis.SEMANTIC,
    "distractor",
    Expectation.DIRECTIONAL,
    Edits.CAPTION,
    "The template names an object that is not there beside the one that is.",
    _distractor,
    source="paper D, 4.3.1, extended",
    default=False,
    subjects=(TEMPLATE,),
    draws="absent-category",
)
