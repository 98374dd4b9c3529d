"""What every page begins with: its title, its link, the way back to the usual view, and the row of its chips."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.views.common.collect import begin
from pages.views.common.hints import meaning
from pages.views.common.page_address import copy_link
from pages.views.common.text import safe
from pages.views.common.url_state import PageState

UPLOAD_LOST = "What you uploaded is in this link only as long as this server runs."
_SCOPE_STAYS = " The scope stays, on this page and on the others; *Usual scope* takes it back."


def header(title: str, caption: str, state: PageState, *, lost: str = "", words: Sequence[str] = ()) -> None:
    """Draw the title beside *Copy link* and *Reset all*, and say what of a link could not be restored.

    Args:
        title: of the page, in our own words.
        caption: one sentence that says what the page answers, in our own words.
        state: the page's fields, restored already.
        lost: what the page's link cannot carry, as a sentence in our own words; empty where it carries everything.
        words: coined words that the page turns on; a ? beside the title says what they mean.
    """
    begin()
    scoped = any(field.shared for field in state.fields)
    with st.container(key="page_header"):
        text, actions = st.columns([7, 3], vertical_alignment="top")
        text.title(title, anchor=False, help=meaning(*words) or None)
        text.caption(caption)
        with actions.container(horizontal=True, horizontal_alignment="right", gap="small", key=f"{state.page}_actions"):
            copy_link(f"{state.page}.copy", lost)
            if any(not field.shared for field in state.fields):
                st.button(
                    "Reset all",
                    icon=":material/restart_alt:",
                    on_click=state.reset,
                    key=f"{state.page}.reset",
                    help="Back to the usual view of this page." + (_SCOPE_STAYS if scoped else ""),
                    type="tertiary",
                )
    if state.problems():
        st.warning(
            "Part of the link could not be restored. " + " ".join(safe(each) for each in state.problems()),
            icon=":material/link_off:",
        )


class Chips(NamedTuple):
    """Places of the row under the header, from left to right.

    Args:
        scope: of the chips that choose the scope.
        filters: of the chip that opens the filters.
        notes: of what the scope leaves out.
    """

    scope: DeltaGenerator
    filters: DeltaGenerator
    notes: DeltaGenerator


def chips(state: PageState) -> Chips:
    """Draw the row under the header, empty yet."""
    row = st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"{state.page}_chips")
    return Chips(
        *(
            row.container(
                horizontal=True, gap="small", vertical_alignment="center", width="content", key=f"{state.page}_{name}"
            )
            for name in Chips._fields
        )
    )


@contextmanager
def filter_panel(state: PageState, row: Chips, *, told: int, about: str) -> Iterator[None]:
    """Open the panel of a page's filters, which lies over the page and moves nothing of it.

    Args:
        state: of the page.
        row: of its chips.
        told: how many filters are set; the chip says it.
        about: what the counts beside a filter's values are of, in our own words.
    """
    label = f"Filters: **{told}**" if told else "Filters"
    with (
        row.filters,
        st.popover(label, icon=":material/filter_alt:", key=f"{state.page}.filters"),
        st.container(key="filter_panel"),
    ):
        st.caption(about)
        yield
