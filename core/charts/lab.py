"""The Probe lab's figure: a bar a probe with its percent change, over the evaluator's null band."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from core.charts.spec import Axis, Figure, Shade, Style
from core.charts.style import PALETTE, signed

PERCENT = "%Δ"
DROPS, STAYS = "broken: drops", "broken: does not drop"
"""Series of the probes under which the score must drop."""

_BROKEN = {DROPS: Style(PALETTE[2]), STAYS: Style(PALETTE[4])}


def shift_bars(rows: pd.DataFrame, *, low: float, high: float, colour: str) -> Figure:
    """One evaluator's shifts on its own scale.

    Args:
        rows: one row a probe with ``probe, caption, score, baseline_score, delta, percent, in_null_band, reason``;
            percent is missing where the probe was rejected or the baseline is zero. With ``dropped``, whether the score
            fell where a probe breaks the meaning: these bars are coloured by it and come last. With ``title``, what
            stands beside a bar in the place of the probe.
        low: lower bound of the null band in percent; NaN where there is none.
        high: upper bound.
        colour: ``#rrggbb`` of the evaluator.

    Returns:
        Horizontal bars in the order of the rows, filled outside the band, faint inside it. A row without a
        percent change has a dash.
    """
    rows = _broken_last(rows)
    series = [PERCENT if each is None else DROPS if each else STAYS for each in _dropped(rows)]
    said = rows["title" if "title" in rows else "probe"].astype(str)
    percents = pd.to_numeric(rows["percent"]).to_numpy(dtype=np.float64)
    frame = pd.DataFrame(
        {"label": said, "series": series, "panel": "", "value": percents,
         "low": math.nan, "high": math.nan, "n": 1, "text": [signed(value) for value in percents],
         "hollow": [value is True and name == PERCENT
                    for value, name in zip(rows["in_null_band"], series, strict=True)],
         "hover": [_hover(row) for row in rows.to_dict("records")]}
    )  # fmt: skip
    return Figure(
        "", "", "", frame, "", kind="bars", unit=" %", span=_range(percents, low, high),
        styles={PERCENT: Style(colour)} | _BROKEN, overlay=len(set(series)) > 1,
        shades=() if math.isnan(low) else (Shade(low, high),),
    )  # fmt: skip


def _dropped(rows: pd.DataFrame) -> list[bool | None]:
    told = rows["dropped"] if "dropped" in rows else [None] * len(rows)
    return [None if pd.isna(each) else bool(each) for each in told]


def _broken_last(rows: pd.DataFrame) -> pd.DataFrame:
    last = np.array([each is not None for each in _dropped(rows)], dtype=bool)
    return rows.iloc[np.argsort(last, kind="stable")]


def _range(percents: np.ndarray, low: float, high: float) -> tuple[float, float]:
    """Room for the bars, the band and the numbers at the bars' ends."""
    values = [0.0, *(float(value) for value in (*percents, low, high) if not math.isnan(value))]
    span = max(max(values) - min(values), 0.1)
    left = 0.6 if min(values) < 0 else 0.08
    return min(values) - left * span, max(values) + 0.34 * span


def _hover(row: Mapping[Any, Any]) -> str:
    if pd.isna(row["score"]):
        return f"{row['probe']}\n{row['reason']}"
    said = {
        True: "the meaning is broken and the score drops",
        False: "the meaning is broken and the score does not drop",
    }
    band = (
        said.get(row["dropped"])
        if row.get("dropped") in (True, False)
        else {True: "inside the null band", False: "outside the null band"}.get(row["in_null_band"], "no null band")
    )
    if pd.isna(row["baseline_score"]) or pd.isna(row["delta"]):
        return f"{row['probe']}\nscore {row['score']:.4f}, no baseline"
    return (
        f"{row['probe']}\nscore {row['score']:.4f} against {row['baseline_score']:.4f}\n"
        f"Δ {signed(row['delta'], digits=4, unit='')} · {signed(row['percent'], digits=2)} · n = 1 image\n{band}"
    )


_SHADED = "Shaded: each evaluator's null band, in its colour."


def shift_curves(
    rows: pd.DataFrame,
    points: Mapping[float, str],
    *,
    title: str,
    along: Axis,
    colours: Mapping[str, str],
    reaches: Mapping[str, float],
) -> Figure:
    """The shifts of every evaluator along the strength of one edit of one picture.

    Args:
        rows: one row a probe and evaluator with ``probe, evaluator, percent``.
        points: strength -> its probe.
        title: of the figure.
        along: what the strength counts.
        colours: of the evaluators, ``#rrggbb``.
        reaches: how far from 0 each evaluator's null band goes, in percent; NaN where it has none. Those of the
            evaluators that are drawn are shaded in their colours.
    """
    strengths = {name: strength for strength, name in points.items()}
    own = rows[rows["probe"].isin(strengths) & rows["percent"].notna()]
    frame = pd.DataFrame({
        "label": [strengths[name] for name in own["probe"]], "series": own["evaluator"].to_numpy(), "panel": "",
        "value": own["percent"].astype(float).to_numpy(), "low": np.nan, "high": np.nan, "n": 1,
    }).sort_values(["series", "label"])  # fmt: skip
    bands = {name: reaches[name] for name in frame["series"].unique() if reaches.get(name, math.nan) >= 0}
    return Figure(
        "lab-curves", title, "Percent change of one picture along the strength of the edit. " + _SHADED * bool(bands),
        frame, PERCENT, kind="lines", unit=" %", along=along,
        styles={name: Style(colour) for name, colour in colours.items()},
        shades=tuple(Shade(-reach, reach, colour=colours[name], alpha=0.1) for name, reach in bands.items()),
    )  # fmt: skip
