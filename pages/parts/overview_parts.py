"""The pieces of the first page: the worst findings, the fairness card, the runs."""

import numpy as np
import pandas as pd
import streamlit as st

from core.audit.workbench import Workbench
from core.charts.canvas import thumbnail
from core.charts.fairness import family_shifts
from core.charts.style import CONFIG, colours, signed
from core.corpora.images import read_item
from core.errors import InvariscopeError, ProbeRejected
from pages.parts.lab_state import corpus_names, load_corpus, offered_probes, shared
from pages.parts.runs import evaluator_names, run_table
from pages.parts.text import counted, number, safe

LAB = "pages/probe_lab.py"


def draw_findings(found: pd.DataFrame) -> None:
    """Draw each of the worst findings as a card with its example, linked into the Probe lab."""
    if found.empty:
        st.info("The runs hold no shift yet that could be a finding.")
        return
    cells = st.grid(len(found), min_column_width=290, gap="medium")
    for _, row in found.iterrows():
        with cells.container(border=True, height="stretch"):
            _finding(row)


def _finding(row: pd.Series) -> None:
    st.markdown(f"**{safe(row['evaluator'])}** moves by **{row['median_abs_percent']:.1f} %** "
                f"under **{safe(row['family'])}**")  # fmt: skip
    st.caption(f"Median \\|%Δ\\|, 95 % CI {number(row['abs_low'], digits=1)} to {number(row['abs_high'], digits=1)} %, "
               f"n = {counted(int(row['n_items']), 'item')}")  # fmt: skip
    example = _example(row["corpus"], row["item"], row["probe"])
    if isinstance(example, str):
        st.caption(safe(example, limit=300))
    else:
        said = (f"Item {row['item']} as it is", f"Item {row['item']} after {row['probe']}")
        with st.container(horizontal=True, gap="small", key=f"finding_{row['evaluator']}_{row['family']}"):
            for pixels, alt in zip(example, said, strict=False):
                st.image(pixels, alt=alt, width=150)
    if row["caption"] != row["baseline_caption"]:
        st.text(f"{row['baseline_caption']} → {row['caption']}")
    else:
        st.text(row["caption"])
    st.markdown(f"Score {number(row['baseline_score'])} → **{number(row['score'])}** "
                f"({signed(row['percent'])}) with {safe(row['probe'])}")  # fmt: skip
    if not isinstance(example, str):
        st.page_link(LAB, label="Open in the Probe lab", icon=":material/science:", query_params=_lab_link(row))


def _lab_link(row: pd.Series) -> dict[str, str]:
    link = {"item": row["item"], "probes": row["probe"], "evaluators": row["evaluator"]}
    if row["corpus"] != corpus_names()[0]:
        link = {"corpus": row["corpus"], **link}
    return link | ({"subject": "human"} if row["subject"] == "human" else {})


def _example(corpus: str, item_id: str, probe_name: str) -> list[np.ndarray] | str:
    """The item's picture, and what the probe made of it if it edits the image; or why neither can be shown."""
    if corpus not in corpus_names():
        return f"The pictures of corpus {corpus} are not here; put its folder at data/corpora/{corpus}."
    try:
        item = load_corpus(corpus).get(item_id)
        key = (corpus, item.id, item.label, item.category, None)
        bench = shared().benches.get_or(key, lambda: Workbench(item, read_item(item).pixels))
        probe = offered_probes().get(probe_name)
        made = bench.make(probe) if probe else None
    except InvariscopeError as error:
        return str(error)
    edited = [] if made is None or isinstance(made, ProbeRejected) or made.pixels is None else [made.pixels]
    return [thumbnail(pixels, side=320) for pixels in (bench.pixels, *edited)]


def draw_card(card: pd.DataFrame, contrasts: pd.DataFrame) -> None:
    """Draw the fairness card: a figure an evaluator, the worst family of each axis in words, every number."""
    colour = colours(card["evaluator"].unique())
    names = list(dict.fromkeys(card["evaluator"]))
    cells = st.grid(min(len(names), 3), min_column_width=300, gap="medium")
    for name in names:
        rows = card[card["evaluator"] == name]
        with cells.container(border=True):
            st.markdown(f"**{safe(name)}**")
            figure = family_shifts(contrasts[contrasts["evaluator"] == name], rows, colour=colour[name])
            st.plotly_chart(figure, key=f"overview.card.{name}", config=CONFIG, alt=_spoken(name, rows))
            for _, row in rows.iterrows():
                _worst(row)
    st.caption(
        "Median \\|%Δ\\| of every family over items, with its 95 % BCa bootstrap interval; filled: the worst of its "
        "axis, picked after seeing the data, so its interval is that of a maximum. Grey: the median shift under edits "
        "that nobody can see. The verdict is about the signed median."
    )
    with st.expander("Every number of the card", icon=":material/table:"):
        _numbers(card)


def _worst(row: pd.Series) -> None:
    interval = f"{number(row['abs_low'], digits=1)} to {number(row['abs_high'], digits=1)}"
    st.markdown(
        f"{safe(row['axis']).capitalize()}, worst of {row['n_families']}: **{safe(row['family'])}** "
        f"{row['median_abs_percent']:.1f} % ({interval}), n\u00a0=\u00a0{row['n_items']} · **{safe(row['verdict'])}**"
    )


def _numbers(card: pd.DataFrame) -> None:
    percent = st.column_config.NumberColumn
    st.dataframe(
        card, hide_index=True, placeholder="—", alt="The fairness card in numbers",
        column_config={
            "evaluator": "Evaluator", "axis": "Axis", "family": "Worst family",
            "median_percent": percent("Median %Δ", format="%+.2f"),
            "low": percent("CI low", format="%+.2f"), "high": percent("CI high", format="%+.2f"),
            "median_abs_percent": percent("Median |%Δ|", format="%.2f"),
            "abs_low": percent("CI low", format="%.2f"), "abs_high": percent("CI high", format="%.2f"),
            "n_items": percent("n items"), "n_shifts": percent("n shifts"),
            "n_zero_baseline": percent("Zero baseline", help="Shifts without %Δ: the baseline scores 0"),
            "n_missing": percent("Unscored"), "verdict": "Verdict", "n_families": percent("Of families"),
            "null_band": percent("Null edits' median |%Δ|", format="%.2f"),
        },
    )  # fmt: skip
    st.download_button(
        "Fairness card as CSV", lambda: card.to_csv(index=False).encode("utf-8-sig"), "fairness-card.csv", "text/csv",
        icon=":material/table:", on_click="ignore", key="overview.csv",
    )  # fmt: skip


def _spoken(name: str, rows: pd.DataFrame) -> str:
    told = [f"{row['axis']}: {row['family']} {row['median_abs_percent']:.1f} %" for _, row in rows.iterrows()]
    return f"Worst family of each axis under {name}, median absolute percent change. {'; '.join(told)}"


def draw_runs(runs: tuple) -> None:
    """Draw what is loaded, a row a run."""
    table = run_table(runs)
    tiles = st.grid(4, min_column_width=120)
    tiles.metric("Runs", len(runs), border=True)
    tiles.metric("Items", f"{int(table['items'].fillna(0).sum()):,}".replace(",", " "), border=True)
    tiles.metric("Evaluators", len(evaluator_names(runs)), border=True)
    tiles.metric("Scored pairs", f"{int(table['pairs'].fillna(0).sum()):,}".replace(",", " "), border=True)
    for _, row in table[table["status"] != "complete"].iterrows():
        st.warning(f"Run {safe(row['run'])} is {safe(row['status'])}: its numbers are not all there. The same "
                   "`python -m core audit` command resumes it.", icon=":material/hourglass_bottom:")  # fmt: skip


def draw_run_table(runs: tuple) -> None:
    """Draw every run with its counts."""
    st.dataframe(
        run_table(runs), hide_index=True, placeholder="—", alt="Runs that are loaded",
        column_config={
            "run": "Run", "status": "Status", "corpus": "Corpus", "items": "Items kept", "left_out": "Items left out",
            "evaluators": "Evaluators", "probes": "Probes", "pairs": "Pairs",
            "unscored": st.column_config.NumberColumn("Unscored", help="Scores that an evaluator could not give"),
            "created": "Started",
        },
    )  # fmt: skip
