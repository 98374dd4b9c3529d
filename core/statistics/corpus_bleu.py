"""BLEU of a set of captions, from what each caption adds to it, with its interval.

References:
    [1] Papineni, K., Roukos, S., Ward, T. and Zhu, W.-J. (2002). BLEU: a method for automatic evaluation of machine
        translation. ACL, section 2.
"""

import numpy as np
from numpy.typing import ArrayLike

from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.bootstrap import Interval, expanded, too_few
from core.statistics.standings import drawn_means, source_ranks

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


def bleu_intervals(
    counts: ArrayLike, *, groups: ArrayLike | None = None, level: float = 0.95, seed: int = RUN_SEED
) -> tuple[Interval, ...]:
    """BLEU-1 to BLEU-4 of n captions, each with its percentile interval over bootstrap samples of them.

    Args:
        counts: of each caption, float64 [n, 10]; see :func:`corpus_bleu`.
        groups: source of each caption, shape [n]: those of one source are drawn together. None: each is one.
        level: confidence level in (0, 1).
        seed: of the draws.
    """
    table = np.asarray(counts, dtype=np.float64)
    n, nan = len(table), float("nan")
    sources = source_ranks(groups, n)
    count = int(sources.max()) + 1 if n else 0
    values = corpus_bleu(table.sum(axis=0)) if n else np.full(ORDERS, nan)
    if note := too_few(n, count):
        return tuple(Interval(value, nan, nan, n, level, note) for value in values.tolist())
    drawn = corpus_bleu(n * drawn_means(table, groups=sources, seed=seed))
    at = expanded(level, count)
    low, high = np.quantile(drawn, [(1 - at) / 2, (1 + at) / 2], axis=0)
    return tuple(Interval(value, float(low[k]), float(high[k]), n, level) for k, value in enumerate(values.tolist()))
