"""A leaderboard's scores at other scales of the cosine."""

import pandas as pd
import streamlit as st

from core.charts.system_figures import scale_shares
from pages.views.common.answers import interval
from pages.views.common.downloads import data_buttons, figure_buttons
from pages.views.common.page_charts import draw
from pages.views.common.page_tables import draw_table
from pages.views.common.text import counted, number, safe

_NUMBER = st.column_config.NumberColumn
_INTERVAL = st.column_config.TextColumn("95 % interval", alignment="right")


def draw_scales(every: pd.DataFrame, bins: pd.DataFrame, evaluator: str) -> None:
    """Draw the scores at every scale; nothing for an evaluator whose score is no scaled cosine."""
    rows, drawn = every[every["evaluator"] == evaluator], bins[bins["evaluator"] == evaluator]
    if rows.empty:
        return
    st.header("At other scales", anchor=False)
    if drawn.empty:
        st.caption(f"No other scale: {safe(str(rows['note'].iloc[0]))}.")
        return
    here = rows[rows["used"].str.startswith("here")].iloc[0]
    st.markdown(f"A score is **w · max(cos, 0)**, here with w = {number(here['w'], digits=2)}. Another w moves means "
                "and differences, and nobody's rank.")  # fmt: skip
    figure = scale_shares(drawn)
    draw(figure, key="systems.scales", alt=f"Share of the captions by score of {evaluator}, a line a scale")
    captions = counted(int(here["n_captions"]), "caption")
    st.caption(f"{captions} of all systems on {counted(int(here['n_items']), 'picture')}, unedited. Bins of 0.05 at "
               "every scale; the dotted line stands at 1. A line is no one set of pairs to open.")  # fmt: skip
    figure_buttons(figure, drawn, "systems-scale-bins", title=f"Scales, {evaluator}", key="systems.scales.files")
    draw_table(
        rows.assign(interval=interval(rows, "low", "high", 4, False)[0],
                    above=interval(rows, "over_low", "over_high", 1, False)[0]),
        alt="Scores at every scale",
        column_order=("w", "used", "mean", "interval", "p5", "p50", "p95", "over", "above", "n_captions", "n_items"),
        column_config={
            "w": _NUMBER("w", format="%.2f"), "used": "Used by", "mean": _NUMBER("Mean", format="%.4f"),
            "interval": _INTERVAL, "p5": _NUMBER("5th percentile", format="%.4f"),
            "p50": _NUMBER("Median", format="%.4f"), "p95": _NUMBER("95th percentile", format="%.4f"),
            "over": _NUMBER("Above 1, %", format="%.1f"), "above": _INTERVAL,
            "n_captions": _NUMBER("n captions"), "n_items": _NUMBER("n pictures"),
        },
    )  # fmt: skip
    data_buttons(every, "systems-scales", key="systems.scales.numbers")
