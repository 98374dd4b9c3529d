"""Captions paired with their references: what BLEU, ROUGE-L and CIDEr-D count, of all pairs at once.

References:
    [1] Lin (2004). ROUGE: a package for automatic evaluation of summaries. ACL workshop, section 3.
    [2] Vedantam, Zitnick and Parikh (2015). CIDEr: consensus-based image description evaluation. CVPR, equations 2 to
        4, and CIDEr-D of section 5.
"""

from collections.abc import Sequence
from itertools import chain

import numpy as np
from scipy import sparse

from core.scoring.grams import gram_counts, longest_common
from core.scoring.meteor import meteor_counts
from core.scoring.treebank import tokens
from core.statistics.corpus_bleu import ORDERS

_BETA = 1.2
"""Weight of recall against precision in ROUGE-L, in COCO's code."""

_SIGMA = 6.0
"""Spread of CIDEr-D's penalty for another length, in pairs of neighbouring words, which COCO's code counts."""


class Lines:
    """Texts cut into words, each different line once."""

    def __init__(self) -> None:
        self._by_text: dict[str, int] = {}
        self._by_line: dict[str, int] = {}

    def add(self, text: str) -> int:
        """The number of a text's line."""
        if (number := self._by_text.get(text)) is None:
            line = " ".join(tokens(text))
            number = self._by_text[text] = self._by_line.setdefault(line, len(self._by_line))
        return number

    def spoken(self, texts: Sequence[str]) -> list[int]:
        """Numbers of the lines of texts, without those that have no words."""
        nothing = self._by_line.setdefault("", len(self._by_line))
        return [number for text in texts if (number := self.add(text)) != nothing]

    def written(self) -> list[str]:
        """Every line, in the order of its number."""
        return list(self._by_line)


class Pairs:
    """n captions, each with its references.

    Args:
        lines: that hold all texts.
        own: line of each caption.
        theirs: lines of each caption's references, one or more.
    """

    def __init__(self, lines: Lines, own: Sequence[int], theirs: Sequence[Sequence[int]]) -> None:
        self._written = lines.written()
        self._theirs = theirs
        self._own = np.asarray(own, dtype=np.int64)
        self._caption = np.repeat(np.arange(len(own)), [len(each) for each in theirs])
        self._reference = np.fromiter(chain.from_iterable(theirs), dtype=np.int64)
        # some tokens hold a non-breaking space, which ends a word of BLEU and CIDEr and none of ROUGE
        self._words = [line.split() for line in self._written]
        self._counts = list(gram_counts(self._words))
        self._shared = [held[self._own[self._caption]].minimum(held[self._reference]) for held in self._counts]
        self._sizes = np.array([len(each) for each in self._words])

    def bleu_counts(self) -> np.ndarray:
        """What each caption adds to BLEU, float64 [n, 10]: see :func:`core.statistics.corpus_bleu.corpus_bleu`.

        The reference that is closest in length counts, of two the shorter.
        """
        n, own = len(self._own), self._sizes[self._own]
        matched = [_most(held, self._caption, n) for held in self._shared]
        there = [np.maximum(own - order, 0) for order in range(ORDERS)]
        theirs = self._sizes[self._reference]
        order = np.lexsort((theirs, np.abs(theirs - own[self._caption]), self._caption))
        closest = theirs[order[np.searchsorted(self._caption, np.arange(n))]]
        return np.column_stack([*matched, *there, own, closest]).astype(np.float64)

    def meteor_counts(self) -> np.ndarray:
        """What each caption adds to METEOR, float64 [n, 23]: see :func:`core.scoring.meteor.meteor_counts`."""
        return meteor_counts(
            [self._written[each] for each in self._own],
            [[self._written[each] for each in held] for held in self._theirs],
        )

    def rouge(self) -> np.ndarray:
        """ROUGE-L [1] of each caption, float64 [n]: the best precision and the best recall over its references."""
        cut = [line.split(" ") for line in self._written]
        best = np.zeros((len(self._own), 2))
        for place, (own, theirs) in enumerate(zip(self._own.tolist(), self._theirs, strict=True)):
            common = longest_common(cut[own], [cut[each] for each in theirs])
            covered = max(length / len(cut[each]) for length, each in zip(common, theirs, strict=True))
            best[place] = max(common) / len(cut[own]), covered
        precision, recall = best.T
        whole = recall + _BETA**2 * precision
        return np.divide((1 + _BETA**2) * precision * recall, whole, out=np.zeros_like(whole), where=whole > 0)

    def cider(self, pictures: Sequence[Sequence[int]]) -> np.ndarray:
        """CIDEr-D [2] of each caption, float64 [n].

        Args:
            pictures: lines of the references of every picture, whose words they weigh; two pictures or more.
        """
        rows = np.repeat(np.arange(len(pictures)), [len(each) for each in pictures])
        lines = np.fromiter(chain.from_iterable(pictures), dtype=np.int64)
        said = sparse.coo_array((np.ones(len(rows)), (rows, lines)), shape=(len(pictures), len(self._written))).tocsr()
        alike = sum(self._likeness(held, shared, said) for held, shared in zip(self._counts, self._shared, strict=True))
        pairs_of_words = np.maximum(self._sizes - 1, 0)
        apart = pairs_of_words[self._own[self._caption]] - pairs_of_words[self._reference]
        per_pair = 10 / ORDERS * np.exp(-(apart**2) / (2 * _SIGMA**2)) * alike
        n = len(self._own)
        return np.bincount(self._caption, per_pair, minlength=n) / np.bincount(self._caption, minlength=n)

    def _likeness(self, held: sparse.csr_array, shared: sparse.csr_array, said: sparse.csr_array) -> np.ndarray:
        """The cosine of each pair's runs of one length, weighed by the pictures that say them and clipped [2]."""
        holding = np.bincount((said @ held).indices, minlength=held.shape[1])
        squared = (np.log(said.shape[0]) - np.log(np.maximum(holding, 1))) ** 2
        norms = np.sqrt(held.power(2) @ squared)
        size = norms[self._own[self._caption]] * norms[self._reference]
        dots = shared.multiply(held[self._reference]) @ squared
        alike: np.ndarray = np.divide(dots, size, out=np.zeros_like(size), where=size > 0)
        return alike


def _most(shared: sparse.csr_array, caption: np.ndarray, n: int) -> np.ndarray:
    """How many runs of each caption a reference holds, each as often as the one that holds it most."""
    held = shared.tocoo()
    key = caption[held.row] * shared.shape[1] + held.col.astype(np.int64)
    order = np.argsort(key, kind="stable")
    key, values = key[order], held.data[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    if not len(first):
        return np.zeros(n)
    return np.bincount(key[first] // shared.shape[1], np.maximum.reduceat(values, first), minlength=n)
