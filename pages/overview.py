"""Overview: what is loaded, how far each evaluator moves, and the three worst findings."""

import streamlit as st

from core.analysis.overview import not_on_card
from core.analysis.scope import Narrowed
from core.errors import InvariscopeError
from pages.views.common.empty import draw_no_run
from pages.views.common.entry import enter
from pages.views.common.frame import header
from pages.views.common.runs import (
    Signature,
    blind,
    blur_control,
    card,
    families,
    findings,
    origin_of_scores,
    present,
    risks,
    store,
)
from pages.views.common.scope import choose_scope, scope_fields
from pages.views.common.text import safe
from pages.views.common.url_state import PageState
from pages.views.overview.card import draw_card
from pages.views.overview.files import draw_report, draw_upload
from pages.views.overview.parts import draw_findings, draw_run_table, warn_incomplete
from pages.views.overview.plane import draw_plane


def draw() -> None:
    """Draw the page."""
    files = present()
    opened = store(files)
    state = PageState("overview", scope_fields(files))
    state.restore()
    header("Overview", "How far each caption metric moves although the meaning did not.", state)
    _problems(opened.problems)
    if opened.runs():
        warn_incomplete(opened.runs())
        try:
            _numbers(files, choose_scope(state, files))
        except InvariscopeError as error:
            st.error(safe(str(error), limit=600))
        st.subheader("What is loaded", anchor=False)
        draw_run_table(opened.runs())
    else:
        draw_no_run()
    draw_upload(opened.runs())
    state.publish()


def _numbers(files: Signature, scope: Narrowed) -> None:
    """Draw what the scope's scores say."""
    seen = scope.only()
    table, contrasts, risk, worst = card(files, seen), families(files, seen), risks(files, seen), findings(files, seen)
    st.subheader("Worst findings", anchor=False)
    draw_findings(worst)
    st.subheader("Fairness card", anchor=False)
    if table.empty:
        st.info(safe(" ".join(not_on_card(contrasts)) or "No family has a percent change yet."))
    else:
        draw_card(table, contrasts, risk, blur_control(files, seen), blind(files, seen), origin_of_scores(files, seen))
    draw_plane(files, seen)
    st.subheader("Take it home", anchor=False)
    draw_report(files, scope)


def _problems(problems: tuple[str, ...]) -> None:
    if not problems:
        return
    with st.expander(f"{len(problems)} left out of what is loaded", icon=":material/warning:", expanded=True):
        for sentence in problems:
            st.markdown(f"- {safe(sentence, limit=600)}")


enter()
draw()
