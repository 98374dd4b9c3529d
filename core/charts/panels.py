"""Intervals beside labels, or lines, one colour a series and one panel a value: what every figure of a report is."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.charts.stacked import number
from core.charts.style import GRID, NEUTRAL, Row, colours, plain

ROW = 20
"""Height of one mark, in px."""
COLUMNS = 2
_BETWEEN, _BELOW = 76, 48  # px: room for an axis' title and the next panel's
_BESIDE = 0.16  # of the width: room for the labels of the panel on the right
_SPREAD = 0.7  # of the distance between two labels, over which the series of one label lie


def places(frame: pd.DataFrame) -> tuple[dict[str, float], dict[str, float]]:
    """Where labels and series stand on the label axis.

    Returns:
        Position of each label, the first 0; and what each series adds to it, so that none hides another.
    """
    labels = {str(name): float(place) for place, name in enumerate(dict.fromkeys(frame["label"]))}
    series = list(dict.fromkeys(map(str, frame["series"])))
    step = _SPREAD / max(len(series), 1)
    return labels, {name: step * (place - (len(series) - 1) / 2) for place, name in enumerate(series)}


def panels(frame: pd.DataFrame, *, axis: str, lines: bool = False, mark: str = "", free: bool = False) -> go.Figure:
    """Draw a figure of a report, made whole.

    Args:
        frame: columns label, series, panel, value, low, high, n.
        axis: name and unit of the values.
        lines: connect the marks of a series; label is then the x, a number or the name of a step.
        mark: column that marks one point of each series.
        free: every panel has a value axis of its own.
    """
    names = list(dict.fromkeys(frame["panel"]))
    columns = min(COLUMNS, len(names)) or 1
    rows = math.ceil(max(len(names), 1) / columns)
    colour = colours(map(str, frame["series"].unique()))
    drawn = rows * _panel_height(frame, lines=lines, series=len(colour)) + (rows - 1) * _BETWEEN
    boxes = _boxes(rows, columns, _BETWEEN / drawn if rows > 1 else 0.0)
    layout = _layout(height=drawn, legend=len(colour) > 1)
    held = number((rows - 1) * columns) if not free else None
    layout |= _axes(boxes, axis=axis, lines=lines, held=held)
    if len(names) > 1:
        layout["annotations"] = [_title(str(name), *box) for name, box in zip(names, boxes, strict=False)]
    traces, told = [], set[str]()
    for place, name in enumerate(names):
        part = frame[frame["panel"] == name]
        labels, offsets = places(part)
        for series, own in _by_series(part).items():
            trace = _line(own, mark) if lines else _dots(own, labels, offsets)
            trace["marker"]["color"] = colour[series]
            trace |= {"type": "scatter", "name": plain(series), "legendgroup": series,
                      "line": {"color": colour[series]}, "showlegend": series not in told,
                      "xaxis": f"x{number(place)}", "yaxis": f"y{number(place)}"}  # fmt: skip
            told.add(series)
            traces.append(trace)
        if not lines:
            layout[f"yaxis{number(place)}"] |= {
                "tickvals": list(labels.values()), "ticktext": [plain(label) for label in labels],
                "range": [len(labels) - 0.4, -0.6],
            }  # fmt: skip
    return go.Figure(traces, layout)


def _by_series(part: pd.DataFrame) -> dict[str, list[Row]]:
    """Rows of a panel by their series, in the order in which the series come."""
    found: dict[str, list[Row]] = {}
    for row in part.to_dict("records"):
        found.setdefault(str(row["series"]), []).append(row)
    return found


def _dots(rows: Sequence[Row], labels: dict[str, float], offsets: dict[str, float]) -> dict[str, Any]:
    return {
        "x": _values(rows), "y": [labels[str(row["label"])] + offsets[str(row["series"])] for row in rows],
        "mode": "markers", "marker": {"size": 8}, "error_x": {**_whiskers(rows), "thickness": 1.5, "width": 3},
        "hovertext": [_hover(row) for row in rows], "hoverinfo": "text",
    }  # fmt: skip


def _line(rows: Sequence[Row], mark: str) -> dict[str, Any]:
    return {
        "x": np.array([row["label"] for row in rows]), "y": _values(rows), "mode": "lines+markers",
        "marker": {"size": [13 if mark and row[mark] else 6 for row in rows]},
        "error_y": {**_whiskers(rows), "thickness": 1, "width": 3},
        "hovertext": [_hover(row) for row in rows], "hoverinfo": "text",
    }  # fmt: skip


def _values(rows: Sequence[Row], column: str = "value") -> np.ndarray:
    return np.array([row[column] for row in rows], dtype=np.float64)


def _whiskers(rows: Sequence[Row]) -> dict[str, np.ndarray]:
    value, low, high = _values(rows), _values(rows, "low"), _values(rows, "high")
    reach = {"array": high - value, "arrayminus": value - low}
    return {name: np.where(np.isnan(length), 0.0, length) for name, length in reach.items()}


def _hover(row: Row) -> str:
    interval: str = "" if pd.isna(row["low"]) else f" (95 % CI {row['low']:.3g} to {row['high']:.3g})"
    who = f"{plain(str(row['series']))}, {plain(str(row['label']))}"
    return f"{who}: {row['value']:.3g}{interval}<br>n = {row['n']}"


def _panel_height(frame: pd.DataFrame, *, lines: bool, series: int) -> int:
    labels = 1 if frame.empty else int(frame.groupby("panel", sort=False)["label"].nunique().max())
    return 260 if lines else int(ROW * max(labels, 2) * max(series, 1.4)) + 20


def _boxes(rows: int, columns: int, gap: float) -> list[tuple[list[float], list[float]]]:
    """Stretch across and upward of every panel, as shares of the figure; row by row, the first on top."""
    wide = (1 - (_BESIDE if columns > 1 else 0.0) * (columns - 1)) / columns
    high = (1 - gap * (rows - 1)) / rows
    across = [[column * (wide + _BESIDE), column * (wide + _BESIDE) + wide] for column in range(columns)]
    upward = [[row * (high + gap), row * (high + gap) + high] for row in reversed(range(rows))]
    return [(left, up) for up in upward for left in across]


def _title(text: str, across: Sequence[float], upward: Sequence[float]) -> dict[str, Any]:
    return {
        "text": plain(text), "x": (across[0] + across[1]) / 2, "xref": "paper", "xanchor": "center", "y": upward[1],
        "yref": "paper", "yanchor": "bottom", "showarrow": False, "font": {"size": 16},
    }  # fmt: skip


def _axes(
    boxes: Sequence[tuple[list[float], list[float]]], *, axis: str, lines: bool, held: str | None
) -> dict[str, Any]:
    """Axes of every panel; ``held``: number of the panel whose value axis all others follow, None: each its own."""
    value = {"gridcolor": GRID, "zeroline": True, "zerolinecolor": NEUTRAL, "automargin": True, "showticklabels": True,
             "title": {"text": axis, "standoff": 6}}  # fmt: skip
    label = {"showgrid": False, "zeroline": False, "automargin": True}
    found: dict[str, Any] = {}
    for place, (across, upward) in enumerate(boxes):
        name = number(place)
        follows = {} if held in (None, name) else {"matches": f"{'y' if lines else 'x'}{held}"}
        own = {**value, **follows}
        wide, high = (label, own) if lines else (own, label)
        found[f"xaxis{name}"] = {**wide, "anchor": f"y{name}", "domain": across}
        found[f"yaxis{name}"] = {**high, "anchor": f"x{name}", "domain": upward}
    return found


def _layout(*, height: int, legend: bool) -> dict[str, Any]:
    top = 70 if legend else 34
    return {
        "height": height + top + _BELOW, "margin": {"l": 8, "r": 8, "t": top, "b": _BELOW}, "dragmode": False,
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "showlegend": legend,
        "hoverlabel": {"align": "left"},
        "legend": {"orientation": "h", "x": 0, "y": 1, "xanchor": "left", "yanchor": "top", "yref": "container"},
    }  # fmt: skip
