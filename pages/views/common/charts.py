"""The one place where a page draws a figure."""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from core.charts.interactive import CONFIG, plot
from core.charts.spec import Figure

MOST_WIDE = 9
"""Columns of a map up to which the style sheet keeps each wide enough to be read; on a phone the map scrolls."""


def draw(
    figure: Figure, *, key: str, alt: str, clicked: Callable[[str], None] | None = None,
    picked: Callable[[str], None] | None = None,
) -> None:  # fmt: skip
    """Draw a figure as wide as its place.

    Args:
        figure: of ``core.charts``.
        key: of the chart.
        alt: what the figure says, for those who cannot see it.
        clicked: draws below the figure, of what the mark that somebody clicked opens (the frame's column ``opens``);
            None: it draws nothing.
        picked: is told of it once, before the page is drawn again: for what a click sets on the page itself. Without
            both, marks cannot be clicked.
    """
    answers = (clicked or picked) is not None and "opens" in figure.frame
    room = st.container(key=f"map_{min(figure.frame['series'].nunique(), MOST_WIDE)}_{key}") \
        if figure.kind == "map" else st.container()  # fmt: skip
    with room:
        if not answers:
            st.plotly_chart(plot(figure), width="stretch", config=CONFIG, alt=alt, key=key)
            return
        chosen = st.plotly_chart(
            plot(figure, clicks=True),
            width="stretch",
            config=CONFIG,
            alt=alt,
            key=key,
            on_select="rerun" if picked is None else partial(_pick, key, picked),
            selection_mode="points",
        )
    if clicked and (opened := _opened(chosen)):
        clicked(opened)


def _pick(key: str, picked: Callable[[str], None]) -> None:
    if opened := _opened(st.session_state[key]):
        picked(opened)


def _opened(chosen: Any) -> str:
    """What the mark that was clicked opens; nothing where none was, or where it opens nothing."""
    points = chosen["selection"]["points"]
    said = points[0].get("customdata", "") if points else ""
    return str(said[0] if isinstance(said, list) and said else said or "")
