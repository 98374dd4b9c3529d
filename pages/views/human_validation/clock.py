"""The annotator's clock, and the way back to the top of the page when the next item shows."""

import math
import time

import streamlit as st

_SCRIPT = """
export default function ({ data, parentElement, setStateValue }) {
  if (parentElement.shownItem === data.item) return
  const first = parentElement.shownItem === undefined
  parentElement.shownItem = data.item
  if (first) setStateValue("clock", Date.now())
  else document.querySelector('[data-testid="stMain"]')?.scrollTo({ top: 0 })
}
"""
_KEY, _OFFSET = "study.clock", "study.clock_offset"


def draw_clock(item: str) -> None:
    """Ask the browser for its time once a session, and scroll up when another item shows; nothing is to be seen."""
    _component()(key=_KEY, data={"item": item}, on_clock_change=_note, height="content")


def client_time() -> float | None:
    """The annotator's clock now, in seconds since 1970: the server's, by as much as theirs differed when they came."""
    offset = st.session_state.get(_OFFSET)
    return None if offset is None else round(time.time() + offset, 3)


@st.cache_resource(show_spinner=False)
def _component():  # type: ignore[no-untyped-def]
    return st.components.v2.component("invariscope_study_clock", js=_SCRIPT)


def _note() -> None:
    told = getattr(st.session_state.get(_KEY), "clock", None)
    if isinstance(told, int | float) and math.isfinite(told) and 0 < told < 1e14:
        st.session_state[_OFFSET] = told / 1000 - time.time()
