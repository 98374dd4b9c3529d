"""Scores of a video's captions under edits of its frames, and which word matches which frame."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.charts.lab_figures import edit_dots, token_heat
from core.errors import InvariscopeError
from core.evaluators.pool import shared_pool
from core.evaluators.video.base import COARSE, TokenMap, VideoEvaluator
from core.scoring.video_edits import BY_CONSTRUCTION, EDITS, ORDER_FREE, REVERSED, score_edits, token_maps
from pages.views.common.downloads import data_buttons, figure_buttons
from pages.views.common.page_charts import draw
from pages.views.common.page_tables import draw_table
from pages.views.common.text import safe
from pages.views.common.url_state import PageState
from pages.views.video.state import Frames, demo_frames, shared

_NUMBERS = {"score": "Score", "delta": "Δ", "coarse": "Coarse", "precision": "Precision", "recall": "Recall",
            "fine": "F"}  # fmt: skip


def draw_results(state: PageState, frames: Frames, captions: Sequence[str], other: str | None) -> None:
    """Draw what every chosen evaluator makes of the video and of its edits."""
    st.info(ORDER_FREE, icon=":material/swap_horiz:")
    table = _scored(state, frames, captions, other)
    if table.empty:
        return
    figure = edit_dots(table)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown("**Scores of each caption, by edit of the frames**", width="content")
        figure_buttons(figure, table, "video-edits", title="Scores of captions of a video, by edit of its frames",
                       key="video.figure")  # fmt: skip
    said = "; ".join(f"{row.evaluator}, {row.edit}: {row.score:.3f}" for row in table.head(8).itertuples())
    draw(figure, key="video.edits", alt=f"Scores of captions by edit. {said}")
    _explained(table)
    _rows(table)
    data_buttons(table, "video-edits", key="video.table")
    _map(state, frames, captions)


def _scored(state: PageState, frames: Frames, captions: Sequence[str], other: str | None) -> pd.DataFrame:
    strange = demo_frames(other, state.get("frames")) if other else None
    made = []
    for name in state.get("evaluators"):
        key = (frames.key, strange.key if strange else "", tuple(captions), name)
        found = shared().tables.get(key)
        if found is None:
            try:
                with st.spinner(f"Scoring with {name} …"), shared_pool().lease(name) as loaded:
                    found = score_edits(loaded, frames.pixels, captions, other=strange.pixels if strange else None)
            except InvariscopeError as error:
                st.warning(safe(f"{name}: {error}", limit=600))
                continue
            shared().tables.put(key, found)
        made.append(found)
    return pd.concat(made, ignore_index=True) if made else pd.DataFrame()


def _explained(table: pd.DataFrame) -> None:
    told = [f"**{name}**: {edit.told}" for name, edit in EDITS.items() if name in set(table["edit"])]
    coarse = table["evaluator"].str.endswith(f"({COARSE})").any()
    plain = (
        f" An evaluator without tokens gives the *{COARSE}* alone: the cosine of the mean frame and the caption, which "
        "is no EMScore." if coarse else ""
    )  # fmt: skip
    with st.expander("What each edit does", icon=":material/help:"):
        st.markdown("\n".join(f"- {each}" for each in told))
    st.caption(f"Each evaluator has its own scale. A ring is no measurement: what is {REVERSED} follows from the "
               f"formula. One video has no interval.{plain}")  # fmt: skip


def _rows(table: pd.DataFrame) -> None:
    parts = table["fine"].notna().any()  # a coarse part alone is the score itself
    numbers = {name: head for name, head in _NUMBERS.items() if parts or name in ("score", "delta")}
    shown = table[["evaluator", "caption", "edit", "how", *numbers, "frames"]].copy()
    for name in numbers:
        shown[name] = shown[name].astype(float).round(4) + 0.0
    if table["note"].astype(bool).any():
        shown["note"] = table["note"]
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    config = {"evaluator": text("Evaluator", pinned=True), "caption": text("Caption"), "edit": text("Frames"),
              "how": text("How it is known"), "frames": number("n frames", format="%d"),
              "note": text("Why there is no score")}  # fmt: skip
    config |= {name: number(head, format="%+.4f" if name == "delta" else "%.4f") for name, head in numbers.items()}
    draw_table(shown, column_config=config, key="video.rows",
               alt="Scores of every caption under every edit of the frames")  # fmt: skip
    held = table[table["how"] == BY_CONSTRUCTION]
    st.caption(f"Of {len(table)} rows {len(held)} are by construction and repeat those of the original.")


def _map(state: PageState, frames: Frames, captions: Sequence[str]) -> None:
    maps = {name: found for name in state.get("evaluators") if (found := _maps(frames, captions, name))}
    if not maps:
        return
    st.header("Which word matches which frame", anchor=False)
    left, right = st.columns(2)
    evaluator = state.choose(left, "looker", "Evaluator", tuple(maps))
    caption = state.choose(right, "reading", "Caption", tuple(maps[evaluator]))
    drawn = maps[evaluator][caption]
    once = [place for place, each in enumerate(frames.places) if each not in frames.places[:place]]
    figure = token_heat(drawn.words, drawn.cosines[:, once], numbers=[frames.places[place] + 1 for place in once])
    draw(figure, key="video.map", alt=f"Cosine of every token of {caption} with every frame")
    frame = figure.data.assign(token=[drawn.words[int(each)] for each in figure.data["label"]])
    figure_buttons(figure, frame, "video-tokens", title=f"Which word matches which frame, {evaluator}", key="video.map")
    st.caption("Cosine of each token with each frame, both markers of the tokenizer among the tokens. Precision is the "
               "mean over tokens of a row's largest cell, recall the mean over frames of a column's. Every token "
               "counts the same here; weights by document frequencies are given on the command line.")  # fmt: skip


def _maps(frames: Frames, captions: Sequence[str], name: str) -> dict[str, TokenMap]:
    key = (frames.key, tuple(captions), name)
    found = shared().maps.get(key)
    if found is None:
        try:
            with shared_pool().lease(name) as loaded:
                found = token_maps(loaded, frames.pixels, captions) if isinstance(loaded, VideoEvaluator) else {}
        except InvariscopeError:  # said where its scores are missing
            return {}
        shared().maps.put(key, found)
    return found
