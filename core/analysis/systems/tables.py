"""Every table of a leaderboard, by the name of its file."""

from collections.abc import Sequence

import pandas as pd

from core.analysis.systems.best_of import best_of
from core.analysis.systems.board import agreement, at_equal_length, board, systems_of
from core.analysis.systems.edits import by_family, edits, places
from core.analysis.systems.file import Leaderboard
from core.analysis.systems.health import health
from core.analysis.systems.scales import scales


def tables(made: Leaderboard, *, systems: Sequence[str] = (), level: float = 0.95) -> dict[str, pd.DataFrame]:
    """Compute every table.

    Args:
        made: scores.
        systems: that are compared; empty: all.
        level: confidence level in (0, 1).

    Raises:
        InvalidInput: if no picture has a score of all of them.
    """
    chosen = tuple(systems) or systems_of(made.rows)
    names = tuple(made.evaluators)
    tops, pairs = board(made.rows, names, chosen, level=level)
    each = edits(made.rows, names, chosen)
    picks, shares = best_of(made.rows, names, chosen)
    scaled, bins = scales(made.rows, names, chosen, level=level)
    return {
        "standings": tops,
        "references": made.beside[made.beside["system"].isin(chosen)].reset_index(drop=True),
        "differences": pairs,
        "swaps": by_family(each),
        "edits": each,
        "places": places(made.rows, names, chosen, level=level),
        "equal-length": at_equal_length(made.rows, names, chosen, level=level),
        "scales": scaled,
        "scale-bins": bins,
        "agreement": agreement(made.rows, names, chosen, level=level),
        "health": health(made.rows, chosen, level=level),
        "picks": picks,
        "picked-systems": shares,
    }
