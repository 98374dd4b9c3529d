"""The fairness card's figure: how far every family moves one evaluator, the worst of each axis marked."""

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.charts.style import BAND, faded, plain, quiet

ROW_HEIGHT = 26


def family_shifts(contrasts: pd.DataFrame, card: pd.DataFrame, *, colour: str) -> go.Figure:
    """Draw one evaluator's families.

    Args:
        contrasts: rows of ``core.analysis.overview.family_contrasts`` of one evaluator; the null axis is left out.
        card: its rows of ``core.analysis.overview.fairness_card``: the worst family of each axis, and the null band.
        colour: ``#rrggbb`` of the evaluator.

    Returns:
        A dot a family at its median |%Δ| with the 95 % interval, by axis and size, filled for the worst of its
        axis; grey up to the median shift of the null edits.
    """
    rows = contrasts[contrasts["axis"] != "null"].dropna(subset=["median_abs_percent"])
    rows = rows.sort_values(["axis", "median_abs_percent"], ascending=[True, False], kind="stable")
    worst = set(zip(card["axis"], card["family"], strict=True))
    marked = [(row["axis"], row["family"]) in worst for _, row in rows.iterrows()]
    figure = go.Figure(
        go.Scatter(
            x=rows["median_abs_percent"],
            y=[plain(family) for family in rows["family"]],
            mode="markers",
            cliponaxis=False,
            marker={
                "color": [faded(colour, 1.0 if each else 0.2) for each in marked],
                "size": 10,
                "line": {"color": colour, "width": 1.5},
            },
            error_x={
                "array": (rows["abs_high"] - rows["median_abs_percent"]).fillna(0),
                "arrayminus": (rows["median_abs_percent"] - rows["abs_low"]).fillna(0),
                "color": colour,
                "thickness": 1.5,
                "width": 4,
            },
            hovertext=[_hover(row, mark) for (_, row), mark in zip(rows.iterrows(), marked, strict=True)],
            hoverinfo="text",
        )
    )
    null = float(card["null_band"].max()) if len(card) else math.nan
    if not math.isnan(null):
        figure.add_vrect(x0=0, x1=null, fillcolor=BAND, line_width=0, layer="below")
    figure.update_xaxes(range=[0, 1.08 * _top(rows, null)], ticksuffix=" %", nticks=5)
    figure.update_yaxes(autorange="reversed", type="category")
    return quiet(figure, height=ROW_HEIGHT * max(len(rows), 1) + 60)


def _top(rows: pd.DataFrame, null: float) -> float:
    ends = rows[["median_abs_percent", "abs_high"]].to_numpy(dtype=float).ravel()
    return float(np.nanmax([*ends, null, 0.1]))


def _hover(row: pd.Series, worst: bool) -> str:
    return (
        f"<b>{plain(row['family'])}</b>, {plain(row['axis'])}{', worst of its axis' if worst else ''}<br>"
        f"median |%Δ| {row['median_abs_percent']:.2f} % (95 % CI {row['abs_low']:.2f} to {row['abs_high']:.2f})<br>"
        f"median %Δ {row['median_percent']:+.2f} % ({row['low']:+.2f} to {row['high']:+.2f})<br>"
        f"n = {row['n_items']} items, {row['n_shifts']} shifts; {plain(row['verdict'])}"
    )
