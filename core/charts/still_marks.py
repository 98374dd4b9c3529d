"""The marks of a still drawing: dots with their intervals, lines with bands, bars, cells."""

from typing import TYPE_CHECKING, Any

import numpy as np

from core.charts.panels import SPREAD, Marks, Panel, arrows, cells, colour_span, hollow_cells, reach
from core.charts.placing import beside
from core.charts.spec import Figure, Style, called, series_styles, shortened
from core.charts.still_axes import DASHES
from core.charts.style import AROUND, FAINT, INK, NEUTRAL, UPWARD

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

SYMBOLS = {"circle": "o", "square": "s", "diamond": "D", "triangle-up": "^", "cross": "P", "star": "*",
           "pentagon": "p", "triangle-down": "v", "x": "X"}  # fmt: skip
"""Plotly's symbol -> matplotlib's."""

_POINT = 0.42  # points of a drawing a px of a page
_CHOSEN = 1.9
_PLOT = (760.0, 380.0)  # px of a page that make the plot of a drawing
_SCALE = 0.6  # points of a drawing a px of that page


def draw_marks(place: "Axes", figure: Figure, panel: Panel) -> None:
    """Draw everything that a panel holds."""
    if figure.kind == "map":
        _map(place, figure, panel)
        return
    if figure.joined:
        _joints(place, panel)
    for marks in panel.marks:
        {"dots": _dots, "scatter": _dots, "lines": _line, "bars": _bars}[figure.kind](place, figure, marks)
    if figure.kind == "scatter":
        _names(place, figure, panel)
        for start, end in arrows(figure, panel):
            how = {"arrowstyle": "->", "color": NEUTRAL, "linewidth": 1, "shrinkA": 4, "shrinkB": 4}
            place.annotate("", end, start, arrowprops=how)


def key(figure: Figure, style: Style) -> "Artist":
    """The sign of a series in the legend."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if figure.kind == "bars":
        return Patch(facecolor=(style.colour, style.fill), edgecolor=style.colour)
    line = figure.kind == "lines"
    marked = style.size > 0 and not (line and figure.bounds != "whiskers")
    return Line2D(
        [], [], color=style.colour, linestyle=DASHES[style.dash] if line else "none",
        linewidth=_width(style), marker=SYMBOLS[style.symbol] if marked else "", markersize=style.size * _POINT,
        markerfacecolor=style.colour if style.fill > 0 else "none",
    )  # fmt: skip


def _dots(place: "Axes", figure: Figure, marks: Marks) -> None:
    """Dots with their intervals: no other function draws them on paper."""
    x, y = (marks.along, marks.value) if figure.upright else (marks.value, marks.along)
    _whiskers(place, figure, marks)
    _symbols(place, x, y, marks)


def _line(place: "Axes", figure: Figure, marks: Marks) -> None:
    style = marks.style
    if figure.bounds == "band":
        place.fill_between(marks.along, marks.low, marks.high, color=style.colour, alpha=FAINT, linewidth=0)
    place.plot(marks.along, marks.value, color=style.colour, linestyle=DASHES[style.dash], linewidth=_width(style))
    if style.size > 0 and figure.bounds == "whiskers":
        _whiskers(place, figure, marks)
        _symbols(place, marks.along, marks.value, marks)


def _bars(place: "Axes", figure: Figure, marks: Marks) -> None:
    height = SPREAD / (1 if figure.overlay else len(series_styles(figure)))
    drawn = np.nan_to_num(marks.value)
    place.barh(marks.along, drawn, height, color=_fills(marks), edgecolor=marks.style.colour, linewidth=0.8)
    _whiskers(place, figure, marks)
    if "text" in figure.frame:
        for at, value, text in zip(marks.along, drawn, figure.frame["text"].to_numpy()[marks.rows], strict=True):
            place.annotate(str(text), (value, at), xytext=(-3 if value < 0 else 3, 0), textcoords="offset points",
                           ha="right" if value < 0 else "left", va="center")  # fmt: skip


def _symbols(place: "Axes", x: np.ndarray, y: np.ndarray, marks: Marks) -> None:
    style = marks.style
    size = np.where(marks.chosen, _CHOSEN, 1.0) * style.size * _POINT
    place.scatter(x, y, s=size**2, marker=SYMBOLS[style.symbol], facecolors=_fills(marks), edgecolors=style.colour,
                  linewidths=0.8, zorder=3, clip_on=False)  # fmt: skip


def _whiskers(place: "Axes", figure: Figure, marks: Marks) -> None:
    colour = NEUTRAL if figure.kind == "bars" else marks.style.colour
    how: dict[str, Any] = {"fmt": "none", "ecolor": colour, "elinewidth": 1, "capsize": 2, "zorder": 2.5}
    x, y = (marks.along, marks.value) if figure.upright else (marks.value, marks.along)
    for along in (False, True) if figure.bounds == "whiskers" else ():
        below, above = reach(marks, along=along)
        there = np.isfinite(below) & np.isfinite(marks.value)
        ends = {"xerr" if figure.upright == along else "yerr": np.array([below[there], above[there]])}
        if there.any():
            place.errorbar(x[there], y[there], **(how | ends))


def _joints(place: "Axes", panel: Panel) -> None:
    """One line a label, from its first mark to its last."""
    places = sorted({round(at) for marks in panel.marks for at in marks.along})
    for label in places:
        ends = [(value, at) for marks in panel.marks for at, value in zip(marks.along, marks.value, strict=True)
                if round(at) == label]  # fmt: skip
        place.plot(*zip(*ends, strict=True), color=NEUTRAL, alpha=0.6, linewidth=2.2, zorder=1.5)


_OPEN = 0.44
"""Half of the side of a cell that is drawn as an outline, in cells."""


def _map(place: "Axes", figure: Figure, panel: Panel) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    value, rows = cells(panel)
    bare = hollow_cells(panel)
    colours = LinearSegmentedColormap.from_list("cells", AROUND if figure.diverging else UPWARD)
    low, high = colour_span(figure)
    if value.size:
        edges = [np.arange(count + 1) - 0.5 for count in value.shape[::-1]]
        shown = np.ma.masked_invalid(np.where(bare, np.nan, value))
        place.pcolormesh(*edges, shown, cmap=colours, vmin=low, vmax=high, edgecolors="white", linewidth=1.5)
    for row, column in np.argwhere(bare):
        place.plot(np.array([-1, 1, 1, -1, -1]) * _OPEN + column, np.array([-1, -1, 1, 1, -1]) * _OPEN + row,
                   color=NEUTRAL, linewidth=1.2)  # fmt: skip
    for (row, column), at in np.ndenumerate(rows):
        if at >= 0 and "text" in figure.frame:
            place.text(column, row, str(figure.frame["text"].iloc[at]), ha="center", va="center", fontsize=7, color=INK)
    place.set_xticks(range(len(panel.marks)), [shortened(called(figure, marks.name), most=20) for marks in panel.marks])
    place.tick_params(length=0, labeltop=True, labelbottom=False)
    place.spines[:].set_visible(False)


def _names(place: "Axes", figure: Figure, panel: Panel) -> None:
    """Every mark's label beside it."""
    for at, value, text, (across, down) in beside(figure, panel, [_PLOT]):
        far = abs(across) + abs(down) > 40
        place.annotate(
            text, (at, value), xytext=(_SCALE * across, -_SCALE * down), textcoords="offset points", ha="center",
            va="center", fontsize=7,
            arrowprops={"arrowstyle": "-", "color": NEUTRAL, "linewidth": 0.5} if far else None,
        )  # fmt: skip


def _fills(marks: Marks) -> list[tuple[str, float]]:
    style = marks.style
    return [(style.colour, min(FAINT, style.fill) if each else style.fill) for each in marks.hollow]


def _width(style: Style) -> float:
    return 0.6 * style.width
