"""A figure for a page: plotly, with what every mark says on hover."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.charts.layout import columns_on_top, layout, number
from core.charts.panels import (
    SPREAD,
    Marks,
    Panel,
    arrows,
    beside,
    cells,
    colour_span,
    joints,
    keyed,
    panels,
    reach,
)
from core.charts.spec import (
    AROUND,
    AROUND_DARK,
    CHALK,
    FAINT,
    INK,
    NEUTRAL,
    UPWARD,
    UPWARD_DARK,
    Figure,
    faded,
    plain,
    series_styles,
)

CHOSEN = 2.1  # Times the size of a mark, for the one that is chosen

_UNSEEN = {"size": 12, "color": "rgba(0,0,0,0)", "line": {"width": 0}, "symbol": "circle"}
"""Marks on a line without any: plotly tells of no click on a bare line."""

_MINUS = re.compile(r"(?<![\w.\-–])-(?=\d)")
"""A minus sign: before a digit, and after nothing that it could join to it (*conse-lite0*, *2026-11-25*, *gpt-4*)."""

_JOINT = {"color": faded(NEUTRAL, 0.6), "width": 4}  # A line between the marks of a label
_FITS = 7  # letters that an outline has room for
_CLICKED = 34  # px: of a map's cell around each of these places, what answers to a click
_PLACES = (-0.36, -0.18, 0.0, 0.18, 0.36)  # of a cell's width: a wide cell answers wherever it is clicked

WIDTHS = (280.0, 420.0, 600.0, 780.0, 1000.0)
"""Widths of a plot in px that the labels of a scatter are placed for, from a phone's to a large screen's."""

CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"], "responsive": True}
"""Plotly's own options, the same on every page."""


def plot(
    figure: Figure, *, clicks: bool = False, dark: bool = False, found: Sequence[Panel] | None = None
) -> go.Figure:
    """Draw a figure, made whole: one trace a series and panel, nothing added afterwards; ``clicks``: marks carry what
    they open, and say so; ``dark``: a map's cells are for a dark page, every other colour holds on both; ``found``: its
    panels, where they are known."""
    return go.Figure(*_parts(figure if clicks else _still(figure), dark, found))


def _still(figure: Figure) -> Figure:
    return replace(figure, frame=figure.frame.drop(columns="opens")) if "opens" in figure.frame else figure


def _parts(
    figure: Figure, dark: bool = False, known: Sequence[Panel] | None = None
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The traces and the layout of a figure."""
    found = panels(figure) if known is None else known
    made = layout(figure, found)
    hovers, told, traces = _hovers(figure), set[str](), []
    opens = figure.frame["opens"].tolist() if "opens" in figure.frame else None  # what a click on each row asks for
    for place, panel in enumerate(found):
        axes = {"xaxis": f"x{number(place)}", "yaxis": f"y{number(place)}"}
        if figure.kind == "map":
            traces += [each | axes for each in _map(figure, panel, hovers, opens, dark)]
            made[f"xaxis{number(place)}"] |= columns_on_top(figure, panel)
            continue
        if figure.joined:
            # one line a label, from its first mark to its last: a single trace with gaps
            path = [point for points in joints(panel) for point in (*points, (np.nan, np.nan))]
            line = {"type": "scatter", "x": [x for x, _ in path], "y": [y for _, y in path], "mode": "lines"}
            traces.append(line | {"hoverinfo": "skip", "line": _JOINT, "showlegend": False} | axes)
        for marks in panel.marks:
            named = {
                "name": "<br>".join(map(plain, keyed(figure, marks.name))),
                "legendgroup": plain(marks.name),
                "showlegend": marks.name not in told,
            }
            told.add(marks.name)
            texts = {"hovertext": [hovers[row] for row in marks.rows], "hoverinfo": "text"}
            texts |= _opening(opens, marks.rows)
            traces += [each | axes for each in _band(figure, marks)]
            traces.append(_DRAWN[figure.kind](figure, marks) | named | texts | axes)
        if figure.kind == "scatter":
            made["annotations"] += [*_names(figure, panel, number(place)), *_arrows(figure, panel, number(place))]
    return traces, made


def page(figure: Figure, *, title: str = "", foot: str = "") -> bytes:
    """The figure as one self-contained page of HTML, on white, under a title."""
    named = replace(_still(figure), title=title or figure.title)
    drawn = go.Figure(*_parts(named))
    room = 44 if named.title else 0
    height = drawn.layout.height + room
    drawn.update_layout(
        template="plotly_white",
        paper_bgcolor="white",
        plot_bgcolor="white",
        font={"color": INK, "size": 13},
        title={"text": plain(named.title), "x": 0.01, "y": 1 - 12 / height, "yanchor": "top", "font": {"size": 15}},
        height=height,
        margin_t=drawn.layout.margin.t + room,
    )
    if drawn.layout.legend.y is not None:
        drawn.layout.legend.y *= 1 - room / height
    whole: str = drawn.to_html(include_plotlyjs=True, full_html=True, config=CONFIG)
    said = f'<p style="font: 12px sans-serif; color: #555; margin: 12px">{plain(foot)}</p>' if foot else ""
    return f"{said}</body>".join(whole.rsplit("</body>", 1)).encode()


def _hovers(figure: Figure) -> list[str]:
    """What every row of the frame says on hover: its first line bold, its last that it can be clicked."""
    frame = figure.frame
    if "hover" in frame:
        said = [_bold(*str(text).split("\n")) for text in frame["hover"].tolist()]
    else:
        rows = zip(*(frame[name] for name in ("series", "label", "value", "low", "high", "n")), strict=True)
        said = [
            _bold(
                label if series == label else f"{series}, {label}",
                f"{_number(value)}{figure.unit} ({_interval(low, high, figure.unit)})",
                f"n = {n:.0f}",
            )
            for series, label, value, low, high, n in rows
        ]
    click = f"<br><i>click {figure.click}</i>"
    opens = frame["opens"].tolist() if "opens" in frame else [""] * len(said)
    return [f"{text}{click if opened else ''}" for text, opened in zip(said, opens, strict=True)]


def _bold(first: str, *others: str) -> str:
    lines = [_escaped(each) for each in (first, *others)]
    return "<br>".join([f"<b>{lines[0]}</b>" if lines[0] else "", *lines[1:]])


@lru_cache(maxsize=8192)  # the marks of a series share the lines that name it and its n
def _escaped(text: str) -> str:
    return _MINUS.sub("−", plain(text))


def _number(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")


def _interval(low: float, high: float, unit: str) -> str:
    return "no interval" if pd.isna(low) else f"95 % CI {_number(low)} to {_number(high)}{unit}"


def _fills(marks: Marks) -> str | list[str]:
    """Colour of the marks, one for all where it can be: plotly checks every one of a list."""
    full = faded(marks.style.colour, marks.style.fill)
    if not marks.hollow.any():
        return full
    faint = faded(marks.style.colour, min(FAINT, marks.style.fill))
    return [faint if each else full for each in marks.hollow]


def _marker(marks: Marks) -> dict[str, Any]:
    style = marks.style
    size = np.where(marks.chosen, CHOSEN * style.size, style.size) if marks.chosen.any() else style.size
    return {
        "symbol": style.symbol,
        "color": _fills(marks),
        "line": {"color": style.colour, "width": 1.5},
        "size": size,
        "opacity": 1.0,
    }


def _whiskers(figure: Figure, marks: Marks) -> dict[str, Any]:
    if figure.bounds != "whiskers":
        return {}
    names = ("error_y", "error_x") if figure.upright else ("error_x", "error_y")
    colour = NEUTRAL if figure.kind == "bars" else marks.style.colour
    ends = {name: reach(marks, along=along) for name, along in zip(names, (False, True), strict=True)}
    return {
        name: {"array": above, "arrayminus": below, "color": colour, "thickness": 1.5, "width": 3}
        for name, (below, above) in ends.items()
        if not np.isnan(below).all()
    }


def _dots(figure: Figure, marks: Marks) -> dict[str, Any]:
    """Dots with their intervals, beside labels or over a plane: no other function draws them on a page."""
    x, y = (marks.along, marks.value) if figure.upright else (marks.value, marks.along)
    drawn = {"type": "scatter", "x": x, "y": y, "mode": "markers", "marker": _marker(marks), "cliponaxis": False}
    return drawn | _whiskers(figure, marks)


def _line(figure: Figure, marks: Marks) -> dict[str, Any]:
    style = marks.style
    with_marks = style.size > 0 and figure.bounds == "whiskers"
    unseen = {"mode": "lines+markers", "marker": _UNSEEN} if "opens" in figure.frame and not with_marks else {}
    mode = "lines+markers" if with_marks else "lines"
    drawn: dict[str, Any] = {"type": "scatter", "x": marks.along, "y": marks.value, "mode": mode}
    drawn |= {"line": {"color": style.colour, "width": style.width, "dash": style.dash}}
    return drawn | ({"marker": _marker(marks)} if with_marks else {}) | _whiskers(figure, marks) | unseen


def _bars(figure: Figure, marks: Marks) -> dict[str, Any]:
    texts = figure.frame["text"].to_numpy()[marks.rows] if "text" in figure.frame else None
    said = {} if texts is None else {"text": [plain(str(text)) for text in texts], "textposition": "outside"}
    width = SPREAD / (1 if figure.overlay else len(series_styles(figure)))
    drawn = {"type": "bar", "orientation": "h", "x": np.nan_to_num(marks.value), "y": marks.along, "cliponaxis": False}
    drawn |= {"width": width, "marker": {"color": _fills(marks), "line": {"color": marks.style.colour, "width": 1.2}}}
    return drawn | said | _whiskers(figure, marks)


_DRAWN = {"dots": _dots, "lines": _line, "bars": _bars, "scatter": _dots}


def _band(figure: Figure, marks: Marks) -> Iterable[dict[str, Any]]:
    """The stretch between low and high, behind its line."""
    there = np.isfinite(marks.low) & np.isfinite(marks.high)
    if figure.bounds != "band" or not there.any():
        return
    at, low, high = (each[there] for each in (marks.along, marks.low, marks.high))
    drawn = {"type": "scatter", "x": np.concatenate([at, at[::-1]]), "y": np.concatenate([high, low[::-1]])}
    drawn |= {"fill": "toself", "fillcolor": faded(marks.style.colour, FAINT), "line": {"width": 0}, "mode": "lines"}
    yield drawn | {"hoverinfo": "skip", "showlegend": False, "legendgroup": plain(marks.name)}


def _opening(opens: list[Any] | None, rows: np.ndarray) -> dict[str, Any]:
    """What a click on each of these rows asks for."""
    return {} if opens is None else {"customdata": [opens[row] for row in rows]}


def _map(
    figure: Figure, panel: Panel, hovers: list[str], opens: list[Any] | None, dark: bool
) -> Iterable[dict[str, Any]]:
    """The cells, and over them what can be clicked: a cell of a map cannot."""
    value, rows, bare = cells(panel)
    said = figure.frame["text"].to_numpy() if "text" in figure.frame else None
    low, high = colour_span(figure)
    upward, around = (UPWARD_DARK, AROUND_DARK) if dark else (UPWARD, AROUND)
    colours = around if figure.diverging else upward
    words = [
        ["" if said is None or row < 0 or open_ else _lines(said[row]) for row, open_ in zip(line, opened, strict=True)]
        for line, opened in zip(rows, bare, strict=True)
    ]
    hovered = [
        [
            # a cell that the frame does not have says that it has no value
            hovers[row] if row >= 0 else _bold(f"{name}, {marks.name}", "no value")
            for row, marks in zip(line, panel.marks, strict=True)
        ]
        for name, line in zip(panel.names, rows, strict=True)
    ]
    drawn: dict[str, Any] = {"type": "heatmap", "z": np.where(bare, np.nan, value)}
    drawn |= {"x": list(range(len(panel.marks))), "y": list(range(len(panel.names)))}
    drawn |= {"text": words, "hovertext": hovered, "hoverinfo": "text"}
    drawn |= {"texttemplate": "%{text}", "textfont": {"color": CHALK if dark else INK, "size": 12}}
    drawn |= {"xgap": 2, "ygap": 2, "showscale": False, "zmin": low, "zmax": high, "hoverongaps": True}
    yield drawn | {"colorscale": [[place / (len(colours) - 1), colour] for place, colour in enumerate(colours)]}
    if bare.any():
        yield _open_cells(rows, bare, said, hovers)
    if opens is not None:
        down, across = (np.repeat(each, len(_PLACES)) for each in np.nonzero(rows >= 0))
        there = rows[down, across]
        drawn = {"type": "scatter", "x": (across + np.resize(_PLACES, len(across))).tolist(), "y": down.tolist()}
        marker = {"size": _CLICKED, "symbol": "square", "opacity": 0}
        drawn |= {"mode": "markers", "showlegend": False, "marker": marker}
        yield drawn | {"hoverinfo": "text", "hovertext": [hovers[row] for row in there], **_opening(opens, there)}


def _open_cells(rows: np.ndarray, bare: np.ndarray, said: np.ndarray | None, hovers: list[str]) -> dict[str, Any]:
    """Outlines in the place of colours, with their words in a colour that any background shows."""
    down, across = np.nonzero(bare)
    there = rows[down, across]
    longest = 0 if said is None else max(len(line) for row in there for line in str(said[row]).split("\n"))
    marker = {"size": _CLICKED, "symbol": "square-open", "color": NEUTRAL, "line": {"width": 1.5}}
    marker |= {"opacity": 1.0 if longest <= _FITS else 0.0}
    drawn = {"type": "scatter", "x": across.tolist(), "y": down.tolist(), "mode": "markers+text", "showlegend": False}
    drawn |= {"marker": marker, "text": ["" if said is None else _lines(said[row]) for row in there]}
    drawn |= {"textfont": {"color": NEUTRAL, "size": 12}, "hoverinfo": "text"}
    return drawn | {"hovertext": [hovers[row] for row in there]}


def _lines(text: str) -> str:
    """The words of a cell, what stands below its number smaller."""
    first, *rest = map(plain, str(text).split("\n"))
    return "<br>".join([first, *(f"<span style='font-size:11px'>{each}</span>" for each in rest)])


def _names(figure: Figure, panel: Panel, own: str) -> Iterable[dict[str, Any]]:
    """Every mark's label beside it."""
    sizes = [(width, figure.height) for width in WIDTHS]
    for at, value, text, (across, down) in beside(figure, panel, sizes):
        far = abs(across) + abs(down) > 40
        place = {"x": at, "y": value, "xref": f"x{own}", "yref": f"y{own}"}
        place |= {"text": plain(text), "ax": across, "ay": down}
        look = {"showarrow": True, "arrowhead": 0, "arrowwidth": 0.8 if far else 0.1, "arrowcolor": NEUTRAL}
        yield place | look | {"standoff": 6, "font": {"size": 12}}


def _arrows(figure: Figure, panel: Panel, own: str) -> Iterable[dict[str, Any]]:
    for (x, y), (to_x, to_y) in arrows(figure, panel):
        place = {"x": to_x, "y": to_y, "ax": x, "ay": y, "xref": f"x{own}", "yref": f"y{own}"}
        place |= {"axref": f"x{own}", "ayref": f"y{own}", "text": ""}
        look = {"showarrow": True, "arrowhead": 2, "arrowwidth": 1.5, "arrowcolor": NEUTRAL}
        yield place | look | {"standoff": 6, "startstandoff": 6}
