"""A report's figures as still drawings, SVG or PDF, without a browser: for Markdown, LaTeX and print."""

import math
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from io import BytesIO
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import pandas as pd

from core.charts.panels import COLUMNS, places
from core.charts.style import NEUTRAL, colours
from core.report.model import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

WIDTH = 7.2
"""Of a drawing, in inches."""

WORTH_A_PROCESS = 1500
"""Marks in all figures from which on a second process saves more than its start costs."""

_STYLE: Any = {
    "font.size": 8, "font.family": "sans-serif", "svg.fonttype": "none", "svg.hashsalt": "invariscope",
    "pdf.fonttype": 3, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": NEUTRAL,
    "axes.linewidth": 0.6, "xtick.color": "#333333", "ytick.color": "#333333", "legend.frameon": False,
}  # fmt: skip


def drawing(each: Figure, *, kind: str = "svg") -> bytes:
    """Draw one figure; the same data give the same bytes.

    Args:
        each: the figure.
        kind: ``svg`` or ``pdf``.
    """
    return drawings(each, kinds=(kind,))[kind]


def drawings(each: Figure, *, kinds: Sequence[str]) -> dict[str, bytes]:
    """Draw one figure in several kinds, laid out once."""
    import matplotlib as mpl

    found = {}
    with mpl.rc_context(_STYLE):
        canvas = _canvas(each)
        _lay_out(canvas, kinds[0])
        for kind in kinds:
            buffer = BytesIO()
            when = {"Date": None} if kind == "svg" else {"CreationDate": None}
            canvas.savefig(buffer, format=kind, metadata=when)
            found[kind] = buffer.getvalue()
    return found


def _lay_out(canvas: "Canvas", kind: str) -> None:
    """Find every place once, with the letters of one kind; left to savefig, each kind is drawn twice to find them."""
    from matplotlib.backend_bases import get_registered_canvas_class

    get_registered_canvas_class(kind)(canvas)
    engine = canvas.get_layout_engine()
    assert engine is not None
    engine.execute(canvas)
    canvas.set_layout_engine(None)


def draw_all(figures: Sequence[Figure], *, kinds: Sequence[str]) -> list[dict[str, bytes]]:
    """Draw many figures, in processes of their own where there is enough to draw and more than one core.

    Returns:
        For each figure, in order, kind -> content.
    """
    workers = min(os.cpu_count() or 1, 2, len(figures))
    if workers < 2 or sum(len(each.frame) for each in figures) < WORTH_A_PROCESS:
        return [drawings(each, kinds=kinds) for each in figures]
    # spawned, not forked: a fork beside threads of torch or DuckDB can hang
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as processes:
        return list(processes.map(partial(drawings, kinds=kinds), figures))


def _canvas(each: Figure) -> "Canvas":
    from matplotlib.figure import Figure as Canvas

    frame = each.frame
    names = list(dict.fromkeys(frame["panel"]))
    columns = min(COLUMNS, len(names)) or 1
    rows = math.ceil(max(len(names), 1) / columns)
    canvas = Canvas(figsize=(WIDTH, _height(each, rows)), dpi=72, layout="constrained")
    share: Any = not each.free
    axes = canvas.subplots(rows, columns, squeeze=False, sharex=share and not each.lines, sharey=share and each.lines)
    told: dict[str, Any] = {}
    for place, name in zip(axes.flat, names, strict=False):
        _panel(place, each, frame[frame["panel"] == name], title=str(name) if len(names) > 1 else "")
        handles, labels = place.get_legend_handles_labels()
        told |= dict(zip(labels, handles, strict=True))
    for place in list(axes.flat)[len(names) :]:
        place.set_visible(False)
    if len(told) > 1:
        canvas.legend(list(told.values()), list(told), loc="outside upper center", ncols=min(len(told), 4))
    return canvas


def _height(each: Figure, rows: int) -> float:
    frame = each.frame
    labels = frame.groupby("panel", sort=False)["label"].nunique().max() if len(frame) else 1
    marks = 8 if each.lines else labels * max(frame["series"].nunique() * 0.8, 1.2) + 2
    return float(min(rows * (0.17 * marks + 0.35) + 0.3, 60))


def _panel(place: "Axes", each: Figure, part: pd.DataFrame, *, title: str) -> None:
    colour = colours(map(str, each.frame["series"].unique()))
    for series, rows in part.groupby("series", sort=False):
        (_line if each.lines else _dots)(place, rows, part, colour[str(series)], str(series), each.mark)
    place.set_title(_plain(title), fontsize=8, loc="left")
    if each.lines:
        place.set_ylabel(_plain(each.axis))
        place.grid(axis="y", linewidth=0.4, alpha=0.5)
        return
    labels, _ = places(part)
    place.set_yticks(list(labels.values()), [_plain(label) for label in labels])
    place.set_ylim(len(labels) - 0.4, -0.6)
    place.set_xlabel(_plain(each.axis))
    place.grid(axis="x", linewidth=0.4, alpha=0.5)
    if part["value"].min() <= 0:
        place.axvline(0, color=NEUTRAL, linewidth=0.8, zorder=0)


def _dots(place: "Axes", rows: pd.DataFrame, part: pd.DataFrame, colour: str, name: str, mark: str) -> None:
    labels, offsets = places(part)
    y = [labels[str(label)] + offsets[name] for label in rows["label"]]
    place.errorbar(rows["value"], y, xerr=_bars(rows), fmt="o", color=colour, markersize=3.5, linewidth=1, capsize=2,
                   label=_plain(name))  # fmt: skip


def _line(place: "Axes", rows: pd.DataFrame, part: pd.DataFrame, colour: str, name: str, mark: str) -> None:
    place.errorbar(rows["label"], rows["value"], yerr=_bars(rows), fmt="-o", color=colour, markersize=3, linewidth=1,
                   capsize=2, label=_plain(name))  # fmt: skip
    if mark:
        chosen = rows[rows[mark]]
        place.plot(chosen["label"], chosen["value"], "o", color=colour, markersize=7)


def _bars(rows: pd.DataFrame) -> list[list[float]] | None:
    if rows["low"].isna().all():
        return None
    low, high = rows["value"] - rows["low"], rows["high"] - rows["value"]
    return [list(_there(low)), list(_there(high))]


def _there(values: pd.Series) -> Iterator[float]:
    yield from (max(0.0, float(value)) for value in values.fillna(0))


def _plain(text: str) -> str:
    return text.replace("$", r"\$")
