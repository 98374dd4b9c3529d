"""Captioners ranked by battles: by people's verdicts, and by which caption an evaluator scores higher.

Win rates have Wilson intervals over images. Strengths are those of Bradley and Terry; where they are not finite, the
win rates stand alone. Ranks and the agreement of both orders have intervals over images: in every sample both sides
rank anew (:mod:`core.statistics.battles`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from core.corpora.suites import Compared, Suite
from core.scoring.suites import SuiteScores
from core.statistics.battles import Battles, TwoOrders, two_orders
from core.statistics.bootstrap import Interval
from core.statistics.shares import share

NO_STRENGTH = "no finite strengths: some captioners won, or lost, every battle with the others"


@dataclass(frozen=True, slots=True)
class Ranks:
    """Captioners in both orders.

    Args:
        table: a row a captioner, the best of people's first: system, n, people, people_low, people_high, metric,
            metric_low, metric_high (win rates in percent), people_strength, metric_strength, people_rank,
            people_rank_low, people_rank_high, metric_rank, metric_rank_low, metric_rank_high.
        spearman: ρ of both orders, over images; NaN with fewer than three captioners, or where one order is all ties.
        kendall: τ_b of both orders, likewise.
        battles: that both sides decided.
        note: why there are no strengths or no intervals; empty where there are.
    """

    table: pd.DataFrame
    spearman: Interval
    kendall: Interval
    battles: int
    note: str = ""


def ranked(suite: Suite, scores: SuiteScores) -> Ranks | None:
    """Rank the captioners of a suite of battles; None where it names none.

    Args:
        suite: whose comparisons name two systems each.
        scores: in its order; a battle without both scores is left out of both orders.
    """
    preferred, other = (np.atleast_2d(each).mean(axis=0) for each in (scores.preferred, scores.other))
    known = [bool(each.systems) for each in suite.compared]
    kept = np.flatnonzero(~np.isnan(preferred + other) & np.array(known, dtype=bool))
    if not len(kept):
        return None
    battles = [suite.compared[place] for place in kept]
    people = np.array([0.5 if each.tied else 1.0 for each in battles])
    metric = (preferred > other)[kept] + 0.5 * (preferred == other)[kept]
    systems = sorted({name for each in battles for name in each.systems})
    sides = {"people": people, "metric": metric}
    found = two_orders(_battles(battles, np.array(list(sides.values())), systems))
    table = pd.DataFrame({"system": systems})
    for side, (name, first) in enumerate(sides.items()):
        rates = _rates(battles, first, systems)
        table["n"] = rates["n"]
        table[[name, f"{name}_low", f"{name}_high"]] = rates[["rate", "low", "high"]]
        table[f"{name}_strength"] = found.strengths[side]
        table[f"{name}_rank"] = stats.rankdata(-found.orders[side].round(9), method="min").astype(int)
        table[f"{name}_rank_low"], table[f"{name}_rank_high"] = found.low[side], found.high[side]
    table = table.sort_values(["people_rank", "system"], kind="stable").reset_index(drop=True)
    return Ranks(table, found.spearman, found.kendall, len(battles), _note(found))


def _battles(battles: Sequence[Compared], won: np.ndarray, systems: Sequence[str]) -> Battles:
    place = {name: number for number, name in enumerate(systems)}
    pairs = np.array([[place[name] for name in each.systems] for each in battles])
    pictures = np.unique([each.image for each in battles], return_inverse=True)[1]
    return Battles(pairs, won, pictures, len(systems))


def _note(found: TwoOrders) -> str:
    """Why there are no strengths or no intervals, and where win rates stand in."""
    strong = not np.isnan(found.strengths).any()
    said = [] if strong else [NO_STRENGTH]
    if strong and found.without > 0:
        said.append(f"win rates rank in {100 * found.without:.1f} % of the samples, which have no finite strengths")
    agreements = (found.spearman, found.kendall)
    return "; ".join([*said, *dict.fromkeys(each.note for each in agreements if each.note)])


def _rates(battles: Sequence[Compared], first: np.ndarray, systems: Sequence[str]) -> pd.DataFrame:
    """Battles and win rate in percent with its interval of every system; ``first`` is what the first side won."""
    rows = pd.DataFrame(
        {
            "system": [name for each in battles for name in each.systems],
            "image": [each.image for each in battles for _ in each.systems],
            "won": np.stack([first, 1 - first], axis=1).ravel(),
        }
    )
    found = [share(part["won"], groups=part["image"]) for part in (rows[rows["system"] == name] for name in systems)]
    return pd.DataFrame(
        {
            "n": [each.n for each in found], "rate": [100 * each.estimate for each in found],
            "low": [100 * each.low for each in found], "high": [100 * each.high for each in found],
        }
    )  # fmt: skip
