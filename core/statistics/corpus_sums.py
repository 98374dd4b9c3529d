"""BLEU and METEOR of a set of captions, from what each caption adds to it, with intervals.

References:
    [1] Papineni, K., Roukos, S., Ward, T. and Zhu, W.-J. (2002). BLEU: a method for automatic evaluation of machine
        translation. ACL, section 2.
    [2] Denkowski, M. and Lavie, A. (2014). Meteor Universal: language specific translation evaluation for any target
        language. Workshop on statistical machine translation, section 3; English parameters of table 1.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from core.errors import InvalidInput
from core.statistics.bootstrap import Interval, expanded, too_few
from core.statistics.standings import drawn_means, source_ranks

ORDERS = 4  # longest n-gram that is counted

_TINY, _SMALL = 1e-15, 1e-9
"""What pycocoevalcap adds above and below each line of a fraction, so that no match is a small number and not 0."""


def corpus_bleu(counts: ArrayLike) -> np.ndarray:
    """BLEU-1 to BLEU-4 [1] of sums over captions.

    BLEU-k is the geometric mean of the precisions of 1- to k-grams, times exp(1 - r / c) where the captions together
    are shorter than their references. ``counts``: float64 [..., 10]: matched n-grams of length 1 to 4, n-grams of
    length 1 to 4, words of the caption c, words of the reference r that is closest in length; sums over captions.
    Returns float64 [..., 4] in [0, 1]; next to 0 where no n-gram matches, or none is long enough.

    >>> corpus_bleu([5, 3, 2, 1, 6, 5, 4, 3, 6, 6]).round(4).tolist()
    [0.8333, 0.7071, 0.63, 0.5373]
    """
    given = np.asarray(counts, dtype=np.float64)
    if given.shape[-1:] != (2 * ORDERS + 2,):
        raise InvalidInput(f"BLEU needs {2 * ORDERS + 2} counts a caption, got the shape {given.shape}")
    precisions = (given[..., :ORDERS] + _TINY) / (given[..., ORDERS : 2 * ORDERS] + _SMALL)
    bleu = np.cumprod(precisions, axis=-1) ** (1 / np.arange(1, ORDERS + 1))
    ratio = (given[..., -2:-1] + _TINY) / (given[..., -1:] + _SMALL)
    return np.asarray(bleu * np.exp(np.minimum(1 - 1 / ratio, 0)))


COUNTS = 23  # numbers that METEOR prints of a caption
_ALPHA, _BETA, _GAMMA, _DELTA = 0.85, 0.20, 0.60, 0.75
_WEIGHTS = (1.0, 0.6, 0.8, 0.6)  # of exact, stem, synonym and paraphrase matches


def corpus_meteor(counts: ArrayLike) -> np.ndarray:
    """METEOR [2] of sums over captions.

    With matches m weighed by kind, and content words by delta against function words, precision P and recall R::

        F = PR / (alpha P + (1 - alpha) R),     METEOR = F (1 - gamma (chunks / matches)^beta)
    ``counts``: float64 [..., 23], sums over captions: words of the caption and of its reference, function words of
    each; by kind of match, content words of either and function words of either; chunks; matched words of either. A
    caption that matches in whole and in one piece has no chunk.
    Returns: float64 [..., 1] in [0, 1].

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
    return np.asarray((mean * (1 - penalty))[..., None])


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.asarray(np.divide(above, below, out=np.zeros_like(above), where=below > 0))


def summed_intervals(
    counts: ArrayLike, score: Callable[[np.ndarray], np.ndarray], *, groups: ArrayLike | None = None
) -> tuple[Interval, ...]:
    """Scores of n captions together, each with its 95 % percentile interval over bootstrap samples of them. Returns k
    intervals.
    ``counts``: what each caption adds, float64 [n, c]. ``score``: makes float64 [..., k] of sums [..., c].
    ``groups``: source of each caption, shape [n]: those of one source are drawn together. None: each is one."""
    table = np.asarray(counts, dtype=np.float64)
    n, nan = len(table), float("nan")
    sources = source_ranks(groups, n)
    count = int(sources.max()) + 1 if n else 0
    values = score(table.sum(axis=0)) if n else np.full_like(score(np.zeros(table.shape[1])), nan)
    if note := too_few(n, count):
        return tuple(Interval(value, nan, nan, n, 0.95, note) for value in values.tolist())
    drawn = score(n * drawn_means(table, groups=sources))
    at = expanded(0.95, count)
    low, high = np.quantile(drawn, [(1 - at) / 2, (1 + at) / 2], axis=0)
    return tuple(Interval(value, float(low[k]), float(high[k]), n, 0.95) for k, value in enumerate(values.tolist()))
