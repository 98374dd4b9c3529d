"""Suites: how far evaluators agree with people's judgements, and why a number is what it is."""

import streamlit as st

from core.errors import InvariscopeError
from core.features.suites.suite_result import SuiteResult, changed
from pages.views.common.collect import Origin, figures_of
from pages.views.common.page_head import header
from pages.views.common.text import safe
from pages.views.suites.suite_job import NAME, SAID, choose, draw_start, held, suites_state
from pages.views.suites.suite_results import draw_commands, draw_nothing, draw_result


def draw() -> None:
    """Draw the view."""
    state = suites_state(changed())
    state.restore()
    header("How well does each metric agree with people, or with what is known to be wrong?", state)
    above = st.container()
    draw_start(state)
    results, problems = held(changed())
    with above:
        for problem in problems:
            st.warning(safe(problem, limit=400), icon=":material/broken_image:")
        try:
            if results:
                result = choose(state, results)
                figures_of(Origin(state, _of(result)))
                if result.suite == NAME:
                    st.info(SAID, icon=":material/fact_check:")
                draw_result(state, result)
            else:
                draw_nothing()
        except InvariscopeError as error:
            st.error(safe(str(error), limit=600))
    draw_commands()
    state.publish()


def _of(result: SuiteResult) -> str:
    """Which files a suite's numbers are of, in words."""
    hashes = ", ".join(f"sha256 {each.sha256[:12]}" for each in result.sources)
    return f"Suite {result.told} ({hashes}), Invariscope {result.invariscope}"
