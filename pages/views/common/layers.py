"""Layers of a page: a part that is folded away, one dialog at a time, the head of a stage before an audience."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st
from streamlit.elements.lib.mutable_expander_container import ExpanderContainer
from streamlit.elements.lib.mutable_popover_container import PopoverContainer

from core.errors import InvariscopeError
from pages.views.common.text import safe
from pages.views.common.url_state import PageState

_FIND = "find.asked"


def finding() -> bool:
    """Whether *Find* is open."""
    return bool(st.session_state.get(_FIND, False))


def find(*, now: bool) -> None:
    """Open or close it."""
    st.session_state[_FIND] = now


def tried(act: Callable[[], object], said: str) -> bool:
    """Do something, and return whether it was done; what it refuses is kept for :func:`tell_refused` under a key."""
    try:
        act()
    except InvariscopeError as error:
        st.session_state[said] = str(error)
        return False
    return True


def tell_refused(said: str, *, limit: int = 600) -> None:
    """Say once what the last press was refused, if it was."""
    if told := st.session_state.pop(said, ""):
        st.error(safe(told, limit=limit))


Answer = tuple[str, str]  # what a press of a button came to: ``error`` or ``success``, and the sentence


def answered(act: Callable[[], str], said: str) -> None:
    """Do something; what it says, or is refused, is kept under a key for :func:`tell_answer`."""
    try:
        st.session_state[said] = ("success", act())
    except InvariscopeError as error:
        st.session_state[said] = ("error", str(error))


def tell_answer(answer: Answer | None) -> None:
    """Say how a button was answered, where one was."""
    if answer is not None:
        kind, said = answer
        (st.error if kind == "error" else st.success)(safe(said, limit=600))


def button(label: str, icon: str, key: str, act: Callable[..., Any], *args: Any, **drawn: Any) -> None:
    """Draw a button. ``icon``: its name among Material Symbols, if any; ``drawn``: further ones of ``st.button``."""
    st.button(label, icon=f":material/{icon}:" if icon else None, key=key, on_click=act, args=args, **drawn)


def is_open(place: ExpanderContainer | PopoverContainer) -> bool:
    """Whether a reader opened a place, which then is to be filled; a closed one says what it shows until it is."""
    if not place.open:
        place.caption("One moment …")
    return bool(place.open)


def folded_part(label: str, state: PageState, field: str, *, icon: str) -> ExpanderContainer | None:
    """Draw a label that opens a part of a page, which a yes or no of its link asks for; None while it is closed."""
    place = st.expander(label, icon=icon, key=state.key(field), on_change="rerun")
    return place if is_open(place) else None


@st.fragment
def draw_folded(label: str, draw: Callable[[], None], *, key: str, icon: str = ":material/table:") -> None:
    """Draw a label that opens what is drawn beneath it; opening it runs this part of the page alone. ``key``: of the
    part; in the session it says whether the part is open."""
    place = st.expander(label, icon=icon, key=key, on_change="rerun")
    if not is_open(place):
        return
    with place:
        try:
            draw()
        except InvariscopeError as error:
            st.error(safe(str(error), limit=600))


def place_of(state: PageState, field: str, names: Sequence[str]) -> int:
    """Place of what a page's field names, from 0; the first where it names none of them."""
    return names.index(state.get(field)) if state.get(field) in names else 0


def draw_head(state: PageState, field: str, names: Sequence[str], *, title: str, key: str) -> None:
    """Draw the title and the way to both sides, by button and by arrow key."""
    at = place_of(state, field, names)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"# {safe(title)}")
        with st.container(horizontal=True, width="content", vertical_alignment="center", gap="small"):
            st.markdown(f"{at + 1} of {len(names)}", width="content")
            for label, shortcut, icon, to in (
                ("Previous", "Left", "arrow_back", at - 1),
                ("Next", "Right", "arrow_forward", at + 1),
            ):
                off, there = not 0 <= to < len(names), names[to % len(names)]
                button(label, icon, f"{key}.{label}", state.put, field, there, shortcut=shortcut, disabled=off)
