"""Flip risk: how often a harmless edit would invert a ranking."""

import streamlit as st

from core.errors import InvariscopeError
from pages.parts.empty import draw_no_run
from pages.parts.entry import enter
from pages.parts.flip_gap import draw_gap
from pages.parts.flip_state import VIEWS, flip_state
from pages.parts.flip_systems import draw_systems
from pages.parts.frame import header
from pages.parts.runs import present, store
from pages.parts.slice_filters import choose_slice
from pages.parts.text import safe

FILTERS = ("runs", "corpora", "evaluators", "axes", "families", "categories", "coverage_bins", "subjects")


def draw() -> None:
    """Draw the page."""
    files = present()
    state = flip_state(files)
    state.restore()
    header("Flip risk", "How often an edit that should not matter inverts which of two captioners is ahead.", state)
    st.segmented_control(
        "View", tuple(VIEWS), format_func=VIEWS.__getitem__, key=state.key("view"), required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    try:
        if state.get("view") == "systems":
            draw_systems(state)
        elif not store(files).runs():
            draw_no_run(more="Two systems of your own need none, either: choose them above.")
        else:
            draw_gap(state, files, choose_slice(state, files, fields=FILTERS))
    except InvariscopeError as error:
        st.error(safe(str(error), limit=600))
    state.publish()


enter()
draw()
