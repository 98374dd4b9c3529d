"""A story before an audience: one slide at a time over the whole screen; the arrow keys turn them."""

import streamlit as st

from core.stories.story import Telling
from pages.views.common.dialogs import finding
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
    at = ids.index(state.get("slide")) if state.get("slide") in ids else 0
    slide = told.slides[at]
    with st.container(key="present"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(f"# {safe(slide.title)}")
            with st.container(horizontal=True, width="content", vertical_alignment="center", gap="small"):
                st.markdown(f"{at + 1} of {len(ids)}", width="content")
                _turn(state, ids, at - 1, "Previous", "Left", ":material/arrow_back:")
                _turn(state, ids, at + 1, "Next", "Right", ":material/arrow_forward:")
        if slide.note:
            st.markdown(f"### {safe(slide.note, limit=600)}")
        with st.container(key="present_pictures"):
            draw_content(slide, key="stage")
        st.caption(safe(slide.of, limit=400))


def _turn(state: PageState, ids: list[str], to: int, label: str, key: str, icon: str) -> None:
    inside = 0 <= to < len(ids)
    st.button(label, icon=icon, shortcut=key, disabled=not inside, key=f"stories.present.{label}", on_click=state.put,
              args=("slide", ids[to] if inside else ids[0]))  # fmt: skip
