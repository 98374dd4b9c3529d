"""Every table of the section, a part at a time, and the selectivity."""

from dataclasses import replace

import streamlit as st

from core.analysis.questions import SECTIONS, Options, Question
from core.analysis.questions.directional import SECTION
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from pages.views.common.answers import questions
from pages.views.common.open_runs import Signature, scores
from pages.views.common.text import safe
from pages.views.common.url_state import PageState
from pages.views.contrast_tests.draw import draw_question
from pages.views.contrast_tests.state import choose_evaluator

_COMMAND = "python -m core"


def draw_section(
    state: PageState, files: Signature, scope: Narrowed, chosen: Slice, options: Options, section: str
) -> None:
    """Draw every question of a section that the scores can answer, and say what the others lack."""
    st.markdown(f"## {SECTIONS[section][1]}")
    asked = [each for each in questions(files, scope).values() if each.section == section]
    _draw(state, files, scope, chosen, options, asked)


def draw_tables(state: PageState, files: Signature, scope: Narrowed, chosen: Slice, options: Options) -> None:
    """Draw the choice of a part, and its questions."""
    known = [each for each in questions(files, scope).values() if each.section == SECTION]
    parts = list(dict.fromkeys(each.part for each in known))
    part = state.choose(st.container(width=280), "part", "Tables of", parts)
    _draw(state, files, scope, chosen, options, [each for each in known if each.part == part])


def draw_responses(state: PageState, files: Signature, scope: Narrowed) -> None:
    """Draw the tables of a scope without a directional probe; no answer of theirs is a failure."""
    table = scores(files, scope)
    there = [each for each in questions(files, scope).values() if each.section == SECTION and not each.needs(table)]
    if there:
        st.divider()
        _draw(state, files, scope, Slice(), Options(), there)


def _draw(
    state: PageState, files: Signature, scope: Narrowed, chosen: Slice, options: Options, asked: list[Question]
) -> None:
    table = scores(files, scope)
    lacking = {each.id: each.needs(table) for each in asked}
    there = [each for each in asked if not lacking[each.id]]
    picked = [each for each in there if "evaluator" in each.pick]
    for question in there:
        own = chosen
        if question in picked:
            name = choose_evaluator(state, table) if question is picked[0] else state.get("of")
            own = replace(chosen, evaluators=(name if name in table.evaluators else table.evaluators[0],))
        draw_question(files, scope, own, options, question.id)
    missing = [each for each in asked if lacking[each.id]]
    if missing:
        with st.expander("What these runs cannot give", icon=":material/library_add:"):
            for question in missing:
                _draw_missing(question, lacking[question.id])


def _draw_missing(question: Question, reason: str) -> None:
    said, command, rest = reason.partition(_COMMAND)
    st.markdown(f"**{safe(question.title)}**: {safe(said.rstrip(' :;'), limit=600)}")
    if command:
        st.code(f"{command}{rest}", language="shell", wrap_lines=True)
