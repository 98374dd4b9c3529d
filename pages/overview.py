"""Overview: what is loaded, how far each evaluator moves, and the three worst findings."""

import streamlit as st

from core.errors import InvariscopeError
from pages.parts.empty import draw_no_run
from pages.parts.entry import enter
from pages.parts.overview_card import draw_card
from pages.parts.overview_files import draw_report, draw_upload
from pages.parts.overview_parts import draw_findings, draw_run_table, draw_runs
from pages.parts.runs import card, families, findings, present, risks, store
from pages.parts.text import safe


def draw() -> None:
    """Draw the page."""
    st.title("Overview", anchor=False)
    st.caption("How far each caption metric moves although the meaning did not.")
    files = present()
    opened = store(files)
    _problems(opened.problems)
    if not opened.runs():
        draw_no_run()
        draw_upload(())
        return
    draw_runs(opened.runs())
    try:
        table, contrasts, risk, worst = card(files), families(files), risks(files), findings(files)
    except InvariscopeError as error:
        st.error(safe(str(error), limit=600))
        return
    st.subheader("Worst findings", anchor=False)
    draw_findings(worst)
    st.subheader("Fairness card", anchor=False)
    if table.empty:
        st.info("No family has a percent change yet.")
    else:
        draw_card(table, contrasts, risk)
    st.subheader("Take it home", anchor=False)
    draw_report(files, opened.runs())
    st.subheader("Runs", anchor=False)
    draw_run_table(opened.runs())
    draw_upload(opened.runs())


def _problems(problems: tuple[str, ...]) -> None:
    if not problems:
        return
    with st.expander(f"{len(problems)} left out of what is loaded", icon=":material/warning:", expanded=True):
        for sentence in problems:
            st.markdown(f"- {safe(sentence, limit=600)}")


enter()
draw()
