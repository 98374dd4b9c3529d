"""Prototype probes: another picture in the place of the item's own, and the item's text about both.

The item shows a non-prototype with its knob right (*A bird is next to exactly two traffic cones*: a penguin and two
cones). Its rivals change one thing or two. The pictures are the corpus's; nothing is edited here.
Source: paper E, section 3; the two by two that takes its adversary apart is this project's.
"""

from types import MappingProxyType

import numpy as np

from core.corpora.schema import NONPROTO_WRONG, PROTO_RIGHT, PROTO_WRONG, Item
from core.probes.base import HUMAN, Axis, Edits, Expectation, Probe, Subject, Variant, probe
from core.probes.scene import Scene, rival_pixels

FAMILY = "prototype"
FACTS = ("knob", "domain", "subcategory", "socio_attr", "gender")
"""Facts of an item that every variant carries, where the item has them."""

FALSITY = "falsity"
"""The fact that says whether a wrong picture is ``verified`` to be wrong; where the item does not say, ``presumed``."""


def rival_probe(*, name: str, role: str, expectation: Expectation, summary: str, source: str) -> Probe:
    """Make a probe that shows the item's rival of a role.

    Where the item has no such rival, or its picture cannot be used, the probe is rejected with ``no-rival`` or
    ``bad-rival``.
    """

    @probe(
        name=name,
        axis=Axis.SEMANTIC,
        family=FAMILY,
        edits=Edits.IMAGE,
        summary=summary,
        expectation=expectation,
        source=source,
        default=False,
        held=(HUMAN,),
        needs="rivals",
    )
    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        return Variant(
            probe=name, pixels=rival_pixels(scene.item, role), facts=MappingProxyType(_facts(scene.item, role))
        )

    return make


def _facts(item: Item, role: str) -> dict[str, str | float]:
    rival = item.rival(role)
    assert rival is not None
    own = {name: item.facts[name] for name in FACTS if name in item.facts}
    return {**own, **rival.facts, "role": role, FALSITY: item.facts.get(FALSITY, "presumed")}


PROTOTYPES = (
    rival_probe(
        name="prototype:knob-wrong",
        role=NONPROTO_WRONG,
        expectation=Expectation.DIRECTIONAL,
        summary="The same non-prototype, but the thing beside it is not as the text says; the score must drop.",
        source="after paper E, section 3",
    ),
    rival_probe(
        name="prototype:prototype",
        role=PROTO_RIGHT,
        expectation=Expectation.INVARIANT,
        summary="A prototype in the place of the non-prototype; the text names neither and fits both.",
        source="after paper E, section 3",
    ),
    rival_probe(
        name="prototype:adversary",
        role=PROTO_WRONG,
        expectation=Expectation.DIRECTIONAL,
        summary="A prototype, and the thing beside it is not as the text says; the score must drop.",
        source="paper E, section 3",
    ),
)
"""None is part of the standard grid: only items of some corpora have rivals."""
