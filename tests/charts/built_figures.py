"""Figures of the results: intervals beside labels, scores over levels, a smooth curve, a map of cells.

Series differ by colour and by marker; raw scales of different evaluators never share an axis.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from core.charts.spec import Axis, Figure, Shade, Style, coloured, counted

Row = Mapping[Hashable, Any]


def intervals(
    table: pd.DataFrame,
    *,
    labels: Sequence[str],
    series: str,
    panel: str | None,
    unit: str,
    digits: int = 2,
    band: tuple[float, float] | None = None,
    names: Mapping[str, str] | None = None,
    free: bool = False,
    axis: str = "",
) -> Figure:
    """Medians with their intervals, a line a label, one mark a series.

    Args:
        table: columns label, value, low, high, n_items, ``series`` and ``panel``; drift and scatter where
            they are claimed.
        labels: order of the lines from the top; other labels are left out.
        series: column that colour and marker tell apart.
        panel: column of the panels, one above the other; None for one panel.
        unit: behind the numbers of the axis, e.g. `` %``.
        digits: decimals in the hover.
        band: a range that is drawn grey, e.g. the equivalence margin.
        names: label -> the words for it.
        free: every panel has its own scale.
        axis: what the numbers are, under the last panel.

    Returns:
        The figure; a mark's n stands beside its label, a cell of too few items is drawn open.
    """
    rows = table[table["label"].isin(list(labels)) & table["value"].notna()]
    rows = rows.sort_values(panel, kind="stable", key=_text) if panel else rows
    drifts = rows["drift"].astype(str) if "drift" in rows else pd.Series("", index=rows.index)
    frame = _medians(rows, label="label", series=series, panel=panel).assign(
        hollow=drifts.str.startswith("too few").to_numpy(dtype=bool),
        hover=[_hover(row, f"{row['label']}, {row[series]}", unit, digits) for row in rows.to_dict("records")],
    )
    return Figure(
        "",
        "",
        "",
        frame,
        axis,
        free=free,
        unit=unit,
        order=tuple(labels),
        names=names or {},
        counts=True,
        styles=coloured(sorted(map(str, rows[series].unique()))),
        shades=(Shade(*band),) if band else (),
    )


def score_levels(table: pd.DataFrame, *, levels: Sequence[str], level: str, series: str = "corpus") -> Figure:
    """Median scores over levels that have an order, a panel and a scale for each evaluator.

    Args:
        table: columns evaluator, ``level``, ``series``, value, low, high, n_items.
        levels: order of the levels from the left.
        level: column of the levels.
        series: column that colour and marker tell apart.
    """
    place = {name: number for number, name in enumerate(levels)}
    rows = table.dropna(subset=["value"]).astype({level: str})
    rows = rows.sort_values(
        ["evaluator", level], kind="stable", key=lambda each: each.map(place) if each.name == level else _text(each)
    )
    frame = _medians(rows, label=level, series=series, panel="evaluator").assign(
        hover=[_hover(row, f"{row[series]}, {row[level]}", "", 3) for row in rows.to_dict("records")]
    )
    styles = {
        name: replace(style, dash="dot", size=8)
        for name, style in coloured(sorted(map(str, rows[series].unique()))).items()
    }
    return Figure(
        "", "", "", frame, "", kind="lines", free=True, counts=True, styles=styles, height=140, order=tuple(levels)
    )


def curve(table: pd.DataFrame, *, x: str, y: str, colour: str, percent_x: bool = False) -> Figure:
    """A smooth curve with its band.

    Args:
        table: columns x, y, low, high, n; see :func:`core.statistics.splines.spline_curve`.
        x: title of the x axis.
        y: title of the y axis.
        colour: ``#rrggbb``.
        percent_x: write x as a percentage.
    """
    hover = [
        f"{row['x']:.2f}: {row['y']:.3f} (95 % band {row['low']:.3f} to {row['high']:.3f})\n"
        f"n = {counted(int(row['n']), 'value')}"
        for row in table.to_dict("records")
    ]
    frame = pd.DataFrame(
        {
            "label": table["x"] * (100.0 if percent_x else 1.0),
            "series": y,
            "panel": "",
            "value": table["y"],
            "low": table["low"],
            "high": table["high"],
            "n": table["n"],
            "hover": hover,
        }
    )
    return Figure(
        "",
        "",
        "",
        frame,
        y,
        kind="lines",
        bounds="band",
        along=Axis(x, " %" if percent_x else ""),
        height=230,
        styles={y: Style(colour, width=2)},
    )


def cells(
    table: pd.DataFrame,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    row: str,
    column: str,
    digits: int = 2,
    unit: str = "",
    diverging: bool = False,
) -> Figure:
    """A map of medians, the number and its n in every cell.

    Args:
        table: columns ``row``, ``column``, value, low, high, n_items.
        rows: order from the top.
        columns: order from the left.
        row: column of the table that holds the rows.
        column: column of the table that holds the columns.
        digits: decimals.
        unit: behind the numbers.
        diverging: colours around zero, for shifts; one direction otherwise, for scores.
    """
    wanted = table[table[row].isin(list(rows)) & table[column].isin(list(columns))]
    records = wanted.to_dict("records")
    frame = _medians(wanted, label=row, series=column, panel=None).assign(
        text=[_cell(each, digits, unit) for each in records],
        hover=[_hover(each, f"{each[row]}, {each[column]}", unit, digits) for each in records],
    )
    return Figure(
        "",
        "",
        "",
        frame,
        f"median{unit}",
        kind="map",
        unit=unit,
        diverging=diverging,
        styles={name: Style() for name in columns},
        order=tuple(rows),
    )


def _text(names: pd.Series) -> pd.Series:
    return names.astype(str)


def _medians(rows: pd.DataFrame, *, label: str, series: str, panel: str | None) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "label": rows[label].astype(str),
            "series": rows[series].astype(str),
            "panel": rows[panel].astype(str) if panel else "",
            "value": rows["value"],
            "low": rows["low"],
            "high": rows["high"],
            "n": rows["n_items"],
        }
    )


def _cell(row: Row, digits: int, unit: str) -> str:
    if row["value"] != row["value"]:
        return ""
    return f"{_number(row['value'], digits, bool(unit))}{unit}\nn {int(row['n_items'])}"


def _hover(row: Row, name: str, unit: str, digits: int) -> str:
    bounds = (
        "no interval"
        if row["low"] != row["low"]
        else (f"95 % CI {_number(row['low'], digits, bool(unit))} to {_number(row['high'], digits, bool(unit))}{unit}")
    )
    claims = f"; {row['drift']}; {row['scatter']}" if "drift" in row else ""
    return (
        f"{name}\nmedian {_number(row['value'], digits, bool(unit))}{unit} ({bounds})\n"
        f"n = {counted(int(row['n_items']))}{claims}"
    )


def _number(value: float, digits: int, signed: bool) -> str:
    text = f"{abs(value):.{digits}f}"
    return text if float(text) == 0 else ("−" if value < 0 else "+" if signed else "") + text
