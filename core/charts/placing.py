"""Labels beside the marks of a scatter, every one readable."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from core.charts.panels import Marks, Panel
from core.charts.spec import Figure, shortened

_LETTER, _LINE, _DOT, _NEAR, _WHISKER = 6.6, 15.0, 6.0, 60.0, 4.0  # px
_RINGS = (13.0, 22.0, 34.0, 48.0, 64.0, 82.0)
_DIRECTIONS = 16

Rectangle = tuple[float, float, float, float]
"""Left, top, right, bottom in px, y downward."""


def beside(
    figure: Figure, panel: Panel, sizes: Sequence[tuple[float, float]]
) -> Iterator[tuple[float, float, str, tuple[float, float]]]:
    """Place the labels of a scatter's panel.

    Args:
        figure: a scatter.
        panel: one of its panels.
        sizes: width and height in px of the plot, every one at which the labels must be readable.

    Yields:
        x, y, text and the offset in px of its middle from the mark, y downward.
    """
    labels = figure.frame["label"].astype(str).to_numpy()
    marks = [
        (at, value, shortened(labels[row]))
        for each in panel.marks
        for at, value, row in zip(each.along, each.value, each.rows, strict=True)
        if math.isfinite(at) and math.isfinite(value)
    ]
    across_ends, upward_ends = (np.array(span, dtype=np.float64) for span in (figure.along.span, figure.span))
    views = []
    for wide, tall in sizes:
        across = np.interp([at for at, _, _ in marks], across_ends, [0, wide])
        down = np.interp([value for _, value, _ in marks], upward_ends, [tall, 0])
        views.append([(x - _DOT, y - _DOT, x + _DOT, y + _DOT) for x, y in zip(across, down, strict=True)])
    offsets = placed(views, [text for _, _, text in marks], [_lines_at(figure, panel, size) for size in sizes])
    yield from ((*mark, offset) for mark, offset in zip(marks, offsets, strict=True))


def _lines_at(figure: Figure, panel: Panel, size: tuple[float, float]) -> list[Rectangle]:
    """Whiskers, upright lines and what lies around the axes, of a panel at a width and height of its plot."""
    wide, tall = size
    across_ends, upward_ends = (np.array(span, dtype=np.float64) for span in (figure.along.span, figure.span))
    upright = [0.0, *(each.at for each in figure.references if each.on == "along")]
    flat: list[Rectangle] = []
    found = [(at, 0.0, tall) for at in np.interp(upright, across_ends, [0, wide])]
    for marks in panel.marks if figure.bounds == "whiskers" else ():
        at, low, high = (
            np.interp(each, ends, room)
            for each, ends, room in (
                (marks.along, across_ends, [0, wide]), (marks.low, upward_ends, [tall, 0]),
                (marks.high, upward_ends, [tall, 0]),
            )
        )  # fmt: skip
        there = np.isfinite(marks.low) & np.isfinite(marks.high)
        found += list(zip(at[there], high[there], low[there], strict=True))
        flat += _flat(marks, across_ends, upward_ends, size)
    outside = [(-wide, 0.0, 0.0, tall), (wide, 0.0, 2 * wide, tall), (0.0, -tall, wide, 0.0),
               (0.0, tall, wide, 2 * tall)]  # fmt: skip
    return [*outside, *flat, *((x - _WHISKER, top, x + _WHISKER, bottom) for x, top, bottom in found)]


def _flat(marks: Marks, across: np.ndarray, upward: np.ndarray, size: tuple[float, float]) -> list[Rectangle]:
    """Whiskers that lie across."""
    wide, tall = size
    there = np.isfinite(marks.left) & np.isfinite(marks.right)
    left, right = (np.interp(each[there], across, [0, wide]) for each in (marks.left, marks.right))
    down = np.interp(marks.value[there], upward, [tall, 0])
    return [(one, y - _WHISKER, other, y + _WHISKER) for one, other, y in zip(left, right, down, strict=True)]


def placed(
    views: Sequence[Sequence[Rectangle]], texts: Sequence[str], lines: Sequence[Sequence[Rectangle]] = ()
) -> list[tuple[float, float]]:
    """Place a label beside each mark so that labels cover neither each other nor a mark, at several widths at once.

    Nearest free place first, over rings of directions around the mark; crowded marks choose first. Where nothing is
    free, the place that overlaps least.

    Args:
        views: the same marks at each width of the plot: left, top, right, bottom in px, y downward. A label belongs to
            the middle of its mark.
        texts: labels, one a mark.
        lines: what else labels keep off, for each width, e.g. whiskers.

    Returns:
        Offset of each label's middle from its mark's, in px.
    """
    taken = [np.array([*marks, *others], dtype=np.float64).reshape(-1, 4)
             for marks, others in zip(views, lines or [()] * len(views), strict=True)]  # fmt: skip
    middles = [[((left + right) / 2, (top + bottom) / 2) for left, top, right, bottom in marks] for marks in views]
    crowd = [sum(math.dist(at, other) < _NEAR for at in middles[0]) for other in middles[0]]
    offsets = [(0.0, 0.0)] * len(texts)
    for index in sorted(range(len(texts)), key=lambda i: -crowd[i]):
        half = len(texts[index]) * _LETTER / 2
        tried = _candidates(half)
        overlap = _shared([_rectangles(at[index], tried, half) for at in middles], taken)
        best = tried[int(overlap.argmin())]
        offsets[index] = (float(best[0]), float(best[1]))
        taken = [np.vstack([others, _rectangles(at[index], best[None], half)])
                 for at, others in zip(middles, taken, strict=True)]  # fmt: skip
    return offsets


def _candidates(half: float) -> np.ndarray:
    """Offsets that are tried for a label of so many px half its width, the nearest first, float64 [k, 2]."""
    angles = 2 * np.pi * np.arange(_DIRECTIONS) / _DIRECTIONS - np.pi / 2
    # a label is wide: it must move further sideways to clear its own point
    return np.array([(math.cos(angle) * (ring + half), math.sin(angle) * ring) for ring in _RINGS for angle in angles])


def _rectangles(point: tuple[float, float], offsets: np.ndarray, half: float) -> np.ndarray:
    """Left, top, right and bottom of a label at each offset from a point, float64 [k, 4]."""
    x, y = point[0] + offsets[:, 0], point[1] + offsets[:, 1]
    return np.column_stack([x - half, y - _LINE / 2, x + half, y + _LINE / 2])


def _shared(spots: Sequence[np.ndarray], taken: Sequence[np.ndarray]) -> np.ndarray:
    """Area in px that each of k places shares with what is taken, over all views, float64 [k]."""
    found = np.zeros(len(spots[0]))
    for own, others in zip(spots, taken, strict=True):
        wide = np.minimum(own[:, None, 2], others[:, 2]) - np.maximum(own[:, None, 0], others[:, 0])
        high = np.minimum(own[:, None, 3], others[:, 3]) - np.maximum(own[:, None, 1], others[:, 1])
        found += np.where((wide > 0) & (high > 0), wide * high, 0.0).sum(axis=1)
    return found
