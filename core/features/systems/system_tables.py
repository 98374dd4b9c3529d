"""Every table of a leaderboard, by the name of its file; and how often an edit changes which system is ahead."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from core.analysis.effects import bounds
from core.analysis.questions.columns import EVALUATOR
from core.analysis.questions.question import Column
from core.features.systems.system_board import (
    agreement,
    at_equal_length,
    beside,
    board,
    by_family,
    edits,
    edits_of,
    grid,
    places,
    rank_range,
    systems_of,
    whole_grid,
)
from core.features.systems.system_captions import best_of, health, scales
from core.features.systems.system_file import Leaderboard
from core.statistics.bootstrap import Interval
from core.statistics.shares import share_of_sums
from core.statistics.standings import neighbours, source_ranks

_Parts = Mapping[tuple[str, ...], Callable[[Leaderboard, tuple[str, ...], float], Sequence[pd.DataFrame]]]


def _edited(made: Leaderboard, chosen: tuple[str, ...], level: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    evaluators = tuple(made.evaluators)
    each = edits(made.rows, evaluators, chosen)
    leads = flips(made.rows, evaluators, chosen, level=level)
    return by_family(each).merge(leads, on=["evaluator", "family", "higher", "lower"], how="left"), each


_PARTS: _Parts = {
    ("standings", "differences"): lambda made, own, level: board(made.rows, tuple(made.evaluators), own, level=level),
    ("references",): lambda made, own, _: (made.beside[made.beside["system"].isin(own)].reset_index(drop=True),),
    ("swaps", "edits"): _edited,
    ("places",): lambda made, own, level: (places(made.rows, tuple(made.evaluators), own, level=level),),
    ("equal-length",): lambda made, own, level: (at_equal_length(made.rows, tuple(made.evaluators), own, level=level),),
    ("scales", "scale-bins"): lambda made, own, level: scales(made.rows, tuple(made.evaluators), own, level=level),
    ("agreement",): lambda made, own, level: (agreement(made.rows, tuple(made.evaluators), own, level=level),),
    ("health",): lambda made, own, level: (health(made.rows, own, level=level),),
    ("picks", "picked-systems"): lambda made, own, _: best_of(made.rows, tuple(made.evaluators), own),
}
"""Names of the tables that are made together -> what makes them of a leaderboard, its systems and a level."""


def made_with(name: str) -> str:
    """The first of the tables that are made together with this one."""
    return next(names[0] for names in _PARTS if name in names)


def tables(
    made: Leaderboard, *, systems: Sequence[str] = (), level: float = 0.95, only: str = ""
) -> dict[str, pd.DataFrame]:
    """Compute every table of the systems (empty: all), by the name of its file; ``only`` names one that is wanted,
    which comes with those that are made together with it. Raises InvalidInput if no picture has a score of all of
    them."""
    own = tuple(systems) or systems_of(made.rows)
    found: dict[str, pd.DataFrame] = {}
    for names, make in _PARTS.items():
        if not only or only in names:
            found |= zip(names, make(made, own, level), strict=True)
    return found


_SYSTEM, _N = Column("system", "System", kind="text"), Column("n_items", "n pictures", digits=0)
_BOTH = (EVALUATOR, Column("higher", "Higher", kind="text"), Column("lower", "Lower", kind="text"))

COLUMNS = {
    "standings": (
        Column("rank", "Rank", digits=0),
        _SYSTEM,
        Column("rank_interval", "Rank interval", kind="text"),
        Column("sure_ranks", "Sure ranks", kind="text"),
        Column("mean", "Mean [95 % CI]", digits=4, low="low", high="high"),
        Column("first_percent", "First, %", digits=1),
    ),
    "references": (
        _SYSTEM,
        Column("metric", "Metric", kind="text"),
        Column("value", "Value [95 % CI]", digits=4, low="low", high="high"),
        _N,
    ),
    "differences": (
        *_BOTH,
        Column("difference", "Difference [95 % CI]", digits=4, low="low", high="high"),
        Column("p_holm", "p, Holm", kind="p"),
        Column("sure", "Sure", kind="text"),
    ),
    "swaps": (
        *_BOTH,
        Column("family", "Family", kind="text"),
        Column("by", "Swapped by", kind="text"),
        Column("probability", "Probability, %", digits=1),
        Column("chance", "By chance, %", digits=1),
        Column("flips", "Lead flips, % [95 % CI]", digits=1, low="flips_low", high="flips_high"),
    ),
}
"""What a reader sees of a table, as :func:`worded` has it."""


def worded(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """A table of :data:`COLUMNS` with its intervals of ranks in words and its shares in percent."""
    if name == "standings":
        ranks = {
            called: [rank_range(*both) for both in zip(frame[f"{of}_low"], frame[f"{of}_high"], strict=True)]
            for called, of in (("rank_interval", "rank"), ("sure_ranks", "sure"))
        }
        return frame.assign(**ranks, first_percent=100 * frame["first"])
    if name == "differences":
        return frame.assign(sure=frame["sure"].map({True: "yes", False: "no"}))
    if name == "swaps":
        by = [f"{one} of {of} edits" for one, of in zip(frame["swapped"], frame["edits"], strict=True)]
        shares = ("probability", "chance", "flips", "flips_low", "flips_high")
        return frame.assign(by=by, **{each: 100 * frame[each] for each in shares})
    return frame


_COUNTS = ("tied_before", "tied_after", "n_pictures", "n_pairs")
FLIPS = ("evaluator", "family", "higher", "lower", *bounds("flips"), *bounds("sides"), *_COUNTS)


@dataclass(frozen=True, slots=True)
class LeadFlips:
    """How often the order of two systems' captions changes; a pair is a picture under an edit, with all four scores.

    Source: paper A, section 3.4, equation 1.
    """

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
                shares = (*found.pointwise.numbers(), *found.strict.numbers())
                counts = (found.tied_before, found.tied_after, found.pointwise.n, found.n_pairs)
                records.append((evaluator, family, systems[higher], systems[lower], *shares, *counts))
    return pd.DataFrame(records, columns=list(FLIPS))


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
