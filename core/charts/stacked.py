"""Panels one above the other in one figure, made whole: grown axis by axis, it takes ten times as long."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from core.charts.style import LEGEND_ABOVE, NEUTRAL, plain, quiet_layout

GAP = 70
"""Height in px between two panels: the numbers of one axis and the name of the next panel."""


def number(place: int) -> str:
    """Number of a panel's axes as plotly writes it: none for the first, then 2, 3, …; places count from 0."""
    return str(place + 1) if place else ""


def stacked(
    traces: Sequence[Mapping[str, Any]], *, heights: Sequence[int], titles: Sequence[str], shared: bool, legend: bool,
    titled: bool, across: Mapping[str, Any], upward: Sequence[Mapping[str, Any]], below: int = 36,
    shapes: Sequence[Mapping[str, Any]] = (), axis: str = "",
) -> go.Figure:  # fmt: skip
    """Draw panels one above the other, the first on top.

    Args:
        traces: each as plotly's dictionary, on the axes that :func:`number` numbers.
        heights: of the panels, in px; none is one empty panel.
        titles: of the panels; an empty one is not drawn.
        shared: whether the panels have one scale across.
        legend: draw it, above all panels.
        titled: keep room for the first title.
        across: of every x axis, beside the shared layout.
        upward: of each panel's y axis, likewise.
        below: room under the last panel, in px.
        shapes: as plotly's dictionaries.
        axis: title of the last panel's x axis.
    """
    heights = heights or [34]
    area = sum(heights) + GAP * (len(heights) - 1)
    top = 34 * legend + 26 * titled + 8
    layout = quiet_layout(area + top + below)
    wide, high = layout.pop("xaxis"), layout.pop("yaxis")
    layout |= {"showlegend": legend, "margin": {"l": 8, "r": 12, "t": top, "b": below}, "legend": LEGEND_ABOVE,
               "shapes": list(shapes), "annotations": []}  # fmt: skip
    last = number(len(heights) - 1)
    for place, domain in enumerate(_domains(heights, area)):
        name = number(place)
        matches = {"matches": f"x{last}"} if shared and name != last else {}
        named = {"title": {"text": plain(axis), "standoff": 14}} if axis and name == last else {}
        layout[f"xaxis{name}"] = {**wide, **across, **matches, **named, "anchor": f"y{name}", "domain": [0, 1]}
        own = upward[place] if place < len(upward) else {}
        layout[f"yaxis{name}"] = {**high, **own, "anchor": f"x{name}", "domain": domain}
        if place < len(titles) and titles[place]:
            layout["annotations"].append(_title(titles[place], domain[1]))
    return go.Figure(list(traces), layout)


def _domains(heights: Sequence[int], area: int) -> list[list[float]]:
    """Each panel's share of the figure's height, from its lower to its upper edge."""
    edges, top = [], area
    for height in heights:
        edges.append([max((top - height) / area, 0.0), top / area])
        top -= height + GAP
    return edges


def _title(text: str, top: float) -> dict[str, Any]:
    return {
        "text": plain(text), "x": 0, "xref": "paper", "xanchor": "left", "y": top, "yref": "paper", "yanchor": "bottom",
        "showarrow": False, "font": {"size": 13, "color": NEUTRAL},
    }  # fmt: skip
