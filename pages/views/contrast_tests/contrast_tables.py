"""The tables and figures of the page Contrast tests: the matrix, each question, the whole section a part at a time.

A cell of the matrix says how often a test fails, its row in the table much more, one test in depth nearly all. No part
shows how far the drop of means may lie, whose intervals take most of the time: whoever asks for a file gets them with
all else.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from core.analysis.judged_comparisons import BESIDE, asked_of_people
from core.analysis.lacks import Lack
from core.analysis.metric_breaks import judged
from core.analysis.questions import SECTIONS, Column, Options, Question
from core.analysis.questions.directional import RATES, SECTION, in_depth, matrix
from core.analysis.questions.papers import MEANS
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.analysis.verdicts import NO_CLAIM
from core.charts.spec import Figure
from core.probes.titles import family_title
from core.statistics.bootstrap import Interval
from pages.views.common.caches import KEYED
from pages.views.common.collect import origin
from pages.views.common.downloads import data_buttons
from pages.views.common.layers import draw_folded
from pages.views.common.open_runs import Signature, scores, view
from pages.views.common.shown_answers import (
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
from pages.views.common.text import safe
from pages.views.common.url_state import PageState
from pages.views.contrast_tests.contrast_state import FILTERS, choose_bar, choose_evaluator

NUMBERS = "contrast.numbers"
"""Key of the table behind the matrix, where it is folded; in the session, whether it is open."""


def cells(files: Signature, scope: Narrowed, chosen: Slice, options: Options) -> pd.DataFrame:
    """What the cells of the matrix say of the answer to :data:`core.analysis.questions.directional.RATES`.

    Where the table is open its rows are asked for in any case, and say the same.
    """
    return (shown if st.session_state.get(NUMBERS) else _cells)(files, scope, chosen, options)


@st.cache_data(hash_funcs=KEYED, max_entries=64, show_spinner="Working it out …")
def _cells(files: Signature, scope: Narrowed, chosen: Slice, options: Options) -> pd.DataFrame:
    return matrix(view(files, scope, chosen), options, depth="cells")


@st.cache_data(hash_funcs=KEYED, max_entries=64, show_spinner="Working it out …")
def of_test(files: Signature, scope: Narrowed, chosen: Slice, options: Options, family: str) -> pd.DataFrame:
    """One test; see :func:`core.analysis.questions.directional.in_depth`."""
    return in_depth(view(files, scope, chosen), options, family)


@st.cache_data(hash_funcs=KEYED, max_entries=64, show_spinner="Working it out …")
def shown(files: Signature, scope: Narrowed, chosen: Slice, options: Options) -> pd.DataFrame:
    """The whole answer but for the intervals of the drops."""
    return matrix(view(files, scope, chosen), options, depth="rows")


def whole(files: Signature, scope: Narrowed, chosen: Slice, options: Options) -> Callable[[], pd.DataFrame]:
    """What makes the answer with the intervals of the drops."""
    seen = view(files, scope, chosen)
    return lambda: matrix(seen, options)


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
    own = Options(
        known=options.known if "known" in question.asks else usual.known,
        family=options.family if "family" in question.asks else usual.family,
    )
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
    lack = Lack.of(reason)
    st.markdown(f"**{safe(question.title)}**: {safe(lack.said, limit=600)}")
    if lack.command:
        st.code(lack.command, language="shell", wrap_lines=True)


BAR = "against_bar"


def draw_matrix(state: PageState, files: Signature, scope: Narrowed, chosen: Slice, options: Options) -> None:
    """Draw the figure, and the table behind it folded away, each row held to the reader's bar."""
    question = questions(files, scope)[RATES]
    frame, every = cells(files, scope, chosen, options), whole(files, scope, chosen, options)
    if frame.empty:
        nothing(question.title)
        return
    drawing = question.figures[0]
    draw_figure(_called(drawing.figure(frame)), every, drawing.id, title=drawing.title, note=drawing.note)

    def numbers() -> None:
        most = choose_bar(state)
        beside = partial(baseline_beside, files, scope, chosen, options)
        rows = beside(shown(files, scope, chosen, options))
        asked, judged_rows = held(asked_of_people(question, rows), rows, most)
        draw_rows(asked, judged_rows, files=lambda: held(question, beside(every()), most)[1])
        state.publish()

    draw_folded("The numbers, with ties, tests and what each is taken for", numbers, key=NUMBERS)


def _called(figure: Figure) -> Figure:
    """The matrix with families by their titles, also those that a family is taken for."""
    said = {label: ", like ".join(map(family_title, words.split(", like "))) for label, words in figure.names.items()}
    return replace(figure, names=said)


def held(question: Question, frame: pd.DataFrame, most: float) -> tuple[Question, pd.DataFrame]:
    """The question and its rows with a column more: the side of a bar that the failures lie on.

    Args:
        most: failures in percent that the reader accepts.
    """
    told = Column(
        BAR,
        f"Against {most:g} %",
        kind="text",
        help="Within: the whole interval of the failures lies at or "
        "below your bar. Beyond: above it. Undecided: astride. Of too few items or sources neither is said",
    )
    places = [each.name for each in question.columns]
    after = places.index("verdict") + 1
    columns = (*question.columns[:after], told, *question.columns[after:])
    ends = zip(frame["failure"], frame["failure_low"], frame["failure_high"], frame["n"], strict=True)
    found = [Interval(value, low, high, int(n), 0.95) for value, low, high, n in ends]
    sides = [
        claim if claim in NO_CLAIM else judged(each, most) for each, claim in zip(found, frame["verdict"], strict=True)
    ]
    return replace(question, columns=columns), frame.assign(**{BAR: sides})
