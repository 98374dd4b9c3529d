"""The leaderboard under harmless edits: which neighbours swap, how probably, and who can be where."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.analysis.systems.board import Grid, grid, whole_grid
from core.statistics.bootstrap import expanded, too_few
from core.statistics.standings import DRAWS, Swap, drawn_means, neighbours, placed, rank_bounds, source_ranks, swap

SWAPS = (
    "evaluator", "family", "higher", "lower", "gap", "edits", "swapped", "probability", "chance", "least_n", "note",
)  # fmt: skip
EDITS = (
    "evaluator", "family", "probe", "higher", "lower", "gap_before", "gap_after", "swapped", "probability", "chance",
    "n_items", "note",
)  # fmt: skip
PLACES = ("evaluator", "family", "system", "rank_low", "rank_high", "edits", "least_n", "note")


def edits(rows: pd.DataFrame, evaluators: Sequence[str], systems: Sequence[str]) -> pd.DataFrame:
    """What each edit does to every two neighbours of the unedited leaderboard; EDITS.

    The gap before is that of the items that both systems have under the edit too.
    """
    records = []
    for evaluator in evaluators:
        held = whole_grid(rows, evaluator, systems)
        pairs = neighbours(held.scores.mean(axis=0))
        clean = grid(rows, evaluator, systems, whole=False)
        for family, probe in _edits(rows, evaluator):
            edited = _beside(clean, grid(rows, evaluator, systems, probe=probe, whole=False))
            for pair in pairs:
                found = swap(clean.scores[:, pair], edited[:, pair], groups=clean.sources)
                records.append((evaluator, family, probe, *(systems[each] for each in pair), *_told(found)))
    return pd.DataFrame(records, columns=list(EDITS))


def by_family(table: pd.DataFrame) -> pd.DataFrame:
    """The edits of each family together: probabilities are means over its edits, all weighing alike; SWAPS.

    Args:
        table: of :func:`edits`.
    """
    records = []
    for (evaluator, family, higher, lower), part in table.groupby(
        ["evaluator", "family", "higher", "lower"], sort=False, observed=True
    ):
        told = next((note for note in part["note"] if note), "")
        records.append(
            (
                evaluator, family, higher, lower, float(part["gap_before"].mean()), len(part),
                int(part["swapped"].sum()), float(part["probability"].mean(skipna=False)),
                float(part["chance"].mean(skipna=False)), int(part["n_items"].min()), told,
            )
        )  # fmt: skip
    return pd.DataFrame(records, columns=list(SWAPS))


def places(
    rows: pd.DataFrame, evaluators: Sequence[str], systems: Sequence[str], *, level: float = 0.95
) -> pd.DataFrame:
    """Rank intervals under each family: over bootstrap samples of items and the family's edits together; PLACES.

    Of each edit the items count that every system has a score of under it.
    """
    records = []
    for evaluator in evaluators:
        for family in dict.fromkeys(name for name, _ in _edits(rows, evaluator)):
            probes = [probe for name, probe in _edits(rows, evaluator) if name == family]
            grids = [grid(rows, evaluator, systems, probe=probe) for probe in probes]
            sources = [source_ranks(each.sources, len(each.items)) for each in grids]
            counts = [int(each.max()) + 1 if len(each) else 0 for each in sources]
            note = next(
                (said for each, m in zip(grids, counts, strict=True) if (said := too_few(len(each.items), m))), ""
            )
            low = high = np.full(len(systems), np.nan)
            if not note:
                drawn = np.concatenate(
                    [
                        drawn_means(each.scores, groups=of, resamples=DRAWS)
                        for each, of in zip(grids, sources, strict=True)
                    ]
                )
                low, high = rank_bounds(*placed(drawn), level=expanded(level, min(counts)))
            least = min(len(each.items) for each in grids)
            records += [
                (evaluator, family, system, float(low[place]), float(high[place]), len(probes), least, note)
                for place, system in enumerate(systems)
            ]
    return pd.DataFrame(records, columns=list(PLACES))


def _edits(rows: pd.DataFrame, evaluator: str) -> list[tuple[str, str]]:
    """Family and name of every edit that an evaluator scored, in the order of the rows."""
    own = rows[(rows["evaluator"] == evaluator) & (rows["probe"] != "")]
    return list(own[["family", "probe"]].drop_duplicates().itertuples(index=False, name=None))


def _beside(clean: Grid, edited: Grid) -> np.ndarray:
    """Edited scores in the order of the unedited items; NaN where an item has none."""
    row = {item: place for place, item in enumerate(edited.items)}
    found = np.full(clean.scores.shape, np.nan)
    for place, item in enumerate(clean.items):
        if item in row:
            found[place] = edited.scores[row[item]]
    return found


def _told(found: Swap) -> tuple[object, ...]:
    return (found.before, found.after, found.swapped, found.probability, found.chance, found.n, found.note)
