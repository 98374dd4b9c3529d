"""The fairness card's figures: every family of one evaluator, and the worst of each axis of all evaluators."""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from core.charts.spec import Figure, Shade, Style, colours, counted, untitled


def family_shifts(contrasts: pd.DataFrame, card: pd.DataFrame, *, colour: str, top: float | None = None) -> Figure:
    """One evaluator's families.

    Args:
        contrasts: rows of ``core.analysis.overview.family_contrasts`` of one evaluator; the null axis is left out.
        card: its rows of ``core.analysis.overview.fairness_card``: the worst family of each axis, and the noise band.
        colour: ``#rrggbb`` of the evaluator.
        top: where the axis ends, in percent, so that several figures can be held side by side; None: where its own do.

    Returns:
        A dot a family at its median |% change| with the 95 % interval, by axis and size, filled for the worst of its
        axis; grey up to the median shift of the invisible edits.
    """
    rows = _shown(contrasts).sort_values(["axis", "median_abs_percent"], ascending=[True, False], kind="stable")
    worst = set(zip(card["axis"], card["family"], strict=True))
    marked = [each in worst for each in zip(rows["axis"], rows["family"], strict=True)]
    null = float(card["null_median"].max()) if len(card) else math.nan
    top = shared_top(contrasts, card) if top is None else top
    frame = pd.DataFrame({"label": rows["family"].astype(str), "series": "median |% change|", "panel": ""})
    numbers = {"value": rows["median_abs_percent"], "low": rows["abs_low"], "high": rows["abs_high"]}
    hover = [_hover(row, mark) for row, mark in zip(rows.to_dict("records"), marked, strict=True)]
    frame = frame.assign(**numbers, n=rows["n_items"], hollow=[not each for each in marked], hover=hover)
    return untitled(
        frame,
        "",
        unit=" %",
        span=(0, 1.08 * top),
        styles={"median |% change|": Style(colour)},
        shades=() if math.isnan(null) else (Shade(0, null),),
    )


def worst_of_axes(rows: pd.DataFrame, *, names: Mapping[str, str]) -> Figure:
    """Every evaluator's worst family of each axis on one scale, evaluators in the order of the rows.

    Args:
        rows: ``core.analysis.overview.at_a_glance``.

    Returns:
        A panel an axis, a dot an evaluator at the median |% change| of its worst family there, with the 95 % interval.
    """
    axes = [str(name).removesuffix("_abs") for name in rows.columns if str(name).endswith("_abs")]
    parts = [
        pd.DataFrame(
            {"label": rows["evaluator"], "series": rows["evaluator"], "panel": f"{axis}, worst family"}
            | {name: rows[f"{axis}_{end}"] for name, end in _ENDS.items()}
            | {
                "hover": [_hover_of_axis(row, axis, names) for row in rows.to_dict("records")],
                "opens": [_opened(row, axis) for row in rows.to_dict("records")],
            }
        )
        for axis in axes
    ]
    frame = pd.concat(parts).dropna(subset=["value"]).reset_index(drop=True)
    look = colours(frame["series"].unique())
    return untitled(
        frame,
        "median |% change| of the worst family",
        unit=" %",
        span=(0, None),
        overlay=True,
        order=tuple(rows["evaluator"]),
        styles={name: Style(colour) for name, colour in look.items()},
    )


_ENDS = {"value": "abs", "low": "low", "high": "high", "n": "n"}


def _opened(row: Mapping[Any, Any], axis: str) -> str:
    family = row[axis]
    return json.dumps({"evaluators": row["evaluator"], "families": family}) if isinstance(family, str) else ""


def _hover_of_axis(row: Mapping[Any, Any], axis: str, names: Mapping[str, str]) -> str:
    if not isinstance(row[axis], str):
        return ""
    family = names.get(row[axis], row[axis])
    interval = (
        "no interval"
        if math.isnan(row[f"{axis}_low"])
        else f"95 % CI {row[f'{axis}_low']:.2f} to {row[f'{axis}_high']:.2f}"
    )
    return (
        f"{row['evaluator']}: {family} ({row[axis]})\nmedian |% change| {row[f'{axis}_abs']:.2f} % ({interval}); "
        f"{row[f'{axis}_scatter']}\nmedian % change {row[f'{axis}_signed']:+.2f} %; {row[f'{axis}_drift']}\nn = "
        f"{row[f'{axis}_n']:.0f} items"
    )


def shared_top(contrasts: pd.DataFrame, card: pd.DataFrame) -> float:
    """Where the furthest interval or noise band of some evaluators ends, in percent; 0.1 at least; ``contrasts``,
    ``card``: as for :func:`family_shifts`, of any number of evaluators."""
    ends = _shown(contrasts)[["median_abs_percent", "abs_high"]].to_numpy(dtype=float).ravel()
    return float(np.nanmax([*ends, *card["null_median"], 0.1]))


def _shown(contrasts: pd.DataFrame) -> pd.DataFrame:
    return contrasts[contrasts["axis"] != "null"].dropna(subset=["median_abs_percent"])


def _hover(row: dict[Any, Any], worst: bool) -> str:
    return (
        f"{row['family']}, {row['axis']}{', worst of its axis' if worst else ''}\n"
        f"median |% change| {row['median_abs_percent']:.2f} % (95 % CI {row['abs_low']:.2f} to {row['abs_high']:.2f})\n"
        f"median % change {row['median_percent']:+.2f} % ({row['low']:+.2f} to {row['high']:+.2f})\n"
        f"n = {counted(row['n_items'])}, {row['n_shifts']} shifts; {row['drift']}; {row['scatter']}"
    )
