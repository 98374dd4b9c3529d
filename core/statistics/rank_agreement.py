"""Do two scorings order alike? Rank correlations, pairwise preference accuracy, agreement on a direction.

Source: PROTOCOL section 3 (paper A, 3.3, B.4, B.7).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from core.errors import InvalidInput
from core.statistics.bootstrap import Interval
from core.statistics.by_source import ranks_of, source_means
from core.statistics.shares import share
from core.statistics.wording import counted


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """Rank correlations of two scorings of the same items.

    Args:
        spearman: ρ, mean ranks for ties; NaN where undefined.
        spearman_p: two-sided.
        kendall_b: τ_b, corrected for ties in either scoring.
        kendall_c: τ_c (Stuart), for scales of different numbers of levels, e.g. ratings of 1 to 4.
        kendall_p: two-sided, of the hypothesis that both τ are 0; of the sources' means where items share theirs.
        n: items that have both scores.
        note: why there is no value, or what p is of; empty otherwise.
    """

    spearman: float
    spearman_p: float
    kendall_b: float
    kendall_c: float
    kendall_p: float
    n: int
    note: str = ""


def rank_agreement(one: ArrayLike, other: ArrayLike, *, groups: ArrayLike | None = None) -> RankAgreement:
    """Spearman's ρ and Kendall's τ_b and τ_c.

    Args:
        one: scores, shape [n]; an item with a NaN in either is left out.
        other: scores or human ratings of the same items, shape [n].
        groups: source of each item, shape [n]; None: every item is one of its own. They change no coefficient, but
            the test counts a source once (:mod:`core.statistics.by_source`).

    Raises:
        InvalidInput: if the shapes differ.
    """
    a, b, ranks = _whole(one, other, groups)
    if len(a) < 2:
        return _undefined(len(a), "fewer than two items")
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return _undefined(len(a), "one of the scorings is constant")
    rho = stats.spearmanr(a, b)
    tau_b, tau_c = stats.kendalltau(a, b), stats.kendalltau(a, b, variant="c")
    spearman_p = float(rho.pvalue) if len(a) > 2 else math.nan
    p, note = (float(tau_b.pvalue), "") if ranks is None else _p_by_source(a, b, ranks)
    return RankAgreement(
        float(rho.statistic), spearman_p, float(tau_b.statistic), float(tau_c.statistic), p, len(a), note
    )


def spearman(one: ArrayLike, other: ArrayLike) -> tuple[float, int]:
    """The ρ of :func:`rank_agreement` and its n, in a tenth of the time: no pair of items is looked at."""
    a, b, _ = _whole(one, other, None)
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return math.nan, len(a)
    return float(stats.spearmanr(a, b).statistic), len(a)


def _p_by_source(a: np.ndarray, b: np.ndarray, ranks: np.ndarray) -> tuple[float, str]:
    """p of Kendall's τ between the sources' means, and what it is of."""
    one, other = source_means(a, ranks), source_means(b, ranks)
    if len(one) < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return math.nan, f"no test: the means of {counted(len(one), 'source')} do not differ in both scorings"
    return float(stats.kendalltau(one, other).pvalue), f"p: means of {counted(len(one), 'source')}"


def direction_agreement(
    shifts: pd.DataFrame, *, reference: str, by: Sequence[str] = ("evaluator", "family")
) -> pd.DataFrame:
    """Does every corpus shift the way the reference corpus does?

    The reference direction of a cell is the sign of its median shift on the reference corpus. An item agrees
    where its own median shift has that sign; an item that does not move counts 0.5.

    Args:
        shifts: rows of the store's ``shifts`` view; needs the columns in ``by`` and corpus, item, delta; source,
            where items share theirs: which then stand together in an interval.
        reference: name of the reference corpus, e.g. ``"coco"``.
        by: columns that make a cell.

    Returns:
        One row a (cell, other corpus): ``by`` + corpus, reference_median, median, same_direction (of the two
        medians; none where one is 0 or missing), agreement, low, high, n_items, note.

    Raises:
        InvalidInput: if no row is of the reference corpus.

    Source: paper A, B.4, Table 12, which does not print its formula.
    """
    if not (shifts["corpus"] == reference).any():
        known = ", ".join(sorted(map(str, shifts["corpus"].unique()))) or "none"
        raise InvalidInput(f"no shift is of the reference corpus {reference!r}; corpora here: {known}")
    keys = list(by)
    shifts = shifts if "source" in shifts else shifts.assign(source=shifts["item"])
    named = [*keys, "corpus", "source", "item"]
    items = shifts.groupby(named, observed=True)["delta"].median().dropna()
    medians = items.groupby(level=[*keys, "corpus"]).median()
    records = []
    for name, rows in items.reset_index().groupby([*keys, "corpus"], sort=True):
        *cell, corpus = name
        if corpus == reference:
            continue
        expected = float(medians.get((*cell, reference), math.nan))
        records.append({**dict(zip(keys, cell, strict=True)), "corpus": corpus, **_agreement(rows, expected)})
    return pd.DataFrame(records, columns=[*keys, "corpus", *_DIRECTION])


_DIRECTION = ("reference_median", "median", "same_direction", "agreement", "low", "high", "n_items", "note")


def _agreement(items: pd.DataFrame, expected: float) -> dict[str, object]:
    values = items["delta"]
    median = float(values.median())
    signs = np.sign(values.to_numpy()) * (0 if math.isnan(expected) else np.sign(expected))
    found = share((signs + 1) / 2, groups=items["source"].to_numpy(dtype=str))
    if math.isnan(expected) or expected == 0:
        found = Interval(math.nan, math.nan, math.nan, len(values), found.level, "the reference has no direction")
    undecided = math.isnan(expected) or expected * median == 0
    return {
        "reference_median": expected,
        "median": median,
        "same_direction": None if undecided else expected * median > 0,
        "agreement": found.estimate,
        "low": found.low,
        "high": found.high,
        "n_items": found.n,
        "note": found.note,
    }


def _whole(
    one: ArrayLike, other: ArrayLike, groups: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    a, b = (np.asarray(values, dtype=np.float64).ravel() for values in (one, other))
    if a.shape != b.shape:
        raise InvalidInput(f"two scorings of the same items have equal lengths, got {len(a)} and {len(b)}")
    whole = ~(np.isnan(a) | np.isnan(b))
    return a[whole], b[whole], ranks_of(None if groups is None else np.ravel(groups)[whole], int(whole.sum()))


def _undefined(n: int, note: str) -> RankAgreement:
    return RankAgreement(math.nan, math.nan, math.nan, math.nan, math.nan, n, note)
