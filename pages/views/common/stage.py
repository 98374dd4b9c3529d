"""The head of a stage before an audience: what is shown, which of how many, and the keys that turn it."""

from collections.abc import Sequence

import streamlit as st

from pages.views.common.text import safe
from pages.views.common.url_state import PageState


def place_of(state: PageState, field: str, names: Sequence[str]) -> int:
    """Place of what a page's field names, from 0; the first where it names none of them."""
    return names.index(state.get(field)) if state.get(field) in names else 0


def draw_head(state: PageState, field: str, names: Sequence[str], *, title: str, key: str) -> None:
    """Draw the title and the way to both sides, by button and by arrow key.

    Args:
        state: of the page; the field holds what is shown.
        field: its name.
        names: what can be shown, in order.
        title: of what is shown.
        key: prefix of the buttons' keys.
    """
    at = place_of(state, field, names)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"# {safe(title)}")
        with st.container(horizontal=True, width="content", vertical_alignment="center", gap="small"):
            st.markdown(f"{at + 1} of {len(names)}", width="content")
            for label, shortcut, icon, to in (
                ("Previous", "Left", ":material/arrow_back:", at - 1),
                ("Next", "Right", ":material/arrow_forward:", at + 1),
            ):
                inside = 0 <= to < len(names)
                st.button(label, icon=icon, shortcut=shortcut, disabled=not inside, key=f"{key}.{label}",
                          on_click=state.put, args=(field, names[to] if inside else names[0]))  # fmt: skip
