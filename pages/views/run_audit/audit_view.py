"""Run an audit: choose, see what it costs, start it as a job, watch it, cancel it, resume it."""

import streamlit as st

from pages.views.common.access import operates
from pages.views.common.page_head import header
from pages.views.run_audit.audit_cost import draw_cost
from pages.views.run_audit.audit_jobs import draw_jobs, running
from pages.views.run_audit.audit_setup import choose_audit, run_state


def draw() -> None:
    """Draw the view."""
    if not operates():
        return
    state = run_state()
    state.restore()
    header(
        "Score your pictures with your metrics under every edit.",
        state,
        words=("item", "corpus", "evaluator", "probe"),
    )
    left, right = st.columns([6, 5], gap="large")
    with left:
        asked = choose_audit(state)
    state.publish()
    with right:
        if running():  # what goes on now stands first
            draw_jobs()
            draw_cost(state, asked)
        else:
            draw_cost(state, asked)
            draw_jobs()
