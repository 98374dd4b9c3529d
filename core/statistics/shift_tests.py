"""Does a family shift a score? Two-sided paired tests, the correction for many of them, and effect sizes.

Source: PROTOCOL section 3 (paper A, A.6).
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from core.errors import InvalidInput
from core.seeds import RUN_SEED, stream
from core.statistics.by_source import named, ranks_of, source_means
from core.statistics.rank_tests import signed_rank
from core.statistics.wording import counted

NORMAL_AT = 0.05
"""Both samples pass for normal where Shapiro-Wilk gives at least this p."""

SHAPIRO_MOST = 5000
"""Shapiro-Wilk's p is not accurate above this n; larger samples are judged by a random part of this size."""

PAIRED_T, WILCOXON, NO_TEST = "paired t", "Wilcoxon signed-rank", "none"


@dataclass(frozen=True, slots=True)
class PairedTest:
    """One two-sided paired test.

    Args:
        name: PAIRED_T, WILCOXON or NO_TEST; the first two end in ``by source`` where the units are sources.
        statistic: t, or the smaller of the two rank sums; NaN without a test.
        p: NaN without a test.
        n: pairs whose two values are there, or the sources that they are of.
        note: why there is no test, or what it left out; empty otherwise.
    """

    name: str
    statistic: float
    p: float
    n: int
    note: str = ""


def paired_test(before: ArrayLike, after: ArrayLike, *, groups: ArrayLike | None = None) -> PairedTest:
    """Paired t where both samples pass for normal at 0.05 by Shapiro-Wilk, Wilcoxon signed-rank otherwise.

    Where items share their source, both samples are the sources' means: what a source's items share is no evidence
    twice; see :mod:`core.statistics.by_source`. The mean, since that of differences is the difference of the means.

    Args:
        before: baseline scores, shape [n].
        after: scores of the same items under the edit, shape [n]. A pair with a NaN is left out.
        groups: source of each item, shape [n]; None: every item is one of its own.

    Returns:
        The test. Fewer than two pairs or sources, or none that differs: no test, and ``note`` says so (p = 1 where
        nothing differs). Differences that are all equal go to Wilcoxon: t has no spread to divide by.

    Raises:
        InvalidInput: if the shapes differ or a value is infinite.

    Example:
        >>> paired_test([0, 0, 0, 0, 0, 0], [1, 2, 3, 4, 5, 60]).p
        0.03125
        >>> paired_test([0, 0, 0, 0, 0, 0], [1, 2, 3, 4, 5, 60], groups=[0, 0, 0, 0, 1, 1]).p
        0.5
    """
    first, second, ranks = _pairs(before, after, groups)
    if ranks is None:
        return _tested(first, second, "pair")
    found = _tested(source_means(first, ranks), source_means(second, ranks), "source")
    said = "; ".join(filter(None, (f"{counted(len(first), 'pair')} of {counted(found.n, 'source')}", found.note)))
    return replace(found, name=found.name if found.name == NO_TEST else named(found.name, ranks), note=said)


def _tested(first: np.ndarray, second: np.ndarray, unit: str) -> PairedTest:
    n, differences = len(first), second - first
    if n < 2:
        return PairedTest(NO_TEST, math.nan, math.nan, n, f"fewer than two {unit}s")
    if not differences.any():
        return PairedTest(NO_TEST, math.nan, 1.0, n, f"no {unit} differs")
    # neither test knows a unit: by a power of two, which rounds nothing, squares of huge or tiny scores stay numbers
    _, power = np.frexp(np.abs(np.concatenate([first, second])).max())
    first, second, differences = (np.ldexp(each, -int(power)) for each in (first, second, differences))
    spread = np.ptp(differences) > 1e-12
    if spread and _normal(first) and _normal(second):
        t = stats.ttest_rel(second, first)
        return PairedTest(PAIRED_T, float(t.statistic), float(t.pvalue), n)
    zeros = int((differences == 0).sum())
    statistic, p = signed_rank(differences)
    return PairedTest(WILCOXON, statistic, p, n, f"{counted(zeros, unit)} without a difference" if zeros else "")


def holm(p: ArrayLike) -> np.ndarray:
    """Holm-adjusted p-values of one table's tests; NaN (no test) stays NaN and is not counted.

    Args:
        p: p-values, shape [m].

    Returns:
        float64 [m].
    """
    values = np.asarray(p, dtype=np.float64)
    adjusted = np.full(values.shape, math.nan)
    tested = np.flatnonzero(~np.isnan(values))
    order = tested[np.argsort(values[tested], kind="stable")]
    stepped = values[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted


def holm_of_tests(p: ArrayLike, tests: ArrayLike, *, among: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Holm-adjusted p-values of the rows that are tests, and how many these are.

    Args:
        p: p-values, shape [n]; NaN where there is none.
        tests: name of each row's test, shape [n]; NO_TEST is none.
        among: rows that may count, bool [n]; None: all.

    Returns:
        float64 [n], NaN where a row is no test; int [n], 0 there.
    """
    values = np.asarray(p, dtype=np.float64)
    there = ~np.isnan(values) & (np.asarray(tests, dtype=object) != NO_TEST)
    there = there if among is None else there & among
    return holm(np.where(there, values, math.nan)), np.where(there, int(there.sum()), 0)


def cliffs_delta(after: ArrayLike, before: ArrayLike) -> float:
    """Cliff's δ = Pr[after > before] - Pr[after < before] over all pairs of values, in O(n log n).

    Args:
        after: first sample, shape [n]; NaN are left out.
        before: second sample, shape [m]; likewise.

    Returns:
        In [-1, 1], positive where ``after`` is larger; NaN where a sample is empty.

    Source: Cliff (1993), Psychological Bulletin 114(3), 494-509.

    Example:
        >>> cliffs_delta([3.0, 4.0], [1.0, 3.0])
        0.75
    """
    first, second = np.sort(_present(after)), np.sort(_present(before))  # searching in order stays in the cache
    if len(first) == 0 or len(second) == 0:
        return math.nan
    below = np.searchsorted(second, first, side="left")
    not_above = np.searchsorted(second, first, side="right")
    return float((below - (len(second) - not_above)).sum() / (len(first) * len(second)))


def standardised_shift(before: ArrayLike, after: ArrayLike) -> float:
    """Median shift in standard deviations of the baseline scores; compares evaluators of different scales.

    Returns:
        NaN where there are fewer than two pairs or the baseline scores are all equal.
    """
    first, second, _ = _pairs(before, after)
    if len(first) < 2 or np.ptp(first) == 0:
        return math.nan
    return float(np.median(second - first) / first.std(ddof=1))


def _normal(values: np.ndarray) -> bool:
    if len(values) < 3 or np.ptp(values) <= 1e-12 * np.abs(values).max():
        return False
    if len(values) > SHAPIRO_MOST:
        values = values[_looked_at(len(values))]
    return bool(stats.shapiro(values).pvalue >= NORMAL_AT)


@lru_cache(maxsize=16)  # 40 kB each: cells of one size are judged by the same places
def _looked_at(n: int) -> np.ndarray:
    """Places of the random part of n values that Shapiro-Wilk judges."""
    return np.asarray(stream(RUN_SEED, "shapiro").choice(n, SHAPIRO_MOST, replace=False))


def _present(values: ArrayLike) -> np.ndarray:
    found = np.asarray(values, dtype=np.float64).ravel()
    return found[~np.isnan(found)]


def _pairs(
    before: ArrayLike, after: ArrayLike, groups: ArrayLike | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Both samples where both values are there, and the ranks of their sources where some share theirs."""
    first, second = (np.asarray(values, dtype=np.float64).ravel() for values in (before, after))
    if first.shape != second.shape:
        raise InvalidInput(f"paired values come in equal numbers, got {len(first)} and {len(second)}")
    if np.isinf(first).any() or np.isinf(second).any():
        raise InvalidInput("scores must be finite or NaN, got an infinite one; drop it and count it")
    whole = ~(np.isnan(first) | np.isnan(second))
    of = None if groups is None else np.asarray(groups).ravel()
    if of is not None and of.shape != first.shape:
        raise InvalidInput(f"each pair needs its source: got {len(first)} pairs and {len(of)} sources")
    return first[whole], second[whole], ranks_of(None if of is None else of[whole], int(whole.sum()))
