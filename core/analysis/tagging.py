"""How two taggers select natural captions: the same captions read by both, step by step.

A lexicon's words are rare in captions, so the steps of the selection are compared on every adjective too: which words
modify an object, which captions name exactly one, which have both; and beside them the captions that the probes take.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.corpora.schema import Item
from core.probes.base import ENGLISH
from core.probes.words.caption_words import is_adjective
from core.probes.words.categories import WORD
from core.probes.words.natural_captions import find_in
from core.probes.words.screening import families
from core.probes.words.taggers import Tagger
from core.statistics.agreement import two_readers

MODIFIES, ONE, CLEAR, TAKEN = "modifies an object", "one object", "clear caption", "taken by the probes"

STEPS = {
    MODIFIES: "adjectives of the dictionary and words of the lexicon: does the word modify an object noun?",
    ONE: "captions: is there exactly one object noun phrase?",
    CLEAR: "captions: is there exactly one, and a word that modifies it?",
    TAKEN: "captions by family of the lexicon: does a natural probe take it? (The rules ask for no single object.)",
}
"""Step of the selection -> what is read, and what is asked of it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How two taggers read the same captions.

    Args:
        steps: a row a step: step, asked, n, n_one, n_other, n_both, precision, recall and kappa with their ends
            ``_low`` and ``_high``, note.
        apart: what they read otherwise: step, caption, word, one, other.
        captions: how many were read; each text once.
    """

    steps: pd.DataFrame
    apart: pd.DataFrame
    captions: int


def compare(items: Sequence[Item], one: Tagger, other: Tagger) -> Reading:
    """Read every English caption of some items by two taggers.

    Args:
        items: of a corpus; captions of one item are resampled together. A text that stands twice is read once.
        one: held against the other, as if that were right.
        other: the reference.
    """
    texts: dict[str, str] = {}
    for item in items:
        for text in item.captions.get(ENGLISH, ()):
            texts.setdefault(text, item.id)
    rows = [row for text, source in texts.items() for row in _rows(text, source, one, other)]
    frame = pd.DataFrame(rows, columns=["step", "source", "caption", "word", "one", "other"])
    steps = [_step(name, asked, frame[frame["step"] == name]) for name, asked in STEPS.items()]
    apart = frame[frame["one"] != frame["other"]].drop(columns="source").reset_index(drop=True)
    return Reading(pd.DataFrame(steps), apart, len(texts))


def _rows(text: str, source: str, one: Tagger, other: Tagger) -> list[tuple[str, str, str, str, bool, bool]]:
    known = {word.word.casefold(): word.part_of_speech == "noun" for each in families().values() for word in each.words}
    rows, modified = list[tuple[str, str, str, str, bool, bool]](), np.zeros(2, dtype=bool)
    for match in WORD.finditer(text):
        word = match.group().casefold()
        if word in known or is_adjective(word):
            said = [
                each.modified(text, match.start(), match.end(), noun=known.get(word, False)) is not None
                for each in (one, other)
            ]
            rows.append((MODIFIES, source, text, match.group(), said[0], said[1]))
            modified |= said
    single = np.array([len(each.objects(text)) == 1 for each in (one, other)])
    clear = single & modified
    rows += [
        (ONE, source, text, "", bool(single[0]), bool(single[1])),
        (CLEAR, source, text, "", bool(clear[0]), bool(clear[1])),
    ]
    for name, family in families().items():
        taken = [find_in(text, family, each) is not None for each in (one, other)]
        rows.append((TAKEN, source, text, name, taken[0], taken[1]))
    return rows


def _step(name: str, asked: str, own: pd.DataFrame) -> dict[str, object]:
    found = two_readers(own["one"].to_numpy(bool), own["other"].to_numpy(bool), sources=own["source"].to_numpy(str))
    measured = {"precision": found.precision, "recall": found.recall, "kappa": found.kappa}
    ends = {
        f"{key}{end}": value
        for key, each in measured.items()
        for end, value in (("", each.estimate), ("_low", each.low), ("_high", each.high))
    }
    return {
        "step": name,
        "asked": asked,
        "n": found.n,
        "n_one": found.n_one,
        "n_other": found.n_other,
        "n_both": found.n_both,
        **ends,
        "note": found.kappa.note,
    }
