"""Human validation: annotators see their items, coordinators see the studies."""

import streamlit as st

from pages.parts.entry import enter
from pages.parts.study_access import draw_sign_in, may_coordinate
from pages.parts.study_annotate import draw_annotator
from pages.parts.study_coordinate import draw_coordinator


def draw() -> None:
    """Draw the page."""
    token = st.query_params.get("token")
    if token is not None:
        draw_annotator(token)
    elif may_coordinate():
        draw_coordinator()
    else:
        st.title("Human validation", anchor=False)
        st.caption("Do people find the edited pairs as good as the original ones?")
        draw_sign_in()


enter()
draw()
