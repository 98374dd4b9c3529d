"""Results: the questions of the audit with their answers, of whatever the filters leave."""

import streamlit as st

from core.errors import InvariscopeError
from pages.views.common.collect import figures_of, of_scores
from pages.views.common.entry import enter
from pages.views.common.links import draw_no_run
from pages.views.common.open_runs import present, store, stored_values
from pages.views.common.page_head import chips, header
from pages.views.common.scope_chips import choose_scope, say_withheld
from pages.views.common.shown_answers import questions
from pages.views.common.slice_filters import choose_slice, describe
from pages.views.common.text import safe
from pages.views.results_parts import choose_part, choose_section, draw_pins, draw_questions, results_state

ACROSS = ("corpora", "natural")
"""Sections that hold corpora against each other or take them together; the others are of the corpus in view."""


def draw() -> None:
    """Draw the page."""
    files = present()
    state = results_state(files)
    state.restore()
    header(
        "Results",
        "The tables and figures of the audit, a section for each research question.",
        state,
        words=("family", "axis", "shift", "null edits"),
    )
    if not store(files).runs():
        draw_no_run()
        state.publish()
        return
    try:
        row = chips(state)
        whole = choose_scope(state, files, row=row, across=state.get("question") in ACROSS)
        section = choose_section(state)
        scope = whole if section in ACROSS else whole.only()
        say_withheld(files, scope)
        chosen = choose_slice(state, files, scope, row)
        if said := describe(chosen):
            st.caption(f"Filtered: {safe(said, limit=400)}")
        figures_of(of_scores("pages/results.py", state, files, scope, describe(chosen)))
        asked = choose_part(state, questions(files, scope), section)
        draw_questions(state, files, scope, chosen, asked)
        draw_pins(state, scope, chosen, asked, stored_values(files)["families"])
    except InvariscopeError as error:
        st.error(safe(str(error), limit=600))
    state.publish()


enter()
draw()
