"""The axes of a still drawing: labels and numbers, references, shades."""

from typing import TYPE_CHECKING, Any

from core.charts.panels import Panel, folded, ray_ends
from core.charts.spec import Axis, Figure, shortened
from core.charts.style import NEUTRAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis as Ruler

DASHES: dict[str, Any] = {"solid": "-", "dash": "--", "dashdot": "-.", "longdash": (0, (8, 3)), "dot": ":"}
"""Plotly's dash -> matplotlib's."""


FOLD = 34
"""Letters of a line of a label beside its marks."""


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
    if figure.kind != "map":
        _numbers(place.yaxis if figure.upright else place.xaxis, figure.value)
        place.grid(axis="y" if figure.upright else "x", linewidth=0.4, alpha=0.5)
    for shade in figure.shades:
        (place.axvspan if _across(figure, shade.on) else place.axhspan)(
            shade.low, shade.high, facecolor=shade.colour, alpha=shade.alpha, linewidth=0, zorder=0
        )
    for each in figure.references:
        (place.axvline if _across(figure, each.on) else place.axhline)(
            each.at, color=NEUTRAL, linewidth=0.9, linestyle=DASHES[each.dash], zorder=1
        )
        if each.text and _across(figure, each.on):
            place.text(each.at, 1.0, each.text, transform=place.get_xaxis_transform(), ha="center", va="bottom")
        elif each.text:
            place.text(1.0, each.at, each.text, transform=place.get_yaxis_transform(), ha="right", va="bottom")
    _rays(place, figure)


def _rays(place: "Axes", figure: Figure) -> None:
    """Draw the lines of equal ratio, each with its words where it leaves the axes."""
    for ray, (x, y) in zip(figure.rays, ray_ends(figure), strict=True):
        place.plot([0, x], [0, y], color=NEUTRAL, linewidth=0.7, linestyle=DASHES["dot"], zorder=1)
        side = "center" if y == figure.span[1] else "right"
        place.annotate(ray.text, (x, y), xytext=(0, 1), textcoords="offset points", ha=side, va="bottom", fontsize=6,
                       color=NEUTRAL, annotation_clip=False)  # fmt: skip


def finish(place: "Axes", figure: Figure, *, first: bool, lowest: bool) -> None:
    """Set what depends on every panel's marks: the ends of the axes, the line at zero, titles at the edges.

    Args:
        place: of a panel.
        figure: that is drawn.
        first: whether the panel is the first of its line.
        lowest: whether it is the last of its column.
    """
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


def _across(figure: Figure, on: str) -> bool:
    """Whether an axis runs from left to right."""
    return figure.upright == (on == "along")
