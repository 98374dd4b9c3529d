"""Figures of the results: intervals beside labels, scores over levels, a smooth curve, a map of cells.

Series differ by colour and by marker; raw scales of different evaluators never share an axis.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.charts.stacked import number, stacked
from core.charts.style import BAND, Row, colours, faded, grouped, plain, quiet_figure, shade

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "pentagon", "hourglass")
ROW = 15
"""Height in px of one mark with its interval."""

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
    axis: str = "",
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
        axis: what the numbers are, under the last panel.

    Returns:
        The figure, a legend above it where there are several series. A mark's n stands beside its label.
    """
    wanted = set(labels)
    rows = [row for row in table.dropna(subset=["value"]).to_dict("records") if row["label"] in wanted]
    parts = grouped(rows, panel) if panel else {"": list[Row](rows)}
    kinds = list(grouped(rows, series))
    colour, symbol = colours(kinds), symbols(kinds)
    traces, heights, upward = [], [], []
    for place, part in enumerate(parts.values()):
        here = [label for label in labels if any(row["label"] == label for row in part)]
        marks = grouped(part, series)
        for index, kind in enumerate(kinds):
            at = [here.index(row["label"]) + _offset(index, len(kinds)) for row in marks.get(kind, [])]
            trace = _marks(marks.get(kind, []), at, colour[kind], symbol[kind], name=kind, words=(unit, digits))
            traces.append(trace | _axes(place) | {"showlegend": place == 0})
        heights.append(max(ROW * len(kinds), 34) * max(len(here), 1))
        upward.append({"tickvals": list(range(len(here))), "ticktext": _ticks(part, here, names or {}),
                       "range": [len(here) - 0.5, -0.5]})  # fmt: skip
    return stacked(
        traces, heights=heights, titles=list(parts), shared=not free, legend=len(kinds) > 1, titled=panel is not None,
        across={"ticksuffix": unit, "nticks": 6, "showticklabels": True}, upward=upward, below=60 if axis else 36,
        axis=axis,
        shapes=[shade(*band, BAND, axis=number(place)) for place in range(len(parts))] if band else (),
    )  # fmt: skip


def _marks(
    rows: Sequence[Row], at: Sequence[float], colour: str, symbol: str, *, name: str, words: tuple[str, int]
) -> dict[str, Any]:
    few = [str(row.get("verdict", "")).startswith("too few") for row in rows]
    return {
        "type": "scatter", "x": _column(rows, "value"), "y": list(at), "mode": "markers", "name": plain(name),
        "legendgroup": name,
        "marker": {"symbol": symbol, "size": 9, "color": [faded(colour, 0.15) if each else colour for each in few],
                   "line": {"color": colour, "width": 1.5}},
        "error_x": _bars(rows, colour), "hoverinfo": "text", "hovertext": [_hover(row, name, *words) for row in rows],
    }  # fmt: skip


def score_levels(table: pd.DataFrame, *, levels: Sequence[str], level: str, series: str = "corpus") -> go.Figure:
    """Draw median scores over levels that have an order, a panel and a scale for each evaluator.

    Args:
        table: columns evaluator, ``level``, ``series``, value, low, high, n_items.
        levels: order of the levels from the left.
        level: column of the levels.
        series: column that colour and marker tell apart.
    """
    rows = table.dropna(subset=["value"]).to_dict("records")
    kinds, parts, counts = list(grouped(rows, series)), grouped(rows, "evaluator"), grouped(rows, level)
    colour, symbol = colours(kinds), symbols(kinds)
    traces = []
    for place, part in enumerate(parts.values()):
        for index, (kind, own) in enumerate((kind, grouped(part, series).get(kind, [])) for kind in kinds):
            own = sorted(own, key=lambda row: levels.index(str(row[level])))
            traces.append({
                "type": "scatter", "y": _column(own, "value"), "mode": "lines+markers", "name": plain(kind),
                "x": [levels.index(str(row[level])) + 0.5 * _offset(index, len(kinds)) for row in own],
                "legendgroup": kind, "showlegend": place == 0,
                "line": {"color": colour[kind], "width": 1.5, "dash": "dot"},
                "marker": {"color": colour[kind], "symbol": symbol[kind], "size": 8},
                "error_y": _bars(own, colour[kind]), "hoverinfo": "text",
                "hovertext": [_hover(row, f"{kind}, {row[level]}", "", 3) for row in own], **_axes(place),
            })  # fmt: skip
    ticks = [f"{plain(each)}<br>n {_counted(counts[each])}" for each in levels]
    return stacked(
        traces, heights=[140] * len(parts), titles=list(parts), shared=True, legend=len(kinds) > 1, titled=True,
        below=52, upward=[{"showgrid": True, "gridcolor": BAND, "nticks": 5}] * max(len(parts), 1),
        across={"tickvals": list(range(len(levels))), "ticktext": ticks, "range": [-0.5, len(levels) - 0.5],
                "tickangle": 0, "tickfont": {"size": 10}, "showticklabels": True, "showgrid": False,
                "zeroline": False},
    )  # fmt: skip


def curve(table: pd.DataFrame, *, x: str, y: str, colour: str, percent_x: bool = False) -> go.Figure:
    """Draw a smooth curve with its band.

    Args:
        table: columns x, y, low, high, n; see :func:`core.analysis.curves.spline_curve`.
        x: title of the x axis.
        y: title of the y axis.
        colour: ``#rrggbb``.
        percent_x: write x as a percentage.
    """
    places = table["x"] * (100 if percent_x else 1)
    edge = [*places, *places[::-1]]
    band = {
        "type": "scatter", "x": edge, "y": [*table["high"], *table["low"][::-1]], "fill": "toself", "mode": "lines",
        "hoverinfo": "skip", "fillcolor": faded(colour, 0.2), "line": {"width": 0},
    }  # fmt: skip
    texts = [
        f"{row['x']:.2f}: {row['y']:.3f} (95 % band {row['low']:.3f} to {row['high']:.3f})<br>"
        f"n = {int(row['n'])} values"
        for row in table.to_dict("records")
    ]  # fmt: skip
    line = {
        "type": "scatter", "x": places, "y": table["y"], "mode": "lines", "line": {"color": colour, "width": 2},
        "hovertext": texts, "hoverinfo": "text",
    }  # fmt: skip
    return quiet_figure(
        (band, line), height=284, margin={"r": 12, "b": 52},
        across={"title": {"text": x}, "ticksuffix": " %" if percent_x else None, "showgrid": False,
                "zeroline": False},
        upward={"title": {"text": y, "standoff": 8}, "showgrid": True, "gridcolor": BAND},
    )  # fmt: skip


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
    records = table.drop(columns=[row, column]).to_dict("records")
    found = dict(zip(zip(table[row], table[column], strict=True), records, strict=True))
    value = [[_of(found, (r, c), "value") for c in columns] for r in rows]
    texts = [[_cell_text(found.get((r, c)), digits, unit) for c in columns] for r in rows]
    hovers = [[_cell_hover(found.get((r, c)), f"{r}, {c}", unit, digits) for c in columns] for r in rows]
    largest = float(np.nanmax(np.abs(np.array(value, dtype=float)), initial=0.1)) if value else 0.1
    scale = {"colorscale": _AROUND, "zmin": -largest, "zmax": largest} if diverging else {"colorscale": _UPWARD}
    map_of = {
        "type": "heatmap", "z": value, "x": [plain(each) for each in columns], "y": [plain(each) for each in rows],
        "text": texts, "texttemplate": "%{text}", "textfont": {"color": _INK}, "hovertext": hovers,
        "hoverinfo": "text", "xgap": 2, "ygap": 2, "showscale": False, "hoverongaps": False,
    }  # fmt: skip
    return quiet_figure(
        [map_of | scale], height=44 * max(len(rows), 1) + 70, margin={"t": 30, "b": 8}, font={"size": 11},
        upward={"autorange": "reversed", "type": "category"},
        across={"side": "top", "type": "category", "showgrid": False, "zeroline": False, "automargin": True},
    )  # fmt: skip


_AROUND = [[0, "#E3A548"], [0.5, "#F6F5F2"], [1, "#6CB0DE"]]
_UPWARD = [[0, "#F1F6FA"], [1, "#6CB0DE"]]
_INK = "#17202A"  # on any of these at least 7:1


def _column(rows: Sequence[Row], name: str) -> np.ndarray:
    return np.array([row[name] for row in rows], dtype=np.float64)


def _axes(place: int) -> dict[str, str]:
    return {"xaxis": f"x{number(place)}", "yaxis": f"y{number(place)}"}


def _of(found: Mapping[tuple[str, str], Row], key: tuple[str, str], name: str) -> float | None:
    return float(found[key][name]) if key in found else None


def _cell_text(cell: Row | None, digits: int, unit: str) -> str:
    if cell is None or math.isnan(cell["value"]):
        return ""
    return f"{_number(cell['value'], digits, bool(unit))}{unit}<br>n {int(cell['n_items'])}"


def _cell_hover(cell: Row | None, name: str, unit: str, digits: int) -> str:
    return "" if cell is None else _hover(cell, name, unit, digits)


def _bars(rows: Sequence[Row], colour: str) -> dict[str, object]:
    low, value, high = (_column(rows, name) for name in ("low", "value", "high"))
    return {
        "array": np.nan_to_num(high - value), "arrayminus": np.nan_to_num(value - low), "color": colour,
        "thickness": 1.5, "width": 3,
    }  # fmt: skip


def _hover(row: Row, name: str, unit: str, digits: int) -> str:
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


def _ticks(rows: Sequence[Row], labels: Sequence[str], names: Mapping[str, str]) -> list[str]:
    counts = grouped(rows, "label")
    return [
        f"{plain(names.get(label, label))}<br><span style='font-size:10px'>n {_counted(counts[label])}</span>"
        for label in labels
    ]


def _counted(rows: Sequence[Row]) -> str:
    """Items of the rows, from the fewest to the most."""
    counts = [int(row["n_items"]) for row in rows]
    return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)}–{max(counts)}"
