"""Figures of a comparison: both sides' medians joined by a line, and the difference with its interval."""

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from core.charts.style import BAND, NEUTRAL, PALETTE, faded, plain, quiet

A, B, DIFFERENCE = PALETTE[0], PALETTE[1], PALETTE[2]
ROW = 40
"""Height of a level in px."""


def dumbbell(table: pd.DataFrame, *, unit: str, digits: int, names: Mapping[str, str] | None = None) -> go.Figure:
    """Draw the medians of A and B for every level, joined by a line.

    Args:
        table: rows of ``core.analysis.comparison.compare``.
        unit: behind the numbers.
        digits: decimals in the hover.
        names: label -> the words for it.
    """
    figure = go.Figure()
    for place, (_, row) in enumerate(table.iterrows()):
        figure.add_trace(
            go.Scatter(x=[row["a_value"], row["b_value"]], y=[place - 0.14, place + 0.14], mode="lines",
                       hoverinfo="skip",
                       line={"color": faded(NEUTRAL, 0.6), "width": 4}, showlegend=False)
        )  # fmt: skip
    for side, colour, symbol, offset in (("a", A, "circle", -0.14), ("b", B, "square", 0.14)):
        value, low, high = (table[f"{side}_{name}"] for name in ("value", "low", "high"))
        texts = [
            f"<b>{side.upper()}</b>, {plain(str(row['label']))}<br>"
            f"median {_signed(row[f'{side}_value'], digits)}{unit} "
            f"(95 % CI {_signed(row[f'{side}_low'], digits)} to {_signed(row[f'{side}_high'], digits)}{unit})<br>"
            f"n = {int(row[f'{side}_n'])} items"
            for _, row in table.iterrows()
        ]
        figure.add_trace(
            go.Scatter(
                x=value, y=[place + offset for place in range(len(table))], mode="markers", name=side.upper(),
                marker={"color": colour, "symbol": symbol, "size": 10},
                error_x={"array": (high - value).fillna(0), "arrayminus": (value - low).fillna(0), "color": colour,
                         "thickness": 1.5, "width": 3},
                hoverinfo="text", hovertext=texts,
            )
        )  # fmt: skip
    ticks = [
        f"{plain((names or {}).get(row['label'], row['label']))}<br>"
        f"<span style='font-size:10px'>n {int(row['a_n'])} and {int(row['b_n'])}</span>"
        for _, row in table.iterrows()
    ]
    return _rows(figure, ticks, unit, legend=True)


def differences(
    table: pd.DataFrame, *, unit: str, digits: int, margin: float | None, names: Mapping[str, str] | None = None
) -> go.Figure:
    """Draw the difference A - B of every level with its interval, filled where it is paired, open where it is not.

    Args:
        table: rows of ``core.analysis.comparison.compare``.
        unit: behind the numbers.
        digits: decimals in the hover.
        margin: drawn grey around zero; None draws none.
        names: label -> the words for it.
    """
    paired = [each.startswith("paired") for each in table["how"]]
    texts = [
        f"<b>{plain(str(row['label']))}</b>, A − B, {row['how']}<br>{_signed(row['difference'], digits)}{unit} "
        f"(95 % CI {_signed(row['low'], digits)} to {_signed(row['high'], digits)}{unit})<br>n = {int(row['n_items'])} "
        f"items; {plain(str(row['verdict']))}"
        for _, row in table.iterrows()
    ]
    figure = go.Figure(
        go.Scatter(
            x=table["difference"], y=list(range(len(table))), mode="markers",
            marker={"color": [DIFFERENCE if each else faded(DIFFERENCE, 0.1) for each in paired], "size": 10,
                    "symbol": "diamond", "line": {"color": DIFFERENCE, "width": 1.5}},
            error_x={"array": (table["high"] - table["difference"]).fillna(0),
                     "arrayminus": (table["difference"] - table["low"]).fillna(0), "color": DIFFERENCE,
                     "thickness": 1.5, "width": 3},
            hoverinfo="text", hovertext=texts,
        )
    )  # fmt: skip
    if margin is not None:
        figure.add_vrect(x0=-margin, x1=margin, fillcolor=BAND, line_width=0, layer="below")
    ticks = [
        f"{plain((names or {}).get(row['label'], row['label']))}<br>"
        f"<span style='font-size:10px'>n {int(row['n_items'])}</span>"
        for _, row in table.iterrows()
    ]
    return _rows(figure, ticks, unit, legend=False)


def _rows(figure: go.Figure, ticks: list[str], unit: str, *, legend: bool) -> go.Figure:
    made = quiet(figure, height=ROW * max(len(ticks), 1) + 76)
    made.update_layout(
        showlegend=legend, margin={"l": 8, "r": 12, "t": 36, "b": 36},
        legend={"orientation": "h", "x": 0, "xanchor": "left", "yref": "container", "y": 1, "yanchor": "top",
                "title": None, "itemclick": False, "itemdoubleclick": False},
    )  # fmt: skip
    made.update_xaxes(ticksuffix=unit, nticks=6)
    made.update_yaxes(tickvals=list(range(len(ticks))), ticktext=ticks, range=[len(ticks) - 0.5, -0.5])
    return made


def _signed(value: float, digits: int) -> str:
    text = f"{abs(value):.{digits}f}"
    return text if float(text) == 0 else ("−" if value < 0 else "+") + text
