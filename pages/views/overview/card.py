"""The fairness card: how far each evaluator moves, its worst family on each axis, and the flip risk there."""

import math
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.flips.risk import IQR
from core.analysis.verdicts import reached
from core.charts.fairness import family_shifts
from core.charts.style import colours
from pages.views.common.charts import draw
from pages.views.common.downloads import data_buttons
from pages.views.common.text import number, safe

_RISK = (
    "How often this family would turn round the order of two captions whose scores lie this far apart: "
    "Pr[δ′ − δ > gap] over pairs of its shifts. The gap is a share of the evaluator's interquartile range, the spread "
    "of the middle half of its scores on unedited pairs, so evaluators of different scales can be held side by side. "
    "It cannot exceed 50 %, the risk of a coin."
)


def draw_card(card: pd.DataFrame, contrasts: pd.DataFrame, risks: pd.DataFrame) -> None:
    """Draw the fairness card: a figure an evaluator, the worst family of each axis in words, every number.

    Args:
        card: ``core.analysis.overview.fairness_card``.
        contrasts: ``core.analysis.overview.family_contrasts``.
        risks: ``core.analysis.overview.card_risks``.
    """
    colour = colours(card["evaluator"].unique())
    names = list(dict.fromkeys(card["evaluator"]))
    cells = st.grid(min(len(names), 3), min_column_width=300, gap="medium")
    for name in names:
        rows = card[card["evaluator"] == name]
        with cells.container(border=True):
            st.markdown(f"**{safe(name)}**")
            figure = family_shifts(contrasts[contrasts["evaluator"] == name], rows, colour=colour[name])
            draw(figure, key=f"overview.card.{name}", alt=_spoken(name, rows))
            for _, row in rows.iterrows():
                _worst(row, risks)
    st.caption(
        "Median \\|%Δ\\| of every family over items, with its 95 % BCa bootstrap interval; filled: the worst of its "
        "axis, picked after seeing the data, so its interval is that of a maximum. Grey: the median shift under edits "
        "that nobody can see. *Drifts* is about the signed median, *scatters* about how far items move whichever way."
    )
    with st.expander("Every number of the card", icon=":material/table:"):
        _numbers(card, risks)


def _worst(row: pd.Series, risks: pd.DataFrame) -> None:
    interval = f"{number(row['abs_low'], digits=1)} to {number(row['abs_high'], digits=1)}"
    st.markdown(
        f"{safe(row['axis']).capitalize()}, worst of {row['n_families']}: **{safe(row['family'])}** "
        f"{row['median_abs_percent']:.1f} % ({interval}), n\u00a0=\u00a0{row['n_items']} · "
        f"**{safe(row['drift'])}**, **{safe(row['scatter'])}**"
    )
    if said := reached(row["drift"], row["detectable"], row["needed"]):
        st.caption(f"Undecided drift: {said}")
    st.caption(_risk(row, risks), help=_RISK)


def _risk(row: pd.Series, risks: pd.DataFrame) -> str:
    cell = (
        (risks["evaluator"] == row["evaluator"]) & (risks["family"] == row["family"]) & (risks["axis"] == row["axis"])
    )
    found = risks[cell & (risks["unit"] == IQR)]
    if found.empty or math.isnan(found["risk"].iloc[0]):
        return "Flip risk unknown"
    each = found.iloc[0]
    return (f"Flip risk {100 * each['risk']:.1f} % ({100 * each['low']:.1f} to {100 * each['high']:.1f}) "
            f"at a gap of {100 * each['gap']:g} % of its spread")  # fmt: skip


def _numbers(card: pd.DataFrame, risks: pd.DataFrame) -> None:
    percent = st.column_config.NumberColumn
    st.dataframe(
        card, hide_index=True, placeholder="—", alt="The fairness card in numbers",
        column_config={
            "evaluator": "Evaluator", "axis": "Axis", "family": "Worst family",
            "median_percent": percent("Median %Δ", format="%+.2f"),
            "low": percent("CI low", format="%+.2f"), "high": percent("CI high", format="%+.2f"),
            "median_abs_percent": percent("Median |%Δ|", format="%.2f"),
            "abs_low": percent("CI low", format="%.2f"), "abs_high": percent("CI high", format="%.2f"),
            "n_items": percent("n items"), "n_shifts": percent("n shifts"),
            "n_zero_baseline": percent("Zero baseline", help="Shifts without %Δ: the baseline scores 0"),
            "n_missing": percent("Unscored"), "drift": "Drift", "scatter": "Scatter",
            "n_families": percent("Of families"),
            "null_band": percent("Null edits' median |%Δ|", format="%.2f"),
        },
    )  # fmt: skip
    data_buttons(card, "fairness-card", key="overview.card.data")
    st.caption("Flip risk of the same families")
    shown: dict[str, Any] = {
        "evaluator": "Evaluator", "axis": "Axis", "family": "Family", "unit": "Gap as a share of the",
        "gap": percent("Gap", format="%.4f"), "d": percent("On the score's scale", format="%.5f"),
        "risk": percent("Flip risk", format="percent"), "low": percent("CI low", format="percent"),
        "high": percent("CI high", format="percent"), "n_items": percent("n items"), "n_shifts": percent("n shifts"),
    }  # fmt: skip
    st.dataframe(risks, hide_index=True, placeholder="—", column_order=list(shown), column_config=shown,
                 alt="Flip risk of the families on the card")  # fmt: skip
    data_buttons(risks, "flip-risk-of-the-card", key="overview.card.risk")


def _spoken(name: str, rows: pd.DataFrame) -> str:
    told = [f"{row['axis']}: {row['family']} {row['median_abs_percent']:.1f} %" for _, row in rows.iterrows()]
    return f"Worst family of each axis under {name}, median absolute percent change. {'; '.join(told)}"
