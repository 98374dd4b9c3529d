"""The matrix: what breaks, evaluator by evaluator, beside the harmless edit that each is most easily taken for."""

import streamlit as st

from core.analysis.questions import Options
from core.analysis.questions.directional import RATES
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from pages.views.common.runs import Signature
from pages.views.contrast_tests.draw import answered, draw_figure, draw_rows
from pages.views.results.blocks import nothing
from pages.views.results.data import questions


def draw_matrix(files: Signature, scope: Narrowed, chosen: Slice, options: Options) -> None:
    """Draw the figure, and the table behind it folded away."""
    question = questions(files, scope)[RATES]
    frame = answered(files, scope, chosen, options, question)
    if frame.empty:
        nothing(question.title)
        return
    drawing = question.figures[0]
    draw_figure(drawing.figure(frame), frame, drawing.id, title=drawing.title, note=drawing.note)
    with st.expander("The numbers, with ties, tests and what each is taken for", icon=":material/table:"):
        draw_rows(question, frame)
