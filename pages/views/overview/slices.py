"""Worst slices on the first page: kinds of things at a size that move further than their family as a whole."""

import pandas as pd
import streamlit as st

from core.analysis.questions import Options
from core.analysis.questions.worst_slices import ID
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.probes.titles import family_title
from pages.views.common.answers import answer, answer_rows, figure_block, questions, spoken
from pages.views.common.open_runs import Signature, scores
from pages.views.common.open_runs import stored_values as stored
from pages.views.common.text import number, safe
from pages.views.common.url_state import Field, PageState, one_of
from pages.views.overview.thresholds import Thresholds


def slices_field(files: Signature) -> Field:
    """The field of the link that says whose slices are shown; None for the first evaluator's."""
    return Field("of", None, one_of(lambda: stored(files)["evaluators"], None, what="evaluator"))


def draw_slices(state: PageState, files: Signature, scope: Narrowed, held: Thresholds) -> None:
    """Draw the slices of one evaluator as the question on Results answers it, or why there are none."""
    st.header("Worst slices", anchor=False)
    question, table = questions(files, scope)[ID], scores(files, scope)
    if reason := question.needs(table):
        st.info(safe(f"{reason[:1].upper()}{reason[1:]}.", limit=400))
        return
    name = state.choose(st.container(width=280), "of", "Evaluator", list(table.evaluators), help="Whose slices")
    frame = answer(files, scope, Slice(evaluators=(name,)), ID, Options(least=held.least))
    if frame.empty:
        st.info(f"No cell of category, coverage and family has {held.least} items with a %Δ, of as many sources.")
        return
    st.markdown(_said(frame.iloc[0], frame, held))
    drawing = question.figures[0]
    figure = drawing.figure(frame)
    figure_block(figure, frame, "overview-slices", title=drawing.title, alt=f"{drawing.title}: {spoken(figure)}")
    with st.expander("Every number of these slices", icon=":material/table:"):
        answer_rows(question, frame, measure="percent", several=False)
    least = "" if held == Thresholds() else f" Here cells of fewer than {held.least} items are left out{held.said()}."
    st.caption(safe(f"{question.note}{least} A click on a mark opens its pairs.", limit=2000))


def _said(row: pd.Series, frame: pd.DataFrame, held: Thresholds) -> str:
    """The first slice in a sentence, and how many of those shown lie above the margin."""
    above = int((frame["abs_low"] > held.margin).sum())
    median, low, high = (number(row[name], digits=1) for name in ("median_abs_percent", "abs_low", "abs_high"))
    whole, least, most = (number(row[name], digits=1) for name in ("whole", "whole_low", "whole_high"))
    covers = safe(row["coverage_bin"].replace("-", " to "))
    same = int((frame["abs_low"] == row["abs_low"]).sum())
    which = "the one that moves" if same == 1 else f"the first of {same} alike by their lower bound, which move"
    return (
        f"Of **{row['n_cells']} cells looked at**, {which} {safe(row['evaluator'])} furthest for certain: "
        f"*{safe(family_title(row['family']))}* on items of category {safe(row['category'])} whose object covers "
        f"{covers} % of the picture, median \\|%Δ\\| **{median} %** (interval adjusted for "
        f"{row['n_cells']} cells: {low} to {high}, n = {row['n_items']} items); the whole family: {whole} % "
        f"(95 % CI {least} to {most}, n = {row['n_whole']}). "
        f"The intervals of {above} of the {len(frame)} cells shown lie above the margin of ±{held.margin:g} %."
    )
