"""The template and more and more of what is true: how a score answers to length that says something.

``nested:share`` adds to *There is a frog.* how much of the picture the object takes, ``nested:place`` to that where it
is: *There is a frog covering about a fifth of the picture, on grey pebbles.* Each begins with the words of the one
before and is true, so the score's *response* is reported and nothing is a failure. The baseline of the second is the
first, whose baseline is the template.

Both facts are known of the composed items of the demo corpus, whose own grammar has the words; every other item is left
out with its reason. The captions are English: the template has no other language.
Source: paper C, sections 4 to 5.8 and Figure 4 (scores by length), of one picture instead of several captioners.
"""

import numpy as np

from core.corpora.demo_plan import share, shipped_plan
from core.corpora.schema import Item
from core.errors import ProbeRejected
from core.probes.base import ENGLISH, IDENTITY, TEMPLATE, Axis, Expectation, Probe, Subject, Variant, caption_probe
from core.probes.scene import Scene
from core.probes.words.templates import base_caption, item_label

FAMILY = "nested"

SHARE, PLACE = f"{FAMILY}:share", f"{FAMILY}:place"  # the steps, each on top of the one before


def nested_captions(item: Item) -> tuple[str, str]:
    """Write both captions of an item, the longer one last.
    Raises ProbeRejected ``no-label`` without a label; ``not-composed`` where nobody knows by construction how much of
    the picture the object takes and where it is."""
    label, mask = item_label(item), item.mask
    grammar = shipped_plan().grammar
    place = grammar.places.get(item.backdrop)
    if mask is None or not mask.area or place is None:
        told = f"item {item.id!r} was not composed on a place whose name the demo corpus' grammar has"
        raise ProbeRejected("not-composed", told)
    covered = grammar.phrases[f"share:{share(mask)}"][ENGLISH]
    covering = f"{base_caption(label).removesuffix('.')} covering {covered}"
    return f"{covering}.", f"{covering}, {place[ENGLISH]}."


def _step(name: str, step: int, baseline: str, summary: str) -> Probe:
    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        caption = nested_captions(scene.item)[step]
        facts: dict[str, str | float] = {"words": float(len(caption.split())), "added": name.partition(":")[2]}
        return Variant(name, caption=caption, facts=facts)

    return caption_probe(
        name,
        FAMILY,
        summary,
        make,
        axis=Axis.OBJECT,
        expectation=Expectation.RESPONSE,
        baseline=baseline,
        source="paper C, sections 4 to 5.8, Figure 4",
        subjects=(TEMPLATE,),
    )


NESTED = (
    _step(SHARE, 0, IDENTITY, "The template says, too, how much of the picture the object takes: it is true."),
    _step(PLACE, 1, SHARE, "The caption of nested:share says, too, where the object is: it is true."),
)
