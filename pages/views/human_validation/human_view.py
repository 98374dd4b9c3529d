"""Human validation: annotators see their items, coordinators see the studies."""

import streamlit as st

from pages.views.common.access import draw_sign_in, may_operate
from pages.views.common.page_head import draw_title
from pages.views.human_validation.annotator_screen import draw_annotator
from pages.views.human_validation.coordinator import draw_coordinator


def draw() -> None:
    """Draw the view."""
    token = st.query_params.get("token")
    if token is not None:
        draw_annotator(token)
    elif may_operate():
        draw_coordinator()
    else:
        draw_title()
        st.caption("Do people find the edited pairs as good as the original ones?")
        draw_sign_in()
