"""Where in a long caption an error stands: at its start, in its middle, at its end, or behind the 77th token.

A long caption of a composed scene is its own caption, how its things stand to each other (:mod:`.relation`), and what
is not there: all true by construction. One more sentence names the object, *There is a dog.*; the error names a
category of another kind in its place, *There is a zebra.* The baseline is the same text with the true sentence at the
same place, itself a *response*, so that place and length are the same on both sides.

Up to the end the text has at most SHORT words, which towers of 77 tokens read whole. Behind, at least BEHIND words come
before: a token is a word at most, so such a tower reads none of the error, and fails by construction. English.
Source: ours, after Long-CLIP (Zhang et al., ECCV 2024), whose tokens beyond 20 hardly count.
"""

import numpy as np

from core.corpora.schema import Item
from core.errors import ProbeRejected
from core.probes.base import IDENTITY, Construction, Expectation, Probe, Subject, Variant, caption_probe
from core.probes.families.relation import WAYS, related, sentence
from core.probes.scene import Scene
from core.probes.words.caption_language import check_english
from core.probes.words.categories import absence, another_kind
from core.probes.words.templates import base_caption, item_label, negated_template

FAMILY = "error-place"

START, MIDDLE, END, BEYOND = PLACES = ("start", "middle", "end", "behind")

SHORT = 45  # most words of a text that is read whole: its tokens, signs among them, are fewer than 77
ADDED = 6  # words for which a text that is read whole leaves room: of the longest sentence that is added
BEHIND = 77  # least words before an error that no tower of 77 tokens reads
_MOST_DENIED = 24  # absent categories that are drawn to be denied


def relations_of(item: Item) -> tuple[str, ...]:
    """Every true relation of two things of a composed scene, said both ways, in English.
    Raises ProbeRejected ``not-composed`` where the item is no such scene."""
    said = list[str]()
    for kind, (one, other) in WAYS.items():
        try:
            pairs = related(item, kind)
        except ProbeRejected as none:
            if none.code == "not-composed":
                raise
            continue
        said += (text for a, b in pairs for text in (sentence(one, (a, b), "en"), sentence(other, (b, a), "en")))
    return tuple(said)


def true_text(item: Item, caption: str, rng: np.random.Generator, *, least: int, undenied: str) -> list[str]:
    """True sentences on a composed scene, its caption first, the others in the order that is drawn.
    ``least``: words that they have at least; 0: as many sentences as fit into SHORT words beside one that is added.
    ``undenied``: an absent category that none of them denies.
    Raises ProbeRejected ``not-composed``; ``too-short`` where not enough is known to be true."""
    relations = relations_of(item)
    order = [relations[place] for place in rng.permutation(len(relations))]
    drawn = dict.fromkeys(another_kind(item, rng) for _ in range(_MOST_DENIED if least else 0))
    denials = (negated_template(label).text for label in drawn if label != undenied)
    found = [caption.strip().rstrip(".") + "."]
    for text in (*order, *denials):
        if least and _words(found) >= least:
            break
        if least or _words([*found, text]) <= SHORT - ADDED:
            found.append(text)
    if len(found) < 2 or _words(found) < least:
        raise ProbeRejected("too-short", f"item {item.id!r} has {_words(found)} words that are known to be true")
    return found


def _words(texts: list[str]) -> int:
    return sum(len(text.split()) for text in texts)


def _probe(place: str, where: str, *, true: bool) -> Probe:
    name = f"{FAMILY}:{place}"
    own, baseline = (f"{name}-true", IDENTITY) if true else (name, f"{name}-true")
    says = "names the object: it is true" if true else "names a category of another kind: it is false"

    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        if subject.rank:
            raise ProbeRejected("repeated-template", "the text is written once, for the first caption")
        item, caption = scene.item, check_english(subject)
        relations_of(item)  # what is no composed scene is left out before anything is drawn
        label, chosen = item_label(item), another_kind(item, rng)
        text = true_text(item, caption, rng, least=BEHIND if place == BEYOND else 0, undenied=chosen)
        at = {START: 0, MIDDLE: (len(text) + 1) // 2}.get(place, len(text))
        said = base_caption(label if true else chosen)
        facts: dict[str, str | float] = {"kind": place, "words_before": float(_words(text[:at])), "present": label}
        told = facts if true else {**facts, "absent": chosen, **absence(item, chosen)}
        return Variant(own, caption=" ".join([*text[:at], said, *text[at:]]), facts=told)

    return caption_probe(
        own,
        FAMILY,
        f"A sentence {where} of a long caption of a composed scene {says}.",
        make,
        expectation=Expectation.RESPONSE if true else Expectation.DIRECTIONAL,
        baseline=baseline,
        control=true,
        source="ours, after Long-CLIP (ECCV 2024)",
        draws=FAMILY,
        declares=Construction.TEMPLATE,
    )


_WHERE = {START: "at the start", MIDDLE: "in the middle", END: "at the end", BEYOND: f"behind {BEHIND} words"}

PLACED = tuple(_probe(place, where, true=true) for place, where in _WHERE.items() for true in (True, False))
