"""Where the marks of a figure stand, worked out once for every renderer."""

from dataclasses import dataclass
from functools import lru_cache
from textwrap import wrap

import numpy as np
import pandas as pd

from core.charts.spec import Figure, Style, called, series_styles, shortened

SPREAD = 0.7
"""Of the distance between two labels, over which the series of one label lie."""

_KEY = 34  # letters of a line of a legend's words, which take two lines at most
_LETTERS = 50  # of a label beside its marks; what is longer loses its middle
_LEVELS_SPREAD = 0.35  # lines over levels stay closer to their level: a line leads the eye


@dataclass(frozen=True, slots=True)
class Marks:
    """One series in one panel.

    Args:
        name: of the series, whole.
        style: how it looks.
        rows: int [n], the rows of the figure's frame.
        along: float64 [n], places on the axis of the labels.
        value: float64 [n], likewise low and high; NaN where there is none.
        left, right: float64 [n], ends of the interval along; NaN where there is none.
        hollow: bool [n], marks that are drawn open.
        chosen: bool [n], marks that are drawn large.
    """

    name: str
    style: Style
    rows: np.ndarray
    along: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    left: np.ndarray
    right: np.ndarray
    hollow: np.ndarray
    chosen: np.ndarray


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel.

    Args:
        title: empty where a figure has a single, nameless panel.
        marks: by series, in the order of the legend.
        names: words of the labels at 0, 1, 2, …; empty where the axis is one of numbers.
        counts: n below each of them; empty where it is not asked for.
    """

    title: str
    marks: tuple[Marks, ...]
    names: tuple[str, ...]
    counts: tuple[str, ...]


def panels(figure: Figure) -> tuple[Panel, ...]:
    """Arrange a figure; one without a row is one empty panel."""
    frame = figure.frame.reset_index(drop=True)
    if frame.empty:
        return (Panel("", (), (), ()),)
    styles = series_styles(figure)
    titles, series = frame["panel"].astype(str).to_numpy(), frame["series"].astype(str).to_numpy()
    numbers = {name: frame[name].to_numpy(dtype=np.float64) for name in ("value", "low", "high", "n")}
    numbers |= {side: frame[name].to_numpy(dtype=np.float64) if name in frame else np.full(len(frame), np.nan)
                for side, name in (("left", "x_low"), ("right", "x_high"))}  # fmt: skip
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
                at = labels.places(rows) + _offset(figure, labels, place, len(styles))
                told = {each: numbers[each][rows] for each in ("value", "low", "high", "left", "right")}
                marks.append(Marks(name, style, rows, at, **told, **{key: look[rows] for key, look in looks.items()}))
        room = max(56 // max(len(labels.names), 1), 6) if figure.upright else _LETTERS
        words = tuple(shortened(str(figure.names.get(name, name)), most=room) for name in labels.names)
        counts = labels.counted(here if not figure.upright else np.arange(len(frame)), numbers["n"])
        found.append(Panel(title, tuple(marks), words, counts if figure.counts else ()))
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
    first = {
        marks.name: (float(marks.along[0]), float(marks.value[0]))
        for marks in panel.marks
        if len(marks.value) and np.isfinite([marks.along[0], marks.value[0]]).all()
    }
    return [(first[one], first[other]) for one, other in figure.moves if one in first and other in first]


def hollow(figure: Figure) -> np.ndarray:
    """Which marks are drawn open: those that the frame says, and those without an interval among marks that have one.

    Returns:
        bool [n].
    """
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
    """Lengths of the whiskers below and above a value; NaN where it has none, 0 where it has only the other.

    Args:
        marks: of a series.
        along: those on the axis of the labels instead, to the left and to the right.
    """
    at, low, high = (marks.along, marks.left, marks.right) if along else (marks.value, marks.low, marks.high)
    below, above = at - low, high - at
    none = np.isnan(below) & np.isnan(above)
    ends = (np.where(np.isnan(each), 0.0, np.maximum(each, 0.0)) for each in (below, above))
    one, other = (np.where(none, np.nan, each) for each in ends)
    return one, other


def cells(panel: Panel) -> tuple[np.ndarray, np.ndarray]:
    """The cells of a map's panel.

    Returns:
        Values, float64 [labels, series], NaN where there is none; and the row of the frame of each, -1 for none.
    """
    value = np.full((len(panel.names), len(panel.marks)), np.nan)
    rows = np.full(value.shape, -1)
    for column, marks in enumerate(panel.marks):
        value[marks.along.astype(int), column] = marks.value
        rows[marks.along.astype(int), column] = marks.rows
    return value, rows


def hollow_cells(panel: Panel) -> np.ndarray:
    """Which cells of a map's panel are drawn as an outline, bool [labels, series]."""
    found = np.zeros((len(panel.names), len(panel.marks)), dtype=bool)
    for column, marks in enumerate(panel.marks):
        found[marks.along.astype(int), column] = marks.hollow
    return found


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

    def places(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self.place[rows])

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
