"""Modifiers along the valence direction against the shift that they induce, every label readable."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from core.charts.spec import Axis, Figure, Reference
from core.charts.style import counted

_TALL = 150
"""Height in px of a panel of several."""


def valence_scatter(
    points: pd.DataFrame, *, neutral: float = math.nan, names: Mapping[str, str] | None = None
) -> Figure:
    """One point a modifier, a panel a family: each family is held against its own baseline.

    Args:
        points: of :class:`core.features.geometry.geometry.Geometry`; ``opens`` where they can be clicked.
        neutral: mean projection of the neutral words, a vertical line; NaN for none.
        names: family -> the words for it above its panel.
    """
    families = points["family"].astype(str)
    titles = families.map(lambda family: (names or {}).get(family, family))
    frame = pd.DataFrame(
        {
            "label": points["modifier"].astype(str),
            "series": "modifiers",
            "panel": titles,
            "x": points["projection"],
            "value": points["median_percent"],
            "low": points["low"],
            "high": points["high"],
            "n": points["n_items"],
            "hover": [_hover(row) for row in points.to_dict("records")],
            **({"opens": points["opens"]} if "opens" in points else {}),
        }
    )
    return Figure(
        "",
        "",
        "",
        frame,
        "median % change",
        kind="scatter",
        unit=" %",
        height=_TALL if len(set(titles)) > 1 else 2 * _TALL,
        span=_span(points[["median_percent", "low", "high"]], room=0.1),
        along=Axis("projection on the valence direction", span=_span(points[["projection"]], room=0.22)),
        references=() if math.isnan(neutral) else (Reference(neutral, "along", dash="dot"),),
    )


def _span(values: pd.DataFrame, *, room: float) -> tuple[float, float]:
    """Ends of an axis that holds the values, with room for labels beside them."""
    there = values.to_numpy(dtype=np.float64)
    there = there[np.isfinite(there)]
    if not len(there):
        return -1.0, 1.0
    low, high = float(there.min()), float(there.max())
    pad = room * (high - low) or 0.05 * max(abs(high), 1.0)
    return low - pad, high + pad


def _hover(row: dict[Any, Any]) -> str:
    behind = f", over {int(row['n_objects'])} objects" if row["n_objects"] else ""
    bounds = f"95 % CI {row['low']:+.2f} to {row['high']:+.2f}" if row["low"] == row["low"] else "no interval"
    return (
        f"{row['modifier']}, {row['family']}\nprojection {row['projection']:+.3f}{behind}\n"
        f"median % change {row['median_percent']:+.2f} % ({bounds}), n = {counted(int(row['n_items']))}"
    )
