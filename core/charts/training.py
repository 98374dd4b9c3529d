"""A training's curves: the loss of every step, and what it does to held-out captions."""

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.charts.style import NEUTRAL, colours, faded, quiet


def curves(table: pd.DataFrame) -> go.Figure:
    """Draw the curves.

    Args:
        table: rows of ``core.training.curves.table``.

    Returns:
        Above the loss a step; below the drop of held-out perturbed captions by edit, their mean with its 95 % interval
       , and Spearman's ρ with the untuned scores in percent, dashed.
    """
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.1,
        subplot_titles=("loss", "held-out captions: drop of perturbed ones, ρ with untuned scores, %"),
    )  # fmt: skip
    series = {str(name): rows.sort_values("step") for name, rows in table.groupby("name")}
    if "total" in series:
        figure.add_trace(_line(series["total"], "whole loss", NEUTRAL), row=1, col=1)
    edits = sorted(name for name in series if name.startswith("drop "))
    chosen = colours(edits)
    for name in edits:
        figure.add_trace(_line(series[name], name.removeprefix("drop "), faded(chosen[name], 0.8)), row=2, col=1)
    if "mean_drop" in series:
        figure.add_trace(_mean(series), row=2, col=1)
    if "spearman" in series:
        share = series["spearman"].assign(value=lambda rows: 100 * rows["value"])
        figure.add_trace(_line(share, "Spearman's ρ × 100", NEUTRAL, dash="dash"), row=2, col=1)
    quiet(figure, height=640)
    figure.update_layout(showlegend=True, margin={"l": 8, "r": 8, "t": 32, "b": 36}, legend={"orientation": "h"})
    figure.update_xaxes(title_text="step", row=2, col=1)
    return figure


def _line(rows: pd.DataFrame, name: str, colour: str, *, dash: str = "solid") -> go.Scatter:
    line = {"color": colour, "width": 1.5, "dash": dash}
    return go.Scatter(x=rows["step"], y=rows["value"], name=name, mode="lines", line=line)


def _mean(series: dict[str, pd.DataFrame]) -> go.Scatter:
    mean, low, high = (series[name]["value"].to_numpy() for name in ("mean_drop", "low", "high"))
    return go.Scatter(
        x=series["mean_drop"]["step"], y=mean, name="mean of the edits", mode="lines+markers",
        line={"color": "#0079BD", "width": 3},
        error_y={"array": high - mean, "arrayminus": mean - low, "thickness": 1.5, "width": 4},
    )  # fmt: skip
