"""What a figure is before anybody draws it: its data, axes and panels, what is marked and what is shaded.

What every figure shares: colours that hold on a light and on a dark page, and how changes are written.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from itertools import zip_longest
from typing import Any, Literal, get_args

import pandas as pd

from core.errors import InvalidInput

PALETTE = ("#0079BD", "#C47A00", "#00936B", "#C0609A", "#D55E00", "#3D93C8", "#8A8200", "#7A7F87")
"""Okabe and Ito's colours, each moved in lightness until its contrast is at least 3:1 on both backgrounds.

Source: Okabe and Ito (2008), Color Universal Design; WCAG 2.2, 1.4.11.
"""

ON_DARK = {"#0079BD": "#4AA8EC", "#3D93C8": "#9CD3F7", "#7A7F87": "#9AA1AB"}
"""Colours that are dim on a dark page -> what stands for them there: thin lines of them have a contrast of 6:1."""

NEUTRAL = "#7A7F87"
GRID = "rgba(122,127,135,0.25)"
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "pentagon", "triangle-down")

AROUND = ("#E3A548", "#F6F5F2", "#6CB0DE")  # Colours of a map on both sides of zero
UPWARD = ("#F7FAFC", "#A9D0EC", "#4FA0D6")  # Colours of a map from its least to its largest value
INK = "#17202A"  # Of what is written on a map or on paper: on any of a map's colours at least 5.5:1

AROUND_DARK = ("#8A5600", "#1E2630", "#1F5F94")
UPWARD_DARK = ("#16202B", "#1B4468", "#1F659E")
"""A map's colours on a dark page: what is least lies closest to the page there too."""

CHALK = "#F2F5F8"  # Of what is written on a map of a dark page: on any of its colours at least 5.5:1
FAINT = 0.2  # Opacity of a band, and of a mark that is drawn open


_FIXED: Mapping[str, tuple[int, int]] = {
    name: (row, column)
    for row, names in enumerate(
        (
            "conse-lite0 siglip pac-s++ emscore protoscore",
            "conse-lite2 vqascore refclipscore pac-s-l14 siglip2",
            "grounding-judge judge refpac-s refemscore vqascore-xl",
            "conse-multilingual umic pac-s++-l14 mcs judge-protoscore",
            "offline-ensemble pac-s refpac-s++ reffleur vqascore-qwen pac-s++-video",
            "clipscore refpac-s-l14 pr-mcs protoscore-base",
            "blind-typicality fleur refpac-s++-l14 judge-local",
            "blind-length pickscore fleur-7b refpac-s++-video",
        )
    )
    for column, name in enumerate(names.split())
}
"""Evaluator that comes with Invariscope -> its place in the palette and among those of one colour, whoever stands
beside it; those that are often seen together differ."""


def colours(names: Iterable[str]) -> dict[str, str]:
    """Give each name a colour: evaluators that come with Invariscope their own, others one that depends on the name
    first, and differs from the others' while colours last.

    Example:
        >>> colours(["conse-lite0"]) == {"conse-lite0": colours(["conse-lite0", "judge"])["conse-lite0"]}
        True
    """
    return _given(names, PALETTE, {name: row for name, (row, _) in _FIXED.items()})


def symbols(names: Iterable[str]) -> dict[str, str]:
    """Give each name a marker, by the rule of :func:`colours`; two evaluators of one colour have different ones.

    Example:
        >>> symbols(["conse-lite0", "conse-lite2"]), symbols(["conse-lite2"])
        ({'conse-lite0': 'circle', 'conse-lite2': 'square'}, {'conse-lite2': 'square'})
    """
    return _given(names, SYMBOLS, {name: (row + column) % len(SYMBOLS) for name, (row, column) in _FIXED.items()})


def _given(names: Iterable[str], looks: Sequence[str], fixed: Mapping[str, int]) -> dict[str, str]:
    different = sorted(set(names))
    given = {name: looks[fixed[name]] for name in different if name in fixed}
    for name in (each for each in different if each not in given):
        start = sha256(name.encode()).digest()[0] % len(looks)
        order = [*looks[start:], *looks[:start]]
        given[name] = next((look for look in order if look not in given.values()), order[0])
    return given


def sign(style: "Style") -> str:
    """The mark of a series as HTML, to stand beside its name on a light and on a dark page."""
    colour = f"light-dark({style.colour}, {ON_DARK.get(style.colour, style.colour)})"
    corners = _CORNERS.get(style.symbol) or _around(5, inner=0.45 if style.symbol == "star" else 1.0)
    cut = f"clip-path: polygon({corners})" if style.symbol != "circle" else "border-radius: 50%"
    return f'<i style="background: {colour}; {cut}"></i>'


_CORNERS: Mapping[str, str] = {
    "square": "6% 6%, 94% 6%, 94% 94%, 6% 94%",
    "diamond": "50% 0, 100% 50%, 50% 100%, 0 50%",
    "triangle-up": "50% 6%, 100% 94%, 0 94%",
    "triangle-down": "50% 94%, 100% 6%, 0 6%",
    "cross": "33% 0, 67% 0, 67% 33%, 100% 33%, 100% 67%, 67% 67%, 67% 100%, 33% 100%, 33% 67%, 0 67%, 0 33%, 33% 33%",
}
"""Symbol -> its corners; a star and a pentagon stand on a circle."""


def _around(corners: int, *, inner: float) -> str:
    """Corners on a circle, those between them at a share of its radius."""
    places = range(2 * corners)
    ends = [(50 * (inner if each % 2 else 1.0), math.pi * (each / corners - 0.5)) for each in places]
    return ", ".join(f"{50 + far * math.cos(turn):.0f}% {50 + far * math.sin(turn):.0f}%" for far, turn in ends)


def faded(colour: str, alpha: float) -> str:
    """Return ``#rrggbb`` as an rgba colour; alpha in [0, 1]."""
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"


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


def counted(count: float, one: str = "item") -> str:
    """How many items, or other things, a mark is of, in words: ``counted(1) == "1 item"``."""
    return f"{count:,.0f} {one if count == 1 else f'{one}s'}"


def plain(text: str) -> str:
    """Escape what plotly would read as markup in labels and hovers."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


Kind = Literal["dots", "lines", "bars", "scatter", "map"]
"""Dots and bars lie beside their labels, lines and scatters rise, a map has a cell for a label and a series."""

Side = Literal["value", "along"]  # The axis of the values, or the one that the labels stand along
TextEnd = Literal["left", "center", "right"]  # Which part of a text touches what it is said of

COLUMNS = ("label", "series", "panel", "value", "low", "high", "n")


def marks_of(
    rows: pd.DataFrame,
    label: Any,
    series: Any,
    panel: Any = "",
    values: Sequence[str] = ("value", "low", "high"),
    n: str = "n_items",
    **looks: Any,
) -> pd.DataFrame:
    """A figure's COLUMNS, then its looks, a mark a row: ``values`` names the columns of the value and of its interval's
    ends, where it has one, ``n`` that of the count."""
    numbers = {to: rows[of] if of else math.nan for to, of in zip_longest(("value", "low", "high"), values)}
    return pd.DataFrame({"label": label, "series": series, "panel": panel, **numbers, "n": rows[n], **looks})


LOOKS = ("hover", "text", "hollow", "opens")
"""Columns that a frame may have for the page alone: words on hover, words at the mark, whether the mark is open, and
what a click on it asks for, empty for nothing."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a series looks."""

    colour: str = PALETTE[0]  # ``#rrggbb``
    symbol: str = "circle"  # of its marks, one of ``core.charts.spec.SYMBOLS`` or ``x``
    dash: str = "solid"  # of its line: solid, dash, dashdot, longdash or dot
    width: float = 1.5  # of its line, in px
    size: float = 9  # of its marks, in px; 0 draws a line without marks
    fill: float = 1.0  # opacity of its marks and bars, in [0, 1]; 0 leaves a ring


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis."""

    title: str = ""  # what stands along it, in words
    unit: str = ""  # behind every number, e.g. `` %``.
    span: tuple[float | None, float | None] = (None, None)  # lowest and highest number; None leaves an end to the data
    log: bool = False  # logarithmic; of numbers along, never of the values
    ticks: tuple[float, ...] = ()  # where its numbers stand; empty leaves it to the renderer


@dataclass(frozen=True, slots=True)
class Reference:
    """A straight line across every panel, e.g. the strength chosen."""

    at: float  # where it crosses its axis
    on: Side = "value"  # that axis
    text: str = ""  # at its end; empty for none
    dash: str = "solid"  # as of :class:`Style`
    side: TextEnd = "center"  # of the text that touches an upright line: its right end, its middle or its left end


@dataclass(frozen=True, slots=True)
class Ray:
    """A line of equal ratio in every panel of a scatter: from the origin, value = ratio × x; ``text`` at its end."""

    ratio: float
    text: str = ""


@dataclass(frozen=True, slots=True)
class Shade:
    """A stretch of an axis that is shaded in every panel, e.g. the noise band; ``low`` to ``high``, alpha in [0, 1]."""

    low: float
    high: float
    on: Side = "value"
    colour: str = NEUTRAL
    alpha: float = 0.22


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure, the same for every renderer. Raises InvalidInput if the frame lacks a column, or a kind, mark or span
    is not one that can be drawn."""

    id: str  # short, e.g. ``F2``; names its files in a report.
    title: str  # in plain words
    note: str  # how to read it
    # COLUMNS, one row a mark, in the order of drawing; LOOKS where wanted, ``x`` for a scatter, and ``x_low`` and
    # ``x_high`` where x has its own interval. The label of lines is their x, a number or the name of a level; the
    # series of a map are its columns.
    frame: pd.DataFrame
    axis: str  # name and unit of the values
    kind: Kind = "dots"  # what is drawn
    mark: str = ""  # column of the frame that marks one point of each series; empty for none
    free: bool = False  # every panel has a value axis of its own
    paper: str = ""  # the paper's counterpart
    unit: str = ""  # behind every value, e.g. `` %``.
    # lowest and highest value drawn; None leaves an end to the data
    span: tuple[float | None, float | None] = (None, None)
    along: Axis = Axis()  # the axis of the labels
    order: tuple[str, ...] = ()  # labels from the top or from the left; others follow as they come in the frame
    names: Mapping[str, str] = field(default_factory=dict)  # label or series -> the words for it
    counts: bool = False  # write n below the labels
    # label -> words right of the plot, on its height; under the empty label what they are
    aside: Mapping[str, str] = field(default_factory=dict)
    # by series, in the order of the legend; series that are not here follow with their own colours
    styles: Mapping[str, Style] = field(default_factory=dict)
    height: int = 260  # of a panel of lines or of a scatter, in px
    # how low and high are drawn; the hover says them in any case
    bounds: Literal["whiskers", "band", "none"] = "whiskers"
    references: tuple[Reference, ...] = ()  # lines across
    rays: tuple[Ray, ...] = ()  # of a scatter: lines of equal ratio, each positive
    shades: tuple[Shade, ...] = ()  # stretches shaded
    joined: bool = False  # a line joins the marks of a label
    overlay: bool = False  # the marks of a label lie on one height
    diverging: bool = False  # the colours of a map run both ways from zero
    # of a scatter: an arrow leads from the first mark of one series to that of another in the same panel
    moves: tuple[tuple[str, str], ...] = ()
    click: str = "for its pairs"  # what a click on a mark that opens something is for; the hover says it
    head: int = 0  # px above the panels at least, so that they begin where those of a figure beside it do
    # what was worked out of the figure once
    known: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise InvalidInput(f"kind is one of {', '.join(get_args(Kind))}, got {self.kind!r}")
        wanted = (*COLUMNS, *([self.mark] if self.mark else []), *(["x"] if self.kind == "scatter" else []))
        lacking = [name for name in wanted if name not in self.frame]
        if lacking:
            raise InvalidInput(f"the frame of figure {self.id!r} needs {', '.join(wanted)}; add {', '.join(lacking)}")
        if self.kind == "scatter" and None in (*self.span, *self.along.span):
            raise InvalidInput(f"a scatter needs both ends of both axes, got {self.span} and {self.along.span}")
        if any(each.ratio <= 0 or self.kind != "scatter" for each in self.rays):
            raise InvalidInput(f"rays are positive ratios of a scatter, got {self.rays} of kind {self.kind!r}")

    @property
    def data(self) -> pd.DataFrame:
        """The exact data behind the figure, without what is for the eye alone."""
        return self.frame.drop(columns=[name for name in LOOKS if name in self.frame])

    @property
    def value(self) -> Axis:
        """The axis of the values."""
        return Axis(self.axis, self.unit, self.span)

    @property
    def upright(self) -> bool:
        """Whether values rise, as those of lines and scatters do."""
        return self.kind in ("lines", "scatter")

    def across(self, on: str) -> bool:
        """Whether the axis of ``along`` or of ``value`` runs from left to right."""
        return self.upright == (on == "along")


untitled = partial(Figure, "", "", "")  # A figure that stands under a heading of the page: without id, title or note


def called(figure: Figure, name: str) -> str:
    """The words for a label or a series."""
    return figure.names.get(name, name)


def series_styles(figure: Figure) -> dict[str, Style]:
    """Style of every series that the frame has, in the order of the legend."""
    if "styles" not in figure.known:
        there = list(dict.fromkeys(map(str, figure.frame["series"].unique())))
        own = {name: style for name, style in figure.styles.items() if name in there}
        figure.known["styles"] = own | {name: each for name, each in coloured(there).items() if name not in own}
    found: dict[str, Style] = figure.known["styles"]
    return found


def says_its_labels(frame: pd.DataFrame) -> bool:
    """Whether the series of every mark is its label: a legend would say the labels again, no line has two."""
    return bool((frame["series"].astype(str) == frame["label"].astype(str)).all())


def on_dark(figure: Figure) -> Figure:
    """The figure for a dark page: its dim colours lighter."""
    styles = {
        name: replace(style, colour=ON_DARK.get(style.colour, style.colour))
        for name, style in series_styles(figure).items()
    }
    return replace(figure, styles=styles)


def coloured(names: list[str]) -> dict[str, Style]:
    """A style a name, told apart by colour and by symbol, in the order of the names."""
    colour, symbol = colours(names), symbols(names)
    return {name: Style(colour[name], symbol[name]) for name in names}


def shortened(text: str, *, most: int = 34) -> str:
    """Cut the middle out of a text of more than ``most`` characters: what tells long names apart is at their ends.

    Example:
        >>> shortened("reposition-bottom-right", most=11)
        'repos…right'
    """
    said = " ".join(text.split())
    if len(said) <= most:
        return said
    tail = (most - 1) // 2
    return f"{said[: most - 1 - tail]}…{said[len(said) - tail :]}"
