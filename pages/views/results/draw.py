"""One question on the page: its figures with their downloads, its table, and how to read them."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from core.analysis.questions import Drawing, Options, Question
from core.analysis.questions.needs import choice
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.charts.spec import Shade
from pages.views.common.downloads import data_buttons
from pages.views.common.links import RESULTS
from pages.views.common.open_runs import Signature, scores
from pages.views.common.slice_filters import slice_link
from pages.views.common.text import safe
from pages.views.common.url_state import PageState
from pages.views.results.blocks import answer_rows, corrected, figure_block, nothing, spoken
from pages.views.results.data import answer
from pages.views.results.state import choose_one, choose_options, parted

_COMMAND = "python -m core"


def draw_questions(
    state: PageState, files: Signature, scope: Narrowed, chosen: Slice, asked: tuple[Question, ...]
) -> None:
    """Draw the questions of one part below each other.

    Args:
        state: of the page.
        files: what the store depends on.
        scope: whose scores.
        chosen: the part of them that the filters leave.
        asked: the questions.
    """
    table = scores(files, scope)
    missing = {each.id: each.needs(table) for each in asked}
    there = tuple(each for each in asked if not missing[each.id])
    options = choose_options(state, there, table.corpora) if there else Options()
    _draw_missing(state, tuple(dict.fromkeys(filter(None, missing.values()))))
    picked = [each for each in there if "evaluator" in each.pick]
    for question in there:
        own = chosen
        if question in picked:
            if question is picked[0]:
                _choose_evaluator(state, table.evaluators)
            own = replace(chosen, evaluators=(_evaluator(state, table.evaluators),))
        frame = answer(files, scope, own, question.id, _asked(question, options))
        _draw(state, question, frame, options, several=len(table.corpora) > 1)


def _asked(question: Question, options: Options) -> Options:
    """Of what a reader set, what changes this answer: the others need not be worked out again."""
    usual = Options()
    return replace(usual, **{name: getattr(options, name) for name in question.asks if name != "measure"})


def _draw(state: PageState, question: Question, frame: pd.DataFrame, options: Options, *, several: bool) -> None:
    measure = state.get("measure") if "measure" in question.asks else "percent"
    if frame.empty:
        nothing(question.title)
        return
    if not question.figures:
        st.markdown(f"**{safe(question.title)}**")
    for drawing in question.figures:
        _draw_figure(state, question, drawing, frame, measure, options)
    if question.columns:
        answer_rows(question, frame, measure=measure, several=several)
    with st.container(horizontal=True, vertical_alignment="center"):
        if not question.figures:
            data_buttons(frame, question.id, key=f"results.{question.id}")
        st.caption(safe(" ".join(filter(None, (corrected(question, frame), question.note))), limit=2000))


def _draw_figure(
    state: PageState, question: Question, drawing: Drawing, frame: pd.DataFrame, measure: str, options: Options
) -> None:
    figure = (parted(drawing) if state.get("facets") else drawing).figure(frame, measure=measure)
    if figure.frame.empty:
        return
    if "margin" in question.asks and measure == "percent" and figure.kind == "dots":
        figure = replace(figure, shades=(Shade(-options.margin, options.margin),))
    figure_block(figure, frame, drawing.id, title=drawing.title, alt=f"{drawing.title}. Medians: {spoken(figure)}",
                 chosen=slice_link(state))  # fmt: skip


def _draw_missing(state: PageState, reasons: tuple[str, ...]) -> None:
    """Say why the scores cannot give an answer, and offer the run that can, or the command that would change it."""
    ways = [choice(reason) for reason in reasons]
    for place, (reason, way) in enumerate(zip(reasons, ways, strict=True)):
        said, command, rest = reason.partition(_COMMAND)
        st.info(safe(f"{said[:1].upper()}{said[1:]}".rstrip(" :"), limit=600), icon=":material/library_add:")
        if command:
            st.code(f"{command}{rest}", language="shell", wrap_lines=True)
        if way and way not in ways[place + 1 :]:
            named = safe(", ".join(f"{name} {each}" for name, each in way.items()))
            st.page_link(RESULTS, label=f"Show {named}", icon=":material/visibility:",
                         query_params={"question": state.get("question"), **way})  # fmt: skip


def _evaluator(state: PageState, names: tuple[str, ...]) -> str:
    return str(state.get("of")) if state.get("of") in names else names[0]


def _choose_evaluator(state: PageState, names: tuple[str, ...]) -> None:
    choose_one(state, "of", "Evaluator", names, help_text="Whose map, curve or pairs of levels are shown.")
