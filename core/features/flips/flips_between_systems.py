"""Risk of ranking flip of two real systems: does a harmless edit change which of them is ahead?

Two definitions, both reported: *pointwise*, over items and transforms, and *system-level*, whether the order
of the two means changes. Source: paper A, section 3.4, equation 1.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.bootstrap import RESAMPLES, Interval
from core.statistics.shares import share_of_sums

COLUMNS = ("corpus", "item", "probe", "a_before", "b_before", "a_after", "b_after")
"""What a table of two systems needs: the scores of both captions on the unedited and on the edited image."""

_CHUNK = 2_000_000  # weights held at once: 16 MB


@dataclass(frozen=True, slots=True)
class SystemFlips:
    """How often the order of two systems changes.

    Args:
        pointwise: share of (item, transform) pairs with sign Δ_S(x, t) ≠ sign Δ_S(x, id), as equation 1 is
            printed: a tie that is broken and a lead that becomes a tie count as flips; interval over items' sources.
        strict: the same where only a lead that changes sides counts.
        tied_before: number of pairs that tie on the unedited image.
        tied_after: number of pairs that tie on the edited image.
        system: share of transforms under which the order of the means changes (ties as in ``pointwise``).
        gap: mean score of A minus that of B on unedited images.
        gaps: per transform: probe, gap_before, gap_after (same items), flips (the order of the means
            changes), unstable (share of bootstrap samples of items, those of one source together, in which it
            changes), n_items.
        n_pairs: pairs whose four scores are there.
        n_missing: pairs that lack one; left out.
    """

    pointwise: Interval
    strict: Interval
    tied_before: int
    tied_after: int
    system: float
    gap: float
    gaps: pd.DataFrame
    n_pairs: int
    n_missing: int


def system_flips(
    pairs: pd.DataFrame, *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = RUN_SEED
) -> SystemFlips:
    """Both risks of one family and one evaluator.

    Args:
        pairs: one row an (item, transform), COLUMNS; NaN where a score is missing. A column source says what several
            items share; without it every item is one of its own.
        level: confidence level of the pointwise intervals.
        resamples: bootstrap samples of sources.
        seed: seed of the draws.

    Returns:
        See :class:`SystemFlips`; NaN with a note where no pair is whole.

    Raises:
        InvalidInput: if a column is missing.
    """
    marked = flipped_pairs(pairs)
    if "source" not in marked:
        marked = marked.assign(source=marked["corpus"] + "\x1f" + marked["item"])
    whole = marked.dropna(subset=list(COLUMNS[3:]))
    rng = np.random.default_rng(seed)
    gaps = _by_transform(whole, resamples, rng)
    clean = whole.drop_duplicates(["corpus", "item", "gap_before"])
    return SystemFlips(
        pointwise=_share(whole, "flips", level),
        strict=_share(whole, "changes_sides", level),
        tied_before=int((whole["gap_before"] == 0).sum()),
        tied_after=int((whole["gap_after"] == 0).sum()),
        system=float(gaps["flips"].mean()) if len(gaps) else math.nan,
        gap=float(clean.groupby(["corpus", "item"])["gap_before"].mean().mean()) if len(clean) else math.nan,
        gaps=gaps,
        n_pairs=len(whole),
        n_missing=len(pairs) - len(whole),
    )


def flipped_pairs(pairs: pd.DataFrame) -> pd.DataFrame:
    """Mark each pair: gap_before, gap_after, flips (equation 1), changes_sides (no tie on either side).

    Returns:
        The rows of ``pairs`` with these four columns more; where a score is missing the gap is NaN and
        neither mark is set.

    Raises:
        InvalidInput: if a column is missing.
    """
    missing = [name for name in COLUMNS if name not in pairs.columns]
    if missing:
        raise InvalidInput(f"two systems are compared by {', '.join(COLUMNS)}; the table lacks {', '.join(missing)}")
    before, after = pairs["a_before"] - pairs["b_before"], pairs["a_after"] - pairs["b_after"]
    whole = before.notna() & after.notna()
    return pairs.assign(
        gap_before=before,
        gap_after=after,
        flips=whole & (np.sign(before) != np.sign(after)),
        changes_sides=np.sign(before) * np.sign(after) == -1,
    )


def _share(pairs: pd.DataFrame, mark: str, level: float) -> Interval:
    """Share of marked pairs, every item with the same weight, with Wilson's interval over sources."""
    by_item = pairs.groupby(["corpus", "item"], observed=True)
    shares, sources = by_item[mark].mean().to_numpy(np.float64), pd.factorize(by_item["source"].first())[0]
    n = len(shares)
    if n < 2:
        note = "one item has no interval" if n else "no pairs"
        return Interval(float(shares[0]) if n else math.nan, math.nan, math.nan, n, level, note)
    transforms = pairs["probe"].nunique()
    found = share_of_sums(transforms * np.bincount(sources, shares), transforms * np.bincount(sources), level=level)
    return replace(found, n=n)


def _by_transform(pairs: pd.DataFrame, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    records = []
    for probe, rows in pairs.groupby("probe", sort=True, observed=True):
        by_item = rows.groupby(["corpus", "item"], observed=True)
        means = by_item[["gap_before", "gap_after"]].mean()
        before, after = means.mean()
        sums = means.groupby(by_item["source"].first().to_numpy()).sum().to_numpy()  # a sign needs no division
        drawn = np.sign(_bootstrap_sums(sums, resamples, rng))
        records.append(
            {
                "probe": probe,
                "gap_before": float(before),
                "gap_after": float(after),
                "flips": bool(np.sign(before) != np.sign(after)),
                "unstable": float((drawn[:, 0] != drawn[:, 1]).mean()),
                "n_items": len(means),
            }
        )
    return pd.DataFrame(records, columns=["probe", "gap_before", "gap_after", "flips", "unstable", "n_items"])


def _bootstrap_sums(values: np.ndarray, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Sums of bootstrap samples of rows, shape [n, c] → [resamples, c]."""
    n = len(values)
    sums = np.empty((resamples, values.shape[1]))
    step = max(1, _CHUNK // n)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        picks = rng.integers(n, size=(rows, n)) + n * np.arange(rows)[:, None]
        sums[start : start + rows] = np.bincount(picks.ravel(), minlength=rows * n).reshape(rows, n) @ values
    return sums
