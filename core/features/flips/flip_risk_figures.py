"""Figures of the page Flip risk: a map of families and evaluators, risk against the gap, near ties."""

import math
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from core.charts.spec import NEUTRAL, PALETTE, Axis, Figure, Ray, Reference, Style, counted, marks_of, untitled

BOUND = 50.0  # no flip risk exceeds it, in percent. Source: PROTOCOL section 8.
NULL = "null"  # the axis of invisible edits
_DASHES = ("solid", "dash", "dashdot", "longdash")
_TICKS = (0.1, 0.3, 1, 3, 10, 30)


def risk_map(cells: pd.DataFrame) -> Figure:
    """Families against evaluators, from rows of ``flip_cells.flip_risks`` at one gap: risk in percent as colour and
    number, from 0 to the bound; hover: interval, d, n. ``opens`` where cells can be clicked."""
    rows = cells.assign(last=cells["axis"] == NULL).sort_values(["last", "axis", "family"], kind="stable")
    text = [f"{100 * risk:.1f}" if risk == risk else "" for risk in rows["risk"]]
    frame = _marks(rows, rows["family"].astype(str), rows["evaluator"].astype(str), "", text=text)
    styles = {name: Style() for name in sorted(cells["evaluator"].astype(str).unique())}
    return untitled(frame, "risk of ranking flip, %", kind="map", unit=" %", span=(0, BOUND), styles=styles)


def risk_curves(cells: pd.DataFrame, *, gap: float, styles: Mapping[str, tuple[str, str]]) -> Figure:
    """Risk against the gap, a panel an evaluator, a line a family; the gap, a share, on a logarithmic scale, without 0.
    Of rows of ``flip_cells.cell_curves`` or ``flip_risks``, with the styles of :func:`family_styles`."""
    rows = cells[cells["gap"] > 0].sort_values(["evaluator", "family", "gap"], kind="stable")
    frame = _marks(rows, 100 * rows["gap"].astype(float), rows["family"].astype(str), rows["evaluator"].astype(str))
    looks = {family: Style(colour, dash=dash, width=2) for family, (colour, dash) in sorted(styles.items())}
    marks = (Reference(BOUND, dash="dot"), *([Reference(100 * gap, on="along")] if gap > 0 else []))
    return untitled(
        frame,
        "",
        kind="lines",
        bounds="none",
        unit=" %",
        span=(0, BOUND + 3),
        styles=looks,
        height=270,
        along=Axis("gap d, %", log=True, ticks=_TICKS),
        references=marks,
    )


TOLD, TOLD_APART = "captions of the same picture", "told, if of different pictures"


def reliability(rows: pd.DataFrame) -> Figure:
    """What was told of near ties against what became of them, a panel an evaluator; of every family by told risk, in
    percent.

    A mark is a bin of told risks, with the interval of the share that turned; a ring where the risk of different
    pictures would have had it told. On the line as many turned as were told.
    """
    own = rows[(rows["family"] == "every family") & rows["told_of"].str.contains(" to ")]
    several = len(set(own["corpus"])) > 1
    panel = own["evaluator"].astype(str) + (", " + own["corpus"].astype(str) if several else "")
    hover = [_tie_hover(row) for row in own.to_dict("records")]
    marks = marks_of(own, "", TOLD, panel, ("turned", "low", "high"), x=own["told"], hover=hover)  # no label: x says it
    rings = marks.assign(series=TOLD_APART, x=own["apart"], low=math.nan, high=math.nan)
    return untitled(
        pd.concat([rings, marks], ignore_index=True),
        "really turned",
        kind="scatter",
        unit=" %",
        span=(0, 100),
        along=Axis("told", unit=" %", span=(0, BOUND + 2)),
        rays=(Ray(1.0, "as told"),),
        styles={TOLD: Style(PALETTE[0]), TOLD_APART: Style(NEUTRAL, fill=0)},
        height=210,
    )


def _tie_hover(row: dict[Hashable, Any]) -> str:
    ends = "no interval" if row["low"] != row["low"] else f"95 % CI {row['low']:.1f} to {row['high']:.1f}"
    return (
        f"told {row['told_of']}, on average {row['told']:.1f} %\n{row['turned']:.1f} % turned ({ends})\n"
        f"told if of different pictures: {row['apart']:.1f} %\n"
        f"n = {counted(row['n_items'])}, {row['n_pairs']} pairs"
    )


def _marks(rows: pd.DataFrame, label: pd.Series, series: pd.Series, panel: Any, **looks: Any) -> pd.DataFrame:
    """Risks in percent, a mark a row, with what it says on hover and, where it can be clicked, opens."""
    told = rows[[name for name in rows if name in _TOLD]].to_dict("records")
    looks |= {"hover": [_cell_hover(row) for row in told], **({"opens": rows["opens"]} if "opens" in rows else {})}
    values = [name for name in ("risk", "low", "high") if name in rows]
    percent = rows.assign(**{name: 100 * rows[name] for name in values})
    return marks_of(percent, label, series, panel, values, **looks)


def family_styles(cells: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """(``#rrggbb``, dash) by family: every axis has a dash, colours begin anew in each; invisible edits are grey."""
    styles: dict[str, tuple[str, str]] = {}
    axes = [axis for axis in ("spatial", "societal") if axis in set(cells["axis"])]
    axes += sorted(set(map(str, cells["axis"])) - {*axes, NULL})
    for rank, axis in enumerate(axes):
        for place, family in enumerate(sorted(cells.loc[cells["axis"] == axis, "family"].unique())):
            styles[str(family)] = (PALETTE[place % (len(PALETTE) - 1)], _DASHES[rank % len(_DASHES)])
    return styles | {str(family): (NEUTRAL, "dot") for family in cells.loc[cells["axis"] == NULL, "family"].unique()}


_TOLD = {"family", "evaluator", "risk", "low", "high", "null_risk", "gap", "d", "n_items", "n_shifts", "note"}
"""Columns of a cell that its hover says."""


def _cell_hover(row: dict[Hashable, Any]) -> str:
    low, high = (100 * row.get(name, math.nan) for name in ("low", "high"))
    told = f" (95 % CI {low:.1f} to {high:.1f})" if low == low else ""
    floor = 100 * row.get("null_risk", math.nan)
    told += f", invisible edits {floor:.1f} %" if floor == floor else ""
    note = f"\n{row['note']}" if row.get("note") else ""
    return (
        f"{row['family']}, {row['evaluator']}\nRRF {100 * row['risk']:.1f} %{told}\n"
        f"gap {100 * row['gap']:g} %, d = {row['d']:.4g}\nn = {counted(row['n_items'])}, {row['n_shifts']} shifts{note}"
    )
