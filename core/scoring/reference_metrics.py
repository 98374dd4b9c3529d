"""BLEU, ROUGE-L and CIDEr-D: captions beside those that people wrote, by their words alone.

The counting is pycocoevalcap's, which papers on captioning use. Its tokenizer is a program in Java and is not run here;
:func:`tokens` follows the same rules where captions need them and says where it does not.

References:
    [1] Papineni et al. (2002). BLEU: a method for automatic evaluation of machine translation. ACL.
    [2] Lin (2004). ROUGE: a package for automatic evaluation of summaries. ACL workshop.
    [3] Vedantam, Zitnick and Parikh (2015). CIDEr: consensus-based image description evaluation. CVPR. CIDEr-D.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata

import numpy as np

from core.errors import InvalidInput
from core.evaluators.references import BY_WORDS
from core.statistics.corpus_bleu import ORDERS, corpus_bleu

BLEU = tuple(f"BLEU-{order}" for order in range(1, ORDERS + 1))
ROUGE, CIDER = "ROUGE-L", "CIDEr-D"
METRICS = (*BLEU, ROUGE, CIDER)
"""In the order in which they are printed."""

NAMED = dict(zip(BY_WORDS, (BLEU[3], ROUGE, CIDER), strict=True))
"""Name in commands and on pages -> metric."""

TOKENIZER = "words in lower case without punctuation, 's and n't apart, by rules close to the Penn Treebank's"
"""How captions are cut into words, for where a number stands."""

LEAST_PICTURES = 2
"""Fewest pictures for CIDEr-D: a word's weight is log(pictures / pictures whose references say it), 0 for one."""

_TOKENS_VERSION = 1
_WORD = re.compile(r"\d+(?:[.,:]\d+)+|(?:[^\W\d_]\.){2,}|[^\W_]+(?:['’-][^\W_]+)*|[&%$#@+=*£€]")
_CLITIC = re.compile(r"(?<=.)(?=(?:n't|'s|'re|'ve|'ll|'d|'m)$)")


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


def tokens(caption: str) -> list[str]:
    """Cut a caption into words.

    As the Penn Treebank's tokenizer, whose output pycocoevalcap rids of punctuation: lower case; *'s*, *n't* and the
    like are words of their own; hyphens, numbers and *u.s.* stay whole; signs such as *&* and *%* are words. Otherwise
    than there: a full stop behind a title (*mr.*) is dropped, brackets leave no word, a slash divides.

    Example:
        >>> tokens("The dog's t-shirt isn't $3,000!")
        ['the', 'dog', "'s", 't-shirt', 'is', "n't", '$', '3,000']
    """
    words = _WORD.findall(caption.lower().replace("’", "'"))
    return [part for word in words for part in _parts(word)]


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
        references: captions by people of the same pictures, any number each.
        documents: references of every picture once, where several captions are of one: they weigh CIDEr-D's words.

    Raises:
        InvalidInput: if there is not one list of references a caption.
    """
    if len(captions) != len(references):
        raise InvalidInput(f"every caption has one list of references, got {len(captions)} and {len(references)}")
    said = [" ".join(tokens(each or "")) for each in captions]
    people = [_lines(texts) for texts in references]
    known = [place for place, texts in enumerate(people) if texts and captions[place] is not None]
    per_caption = {name: np.full(len(captions), np.nan) for name in METRICS}
    counts = np.full((len(captions), 2 * ORDERS + 2), np.nan)
    if known:
        own, theirs = _asked(said, known), _given(people, known)
        counts[known] = _counts(own, theirs)
        per_caption.update(_sentences(len(captions), known, own, theirs))
        weighing = people if documents is None else [_lines(texts) for texts in documents]
        pictures = [texts for texts in weighing if texts]
        if len(pictures) >= LEAST_PICTURES:
            per_caption[CIDER][known] = _cider(own, theirs, pictures)
    means = dict(zip(BLEU, corpus_bleu(np.nansum(counts, axis=0)).tolist(), strict=True)) if known else {}
    return Compared(
        {name: means.get(name, _mean(per_caption[name])) for name in METRICS}, per_caption, counts, len(known)
    )


def fingerprint() -> str:
    """What the numbers depend on, in words."""
    return f"pycocoevalcap {metadata.version('pycocoevalcap')} (tokens {_TOKENS_VERSION})"


_Lines = dict[str, list[str]]


def _parts(word: str) -> list[str]:
    if word == "cannot":
        return ["can", "not"]
    return _CLITIC.sub(" ", word).split()


def _asked(said: Sequence[str], places: Sequence[int]) -> _Lines:
    return {str(place): [said[place]] for place in places}


def _given(people: Sequence[list[str]], places: Sequence[int]) -> _Lines:
    return {str(place): people[place] for place in places}


def _sentences(size: int, places: Sequence[int], own: _Lines, theirs: _Lines) -> dict[str, np.ndarray]:
    """BLEU and ROUGE-L of each caption."""
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.rouge.rouge import Rouge

    found = {name: np.full(size, np.nan) for name in (*BLEU, ROUGE)}
    for name, values in zip(BLEU, Bleu(ORDERS).compute_score(theirs, own, verbose=0)[1], strict=True):
        found[name][places] = values
    found[ROUGE][places] = Rouge().compute_score(theirs, own)[1]
    return found


def _lines(texts: Sequence[str]) -> list[str]:
    """Texts as their words, without those that have none."""
    return [line for text in texts if (line := " ".join(tokens(text)))]


def _cider(own: _Lines, theirs: _Lines, pictures: Sequence[list[str]]) -> np.ndarray:
    from pycocoevalcap.cider.cider_scorer import CiderScorer

    class Weighed(CiderScorer):  # type: ignore[misc]  # the package is untyped
        """Scores with the logarithm of the number of pictures; the package takes that of the captions."""

        @property
        def ref_len(self) -> float:
            return math.log(len(pictures))

        @ref_len.setter
        def ref_len(self, _: object) -> None:
            """Passed over: the package sets its own."""

    documents, scorer = CiderScorer(), Weighed()
    for lines in pictures:
        documents += (None, lines)
    documents.compute_doc_freq()
    scorer.document_frequency = documents.document_frequency
    for key, (caption,) in own.items():
        scorer += (caption, theirs[key])
    return np.asarray(scorer.compute_cider(), dtype=np.float64)


def _counts(own: _Lines, theirs: _Lines) -> np.ndarray:
    """What each caption adds to BLEU; the reference that is closest in length counts, of two the shorter."""
    from pycocoevalcap.bleu.bleu_scorer import cook_refs, cook_test

    rows = []
    for key, (caption,) in own.items():
        held = cook_test(caption, cook_refs(theirs[key]))
        words = held["testlen"]
        closest = min((abs(length - words), length) for length in held["reflen"])[1]
        rows.append([*held["correct"], *held["guess"], words, closest])
    return np.array(rows, dtype=np.float64)


def _mean(values: np.ndarray) -> float:
    there = values[np.isfinite(values)]
    return float(there.mean()) if len(there) else float("nan")
