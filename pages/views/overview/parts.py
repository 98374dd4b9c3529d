"""The pieces of the first page: the worst findings, the fairness card, the runs."""

import numpy as np
import pandas as pd
import streamlit as st

from core.charts.canvas import thumbnail
from core.charts.style import signed
from core.corpora.pictures import read_item
from core.corpora.stacks import as_picture
from core.errors import InvariscopeError, ProbeRejected
from core.probes.titles import family_title, title
from core.store.manifest import Run
from pages.views.common.links import FAILURES, LAB, failures_link, lab_link
from pages.views.common.open_runs import evaluator_names, run_table
from pages.views.common.page_tables import draw_table
from pages.views.common.quota import make_counted
from pages.views.common.run_corpora import corpus_name_of, load_corpus
from pages.views.common.text import counted, number, safe, thousands
from pages.views.overview.thresholds import Thresholds
from pages.views.probe_lab.state import offered_probes, shared

EXAMPLE_HEIGHT = 170
"""Height in px of an example, so that the cards line up."""

SEAL_HELP = (
    "Since when a change of any file would be seen: since the run's close, or since it was sealed later. An unverified "
    "run is one of an older Invariscope, without a seal; `python -m core verify` reads every byte."
)


def draw_findings(found: pd.DataFrame, held: Thresholds) -> None:
    """Draw each of the worst findings as a card with its example, linked into the Probe lab."""
    if found.empty:
        st.info("No family is shown to move an evaluator by more than the margin in the middle item: no interval of a "
                f"median \\|%Δ\\| lies above it{held.said()}.")  # fmt: skip
        return
    cells = st.grid(len(found), min_column_width=290, gap="medium")
    for _, row in found.iterrows():
        with cells.container(border=True, height="stretch"):
            _finding(row)


def _finding(row: pd.Series) -> None:
    st.markdown(f"**{safe(row['evaluator'])}** moves by **{row['median_abs_percent']:.1f} %** "
                f"under **{safe(family_title(row['family']))}**")  # fmt: skip
    st.caption(f"Median \\|%Δ\\|, 95 % CI {number(row['abs_low'], digits=1)} to {number(row['abs_high'], digits=1)} %, "
               f"n = {counted(int(row['n_items']), 'item')}")  # fmt: skip
    example = _example(row)
    if isinstance(example, str):
        st.caption(safe(example, limit=300))
    else:
        said = (f"Item {row['item']} as it is", f"Item {row['item']} after {title(row['probe']).lower()}")
        with st.container(horizontal=True, gap="small", key=f"finding_{row['evaluator']}_{row['family']}"):
            for pixels, alt in zip(example, said, strict=False):
                st.image(pixels, alt=alt, width=round(EXAMPLE_HEIGHT * pixels.shape[1] / pixels.shape[0]))
    if row["caption"] != row["baseline_caption"]:
        st.text(f"{row['baseline_caption']} → {row['caption']}")
    else:
        st.text(row["caption"])
    edited = "" if row["caption"] != row["baseline_caption"] else f", *{safe(title(row['probe']))}*"
    st.markdown(
        f"Score {number(row['baseline_score'])} → **{number(row['score'])}** ({signed(row['percent'])}){edited}"
    )
    with st.container(horizontal=True, gap="small", key=f"finding_ways_{row['evaluator']}_{row['family']}"):
        st.page_link(FAILURES, label="See its failures", icon=":material/photo_library:",
                     query_params=failures_link(row))  # fmt: skip
        if not isinstance(example, str):
            st.page_link(LAB, label="Open in Probe lab", icon=":material/science:", query_params=lab_link(row))


def _example(row: pd.Series) -> list[np.ndarray] | str:
    """The item's picture, and what the probe made of it if it edits the image; or why neither can be shown."""
    corpus = corpus_name_of(row["run"], row["corpus"])
    if corpus is None:
        return f"The pictures of corpus {row['corpus']} are not here; put its folder at data/corpora/{row['corpus']}."
    try:
        item = load_corpus(corpus).get(row["item"])
        key = (corpus, item.id, item.label, item.category, None)
        bench = shared().bench(key, item, lambda: read_item(item).pixels)
        probe = offered_probes().get(row["probe"])
        make_counted(bench, [probe] if probe else [])
        made = bench.make(probe) if probe else None
    except InvariscopeError as error:
        return str(error)
    edited = [] if made is None or isinstance(made, ProbeRejected) or made.pixels is None else [made.pixels]
    return [thumbnail(as_picture(pixels), side=320) for pixels in (bench.pixels, *edited)]


def warn_incomplete(runs: tuple[Run, ...]) -> None:
    """Say which runs are not complete."""
    table = run_table(runs)
    for _, row in table[table["status"] != "complete"].iterrows():
        st.warning(f"Run {safe(row['run'])} is {safe(row['status'])}: its numbers are not all there. The same "
                   "`python -m core audit` command resumes it.", icon=":material/hourglass_bottom:")  # fmt: skip


def draw_run_table(runs: tuple[Run, ...]) -> None:
    """Draw how much is loaded, whatever the scope, and every run with its counts."""
    table = run_table(runs)
    tiles = st.grid(4, min_column_width=120)
    tiles.metric("Runs", len(runs), border=True)
    tiles.metric("Items", thousands(int(table["items"].fillna(0).sum())), border=True)
    tiles.metric("Evaluators", len(evaluator_names(runs)), border=True)
    tiles.metric("Scored pairs", thousands(int(table["pairs"].fillna(0).sum())), border=True)
    draw_table(
        table, alt="Runs that are loaded",
        column_config={
            "run": "Run", "status": "Status", "seal": st.column_config.TextColumn("Seal", help=SEAL_HELP),
            "corpus": "Corpus", "items": "Items kept", "left_out": "Items left out",
            "evaluators": "Evaluators", "probes": "Probes", "pairs": "Pairs",
            "unscored": st.column_config.NumberColumn("Unscored", help="Scores that an evaluator could not give"),
            "created": "Started",
        },
        column_order=("run", "corpus", "items", "left_out", "probes", "pairs", "unscored", "status", "seal", "created",
                      "evaluators"),
    )  # fmt: skip
