"""METEOR of a set of captions, from what each caption adds to it.

References:
    [1] Denkowski, M. and Lavie, A. (2014). Meteor Universal: language specific translation evaluation for any target
        language. Workshop on statistical machine translation, section 3; English parameters of table 1.
"""

import numpy as np
from numpy.typing import ArrayLike

from core.errors import InvalidInput

COUNTS = 23
"""Numbers that METEOR prints of a caption."""

_ALPHA, _BETA, _GAMMA, _DELTA = 0.85, 0.20, 0.60, 0.75
_WEIGHTS = (1.0, 0.6, 0.8, 0.6)
"""Of exact, stem, synonym and paraphrase matches."""


def corpus_meteor(counts: ArrayLike) -> np.ndarray:
    """METEOR [1] of sums over captions.

    With matches m weighed by kind, and content words by delta against function words, precision P and recall R::

        F = PR / (alpha P + (1 - alpha) R),     METEOR = F (1 - gamma (chunks / matches)^beta)

    Args:
        counts: float64 [..., 23], sums over captions: words of the caption and of its reference, function words of
            each; by kind of match, content words of either and function words of either; chunks; matched words of
            either. A caption that matches in whole and in one piece has no chunk.

    Returns:
        float64 [..., 1] in [0, 1].

    Example:
        >>> corpus_meteor([2, 6, 1, 3, 0, 0, 1, 1, *[0] * 12, 1, 1, 1]).round(4).tolist()
        [0.037]
    """
    given = np.asarray(counts, dtype=np.float64)
    if given.shape[-1:] != (COUNTS,):
        raise InvalidInput(f"METEOR needs {COUNTS} counts a caption, got the shape {given.shape}")
    lengths, functions, matched = given[..., 0:2], given[..., 2:4], given[..., 4:20].reshape(*given.shape[:-1], 4, 2, 2)
    weighed = _DELTA * (lengths - functions) + (1 - _DELTA) * functions
    hits = np.einsum("...kws,k,w->...s", matched, _WEIGHTS, [_DELTA, 1 - _DELTA])
    precision, recall = np.moveaxis(_ratio(hits, weighed), -1, 0)
    mean = _ratio(precision * recall, _ALPHA * precision + (1 - _ALPHA) * recall)
    penalty = _GAMMA * _ratio(given[..., 20], given[..., 21:].mean(axis=-1)) ** _BETA
    meteor: np.ndarray = (mean * (1 - penalty))[..., None]
    return meteor


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    shares: np.ndarray = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
    return shares
