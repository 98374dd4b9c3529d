"""Figures of the page Calibration: correlation and sensitivity along λ, before and after by family."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.charts.style import NEUTRAL, faded, plain, quiet

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
    figure = go.Figure()
    for name, rows in table.groupby("name", sort=True):
        test, dev = (rows[rows["split"] == split] for split in ("test", "dev"))
        _band(figure, test, colour[str(name)])
        _line(figure, dev, colour[str(name)], f"{name}, dev", dashed=True)
        _line(figure, test, colour[str(name)], f"{name}, held out", dashed=False)
    _marks(figure, table, strength, chosen)
    figure.update_yaxes(title={"text": "Spearman's ρ", "standoff": 2})
    return _finished(figure)


def sensitivity_along(table: pd.DataFrame, *, strength: float, chosen: float, colour: Mapping[str, str]) -> go.Figure:
    """Draw the sensitivity of every axis along λ, in score units.

    Args:
        table: ``axis sensitivity`` rows of ``sweep_table``.
        strength: λ that is looked at.
        chosen: λ*.
        colour: ``#rrggbb`` by axis.
    """
    figure = go.Figure()
    for name, rows in table.groupby("name", sort=True):
        for split, dashed in (("dev", True), ("test", False)):
            said = "dev" if dashed else "held out"
            _line(figure, rows[rows["split"] == split], colour[str(name)], f"{name}, {said}", dashed=dashed)
    _marks(figure, table, strength, chosen)
    figure.update_yaxes(title={"text": "median |Δ|", "standoff": 2}, rangemode="tozero")
    return _finished(figure)


def before_after_bars(table: pd.DataFrame, *, colour: str, unit: str = "") -> go.Figure:
    """Draw one measure before and after calibration, a pair of bars a name.

    Args:
        table: rows of ``core.analysis.calibration_effect.before_after`` of one measure.
        colour: ``#rrggbb`` of the evaluator.
        unit: written behind the values, e.g. ``" %"``.
    """
    names = [plain(str(name)) for name in table["name"]]
    figure = go.Figure()
    for side, fill in (("before", faded(NEUTRAL, 0.55)), ("after", colour)):
        figure.add_bar(
            y=names,
            x=table[side],
            name=side,
            orientation="h",
            marker={"color": fill},
            error_x={
                "array": (table[f"{side}_high"] - table[side]).fillna(0),
                "arrayminus": (table[side] - table[f"{side}_low"]).fillna(0),
                "color": NEUTRAL,
                "thickness": 1.2,
                "width": 3,
            },
            hovertext=[_hover(row, side, unit) for row in table.to_dict("records")],
            hoverinfo="text",
        )
    figure.update_yaxes(autorange="reversed", type="category")
    quiet(figure, height=44 * max(len(table), 1) + 84)
    figure.update_layout(
        barmode="group", bargap=0.3, showlegend=True, margin={"t": 28},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
    )  # fmt: skip
    return figure.update_xaxes(ticksuffix=unit, nticks=5, rangemode="tozero")


def _hover(row: Mapping[object, object], side: str, unit: str) -> str:
    value, low, high = (float(str(row[name])) for name in (side, f"{side}_low", f"{side}_high"))
    told = f" (95 % CI {low:.4g} to {high:.4g})" if low == low else ""
    return f"<b>{plain(str(row['name']))}</b>, {side}<br>{value:.4g}{unit}{told}<br>n = {row['n']} items"


def _band(figure: go.Figure, rows: pd.DataFrame, colour: str) -> None:
    if rows["low"].isna().all():
        return
    around = [*rows["strength"], *rows["strength"][::-1]]
    figure.add_scatter(
        x=around, y=[*rows["high"], *rows["low"][::-1]], fill="toself", fillcolor=faded(colour, 0.16),
        line={"width": 0}, hoverinfo="skip", showlegend=False, mode="lines",
    )  # fmt: skip


def _line(figure: go.Figure, rows: pd.DataFrame, colour: str, name: str, *, dashed: bool) -> None:
    hover = [
        f"<b>{plain(name)}</b><br>λ = {row['strength']:g}: {row['value']:.4g}"
        + (f" (95 % band {row['low']:.4g} to {row['high']:.4g})" if row["low"] == row["low"] else "")
        + f"<br>n = {row['n']} items"
        for row in rows.to_dict("records")
    ]
    figure.add_scatter(
        x=rows["strength"], y=rows["value"], name=plain(name), mode="lines", hovertext=hover, hoverinfo="text",
        line={"color": colour, "width": 1.2 if dashed else 2.4, "dash": "dash" if dashed else "solid"},
    )  # fmt: skip


def _marks(figure: go.Figure, table: pd.DataFrame, strength: float, chosen: float) -> None:
    grid = table.drop_duplicates("strength").sort_values("strength")
    for low, high in _stretches(grid["strength"].to_numpy(float), grid["allowed"].to_numpy(bool)):
        figure.add_vrect(x0=low, x1=high, fillcolor=ALLOWED, line_width=0, layer="below")
    figure.add_vline(x=chosen, line={"color": NEUTRAL, "width": 1.2, "dash": "dot"}, annotation_text="λ*",
                     annotation_position="top")  # fmt: skip
    if strength != chosen:
        figure.add_vline(x=strength, line={"color": NEUTRAL, "width": 1.6}, annotation_text="λ",
                         annotation_position="top")  # fmt: skip


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


def _finished(figure: go.Figure) -> go.Figure:
    quiet(figure, height=360)
    figure.update_layout(
        showlegend=True, margin={"t": 24, "b": 8}, legend={"orientation": "h", "y": -0.2, "x": 0, "font": {"size": 11}}
    )
    figure.update_yaxes(showgrid=True, gridcolor=faded(NEUTRAL, 0.2), ticksuffix="", nticks=6)
    return figure.update_xaxes(title={"text": "strength λ", "standoff": 4}, range=[-0.02, 1.02], nticks=6)
