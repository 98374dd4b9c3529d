"""The one place where a page draws a figure."""

import streamlit as st

from core.charts.interactive import CONFIG, plot
from core.charts.spec import Figure

MOST_WIDE = 9
"""Columns of a map up to which the style sheet keeps each wide enough to be read; on a phone the map scrolls."""


def draw(figure: Figure, *, key: str, alt: str) -> None:
    """Draw a figure as wide as its place.

    Args:
        figure: of ``core.charts``.
        key: of the chart.
        alt: what the figure says, for those who cannot see it.
    """
    room = st.container(key=f"map_{min(figure.frame['series'].nunique(), MOST_WIDE)}_{key}") \
        if figure.kind == "map" else st.container()  # fmt: skip
    with room:
        st.plotly_chart(plot(figure), width="stretch", config=CONFIG, alt=alt, key=key)
