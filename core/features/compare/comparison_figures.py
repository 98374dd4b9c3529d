"""Figures of a comparison: both sides' medians joined by a line, and the difference with its interval."""

from collections.abc import Mapping

import pandas as pd

from core.charts.spec import NEUTRAL, PALETTE, Figure, Shade, Style, counted, marks_of, signed, untitled

_IN = {"%": ", % of the unedited score", "pp": ", percentage points", "SD": ", SD of the unedited scores"}
_SIDES = {"A": Style(NEUTRAL, size=10), "B": Style(PALETTE[4], "square", size=10)}  # no side looks like a metric
_DIFFERENCE = "A − B"


def of_scatter(table: pd.DataFrame) -> pd.DataFrame:
    """Rows whose scatter stands where the figures here look for the drift."""
    ends = {f"{side}_{end}": table[f"{side}_size_{end}"] for side in ("a", "b") for end in ("low", "high")}
    values = {f"{side}_value": table[f"{side}_size"] for side in ("a", "b")}
    apart = {name: table[f"size_{name}"] for name in ("difference", "low", "high")}
    return table.assign(**ends, **values, **apart, verdict=table["scatter"])


def dumbbell(
    table: pd.DataFrame, *, unit: str, digits: int, names: Mapping[str, str] | None = None, of: str = "change"
) -> Figure:
    """The medians of A and B for every level of ``two_sides.compare``, or :func:`of_scatter` of it, joined by a line;
    ``a_opens`` and ``b_opens`` where marks can be clicked. ``names``: label -> the words for it."""
    sides = []
    for side, column in (("A", "a"), ("B", "b")):
        names_of = [f"{column}_{name}" for name in ("value", "low", "high", "n")]
        rows = table[["label", *names_of]].itertuples(index=False)
        hover = [
            f"{side}, {label}\nmedian {_with(v, lo, hi, unit, digits)}\nn = {counted(int(count))}"
            for label, v, lo, hi, count in rows
        ]
        looks = {"hover": hover, **({"opens": table[f"{column}_opens"]} if f"{column}_opens" in table else {})}
        sides.append(marks_of(table, table["label"].astype(str), side, "", names_of[:3], names_of[3], **looks))
    frame, title = pd.concat(sides, ignore_index=True), _title(f"median {of}", unit)
    return untitled(frame, title, unit=unit, names=names or {}, counts=True, styles=_SIDES, joined=True)


def differences(
    table: pd.DataFrame, *, unit: str, digits: int, margin: float | None, names: Mapping[str, str] | None = None
) -> Figure:
    """The difference A - B of every level with its interval, filled where it is paired, open where it is not; a margin
    is drawn grey around zero."""
    hover = [
        f"{row['label']}, A − B, {row['how']}\n{_with(row['difference'], row['low'], row['high'], unit, digits)}\n"
        f"n = {counted(int(row['n_items']))}; {row['verdict']}"
        for row in table.to_dict("records")
    ]
    paired = table["how"].str.startswith("paired").to_numpy(dtype=bool)
    values = ("difference", "low", "high")
    frame = marks_of(table, table["label"].astype(str), _DIFFERENCE, "", values, hollow=~paired, hover=hover)
    return untitled(
        frame,
        _title(f"median over items of {_DIFFERENCE}" if paired.all() else _DIFFERENCE, unit)
        + ("" if margin is None else "; grey: counts as alike"),
        unit=unit,
        names=names or {},
        counts=True,
        styles={_DIFFERENCE: Style(NEUTRAL, "diamond", size=10)},
        shades=() if margin is None else (Shade(-margin, margin),),
    )


def _title(words: str, unit: str) -> str:
    return words + _IN.get(unit.strip(), "")


def _with(value: float, low: float, high: float, unit: str, digits: int) -> str:
    if low != low:
        return f"{signed(value, digits=digits, unit=unit)} (no interval)"
    ends = f"{signed(low, digits=digits, unit='')} to {signed(high, digits=digits, unit=unit)}"
    return f"{signed(value, digits=digits, unit=unit)} (95 % CI {ends})"
