"""The two sources of the shipped items, and what the second adds to an interval and a p: by pandas, sum by sum."""

from functools import cache

import numpy as np
import pandas as pd
from scipy import stats

from core.statistics.crossed_sources import LEAST_SECOND
from tests.analysis.made_runs import raw


@cache
def named() -> pd.DataFrame:
    """Cut-out and background of each item, ``first`` and ``second``; what has no background stands for itself."""
    items = raw(table="items").drop_duplicates("item").set_index("item")
    return pd.DataFrame({"first": items["item_group"], "second": items["second_group"].fillna(items["item_group"])})


def of(items: pd.Index | pd.Series | np.ndarray) -> pd.DataFrame:
    """The same of some items, each as often as it is named; an item of another run is its own source."""
    names = pd.Index(items)
    found = named().reindex(names)
    return found.apply(lambda column: column.where(column.notna(), names.to_series().to_numpy()))


def numbers(items: pd.Index | pd.Series | np.ndarray) -> np.ndarray:
    """Numbers of both, by where they come first, int [n, 2]."""
    return np.stack([pd.factorize(column)[0] for _, column in of(items).items()], axis=1)


def _equal(names: pd.Series) -> float:
    sizes = names.value_counts()
    return float(sizes.sum() ** 2 / (sizes**2).sum())


def _ratio(owed: pd.Series) -> tuple[float, float, float]:
    frame = of(owed.index).assign(owed=owed.to_numpy())
    first, second = _equal(frame["first"]), _equal(frame["second"])
    if second < LEAST_SECOND or not owed.any():
        return 1.0, first, first
    variances = []
    for by in (["first"], ["second"], ["first", "second"]):
        many = _equal(frame[by].agg("\x1f".join, axis=1))
        variances.append((frame.groupby(by)["owed"].sum() ** 2).sum() * many / (many - 1))
    one, other, both = variances
    return max(one + other - both, one, other) / one, first, min(first, second)


def longer(owed: pd.Series, level: float = 0.95) -> float:
    """How many times as long an interval by cut-outs becomes.

    Args:
        owed: what the statistic owes to each item, by item.
    """
    ratio, first, fewest = _ratio(owed)
    return float(ratio**0.5 * stats.t.ppf((1 + level) / 2, fewest - 1) / stats.t.ppf((1 + level) / 2, first - 1))


def crossed(p: float, owed: pd.Series) -> float:
    """p by cut-outs, once the background counts."""
    ratio, first, fewest = _ratio(owed)
    return float(2 * stats.t.sf(stats.t.isf(p / 2, first - 1) / ratio**0.5, fewest - 1))


def paired(p: float, before: pd.Series, after: pd.Series, *, ranks: bool) -> float:
    """The same of a paired test of the cut-outs' means, by item; ``ranks``: a signed-rank test."""
    apart = after - before
    first = of(apart.index)["first"].to_numpy()
    means = apart.groupby(first).mean()
    adds = np.sign(means) * means.abs().rank() if ranks else means
    slope = np.polyfit(means, adds, 1)[0] if ranks and np.ptp(means) > 0 else 1.0
    within = slope * (apart - means[first].to_numpy())
    owed = ((adds - adds.mean())[first].to_numpy() + within) / apart.groupby(first).transform("size")
    return crossed(p, owed)


def apart(p: float, one: pd.Series, other: pd.Series) -> float:
    """The same of a rank-sum test of two samples, by item."""
    ranks = pd.concat([one, other]).rank()
    sides = ranks.iloc[: len(one)], ranks.iloc[len(one) :]
    owed = [sign * (each - each.mean()) / len(each) for each, sign in zip(sides, (1, -1), strict=True)]
    return crossed(p, pd.concat(owed))
