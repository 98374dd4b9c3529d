"""The societal probes in one's own caption: the same words, put before the object's noun in what somebody wrote.

Named ``inserted-family:word``, e.g. ``inserted-cultural:African`` and ``inserted-cultural:typical``: the other
construction of ``cultural:African``, which writes ``There is an African dog.``. A modifier's baseline is the control of
its family that is the closest in length, at the same place of the same caption; a control's baseline is the caption
as it was written. What stands in the way is told (:mod:`core.probes.words.insertion`), and the template is never
taken instead. Source: paper A, A.3 and A.12.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import numpy as np

from core.errors import ProbeRejected
from core.probes.base import (
    IDENTITY,
    LENGTH_MATCHED,
    Axis,
    Construction,
    Expectation,
    Probe,
    Subject,
    Variant,
    caption_probe,
)
from core.probes.scene import Scene
from core.probes.words.caption_language import check_english
from core.probes.words.insertion import PREFIX, insert_word
from core.probes.words.screening import Family, Modifier, families


def make_probe(owner: Family, word: Modifier) -> Probe:
    """Return the probe that inserts one modifier or control.

    >>> from core.probes.words.screening import family
    >>> make_probe(family("gender"), family("gender").get("male")).name
    'inserted-gender:male'
    """
    name = f"{PREFIX}{word.probe}"

    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        item = scene.item
        if item.label is None or not item.label.split():
            told = f"item {item.id!r} has no label; name the object that the word is put before"
            raise ProbeRejected("no-label", told)
        place, made = insert_word(check_english(subject), item.label, item.category, word)
        facts: dict[str, str | float] = {
            "control" if word.control else "modifier": word.word,
            "noun": place.written,
            "construction": Construction.INSERTED.value,
            "at": float(made.start),
        }
        return Variant(probe=name, caption=made.text, facts=facts)

    says = f"{word.word!r} is put before the object's noun in a human caption. {owner.summary}"
    if word.control:
        says = f"The neutral word {word.word!r} stands before the noun of a human caption: it holds the length."
    return caption_probe(
        name,
        f"{PREFIX}{owner.name}",
        says,
        make,
        axis=Axis.SOCIETAL,
        expectation=Expectation.INVARIANT,
        baseline=IDENTITY if word.control else LENGTH_MATCHED,
        modifier=word.word,
        control=word.control,
        source="paper A, A.3 and A.12, extended",
        declares=Construction.INSERTED,
    )


INSERTED = tuple(make_probe(owner, word) for owner in families().values() for word in owner.words)
"""Every probe that inserts a word, in the order of the lexicon; none is part of the standard grid."""

_BY_TEMPLATE: Mapping[str, Probe] = MappingProxyType({probe.name.removeprefix(PREFIX): probe for probe in INSERTED})


def in_own_caption(probes: Iterable[Probe]) -> tuple[Probe, ...]:
    """Put in each probe's place the one that inserts its word, where there is one; each once.

    >>> from core.probes.registry import select
    >>> [probe.name for probe in in_own_caption(select(["vflip", "cultural:African"]))]
    ['inserted-cultural:African', 'vflip']
    """
    return tuple(dict.fromkeys(_BY_TEMPLATE.get(probe.name, probe) for probe in probes))


def in_template(name: str) -> str:
    """Name the probe that writes the same word into the template; any other name stays.

    >>> in_template("inserted-cultural:African"), in_template("vflip")
    ('cultural:African', 'vflip')
    """
    plain = name.removeprefix(PREFIX)
    return plain if plain in _BY_TEMPLATE else name
