"""What every page begins with: its title, its link, the way back to the usual view."""

import streamlit as st

from pages.views.common.text import safe
from pages.views.common.url_state import PageState

_SCOPE_STAYS = " The scope stays, on this page and on the others; *Usual scope* takes it back."


def header(title: str, caption: str, state: PageState) -> None:
    """Draw the title beside *Copy link* and *Reset all*, and say what of a link could not be restored.

    Args:
        title: of the page, in our own words.
        caption: one sentence that says what the page answers, in our own words.
        state: the page's fields, restored already.
    """
    scoped = any(field.shared for field in state.fields)
    words, actions = st.columns([3, 2], vertical_alignment="bottom")
    words.title(title, anchor=False)
    words.caption(caption)
    with actions.container(horizontal=True, horizontal_alignment="right", key=f"{state.page}_actions"):
        with st.popover("Copy link", icon=":material/link:"):
            st.caption("This address reproduces the view.")
            st.code(state.link(), language=None, wrap_lines=True)
        if any(not field.shared for field in state.fields):
            st.button(
                "Reset all", icon=":material/restart_alt:", on_click=state.reset, key=f"{state.page}.reset",
                help="Back to the usual view of this page." + (_SCOPE_STAYS if scoped else ""),
            )  # fmt: skip
    if state.problems():
        st.warning("Part of the link could not be restored. " + " ".join(safe(each) for each in state.problems()),
                   icon=":material/link_off:")  # fmt: skip
