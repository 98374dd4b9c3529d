"""What a page says while there is no run: the command that makes one, and where else to go."""

import streamlit as st

from pages.views.common.access import may_operate
from pages.views.common.links import LAB

AUDIT = "pages/run_audit.py"


def draw_no_run(
    *,
    none: str = "No run is here yet",
    evaluators: tuple[str, ...] = ("conse-lite0",),
    more: str = "",
    command: str = "",
) -> None:
    """Say how a first run is made, in a shell or in the browser.

    Args:
        none: what is missing, a sentence without its full stop.
        evaluators: that the command audits; names of evaluators that need no download.
        more: a sentence on what the page can do without a run.
        command: in place of the usual one.
    """
    what = "one evaluator" if len(evaluators) == 1 else f"{len(evaluators)} evaluators"
    st.info(f"{none}. This audits {what} on the demo corpus:", icon=":material/insights:")
    usual = f"python -m core audit --corpus demo --evaluators {','.join(evaluators)}"
    st.code(command or usual, language="shell", wrap_lines=True)
    st.caption("The results appear on this page when it ends. The same can be started in the browser; the Probe lab "
               f"needs no run. {more}".strip())  # fmt: skip
    with st.container(horizontal=True):
        if may_operate():
            st.page_link(AUDIT, label="Run an audit", icon=":material/play_circle:")
        st.page_link(LAB, label="Open the Probe lab", icon=":material/science:")
