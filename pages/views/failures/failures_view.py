"""Failures: the pairs that change the most, each beside its original and under every evaluator."""

import streamlit as st

from core.errors import InvariscopeError
from core.stories.story import Held
from pages.views.common.links import draw_no_run
from pages.views.common.open_runs import present, store
from pages.views.common.page_head import chips, drawn, header
from pages.views.common.scope_chips import choose_scope, say_withheld
from pages.views.common.slice_filters import choose_slice
from pages.views.common.text import safe
from pages.views.failures.failure_card import show_record
from pages.views.failures.failure_gallery import draw_controls, draw_gallery, draw_nothing_left, draw_one_item
from pages.views.failures.failures_state import begin_at_first_page, failure_state, page_in_view
from pages.views.failures.named_pairs import begin_tags, draw_like, like_it, named, pairs_of, show_tagging


def draw() -> None:
    """Draw the view."""
    files = present()
    try:
        held = begin_tags()
    except InvariscopeError as error:
        held = Held({})
        st.error(safe(str(error), limit=600))
    state = failure_state(files, held.names)
    seen = st.session_state.get(state.key("seen"))
    state.restore()
    followed = st.session_state.get(state.key("seen")) != seen
    header(
        "The pairs that harmless edits change most, side by side. Words that may be true come last.",
        state,
        words=("noise band", "shift"),
    )
    with drawn(state):
        if not store(files).runs():
            draw_no_run()
            return
        row = chips(state)
        scope = choose_scope(state, files, row=row).only()
        say_withheld(files, scope)
        chosen = choose_slice(state, files, scope, row)
        begin_at_first_page(state, scope, chosen, followed)
        draw_controls(state, held)
        tagged = named(held, scope, state.get("tagged"))
        near = like_it(state, files, scope)
        draw_like(state, files, scope, near)
        if near is not None:
            tagged = pairs_of(near, files, scope, tagged)
        found = page_in_view(state, files, scope, chosen, state.get("page"), named=tagged)
        if found.n_pairs == 0:
            draw_one_item(state)
            draw_nothing_left(state, files, scope, chosen)
        else:
            draw_gallery(state, files, scope, chosen, found, held, named=tagged)
        state.publish()
        show_record(state, files, scope, held)
        show_tagging(held)
