"""A training's curves: the loss of every step, and what it does to what is held out."""

import numpy as np
import pandas as pd

from core.charts.spec import Axis, Figure, Style
from core.charts.style import NEUTRAL, PALETTE, colours

LOSS = "loss"
DROPS, FOUND = "held-out captions: drop and ρ, %", "held-out texts that find their English sentence, %"
_MEASURED = {"drop": (DROPS, "mean of the edits"), "found": (FOUND, "mean of the languages")}
"""What is measured, by the word before its parts' names: its panel, and what the mean over the parts is called."""
_WHOLE, _RHO = "whole loss", "Spearman's ρ × 100"


def curves(table: pd.DataFrame) -> Figure:
    """The curves.

    Args:
        table: rows of ``core.features.training.trainer.table``.

    Returns:
        Above the loss a step. Below what is held out: the drop of perturbed captions by edit, with Spearman's ρ with
        the untuned scores in percent, dashed, or the share of texts found by language; their mean with its 95 %
        interval.
    """
    series = {str(name): rows.sort_values("step") for name, rows in table.groupby("name")}
    parts = [_line(series["total"], _WHOLE, LOSS)] if "total" in series else []
    styles = {_WHOLE: Style(NEUTRAL, size=0), _RHO: Style(NEUTRAL, dash="dash", size=0)}
    for word, (panel, mean) in _MEASURED.items():
        measured = {name.removeprefix(f"{word} "): rows for name, rows in series.items() if name.startswith(f"{word} ")}
        parts += [_line(rows, name, panel) for name, rows in measured.items()]
        if f"mean_{word}" in series:
            ends = {end: series[end]["value"].to_numpy() for end in ("low", "high")}
            parts.append(_line(series[f"mean_{word}"], mean, panel).assign(**ends))
        styles |= {mean: Style(PALETTE[0], width=3, size=6)}
        styles |= {name: Style(colour, size=0) for name, colour in colours(measured).items()}
    if "spearman" in series:
        parts.append(_line(series["spearman"].assign(value=100 * series["spearman"]["value"]), _RHO, DROPS))
    frame = pd.concat(parts, ignore_index=True) if parts else _line(table.iloc[:0], "", "")
    return Figure("training", "Training", "", frame, "", kind="lines", free=True, along=Axis("step"), styles=styles)


def _line(rows: pd.DataFrame, name: str, panel: str) -> pd.DataFrame:
    told = zip(rows["step"], rows["value"], strict=True)
    return pd.DataFrame(
        {
            "label": rows["step"].astype(float),
            "series": name,
            "panel": panel,
            "value": rows["value"],
            "low": np.nan,
            "high": np.nan,
            "n": np.nan,
            "hover": [f"{name}\nstep {step}: {value:.4g}" for step, value in told],
        }
    )
