"""Every table of a leaderboard, by the name of its file."""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from core.analysis.questions.columns import EVALUATOR
from core.analysis.questions.question import Column
from core.features.systems.lead_flips import flips
from core.features.systems.system_board import (
    agreement,
    at_equal_length,
    board,
    by_family,
    edits,
    places,
    rank_range,
    systems_of,
)
from core.features.systems.system_captions import best_of, health, scales
from core.features.systems.system_file import Leaderboard

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
