"""Run an audit: choose, see what it costs, start it as a job, watch it, cancel it, resume it."""

import streamlit as st

from pages.views.common.access import operates
from pages.views.common.page_head import header
from pages.views.run_audit.audit_cost import draw_cost
from pages.views.run_audit.audit_jobs import draw_jobs, running
from pages.views.run_audit.audit_setup import choose_audit, run_state

_FIRST = "run.jobs.first"


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
        st.session_state[_FIRST] = running() or st.session_state.get(_FIRST, False)
        if st.session_state[_FIRST]:  # what goes on stands first, and stays there when it ends
            draw_jobs()
            draw_cost(state, asked)
        else:
            draw_cost(state, asked)
            draw_jobs()
