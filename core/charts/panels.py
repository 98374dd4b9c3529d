"""Intervals beside labels, or lines, one colour a series and one panel a value: what every figure of a report is."""

import math

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.charts.style import GRID, NEUTRAL, colours, plain

ROW = 20
"""Height of one mark, in px."""
COLUMNS = 2
_BETWEEN, _BELOW = 76, 48  # px: room for an axis' title and the next panel's
_SPREAD = 0.7  # of the distance between two labels, over which the series of one label lie


def places(frame: pd.DataFrame) -> tuple[dict[str, float], dict[str, float]]:
    """Where labels and series stand on the label axis.

    Returns:
        Position of each label, the first 0; and what each series adds to it, so that none hides another.
    """
    labels = {str(name): float(number) for number, name in enumerate(dict.fromkeys(frame["label"]))}
    series = list(dict.fromkeys(map(str, frame["series"])))
    step = _SPREAD / max(len(series), 1)
    return labels, {name: step * (number - (len(series) - 1) / 2) for number, name in enumerate(series)}


def panels(frame: pd.DataFrame, *, axis: str, lines: bool = False, mark: str = "", free: bool = False) -> go.Figure:
    """Draw a figure of a report.

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
    height = _panel_height(frame, lines=lines, series=len(colour))
    drawn = rows * height + (rows - 1) * _BETWEEN
    figure = make_subplots(
        rows=rows, cols=columns, subplot_titles=[plain(str(name)) for name in names] if len(names) > 1 else None,
        shared_xaxes=False if lines or free else "all", shared_yaxes="all" if lines and not free else False,
        horizontal_spacing=0.16 if columns > 1 else 0.0, vertical_spacing=_BETWEEN / drawn if rows > 1 else 0.0,
    )  # fmt: skip
    told: set[str] = set()
    for number, name in enumerate(names):
        at = {"row": number // columns + 1, "col": number % columns + 1}
        part = frame[frame["panel"] == name]
        for series, rows_of in part.groupby("series", sort=False):
            trace = _line(rows_of, mark) if lines else _dots(rows_of, *places(part))
            trace.update(name=plain(str(series)), legendgroup=str(series), marker_color=colour[str(series)],
                         line_color=colour[str(series)], showlegend=str(series) not in told)  # fmt: skip
            told.add(str(series))
            figure.add_trace(trace, **at)
        if not lines:
            labels, _ = places(part)
            figure.update_yaxes(tickvals=list(labels.values()), ticktext=[plain(label) for label in labels],
                                range=[len(labels) - 0.4, -0.6], **at)  # fmt: skip
    _layout(figure, axis=axis, lines=lines, height=drawn, legend=len(colour) > 1)
    return figure


def _dots(rows: pd.DataFrame, labels: dict[str, float], offsets: dict[str, float]) -> go.Scatter:
    y = [labels[str(label)] + offsets[str(series)] for label, series in zip(rows["label"], rows["series"], strict=True)]
    return go.Scatter(
        x=rows["value"], y=y, mode="markers", marker={"size": 8},
        error_x={**_whiskers(rows), "thickness": 1.5, "width": 3},
        hovertext=_hover(rows), hoverinfo="text",
    )  # fmt: skip


def _line(rows: pd.DataFrame, mark: str) -> go.Scatter:
    sizes = [13 if mark and chosen else 6 for chosen in (rows[mark] if mark else [False] * len(rows))]
    return go.Scatter(
        x=rows["label"], y=rows["value"], mode="lines+markers", marker={"size": sizes},
        error_y={**_whiskers(rows), "thickness": 1, "width": 3},
        hovertext=_hover(rows), hoverinfo="text",
    )  # fmt: skip


def _whiskers(rows: pd.DataFrame) -> dict[str, pd.Series]:
    return {"array": (rows["high"] - rows["value"]).fillna(0), "arrayminus": (rows["value"] - rows["low"]).fillna(0)}


def _hover(rows: pd.DataFrame) -> list[str]:
    return [
        f"{plain(str(row['series']))}, {plain(str(row['label']))}: {row['value']:.3g}"
        + ("" if pd.isna(row["low"]) else f" (95 % CI {row['low']:.3g} to {row['high']:.3g})")
        + f"<br>n = {row['n']}"
        for _, row in rows.iterrows()
    ]


def _panel_height(frame: pd.DataFrame, *, lines: bool, series: int) -> int:
    labels = 1 if frame.empty else int(frame.groupby("panel", sort=False)["label"].nunique().max())
    return 260 if lines else int(ROW * max(labels, 2) * max(series, 1.4)) + 20


def _layout(figure: go.Figure, *, axis: str, lines: bool, height: int, legend: bool) -> None:
    top = 70 if legend else 34
    figure.update_layout(
        height=height + top + _BELOW, margin={"l": 8, "r": 8, "t": top, "b": _BELOW}, dragmode=False,
        paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)", showlegend=legend, hoverlabel={"align": "left"},
        legend={"orientation": "h", "x": 0, "y": 1, "xanchor": "left", "yanchor": "top", "yref": "container"},
    )  # fmt: skip
    value, label = (figure.update_yaxes, figure.update_xaxes) if lines else (figure.update_xaxes, figure.update_yaxes)
    value(gridcolor=GRID, zeroline=True, zerolinecolor=NEUTRAL, title_text=axis, title_standoff=6, automargin=True)
    value(showticklabels=True)
    label(showgrid=False, zeroline=False, automargin=True)
