"""The health of captions, and what evaluators pick of several."""

import pandas as pd
import streamlit as st

from core.analysis.systems.captions import told_as, wide
from core.charts.style import signed
from pages.views.common.downloads import data_buttons
from pages.views.common.tables import draw_table
from pages.views.common.text import counted, safe
from pages.views.results.blocks import interval

_NUMBER = st.column_config.NumberColumn
_INTERVAL = st.column_config.TextColumn("95 % interval", alignment="right")


def draw_health(table: pd.DataFrame) -> None:
    """Draw a row a system, a column a measure, and below every number with its interval."""
    st.header("Caption health", anchor=False)
    st.caption("What captioners that were trained on a metric's score learn to do: say words again, end in words about "
               "nothing or break off, grow longer, name what is not there.")  # fmt: skip
    values = wide(table)
    empty = {name for name in values.columns if values[name].isna().all()}
    shown = values.drop(columns=sorted(empty))
    draw_table(
        shown, alt="Health of every system's captions",
        column_config={"system": "System"} | {
            name: _NUMBER(told_as(name).split(",")[0], format="%.2f", help=told_as(name))
            for name in shown.columns if name != "system"
        },
    )  # fmt: skip
    for name in [each for each in table["measure"].unique() if each in empty]:
        note = table.loc[table["measure"] == name, "note"].iloc[0]
        st.caption(f"No {safe(told_as(name).split(',')[0])}: {safe(str(note))}.")
    with st.expander("Every number with its interval", icon=":material/table:"):
        draw_table(
            table.assign(measure=table["measure"].map(told_as), interval=interval(table, "low", "high", 2, False)[0]),
            column_order=("system", "measure", "value", "interval", "n_captions", "note"),
            alt="Health in numbers", column_config={
                "system": "System", "measure": "Measure", "value": _NUMBER("Value", format="%.2f"),
                "interval": _INTERVAL, "n_captions": _NUMBER("n captions"), "note": "Note",
            },
        )  # fmt: skip
        data_buttons(table, "systems-health", key="systems.health")


def draw_picks(picks: pd.DataFrame, shares: pd.DataFrame) -> None:
    """Draw which caption each evaluator picks."""
    st.header("Best of several", anchor=False)
    chosen = picks[picks["n_images"] > 0]
    if chosen.empty:
        st.caption("No picture has two captions with a score to pick from.")
        return
    st.caption("Each evaluator picks the highest of a picture's captions, those of all systems together, ties shared. "
               "Hollow is one that ends in words about nothing, in its own words again, or breaks off.")  # fmt: skip
    for row in chosen.to_dict("records"):
        excess, low, high = (signed(row[name], digits=1, unit="") for name in ("excess", "excess_low", "excess_high"))
        bounds = f"95 % CI {low} to {high}" if row["excess_low"] == row["excess_low"] else "no interval"
        st.markdown(
            f"**{safe(row['evaluator'])}** picks a hollow caption for **{row['picked_hollow']:.1f} %** of "
            f"{counted(int(row['n_images']), 'picture')}; a blind pick would for {row['offered_hollow']:.1f} % "
            f"(difference {excess} points, {bounds})."
        )
    draw_table(
        shares.assign(interval=interval(shares, "low", "high", 1, False)[0]),
        column_order=("evaluator", "system", "picked", "interval", "offered", "n_images"),
        alt="Whose captions each evaluator picks",
        column_config={
            "evaluator": "Evaluator", "system": "System", "picked": _NUMBER("Picked, %", format="%.1f"),
            "interval": _INTERVAL, "offered": _NUMBER("By a blind pick, %", format="%.1f"),
            "n_images": _NUMBER("n pictures"),
        },
    )  # fmt: skip
    data_buttons(picks, "systems-picks", key="systems.picks")
