"""A training's curves: the loss of every step, and what it does to held-out captions."""

import numpy as np
import pandas as pd

from core.charts.spec import Axis, Figure, Style
from core.charts.style import NEUTRAL, PALETTE, colours

LOSS = "loss"
HELD_OUT = "held-out captions: drop and ρ, %"
_WHOLE, _MEAN, _RHO = "whole loss", "mean of the edits", "Spearman's ρ × 100"


def curves(table: pd.DataFrame) -> Figure:
    """The curves.

    Args:
        table: rows of ``core.training.curves.table``.

    Returns:
        Above the loss a step; below the drop of held-out perturbed captions by edit, their mean with its 95 %
        interval, and Spearman's ρ with the untuned scores in percent, dashed.
    """
    series = {str(name): rows.sort_values("step") for name, rows in table.groupby("name")}
    edits = {name.removeprefix("drop "): rows for name, rows in series.items() if name.startswith("drop ")}
    parts = [_line(series["total"], _WHOLE, LOSS)] if "total" in series else []
    parts += [_line(rows, name, HELD_OUT) for name, rows in edits.items()]
    if "mean_drop" in series:
        ends = {end: series[end]["value"].to_numpy() for end in ("low", "high")}
        parts.append(_line(series["mean_drop"], _MEAN, HELD_OUT).assign(**ends))
    if "spearman" in series:
        parts.append(_line(series["spearman"].assign(value=100 * series["spearman"]["value"]), _RHO, HELD_OUT))
    styles = {
        _WHOLE: Style(NEUTRAL, size=0), _MEAN: Style(PALETTE[0], width=3, size=6),
        _RHO: Style(NEUTRAL, dash="dash", size=0),
        **{name: Style(colour, size=0) for name, colour in colours(edits).items()},
    }  # fmt: skip
    frame = pd.concat(parts, ignore_index=True) if parts else _line(table.iloc[:0], "", "")
    return Figure("training", "Training", "", frame, "", kind="lines", free=True, along=Axis("step"), styles=styles)


def _line(rows: pd.DataFrame, name: str, panel: str) -> pd.DataFrame:
    told = zip(rows["step"], rows["value"], strict=True)
    return pd.DataFrame(
        {"label": rows["step"].astype(float), "series": name, "panel": panel, "value": rows["value"], "low": np.nan,
         "high": np.nan, "n": np.nan,
         "hover": [f"{name}\nstep {step}: {value:.4g}" for step, value in told]}
    )  # fmt: skip
