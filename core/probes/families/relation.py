"""Which thing stands where beside another: a true relation of two things, and its opposite of the same two.

*A dog to the left of a hen.* is true of a scene, *A dog to the right of a hen.* is not: the same words but one, so that
neither length nor nouns tell them apart. The baseline is the true sentence, itself a *response*; both are written in
the caption's own language, the words from ``assets/words/relations.csv``.

Both are known by construction of the composed scenes alone, which list every copy of every thing; other items are left
out with their reason. Every copy of the one has to stand clear of every copy of the other: of things on both sides
neither sentence would be false. ``relation:side`` and ``relation:height`` go by boxes that share no column or no row.
``relation:depth`` goes by the feet of things that stand on a ground with a horizon: who stands lower is nearer.
Source: ours, after VSR (Liu et al., TACL 2023) and What'sUp (Kamath et al., EMNLP 2023).
"""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import permutations

import numpy as np

from core.corpora.demo import SCENE_CORPORA
from core.corpora.demo_backgrounds import PLACES
from core.corpora.demo_plan import LANGUAGES, capital, shipped_plan
from core.corpora.schema import Box, Item
from core.errors import ProbeRejected
from core.probes.base import (
    FALSITY,
    IDENTITY,
    VERIFIED,
    Axis,
    Construction,
    Expectation,
    Probe,
    Subject,
    Variant,
    caption_probe,
)
from core.probes.scene import Scene
from core.probes.tables import Row, read_table, words_path
from core.probes.words.caption_language import check_language

FAMILY = "relation"

WAYS: Mapping[str, tuple[str, str]] = {
    "side": ("left", "right"),
    "height": ("above", "below"),
    "depth": ("front", "behind"),
}
"""Kind of relation -> what the first of a pair is to the second, and the second to the first."""

FEET_APART = 0.05
"""Share of the picture's height by which the feet of one thing stand lower than the other's, to be nearer."""

Pair = tuple[str, str]


def related(item: Item, kind: str) -> tuple[Pair, ...]:
    """Things of a composed scene of which the first stands left of, above or in front of the second; by name.
    Raises ProbeRejected ``not-composed`` where not every copy of every thing is known; ``no-relation`` where no two
    things stand clear of each other so."""
    if item.corpus not in SCENE_CORPORA or item.label is None or item.box is None:
        raise ProbeRejected("not-composed", f"item {item.id!r} is no composed scene, whose things are all known")
    found = dict[str, list[Box]]()
    for label, box in ((item.label, item.box), *((each.label, each.box) for each in item.others)):
        if box is None:
            raise ProbeRejected("not-composed", f"a copy of {label!r} in item {item.id!r} has no box")
        found.setdefault(label, []).append(box)
    names = [name for name in sorted(found) if kind != "depth" or _stands(item, name)]
    pairs = tuple((a, b) for a, b in permutations(names, 2) if _clear(found[a], found[b], kind, item.height))
    if not pairs:
        raise ProbeRejected("no-relation", f"no two things of item {item.id!r} stand clear of each other by {kind}")
    return pairs


def _clear(first: Sequence[Box], second: Sequence[Box], kind: str, height: int) -> bool:
    if kind == "side":
        return max(box.right for box in first) <= min(box.x for box in second)
    if kind == "height":
        return max(box.bottom for box in first) <= min(box.y for box in second)
    return min(box.bottom for box in first) >= max(box.bottom for box in second) + FEET_APART * height


def _stands(item: Item, label: str) -> bool:
    """Whether a thing stands on a ground that reaches to a horizon, so that its feet say how far off it is."""
    place = PLACES.get(item.second_source or "")
    poses = {entry.pose for entry in shipped_plan().stamps.values() if entry.label == label}
    return place is not None and place.far is not None and poses == {"stand"}


@cache
def patterns() -> Mapping[str, Row]:
    """Relation -> its line in ``assets/words/relations.csv``, a pattern a language."""
    rows = read_table(words_path("relations.csv"), ("relation", "opposite", *LANGUAGES))
    return {row.required("relation"): row for row in rows}


def sentence(relation: str, pair: Pair, language: str) -> str:
    """Say in a language what the first thing is to the second.
    Raises ProbeRejected ``no-noun`` where the demo corpus' list of nouns lacks one.

    >>> sentence("left", ("dog", "hen"), "en"), sentence("left", ("dog", "hen"), "fr")
    ('A dog to the left of a hen.', "Un chien à gauche d'une poule.")
    """
    nouns = shipped_plan().grammar.nouns
    if lost := [name for name in pair if name not in nouns]:
        raise ProbeRejected("no-noun", f"assets/demo/nouns.csv has no line for {lost[0]!r}; add one")
    first, second = (nouns[name][language] for name in pair)
    return capital(patterns()[relation].required(language).format(first=first, second=second))


def _probe(kind: str, summary: str, *, true: bool) -> Probe:
    name = f"{FAMILY}:{kind}"
    own, baseline = (f"{name}-true", IDENTITY) if true else (name, f"{name}-true")

    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        if subject.rank:
            raise ProbeRejected("repeated-template", "the sentence is written once a language, for its first caption")
        language = check_language(subject)
        pairs = related(scene.item, kind)
        first, second = pairs[int(rng.integers(len(pairs)))]
        turned = bool(rng.integers(2))
        pair, holds = ((second, first), WAYS[kind][1]) if turned else ((first, second), WAYS[kind][0])
        said = holds if true else patterns()[holds].required("opposite")
        facts = {"relation": said, "kind": kind, "first": pair[0], "second": pair[1]}
        told = facts if true else {**facts, FALSITY: VERIFIED}
        return Variant(own, caption=sentence(said, pair, language), facts=told)

    return caption_probe(
        own,
        FAMILY,
        summary,
        make,
        axis=Axis.OBJECT,
        expectation=Expectation.RESPONSE if true else Expectation.DIRECTIONAL,
        baseline=baseline,
        control=true,
        source="ours, after VSR (TACL 2023) and What'sUp (EMNLP 2023)",
        draws=name,
        declares=Construction.TEMPLATE,
    )


_SAYS = {
    "side": ("left of", "right of"),
    "height": ("higher up in the picture than", "lower down in the picture than"),
    "depth": ("in front of", "behind"),
}

RELATIONS = tuple(
    _probe(kind, summary, true=true)
    for kind, (one, other) in _SAYS.items()
    for true, summary in (
        (True, f"One thing of a composed scene is said to be {one} another, or {other} it: it is true."),
        (False, f"The same two things of a composed scene, with {one} for {other} or the reverse: it is false."),
    )
)
