"""Hollow tails and a distractor: words that add nothing, and an object that is not there. Source: paper C, 4 to 5.

A captioner that is trained on a metric's score learns to append words about nothing. ``hollow-tail`` appends such a
tail to a human caption, ``hollow-tail:dangling`` breaks off, ``hollow-tail:repeat`` says the last noun phrase again;
``hollow-tail:len1`` to ``hollow-tail:len8`` (``tail-sweep``) are the first words of one tail an item, so that they
are nested. The score must not rise: as everywhere, a variant that scores *at least as high* as its baseline is a
failure, so a score that does not notice the tail at all fails too; the share that rises is told beside it.

``distractor`` names a category that is annotated absent beside the true object. The tails are data: ``assets/words``.
"""

from collections.abc import Callable
from functools import cache
from itertools import cycle, islice

import numpy as np

from core.errors import ProbeRejected
from core.probes.base import TEMPLATE, Probe, Subject, Variant, caption_probe
from core.probes.scene import Scene
from core.probes.tables import read_table, words_path
from core.probes.words.caption_language import check_english
from core.probes.words.caption_words import join, noun_phrases, words
from core.probes.words.categories import absence, another_kind
from core.probes.words.templates import item_label, named_objects

LONGEST = 8  # words of the longest tail of the sweep
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


def _probe(name: str, summary: str, tail_of: Callable[[str, np.random.Generator], str], *, selector: str = "") -> Probe:
    """A probe that appends a tail; ``tail_of`` draws it for a caption."""

    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        caption = check_english(subject)
        tail = tail_of(caption, rng)
        if not caption.strip(" ."):
            raise ProbeRejected("unchanged", "there is no caption to append a tail to")
        facts: dict[str, str | float] = {"tail": tail, "length": float(len(tail.split()))}
        return Variant(name, caption=with_tail(caption, tail), facts=facts)

    source = "paper C, 4 to 5 (what captioners learn under CLIP-S rewards)"
    return caption_probe(name, "hollow-tail", summary, make, source=source, draws="hollow-tail", selector=selector)


def _drawn(kind: str, rng: np.random.Generator) -> tuple[str, str]:
    found = tails(kind)
    return found[int(rng.integers(len(found)))]


def _length(length: int) -> Probe:
    return _probe(
        f"hollow-tail:len{length}",
        f"The first {length} words of a hollow tail end a human caption.",
        lambda _, rng: tail_of_length(*_drawn("hollow", rng), length),
        selector=SWEEP,
    )


def _distractor(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    label = item_label(scene.item)
    chosen = another_kind(scene.item, rng)
    facts = {"present": label, "absent": chosen, **absence(scene.item, chosen)}
    return Variant("distractor", caption=named_objects([label, chosen]), facts=facts)


TAILS = (
    _probe("hollow-tail", "A human caption ends with words about nothing.", lambda _, rng: _drawn("hollow", rng)[0]),
    _probe(
        "hollow-tail:dangling",
        "A human caption goes on and breaks off: 'on a.'.",
        lambda _, rng: _drawn("dangling", rng)[0],
    ),
    _probe(
        "hollow-tail:repeat",
        "A human caption says its last noun phrase again.",
        lambda caption, _: last_noun_phrase(caption),
    ),
    *(_length(length) for length in range(1, LONGEST + 1)),
)
DISTRACTOR = caption_probe(
    "distractor",
    "distractor",
    "The template names an object that is not there beside the one that is.",
    _distractor,
    source="paper D, 4.3.1, extended",
    subjects=(TEMPLATE,),
    draws="absent-category",
)
