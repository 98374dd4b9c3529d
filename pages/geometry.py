"""Geometry: does the text encoder's sense of good and bad say which way a modifier moves the score?"""

import streamlit as st

from core.errors import InvariscopeError
from pages.parts.empty import draw_no_run
from pages.parts.entry import enter
from pages.parts.frame import header
from pages.parts.geometry_draw import choose_encoder, draw_geometry, edit_words
from pages.parts.geometry_state import FILTERS, encoders, geometry_state, modifiers, placed
from pages.parts.runs import present, store
from pages.parts.slice_filters import choose_slice
from pages.parts.text import safe


def draw() -> None:
    """Draw the page."""
    files = present()
    try:
        state = geometry_state(files)
    except InvariscopeError as error:  # the word lists on disk cannot be read
        st.title("Geometry", anchor=False)
        st.error(safe(str(error), limit=600))
        return
    state.restore()
    header("Geometry", "Does the text encoder's sense of good and bad say which way a modifier moves the score?", state)
    if not store(files).runs():
        draw_no_run()
    else:
        chosen = choose_slice(state, files, fields=FILTERS, more=False)
        evaluator = choose_encoder(state, encoders(files))
        if evaluator is None:
            st.info("None of the runs' evaluators has a text encoder on this machine.", icon=":material/hub:")
        else:
            edit_words(state)
            try:
                if modifiers(files, chosen, evaluator).empty:
                    st.info("These runs and filters hold no modifier; audit a societal family such as cultural.")
                else:
                    words = (state.get("positive"), state.get("negative"))
                    draw_geometry(placed(files, chosen, evaluator, state.get("level"), *words), evaluator)
            except InvariscopeError as error:
                st.error(safe(str(error), limit=600))
    state.publish()


enter()
draw()
