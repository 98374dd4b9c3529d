"""BLEU, ROUGE-L, CIDEr-D and METEOR: captions beside those that people wrote, by their words alone.

Words and counts are those of pycocoevalcap, which papers on captioning use; every number is its own to 1e-9. METEOR is a
program in Java, which the extra ``java`` brings.

References:
    [1] Papineni et al. (2002). BLEU: a method for automatic evaluation of machine translation. ACL.
    [2] Lin (2004). ROUGE: a package for automatic evaluation of summaries. ACL workshop.
    [3] Vedantam, Zitnick and Parikh (2015). CIDEr: consensus-based image description evaluation. CVPR. CIDEr-D.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata

import numpy as np

from core.errors import InvalidInput
from core.evaluators.references import BY_WORDS
from core.scoring.line_pairs import Lines, Pairs
from core.statistics.corpus_bleu import ORDERS, corpus_bleu

BLEU = tuple(f"BLEU-{order}" for order in range(1, ORDERS + 1))
ROUGE, CIDER = "ROUGE-L", "CIDEr-D"
METRICS = (*BLEU, ROUGE, CIDER)
"""In the order in which they are printed."""

NAMED = dict(zip(BY_WORDS, (BLEU[3], ROUGE, CIDER), strict=True))
"""Name in commands and on pages -> metric."""

TOKENIZER = "words as pycocoevalcap's Penn Treebank tokenizer cuts them"
"""How captions are cut into words, for where a number stands."""

LEAST_PICTURES = 2
"""Fewest pictures for CIDEr-D: a word's weight is log(pictures / pictures whose references say it), 0 for one."""

_TOKENS_VERSION = 2


@dataclass(frozen=True, slots=True)
class Compared:
    """Captions beside their references.

    Args:
        means: by metric, over the ``n`` captions: BLEU of them together, the mean of the others; NaN where none is.
        per_caption: by metric, float64 of every caption, 0 without words, NaN without references. BLEU is a caption's
            own, as pycocoevalcap smooths it; its mean is not the BLEU of the captions together.
        counts: what each caption adds to BLEU, float64 [captions, 10]; see :func:`core.statistics.corpus_bleu`.
        n: captions that were compared.
    """

    means: Mapping[str, float]
    per_caption: Mapping[str, np.ndarray]
    counts: np.ndarray
    n: int


def compare(
    captions: Sequence[str | None],
    references: Sequence[Sequence[str]],
    *,
    documents: Sequence[Sequence[str]] | None = None,
) -> Compared:
    """Compare captions with their references.

    The weights of CIDEr-D come from the references of all the pictures given, as in pycocoevalcap. Of fewer than
    LEAST_PICTURES pictures there is none.

    Args:
        captions: n of them, each of a picture of its own unless ``documents`` says what the pictures are; an empty one
            is compared as pycocoevalcap does, None is not.
        references: captions by people of the same pictures, any number each; one without words is passed over.
        documents: references of every picture once, where several captions are of one: they weigh CIDEr-D's words.

    Raises:
        InvalidInput: if there is not one list of references a caption.
    """
    if len(captions) != len(references):
        raise InvalidInput(f"every caption has one list of references, got {len(captions)} and {len(references)}")
    lines = Lines()
    people = [lines.spoken(texts) for texts in references]
    pictures = [held for held in (people if documents is None else map(lines.spoken, documents)) if held]
    known = [place for place, texts in enumerate(people) if texts and captions[place] is not None]
    per_caption = {name: np.full(len(captions), np.nan) for name in METRICS}
    counts = np.full((len(captions), 2 * ORDERS + 2), np.nan)
    means = {}
    if known:
        own = [lines.add(captions[place] or "") for place in known]
        pairs = Pairs(lines, own, [people[place] for place in known])
        counts[known] = pairs.bleu_counts()
        means = dict(zip(BLEU, corpus_bleu(counts[known].sum(axis=0)).tolist(), strict=True))
        per_caption |= dict(zip(BLEU, corpus_bleu(counts).T, strict=True))
        per_caption[ROUGE][known] = pairs.rouge()
        if len(pictures) >= LEAST_PICTURES:
            per_caption[CIDER][known] = pairs.cider(pictures)
    return Compared(
        {name: means.get(name, _mean(per_caption[name])) for name in METRICS}, per_caption, counts, len(known)
    )


def fingerprint() -> str:
    """What the numbers depend on, in words."""
    return f"pycocoevalcap {metadata.version('pycocoevalcap')} (tokens {_TOKENS_VERSION})"


def _mean(values: np.ndarray) -> float:
    there = values[np.isfinite(values)]
    return float(there.mean()) if len(there) else float("nan")
