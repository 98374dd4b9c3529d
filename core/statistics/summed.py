"""Intervals of what is computed from sums over captions, such as BLEU and METEOR of a set."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from core.seeds import RUN_SEED
from core.statistics.bootstrap import Interval, expanded, too_few
from core.statistics.standings import drawn_means, source_ranks


def summed_intervals(
    counts: ArrayLike,
    score: Callable[[np.ndarray], np.ndarray],
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    seed: int = RUN_SEED,
) -> tuple[Interval, ...]:
    """Scores of n captions together, each with its percentile interval over bootstrap samples of them.

    Args:
        counts: what each caption adds, float64 [n, c].
        score: makes float64 [..., k] of sums [..., c].
        groups: source of each caption, shape [n]: those of one source are drawn together. None: each is one.
        level: confidence level in (0, 1).

    Returns:
        k intervals.
    """
    table = np.asarray(counts, dtype=np.float64)
    n, nan = len(table), float("nan")
    sources = source_ranks(groups, n)
    count = int(sources.max()) + 1 if n else 0
    values = score(table.sum(axis=0)) if n else np.full_like(score(np.zeros(table.shape[1])), nan)
    if note := too_few(n, count):
        return tuple(Interval(value, nan, nan, n, level, note) for value in values.tolist())
    drawn = score(n * drawn_means(table, groups=sources, seed=seed))
    at = expanded(level, count)
    low, high = np.quantile(drawn, [(1 - at) / 2, (1 + at) / 2], axis=0)
    return tuple(Interval(value, float(low[k]), float(high[k]), n, level) for k, value in enumerate(values.tolist()))
