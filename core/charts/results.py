"""Figures of the results: intervals beside labels, scores over levels, a smooth curve, a map of cells.

Series differ by colour and by marker; raw scales of different evaluators never share an axis.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.charts.style import BAND, NEUTRAL, colours, faded, plain, quiet

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "pentagon", "hourglass")
ROW = 15
"""Height in px of one mark with its interval."""

GAP = 70
"""Height in px between two panels: the numbers of one axis and the name of the next panel."""

_SHARE = 0.8  # share of a label's height that its marks take


def symbols(names: Sequence[str]) -> dict[str, str]:
    """Give each name a marker; the same name has the same one while the names are the same."""
    return {name: SYMBOLS[place % len(SYMBOLS)] for place, name in enumerate(sorted(set(names)))}


def intervals(
    table: pd.DataFrame,
    *,
    labels: Sequence[str],
    series: str,
    panel: str | None,
    unit: str,
    digits: int = 2,
    band: tuple[float, float] | None = None,
    names: Mapping[str, str] | None = None,
    free: bool = False,
) -> go.Figure:
    """Draw medians with their intervals, a line a label, one mark a series.

    Args:
        table: columns label, value, low, high, n_items, ``series`` and ``panel``; a verdict where there is one.
        labels: order of the lines from the top; other labels are left out.
        series: column that colour and marker tell apart.
        panel: column of the panels, one above the other; None for one panel.
        unit: behind the numbers of the axis, e.g. `` %``.
        digits: decimals in the hover.
        band: a range that is drawn grey, e.g. the equivalence margin.
        names: label -> the words for it.
        free: every panel has a scale of its own.

    Returns:
        The figure, a legend above it where there are several series. A mark's n stands beside its label.
    """
    rows = table.dropna(subset=["value"])
    rows = rows[rows["label"].isin(list(labels))]
    panels = sorted(rows[panel].astype(str).unique()) if panel else [""]
    kinds = sorted(rows[series].astype(str).unique())
    parts = [rows[rows[panel].astype(str) == name] if panel else rows for name in panels]
    drawn = [[label for label in labels if (part["label"] == label).any()] for part in parts]
    tall = max(ROW * len(kinds), 34)
    figure, area = _stacked([tall * max(len(here), 1) for here in drawn], panels, shared=not free)
    colour, symbol = colours(kinds), symbols(kinds)
    for place, (part, here) in enumerate(zip(parts, drawn, strict=True), start=1):
        for kind in kinds:
            marks = part[part[series].astype(str) == kind]
            figure.add_trace(
                _marks(marks, here, _offset(kinds.index(kind), len(kinds)), colour[kind], symbol[kind],
                       name=kind, legend=place == 1, words=(unit, digits)),
                row=place, col=1,
            )  # fmt: skip
        ticks = [_tick(part, label, names or {}) for label in here]
        figure.update_yaxes(tickvals=list(range(len(here))), ticktext=ticks, range=[len(here) - 0.5, -0.5],
                            row=place, col=1)  # fmt: skip
        if band:
            figure.add_vrect(x0=band[0], x1=band[1], fillcolor=BAND, line_width=0, layer="below", row=place, col=1)
    figure.update_xaxes(ticksuffix=unit, nticks=6, showticklabels=True)
    return _finish(figure, area=area, legend=len(kinds) > 1, titled=panel is not None)


def _marks(
    rows: pd.DataFrame, labels: Sequence[str], offset: float, colour: str, symbol: str, *, name: str, legend: bool,
    words: tuple[str, int],
) -> go.Scatter:  # fmt: skip
    few = [str(each).startswith("too few") for each in rows.get("verdict", pd.Series("", index=rows.index))]
    return go.Scatter(
        x=rows["value"], y=[labels.index(label) + offset for label in rows["label"]], mode="markers",
        name=plain(name), legendgroup=name, showlegend=legend,
        marker={"symbol": symbol, "size": 9, "color": [faded(colour, 0.15) if each else colour for each in few],
                "line": {"color": colour, "width": 1.5}},
        error_x=_bars(rows, colour), hoverinfo="text",
        hovertext=[_hover(row, name, *words) for row in rows.to_dict("records")],
    )  # fmt: skip


def score_levels(table: pd.DataFrame, *, levels: Sequence[str], level: str, series: str = "corpus") -> go.Figure:
    """Draw median scores over levels that have an order, a panel and a scale for each evaluator.

    Args:
        table: columns evaluator, ``level``, ``series``, value, low, high, n_items.
        levels: order of the levels from the left.
        level: column of the levels.
        series: column that colour and marker tell apart.
    """
    rows = table.dropna(subset=["value"])
    evaluators, kinds = (sorted(rows[name].astype(str).unique()) for name in ("evaluator", series))
    figure, area = _stacked([140] * len(evaluators), evaluators, shared=True)
    colour, symbol = colours(kinds), symbols(kinds)
    for place, evaluator in enumerate(evaluators, start=1):
        for index, kind in enumerate(kinds):
            part = rows[(rows["evaluator"] == evaluator) & (rows[series].astype(str) == kind)]
            here = [each for each in levels if each in set(part[level])]
            part = part.set_index(part[level].astype(str)).reindex(here)
            figure.add_trace(
                go.Scatter(
                    x=[levels.index(each) + 0.5 * _offset(index, len(kinds)) for each in part.index], y=part["value"],
                    mode="lines+markers", name=plain(kind), legendgroup=kind,
                    showlegend=place == 1,
                    line={"color": colour[kind], "width": 1.5, "dash": "dot"},
                    marker={"color": colour[kind], "symbol": symbol[kind], "size": 8},
                    error_y=_bars(part, colour[kind]), hoverinfo="text",
                    hovertext=[_hover(row.rename(None), f"{kind}, {each}", "", 3) for each, row in part.iterrows()],
                ),
                row=place, col=1,
            )  # fmt: skip
    counts = rows.groupby(rows[level].astype(str), observed=True)["n_items"].agg(["min", "max"])
    ticks = [f"{plain(each)}<br>n {_span(*counts.loc[each])}" for each in levels]
    figure.update_xaxes(tickvals=list(range(len(levels))), ticktext=ticks, range=[-0.5, len(levels) - 0.5], tickangle=0,
                        tickfont_size=10, showticklabels=True)  # fmt: skip
    made = _finish(figure, area=area, legend=len(kinds) > 1, titled=True)
    made.update_layout(margin_b=52)
    made.update_xaxes(showgrid=False, zeroline=False)
    made.update_yaxes(showgrid=True, gridcolor=BAND, nticks=5)
    return made


def curve(table: pd.DataFrame, *, x: str, y: str, colour: str, percent_x: bool = False) -> go.Figure:
    """Draw a smooth curve with its band.

    Args:
        table: columns x, y, low, high, n; see :func:`core.analysis.curves.spline_curve`.
        x: title of the x axis.
        y: title of the y axis.
        colour: ``#rrggbb``.
        percent_x: write x as a percentage.
    """
    figure = go.Figure()
    edge = [*table["x"], *table["x"][::-1]]
    figure.add_trace(
        go.Scatter(x=edge, y=[*table["high"], *table["low"][::-1]], fill="toself", mode="lines", hoverinfo="skip",
                   fillcolor=faded(colour, 0.2), line={"width": 0})
    )  # fmt: skip
    texts = [
        f"{row['x']:.2f}: {row['y']:.3f} (95 % band {row['low']:.3f} to {row['high']:.3f})<br>"
        f"n = {int(row['n'])} values"
        for _, row in table.iterrows()
    ]  # fmt: skip
    figure.add_trace(
        go.Scatter(x=table["x"], y=table["y"], mode="lines", line={"color": colour, "width": 2}, hovertext=texts,
                   hoverinfo="text")
    )  # fmt: skip
    figure.update_xaxes(title=x, tickformat=".0%" if percent_x else None)
    figure.update_yaxes(title=y)
    made = _finish(figure, area=240, legend=False, titled=False)
    made.update_layout(margin_b=52)
    made.update_xaxes(showgrid=False, zeroline=False)
    made.update_yaxes(showgrid=True, gridcolor=BAND, title_standoff=8)
    return made


def cells(
    table: pd.DataFrame, *, rows: Sequence[str], columns: Sequence[str], row: str, column: str, digits: int = 2,
    unit: str = "", diverging: bool = False,
) -> go.Figure:  # fmt: skip
    """Draw a map of medians, the number and its n in every cell.

    Args:
        table: columns ``row``, ``column``, value, low, high, n_items.
        rows: order from the top.
        columns: order from the left.
        row: column of the table that holds the rows.
        column: column of the table that holds the columns.
        digits: decimals.
        unit: behind the numbers.
        diverging: colours around zero, for shifts; one direction otherwise, for scores.
    """
    grid = table.set_index([row, column])
    found = {key: grid.loc[key] for key in grid.index}
    value = [[_of(found, (r, c), "value") for c in columns] for r in rows]
    texts = [[_cell_text(found.get((r, c)), digits, unit) for c in columns] for r in rows]
    hovers = [[_cell_hover(found.get((r, c)), f"{r}, {c}", unit, digits) for c in columns] for r in rows]
    largest = float(np.nanmax(np.abs(np.array(value, dtype=float)), initial=0.1)) if value else 0.1
    scale = {"colorscale": _AROUND, "zmin": -largest, "zmax": largest} if diverging else {"colorscale": _UPWARD}
    figure = go.Figure(
        go.Heatmap(z=value, x=[plain(each) for each in columns], y=[plain(each) for each in rows], text=texts,
                   texttemplate="%{text}",
                   textfont={"color": _INK}, hovertext=hovers, hoverinfo="text", xgap=2, ygap=2, showscale=False,
                   hoverongaps=False, **scale)
    )  # fmt: skip
    made = quiet(figure, height=44 * max(len(rows), 1) + 70)
    made.update_layout(margin={"l": 8, "r": 8, "t": 30, "b": 8}, font_size=11)
    made.update_yaxes(autorange="reversed", type="category")
    made.update_xaxes(side="top", type="category", showgrid=False, zeroline=False, automargin=True)
    return made


_AROUND = [[0, "#E3A548"], [0.5, "#F6F5F2"], [1, "#6CB0DE"]]
_UPWARD = [[0, "#F1F6FA"], [1, "#6CB0DE"]]
_INK = "#17202A"  # on any of these at least 7:1


def _of(found: Mapping[tuple[str, str], pd.Series], key: tuple[str, str], name: str) -> float | None:
    return float(found[key][name]) if key in found else None


def _cell_text(cell: pd.Series | None, digits: int, unit: str) -> str:
    if cell is None or math.isnan(cell["value"]):
        return ""
    return f"{_number(cell['value'], digits, bool(unit))}{unit}<br>n {int(cell['n_items'])}"


def _cell_hover(cell: pd.Series | None, name: str, unit: str, digits: int) -> str:
    return "" if cell is None else _hover(cell, name, unit, digits)


def _bars(rows: pd.DataFrame, colour: str) -> dict[str, object]:
    return {
        "array": (rows["high"] - rows["value"]).fillna(0), "arrayminus": (rows["value"] - rows["low"]).fillna(0),
        "color": colour, "thickness": 1.5, "width": 3,
    }  # fmt: skip


def _hover(row: Mapping[Hashable, Any] | pd.Series, name: str, unit: str, digits: int) -> str:
    label = f"<b>{plain(str(row['label']))}</b>, " if "label" in row else ""
    bounds = "no interval" if math.isnan(row["low"]) else (
        f"95 % CI {_number(row['low'], digits, bool(unit))} to {_number(row['high'], digits, bool(unit))}{unit}"
    )  # fmt: skip
    verdict = f"; {plain(str(row['verdict']))}" if "verdict" in row else ""
    return (f"{label}{plain(name)}<br>median {_number(row['value'], digits, bool(unit))}{unit} ({bounds})<br>"
            f"n = {int(row['n_items'])} items{verdict}")  # fmt: skip


def _number(value: float, digits: int, signed: bool) -> str:
    text = f"{abs(value):.{digits}f}"
    return text if float(text) == 0 else ("−" if value < 0 else "+" if signed else "") + text


def _offset(place: int, count: int) -> float:
    return 0.0 if count < 2 else _SHARE * (place / (count - 1) - 0.5) * (count - 1) / count


def _tick(rows: pd.DataFrame, label: str, names: Mapping[str, str]) -> str:
    counts = rows.loc[rows["label"] == label, "n_items"]
    said = plain(names.get(label, label))
    return f"{said}<br><span style='font-size:10px'>n {_span(counts.min(), counts.max())}</span>"


def _span(low: float, high: float) -> str:
    return f"{int(low)}" if low == high else f"{int(low)}–{int(high)}"


def _stacked(heights: Sequence[int], titles: Sequence[str], *, shared: bool) -> tuple[go.Figure, int]:
    """Panels one above the other, each as tall as it needs, in px; and the height of them all with their gaps."""
    heights = heights or [34]
    area = sum(heights) + GAP * (len(heights) - 1)
    figure = make_subplots(
        rows=len(heights), cols=1, shared_xaxes=shared, subplot_titles=[plain(name) for name in titles],
        row_heights=list(heights), vertical_spacing=GAP / area if len(heights) > 1 else 0.0,
    )  # fmt: skip
    return figure, area


def _finish(figure: go.Figure, *, area: int, legend: bool, titled: bool) -> go.Figure:
    top = 34 * legend + 26 * titled + 8
    made = quiet(figure, height=area + top + 36)
    made.update_layout(
        showlegend=legend, margin={"l": 8, "r": 12, "t": top, "b": 36},
        legend={"orientation": "h", "x": 0, "xanchor": "left", "yref": "container", "y": 1, "yanchor": "top",
                "title": None, "itemclick": False, "itemdoubleclick": False},
    )  # fmt: skip
    made.update_annotations(x=0, xanchor="left", font_size=13, font_color=NEUTRAL)
    return made
