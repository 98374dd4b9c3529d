"""A.7's table on the page: every reading, weighting and ε, as the report writes it."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from core.analysis.questions import Options, Question
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.calibration.questions import ABLATION, questions
from pages.views.common.answers import answer_rows
from pages.views.common.downloads import data_buttons
from pages.views.common.open_runs import Signature, scores
from pages.views.common.text import safe
from pages.views.common.url_state import PageState


def draw_choices(state: PageState, files: Signature, scope: Narrowed, chosen: Slice, evaluator: str) -> None:
    """Draw the table of one evaluator, once a reader asks for it.

    Args:
        state: of the page.
        files: what the store depends on.
        scope: whose scores; all its evaluators are held to.
        chosen: the part of them that the filters leave.
        evaluator: whose rows.
    """
    st.header("Every reading, weighting and ε", anchor=False)
    if not st.toggle("Compare them on the held-out items", key=state.key("ablation")):
        st.caption("Learns and sweeps each of 33 choices: paper A, A.7.")
        return
    question = _question(files, scope)
    rows = _answer(files, scope, replace(chosen, evaluators=(evaluator,)))
    if rows.empty:
        st.caption("Nothing of this is known here.")
        return
    answer_rows(question, rows, measure="percent", several=False)
    data_buttons(rows, question.id, key="calib.ablation.data")
    st.caption(safe(question.note, limit=2000))


def _question(files: Signature, scope: Narrowed) -> Question:
    return next(each for each in questions(scores(files, scope)) if each.id == ABLATION)


@st.cache_data(max_entries=16, show_spinner="Learning every choice …")
def _answer(files: Signature, scope: Narrowed, chosen: Slice) -> pd.DataFrame:
    return _question(files, scope).compute(scores(files, scope).view(chosen), Options())
