"""A page shows one dialog at a time: *Find* comes before all others, which wait until it is closed."""

import streamlit as st

_FIND = "find.asked"


def finding() -> bool:
    """Whether *Find* is open."""
    return bool(st.session_state.get(_FIND, False))


def find(*, now: bool) -> None:
    """Open or close it."""
    st.session_state[_FIND] = now
