"""Prototype probes: another picture in the place of the item's own, and the item's text about both.

The item shows a non-prototype with its knob right (*A bird is next to exactly two traffic cones*: a penguin and two
cones). Its rivals change one thing or two. The pictures are the corpus's; nothing is edited here.
Source: paper E, section 3; the two by two that takes its adversary apart is this project's.
"""

import numpy as np

from core.corpora.schema import NONPROTO_WRONG, PROTO_RIGHT, PROTO_WRONG
from core.probes.base import FALSITY, HUMAN, PRESUMED, Axis, Edits, Expectation, Probe, Subject, Variant, probe
from core.probes.scene import Scene, rival_pixels

FAMILY = "prototype"
FACTS = ("knob", "domain", "subcategory", "socio_attr", "gender")
"""Facts of an item that every variant carries, where the item has them."""


def _rival(name: str, role: str, summary: str, *, invariant: bool = False, source: str) -> Probe:
    """A probe that shows the item's rival of a role; rejected with ``no-rival`` or ``bad-rival`` where it cannot."""

    @probe(
        name=name,
        axis=Axis.SEMANTIC,
        family=FAMILY,
        edits=Edits.IMAGE,
        summary=summary,
        expectation=Expectation.INVARIANT if invariant else Expectation.DIRECTIONAL,
        source=source,
        default=False,
        held=(HUMAN,),
        needs="rivals",
    )
    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        item = scene.item
        pixels, rival = rival_pixels(item, role), item.rival(role)
        assert rival is not None
        own = {each: item.facts[each] for each in FACTS if each in item.facts}
        # a wrong picture is verified to be wrong where the item says so
        facts = {**own, **rival.facts, "role": role, FALSITY: item.facts.get(FALSITY, PRESUMED)}
        return Variant(probe=name, pixels=pixels, facts=facts)

    return make


PROTOTYPES = (
    _rival(
        "prototype:knob-wrong",
        NONPROTO_WRONG,
        "The same non-prototype, but the thing beside it is not as the text says; the score must drop.",
        source="after paper E, section 3",
    ),
    _rival(
        "prototype:prototype",
        PROTO_RIGHT,
        "A prototype in the place of the non-prototype; the text names neither and fits both.",
        invariant=True,
        source="after paper E, section 3",
    ),
    _rival(
        "prototype:adversary",
        PROTO_WRONG,
        "A prototype, and the thing beside it is not as the text says; the score must drop.",
        source="paper E, section 3",
    ),
)
"""None is part of the standard grid: only items of some corpora have rivals."""
