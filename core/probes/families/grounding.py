"""Grounding: one named object is replaced by another, of three kinds. Source: paper D, 4.2 and Table 5; FOIL-COCO.

The mention of an annotated category gives way to

- ``grounding:plausible``: a category of the same supercategory, annotated absent and named in no caption;
- ``grounding:object``: another annotated object of the image that the caption does not name: it is there, and the
  caption is false in that place alone, which is why its falsity is called *grounded* and not *verified*. Unless the
  caption says where in the picture it is, it must be of another kind, which hardly does the same, and may not merely
  be named beside others (*with a cup*, *a cup and a spoon*), which is true of whatever is there;
- ``grounding:random``: a category of another supercategory, annotated absent.

All three replace the same mention, so that the four captions are compared within the item. ``foil`` is the swap of
FOIL-COCO: a sibling of the same supercategory. FOIL-COCO keeps the sibling that a captioner finds hardest; here one is
drawn, and ``foil-siblings`` brings the others, so that their mean and the hardest of them can be told.
"""

from collections.abc import Callable
from types import MappingProxyType

import numpy as np

from core.errors import ProbeRejected
from core.probes.base import ENGLISH, FALSITY, HUMAN, Axis, Edits, Expectation, Maker, Probe, Subject, Variant
from core.probes.scene import Scene
from core.probes.words.caption_language import check_english
from core.probes.words.categories import absence, vocabulary
from core.probes.words.mentions import (
    SIDE,
    SPOT,
    Mention,
    named_beside,
    neighbours,
    place_named,
    replaced,
    siblings,
    strangers,
    target_mentions,
)

SIBLINGS = 9
"""Most siblings of a category that can be absent: COCO's largest supercategory holds ten."""
SELECTOR = "foil-siblings"

Candidates = Callable[[Scene, Mention, str], tuple[str, ...]]


def _plausible(scene: Scene, mention: Mention, caption: str) -> tuple[str, ...]:
    return siblings(scene.item, mention)


def _object(scene: Scene, mention: Mention, caption: str) -> tuple[str, ...]:
    found = neighbours(scene.item, mention, caption)
    if place_named(caption, ENGLISH, (SIDE, SPOT)):
        return found
    kind = vocabulary()[mention.label]
    return () if named_beside(caption, mention) else tuple(each for each in found if vocabulary().get(each) != kind)


def _random(scene: Scene, mention: Mention, caption: str) -> tuple[str, ...]:
    return strangers(scene.item, mention)


_KINDS: dict[str, tuple[Candidates, str]] = {
    "plausible": (_plausible, "a category of the same kind that is annotated absent"),
    "object": (_object, "another object of the picture, of which the caption is hardly true"),
    "random": (_random, "a category of another kind that is annotated absent"),
}


def _target(scene: Scene, subject: Subject, rng: np.random.Generator, first: tuple[Candidates, ...]) -> Mention:
    """Draw the mention that is replaced: one for which every kind has a candidate, where there is one."""
    caption = check_english(subject)
    found = target_mentions(scene.item, caption)
    full = [each for each in found if all(kind(scene, each, caption) for kind in first)] or found
    return full[int(rng.integers(len(full)))]


def _swapped(name: str, scene: Scene, caption: str, mention: Mention, label: str, kind: str, among: int) -> Variant:
    facts: dict[str, str | float] = {"replaced": mention.label, "by": label, "kind": kind, "among": float(among)}
    facts |= {FALSITY: "grounded"} if kind == "object" else absence(scene.item, label)
    return Variant(name, caption=replaced(caption, mention, label), facts=MappingProxyType(facts))


def _grounding(kind: str) -> Probe:
    candidates, what = _KINDS[kind]
    name = f"grounding:{kind}"

    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        mention = _target(scene, subject, rng, tuple(each for each, _ in _KINDS.values()))
        found = candidates(scene, mention, subject.caption)
        if not found:
            raise ProbeRejected("no-replacement", f"nothing can stand for {mention.label!r}: {what} is needed")
        label = found[int(rng.integers(len(found)))]
        return _swapped(name, scene, subject.caption, mention, label, kind, len(found))

    return _probe(name, "grounding", f"In a human caption an object gives way to {what}.", make, draws="grounding")


def _foil(place: int) -> Probe:
    name = "foil" if place == 1 else f"foil:{place}"

    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        mention = _target(scene, subject, rng, (_plausible,))
        found = siblings(scene.item, mention)
        if len(found) < place:
            raise ProbeRejected(
                "no-replacement", f"{mention.label!r} has {len(found)} siblings that are annotated absent, not {place}"
            )
        label = found[int(rng.permutation(len(found))[place - 1])]
        return _swapped(name, scene, subject.caption, mention, label, "sibling", len(found))

    summary = f"In a human caption an object gives way to a sibling of its kind, the {place}. that was drawn."
    return _probe(name, "foil", summary, make, draws="foil", selector=SELECTOR if place > 1 else "")


def _probe(name: str, family: str, summary: str, make: Maker, *, draws: str, selector: str = "") -> Probe:
    source = "paper D, 4.2" if family == "grounding" else "FOIL-COCO (Shekhar et al., ACL 2017); papers C and D"
    return Probe(
        name,
        Axis.SEMANTIC,
        family,
        Expectation.DIRECTIONAL,
        Edits.CAPTION,
        summary,
        make,
        source=source,
        default=False,
        subjects=(HUMAN,),
        draws=draws,
        selector=selector,
    )


GROUNDING = tuple(_grounding(kind) for kind in _KINDS)
FOILS = tuple(_foil(place) for place in range(1, SIBLINGS + 1))
