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

import numpy as np

from core.errors import ProbeRejected
from core.probes.base import ENGLISH, FALSITY, Probe, Subject, Variant, caption_probe
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
    target_mentions,
)

SIBLINGS = 9  # most siblings of a category that can be absent: COCO's largest supercategory holds ten
SELECTOR = "foil-siblings"

Candidates = Callable[[Scene, Mention, str], tuple[str, ...]]


def _object(scene: Scene, mention: Mention, caption: str) -> tuple[str, ...]:
    found = neighbours(scene.item, mention, caption)
    if place_named(caption, ENGLISH, (SIDE, SPOT)):
        return found
    kind = vocabulary()[mention.label]
    return () if named_beside(caption, mention) else tuple(each for each in found if vocabulary().get(each) != kind)


_KINDS: dict[str, tuple[Candidates, str]] = {
    "plausible": (
        lambda scene, mention, _: siblings(scene.item, mention),
        "a category of the same kind that is annotated absent",
    ),
    "object": (_object, "another object of the picture, of which the caption is hardly true"),
    "random": (
        lambda scene, mention, _: siblings(scene.item, mention, strange=True),
        "a category of another kind that is annotated absent",
    ),
}


def _target(scene: Scene, subject: Subject, rng: np.random.Generator, *kinds: str) -> Mention:
    """Draw the mention that is replaced: one for which every kind has a candidate, where there is one."""
    caption = check_english(subject)
    found = target_mentions(scene.item, caption)
    full = [each for each in found if all(_KINDS[kind][0](scene, each, caption) for kind in kinds)] or found
    return full[int(rng.integers(len(full)))]


def _swapped(name: str, scene: Scene, caption: str, mention: Mention, label: str, kind: str, among: int) -> Variant:
    facts: dict[str, str | float] = {"replaced": mention.label, "by": label, "kind": kind, "among": float(among)}
    facts |= {FALSITY: "grounded"} if kind == "object" else absence(scene.item, label)
    return Variant(name, caption=replaced(caption, mention, label), facts=facts)


def _grounding(kind: str) -> Probe:
    candidates, what = _KINDS[kind]
    name = f"grounding:{kind}"

    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        mention = _target(scene, subject, rng, *_KINDS)
        found = candidates(scene, mention, subject.caption)
        if not found:
            raise ProbeRejected("no-replacement", f"nothing can stand for {mention.label!r}: {what} is needed")
        label = found[int(rng.integers(len(found)))]
        return _swapped(name, scene, subject.caption, mention, label, kind, len(found))

    summary = f"In a human caption an object gives way to {what}."
    return caption_probe(name, "grounding", summary, make, source="paper D, 4.2", draws="grounding")


def _foil(place: int) -> Probe:
    name = "foil" if place == 1 else f"foil:{place}"

    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        mention = _target(scene, subject, rng, "plausible")
        found = siblings(scene.item, mention)
        if len(found) < place:
            told = f"{mention.label!r} has {len(found)} siblings that are annotated absent, not {place}"
            raise ProbeRejected("no-replacement", told)
        label = found[int(rng.permutation(len(found))[place - 1])]
        return _swapped(name, scene, subject.caption, mention, label, "sibling", len(found))

    summary = f"In a human caption an object gives way to a sibling of its kind, the {place}. that was drawn."
    source, selector = "FOIL-COCO (Shekhar et al., ACL 2017); papers C and D", SELECTOR if place > 1 else ""
    return caption_probe(name, "foil", summary, make, source=source, draws="foil", selector=selector)


GROUNDING = tuple(_grounding(kind) for kind in _KINDS)
FOILS = tuple(_foil(place) for place in range(1, SIBLINGS + 1))
