"""Figures of the page Calibrate: correlation and sensitivity along λ, before and after by family."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.effects import bounds
from core.charts.spec import NEUTRAL, Axis, Figure, Reference, Shade, Style, TextEnd, counted, marks_of, untitled

_SPLITS = {"dev": "dev", "test": "held out", "measured": "held out, measured", "measured dev": "dev, measured"}
_LINES: Mapping[str, Mapping[str, Any]] = {
    "dev": {"dash": "dash", "width": 1.2},
    "test": {"width": 2.4},
    "measured": {"dash": "dot", "width": 2.4},
    "measured dev": {"dash": "dashdot", "width": 1.2},
}


def spearman_along(table: pd.DataFrame, *, strength: float, chosen: float | None, colour: Mapping[str, str]) -> Figure:
    """ρ of the calibrated score with every H along λ, of the ``spearman`` rows of ``fit.sweep_table``.

    The test split is a line with its band, the dev split is dashed, what is not allowed shaded, both the strength that
    is looked at and λ* (None where nothing chose one) are marked. ``colour``: ``#rrggbb`` by H.
    """
    return _along(table, strength, chosen, colour, axis="rank agreement (Spearman's ρ)", span=(None, None))


def sensitivity_along(
    table: pd.DataFrame, *, strength: float, chosen: float | None, colour: Mapping[str, str]
) -> Figure:
    """The sensitivity of every axis along λ, over the spread of the calibrated unedited scores; see
    :func:`spearman_along`."""
    return _along(table, strength, chosen, colour, axis="change, SD of unedited scores", span=(0, None))


def before_after_dots(table: pd.DataFrame, *, colour: str, unit: str = "", axis: str = "") -> Figure:
    """One measure of ``effect.before_after``, a pair of dots with their intervals a name; ``opens`` where they can be
    clicked."""
    names, rows, sides = table["name"].astype(str), table.to_dict("records"), []
    for side in ("before", "after"):
        hover = [_side_hover(row, side, unit) for row in rows]
        looks = {"hover": hover, **({"opens": table["opens"]} if "opens" in table else {})}
        sides.append(marks_of(table, names, side, "", bounds(side), "n", **looks))
    styles = {"before": Style(NEUTRAL, "square"), "after": Style(colour)}
    return untitled(pd.concat(sides, ignore_index=True), axis, unit=unit, counts=True, styles=styles)


def _side_hover(row: Mapping[Any, Any], side: str, unit: str) -> str:
    value, low, high = (float(row[name]) for name in (side, f"{side}_low", f"{side}_high"))
    told = f"95 % CI {low:.4g} to {high:.4g}" if low == low else "no interval"
    return f"{row['name']}, {side}\n{value:.4g}{unit} ({told})\nn = {counted(row['n'])}"


def _along(
    table: pd.DataFrame,
    strength: float,
    chosen: float | None,
    colour: Mapping[str, str],
    *,
    axis: str,
    span: tuple[float | None, float | None],
) -> Figure:
    """A figure over λ, strengths that are not allowed shaded; a line of one split is called by what it is of alone."""
    several = len(set(table["split"])) > 1

    def called(name: str, split: str) -> str:
        return f"{name}, {_SPLITS[split]}" if several else str(name)

    rows = table.assign(series=list(map(called, table["name"], table["split"])))
    hover = [_strength_hover(row) for row in rows[_TOLD].to_dict("records")]
    frame = marks_of(rows, rows["strength"].astype(float), rows["series"], n="n", hover=hover)
    styles = {
        called(name, split): Style(colour[name], **_LINES[split if several else "test"])
        for name in sorted(table["name"].unique())
        for split in _SPLITS
        if split in set(table["split"])
    }
    marks = {} if chosen is None else {chosen: ("best", "dot")}
    marks |= {strength: ("here", "solid")} if strength != chosen else {}
    grid = table.drop_duplicates("strength").sort_values("strength")
    refused = _stretches(grid["strength"].to_numpy(float), ~grid["allowed"].to_numpy(bool))
    frame["opens"] = [f"{each:g}" for each in frame["label"]]
    return untitled(
        frame,
        axis,
        kind="lines",
        bounds="band",
        click="to choose this strength",
        span=span,
        along=Axis("strength", span=(-0.02, 1.02)),
        styles=styles,
        references=tuple(
            Reference(at, "along", *said, side=side)
            for (at, said), side in zip(sorted(marks.items()), _SIDES[len(marks)], strict=True)
        ),
        height=230,
        shades=tuple(Shade(low, high, "along") for low, high in refused),
    )


_SIDES: Mapping[int, tuple[TextEnd, ...]] = {0: (), 1: ("center",), 2: ("right", "left")}
"""On which side of their lines the words of so many marks end: two that are close lean away from each other."""

_TOLD = ["series", "strength", "value", "low", "high", "n"]  # columns of a point that its hover says


def _strength_hover(row: Mapping[Any, Any]) -> str:
    band = f" (95 % band {row['low']:.4g} to {row['high']:.4g})" if row["low"] == row["low"] else ""
    return f"{row['series']}\nstrength {row['strength']:g}: {row['value']:.4g}{band}\nn = {counted(row['n'])}"


def _stretches(
    strengths: Sequence[float] | np.ndarray, marked: Sequence[bool] | np.ndarray
) -> list[tuple[float, float]]:
    """Runs of marked strengths, each from half a step before its first to half a step behind its last."""
    half = (strengths[1] - strengths[0]) / 2 if len(strengths) > 1 else 0.5
    found: list[tuple[float, float]] = []
    for value, ok in zip(strengths, marked, strict=True):
        if ok and found and abs(found[-1][1] - (value - half)) < 1e-9:
            found[-1] = (found[-1][0], value + half)
        elif ok:
            found.append((value - half, value + half))
    return [(max(low, strengths[0]), min(high, strengths[-1])) for low, high in found]
