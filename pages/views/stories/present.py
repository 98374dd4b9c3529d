"""A story before an audience: one slide at a time over the whole screen; the arrow keys turn them."""

import streamlit as st

from core.stories.story import Telling
from pages.views.common.layers import draw_head, finding, place_of
from pages.views.common.text import safe
from pages.views.common.url_state import PageState
from pages.views.stories.slides import draw_content


def draw_present(state: PageState, told: Telling) -> None:
    """Draw the button, and the stage where the link or the button asks for it."""
    st.button("Present", icon=":material/slideshow:", key="stories.present.open", on_click=state.put,
              args=("present", True), disabled=not told.slides,
              help="One slide at a time over the whole screen; ← and → turn them, Esc leaves")  # fmt: skip
    if state.get("present") and told.slides and not finding():
        st.dialog(safe(told.title), width="large", on_dismiss=lambda: state.put("present", False))(_stage)(state, told)


def _stage(state: PageState, told: Telling) -> None:
    ids = [each.id for each in told.slides]
    slide = told.slides[place_of(state, "slide", ids)]
    with st.container(key="present"):
        draw_head(state, "slide", ids, title=slide.title, key="stories.present")
        if slide.note:
            st.markdown(f"### {safe(slide.note, limit=600)}")
        with st.container(key="present_pictures"):
            draw_content(slide, key="stage")
        st.caption(safe(slide.of, limit=400))
