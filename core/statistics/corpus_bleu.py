"""BLEU of a set of captions, from what each caption adds to it.

References:
    [1] Papineni, K., Roukos, S., Ward, T. and Zhu, W.-J. (2002). BLEU: a method for automatic evaluation of machine
        translation. ACL, section 2.
"""

import numpy as np
from numpy.typing import ArrayLike

from core.errors import InvalidInput

ORDERS = 4
"""Longest n-gram that is counted."""


_TINY, _SMALL = 1e-15, 1e-9
"""What pycocoevalcap adds above and below each line of a fraction, so that no match is a small number and not 0."""


def corpus_bleu(counts: ArrayLike) -> np.ndarray:
    """BLEU-1 to BLEU-4 [1] of sums over captions.

    BLEU-k is the geometric mean of the precisions of 1- to k-grams, times exp(1 - r / c) where the captions together
    are shorter than their references.

    Args:
        counts: float64 [..., 10]: matched n-grams of length 1 to 4, n-grams of length 1 to 4, words of the caption c,
            words of the reference r that is closest in length; sums over captions.

    Returns:
        float64 [..., 4] in [0, 1]; next to 0 where no n-gram matches, or none is long enough.

    Example:
        >>> corpus_bleu([5, 3, 2, 1, 6, 5, 4, 3, 6, 6]).round(4).tolist()
        [0.8333, 0.7071, 0.63, 0.5373]
    """
    given = np.asarray(counts, dtype=np.float64)
    if given.shape[-1:] != (2 * ORDERS + 2,):
        raise InvalidInput(f"BLEU needs {2 * ORDERS + 2} counts a caption, got the shape {given.shape}")
    precisions = (given[..., :ORDERS] + _TINY) / (given[..., ORDERS : 2 * ORDERS] + _SMALL)
    bleu = np.cumprod(precisions, axis=-1) ** (1 / np.arange(1, ORDERS + 1))
    ratio = (given[..., -2:-1] + _TINY) / (given[..., -1:] + _SMALL)
    short: np.ndarray = bleu * np.exp(np.minimum(1 - 1 / ratio, 0))
    return short
