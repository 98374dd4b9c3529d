"""Bring a place of the page into view when something that is drawn there was asked for elsewhere."""

import streamlit as st

_JS = """
export default function ({ data, parentElement }) {
  const before = parentElement.turn ?? data.turn; // what was asked for before the page was opened is no wish of now
  parentElement.turn = data.turn;
  if (data.turn === before) return;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const host = parentElement.host;
  host.style.scrollMarginTop = "3.2rem"; // the menu of the app lies over the page's upper edge
  requestAnimationFrame(() => host.scrollIntoView({ block: "start", behavior: still ? "auto" : "smooth" }));
}
"""
_place = st.components.v2.component("invariscope_into_view", js=_JS)


def into_view(turn: int, *, key: str) -> None:
    """Mark a place, and scroll to it where ``turn`` is another than when it was drawn before."""
    _place(key=key, data={"turn": turn}, height=1)
