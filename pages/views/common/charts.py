"""The one place where a page draws a figure."""

import streamlit as st

from core.charts.interactive import CONFIG, plot
from core.charts.spec import Figure


def draw(figure: Figure, *, key: str, alt: str) -> None:
    """Draw a figure as wide as its place.

    Args:
        figure: of ``core.charts``.
        key: of the chart.
        alt: what the figure says, for those who cannot see it.
    """
    st.plotly_chart(plot(figure), width="stretch", config=CONFIG, alt=alt, key=key)
