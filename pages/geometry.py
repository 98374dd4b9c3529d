"""Geometry: does the text encoder's sense of good and bad say which way a modifier moves the score?"""

import streamlit as st

from core.analysis.scope import Narrowed
from core.errors import InvariscopeError
from pages.views.common.collect import figures_of, of_scores
from pages.views.common.entry import enter
from pages.views.common.links import draw_no_run
from pages.views.common.open_runs import Signature, present, store
from pages.views.common.page_head import Chips, chips, header
from pages.views.common.scope_chips import choose_scope, say_withheld
from pages.views.common.slice_filters import choose_slice, describe, slice_link
from pages.views.common.text import safe
from pages.views.common.url_state import PageState
from pages.views.geometry_parts import (
    FILTERS,
    choose_encoder,
    draw_geometry,
    edit_words,
    encoders,
    geometry_state,
    modifiers,
    placed,
)
from pages.views.probe_lab.lab_state import barred_encoders, own_ready, stamps


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
        try:
            row = chips(state)
            _draw(state, files, choose_scope(state, files, row=row).only(), row)
        except InvariscopeError as error:
            st.error(safe(str(error), limit=600))
    state.publish()


def _draw(state: PageState, files: Signature, scope: Narrowed, row: Chips) -> None:
    say_withheld(files, scope)
    chosen = choose_slice(state, files, scope, row, fields=FILTERS, more=False)
    evaluator = choose_encoder(state, encoders(files, scope, barred_encoders(), own_ready()))
    if evaluator is None:
        st.info("None of the scope's evaluators has a text encoder on this machine.", icon=":material/hub:")
        return
    edit_words(state)
    if modifiers(files, scope, chosen, evaluator).empty:
        st.info("This scope and these filters hold no modifier; audit a societal family such as cultural.")
        return
    words = (state.get("positive"), state.get("negative"))
    found = placed(files, scope, chosen, evaluator, state.get("level"), *words, stamps((evaluator,)))
    figures_of(of_scores("pages/geometry.py", state, files, scope, describe(chosen)))
    draw_geometry(found, evaluator, scope.corpus, slice_link(state))


enter()
draw()
