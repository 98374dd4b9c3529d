"""Every evaluator in one row: its worst edits, the gap that means something, and whether it sees a broken meaning."""

import math
from typing import Any

import pandas as pd

from core.analysis.flips.risk import IQR
from core.analysis.worst_family import furthest

AND = ", "
"""Stands between families that ask for the same gap."""


def at_a_glance(card: pd.DataFrame, risks: pd.DataFrame, selective: pd.DataFrame | None = None) -> pd.DataFrame:
    """The card's numbers with one row an evaluator, the calmest first; nothing is worked out anew.

    Args:
        card: ``core.analysis.overview.fairness_card`` of one corpus.
        risks: ``core.analysis.overview.card_risks`` of it.
        selective: selectivity an evaluator, columns evaluator, value, low, high; None: not measured.

    Returns:
        Column evaluator; for every axis of the card ``{axis}``, ``{axis}_abs``, ``{axis}_low``, ``{axis}_high`` (worst
        family, its median |%Δ| and interval), ``{axis}_n`` (its items), ``{axis}_alike`` (families that nothing tells
        from it, it included), ``{axis}_signed`` (its median %Δ) and the two claims, ``{axis}_drift`` and
        ``{axis}_scatter``; evidence and of_iqr (the largest gap of evidence of these families, in the score's units
        and in percent of its spread) with evidence_of, the family, several that ask for the same joined by AND, and
        null_evidence, the gap of evidence of the same items under edits that nobody can see;
        selectivity, selectivity_low, selectivity_high. NaN where something was not measured.
        Ordered by the largest of the medians.
    """
    rows = [_row(str(name), own, risks) for name, own in card.groupby("evaluator", sort=True)]
    found = pd.DataFrame(rows)
    if found.empty:
        return found
    if selective is None:
        known = pd.DataFrame(columns=["evaluator", "value", "low", "high"])
    else:
        known = selective[["evaluator", "value", "low", "high"]].drop_duplicates("evaluator")
    told = known.set_axis(["evaluator", "selectivity", "selectivity_low", "selectivity_high"], axis=1)
    order = found.filter(regex="_abs$").max(axis=1).sort_values(kind="stable").index
    return found.loc[order].merge(told, on="evaluator", how="left").reset_index(drop=True)


def _row(name: str, own: pd.DataFrame, risks: pd.DataFrame) -> dict[str, Any]:
    row: dict[str, Any] = {"evaluator": name}
    for each in own.sort_values("axis").itertuples(index=False):
        row |= {
            str(each.axis): each.family, f"{each.axis}_abs": each.median_abs_percent,
            f"{each.axis}_low": each.abs_low, f"{each.axis}_high": each.abs_high, f"{each.axis}_n": each.n_items,
            f"{each.axis}_signed": each.median_percent, f"{each.axis}_drift": each.drift,
            f"{each.axis}_scatter": each.scatter, f"{each.axis}_alike": each.alike,
        }  # fmt: skip
    return row | _evidence(risks[(risks["evaluator"] == name) & (risks["unit"] == IQR)])


def _evidence(risks: pd.DataFrame) -> dict[str, Any]:
    """The largest gap of evidence; NaN where one of the families has none, for then no gap is known to be enough."""
    if risks.empty or risks["evidence"].isna().any():
        return {"evidence": math.nan, "of_iqr": math.nan, "evidence_of": "", "null_evidence": math.nan}
    worst = furthest(risks, value="evidence", low="evidence_low", high="evidence_high")
    first = worst.iloc[0]
    return {"evidence": first["evidence"], "of_iqr": first["of_iqr"], "evidence_of": AND.join(worst["family"]),
            "null_evidence": first["null_evidence"]}  # fmt: skip
