"""Results: the audit's tables and figures, a section a research question, of whatever the filters leave."""

import streamlit as st

from core.errors import InvariscopeError
from pages.parts.empty import draw_no_run
from pages.parts.entry import enter
from pages.parts.frame import header
from pages.parts.results_corpora import draw_corpora
from pages.parts.results_object import draw_object
from pages.parts.results_pins import draw_pins
from pages.parts.results_space import draw_space
from pages.parts.results_state import choose_question, results_state
from pages.parts.results_words import draw_words
from pages.parts.runs import present, store
from pages.parts.slice_filters import choose_slice, describe
from pages.parts.text import safe

_DRAW = {"space": draw_space, "object": draw_object, "words": draw_words, "corpora": draw_corpora}


def draw() -> None:
    """Draw the page."""
    files = present()
    state = results_state(files)
    state.restore()
    header("Results", "The tables and figures of the audit, a section for each research question.", state)
    if not store(files).runs():
        draw_no_run()
        state.publish()
        return
    chosen = choose_slice(state, files)
    if said := describe(chosen):
        st.caption(f"Filtered: {safe(said, limit=400)}")
    question, part = choose_question(state)
    try:
        _DRAW[question](state, files, chosen, part)
        draw_pins(state, chosen, part)
    except InvariscopeError as error:
        st.error(safe(str(error), limit=600))
    state.publish()


enter()
draw()
