"""Modifiers along the valence direction against the shift that they induce, every label readable."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.charts.style import GRID, NEUTRAL, colours, plain, quiet

HEIGHT = 460
WIDTHS = (280.0, 420.0, 600.0, 780.0, 1000.0)
"""Widths of the plot in px that labels are placed for, from a phone's to a large screen's."""

SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "star")
"""One a family, beside its colour."""

_LETTER, _LINE, _DOT, _NEAR = 6.6, 15.0, 6.0, 60.0  # px
_RINGS = (13.0, 22.0, 34.0, 48.0, 64.0, 82.0)
_DIRECTIONS = 16

Rectangle = tuple[float, float, float, float]


def valence_scatter(points: pd.DataFrame, *, neutral: float = math.nan) -> go.Figure:
    """Draw one point a modifier.

    Args:
        points: of :class:`core.analysis.geometry.Geometry`.
        neutral: mean projection of the neutral words, a vertical line; NaN for none.
    """
    colour = colours(map(str, points["family"].unique()))
    figure = go.Figure()
    for number, (family, rows) in enumerate(points.groupby("family", sort=True)):
        figure.add_trace(
            go.Scatter(
                x=rows["projection"], y=rows["median_percent"], mode="markers", name=plain(str(family)),
                marker={"size": 9, "color": colour[str(family)], "symbol": SYMBOLS[number % len(SYMBOLS)]},
                error_y={"array": (rows["high"] - rows["median_percent"]).fillna(0),
                         "arrayminus": (rows["median_percent"] - rows["low"]).fillna(0),
                         "color": colour[str(family)], "thickness": 1, "width": 3},
                hovertext=[_hover(row) for _, row in rows.iterrows()], hoverinfo="text",
            )
        )  # fmt: skip
    quiet(figure, height=HEIGHT)
    x_range, y_range = _ranges(points)
    for note in _labels(points, x_range, y_range):
        figure.add_annotation(**note)
    if not math.isnan(neutral):
        figure.add_vline(x=neutral, line={"color": NEUTRAL, "dash": "dot", "width": 1})
    figure.update_layout(showlegend=True, margin={"l": 8, "r": 8, "t": 40, "b": 48},
                         legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom"})  # fmt: skip
    figure.update_xaxes(range=x_range, title_text="projection on the valence direction", zeroline=True)
    figure.update_yaxes(range=y_range, title_text="median %Δ", showgrid=True, gridcolor=GRID, zeroline=True,
                        zerolinecolor=NEUTRAL, ticksuffix=" %")  # fmt: skip
    return figure


def placed(views: Sequence[Sequence[Rectangle]], texts: Sequence[str]) -> list[tuple[float, float]]:
    """Place a label beside each mark so that labels cover neither each other nor a mark, at several widths at once.

    Nearest free place first, over rings of directions around the mark; crowded marks choose first. Where nothing is
    free, the place that overlaps least.

    Args:
        views: the same marks at each width of the plot: left, top, right, bottom in px, y downward. A label belongs to
            the middle of its mark.
        texts: labels, one a mark.

    Returns:
        Offset of each label's middle from its mark's, in px.
    """
    taken = [list(marks) for marks in views]
    middles = [[((left + right) / 2, (top + bottom) / 2) for left, top, right, bottom in marks] for marks in views]
    crowd = [sum(math.dist(at, other) < _NEAR for at in middles[0]) for other in middles[0]]
    offsets = [(0.0, 0.0)] * len(texts)
    for index in sorted(range(len(texts)), key=lambda i: -crowd[i]):
        best, least = (0.0, -_RINGS[0]), math.inf
        for offset in _candidates(texts[index]):
            spots = [_rectangle(at[index], offset, texts[index]) for at in middles]
            overlap = sum(_shared(spot, other) for spot, others in zip(spots, taken, strict=True) for other in others)
            if overlap < least:
                best, least = offset, overlap
            if overlap == 0:
                break
        offsets[index] = best
        for at, others in zip(middles, taken, strict=True):
            others.append(_rectangle(at[index], best, texts[index]))
    return offsets


def _candidates(text: str) -> Iterator[tuple[float, float]]:
    half = len(text) * _LETTER / 2
    for ring in _RINGS:
        for step in range(_DIRECTIONS):
            angle = 2 * math.pi * step / _DIRECTIONS - math.pi / 2
            # a label is wide: it must move further sideways to clear its own point
            yield math.cos(angle) * (ring + half), math.sin(angle) * ring


def _rectangle(point: tuple[float, float], offset: tuple[float, float], text: str) -> Rectangle:
    x, y, half = point[0] + offset[0], point[1] + offset[1], len(text) * _LETTER / 2
    return x - half, y - _LINE / 2, x + half, y + _LINE / 2


def _shared(one: Rectangle, other: Rectangle) -> float:
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return wide * high if wide > 0 and high > 0 else 0.0


def _labels(points: pd.DataFrame, x_range: list[float], y_range: list[float]) -> Iterator[dict[str, object]]:
    texts = [str(name) for name in points["modifier"]]
    offsets = placed([_marks(points, x_range, y_range, width) for width in WIDTHS], texts)
    for (x_off, y_off), (_, row) in zip(offsets, points.iterrows(), strict=True):
        far = math.hypot(x_off, y_off) > 40
        yield {
            "x": row["projection"], "y": row["median_percent"], "text": plain(str(row["modifier"])), "ax": x_off,
            "ay": y_off, "showarrow": True, "arrowhead": 0, "arrowwidth": 0.8 if far else 0.1, "arrowcolor": NEUTRAL,
            "standoff": 6, "font": {"size": 12},
        }  # fmt: skip


def _marks(points: pd.DataFrame, x_range: list[float], y_range: list[float], width: float) -> list[Rectangle]:
    """Dot of each modifier in px."""
    wide, high = width / (x_range[1] - x_range[0]), (HEIGHT - 120) / (y_range[1] - y_range[0])
    at = [((x - x_range[0]) * wide, (y_range[1] - y) * high)
          for x, y in zip(points["projection"], points["median_percent"], strict=True)]  # fmt: skip
    return [(x - _DOT, y - _DOT, x + _DOT, y + _DOT) for x, y in at]


def _ranges(points: pd.DataFrame) -> tuple[list[float], list[float]]:
    found = []
    for columns, share in ((["projection"], 0.22), (["median_percent", "low", "high"], 0.1)):
        values = points[columns].to_numpy(dtype=float)
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        pad = share * (high - low) or 0.05 * max(abs(high), 1.0)
        found.append([low - pad, high + pad])
    return found[0], found[1]


def _hover(row: pd.Series) -> str:
    behind = f", over {int(row['n_objects'])} objects" if row["n_objects"] else ""
    return (
        f"<b>{plain(str(row['modifier']))}</b>, {plain(str(row['family']))}<br>"
        f"projection {row['projection']:+.3f}{behind}<br>"
        f"median %Δ {row['median_percent']:+.2f} % (95 % CI {row['low']:+.2f} to {row['high']:+.2f}), "
        f"n = {int(row['n_items'])} items"
    )
