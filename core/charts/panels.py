"""Where the marks of a figure and the labels beside them stand, worked out once for every renderer."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from textwrap import wrap

import numpy as np
import pandas as pd

from core.charts.spec import Figure, Style, called, series_styles, shortened

SPREAD = 0.7  # Of the distance between two labels, over which the series of one label lie
_KEY = 34  # letters of a line of a legend's words, which take two lines at most
_LETTERS = 50  # of a label beside its marks; what is longer loses its middle
_LEVELS_SPREAD = 0.35  # lines over levels stay closer to their level: a line leads the eye


@dataclass(frozen=True, slots=True)
class Marks:
    """One series in one panel."""

    name: str  # of the series, whole
    style: Style  # how it looks
    rows: np.ndarray  # int [n], the rows of the figure's frame
    along: np.ndarray  # float64 [n], places on the axis of the labels
    value: np.ndarray  # float64 [n], likewise low and high; NaN where there is none
    low: np.ndarray
    high: np.ndarray
    # left, right: float64 [n], ends of the interval along; NaN where there is none
    left: np.ndarray
    right: np.ndarray
    hollow: np.ndarray  # bool [n], marks that are drawn open
    chosen: np.ndarray  # bool [n], marks that are drawn large


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel."""

    title: str  # empty where a figure has a single, nameless panel
    marks: tuple[Marks, ...]  # by series, in the order of the legend
    names: tuple[str, ...]  # words of the labels at 0, 1, 2, …; empty where the axis is one of numbers
    counts: tuple[str, ...]  # n below each of them; empty where it is not asked for
    aside: tuple[str, ...] = ()  # words right of the plot beside each of them; empty where there are none


def panels(figure: Figure) -> tuple[Panel, ...]:
    """Arrange a figure; one without a row is one empty panel."""
    frame = figure.frame.reset_index(drop=True)
    if frame.empty:
        return (Panel("", (), (), ()),)
    styles = series_styles(figure)
    titles, series = frame["panel"].astype(str).to_numpy(), frame["series"].astype(str).to_numpy()
    numbers = {name: frame[name].to_numpy(dtype=np.float64) for name in ("value", "low", "high", "n")}
    numbers |= {
        side: frame[name].to_numpy(dtype=np.float64) if name in frame else np.full(len(frame), np.nan)
        for side, name in (("left", "x_low"), ("right", "x_high"))
    }
    looks = {"hollow": hollow(figure), "chosen": _flags(frame, figure.mark)}
    every = _Labels.of(figure, frame)
    found = []
    for title in dict.fromkeys(titles):
        here = np.flatnonzero(titles == title)
        labels = every if figure.upright else every.of_rows(here)
        marks = []
        for place, (name, style) in enumerate(styles.items()):
            rows = here[series[here] == name]
            if len(rows):
                if len(styles) > 1 and figure.kind == "dots":  # the first mark stands in the legend: a filled one
                    rows = rows[np.argsort(looks["hollow"][rows], kind="stable")]
                at = labels.place[rows] + _offset(figure, labels, place, len(styles))
                told = {each: numbers[each][rows] for each in ("value", "low", "high", "left", "right")}
                marks.append(Marks(name, style, rows, at, **told, **{key: look[rows] for key, look in looks.items()}))
        room = max(56 // max(len(labels.names), 1), 6) if figure.upright else _LETTERS
        words = tuple(shortened(str(figure.names.get(name, name)), most=room) for name in labels.names)
        counts = labels.counted(here if not figure.upright else np.arange(len(frame)), numbers["n"])
        aside = tuple(figure.aside.get(name, "") for name in labels.names) if figure.aside else ()
        found.append(Panel(title, tuple(marks), words, counts if figure.counts else (), aside))
    return tuple(found)


def keyed(figure: Figure, name: str) -> tuple[str, ...]:
    """Lines of a series' words in a legend; long ones lose their middle."""
    return folded(shortened(called(figure, name), most=2 * _KEY), letters=_KEY)


@lru_cache(maxsize=4096)  # every figure asks for its labels several times, and the next one for the same
def folded(name: str, *, letters: int) -> tuple[str, ...]:
    """Lines of a label beside its marks, of so many letters at most where its words allow it."""
    return tuple(wrap(name, letters, break_long_words=False, break_on_hyphens=False)) or ("",)


def arrows(figure: Figure, panel: Panel) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """From where to where the arrows of a scatter's panel lead: (x, y) each."""
    first = dict[str, tuple[float, float]]()
    for marks in panel.marks:
        if len(marks.value) and np.isfinite([marks.along[0], marks.value[0]]).all():
            first[marks.name] = float(marks.along[0]), float(marks.value[0])
    return [(first[one], first[other]) for one, other in figure.moves if one in first and other in first]


def hollow(figure: Figure) -> np.ndarray:
    """Which marks are drawn open: those that the frame says, and those without an interval among marks that have one.
    Returns bool [n]."""
    said = _flags(figure.frame, "hollow" if "hollow" in figure.frame else "")
    if figure.kind not in ("dots", "scatter"):
        return said
    bare = (figure.frame["low"].isna() & figure.frame["high"].isna()).to_numpy(dtype=bool)
    return said | (bare if not bare.all() else np.zeros_like(bare))


def ray_ends(figure: Figure) -> list[tuple[float, float]]:
    """Where each ray of a scatter leaves the axes, (x, y), right of the origin."""
    right, top = figure.along.span[1] or 0.0, figure.span[1] or 0.0
    return [(min(right, top / each.ratio), min(top, right * each.ratio)) for each in figure.rays]


def reach(marks: Marks, *, along: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Lengths of the whiskers below and above a value; NaN where it has none, 0 where it has only the other; ``along``:
    those on the axis of the labels instead, to the left and to the right."""
    at, low, high = (marks.along, marks.left, marks.right) if along else (marks.value, marks.low, marks.high)
    below, above = at - low, high - at
    none = np.isnan(below) & np.isnan(above)
    ends = (np.where(np.isnan(each), 0.0, np.maximum(each, 0.0)) for each in (below, above))
    one, other = (np.where(none, np.nan, each) for each in ends)
    return one, other


def joints(panel: Panel) -> list[list[tuple[float, float]]]:
    """The marks of each label that a line joins, (value, place along) each, labels in their order."""
    found = dict[int, list[tuple[float, float]]]()
    for marks in panel.marks:
        for at, value in zip(marks.along, marks.value, strict=True):
            found.setdefault(round(at), []).append((value, at))
    return [found[label] for label in sorted(found)]


def cells(panel: Panel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The cells of a map's panel. Returns values, float64 [labels, series], NaN where there is none; the row of the
    frame of each, -1 for none; and which are drawn as an outline, bool."""
    value = np.full((len(panel.names), len(panel.marks)), np.nan)
    rows, bare = np.full(value.shape, -1), np.zeros(value.shape, dtype=bool)
    for column, marks in enumerate(panel.marks):
        at = marks.along.astype(int), column
        value[at], rows[at], bare[at] = marks.value, marks.rows, marks.hollow
    return value, rows, bare


def colour_span(figure: Figure) -> tuple[float, float]:
    """Values at the ends of a map's colours."""
    values = figure.frame["value"].to_numpy(dtype=np.float64)
    there = values[np.isfinite(values)]
    if figure.diverging:
        largest = float(np.abs(there).max(initial=0.1))
        return -largest, largest
    low, high = (float(there.min()), float(there.max())) if len(there) else (0.0, 1.0)
    first, last = figure.span
    return (low if first is None else first), (high if last is None else last)


@dataclass(frozen=True, slots=True)
class _Labels:
    """The labels of some rows: their names in order, and the place of each row's."""

    names: tuple[str, ...]
    place: np.ndarray  # of every row of the frame; a number where the axis is one of numbers
    levels: bool

    @classmethod
    def of(cls, figure: Figure, frame: pd.DataFrame) -> "_Labels":
        if figure.kind == "scatter":
            return cls((), frame["x"].to_numpy(dtype=np.float64), levels=False)
        if figure.kind == "lines" and pd.api.types.is_numeric_dtype(frame["label"]):
            return cls((), frame["label"].to_numpy(dtype=np.float64), levels=False)
        labels = frame["label"].astype(str)
        there = dict.fromkeys(labels.unique())
        names = [name for name in figure.order if name in there]
        names += [name for name in there if name not in figure.order]
        return cls(tuple(names), pd.Index(names).get_indexer(pd.Index(labels)).astype(np.float64), levels=True)

    def of_rows(self, rows: np.ndarray) -> "_Labels":
        """The same for the rows of one panel, numbered anew."""
        own = sorted(set(self.place[rows].astype(int).tolist()))
        number = np.full(len(self.names), np.nan)
        number[own] = np.arange(len(own))
        return _Labels(tuple(self.names[code] for code in own), number[self.place.astype(int)], levels=True)

    def counted(self, rows: np.ndarray, n: np.ndarray) -> tuple[str, ...]:
        """Fewest and most n of each label."""
        return tuple(_range(n[rows[self.place[rows] == place]]) for place in range(len(self.names)))


def _range(counts: np.ndarray) -> str:
    there = counts[np.isfinite(counts)]
    if not len(there):
        return ""
    low, high = int(there.min()), int(there.max())
    return f"n {low}" if low == high else f"n {low}–{high}"


def _offset(figure: Figure, labels: _Labels, place: int, count: int) -> float:
    if not labels.levels or figure.overlay or figure.kind == "map":
        return 0.0
    return (_LEVELS_SPREAD if figure.upright else SPREAD) / count * (place - (count - 1) / 2)


def _flags(frame: pd.DataFrame, column: str) -> np.ndarray:
    return frame[column].to_numpy(dtype=bool) if column else np.zeros(len(frame), dtype=bool)


_LETTER, _LINE, _DOT, _NEAR, _WHISKER = 6.6, 15.0, 6.0, 60.0, 4.0  # px
_RINGS = (13.0, 22.0, 34.0, 48.0, 64.0, 82.0)
_DIRECTIONS = 16

Rectangle = tuple[float, float, float, float]  # Left, top, right, bottom in px, y downward


def beside(
    figure: Figure, panel: Panel, sizes: Sequence[tuple[float, float]]
) -> Iterator[tuple[float, float, str, tuple[float, float]]]:
    """Place the labels of a scatter's panel, readable at every width and height of the plot in px; a mark without one
    keeps its place. Yields x, y, text and the offset in px of its middle from the mark, y downward."""
    labels = figure.frame["label"].astype(str).to_numpy()
    marks = [
        (at, value, shortened(labels[row]))
        for each in panel.marks
        for at, value, row in zip(each.along, each.value, each.rows, strict=True)
        if labels[row] and math.isfinite(at) and math.isfinite(value)
    ]
    if not marks:
        return
    across_ends, upward_ends = (np.array(span, dtype=np.float64) for span in (figure.along.span, figure.span))
    views = []
    for wide, tall in sizes:
        across = np.interp([at for at, _, _ in marks], across_ends, [0, wide])
        down = np.interp([value for _, value, _ in marks], upward_ends, [tall, 0])
        views.append([(x - _DOT, y - _DOT, x + _DOT, y + _DOT) for x, y in zip(across, down, strict=True)])
    offsets = placed(views, [text for _, _, text in marks], [_lines_at(figure, panel, size) for size in sizes])
    yield from ((*mark, offset) for mark, offset in zip(marks, offsets, strict=True))


def _lines_at(figure: Figure, panel: Panel, size: tuple[float, float]) -> list[Rectangle]:
    """Whiskers, rays, upright lines and what lies around the axes, of a panel at a width and height of its plot."""
    wide, tall = size
    across_ends, upward_ends = (np.array(span, dtype=np.float64) for span in (figure.along.span, figure.span))
    upright = [0.0, *(each.at for each in figure.references if each.on == "along")]
    flat: list[Rectangle] = []
    found = [(at, 0.0, tall) for at in np.interp(upright, across_ends, [0, wide])]
    for marks in panel.marks if figure.bounds == "whiskers" else ():
        at = np.interp(marks.along, across_ends, [0, wide])
        low, high = (np.interp(each, upward_ends, [tall, 0]) for each in (marks.low, marks.high))
        there = np.isfinite(marks.low) & np.isfinite(marks.high)
        found += list(zip(at[there], high[there], low[there], strict=True))
        there = np.isfinite(marks.left) & np.isfinite(marks.right)  # whiskers that lie across
        ends = (np.interp(each[there], across_ends, [0, wide]) for each in (marks.left, marks.right))
        down = np.interp(marks.value[there], upward_ends, [tall, 0])
        flat += [(one, y - _WHISKER, other, y + _WHISKER) for one, other, y in zip(*ends, down, strict=True)]
    outside = [(-wide, 0.0, 0.0, tall), (wide, 0.0, 2 * wide, tall)]
    outside += [(0.0, -tall, wide, 0.0), (0.0, tall, wide, 2 * tall)]
    along = np.linspace(across_ends[0], across_ends[1], 48)
    for ray in figure.rays:
        dots = np.interp(along, across_ends, [0, wide]), np.interp(ray.ratio * along, upward_ends, [tall, 0])
        flat += [(x - _WHISKER, y - _WHISKER, x + _WHISKER, y + _WHISKER) for x, y in zip(*dots, strict=True)]
    return [*outside, *flat, *((x - _WHISKER, top, x + _WHISKER, bottom) for x, top, bottom in found)]


def placed(
    views: Sequence[Sequence[Rectangle]], texts: Sequence[str], lines: Sequence[Sequence[Rectangle]] = ()
) -> list[tuple[float, float]]:
    """Place a label beside each mark so that labels cover neither each other nor a mark, at several widths at once.
    Nearest free place first, over rings of directions around the mark; crowded marks choose first. Where nothing is
    free, the place that overlaps least. ``views``: the same marks at each width of the plot: left, top, right, bottom
    in px, y downward. A label belongs to the middle of its mark. ``lines``: what else labels keep off, for each width,
    e.g. whiskers. Returns offset of each label's middle from its mark's, in px."""
    both = zip(views, lines or [()] * len(views), strict=True)
    taken = [np.array([*marks, *others], dtype=np.float64).reshape(-1, 4) for marks, others in both]
    middles = [[((left + right) / 2, (top + bottom) / 2) for left, top, right, bottom in marks] for marks in views]
    crowd = [sum(math.dist(at, other) < _NEAR for at in middles[0]) for other in middles[0]]
    offsets, angles = [(0.0, 0.0)] * len(texts), 2 * np.pi * np.arange(_DIRECTIONS) / _DIRECTIONS - np.pi / 2
    for index in sorted(range(len(texts)), key=lambda i: -crowd[i]):
        half = len(texts[index]) * _LETTER / 2
        # the nearest first; a label is wide: it must move further sideways to clear its own point
        tried = np.array(
            [(math.cos(angle) * (ring + half), math.sin(angle) * ring) for ring in _RINGS for angle in angles]
        )
        best = tried[int(_shared([_rectangles(at[index], tried, half) for at in middles], taken).argmin())]
        offsets[index] = (float(best[0]), float(best[1]))
        own = [_rectangles(at[index], best[None], half) for at in middles]
        taken = [np.vstack(both) for both in zip(taken, own, strict=True)]
    return offsets


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
