"""The fairness card's figure: how far the worst family of each axis moves one evaluator."""

import math

import pandas as pd
import plotly.graph_objects as go

from core.charts.style import BAND, plain, quiet

ROW_HEIGHT = 40


def worst_families(card: pd.DataFrame, *, colour: str) -> go.Figure:
    """Draw one evaluator's rows of the fairness card.

    Args:
        card: rows of ``core.analysis.overview.fairness_card`` of one evaluator.
        colour: ``#rrggbb`` of the evaluator.

    Returns:
        A dot an axis with its 95 % interval; grey up to the median shift of the null edits.
    """
    above = (card["abs_high"] - card["median_abs_percent"]).fillna(0)
    below = (card["median_abs_percent"] - card["abs_low"]).fillna(0)
    figure = go.Figure(
        go.Scatter(
            x=card["median_abs_percent"],
            y=[f"{plain(row['family'])}<br><sub>{plain(row['axis'])}</sub>" for _, row in card.iterrows()],
            mode="markers",
            marker={"color": colour, "size": 10},
            error_x={"array": above, "arrayminus": below, "color": colour, "thickness": 2, "width": 6},
            hovertext=[_hover(row) for _, row in card.iterrows()],
            hoverinfo="text",
        )
    )
    null = float(card["null_band"].iloc[0])
    if not math.isnan(null):
        figure.add_vrect(x0=0, x1=null, fillcolor=BAND, line_width=0, layer="below")
    top = max(card["abs_high"].fillna(card["median_abs_percent"]).max(), 0 if math.isnan(null) else null, 0.1)
    figure.update_xaxes(range=[0, 1.1 * top], ticksuffix=" %", nticks=5)
    figure.update_yaxes(autorange="reversed")
    return quiet(figure, height=ROW_HEIGHT * len(card) + 64)


def _hover(row: pd.Series) -> str:
    return (
        f"<b>{plain(row['family'])}</b>, worst of {row['n_families']} on the {plain(row['axis'])} axis<br>"
        f"median |%Δ| {row['median_abs_percent']:.2f} % (95 % CI {row['abs_low']:.2f} to {row['abs_high']:.2f})<br>"
        f"median %Δ {row['median_percent']:+.2f} % ({row['low']:+.2f} to {row['high']:+.2f})<br>"
        f"n = {row['n_items']} items, {row['n_shifts']} shifts; {plain(row['verdict'])}"
    )
