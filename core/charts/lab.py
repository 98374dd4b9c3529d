"""The Probe lab's figure: a bar a probe with its percent change, over the evaluator's null band."""

import math

import pandas as pd
import plotly.graph_objects as go

from core.charts.style import BAND, faded, plain, quiet, signed

ROW_HEIGHT = 27
"""Height of one probe's bar with its gap, in px."""


def shift_bars(rows: pd.DataFrame, *, low: float, high: float, colour: str) -> go.Figure:
    """Draw one evaluator's shifts on its own scale.

    Args:
        rows: one row a probe with ``probe, caption, score, baseline_score, delta, percent, in_null_band, reason``;
            percent is missing where the probe was rejected or the baseline is zero.
        low: lower bound of the null band in percent; NaN where there is none.
        high: upper bound.
        colour: ``#rrggbb`` of the evaluator.

    Returns:
        Horizontal bars in the order of the rows, filled outside the band, faint inside it. A row without a
        percent change has a dash.
    """
    percents = [None if pd.isna(value) else float(value) for value in rows["percent"]]
    inside = [value is True for value in rows["in_null_band"]]
    figure = go.Figure(
        go.Bar(
            y=[plain(name) for name in rows["probe"]],
            x=[0.0 if value is None else value for value in percents],
            orientation="h",
            text=[signed(value) for value in percents],
            textposition="outside",
            cliponaxis=False,
            marker={
                "color": [faded(colour, 0.25 if each else 1.0) for each in inside],
                "line": {"color": colour, "width": 1.2},
            },
            hovertext=[_hover(row) for _, row in rows.iterrows()],
            hoverinfo="text",
        )
    )
    if not math.isnan(low):
        figure.add_vrect(x0=low, x1=high, fillcolor=BAND, line_width=0, layer="below")
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(range=_range(percents, low, high), ticksuffix=" %", nticks=5)
    return quiet(figure, height=ROW_HEIGHT * max(len(rows), 1) + 56)


def _range(percents: list[float | None], low: float, high: float) -> list[float]:
    """Room for the bars, the band and the numbers at the bars' ends."""
    values = [0.0, *(value for value in (*percents, low, high) if value is not None and not math.isnan(value))]
    span = max(max(values) - min(values), 0.1)
    left = 0.34 if min(values) < 0 else 0.08
    return [min(values) - left * span, max(values) + 0.34 * span]


def _hover(row: pd.Series) -> str:
    if pd.isna(row["score"]):
        return f"<b>{plain(row['probe'])}</b><br>{plain(str(row['reason']))}"
    band = {True: "inside the null band", False: "outside the null band"}.get(row["in_null_band"], "no null band")
    if pd.isna(row["baseline_score"]) or pd.isna(row["delta"]):
        return f"<b>{plain(row['probe'])}</b><br>score {row['score']:.4f}, no baseline"
    return (
        f"<b>{plain(row['probe'])}</b><br>score {row['score']:.4f} against {row['baseline_score']:.4f}"
        f"<br>Δ {signed(row['delta'], digits=4, unit='')} · {signed(row['percent'], digits=2)} · n = 1 image<br>{band}"
    )
