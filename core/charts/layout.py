"""The layout of an interactive figure: panels one above the other, made whole (by axis, it takes ten times as long)."""

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Any

from core.charts.panels import Panel, folded, keyed, panels, ray_ends
from core.charts.spec import (
    GRID,
    NEUTRAL,
    Axis,
    Figure,
    Reference,
    called,
    faded,
    plain,
    says_its_labels,
    series_styles,
    shortened,
)

ROW = 15  # Height in px of one mark beside its label
GAP = 70  # Height in px between two panels: the numbers of one axis and the name of the next panel
_LABEL, _COUNTED, _CELL = 25, 36, 38  # px: least height of a label, of one with its n, of a map's cell
_FOLD, _FOLDED = 28, 14  # letters of a line of a label: on a phone its marks need room; px: its second line
_HEAD, _NAMED = 14, 10  # px: a line of the names of a map's columns, above its cells; letters of such a line
_SPARE = 26  # px: of the room between two panels, what the names of a map's columns may take
_PHONE = 340  # px: width in which a legend must find room
_LETTER, _KEY = 6.8, 44  # px: a letter of the legend, the sign before a name
_SCALE = 90  # px: what stands beside the plot of rising values: its numbers, its title, the margins
TEXT = {"size": 12}  # Size in px of the smallest words of a figure: of axes, legends and n
LINE = 20  # Height in px of a line of a legend
WIDE = 700  # Width in px from which a legend needs the lines of a wide screen; the style sheet has the same number


def layout(figure: Figure, found: Sequence[Panel]) -> dict[str, Any]:
    """Plotly's layout of a figure whose marks stand in these panels."""
    heights = [panel_height(figure, panel) for panel in found]
    lines = (len(_head(figure, panel, marks.name)) for panel in found for marks in panel.marks)
    heads = 18 + _HEAD * max(lines, default=1) if figure.kind == "map" else 0  # px: the names of a map's columns
    gap = GAP + max(heads - _SPARE, 0)
    area = sum(heights) + gap * (len(heights) - 1)
    above, legend = _legend(figure, found)
    top = max(above, figure.head) + (26 if found[0].title else 0) + 8 + heads
    if any(each.text for each in figure.references) or any(each.text for each in figure.rays) or figure.aside:
        top += 16
    below = _below(figure, found)
    if legend and not above:
        below += 12 + LINE * _legend_lines(figure, found)
    height = area + top + below
    if legend:  # close to the panels: what a wide screen does not need is left on the far side
        legend["y"] = (height - above if above else below - _below(figure, found)) / height
    aside = round(_LETTER * max(map(len, figure.aside.values()), default=-2)) + 14  # px: the words right of the plot
    right = 24 if figure.upright else 12 + aside
    made: dict[str, Any] = {"height": height, "dragmode": False, "margin": {"l": 8, "r": right, "t": top, "b": below}}
    made |= {"paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "hoverlabel": {"align": "left"}}
    made |= {"showlegend": bool(legend), "legend": legend, "barmode": "overlay", "shapes": [], "annotations": []}
    for place, (panel, domain) in enumerate(zip(found, _domains(heights, area, gap), strict=True)):
        own, last = number(place), place == len(found) - 1
        across, upward = _axes(figure, panel, last=last, shared=number(len(found) - 1))
        made[f"xaxis{own}"] = across | {"anchor": f"y{own}", "domain": [0, 1]}
        made[f"yaxis{own}"] = upward | {"anchor": f"x{own}", "domain": domain}
        made["shapes"] += _across(figure, own)
        for ray, (x, y) in zip(figure.rays, ray_ends(figure), strict=True):
            side, font = "center" if y == figure.span[1] else "right", {**TEXT, "color": NEUTRAL}
            at = {"x": x, "y": y, "xref": f"x{own}", "yref": f"y{own}", "showarrow": False}
            at |= {"xanchor": side, "yanchor": "bottom", "font": font}
            made["annotations"] += [{"text": plain(ray.text), **at}] if ray.text else []
        made["annotations"] += [_said(figure, each, own) for each in figure.references if each.text]
        made["annotations"] += _aside(figure, panel, own)
        if panel.title:
            at = {"x": 0, "xref": "paper", "xanchor": "left", "y": domain[1], "yref": "paper", "yanchor": "bottom"}
            title = {"text": plain(shortened(panel.title, most=44)), **at, "showarrow": False, "font": {"size": 13}}
            made["annotations"].append(title | ({"yshift": heads} if heads else {}))
    return made


def number(place: int) -> str:
    """Number of a panel's axes as plotly writes it: none for the first, then 2, 3, …; places count from 0."""
    return str(place + 1) if place else ""


def panel_height(figure: Figure, panel: Panel) -> int:
    """Height of a panel in px."""
    if figure.upright:
        return figure.height
    if figure.kind == "map":
        return _CELL * max(len(panel.names), 1)
    marks = 1 if figure.overlay else len(series_styles(figure))
    more = _FOLDED * (max((len(folded(name, letters=_FOLD)) for name in panel.names), default=1) - 1)
    return max(ROW * marks, (_COUNTED if figure.counts else _LABEL) + more) * max(len(panel.names), 1)


def _legend(figure: Figure, found: Sequence[Panel]) -> tuple[int, dict[str, Any]]:
    """Room that the legend takes above the panels, in px, and the legend; one of many names stands below."""
    if figure.kind == "map" or len(series_styles(figure)) < 2 or says_its_labels(figure.frame):
        return 0, {}
    usual = {"orientation": "h", "x": 0, "xanchor": "left", "itemclick": False, "itemdoubleclick": False, "font": TEXT}
    lines = _legend_lines(figure, found)
    if lines > 2:
        return 0, usual | {"yref": "container", "yanchor": "top"}
    return 14 + LINE * lines, usual | {"yref": "container", "yanchor": "bottom"}


def legend_above(figure: Figure) -> int:
    """Room in px that a legend takes above the panels; 0 where it stands below, or is not there."""
    return _legend(figure, panels(figure))[0]


def spare(figure: Figure, found: Sequence[Panel]) -> int:
    """Room in px below a legend that stands below the panels, which :data:`WIDE` px leave empty and a phone needs."""
    above, legend = _legend(figure, found)
    if above or not legend:
        return 0
    return LINE * (_legend_lines(figure, found) - _legend_lines(figure, found, width=WIDE))


def _legend_lines(figure: Figure, found: Sequence[Panel], *, width: int = _PHONE) -> int:
    """Lines that a legend takes in so many px, beside the labels; usually on a phone."""
    labels = [len(line) for panel in found for name in panel.names for line in folded(name, letters=_FOLD)]
    room = width - (_SCALE if figure.upright else _LETTER * max(labels, default=0))
    rows, used = [0], 0.0
    for words in (keyed(figure, name) for name in series_styles(figure)):
        each = _LETTER * max(map(len, words)) + _KEY
        if used and used + each > room:
            rows, used = [*rows, 0], 0.0
        rows[-1], used = max(rows[-1], len(words)), used + each
    return max(sum(rows), 1)


def _below(figure: Figure, found: Sequence[Panel]) -> int:
    """Room that the last panel's axis takes under it, in px: its numbers and its title."""
    if figure.kind == "map":
        return 8
    title = (figure.along if figure.upright else figure.value).title
    counted = figure.upright and figure.counts and bool(found[0].names)
    return 36 + (6 + 16 * len(_broken(title)) if title else 0) + 16 * counted


def _axes(figure: Figure, panel: Panel, *, last: bool, shared: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The axes of a panel; ``shared``: number of the panel whose scale those before it follow."""
    upright, along, value = figure.upright, _labels(figure, panel), _numbers(figure.value)
    if figure.kind == "map":
        return value, along
    value |= _titled(figure.axis, standoff=14 if upright else 8) if upright or last else {}
    if not last and not figure.free:
        value["matches"] = f"{'y' if upright else 'x'}{shared}"
    if not upright:
        return value, along
    along |= _titled(figure.along.title, standoff=12) if last else {}
    if not last:
        along["matches"] = f"x{shared}"
    return along, value


def _titled(title: str, *, standoff: int) -> dict[str, Any]:
    return {"title": {"text": "<br>".join(map(plain, _broken(title))), "standoff": standoff}} if title else {}


def _broken(title: str) -> list[str]:
    """Lines of a title that fit on a phone."""
    return wrap(title, 34, break_long_words=False) or [""]


_FIXED = {"automargin": True, "fixedrange": True}


def _numbers(axis: Axis) -> dict[str, Any]:
    made: dict[str, Any] = {"showgrid": True, "gridcolor": GRID}  # the pages' theme would leave out upright lines
    made |= {"zeroline": not axis.log, "zerolinecolor": NEUTRAL, "zerolinewidth": 1} | _FIXED
    made |= {"ticksuffix": axis.unit, "tickfont": TEXT, "nticks": 6, "exponentformat": "e", "showticklabels": True}
    if axis.log:
        made["type"] = "log"
    if axis.ticks:
        made["tickvals"] = list(axis.ticks)
    if axis.span != (None, None):
        # in a browser a range of which one end is left open is forgotten once words beside the axis need room
        made |= {"rangemode": "tozero"} if axis.span == (0, None) else {"range": list(axis.span)}
    return made


def _labels(figure: Figure, panel: Panel) -> dict[str, Any]:
    """The axis of the labels: a number line, or words with their n."""
    if panel.names:
        words = []
        for name, n in zip(panel.names, panel.counts or ("",) * len(panel.names), strict=True):
            said = plain(name) if figure.upright else "<br>".join(map(plain, folded(name, letters=_FOLD)))
            words.append(f"{said}<br><span style='font-size:12px'>{n}</span>" if n else said)
        return _words(words, upright=figure.upright)
    if figure.upright:
        return _numbers(figure.along) | ({} if figure.kind == "scatter" else {"showgrid": False, "zeroline": False})
    return _words((), upright=False)


def _words(said: Sequence[str], *, upright: bool) -> dict[str, Any]:
    """An axis of words, each written as it is, its markup too."""
    span = [-0.5, len(said) - 0.5] if upright else [len(said) - 0.5, -0.5]
    made = {"tickvals": list(range(len(said))), "ticktext": list(said), "range": span}
    made |= {"showgrid": False, "zeroline": False, **_FIXED, "tickfont": TEXT}
    return made | ({"tickangle": 0} if upright else {"ticksuffix": "  "})


def _head(figure: Figure, panel: Panel, name: str) -> list[str]:
    """Lines of the name of a map's column, so short that the columns fit on a phone."""
    letters = max(_NAMED, 4 * _NAMED // len(panel.marks))
    return wrap(shortened(called(figure, name)), letters, break_long_words=False, break_on_hyphens=False) or [""]


def columns_on_top(figure: Figure, panel: Panel) -> dict[str, Any]:
    """The axis of a map's columns: their names lean where there is no room for them side by side."""
    names = ["<br>".join(map(plain, _head(figure, panel, marks.name))) for marks in panel.marks]
    return _words(names, upright=True) | {"side": "top", "tickangle": None, "autotickangles": [0, 30]}


def _domains(heights: Sequence[int], area: int, gap: int) -> list[list[float]]:
    """Each panel's share of the figure's height, from its lower to its upper edge."""
    edges, top = [], area
    for height in heights:
        edges.append([max((top - height) / area, 0.0), top / area])
        top -= height + gap
    return edges


def _aside(figure: Figure, panel: Panel, own: str) -> list[dict[str, Any]]:
    """The words right of the plot, what they are above them."""
    if not panel.aside:
        return []
    look = {"x": 1, "xref": f"x{own} domain", "xanchor": "left", "xshift": 10, "showarrow": False, "font": TEXT}
    told = [(place, words) for place, words in enumerate(panel.aside) if words]
    said = [{"text": plain(words), "y": place, "yref": f"y{own}", **look} for place, words in told]
    head = {"text": plain(figure.aside.get("", "")), "y": 1, "yref": f"y{own} domain", "yanchor": "bottom", **look}
    return [head, *said]


def _across(figure: Figure, own: str) -> Iterator[dict[str, Any]]:
    """Shades, references and rays as shapes of a panel."""
    for shade in figure.shades:
        look: dict[str, Any] = {"type": "rect", "fillcolor": faded(shade.colour, shade.alpha), "line": {"width": 0}}
        yield look | {"layer": "below"} | _stretch(figure, shade.on, shade.low, shade.high, own)
    for each in figure.references:
        look = {"type": "line", "line": {"color": NEUTRAL, "width": 1.2, "dash": each.dash}}
        yield look | _stretch(figure, each.on, each.at, each.at, own)
    for x, y in ray_ends(figure):
        look = {"type": "line", "line": {"color": NEUTRAL, "width": 0.8, "dash": "dot"}, "layer": "below"}
        yield {"x0": 0, "y0": 0, "x1": x, "y1": y, "xref": f"x{own}", "yref": f"y{own}"} | look


def _stretch(figure: Figure, on: str, low: float, high: float, own: str) -> dict[str, Any]:
    if figure.across(on):
        return {"x0": low, "x1": high, "xref": f"x{own}", "y0": 0, "y1": 1, "yref": f"y{own} domain"}
    return {"x0": 0, "x1": 1, "xref": f"x{own} domain", "y0": low, "y1": high, "yref": f"y{own}"}


def _said(figure: Figure, each: Reference, own: str) -> dict[str, Any]:
    look = {"text": plain(each.text), "showarrow": False, "yanchor": "bottom"}
    if figure.across(each.on):
        return look | {"x": each.at, "xref": f"x{own}", "xanchor": each.side, "y": 1, "yref": f"y{own} domain"}
    return look | {"x": 1, "xref": f"x{own} domain", "xanchor": "right", "y": each.at, "yref": f"y{own}"}
