"""Captioners ranked by battles: by people's verdicts, and by which caption an evaluator scores higher.

Win rates have Wilson intervals over images. Strengths are those of Bradley and Terry: log odds of winning, mean 0,
a tie half a win for each side. They exist where no captioner, and no group of them, won or lost every battle with the
others [1]; elsewhere the win rates stand alone.

References:
    [1] Ford, L. R. (1957). Solution of a ranking problem from binary comparisons. Amer. Math. Monthly 64(8), 28-33.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy import stats
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from core.corpora.suites import Compared, Suite
from core.scoring.suites import SuiteScores
from core.statistics.shares import share

NO_STRENGTH = "no finite strengths: some captioners won, or lost, every battle with the others"


@dataclass(frozen=True, slots=True)
class Ranks:
    """Captioners in both orders.

    Args:
        table: a row a captioner, the best of people's first: system, n, people, people_low, people_high, metric,
            metric_low, metric_high (win rates in percent), people_strength, metric_strength, people_rank, metric_rank.
        spearman: ρ of both orders; NaN with fewer than three captioners, or where one order is all ties.
        kendall: τ_b of both orders, likewise.
        note: why there are no strengths; empty where there are.
    """

    table: pd.DataFrame
    spearman: float
    kendall: float
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
    sides = {"people": _side(battles, people, systems), "metric": _side(battles, metric, systems)}
    table = pd.DataFrame({"system": systems, "n": sides["people"]["n"]})
    for name, frame in sides.items():
        table[[name, f"{name}_low", f"{name}_high", f"{name}_strength"]] = frame[["rate", "low", "high", "strength"]]
    strong = not table[["people_strength", "metric_strength"]].isna().any(axis=None)
    orders = [table[f"{name}_strength" if strong else name].to_numpy() for name in sides]
    for name, order in zip(sides, orders, strict=True):
        table[f"{name}_rank"] = stats.rankdata(-order, method="min").astype(int)
    rho, tau = _agree(*orders)
    table = table.sort_values(["people_rank", "system"], kind="stable").reset_index(drop=True)
    return Ranks(table, rho, tau, "" if strong else NO_STRENGTH)


def _side(battles: Sequence[Compared], first: np.ndarray, systems: Sequence[str]) -> pd.DataFrame:
    """Win rate in percent with its interval, and strength, of every system; ``first`` is what the first side won."""
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
            "strength": strengths([each.systems for each in battles], first, systems),
        }
    )  # fmt: skip


def strengths(pairs: Sequence[tuple[str, ...]], first: np.ndarray, systems: Sequence[str]) -> np.ndarray:
    """Bradley–Terry strengths: natural log odds of winning, mean 0; NaN where they are not finite.

    Args:
        pairs: the two systems of each battle.
        first: what the first one won, in [0, 1], [n].
        systems: whose strengths, each once.
    """
    place = {name: number for number, name in enumerate(systems)}
    wins = np.zeros((len(systems), len(systems)))
    for (one, other), won in zip(pairs, first, strict=True):
        wins[place[one], place[other]] += won
        wins[place[other], place[one]] += 1 - won
    count, _ = connected_components(csr_matrix(wins > 0), directed=True, connection="strong")
    if count > 1 or len(systems) < 2:
        return np.full(len(systems), math.nan)
    left, right = np.nonzero(np.triu(wins + wins.T))
    design = np.zeros((len(left), len(systems)))
    design[np.arange(len(left)), left], design[np.arange(len(left)), right] = 1, -1
    fought = (wins + wins.T)[left, right]
    model = sm.GLM(wins[left, right] / fought, design[:, 1:], family=sm.families.Binomial(), var_weights=fought)
    found = np.concatenate([[0.0], np.asarray(model.fit().params)])  # the first system's strength is held at 0
    return np.asarray(found - found.mean())


def _agree(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    if len(one) < 3 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return math.nan, math.nan
    return float(stats.spearmanr(one, other).statistic), float(stats.kendalltau(one, other).statistic)
