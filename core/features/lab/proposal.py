"""A name for what a picture shows, proposed from what an evaluator sees in it: the classes that its score rests on."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

import numpy as np

from core.errors import InvariscopeError
from core.evaluators.offline.class_texts import class_names
from core.evaluators.pool import Pool
from core.evaluators.registry import find
from core.probes.tables import read_table
from core.probes.words.categories import every_noun
from core.probes.words.grammar import head_endings
from core.settings import assets_dir

ASKED = ("conse-lite0", "conse-lite2")
"""Evaluators whose evidence is of ImageNet's classes; the first one that is here is asked."""

LEAST: Final = 0.04
"""Evidence for a noun below which it is not proposed: the picture shows nothing that the classes know."""

MANY = 3  # nouns that are proposed at most


@dataclass(frozen=True, slots=True)
class Proposed:
    """A noun for a picture."""

    noun: str  # singular
    share: float  # evidence of the classes that it stands for, among the ten strongest, in [0, 1]
    classes: tuple[str, ...]  # these, the strongest first
    evaluator: str  # whose evidence it is


@cache
def noun_of_class() -> MappingProxyType[str, str]:
    """Class of ImageNet -> the noun that a caption would use.

    It is the line of ``assets/class_texts/nouns.csv``; without one the longest ending of the name that a table of nouns
    knows; else the class's own name.
    """
    names = [each.name for each in class_names()]
    known = every_noun()
    found = [next((ending for ending in head_endings(name) if ending in known), name) for name in names]
    for row in read_table(assets_dir() / "class_texts" / "nouns.csv", ("first", "last", "noun")):
        first, last = int(row.required("first")), int(row.required("last"))
        found[first : last + 1] = [row.required("noun")] * (last + 1 - first)
    return MappingProxyType(dict(zip(names, found, strict=True)))


def propose(pixels: np.ndarray, *, pool: Pool, asked: Sequence[str] = ASKED) -> tuple[Proposed, ...]:
    """Propose up to MANY nouns for a picture, uint8 RGB [H, W, 3], the likeliest first; none where no evaluator can
    tell. ``asked``: evaluators whose sight holds classes."""
    for name in asked:
        try:
            if not find(name).availability().ready:
                continue
            with pool.lease(name) as evaluator:
                evidence = evaluator.see(pixels, "a picture").evidence
        except InvariscopeError:
            continue
        nouns, classes = noun_of_class(), dict[str, list[tuple[str, float]]]()
        for told, share in evidence:
            classes.setdefault(nouns.get(told, told), []).append((told, share))
        found = [
            Proposed(noun, sum(share for _, share in held), tuple(each for each, _ in held), name)
            for noun, held in classes.items()
        ]
        return tuple(sorted((each for each in found if each.share >= LEAST), key=lambda each: -each.share)[:MANY])
    return ()
