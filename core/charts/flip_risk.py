"""Figures of the page Flip risk: a map of families and evaluators, risk against the gap, flips of two systems."""

import math
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from core.charts.style import NEUTRAL, PALETTE, faded, plain, quiet, quiet_layout

BOUND = 50.0
"""No flip risk exceeds it, in percent. Source: PROTOCOL section 8."""

NULL = "null"
"""The axis of edits that nobody can see."""

_DASHES = ("solid", "dash", "dashdot", "longdash")
_TICKS = (0.1, 0.3, 1, 3, 10, 30)

SCALE = "Cividis"
"""Colours that order alike for every reader, in print too."""


def risk_map(cells: pd.DataFrame) -> go.Figure:
    """Draw families against evaluators.

    Args:
        cells: rows of ``core.analysis.flip_risk.flip_risks`` at one gap.

    Returns:
        Risk in percent as colour and number, from 0 to the bound; hover: interval, d, n.
    """
    order = cells.assign(last=cells["axis"] == NULL).sort_values(["last", "axis", "family"], kind="stable")
    families = list(dict.fromkeys(order["family"]))
    evaluators = sorted(cells["evaluator"].unique())
    risk = cells.pivot_table(index="family", columns="evaluator", values="risk", aggfunc="first")
    hover = {(row["evaluator"], row["family"]): _cell_hover(row) for row in cells.to_dict("records")}
    figure = go.Figure(
        go.Heatmap(
            z=100 * risk.reindex(index=families, columns=evaluators).to_numpy(dtype=float),
            x=[plain(name) for name in evaluators],
            y=[plain(name) for name in families],
            text=[[hover.get((evaluator, family), "no shifts") for evaluator in evaluators] for family in families],
            hoverinfo="text",
            texttemplate="%{z:.1f}",
            textfont={"size": 13},
            zmin=0,
            zmax=BOUND,
            colorscale=SCALE,
            xgap=2,
            ygap=2,
            colorbar={"title": {"text": "%", "side": "top"}, "thickness": 10, "len": 1.0, "outlinewidth": 0},
        )
    )
    figure.update_yaxes(autorange="reversed", type="category")
    figure.update_xaxes(type="category", side="top", showgrid=False, zeroline=False)
    quiet(figure, height=32 * max(len(families), 1) + 64)
    figure.update_xaxes(zeroline=False, showgrid=False)
    return figure.update_layout(margin={"t": 40, "b": 8})


def risk_curves(cells: pd.DataFrame, *, gap: float, styles: Mapping[str, tuple[str, str]]) -> go.Figure:
    """Draw one evaluator's risk against the gap, a line a family; the gap on a logarithmic scale, without 0.

    Args:
        cells: one evaluator's rows of ``core.analysis.flip_risk.cell_curves`` or ``flip_risks``.
        gap: the gap that is looked at, a share.
        styles: of :func:`family_styles`.
    """
    lines = [
        {
            "type": "scatter", "x": 100 * rows["gap"].to_numpy(), "y": 100 * rows["risk"].to_numpy(),
            "name": plain(str(family)), "mode": "lines",
            "line": {"color": styles[str(family)][0], "dash": styles[str(family)][1], "width": 2},
            "hovertext": [_cell_hover(row) for row in rows.to_dict("records")], "hoverinfo": "text",
        }
        for family, rows in cells[cells["gap"] > 0].sort_values("gap").groupby("family", sort=True)
    ]  # fmt: skip
    # lines across, as add_hline and add_vline draw them
    marks: list[dict[str, Any]] = [
        {"type": "line", "x0": 0, "x1": 1, "xref": "x domain", "y0": BOUND, "y1": BOUND, "yref": "y",
         "line": {"color": NEUTRAL, "width": 1, "dash": "dot"}},
    ]  # fmt: skip
    if gap > 0:
        marks.append({"type": "line", "x0": 100 * gap, "x1": 100 * gap, "xref": "x", "y0": 0, "y1": 1,
                      "yref": "y domain", "line": {"color": NEUTRAL, "width": 1}})  # fmt: skip
    layout = quiet_layout(340)
    layout |= {"shapes": marks, "showlegend": True, "margin": layout["margin"] | {"b": 8},
               "legend": {"orientation": "h", "y": -0.22, "x": 0, "font": {"size": 11}}}  # fmt: skip
    layout["xaxis"] |= {"title": {"text": "gap d, %", "standoff": 4}, "type": "log", "tickvals": _TICKS,
                        "zeroline": False}  # fmt: skip
    layout["yaxis"] |= {"range": [0, BOUND + 3], "ticksuffix": " %", "showgrid": True,
                        "gridcolor": faded(NEUTRAL, 0.2), "nticks": 6}  # fmt: skip
    return go.Figure(lines, layout)


def family_styles(cells: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Give each family a colour and a dash: every axis has a dash, colours begin anew in each; null edits are grey.

    Args:
        cells: columns axis, family.

    Returns:
        (``#rrggbb``, plotly dash) by family.
    """
    styles: dict[str, tuple[str, str]] = {}
    axes = [axis for axis in ("spatial", "societal") if axis in set(cells["axis"])]
    axes += sorted(set(map(str, cells["axis"])) - {*axes, NULL})
    for rank, axis in enumerate(axes):
        for place, family in enumerate(sorted(cells.loc[cells["axis"] == axis, "family"].unique())):
            styles[str(family)] = (PALETTE[place % (len(PALETTE) - 1)], _DASHES[rank % len(_DASHES)])
    return styles | {str(family): (NEUTRAL, "dot") for family in cells.loc[cells["axis"] == NULL, "family"].unique()}


def flip_shares(table: pd.DataFrame, *, colour: str) -> go.Figure:
    """Draw how often the order of two systems changes, a row a family.

    Args:
        table: columns family, share, low, high, strict, n_items, n_pairs; shares in [0, 1].
        colour: ``#rrggbb``.

    Returns:
        A dot at the share with its interval, and a ring at the share without ties.
    """
    names = [plain(name) for name in table["family"]]
    figure = go.Figure()
    figure.add_scatter(
        x=100 * table["share"],
        y=names,
        mode="markers",
        marker={"color": colour, "size": 10},
        error_x={
            "array": 100 * (table["high"] - table["share"]).fillna(0),
            "arrayminus": 100 * (table["share"] - table["low"]).fillna(0),
            "color": colour,
            "thickness": 1.5,
            "width": 4,
        },
        hovertext=[_share_hover(row) for row in table.to_dict("records")],
        hoverinfo="text",
    )
    figure.add_scatter(
        x=100 * table["strict"], y=names, mode="markers", hoverinfo="skip",
        marker={"color": "rgba(0,0,0,0)", "size": 14, "line": {"color": colour, "width": 1.2}},
    )  # fmt: skip
    figure.update_yaxes(autorange="reversed", type="category")
    top = float(pd.concat([table["high"], table["share"], table["strict"]]).max())
    quiet(figure, height=34 * max(len(table), 1) + 60)
    return figure.update_xaxes(range=[-1, max(110 * top, 5)], ticksuffix=" %", nticks=6)


def _share_hover(row: dict[Hashable, Any]) -> str:
    share, low, high, strict = (100 * row[name] for name in ("share", "low", "high", "strict"))
    return (
        f"<b>{plain(row['family'])}</b><br>{share:.1f} % of pairs flip (95 % CI {low:.1f} to {high:.1f})"
        f"<br>{strict:.1f} % change sides without a tie<br>n = {row['n_items']} items, {row['n_pairs']} pairs"
    )


def _cell_hover(row: dict[Hashable, Any]) -> str:
    low, high = (100 * row.get(name, math.nan) for name in ("low", "high"))
    told = f" (95 % CI {low:.1f} to {high:.1f})" if low == low else ""
    note = f"<br>{plain(row['note'])}" if row.get("note") else ""
    return (
        f"<b>{plain(row['family'])}</b>, {plain(row['evaluator'])}<br>RRF {100 * row['risk']:.1f} %{told}"
        f"<br>gap {100 * row['gap']:g} %, d = {row['d']:.4g}"
        f"<br>n = {row['n_items']} items, {row['n_shifts']} shifts{note}"
    )
