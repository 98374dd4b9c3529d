"""Figures of a study: outcomes by majority, and the contrasts with and without what people refused."""

import pandas as pd
import plotly.graph_objects as go

from core.charts.style import NEUTRAL, PALETTE, quiet

_MARKS = (("diamond", PALETTE[4]), ("x", PALETTE[0]))


def outcome_bars(table: pd.DataFrame) -> go.Figure:
    """Shares with their intervals, one bar a line.

    Args:
        table: what, share, low, high, n; see ``Aggregates.table``.
    """
    rows = table.iloc[::-1]
    error = {
        "type": "data", "symmetric": False, "array": 100 * (rows["high"] - rows["share"]),
        "arrayminus": 100 * (rows["share"] - rows["low"]), "thickness": 1.5, "width": 5, "color": NEUTRAL,
    }  # fmt: skip
    text = [
        f"{100 * share:.1f} % (n = {n})" if share == share else "no votes"
        for share, n in zip(rows["share"], rows["n"], strict=True)
    ]
    figure = go.Figure(
        go.Bar(
            x=100 * rows["share"],
            y=rows["what"],
            orientation="h",
            error_x=error,
            customdata=text,
            hovertemplate="%{y}: %{customdata}<extra></extra>",
            marker={"color": PALETTE[0], "opacity": 0.55},
        )
    )
    figure.update_xaxes(range=[0, 102], ticksuffix=" %", title="share")
    figure.update_yaxes(automargin=True, tickfont_size=12)
    return quiet(figure, height=60 + 34 * len(rows))


def reanalysis_dots(table: pd.DataFrame) -> go.Figure:
    """Median %Δ of every family under every evaluator: all pairs (ring) and each re-analysis (dots).

    Args:
        table: of ``Reanalysis``.
    """
    figure = go.Figure()
    labels = table["family"] + " · " + table["evaluator"]
    whole = table.assign(label=labels).drop_duplicates("label")
    figure.add_scatter(
        x=whole["median_all"], y=whole["label"], mode="markers", name="all pairs",
        marker={"symbol": "circle-open", "size": 13, "line": {"width": 2}, "color": NEUTRAL},
        error_x=_bars(whole, "all"), hovertemplate="%{y}<br>all pairs: %{x:.2f} %<extra></extra>",
    )  # fmt: skip
    names = list(table["analysis"].unique())
    for name, (symbol, colour) in zip(names, _MARKS, strict=False):
        rows = table.assign(label=labels)[table["analysis"] == name]
        figure.add_scatter(
            x=rows["median_kept"], y=rows["label"], mode="markers", name=name,
            marker={"symbol": symbol, "size": 8, "color": colour}, customdata=rows["n_kept"],
            hovertemplate="%{y}<br>%{x:.2f} % (n = %{customdata} items)<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(title="median %Δ", zeroline=True)
    figure.update_yaxes(automargin=True, autorange="reversed")
    quiet(figure, height=130 + 26 * len(whole))
    legend = {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0}
    return figure.update_layout(showlegend=True, legend=legend, margin_t=60)


def _bars(rows: pd.DataFrame, name: str) -> dict:
    middle = rows[f"median_{name}"]
    return {
        "type": "data", "symmetric": False, "array": rows[f"high_{name}"] - middle,
        "arrayminus": middle - rows[f"low_{name}"], "thickness": 1, "color": "rgba(122,127,135,0.6)",
    }  # fmt: skip
