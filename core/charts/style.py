"""What every figure shares: colours that hold on a light and on a dark page, and a quiet layout."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import plotly.graph_objects as go

PALETTE = ("#0079BD", "#C47A00", "#00936B", "#C0609A", "#D55E00", "#3D93C8", "#8A8200", "#7A7F87")
"""Okabe and Ito's colours, each moved in lightness until its contrast is at least 3:1 on both backgrounds.

Source: Okabe and Ito (2008), Color Universal Design; WCAG 2.2, 1.4.11.
"""

NEUTRAL = "#7A7F87"
BAND = "rgba(122,127,135,0.22)"
GRID = "rgba(122,127,135,0.25)"

_SALT = 5302
"""Chosen so that the evaluators seen together most often lie far apart in the palette."""

Row = Mapping[Hashable, Any]
"""One row of a table, by its columns."""

CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"], "responsive": True}
"""Plotly's own options, the same on every page."""


def colours(names: Iterable[str]) -> dict[str, str]:
    """Give each name a colour that depends on the name first, and differs from the others' while colours last.

    Example:
        >>> colours(["conse-lite0"]) == {"conse-lite0": colours(["conse-lite0", "judge"])["conse-lite0"]}
        True
    """
    given: dict[str, str] = {}
    for name in sorted(set(names)):
        start = sha256(f"{_SALT}:{name}".encode()).digest()[0] % len(PALETTE)
        order = [PALETTE[(start + step) % len(PALETTE)] for step in range(len(PALETTE))]
        free = [colour for colour in order if colour not in given.values()]
        given[name] = (free or order)[0]
    return given


def faded(colour: str, alpha: float) -> str:
    """Return ``#rrggbb`` as an rgba colour; alpha in [0, 1]."""
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"


def quiet(figure: go.Figure, *, height: int) -> go.Figure:
    """Apply the shared layout: no background, thin grid, room for long labels; height in px."""
    shared = quiet_layout(height)
    across, upward = shared.pop("xaxis"), shared.pop("yaxis")
    figure.update_layout(shared)
    figure.update_xaxes(across)
    figure.update_yaxes(upward)
    return figure


def quiet_layout(height: int) -> dict[str, Any]:
    """The layout of :func:`quiet`, for a figure of one pair of axes: one made whole takes a fifth of the time."""
    return {
        "height": height, "margin": {"l": 8, "r": 8, "t": 8, "b": 36}, "showlegend": False, "bargap": 0.35,
        "dragmode": False, "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
        "hoverlabel": {"align": "left"},
        "xaxis": {"gridcolor": GRID, "zeroline": True, "zerolinecolor": NEUTRAL, "zerolinewidth": 1,
                  "fixedrange": True},
        "yaxis": {"showgrid": False, "zeroline": False, "automargin": True, "fixedrange": True, "ticksuffix": "  "},
    }  # fmt: skip


LEGEND_ABOVE = {"orientation": "h", "x": 0, "xanchor": "left", "yref": "container", "y": 1, "yanchor": "top",
                "itemclick": False, "itemdoubleclick": False}  # fmt: skip
"""Legend on top of a figure, from the left; a click on it does nothing."""


def quiet_figure(
    traces: Sequence[Mapping[str, Any]], *, height: int, across: Mapping[str, Any] | None = None,
    upward: Mapping[str, Any] | None = None, **layout: Any,
) -> go.Figure:  # fmt: skip
    """A figure of one pair of axes in the layout of :func:`quiet`, made whole.

    Args:
        traces: each as plotly's dictionary, with its type.
        height: in px.
        across: of the x axis, beside the shared layout.
        upward: of the y axis.
        layout: the rest of the layout; a margin may name some of its sides alone.
    """
    shared = quiet_layout(height)
    layout["margin"] = shared["margin"] | layout.get("margin", {})
    layout["xaxis"], layout["yaxis"] = shared["xaxis"] | dict(across or {}), shared["yaxis"] | dict(upward or {})
    return go.Figure(list(traces), shared | layout)


def shade(low: float, high: float, colour: str, *, axis: str = "") -> dict[str, Any]:
    """A stretch of the x axis as a shape below the marks; ``axis`` is the number of the panel's axes, from 2."""
    return {
        "type": "rect", "x0": low, "x1": high, "xref": f"x{axis}", "y0": 0, "y1": 1, "yref": f"y{axis} domain",
        "fillcolor": colour, "line": {"width": 0}, "layer": "below",
    }  # fmt: skip


def grouped(rows: Sequence[Row], column: str) -> dict[str, list[Row]]:
    """Rows by the text of a column, in the order of the texts."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(str(row[column]), []).append(row)
    return dict(sorted(found.items()))


def signed(value: float | None, *, digits: int = 1, unit: str = " %") -> str:
    """Write a change with its sign, or a dash where there is none.

    Example:
        >>> signed(-2.34), signed(None), signed(0.0)
        ('−2.3 %', '—', '0.0 %')
    """
    if value is None or math.isnan(value):
        return "—"
    text = f"{abs(value):.{digits}f}"
    sign = "" if float(text) == 0 else "+" if value > 0 else "−"
    return f"{sign}{text}{unit}"


def plain(text: str) -> str:
    """Escape what plotly would read as markup in labels and hovers."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
