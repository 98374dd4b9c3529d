"""The societal probes: one a modifier and one a neutral control of every family of the lexicon.

Named ``family:word``, e.g. ``cultural:African`` and ``cultural:typical``. They edit the caption and nothing
else. A modifier's baseline is its length-matched control; a control's baseline is the bare caption.
Expectation invariant: the image shows what it showed. Intersections (cultural × person, economic ×
category) need no probes of their own: the stored modifier and category say which is which.
Source: paper A, A.3.
"""

import numpy as np

from core.errors import ProbeRejected
from core.probes.base import BASE_CAPTION, LENGTH_MATCHED, Axis, Edits, Expectation, Probe, Subject, Variant
from core.probes.scene import Scene
from core.probes.tables import lexicon_path
from core.probes.words.grammar import clean_label
from core.probes.words.screening import Family, Modifier, families, rules, screen
from core.probes.words.templates import attribute_caption, item_label


def make_probe(owner: Family, word: Modifier) -> Probe:
    """Return the probe of one modifier or control.

    >>> from core.probes.words.screening import family
    >>> make_probe(family("gender"), family("gender").get("male")).name
    'gender:male'
    """

    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        label = item_label(scene.item)
        rejection = screen(label, scene.item.category, word.family, word.word)
        if rejection is not None:
            raise ProbeRejected(rejection.code, rejection.detail)
        facts = {"control" if word.control else "modifier": word.word, "noun": clean_label(label)}
        return Variant(probe=word.probe, caption=attribute_caption(label, word.word), facts=facts)

    says = f"{word.word!r} is put before the noun. {owner.summary}"
    if word.control:
        says = f"The neutral word {word.word!r} is added: the control that holds the length of {owner.name} captions."
    return Probe(
        name=word.probe,
        axis=Axis.SOCIETAL,
        family=owner.name,
        expectation=Expectation.INVARIANT,
        edits=Edits.CAPTION,
        summary=says,
        make_function=make,
        baseline=BASE_CAPTION if word.control else LENGTH_MATCHED,
        modifier=word.word,
        control=word.control,
        source=owner.source,
        default=owner.default,
    )


rules(lexicon_path("compatibility.csv"))  # a slip in the table is told when probes are listed, not item by item

SOCIETAL = tuple(make_probe(owner, word) for owner in families().values() for word in owner.words)
"""Every societal probe, in the order of the lexicon."""
