"""Changing what a study asks for, and saying what came of it on the screen that follows."""

from collections.abc import Callable

import streamlit as st

from core.errors import InvariscopeError
from pages.views.common.access import operators_only
from pages.views.common.text import safe

_PROBLEM, _DONE = "study.settings.problem", "study.settings.done"


def draw_outcome() -> None:
    """Say once what came of the last change."""
    if told := st.session_state.pop(_PROBLEM, ""):
        st.error(safe(told, limit=400))
    if told := st.session_state.pop(_DONE, ""):
        st.success(safe(told, limit=400))


@operators_only
def act(action: Callable[[], None], done: str) -> None:
    """Do something; what fails is one sentence on the next screen."""
    try:
        action()
        st.session_state[_DONE] = done
    except InvariscopeError as error:
        st.session_state[_PROBLEM] = str(error)
