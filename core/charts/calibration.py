"""Figures of the page Calibration: correlation and sensitivity along λ, before and after by family."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.charts.style import NEUTRAL, Row, faded, grouped, plain, quiet_figure, shade

ALLOWED = "rgba(0,147,107,0.10)"
"""Shade of the strengths that keep every correlation."""


def spearman_along(table: pd.DataFrame, *, strength: float, chosen: float, colour: Mapping[str, str]) -> go.Figure:
    """Draw ρ of the calibrated score with every H along λ.

    Args:
        table: ``spearman`` rows of ``core.analysis.calibration_fit.sweep_table``.
        strength: λ that is looked at.
        chosen: λ*.
        colour: ``#rrggbb`` by H.

    Returns:
        The test split as a line with its band, the dev split dashed, the allowed strengths shaded, both λ marked.
    """
    traces = []
    for name, rows in grouped(table.to_dict("records"), "name").items():
        test, dev = ([row for row in rows if row["split"] == split] for split in ("test", "dev"))
        traces += _band(test, colour[name])
        traces.append(_line(dev, colour[name], f"{name}, dev", dashed=True))
        traces.append(_line(test, colour[name], f"{name}, held out", dashed=False))
    return _along(traces, table, strength, chosen, upward={"title": {"text": "Spearman's ρ", "standoff": 12}})


def sensitivity_along(table: pd.DataFrame, *, strength: float, chosen: float, colour: Mapping[str, str]) -> go.Figure:
    """Draw the sensitivity of every axis along λ, in score units.

    Args:
        table: ``axis sensitivity`` rows of ``sweep_table``.
        strength: λ that is looked at.
        chosen: λ*.
        colour: ``#rrggbb`` by axis.
    """
    traces = []
    for name, rows in grouped(table.to_dict("records"), "name").items():
        for split, said in (("dev", "dev"), ("test", "held out")):
            own = [row for row in rows if row["split"] == split]
            traces.append(_line(own, colour[name], f"{name}, {said}", dashed=split == "dev"))
    upward = {"title": {"text": "median |Δ|", "standoff": 12}, "rangemode": "tozero"}
    return _along(traces, table, strength, chosen, upward=upward)


def before_after_bars(table: pd.DataFrame, *, colour: str, unit: str = "") -> go.Figure:
    """Draw one measure before and after calibration, a pair of bars a name.

    Args:
        table: rows of ``core.analysis.calibration_effect.before_after`` of one measure.
        colour: ``#rrggbb`` of the evaluator.
        unit: written behind the values, e.g. ``" %"``.
    """
    names, rows = [plain(str(name)) for name in table["name"]], table.to_dict("records")
    bars = [
        {
            "type": "bar", "y": names, "x": table[side], "name": side, "orientation": "h", "marker": {"color": fill},
            "error_x": {"array": (table[f"{side}_high"] - table[side]).fillna(0),
                        "arrayminus": (table[side] - table[f"{side}_low"]).fillna(0), "color": NEUTRAL,
                        "thickness": 1.2, "width": 3},
            "hovertext": [_hover(row, side, unit) for row in rows], "hoverinfo": "text",
        }
        for side, fill in (("before", faded(NEUTRAL, 0.55)), ("after", colour))
    ]  # fmt: skip
    return quiet_figure(
        bars, height=44 * max(len(table), 1) + 84, margin={"t": 28}, barmode="group", bargap=0.3, showlegend=True,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        across={"ticksuffix": unit, "nticks": 5, "rangemode": "tozero"},
        upward={"autorange": "reversed", "type": "category"},
    )  # fmt: skip


def _hover(row: Mapping[object, object], side: str, unit: str) -> str:
    value, low, high = (float(str(row[name])) for name in (side, f"{side}_low", f"{side}_high"))
    told = f" (95 % CI {low:.4g} to {high:.4g})" if low == low else ""
    return f"<b>{plain(str(row['name']))}</b>, {side}<br>{value:.4g}{unit}{told}<br>n = {row['n']} items"


def _band(rows: Sequence[Row], colour: str) -> list[dict[str, Any]]:
    if all(math.isnan(row["low"]) for row in rows):
        return []
    along, low, high = ([row[name] for row in rows] for name in ("strength", "low", "high"))
    band = {
        "type": "scatter", "x": [*along, *along[::-1]], "y": [*high, *low[::-1]], "fill": "toself",
        "fillcolor": faded(colour, 0.16), "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False,
        "mode": "lines",
    }  # fmt: skip
    return [band]


def _line(rows: Sequence[Row], colour: str, name: str, *, dashed: bool) -> dict[str, Any]:
    hover = [
        f"<b>{plain(name)}</b><br>λ = {row['strength']:g}: {row['value']:.4g}"
        + (f" (95 % band {row['low']:.4g} to {row['high']:.4g})" if row["low"] == row["low"] else "")
        + f"<br>n = {row['n']} items"
        for row in rows
    ]
    along, values = (np.array([row[name] for row in rows], dtype=np.float64) for name in ("strength", "value"))
    return {
        "type": "scatter", "x": along, "y": values, "name": plain(name), "mode": "lines",
        "hovertext": hover, "hoverinfo": "text",
        "line": {"color": colour, "width": 1.2 if dashed else 2.4, "dash": "dash" if dashed else "solid"},
    }  # fmt: skip


def _along(
    traces: Sequence[Mapping[str, Any]], table: pd.DataFrame, strength: float, chosen: float, *,
    upward: Mapping[str, Any],
) -> go.Figure:  # fmt: skip
    """A figure over λ: the allowed strengths shaded, λ* and the strength that is looked at marked."""
    grid = table.drop_duplicates("strength").sort_values("strength")
    allowed = _stretches(grid["strength"].to_numpy(float), grid["allowed"].to_numpy(bool))
    marks = [(chosen, "λ*", {"width": 1.2, "dash": "dot"})]
    marks += [(strength, "λ", {"width": 1.6})] if strength != chosen else []
    return quiet_figure(
        traces, height=360, margin={"t": 24, "b": 8}, showlegend=True,
        legend={"orientation": "h", "y": -0.2, "x": 0, "font": {"size": 11}},
        shapes=[*(shade(low, high, ALLOWED) for low, high in allowed), *(_upright(at, line) for at, _, line in marks)],
        annotations=[_said_above(at, text) for at, text, _ in marks],
        across={"title": {"text": "strength λ", "standoff": 4}, "range": [-0.02, 1.02], "nticks": 6},
        upward={"showgrid": True, "gridcolor": faded(NEUTRAL, 0.2), "ticksuffix": "", "nticks": 6, **upward},
    )  # fmt: skip


def _upright(at: float, line: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "line", "x0": at, "x1": at, "xref": "x", "y0": 0, "y1": 1, "yref": "y domain",
            "line": {"color": NEUTRAL, **line}}  # fmt: skip


def _said_above(at: float, text: str) -> dict[str, Any]:
    return {"text": text, "x": at, "xref": "x", "xanchor": "center", "y": 1, "yref": "y domain", "yanchor": "bottom",
            "showarrow": False}  # fmt: skip


def _stretches(strengths: Sequence[float] | np.ndarray, allowed: Sequence[bool] | np.ndarray) -> list[tuple]:
    """Runs of allowed strengths, each from half a step before its first to half a step behind its last."""
    half = (strengths[1] - strengths[0]) / 2 if len(strengths) > 1 else 0.5
    found: list[tuple] = []
    for value, ok in zip(strengths, allowed, strict=True):
        if ok and found and abs(found[-1][1] - (value - half)) < 1e-9:
            found[-1] = (found[-1][0], value + half)
        elif ok:
            found.append((value - half, value + half))
    return [(max(low, strengths[0]), min(high, strengths[-1])) for low, high in found]
