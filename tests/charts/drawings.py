"""One figure of every function that makes one, from the same made-up marks; and what each renderer drew, read back."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex

from core.charts.layout import number
from core.charts.spec import Figure
from core.features.calibration import calibration_figures
from core.features.compare import comparison_figures
from core.features.flips import flip_risk_figures
from core.features.geometry import geometry
from core.features.human import people_figures
from core.features.lab import lab_figures
from core.features.training import train_command
from core.features.video import video_edits
from core.report import fairness_card
from tests.charts import built_figures

NONE = math.nan
BLUE = "#0079BD"


@dataclass(frozen=True, slots=True)
class Mark:
    """What every table below is made of."""

    label: str
    value: float
    low: float
    high: float


def _marks(labels: Sequence[str], *, sign: int = 1, scale: float = 1.0) -> list[Mark]:
    values = [sign * scale * (1 + place % 5) for place in range(len(labels))]
    return [Mark(label, value, value - 0.5 * scale, value + scale) for label, value in zip(labels, values, strict=True)]


EDGES: dict[str, list[Mark]] = {
    "usual": _marks(["vertical-flip", "rotation", "blur"]),
    "empty": [],
    "one mark": _marks(["vertical-flip"]),
    "no interval": [*_marks(["vertical-flip"]), Mark("rotation", 2.0, NONE, NONE), Mark("blur", 1.0, NONE, NONE)],
    "forty labels": _marks([f"label {place}" for place in range(40)]),
    "long names": _marks([f"<b>$x_{place}$ {'a very long name ' * 8} & {place}" for place in range(3)]),
    "negative": _marks(["vertical-flip", "rotation", "blur"], sign=-1),
    "huge": _marks(["vertical-flip", "rotation", "blur"], scale=1e12),
}


def _table(marks: Sequence[Mark], columns: Callable[[Mark], dict[str, Any]], like: Mark) -> pd.DataFrame:
    """A row a mark; without marks, the columns with their types alone."""
    return pd.DataFrame([columns(each) for each in marks or [like]]).iloc[: len(marks)]


_LIKE = Mark("x", 1.0, 0.5, 2.0)


def _effects(marks: Sequence[Mark]) -> pd.DataFrame:
    claims = {"n_items": 40, "drift": "drifts one way", "scatter": "unstable (beyond the margin)"}
    table = _table(
        marks,
        lambda each: {"label": each.label, "value": each.value, "low": each.low, "high": each.high, **claims},
        _LIKE,
    )
    ends = table[["value", "low", "high"]]
    frames = [
        table.assign(evaluator=evaluator, corpus=corpus, **(ends + shift))
        for evaluator, shift in (("one", 0.0), ("two", 0.25))
        for corpus in ("coco", "demo")
    ]
    return pd.concat(frames, ignore_index=True)


def _labels(marks: Sequence[Mark]) -> list[str]:
    return [each.label for each in marks]


def _intervals(marks: Sequence[Mark]) -> Figure:
    return built_figures.intervals(
        _effects(marks),
        labels=_labels(marks)[::-1],
        series="evaluator",
        panel="corpus",
        unit=" %",
        band=(-1, 1),
        axis="median",
    )


def _levels(marks: Sequence[Mark]) -> Figure:
    return built_figures.score_levels(_effects(marks), levels=_labels(marks), level="label")


def _cells(marks: Sequence[Mark]) -> Figure:
    table = _effects(marks)
    return built_figures.cells(
        table[table["corpus"] == "demo"],
        rows=_labels(marks),
        columns=["one", "two"],
        row="label",
        column="evaluator",
        unit=" %",
        diverging=True,
    )


def _curve(marks: Sequence[Mark]) -> Figure:
    table = _table(marks, lambda each: {"y": each.value, "low": each.low, "high": each.high, "n": 9}, _LIKE)
    return built_figures.curve(table.assign(x=np.arange(len(table), dtype=float)), x="coverage", y="score", colour=BLUE)


def _contrast(each: Mark) -> dict[str, Any]:
    return {
        "axis": "spatial",
        "family": each.label,
        "median_abs_percent": each.value,
        "abs_low": each.low,
        "abs_high": each.high,
        "median_percent": each.value,
        "low": each.low,
        "high": each.high,
        "n_items": 40,
        "n_shifts": 80,
        "drift": "drifts one way",
        "scatter": "unstable (beyond the margin)",
        "null_median": 0.5,
    }


def _fairness(marks: Sequence[Mark]) -> Figure:
    table = _table(marks, _contrast, _LIKE)
    return fairness_card.family_shifts(table, table.iloc[:1], colour=BLUE)


def _risk(each: Mark) -> dict[str, Any]:
    return {
        "evaluator": "one",
        "axis": "spatial",
        "family": each.label,
        "gap": 0.01,
        "d": 0.01,
        "risk": each.value,
        "low": each.low,
        "high": each.high,
        "n_items": 40,
        "n_shifts": 80,
        "n_missing": 0,
        "note": "",
    }


def _risks(marks: Sequence[Mark]) -> pd.DataFrame:
    table = _table(marks, _risk, _LIKE)
    return pd.concat([table, table.assign(gap=0.1, risk=table["risk"] / 2)], ignore_index=True)


def _risk_map(marks: Sequence[Mark]) -> Figure:
    return flip_risk_figures.risk_map(_table(marks, _risk, _LIKE))


def _risk_curves(marks: Sequence[Mark]) -> Figure:
    return flip_risk_figures.risk_curves(
        _risks(marks), gap=0.007, styles=flip_risk_figures.family_styles(_risks(marks))
    )


def _compared(marks: Sequence[Mark]) -> pd.DataFrame:
    return _table(
        marks,
        lambda each: {
            "label": each.label,
            "a_value": each.value,
            "a_low": each.low,
            "a_high": each.high,
            "a_n": 9,
            "b_value": -each.value,
            "b_low": -each.high,
            "b_high": -each.low,
            "b_n": 7,
            "difference": 2 * each.value,
            "low": each.low,
            "high": 2 * each.high,
            "n_items": 16,
            "how": "paired by item",
            "verdict": "drift differs",
        },
        _LIKE,
    )


def _dumbbell(marks: Sequence[Mark]) -> Figure:
    return comparison_figures.dumbbell(_compared(marks), unit=" %", digits=2)


def _differences(marks: Sequence[Mark]) -> Figure:
    return comparison_figures.differences(_compared(marks), unit=" pp", digits=2, margin=1.0)


def _along(marks: Sequence[Mark], draw: Callable[..., Figure]) -> Figure:
    test = _table(marks, lambda each: {"value": each.value, "low": each.low, "high": each.high}, _LIKE)
    steps = np.linspace(0, 1, max(len(test), 1))[: len(test)]
    test = test.assign(split="test", name="H", allowed=True, n=50, strength=steps)
    table = pd.concat([test.assign(split="dev", low=NONE, high=NONE), test], ignore_index=True)
    return draw(table, strength=0.5, chosen=0.25, colour={"H": BLUE})


def _before_after(marks: Sequence[Mark]) -> Figure:
    table = _table(
        marks,
        lambda each: {
            "name": each.label,
            "before": each.value,
            "before_low": each.low,
            "before_high": each.high,
            "after": each.value / 2,
            "after_low": NONE,
            "after_high": NONE,
            "n": 7,
        },
        _LIKE,
    )
    return calibration_figures.before_after_dots(table, colour=BLUE, unit=" %")


def _outcomes(marks: Sequence[Mark]) -> Figure:
    table = _table(
        marks,
        lambda each: {"what": each.label, "share": each.value, "low": each.low, "high": each.high, "n": 40},
        _LIKE,
    )
    return people_figures.outcome_bars(table)


def _reanalysis(marks: Sequence[Mark]) -> Figure:
    table = _table(
        marks,
        lambda each: {
            "evaluator": "one",
            "axis": "spatial",
            "family": each.label,
            "n_all": 40,
            "median_all": each.value,
            "low_all": each.low,
            "high_all": each.high,
            "n_kept": 30,
            "median_kept": each.value / 2,
            "low_kept": NONE,
            "high_kept": NONE,
        },
        _LIKE,
    )
    both = [table.assign(analysis=name) for name in ("without one-sided", "both correct")]
    return people_figures.reanalysis_dots(pd.concat(both, ignore_index=True))


def _comparison(marks: Sequence[Mark]) -> Figure:
    people = _table(
        marks,
        lambda each: {
            "family": each.label,
            "n": 40,
            "prefer": each.value,
            "prefer_low": each.low,
            "prefer_high": each.high,
            "higher": NONE,
            "higher_low": NONE,
            "higher_high": NONE,
        },
        _LIKE,
    )
    evaluators = _table(
        marks,
        lambda each: {
            "family": each.label,
            "evaluator": "one",
            "n": 30,
            "failure": each.value,
            "failure_low": each.low,
            "failure_high": each.high,
        },
        _LIKE,
    )
    return people_figures.comparison_dots(people, evaluators)


def _lab(marks: Sequence[Mark]) -> Figure:
    table = _table(
        marks,
        lambda each: {
            "probe": each.label,
            "caption": "x",
            "score": 0.5,
            "baseline_score": 0.4,
            "delta": 0.1,
            "percent": each.value,
            "in_null_band": False,
            "verdict": "more than noise",
            "reason": "",
        },
        _LIKE,
    )
    return lab_figures.shift_bars(table, low=-0.5, high=0.5, colour=BLUE)


def _valence(marks: Sequence[Mark]) -> Figure:
    table = _table(
        marks,
        lambda each: {
            "family": "cultural",
            "modifier": each.label,
            "median_percent": each.value,
            "low": each.low,
            "high": each.high,
            "n_items": 9,
            "n_objects": 4,
        },
        _LIKE,
    )
    return geometry.valence_scatter(table.assign(projection=np.linspace(-0.1, 0.1, len(table))), "a", neutral=0.01)


def _training(marks: Sequence[Mark]) -> Figure:
    rows = [
        {"step": step, "kind": "losses", "name": name, "value": value}
        for step, each in enumerate(marks)
        for name, value in (
            ("total", each.value),
            ("drop jumble", each.value),
            ("mean_drop", each.value),
            ("low", each.low),
            ("high", each.high),
            ("spearman", 0.5),
        )
    ]
    return train_command.curves(pd.DataFrame(rows, columns=["step", "kind", "name", "value"]))


def _report(marks: Sequence[Mark], **how: Any) -> Figure:
    table = _effects(marks).rename(columns={"evaluator": "series", "corpus": "panel", "n_items": "n"})
    return Figure("F1", "Title", "Note", table, "median % change", **how)


def _video_edits(marks: Sequence[Mark]) -> Figure:
    table = _table(
        marks,
        lambda each: {
            "evaluator": "emscore",
            "caption": "a cat",
            "edit": each.label,
            "score": each.value,
            "delta": each.value,
            "frames": 8,
            "how": "measured",
        },
        _LIKE,
    )
    return video_edits.edit_dots(table)


MAKERS: dict[str, Callable[[Sequence[Mark]], Figure]] = {
    "intervals": _intervals,
    "score levels": _levels,
    "cells": _cells,
    "curve": _curve,
    "family shifts": _fairness,
    "risk map": _risk_map,
    "risk curves": _risk_curves,
    "dumbbell": _dumbbell,
    "differences": _differences,
    "spearman along": lambda marks: _along(marks, calibration_figures.spearman_along),
    "sensitivity along": lambda marks: _along(marks, calibration_figures.sensitivity_along),
    "before and after": _before_after,
    "outcomes": _outcomes,
    "reanalysis": _reanalysis,
    "lab": _lab,
    "comparison of people": _comparison,
    "video edits": _video_edits,
    "valence": _valence,
    "training": _training,
    "a report's dots": _report,
    "a report's free dots": lambda marks: _report(marks, free=True),
    "a report's lines": lambda marks: _report(marks, kind="lines"),
}
"""Every function that makes a figure, by name."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What one panel shows, as a reader would take it down; numbers rounded to six digits, NaN as None."""

    title: str
    labels: list[str]
    marks: list[tuple]
    whiskers: list[tuple]
    shades: list[tuple]
    references: list[tuple]
    texts: list[str]


def rounded(value: float) -> float | None:
    """Six digits of a number, None for NaN; renderers may add and subtract on the way."""
    return None if math.isnan(value) else float(f"{value:.6g}") + 0.0


def _points(*columns: Any) -> list[tuple]:
    found = {tuple(rounded(float(each)) for each in row) for row in zip(*columns, strict=True)}
    return sorted((row for row in found if None not in row), key=str)


def plain_text(text: str) -> str:
    """A label without plotly's markup."""
    bare = re.sub("</?span[^>]*>", "", text.replace("<br>", "\n"))
    return bare.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _unfolded(label: str) -> str:
    """A label in one line: each renderer folds at its own width."""
    return " ".join(label.split())


def read_page(figure: go.Figure, spec: Figure) -> list[Drawn]:
    """Read a figure of plotly back, a panel after the other."""
    places = sum(1 for name in figure.layout if str(name).startswith("xaxis") and figure.layout[name].domain)
    return [_read_page(figure, spec, number(place)) for place in range(places)]


def _read_page(figure: go.Figure, spec: Figure, own: str) -> Drawn:
    x, y = figure.layout[f"xaxis{own}"], figure.layout[f"yaxis{own}"]
    traces = [each for each in figure.data if each.xaxis in (f"x{own}", None if own else "x")]
    marks, whiskers, texts = [], [], []
    for trace in traces:
        if trace.type == "heatmap":
            cells = [(column, row, value) for row, line in enumerate(trace.z) for column, value in enumerate(line)]
            marks += _points(*zip(*cells, strict=True)) if cells else []
            texts += [plain_text(text) for line in trace.text for text in line if text]
        elif trace.hoverinfo != "skip":
            marks += _points(trace.x, trace.y)
            texts += [plain_text(text) for text in trace.text or ()]
            for across, bars in ((True, trace.error_x), (False, trace.error_y)):
                if bars is not None and bars.array is not None:
                    value, at = (trace.x, trace.y) if across else (trace.y, trace.x)
                    value = np.asarray(value, dtype=float)
                    whiskers += _points(at, value - np.asarray(bars.arrayminus), value + np.asarray(bars.array))
    annotations = [each for each in figure.layout.annotations if each.xref == f"x{own}" and each.ax is not None]
    titles = [each for each in figure.layout.annotations if each.xref == "paper" and each.y == y.domain[1]]
    shapes = [each for each in figure.layout.shapes if (each.xref or "").split(" ")[0] == f"x{own}"]
    stretch = [
        ((each.x0, each.x1) if each.yref.endswith("domain") else (each.y0, each.y1), each.type) for each in shapes
    ]
    ruler = x if spec.upright else y
    return Drawn(
        plain_text(titles[0].text) if titles else "",
        [_unfolded(plain_text(each)) for each in ruler.ticktext or ()],
        sorted(set(marks), key=str),
        sorted(set(whiskers), key=str),
        sorted(tuple(map(rounded, map(float, ends))) for ends, kind in stretch if kind == "rect"),
        sorted(rounded(float(ends[0])) for ends, kind in stretch if kind == "line"),
        sorted(texts + [plain_text(each.text) for each in annotations]),
    )


def read_paper(canvas: Any, spec: Figure) -> list[Drawn]:
    """Read a canvas of matplotlib back, a panel after the other."""
    return [_read_paper(place, spec) for place in canvas.axes if place.get_visible()]


def _read_paper(place: Any, spec: Figure) -> Drawn:
    marks: list[tuple] = []
    whiskers: list[tuple] = []
    for each in place.collections:
        if isinstance(each, PathCollection):
            marks += _points(*np.asarray(each.get_offsets()).reshape(-1, 2).T)
        elif isinstance(each, LineCollection):
            whiskers += [_whisker(segment, upright=spec.upright) for segment in each.get_segments()]
        elif hasattr(each, "get_coordinates"):
            marks += _cells_of(each)
    for bar in place.patches:
        if spec.kind == "bars" and bar.get_zorder() >= 1:
            marks.append((rounded(bar.get_x() + bar.get_width()), rounded(bar.get_y() + bar.get_height() / 2)))
    lines = [line for line in place.lines if line.get_zorder() == 2 and line.get_linestyle() != "None"]  # no caps
    if spec.kind == "lines":
        marks += [point for line in lines for point in _points(line.get_xdata(), line.get_ydata())]
    straight = [line for line in place.lines if line.get_zorder() == 1]
    ends = [line.get_xdata() if len(set(line.get_xdata())) == 1 else line.get_ydata() for line in straight]
    shades = [patch for patch in place.patches if patch.get_zorder() == 0]
    ruler = place.xaxis if spec.upright else place.yaxis
    texts = [
        each.get_text()
        for each in place.texts
        if each.get_transform() not in (place.get_xaxis_transform(), place.get_yaxis_transform())
    ]
    return Drawn(
        place.get_title(loc="left"),
        [_unfolded(each.get_text()) for each in ruler.get_ticklabels()] if _worded(ruler) else [],
        sorted(set(marks), key=str),
        sorted({each for each in whiskers if None not in each}, key=str),
        sorted(_ends(patch) for patch in shades),
        sorted(rounded(float(each[0])) for each in ends),
        sorted(text for text in texts if text),
    )


def _worded(ruler: Any) -> bool:
    return isinstance(getattr(ruler.get_major_formatter(), "func", None), partial)  # as matplotlib keeps fixed labels


def _whisker(segment: np.ndarray, *, upright: bool) -> tuple:
    (x0, y0), (x1, y1) = segment
    found = (x0, y0, y1) if upright else (y0, x0, x1)
    return tuple(rounded(float(each)) for each in found)


def _cells_of(mesh: Any) -> list[tuple]:
    values = np.ma.masked_invalid(mesh.get_array())
    return [
        (rounded(column), rounded(row), rounded(float(value)))
        for (row, column), value in np.ndenumerate(values.filled(NONE))
        if not math.isnan(value)
    ]


def _ends(patch: Any) -> tuple:
    box = patch.get_bbox()
    across = (box.y0, box.y1) == (0, 1)
    return tuple(map(rounded, (box.x0, box.x1) if across else (box.y0, box.y1)))


def legend_of_page(figure: go.Figure) -> dict[str, str]:
    """Name of each series in a legend of plotly -> its colour."""
    if not figure.layout.showlegend:
        return {}
    return {
        _unfolded(plain_text(each.name)): (each.marker.line.color or each.line.color)
        if each.type != "bar"
        else each.marker.line.color
        for each in figure.data
        if each.showlegend
    }


def legend_of_paper(canvas: Any) -> dict[str, str]:
    """Name of each series in a legend of matplotlib -> its colour."""
    if not canvas.legends:
        return {}
    (legend,) = canvas.legends
    keys = legend.legend_handles
    found = [each.get_color() if hasattr(each, "get_color") else each.get_edgecolor() for each in keys]
    return {_unfolded(text.get_text()): to_hex(colour) for text, colour in zip(legend.get_texts(), found, strict=True)}
