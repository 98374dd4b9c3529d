"""Names of the probes of natural captions: which lexicon's family, which tagger, which rewrite, which word."""

from dataclasses import dataclass

from core.probes.words.lexicons import families
from core.probes.words.taggers import RULES, TAGGERS

NEUTRALISED, SWAPPED = "neutralised", "swapped"
"""Rewrites beside the caption as it was written: the control, and the word's contrast in its place."""

PREFIX = "natural-"


@dataclass(frozen=True, slots=True)
class NaturalName:
    """What the name of a probe says.

    Args:
        family: of the lexicon, e.g. ``economic``.
        tagger: that reads the captions.
        rewrite: NEUTRALISED, SWAPPED, or empty for the caption as it was written.
        word: that the caption then says; empty for the neutral one.
    """

    family: str
    tagger: str
    rewrite: str
    word: str


def family_of(owner: str, reader: str = RULES) -> str:
    """Name of the natural probes of a lexicon's family as a tagger reads captions, e.g. ``natural-economic-spacy``."""
    return f"{PREFIX}{owner}" if reader == RULES else f"{PREFIX}{owner}-{reader}"


def families_of() -> dict[str, tuple[str, str]]:
    """Family of probes -> (family of the lexicon, tagger); by tagger, then in the lexicon's order."""
    return {family_of(owner, reader): (owner, reader) for reader in TAGGERS for owner in families()}


def read_name(probe: str) -> NaturalName | None:
    """Read the name of a probe; None where it is none of a natural caption."""
    family, colon, rest = probe.partition(":")
    known = families_of().get(family)
    if known is None or not colon:
        return None
    if rest == NEUTRALISED:
        return NaturalName(*known, NEUTRALISED, "")
    swapped = rest.startswith(f"{SWAPPED}-")
    return NaturalName(*known, SWAPPED if swapped else "", rest.removeprefix(f"{SWAPPED}-") if swapped else rest)
