"""An independent way from stored rows to what the questions answer: pandas, scipy, statsmodels and brute force."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from core.statistics.factors import LEAST_OMNIBUS
from tests.analysis import two_sources
from tests.analysis.made_runs import raw


def of(rows: pd.DataFrame, **wanted: object) -> pd.DataFrame:
    """Rows of these values."""
    for name, value in wanted.items():
        rows = rows[rows[name] == value]
    return rows


def holm(p: pd.Series) -> np.ndarray:
    return np.asarray(multipletests(p.astype(float), method="holm")[1])


@cache
def cut_outs() -> dict[str, str]:
    """Cut-out of each item of the shipped run."""
    groups = raw(table="items").drop_duplicates("item").set_index("item")["item_group"]
    return {str(item): str(group) for item, group in groups.items()}


def by_source(values: pd.Series) -> pd.Series:
    """Mean over the items of each cut-out, by item; the values themselves where no two items share theirs."""
    own = [cut_outs().get(item, item) for item in values.index]
    return values if len(set(own)) == len(own) else values.groupby(own).mean()


def paired_p(before: pd.Series, after: pd.Series) -> float:
    """Paired t where both samples pass Shapiro-Wilk at 0.05, Wilcoxon otherwise; NaN of fewer than ten, and where
    nothing moves. Of cut-outs."""
    items = before, after
    before, after = by_source(before), by_source(after)
    if len(before) < 10 or not (after - before).to_numpy().any():
        return float("nan")
    constant = any(np.ptp(each) == 0 for each in (before, after, after - before))
    if not constant and min(stats.shapiro(before).pvalue, stats.shapiro(after).pvalue) >= 0.05:
        return two_sources.paired(float(stats.ttest_rel(after, before).pvalue), *items, ranks=False)
    return two_sources.paired(float(stats.wilcoxon(after - before).pvalue), *items, ranks=True)


def over_items(own: pd.DataFrame) -> pd.DataFrame:
    """Before and after of every item, by its medians over the rows."""
    items = own.dropna(subset=["delta"]).groupby("item")[["delta", "baseline_score"]].median()
    return pd.DataFrame(
        {"before": items["baseline_score"], "after": items["baseline_score"] + items["delta"], "delta": items["delta"]}
    )


def assert_shift(row: pd.Series, own: pd.DataFrame) -> None:
    """A row of a table of shifts against the stored rows that it is of; an item counts once."""
    items, percent = over_items(own), own.groupby("item")["percent"].median().dropna()
    assert (row["n_items"], row["n_scored"]) == (len(percent), len(items))
    assert row["median_percent"] == pytest.approx(percent.median(), nan_ok=True)
    assert row["median_delta"] == pytest.approx(items["delta"].median())
    sizes = own["percent"].abs().groupby(own["item"]).median().dropna()
    assert row["median_abs_percent"] == pytest.approx(sizes.median(), nan_ok=True)
    edits = own["percent"].abs().dropna()
    for name, each in (("beyond", edits), ("items_beyond", sizes)):
        beyond = 100 * (each > 1.000001).mean() if len(each) else float("nan")
        assert row[name] == pytest.approx(beyond, nan_ok=True)
    moved = items["delta"][items["delta"].abs() > 1e-12 * items["before"].abs()]
    assert row["still"] == pytest.approx(100 - 100 * len(moved) / len(items))
    assert row["falls"] == pytest.approx(100 * (moved < 0).mean(), nan_ok=True)
    if len(percent):
        assert row["mean_percent"] == pytest.approx(100 * items["delta"].sum() / items["before"].sum())
    scored, counted = own["delta"].notna(), own["percent"].notna()
    assert (row["n_shifts"], row["n_zero_baseline"]) == (counted.sum(), (scored & ~counted).sum())
    u = stats.mannwhitneyu(items["after"], items["before"]).statistic
    assert row["cliffs_delta"] == pytest.approx(2 * u / len(items) ** 2 - 1, abs=1e-12)
    assert row["p"] == pytest.approx(paired_p(items["before"], items["after"]), rel=1e-9, nan_ok=True)


def assert_corrected(frame: pd.DataFrame) -> None:
    """Holm's correction runs over the tests of an evaluator and corpus; rows outside are neither in it nor counted."""
    inside = (frame["tests"] != "") & (frame["test"] != "none")
    for _, own in frame[inside].groupby(["evaluator", "corpus", "tests"]):
        np.testing.assert_allclose(own["p_holm"].astype(float), holm(own["p"]), rtol=1e-9)
        assert set(own["m_tests"]) == {len(own)}
    assert frame.loc[~inside, "p_holm"].isna().all()


def assert_levels(row: pd.Series, pairs: pd.DataFrame, wide: pd.DataFrame) -> None:
    """Omnibus and pairwise tests, from one column a level and one row an item."""
    groups = [by_source(wide[name].dropna()) for name in wide]
    large = [group for group in groups if len(group) >= LEAST_OMNIBUS]
    if len(large) < 2 or np.ptp(np.concatenate(large)) == 0:
        assert np.isnan(row["p"])
    else:
        kruskal = stats.kruskal(*large)
        assert (row["h"], row["p"]) == (pytest.approx(kruskal.statistic), pytest.approx(kruskal.pvalue))
        assert (row["levels"], row["n"]) == (len(large), sum(map(len, large)))
    complete = pd.DataFrame({name: by_source(wide.dropna()[name]) for name in wide})
    if len(complete) >= LEAST_OMNIBUS and wide.shape[1] > 2 and np.ptp(complete.to_numpy(), axis=1).any():
        friedman = stats.friedmanchisquare(*(complete[name] for name in complete))
        assert (row["friedman_n"], row["friedman_p"]) == (len(complete), pytest.approx(friedman.pvalue))
    assert len(pairs) == len(groups) * (len(groups) - 1) / 2
    made = pairs["test"] != "none"  # where no item differs there is no test: none of those corrected for
    tested = pairs[made]
    assert row["pairs"] == len(tested)
    assert pairs.loc[~made, "p_holm"].isna().all()
    np.testing.assert_allclose(tested["p_holm"].astype(float), holm(tested["p"]), rtol=1e-9)
    assert set(tested["m_tests"]) <= {len(tested)}
    assert (pairs.loc[~made, "m_tests"] == 0).all()
    assert row["differ"] == (tested["p_holm"] < 0.05).sum()
    for _, pair in pairs.iterrows():
        a, b = wide[pair["a"]].dropna(), wide[pair["b"]].dropna()
        both = wide[[pair["a"], pair["b"]]].dropna()
        paired = 2 * len(both) >= min(len(a), len(b))
        few = min(len(by_source(a)), len(by_source(b)), *([len(by_source(both[pair["a"]]))] if paired else []))
        if few < LEAST_OMNIBUS:  # nothing is told, nor is the pair named
            assert pair["test"] == "none"
            assert np.isnan([pair["p"], pair["cliffs_delta"]]).all()
            continue
        u = stats.mannwhitneyu(a, b)
        assert pair["cliffs_delta"] == pytest.approx(2 * u.statistic / (len(a) * len(b)) - 1, abs=1e-12)
        if pair["test"].startswith("Mann-Whitney"):
            assert pair["p"] == pytest.approx(
                two_sources.apart(stats.mannwhitneyu(by_source(a), by_source(b)).pvalue, a, b)
            )
        else:
            p = paired_p(both[pair["b"]], both[pair["a"]]) if paired else float("nan")
            assert pair["p"] == pytest.approx(p, nan_ok=True)


def risk(own: pd.DataFrame, gap: float) -> float:
    """Share in percent of the pairs of two items' shifts that are further apart than the gap; items weigh the same."""
    delta, item = own["delta"].to_numpy(), own["item"].to_numpy()
    weight = 1 / own.groupby("item")["delta"].transform("size").to_numpy()
    n = own["item"].nunique()
    total = sum(
        share * weight[(value - delta > gap) & (item != name)].sum()
        for value, name, share in zip(delta, item, weight, strict=True)
    )
    return 100 * total / (n * (n - 1))


CONTRASTS = {
    "vertical flip": ["vflip"],
    "rotation by ±10°": ["rotate-10", "rotate+10"],
    "cultural vs neutral": [
        f"cultural:{word}" for word in ("American", "European", "Asian", "Russian", "Arab", "African", "Oceanian")
    ],
    "cheap, expensive vs neutral": ["economic:cheap", "economic:expensive"],
}
"""Columns of the paper's table 13 but the repositioned object, whose two places are held against each other."""


def contrast(scores: pd.DataFrame, rows: pd.DataFrame, label: str) -> pd.DataFrame:
    """Shifts of one contrast under one evaluator, columns item and delta; what has no score is left out.

    Args:
        scores: stored rows of the evaluator.
        rows: its shifts.
        label: of CONTRASTS, or ``bottom right vs top left``.
    """
    if label in CONTRASTS:
        own = rows[rows["probe"].isin(CONTRASTS[label])]
        own = own[own["category"] != "person"] if label.startswith("cheap") else own
        return own[["item", "delta"]].dropna()
    wide = scores.pivot_table(index="item", columns="probe", values="score")
    return (wide["reposition-BR"] - wide["reposition-TL"]).dropna().rename("delta").reset_index()
