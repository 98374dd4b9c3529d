"""Lexical probes: words of a human caption repeated, left out, hidden, jumbled, and nouns that change places.

Each edit is a family. Its headline probe hits a word with probability 0.4, as the text of paper B says; beside it are

- the algorithm as printed (``masking:printed`` …): one draw a word is shared by repetition, masking and removal, and
  removal *keeps* the words that the others hit, so that about 60 % of them go;
- a sweep over the probability (``masking:p0.2`` …), chosen by ``lexical-sweep``. Its draws are nested: what is hit at
  0.2 is hit at 0.3 too;
- four more draws of the same edit (``masking:draw2`` …), chosen by ``draws``: with them a family's numbers rest on five
  draws a caption, and an item counts by their mean.

What an edit leaves as it was is rejected and never scored; paper B scores it as if it had been edited.
Source: paper B, section 5.2 and Algorithm 1; the checklist of nouns: :mod:`core.probes.words.lexical_edits`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from core.errors import ProbeRejected
from core.probes.base import Axis, Probe, Subject, Variant, caption_probe
from core.probes.scene import Scene
from core.probes.words.caption_language import changed_words, check_language
from core.probes.words.caption_words import Word, join, words
from core.probes.words.lexical_edits import NOUN_EDITS, ON_WORDS, SHARE, substituted

SHARES = (0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8)  # points of the sweep; the headline probe is the one at 0.4

SWEEP, PRINTED, CHECKLIST = "lexical-sweep", "lexical-printed", "lexical-checklist"  # what selects the further probes
AGAIN, DRAW, DRAWS = "draws", "draw", 5
"""What selects further draws, the fact that numbers them, and how many there are with the first; paper B draws once."""

SOURCE = "paper B, section 5.2"
ALGORITHM = "paper B, Algorithm 1, as printed"

_SAYS = {
    "repetition": "words are said twice",
    "removal": "words are left out",
    "masking": "[MASK] stands in the place of words",
    "jumble": "all words stand in a random order",
    "substitution": "the nouns change places",
}

_CHECKS = {
    "drop-nouns": "every noun is left out",
    "repeat-first-noun": "the first noun is said once more before the last word",
    "swap-nouns": "the first and the last noun change places",
}

Edit = Callable[[Sequence[Word], str, np.random.Generator, tuple[str, ...]], list[str]]
"""(words, language, generator, critical objects of the caption) -> the words of the edited caption."""


def _lexical(
    name: str, family: str, summary: str, source: str, edit: Edit, facts: dict[str, str | float], **more: Any
) -> Probe:
    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        language = check_language(subject)
        before = words(subject.caption, language)
        # critical objects that the corpus lists of the caption; empty where it lists none
        texts, listed = scene.item.captions.get(language, ()), scene.item.named.get(language, ())
        named = (names for text, names in zip(texts, listed, strict=False) if text == subject.caption)
        after = edit(before, language, rng, next(named, ()))
        edited = join(after, language)
        if not edited or edited == join(before, language):
            raise ProbeRejected("unchanged", f"{name} leaves the caption {subject.caption!r} as it was")
        told = {
            **facts,
            "words": float(len(before)),
            "changed": float(changed_words([word.text for word in before], after)),
        }
        return Variant(name, caption=edited, facts=told)

    return caption_probe(name, family, summary, make, axis=Axis.LEXICAL, source=source, **more)


def _at(name: str, share: float) -> Edit:
    if name == "substitution":
        return lambda found, language, rng, names: substituted(found, rng, language, share, names=names)
    return lambda found, language, rng, _: ON_WORDS[name](found, rng, language, share)


def _headline(name: str, draw: int = 1) -> Probe:
    drawn = name not in ("jumble", "substitution")
    how = f", each word with probability {SHARE}" if drawn else ""
    facts: dict[str, str | float] = {"share": SHARE} if drawn else {}
    edit, says = _at(name, SHARE), f"In a human caption {_SAYS[name]}{how}"
    if draw == 1:
        return _lexical(name, name, f"{says}.", SOURCE, edit, facts)
    says, facts = f"{says}; draw {draw} of {DRAWS}.", {**facts, DRAW: float(draw)}
    return _lexical(f"{name}:draw{draw}", name, says, SOURCE, edit, facts, selector=AGAIN, redrawn=True)


def _printed(name: str) -> Probe:
    how = "the words that are not drawn are left out" if name == "removal" else f"of drawn words, {_SAYS[name]}"
    return _lexical(
        f"{name}:printed",
        name,
        f"In a human caption {how}; one draw ({SHARE}) for three edits.",
        ALGORITHM,
        _at("kept" if name == "removal" else name, SHARE),
        {"share": SHARE, "algorithm": "printed"},
        draws="lexical:printed",
        selector=PRINTED,
    )


def _point(name: str, share: float) -> Probe:
    says, facts = f"In a human caption {_SAYS[name]}, each word with probability {share}.", {"share": share}
    return _lexical(f"{name}:p{share}", name, says, SOURCE, _at(name, share), {**facts}, draws=name, selector=SWEEP)


def _check(name: str) -> Probe:
    source = "Sai et al., Perturbation CheckLists, EMNLP 2021, which paper B takes its edits from"
    says, edit = f"In a human caption {_CHECKS[name]}.", NOUN_EDITS[name]
    return _lexical(name, name, says, source, lambda found, language, *_: edit(found, language), {}, selector=CHECKLIST)


_DRAWN = ("repetition", "removal", "masking")

HEADLINES = tuple(_headline(name) for name in _SAYS)
REDRAWN = tuple(_headline(name, draw) for name in _SAYS for draw in range(2, DRAWS + 1))
AS_PRINTED = tuple(_printed(name) for name in _DRAWN)
POINTS = tuple(_point(name, share) for name in _DRAWN for share in SHARES)
CHECKS = tuple(_check(name) for name in NOUN_EDITS)
