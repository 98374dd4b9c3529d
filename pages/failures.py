"""Failures: the pairs that move the furthest, each beside its original and under every evaluator."""

import streamlit as st

from core.errors import InvariscopeError
from pages.parts.empty import draw_no_run
from pages.parts.entry import enter
from pages.parts.failure_gallery import draw_controls, draw_gallery, draw_nothing_left
from pages.parts.failure_record import show_record
from pages.parts.failure_state import begin_at_first_page, failure_state, page_of_pairs
from pages.parts.frame import header
from pages.parts.runs import present, store
from pages.parts.slice_filters import choose_slice
from pages.parts.text import safe


def draw() -> None:
    """Draw the page."""
    files = present()
    state = failure_state(files)
    seen = st.session_state.get(state.key("seen"))
    state.restore()
    followed = st.session_state.get(state.key("seen")) != seen
    header("Failures", "The pairs whose scores move the furthest although the meaning did not.", state)
    if not store(files).runs():
        draw_no_run()
        state.publish()
        return
    try:
        chosen = choose_slice(state, files)
        begin_at_first_page(state, chosen, followed)
        draw_controls(state)
        found = page_of_pairs(files, chosen, state.get("sort"), state.get("floor"), state.get("page"))
        if found.n_pairs == 0:
            draw_nothing_left(state, files, chosen)
        else:
            draw_gallery(state, files, chosen, found)
        state.publish()
        show_record(state, files)
    except InvariscopeError as error:
        st.error(safe(str(error), limit=600))
    state.publish()


enter()
draw()
