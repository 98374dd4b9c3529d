"""One question on the page: its figures with their downloads, its table, and how to read it."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from core.analysis.people.baseline import BESIDE, asked_of_people
from core.analysis.questions import Options, Question
from core.analysis.questions.papers import MEANS
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.charts.spec import Figure
from pages.views.common.answers import (
    answer,
    answer_rows,
    baseline_beside,
    corrected,
    figure_block,
    nothing,
    people_beside,
    questions,
    spoken,
)
from pages.views.common.collect import origin
from pages.views.common.downloads import data_buttons
from pages.views.common.open_runs import Signature
from pages.views.common.text import safe
from pages.views.contrast_tests.state import FILTERS

_OPENS = "A click on a mark leads to the pairs that it stands for."
_OPENS_NOTHING = "A click on a mark opens nothing: it stands for no one set of pairs."


def draw_question(
    files: Signature, scope: Narrowed, chosen: Slice, options: Options, id_: str, *, only: str = ""
) -> pd.DataFrame:
    """Draw a question; return its answer.

    Args:
        files: what the store depends on.
        scope: whose scores.
        chosen: the part of them that the filters leave.
        options: what the reader set.
        id_: of the question.
        only: the family whose rows are shown; empty for all.
    """
    question = questions(files, scope)[id_]
    frame = answered(files, scope, chosen, options, question)
    frame = frame[frame["family"] == only].reset_index(drop=True) if only else frame
    if frame.empty:
        nothing(question.title)
        return frame
    for drawing in question.figures:
        figure = drawing.figure(frame)
        if len(figure.frame):
            draw_figure(figure, frame, drawing.id, title=drawing.title, note=drawing.note)
    draw_rows(asked_of_people(question, frame), frame)
    return frame


def answered(files: Signature, scope: Narrowed, chosen: Slice, options: Options, question: Question) -> pd.DataFrame:
    """The answer to a question; what the reader set and it does not ask for changes nothing."""
    usual = Options()
    own = Options(known=options.known if "known" in question.asks else usual.known,
                  family=options.family if "family" in question.asks else usual.family)  # fmt: skip
    found = answer(files, scope, chosen, question.id, own)
    if question.id in BESIDE:
        return baseline_beside(files, scope, chosen, own, found)
    return people_beside(files, scope, chosen, own, found) if question.id == MEANS[0] else found


def draw_figure(
    figure: Figure, frame: pd.DataFrame | Callable[[], pd.DataFrame], stem: str, *, title: str, note: str = ""
) -> None:
    """Draw a figure under its title with the menu of its files, and how to read it beneath.

    Args:
        figure: to be drawn.
        frame: the data behind it, or a function that makes them.
        stem: name of the files.
        title: in plain words.
        note: how to read it.
    """
    chosen, scope = _behind()
    figure_block(figure, frame, stem, title=title, alt=f"{title}: {spoken(figure)}", chosen=chosen, scope=scope)
    click = _OPENS if "opens" in figure.frame else _OPENS_NOTHING
    st.caption(safe(f"{note} {click}".strip(), limit=700))


def _behind() -> tuple[dict[str, str], dict[str, str]]:
    """Link parameters of the page's filters, and of whose scores its figures are."""
    own = origin()
    if own is None:
        return {}, {}
    (whose,) = own.scopes
    scope = {"run": ",".join(whose.run_ids), "subject": whose.subject, "language": whose.language}
    return {name: text for name, text in own.state.wanted().items() if name in FILTERS}, scope


def draw_rows(question: Question, frame: pd.DataFrame, *, files: Callable[[], pd.DataFrame] | None = None) -> None:
    """Draw the table of an answer with its files and how to read it.

    Args:
        question: whose columns are shown.
        frame: the answer.
        files: makes the rows that its files hold; None: those that are shown.
    """
    if not question.columns:
        return
    if not question.figures:
        st.markdown(f"**{safe(question.title)}**")
    answer_rows(question, frame, measure="percent", several=False)
    with st.container(horizontal=True, vertical_alignment="center"):
        data_buttons(frame if files is None else files, question.id, key=f"contrast.{question.id}")
        st.caption(safe(" ".join(filter(None, (corrected(question, frame), question.note))), limit=2000))
