"""A figure as a still drawing, SVG, PDF or PNG, without a browser: for files, Markdown, LaTeX, print and the card."""

import re
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from textwrap import wrap
from threading import Lock
from typing import TYPE_CHECKING, Any

from core.charts.panels import Panel, folded, keyed, panels
from core.charts.spec import Figure, says_its_labels, series_styles, shortened
from core.charts.still_axes import FOLD, finish, prepare
from core.charts.still_marks import draw_marks, key
from core.charts.style import NEUTRAL

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

WIDTH = 7.2
"""Of a drawing, in inches."""

COLUMNS = 2
"""Of panels beside each other."""

ROW = 0.17
"""Height of a label with one mark, in inches."""

_ONE_AT_A_TIME = Lock()  # matplotlib's settings belong to the whole process
_DENSE = 200  # dots an inch, of a PNG
_FOOT_LETTERS, _FOOT_LINE = 150, 0.11  # of a line of the words below a figure; its height in inches
_LETTER, _KEY = 0.062, 0.55  # inches: a letter of the legend, the sign before a name
_WHEN = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
_STYLE: Any = {
    "font.size": 8, "font.family": "sans-serif", "svg.fonttype": "none", "svg.hashsalt": "invariscope",
    "pdf.fonttype": 3, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": NEUTRAL,
    "axes.linewidth": 0.6, "xtick.color": "#333333", "ytick.color": "#333333", "legend.frameon": False,
    "axes.axisbelow": True, "text.parse_math": False,
}  # fmt: skip


def drawing(figure: Figure, *, kind: str = "svg", row: float = ROW) -> bytes:
    """Draw one figure; the same data give the same bytes.

    Args:
        figure: to be drawn.
        kind: ``svg``, ``pdf`` or ``png``.
        row: height of a label with one mark, in inches.
    """
    return drawings(figure, kinds=(kind,), row=row)[kind]


def drawings(
    figure: Figure, *, kinds: Sequence[str], row: float = ROW, titled: bool = False, foot: str = ""
) -> dict[str, bytes]:
    """Draw one figure in several kinds, laid out once; ``titled``: under its title; ``foot``: words below it."""
    import matplotlib as mpl

    found = {}
    with _ONE_AT_A_TIME, mpl.rc_context(_STYLE):
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
    """The figure as a file of its own, under a title in place of its own; ``foot``: what it is of, below."""
    return drawings(replace(figure, title=title), kinds=(kind,), titled=True, foot=foot)[kind]


def element(figure: Figure, *, row: float = ROW) -> str:
    """The figure as an SVG element for a page, its ids made its own (two drawings share a page)."""
    svg = drawing(figure, row=row).decode()
    svg = svg[svg.index("<svg") :]
    return (
        svg.replace('id="', f'id="{figure.id}-')
        .replace("url(#", f"url(#{figure.id}-")
        .replace('href="#', f'href="#{figure.id}-')
    )


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
    axes = drawn.subplots(
        len(lines), columns, squeeze=False, sharex=upright or share, sharey=upright and share,
        gridspec_kw={"height_ratios": heights},
    )  # fmt: skip
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
    if figure.kind == "map" or len(styles) < 2 or says_its_labels(figure):
        return
    words = [keyed(figure, name) for name in styles]
    names = ["\n".join(each) for each in words]
    widest = max(len(line) for each in words for line in each) * _LETTER + _KEY
    drawn.legend(
        [key(figure, style) for style in styles.values()], names, ncols=max(min(len(names), int(WIDTH // widest)), 1),
        loc="outside lower center" if below else "outside upper center",
    )  # fmt: skip


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
