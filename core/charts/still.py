"""A figure as a still drawing, SVG, PDF or PNG, without a browser: for files, Markdown, LaTeX, print and the card."""

import re
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from textwrap import wrap
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from core.charts import spec
from core.charts.panels import (
    SPREAD,
    Marks,
    Panel,
    arrows,
    beside,
    cells,
    colour_span,
    folded,
    joints,
    keyed,
    panels,
    ray_ends,
    reach,
)
from core.charts.spec import (
    AROUND,
    FAINT,
    INK,
    NEUTRAL,
    UPWARD,
    Axis,
    Figure,
    Style,
    called,
    says_its_labels,
    series_styles,
    shortened,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis as Ruler
    from matplotlib.figure import Figure as Canvas


DASHES: dict[str, Any] = {"solid": "-", "dash": "--", "dashdot": "-.", "longdash": (0, (8, 3)), "dot": ":"}
"""Plotly's dash -> matplotlib's."""

FOLD = 34  # Letters of a line of a label beside its marks


def prepare(place: "Axes", figure: Figure, panel: Panel) -> None:
    """Write a panel's title and labels, and draw what lies behind its marks."""
    # only a map has labels on top that its title must clear; looking for some takes a tenth of a drawing's time
    above = None if figure.kind == "map" else 1.0
    place.set_title(shortened(panel.title, most=60), fontsize=8, loc="left", color="#444444", y=above)
    if panel.names:
        counts = panel.counts or ("",) * len(panel.names)
        names = panel.names if figure.upright else ["\n".join(folded(name, letters=FOLD)) for name in panel.names]
        words = [f"{name}\n{n}" if n else name for name, n in zip(names, counts, strict=True)]
        ruler, count = (place.xaxis if figure.upright else place.yaxis), len(panel.names)
        ruler.set_ticks(list(range(count)), words)
        ruler.set_tick_params(length=2)
        (place.set_xlim if figure.upright else place.set_ylim)(*((-0.5, count - 0.5)[:: 1 if figure.upright else -1]))
    elif figure.upright:
        _numbers(place.xaxis, figure.along)
    else:
        place.set_yticks([])
    for at, said in enumerate(panel.aside):
        place.text(1.02, at, said, transform=place.get_yaxis_transform(), ha="left", va="center")
    if panel.aside:
        place.text(1.02, 1.0, figure.aside.get("", ""), transform=place.transAxes, ha="left", va="bottom")
    if figure.kind != "map":
        _numbers(place.yaxis if figure.upright else place.xaxis, figure.value)
        place.grid(axis="y" if figure.upright else "x", linewidth=0.4, alpha=0.5)
    for shade in figure.shades:
        (place.axvspan if figure.across(shade.on) else place.axhspan)(
            shade.low, shade.high, facecolor=shade.colour, alpha=shade.alpha, linewidth=0, zorder=0
        )
    for each in figure.references:
        (place.axvline if figure.across(each.on) else place.axhline)(
            each.at, color=NEUTRAL, linewidth=0.9, linestyle=DASHES[each.dash], zorder=1
        )
        if each.text and figure.across(each.on):
            place.text(each.at, 1.0, each.text, transform=place.get_xaxis_transform(), ha=each.side, va="bottom")
        elif each.text:
            place.text(1.0, each.at, each.text, transform=place.get_yaxis_transform(), ha="right", va="bottom")
    _rays(place, figure)


def _rays(place: "Axes", figure: Figure) -> None:
    """Draw the lines of equal ratio, each with its words where it leaves the axes."""
    for ray, (x, y) in zip(figure.rays, ray_ends(figure), strict=True):
        place.plot([0, x], [0, y], color=NEUTRAL, linewidth=0.7, linestyle=DASHES["dot"], zorder=1)
        side = "center" if y == figure.span[1] else "right"
        look: dict[str, Any] = {"ha": side, "va": "bottom", "fontsize": 6, "color": NEUTRAL, "annotation_clip": False}
        place.annotate(ray.text, (x, y), xytext=(0, 1), textcoords="offset points", **look)


def finish(place: "Axes", figure: Figure, *, first: bool, lowest: bool) -> None:
    """Set what depends on every panel's marks: the ends of the axes, the line at zero, titles at the edges; ``first``:
    of its line, ``lowest``: of its column."""
    if figure.kind == "map":
        return
    value, limit, zero = (
        (place.yaxis, place.set_ylim, place.axhline) if figure.upright else (place.xaxis, place.set_xlim, place.axvline)
    )
    if figure.span != (None, None):
        limit(*figure.span)
    if figure.upright and figure.along.span != (None, None):
        place.set_xlim(*figure.along.span)
    low, high = sorted(value.get_view_interval())
    if low <= 0 <= high:
        zero(0, color=NEUTRAL, linewidth=0.8, zorder=0.5)
    if first if figure.upright else lowest:
        value.set_label_text(figure.axis)
    if figure.upright and lowest:
        place.set_xlabel(figure.along.title)
    place.tick_params(axis="x", labelbottom=lowest or (figure.free and not figure.upright))


def number(value: float, unit: str) -> str:
    """Write a number of an axis.

    Example:
        >>> number(-0.30000000000000004, " %")
        '−0.3 %'
    """
    return f"{value:.10g}{unit}".replace("-", "−")


def _numbers(ruler: "Ruler", axis: Axis) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

    if axis.log:
        ruler.axes.set_xscale("log")  # only the axis of the labels may be logarithmic, and it runs across
        ruler.set_minor_locator(NullLocator())
    if axis.ticks:
        ruler.set_major_locator(FixedLocator(axis.ticks))
    elif not axis.log:
        ruler.set_major_locator(MaxNLocator(6))
    ruler.set_major_formatter(FuncFormatter(lambda value, _: number(value, axis.unit)))
    ruler.set_tick_params(length=2)


SYMBOLS = dict(zip((*spec.SYMBOLS, "x"), "osD^P*pvX", strict=True))  # Plotly's symbol -> matplotlib's

_POINT = 0.42  # points of a drawing a px of a page
_CHOSEN = 1.9
_PLOT = (760.0, 380.0)  # px of a page that make the plot of a drawing
_SCALE = 0.6  # points of a drawing a px of that page


def draw_marks(place: "Axes", figure: Figure, panel: Panel) -> None:
    """Draw everything that a panel holds."""
    if figure.kind == "map":
        _map(place, figure, panel)
        return
    for ends in joints(panel) if figure.joined else ():  # one line a label, from its first mark to its last
        place.plot(*zip(*ends, strict=True), color=NEUTRAL, alpha=0.6, linewidth=2.2, zorder=1.5)
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
    look: dict[str, Any] = {"color": style.colour, "linestyle": DASHES[style.dash] if line else "none"}
    look |= {"marker": SYMBOLS[style.symbol] if marked else "", "markersize": style.size * _POINT}
    inside = style.colour if style.fill > 0 else "none"
    return Line2D([], [], linewidth=_width(style), markerfacecolor=inside, **look)


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
            away, side = (-3, "right") if value < 0 else (3, "left")
            place.annotate(str(text), (value, at), xytext=(away, 0), textcoords="offset points", ha=side, va="center")


def _symbols(place: "Axes", x: np.ndarray, y: np.ndarray, marks: Marks) -> None:
    style = marks.style
    size = np.where(marks.chosen, _CHOSEN, 1.0) * style.size * _POINT
    look: dict[str, Any] = {"facecolors": _fills(marks), "edgecolors": style.colour, "linewidths": 0.8}
    place.scatter(x, y, s=size**2, marker=SYMBOLS[style.symbol], zorder=3, clip_on=False, **look)


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


def _map(place: "Axes", figure: Figure, panel: Panel) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    value, rows, bare = cells(panel)
    colours = LinearSegmentedColormap.from_list("cells", AROUND if figure.diverging else UPWARD)
    low, high = colour_span(figure)
    if value.size:
        edges = [np.arange(count + 1) - 0.5 for count in value.shape[::-1]]
        shown = np.ma.masked_invalid(np.where(bare, np.nan, value))
        place.pcolormesh(*edges, shown, cmap=colours, vmin=low, vmax=high, edgecolors="white", linewidth=1.5)
    for row, column in np.argwhere(bare):  # an outline whose side is 0.88 cells
        x, y = np.array([[-1, 1, 1, -1, -1], [-1, -1, 1, 1, -1]]) * 0.44 + [[column], [row]]
        place.plot(x, y, color=NEUTRAL, linewidth=1.2)
    for (row, column), at in np.ndenumerate(rows):
        if at >= 0 and "text" in figure.frame:
            place.text(column, row, str(figure.frame["text"].iloc[at]), ha="center", va="center", fontsize=7, color=INK)
    place.set_xticks(range(len(panel.marks)), [shortened(called(figure, marks.name), most=20) for marks in panel.marks])
    place.tick_params(length=0, labeltop=True, labelbottom=False)
    place.spines[:].set_visible(False)


def _names(place: "Axes", figure: Figure, panel: Panel) -> None:
    for at, value, text, (across, down) in beside(figure, panel, [_PLOT]):
        far = abs(across) + abs(down) > 40
        arrow = {"arrowstyle": "-", "color": NEUTRAL, "linewidth": 0.5} if far else None
        look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 7, "arrowprops": arrow}
        there = (_SCALE * across, -_SCALE * down)
        place.annotate(text, (at, value), xytext=there, textcoords="offset points", **look)


def _fills(marks: Marks) -> list[tuple[str, float]]:
    style = marks.style
    return [(style.colour, min(FAINT, style.fill) if each else style.fill) for each in marks.hollow]


def _width(style: Style) -> float:
    return 0.6 * style.width


WIDTH = 7.2  # Of a drawing, in inches
COLUMNS = 2  # Of panels beside each other
ROW = 0.17  # Height of a label with one mark, in inches
ONE_AT_A_TIME = Lock()  # Held by whoever draws: matplotlib's settings belong to the whole process
_DENSE = 200  # dots an inch, of a PNG
_FOOT_LETTERS, _FOOT_LINE = 150, 0.11  # of a line of the words below a figure; its height in inches
_LETTER, _KEY = 0.062, 0.55  # inches: a letter of the legend, the sign before a name
_WHEN = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
_STYLE: Any = {
    "font.size": 8,
    "font.family": "sans-serif",
    "svg.fonttype": "none",
    "svg.hashsalt": "invariscope",
    "pdf.fonttype": 3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": NEUTRAL,
    "axes.linewidth": 0.6,
    "xtick.color": "#333333",
    "ytick.color": "#333333",
    "legend.frameon": False,
    "axes.axisbelow": True,
    "text.parse_math": False,
}


def drawing(figure: Figure, *, kind: str = "svg", row: float = ROW) -> bytes:
    """Draw one figure as ``svg``, ``pdf`` or ``png``; the same data give the same bytes; ``row``: height of a label
    with one mark, in inches."""
    return drawings(figure, kinds=(kind,), row=row)[kind]


def drawings(
    figure: Figure, *, kinds: Sequence[str], row: float = ROW, titled: bool = False, foot: str = ""
) -> dict[str, bytes]:
    """Draw one figure in several kinds, laid out once; ``titled``: under its title; ``foot``: words below it."""
    import matplotlib as mpl

    found = {}
    with ONE_AT_A_TIME, mpl.rc_context(_STYLE):
        drawn = canvas(figure, row=row, titled=titled, foot=foot)
        _lay_out(drawn, kinds[0])
        for kind in kinds:
            buffer = BytesIO()
            drawn.savefig(buffer, format=kind, metadata=_WHEN[kind], dpi=_DENSE if kind == "png" else "figure")
            found[kind] = _numbered(buffer.getvalue()) if kind == "svg" else buffer.getvalue()
    return found


def _numbered(svg: bytes) -> bytes:
    """Give clip paths numbers: their own ids hash coordinates whose last bit differs from processor to processor."""
    for number, clip in enumerate(re.findall(rb'<clipPath id="(\w+)"', svg), start=1):
        svg = svg.replace(b'"%b"' % clip, b'"clip-%d"' % number).replace(b"#%b)" % clip, b"#clip-%d)" % number)
    return svg


def picture(figure: Figure, *, kind: str, title: str, foot: str = "") -> bytes:
    """The figure as its own file, under a title in place of its own; ``foot``: what it is of, below."""
    return drawings(replace(figure, title=title), kinds=(kind,), titled=True, foot=foot)[kind]


def element(figure: Figure, *, row: float = ROW, drawn: bytes | None = None) -> str:
    """The figure as an SVG element for a page, its ids made its own (two drawings share a page); ``row``: as of
    :func:`drawing`."""
    svg = (drawing(figure, row=row) if drawn is None else drawn).decode()
    svg = svg[svg.index("<svg") :]
    for mark in ('id="', "url(#", 'href="#'):
        svg = svg.replace(mark, f"{mark}{figure.id}-")
    return svg


def canvas(figure: Figure, *, row: float = ROW, titled: bool = False, foot: str = "") -> "Canvas":
    """Lay a figure out on axes of matplotlib, a pair a panel, in their order; see :func:`drawings`."""
    from matplotlib.figure import Figure as Canvas
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    found = panels(figure)
    columns = 1 if figure.kind == "map" else min(COLUMNS, len(found))
    lines = [found[start : start + columns] for start in range(0, len(found), columns)]
    heights = [max(_height(figure, panel, row, columns) for panel in line) for line in lines]
    said = "\n".join(wrap(foot, _FOOT_LETTERS))
    below = _FOOT_LINE * (said.count("\n") + 2) if said else 0.0
    whole = min(sum(heights) + 0.3 + 0.25 * titled + below, 60)
    engine = ConstrainedLayoutEngine(rect=(0, below / whole, 1, 1 - below / whole))
    drawn = Canvas(figsize=(WIDTH, whole), dpi=72, layout=engine)
    share, upright = not figure.free and figure.kind != "map", figure.upright
    shared: dict[str, Any] = {"sharex": upright or share, "sharey": upright and share}
    axes = drawn.subplots(len(lines), columns, squeeze=False, height_ratios=heights, **shared)
    used = list(axes.flat)[: len(found)]
    for place, panel in zip(used, found, strict=True):
        prepare(place, figure, panel)
        draw_marks(place, figure, panel)
    for index, place in enumerate(used):
        finish(place, figure, first=index % columns == 0, lowest=index + columns >= len(found))
    for place in list(axes.flat)[len(found) :]:
        place.set_visible(False)
    if titled:
        drawn.suptitle(shortened(figure.title, most=110), x=0.01, ha="left", fontsize=10)
    _legend(drawn, figure, below=titled)
    if said:
        drawn.text(0.01, 0.4 * _FOOT_LINE / whole, said, va="bottom", fontsize=5.5, color=NEUTRAL, linespacing=1.3)
    return drawn


def _height(figure: Figure, panel: Panel, row: float, columns: int) -> float:
    """Of a panel with its title and its axis, in inches."""
    if figure.upright:
        return figure.height / (170 if columns > 1 else 110) + 0.35
    if figure.kind == "map":
        return 2 * row * max(len(panel.names), 1) + 0.35
    marks = 1 if figure.overlay else len(series_styles(figure))
    lines = max((len(folded(name, letters=FOLD)) for name in panel.names), default=1)
    label = (1.9 if figure.counts else 1.2) + 0.7 * (lines - 1)
    return row * (max(marks * 0.8, label) * max(len(panel.names), 1) + 2) + 0.35


def _legend(drawn: "Canvas", figure: Figure, *, below: bool) -> None:
    """Name the series, above the panels; below them where a title stands above."""
    styles = series_styles(figure)
    if figure.kind == "map" or len(styles) < 2 or says_its_labels(figure.frame):
        return
    words = [keyed(figure, name) for name in styles]
    widest = max(len(line) for each in words for line in each) * _LETTER + _KEY
    drawn.legend(
        [key(figure, style) for style in styles.values()],
        ["\n".join(each) for each in words],
        ncols=max(min(len(words), int(WIDTH // widest)), 1),
        loc="outside lower center" if below else "outside upper center",
    )


def _lay_out(drawn: "Canvas", kind: str) -> None:
    """Find every place once, with the letters of one kind; left to savefig, each kind is drawn twice to find them."""
    from matplotlib.backend_bases import get_registered_canvas_class

    get_registered_canvas_class(kind)(drawn)
    engine = drawn.get_layout_engine()
    assert engine is not None
    engine.execute(drawn)
    raised = engine.get().get("rect", (0, 0))[1]  # above the words below the figure, of which the engine knows nothing
    for legend in drawn.legends if raised else ():
        legend.set_bbox_to_anchor((0, raised, 1, 1 - raised), transform=drawn.transFigure)
    drawn.set_layout_engine(None)
