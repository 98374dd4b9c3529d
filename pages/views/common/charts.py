"""The one place where a page draws a figure."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from core.charts.interactive import CONFIG, plot
from core.charts.spec import Figure

MOST_WIDE = 9
"""Columns of a map up to which the style sheet keeps each wide enough to be read; on a phone the map scrolls."""


def draw(figure: Figure, *, key: str, alt: str, clicked: Callable[[str], None] | None = None) -> None:
    """Draw a figure as wide as its place.

    Args:
        figure: of ``core.charts``.
        key: of the chart.
        alt: what the figure says, for those who cannot see it.
        clicked: draws below the figure, of what the mark that somebody clicked opens (the frame's column ``opens``);
            None: marks cannot be clicked.
    """
    answers = clicked is not None and "opens" in figure.frame
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
            on_select="rerun",
            selection_mode="points",
        )
    if clicked and (opened := _opened(chosen)):
        clicked(opened)


def _opened(chosen: Any) -> str:
    """What the mark that was clicked opens; nothing where none was, or where it opens nothing."""
    points = chosen["selection"]["points"]
    said = points[0].get("customdata", "") if points else ""
    return str(said[0] if isinstance(said, list) and said else said or "")
