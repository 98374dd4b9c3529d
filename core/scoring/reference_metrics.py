"""BLEU, ROUGE-L, CIDEr-D and METEOR: captions beside those that people wrote, by their words alone.

Words and counts are those of pycocoevalcap, which papers on captioning use; every number is its own to 1e-9. METEOR
needs Java, which the extra ``java`` brings.

References:
    [1] Papineni et al. (2002). BLEU: a method for automatic evaluation of machine translation. ACL.
    [2] Lin (2004). ROUGE: a package for automatic evaluation of summaries. ACL workshop.
    [3] Vedantam, Zitnick and Parikh (2015). CIDEr: consensus-based image description evaluation. CVPR. CIDEr-D.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata

import numpy as np

from core.errors import InvalidInput
from core.evaluators.references import BY_WORDS
from core.scoring.line_pairs import Lines, Pairs
from core.scoring.meteor import lacking
from core.scoring.treebank import tokens as tokens
from core.statistics.corpus_bleu import ORDERS, corpus_bleu
from core.statistics.corpus_meteor import corpus_meteor

BLEU = tuple(f"BLEU-{order}" for order in range(1, ORDERS + 1))
METEOR, ROUGE, CIDER = "METEOR", "ROUGE-L", "CIDEr-D"
METRICS = (*BLEU, METEOR, ROUGE, CIDER)
"""In the order in which clipscore's script prints them."""

NAMED = dict(zip(BY_WORDS, (BLEU[3], METEOR, ROUGE, CIDER), strict=True))
"""Name in commands and on pages -> metric."""

TOKENIZER = "words as pycocoevalcap's Penn Treebank tokenizer cuts them"
"""How captions are cut into words, for where a number stands."""

LEAST_PICTURES = 2
"""Fewest pictures for CIDEr-D: a word's weight is log(pictures / pictures whose references say it), 0 for one."""

SUMMED: Mapping[str, tuple[tuple[str, ...], Callable[[np.ndarray], np.ndarray]]] = {
    BLEU[-1]: (BLEU, corpus_bleu),
    METEOR: ((METEOR,), corpus_meteor),
}
"""Metrics of captions together: key of their counts -> their names, and what makes them of sums."""

_TOKENS_VERSION = 2


@dataclass(frozen=True, slots=True)
class Compared:
    """Captions beside their references.

    Args:
        means: by metric, over the ``n`` captions: BLEU and METEOR of them together, the mean of the others; NaN where
            none is.
        per_caption: by metric, float64 of every caption, 0 without words, NaN without references. BLEU and METEOR are a
            caption's own; their means are not those of the captions together.
        counts: what each caption adds, float64 [captions, c], by BLEU-4 and, where it was asked for, METEOR; see
            :data:`SUMMED`.
        n: captions that were compared.
    """

    means: Mapping[str, float]
    per_caption: Mapping[str, np.ndarray]
    counts: Mapping[str, np.ndarray]
    n: int


def compare(
    captions: Sequence[str | None],
    references: Sequence[Sequence[str]],
    *,
    documents: Sequence[Sequence[str]] | None = None,
    meteor: bool = False,
) -> Compared:
    """Compare captions with their references.

    The weights of CIDEr-D come from the references of all the pictures given, as in pycocoevalcap. Of fewer than
    LEAST_PICTURES pictures there is none.

    Args:
        captions: n of them, each of a picture of its own unless ``documents`` says what the pictures are; an empty one
            is compared as pycocoevalcap does, None is not.
        references: captions by people of the same pictures, any number each; one without words is passed over.
        documents: references of every picture once, where several captions are of one: they weigh CIDEr-D's words.
        meteor: whether METEOR is computed, which takes seconds to start; NaN otherwise.

    Raises:
        InvalidInput: if there is not one list of references a caption.
        NotAvailable: if METEOR cannot be computed here.
    """
    if len(captions) != len(references):
        raise InvalidInput(f"every caption has one list of references, got {len(captions)} and {len(references)}")
    lines = Lines()
    people = [lines.spoken(texts) for texts in references]
    pictures = [held for held in (people if documents is None else map(lines.spoken, documents)) if held]
    known = [place for place, texts in enumerate(people) if texts and captions[place] is not None]
    held = Pairs(lines, [lines.add(captions[place] or "") for place in known], [people[place] for place in known])
    adds = {BLEU[-1]: held.bleu_counts} | ({METEOR: held.meteor_counts} if meteor else {})
    counts = {name: _spread(made(), known, len(captions)) for name, made in adds.items()}
    per_caption = {name: np.full(len(captions), np.nan) for name in METRICS}
    per_caption[ROUGE] = _spread(held.rouge(), known, len(captions))
    if len(pictures) >= LEAST_PICTURES:
        per_caption[CIDER] = _spread(held.cider(pictures), known, len(captions))
    means = {name: _mean(values) for name, values in per_caption.items()}
    for name, table in counts.items():
        names, score = SUMMED[name]
        per_caption |= dict(zip(names, score(table).T, strict=True))
        if known:
            means |= dict(zip(names, score(table[known].sum(axis=0)).tolist(), strict=True))
    return Compared(means, per_caption, counts, len(known))


def ready_words() -> tuple[str, ...]:
    """Names, as commands and pages call them, of the metrics that can be computed here."""
    return tuple(name for name in BY_WORDS if not (NAMED[name] == METEOR and lacking()))


def fingerprint() -> str:
    """What the numbers depend on, in words."""
    return f"pycocoevalcap {metadata.version('pycocoevalcap')} (tokens {_TOKENS_VERSION})"


def _spread(values: np.ndarray, places: Sequence[int], size: int) -> np.ndarray:
    """Values in their places among ``size`` rows, NaN elsewhere."""
    spread = np.full((size, *values.shape[1:]), np.nan)
    spread[places] = values
    return spread


def _mean(values: np.ndarray) -> float:
    there = values[np.isfinite(values)]
    return float(there.mean()) if len(there) else float("nan")
