"""Runs of words (n-grams) of many lines, counted at once."""

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
from scipy import sparse

from core.statistics.corpus_bleu import ORDERS


def gram_counts(lines: Sequence[Sequence[str]]) -> Iterator[sparse.csr_array]:
    """How often each line holds each run of 1, 2, … ORDERS words.

    Args:
        lines: m of them, each its words.

    Yields:
        float64 [m, runs of this length that there are], one matrix a length.
    """
    known: dict[str, int] = {}
    words = np.array([known.setdefault(word, len(known)) for word in chain.from_iterable(lines)], dtype=np.int64)
    line = np.repeat(np.arange(len(lines)), [len(each) for each in lines])
    starts, codes, kinds = np.arange(len(words)), words, len(known)
    for length in range(1, ORDERS + 1):
        held = (np.ones(len(codes)), (line[starts], codes))
        yield sparse.coo_array(held, shape=(len(lines), kinds)).tocsr()
        # a run grows by the word behind it while that is in its own line; runs are numbered anew, so that codes fit
        grows = starts + length < len(words)
        grows[grows] = line[starts[grows]] == line[starts[grows] + length]
        starts = starts[grows]
        grown = codes[grows] * (len(known) or 1) + words[starts + length]
        different, codes = np.unique(grown, return_inverse=True)
        kinds = len(different)


def longest_common(own: Sequence[str], others: Sequence[Sequence[str]]) -> list[int]:
    """Length of the longest common subsequence of words of a line with each of some others.

    Bit i of a whole number stands for word i of the line, so that a row of the usual table is one addition.

    References:
        Hyyrö, H. (2004). Bit-parallel LCS-length computation revisited. AWOCA, figure 2.

    Example:
        >>> longest_common(["a", "dog", "sits"], [["a", "cat", "sits"], ["dog"]])
        [2, 1]
    """
    places: dict[str, int] = {}
    for place, word in enumerate(own):
        places[word] = places.get(word, 0) | 1 << place
    every, found = (1 << len(own)) - 1, []
    for other in others:
        row = every
        for word in other:
            if (matches := places.get(word)) is not None:
                both = row & matches
                row = (row + both | row - both) & every
        found.append(len(own) - row.bit_count())
    return found
