"""Picture by picture: how often a harmless edit changes which of two systems' captions is ahead.

Source: paper A, section 3.4, equation 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from core.features.systems.system_board import beside, edits_of, grid, whole_grid
from core.statistics.bootstrap import Interval
from core.statistics.shares import share_of_sums
from core.statistics.standings import neighbours, source_ranks

FLIPS = (
    "evaluator",
    "family",
    "higher",
    "lower",
    "flips",
    "flips_low",
    "flips_high",
    "sides",
    "sides_low",
    "sides_high",
    "tied_before",
    "tied_after",
    "n_pictures",
    "n_pairs",
)


@dataclass(frozen=True, slots=True)
class LeadFlips:
    """How often the order of two systems' captions changes; a pair is a picture under an edit, with all four scores."""

    # share of pairs with sign Δ_S(x, t) ≠ sign Δ_S(x, id), as equation 1 is printed: a tie that is broken and a lead
    # that becomes a tie count as flips. Every picture weighs the same; n counts pictures.
    pointwise: Interval
    strict: Interval  # the same where only a lead that changes sides counts
    tied_before: int  # pairs that tie on the unedited picture
    tied_after: int  # pairs that tie on the edited picture
    n_pairs: int  # whose four scores are there; the others are left out


def lead_flips(
    before: np.ndarray, after: np.ndarray, *, sources: Sequence[str] | None = None, level: float = 0.95
) -> LeadFlips:
    """Count the pictures whose lead flips, with Wilson's interval over sources (none: each picture is one of its own).

    ``before``: score of A less that of B on each unedited picture, float64 [pictures], NaN where one is missing;
    ``after``: the same under each edit, float64 [edits, pictures].
    """
    whole = np.isfinite(before) & np.isfinite(after)
    one, other = np.sign(before), np.sign(after)
    return LeadFlips(
        pointwise=_share(whole & (one != other), whole, sources, level),
        strict=_share(whole & (one * other == -1), whole, sources, level),
        tied_before=int((whole & (one == 0)).sum()),
        tied_after=int((whole & (other == 0)).sum()),
        n_pairs=int(whole.sum()),
    )


def flips(
    rows: pd.DataFrame, evaluators: Sequence[str], systems: Sequence[str], *, level: float = 0.95
) -> pd.DataFrame:
    """Count for every two neighbours of the unedited leaderboard, under each family of edits; FLIPS. Raises as
    :func:`core.features.systems.system_board.whole_grid`."""
    records = []
    for evaluator in evaluators:
        pairs = neighbours(whole_grid(rows, evaluator, systems).scores.mean(axis=0))
        clean, every = grid(rows, evaluator, systems, whole=False), edits_of(rows, evaluator)
        for family in dict.fromkeys(name for name, _ in every):
            own = [grid(rows, evaluator, systems, probe=probe, whole=False) for name, probe in every if name == family]
            edited = np.stack([beside(clean, each) for each in own])
            for higher, lower in pairs:
                gaps = [each[..., higher] - each[..., lower] for each in (clean.scores, edited)]
                found = lead_flips(*gaps, sources=clean.sources, level=level)
                records.append((evaluator, family, systems[higher], systems[lower], *_told(found)))
    return pd.DataFrame(records, columns=list(FLIPS))


def _told(found: LeadFlips) -> tuple[float, ...]:
    ends = [end for each in (found.pointwise, found.strict) for end in (each.estimate, each.low, each.high)]
    return *ends, found.tied_before, found.tied_after, found.pointwise.n, found.n_pairs


def _share(marks: np.ndarray, whole: np.ndarray, sources: Sequence[str] | None, level: float) -> Interval:
    """Share of marked pairs, every picture with the same weight."""
    counts = whole.sum(axis=0)
    kept = counts > 0
    shares = marks.sum(axis=0)[kept] / counts[kept]
    n = len(shares)
    if n < 2:
        estimate, note = (float(shares[0]), "one picture has no interval") if n else (np.nan, "no pairs")
        return Interval(estimate, np.nan, np.nan, n, level, note)
    of = source_ranks(None if sources is None else np.asarray(sources)[kept], n)
    edits = int(whole.any(axis=1).sum())
    found = share_of_sums(edits * np.bincount(of, shares), edits * np.bincount(of), level=level)
    return replace(found, n=n)
