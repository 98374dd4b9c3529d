"""What a figure is before anybody draws it: its data, axes and panels, what is marked and what is shaded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import pandas as pd

from core.charts.style import NEUTRAL, PALETTE, colours, symbols
from core.errors import InvalidInput

Kind = Literal["dots", "lines", "bars", "scatter", "map"]
"""Dots and bars lie beside their labels, lines and scatters rise, a map has a cell for a label and a series."""

Side = Literal["value", "along"]
"""The axis of the values, or the one that the labels stand along."""

COLUMNS = ("label", "series", "panel", "value", "low", "high", "n")
LOOKS = ("hover", "text", "hollow", "opens")
"""Columns that a frame may have for the page alone: words on hover, words at the mark, whether the mark is open, and
what a click on it asks for, empty for nothing."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a series looks.

    Args:
        colour: ``#rrggbb``.
        symbol: of its marks, one of ``core.charts.style.SYMBOLS`` or ``x``.
        dash: of its line: solid, dash, dashdot, longdash or dot.
        width: of its line, in px.
        size: of its marks, in px; 0 draws a line without marks.
        fill: opacity of its marks and bars, in [0, 1]; 0 leaves a ring.
    """

    colour: str = PALETTE[0]
    symbol: str = "circle"
    dash: str = "solid"
    width: float = 1.5
    size: float = 9
    fill: float = 1.0


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis.

    Args:
        title: what stands along it, in words.
        unit: behind every number, e.g. `` %``.
        span: lowest and highest number; None leaves an end to the data.
        log: logarithmic; of numbers along, never of the values.
        ticks: where its numbers stand; empty leaves it to the renderer.
    """

    title: str = ""
    unit: str = ""
    span: tuple[float | None, float | None] = (None, None)
    log: bool = False
    ticks: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """A straight line across every panel, e.g. the strength chosen.

    Args:
        at: where it crosses its axis.
        on: that axis.
        text: at its end; empty for none.
        dash: as of :class:`Style`.
    """

    at: float
    on: Side = "value"
    text: str = ""
    dash: str = "solid"


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
    """One figure, the same for every renderer.

    Args:
        id: short, e.g. ``F2``; names its files in a report.
        title: in plain words.
        note: how to read it.
        frame: COLUMNS, one row a mark, in the order of drawing; LOOKS where wanted, ``x`` for a scatter, and
            ``x_low`` and ``x_high`` where x has its own interval. The label
            of lines is their x, a number or the name of a level; the series of a map are its columns.
        axis: name and unit of the values.
        kind: what is drawn.
        mark: column of the frame that marks one point of each series; empty for none.
        free: every panel has a value axis of its own.
        paper: the paper's counterpart.
        unit: behind every value, e.g. `` %``.
        span: lowest and highest value drawn; None leaves an end to the data.
        along: the axis of the labels.
        order: labels from the top or from the left; others follow as they come in the frame.
        names: label or series -> the words for it.
        counts: write n below the labels.
        styles: by series, in the order of the legend; series that are not here follow with their own colours.
        height: of a panel of lines or of a scatter, in px.
        bounds: how low and high are drawn; the hover says them in any case.
        references: lines across.
        rays: of a scatter: lines of equal ratio, each positive.
        shades: stretches shaded.
        joined: a line joins the marks of a label.
        overlay: the marks of a label lie on one height.
        diverging: the colours of a map run both ways from zero.
        moves: of a scatter: an arrow leads from the first mark of one series to that of another in the same panel.
        click: what a click on a mark that opens something is for; the hover says it.
        head: px above the panels at least, so that they begin where those of a figure beside it do.
        known: what was worked out of the figure once.

    Raises:
        InvalidInput: if the frame lacks a column, or a kind, mark or span is not one that can be drawn.
    """

    id: str
    title: str
    note: str
    frame: pd.DataFrame
    axis: str
    kind: Kind = "dots"
    mark: str = ""
    free: bool = False
    paper: str = ""
    unit: str = ""
    span: tuple[float | None, float | None] = (None, None)
    along: Axis = Axis()
    order: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    counts: bool = False
    styles: Mapping[str, Style] = field(default_factory=dict)
    height: int = 260
    bounds: Literal["whiskers", "band", "none"] = "whiskers"
    references: tuple[Reference, ...] = ()
    rays: tuple[Ray, ...] = ()
    shades: tuple[Shade, ...] = ()
    joined: bool = False
    overlay: bool = False
    diverging: bool = False
    moves: tuple[tuple[str, str], ...] = ()
    click: str = "for its pairs"
    head: int = 0
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


def called(figure: Figure, name: str) -> str:
    """The words for a label or a series."""
    return figure.names.get(name, name)


def series_styles(figure: Figure) -> dict[str, Style]:
    """Style of every series that the frame has, in the order of the legend."""
    if "styles" not in figure.known:
        figure.known["styles"] = _series_styles(figure)
    found: dict[str, Style] = figure.known["styles"]
    return found


def _series_styles(figure: Figure) -> dict[str, Style]:
    there = list(dict.fromkeys(map(str, figure.frame["series"].unique())))
    names = [name for name in figure.styles if name in there]
    names += [name for name in there if name not in figure.styles]
    usual = coloured(there)
    return {name: figure.styles.get(name, usual[name]) for name in names}


def says_its_labels(figure: Figure) -> bool:
    """Whether the series of every mark is its label, so that a legend would say the labels again."""
    return bool((figure.frame["series"].astype(str) == figure.frame["label"].astype(str)).all())


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
