"""Figures of a comparison: both sides' medians joined by a line, and the difference with its interval."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from core.charts.style import BAND, LEGEND_ABOVE, NEUTRAL, PALETTE, Row, faded, plain, quiet_figure, shade

A, B, DIFFERENCE = PALETTE[0], PALETTE[1], PALETTE[2]
ROW = 40
"""Height of a level in px."""
_IN = {"%": ", % of the baseline score", "pp": ", percentage points", "SD": ", SD of the baseline scores"}


def dumbbell(table: pd.DataFrame, *, unit: str, digits: int, names: Mapping[str, str] | None = None) -> go.Figure:
    """Draw the medians of A and B for every level, joined by a line.

    Args:
        table: rows of ``core.analysis.comparison.compare``.
        unit: behind the numbers.
        digits: decimals in the hover.
        names: label -> the words for it.
    """
    rows = table.to_dict("records")
    traces: list[dict[str, Any]] = [
        {"type": "scatter", "x": [row["a_value"], row["b_value"]], "y": [place - 0.14, place + 0.14], "mode": "lines",
         "hoverinfo": "skip", "line": {"color": faded(NEUTRAL, 0.6), "width": 4}, "showlegend": False}
        for place, row in enumerate(rows)
    ]  # fmt: skip
    for side, colour, symbol, offset in (("a", A, "circle", -0.14), ("b", B, "square", 0.14)):
        value, low, high = (table[f"{side}_{name}"] for name in ("value", "low", "high"))
        texts = [
            f"<b>{side.upper()}</b>, {plain(str(row['label']))}<br>"
            f"median {_signed(row[f'{side}_value'], digits)}{unit} "
            f"(95 % CI {_signed(row[f'{side}_low'], digits)} to {_signed(row[f'{side}_high'], digits)}{unit})<br>"
            f"n = {int(row[f'{side}_n'])} items"
            for row in rows
        ]
        traces.append({
            "type": "scatter", "x": value, "y": [place + offset for place in range(len(rows))], "mode": "markers",
            "name": side.upper(), "marker": {"color": colour, "symbol": symbol, "size": 10},
            "error_x": _bars(value, low, high, colour), "hoverinfo": "text", "hovertext": texts,
        })  # fmt: skip
    ticks = [_tick(row, f"{int(row['a_n'])} and {int(row['b_n'])}", names) for row in rows]
    return _rows(traces, ticks, unit, title="median Δ of each side", legend=True)


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
    rows = table.to_dict("records")
    filled = [DIFFERENCE if row["how"].startswith("paired") else faded(DIFFERENCE, 0.1) for row in rows]
    texts = [
        f"<b>{plain(str(row['label']))}</b>, A − B, {row['how']}<br>{_signed(row['difference'], digits)}{unit} "
        f"(95 % CI {_signed(row['low'], digits)} to {_signed(row['high'], digits)}{unit})<br>n = {int(row['n_items'])} "
        f"items; {plain(str(row['verdict']))}"
        for row in rows
    ]
    marks = {
        "type": "scatter", "x": table["difference"], "y": list(range(len(rows))), "mode": "markers",
        "marker": {"color": filled, "size": 10, "symbol": "diamond", "line": {"color": DIFFERENCE, "width": 1.5}},
        "error_x": _bars(table["difference"], table["low"], table["high"], DIFFERENCE),
        "hoverinfo": "text", "hovertext": texts,
    }  # fmt: skip
    ticks = [_tick(row, f"{int(row['n_items'])}", names) for row in rows]
    shapes = [] if margin is None else [shade(-margin, margin, BAND)]
    return _rows([marks], ticks, unit, title="A − B", legend=False, shapes=shapes)


def _bars(value: pd.Series, low: pd.Series, high: pd.Series, colour: str) -> dict[str, Any]:
    return {"array": (high - value).fillna(0), "arrayminus": (value - low).fillna(0), "color": colour,
            "thickness": 1.5, "width": 3}  # fmt: skip


def _tick(row: Row, n: str, names: Mapping[str, str] | None) -> str:
    said = plain((names or {}).get(row["label"], row["label"]))
    return f"{said}<br><span style='font-size:10px'>n {n}</span>"


def _rows(
    traces: Sequence[Mapping[str, Any]], ticks: list[str], unit: str, *, title: str, legend: bool,
    shapes: Sequence[Mapping[str, Any]] = (),
) -> go.Figure:  # fmt: skip
    return quiet_figure(
        traces, height=ROW * max(len(ticks), 1) + 92, margin={"r": 12, "t": 36, "b": 52}, showlegend=legend,
        legend=LEGEND_ABOVE, shapes=list(shapes),
        across={"title": {"text": title + _IN.get(unit.strip(), ""), "standoff": 4}, "ticksuffix": unit, "nticks": 6},
        upward={"tickvals": list(range(len(ticks))), "ticktext": ticks, "range": [len(ticks) - 0.5, -0.5]},
    )  # fmt: skip


def _signed(value: float, digits: int) -> str:
    text = f"{abs(value):.{digits}f}"
    return text if float(text) == 0 else ("−" if value < 0 else "+") + text
