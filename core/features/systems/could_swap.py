"""With whom a system of a leaderboard could change places: by other pictures, or under a harmless edit."""

import pandas as pd

from core.probes.titles import family_title

OTHER_PICTURES = "other pictures"
"""Why two systems could change places whose difference is not sure."""


def could_swap(standings: pd.DataFrame, differences: pd.DataFrame, swaps: pd.DataFrame) -> list[str]:
    """Say of each system with whom it could change places, and by what; empty where nothing speaks for it.

    Args:
        standings: rows of one evaluator, ``core.features.systems.system_board.STANDINGS``.
        differences: its rows of DIFFERENCES; one that is not sure could turn round on other pictures.
        swaps: its rows of SWAPS; a family swaps two neighbours under one of whose edits their means change order.
    """
    why: dict[str, dict[str, list[str]]] = {}
    unsure = differences[~differences["sure"].astype(bool)].assign(by=OTHER_PICTURES)
    edited = swaps[swaps["swapped"] > 0]
    edited = edited.assign(by=edited["family"].map(lambda name: family_title(str(name))))
    for each in pd.concat([unsure, edited])[["higher", "lower", "by"]].itertuples(index=False):
        for one, other in ((each.higher, each.lower), (each.lower, each.higher)):
            why.setdefault(str(one), {}).setdefault(str(other), []).append(str(each.by))
    told = {one: "; ".join(f"{other}: {', '.join(by)}" for other, by in each.items()) for one, each in why.items()}
    return [told.get(str(system), "") for system in standings["system"]]
