"""Human validation: coordinators see the studies, annotators one item a screen.

It is answered by keys or by touch, and on the disk before the next one shows.
"""

import math
import time
from functools import partial

import streamlit as st

from core.errors import InvariscopeError, NotAvailable
from core.features.human.entrance import Stage
from core.features.human.kinds import Answer, Question
from core.features.human.ledger import OPEN, SKIP_REASONS
from core.features.human.studies import COMMENT_LIMIT, Place, Refused, Study
from pages.views.common.access import draw_sign_in, may_operate, takes_annotators
from pages.views.common.layers import button
from pages.views.common.page_head import draw_title
from pages.views.common.text import component, safe
from pages.views.human_validation import annotator_steps as steps
from pages.views.human_validation.annotator_steps import do, draw_answers, go
from pages.views.human_validation.coordinator import draw_coordinator
from pages.views.human_validation.study_desk import desk


def draw() -> None:
    """Draw the view."""
    token = st.query_params.get("token")
    if token is not None and takes_annotators():
        _screen(token)
    elif token is not None:
        st.title("Annotation", anchor=False)
        st.error("This server is not set up for annotation; tell the person who sent you the link.")
    elif may_operate():
        draw_coordinator()
    else:
        draw_title()
        st.caption("Do people find the edited pairs as good as the original ones?")
        draw_sign_in()


_KEY, _OFFSET = "study.clock", "study.clock_offset"


def client_time() -> float | None:
    """The annotator's clock now, in seconds since 1970: the server's, by as much as theirs differed when they came."""
    offset = st.session_state.get(_OFFSET)
    return None if offset is None else round(time.time() + offset, 3)


_clock = component("study_clock")


def _note() -> None:
    told = getattr(st.session_state.get(_KEY), "clock", None)
    if isinstance(told, int | float) and math.isfinite(told) and 0 < told < 1e14:
        st.session_state[_OFFSET] = told / 1000 - time.time()


TOO_SOON = 0.3  # seconds after an item appeared in which an answer is a held key, not a judgement
AHEAD = 2


@st.fragment
def _screen(token: str) -> None:
    with st.container(key="study_screen"):
        try:
            link = steps.opened(token)
            study, annotator = desk().whose(token, link.visit)  # in every run: a link can be revoked meanwhile
            _draw(study, annotator, link)
        except Refused as error:
            st.title("Annotation", anchor=False)
            st.error(safe(str(error), limit=400), icon=":material/link_off:")
        except NotAvailable:
            st.error(
                "The pictures cannot be shown now. Nothing that you answered is lost; tell the person who sent you "
                "the link."
            )
        except InvariscopeError:
            st.title("Annotation", anchor=False)
            st.error(
                "The study cannot be shown now. Nothing that you answered is lost; tell the person who sent you the "
                "link, and try again later."
            )


def _draw(study: Study, annotator: str | None, link: steps.Link) -> None:
    state = study.state()
    found = state.annotators[annotator] if annotator is not None else None
    if state.status != OPEN:
        _draw_message()
        steps.draw_not_open(study, found, link)
    elif found is not None and study.has_nothing_for(found.id):
        steps.draw_too_late()
    elif found is None:
        _draw_message()
        steps.draw_newcomer(study, link)
    elif steps.feedback_shown(state, found):
        steps.draw_practice(study, found, link)
    elif (stage := state.stage(found)) is Stage.VOTES:
        place = study.place(found.id, at=st.session_state.get("study.at"))
        own = study.state().annotators[found.id]
        told = f"Item {min(place.number, place.total)} of {place.total} · {place.done} done"
        told += " · from here every answer counts" if own.rounds and not own.voted else ""
        st.progress(place.done / place.total if place.total else 1.0, text=told)
        _draw_message()
        if place.item is None:
            steps.draw_done(study, own)
            _draw_moves(study, place, link)
            return
        # remember when the item appeared, by a clock that does not jump
        shown = st.session_state.get("study.shown")
        if shown is None or shown[0] != place.item.id:
            st.session_state["study.shown"] = (place.item.id, time.monotonic())
        item, left = place.item, place.left
        steps.draw_item(study, item, left, lambda question: _draw_question(question, place, link))
        kind, given = study.definition.asked, place.entry.answers if place.entry else {}
        for question in kind.questions:
            if question.after is not None and question.name in kind.due(given):
                _draw_question(question, place, link)
        _draw_moves(study, place, link)
        _clock(key=_KEY, data={"item": item.id}, on_clock_change=_note, height="content")
        desk().make_ahead(study, study.next_items(found.id, 1 + AHEAD)[1:])
    else:
        _draw_message()
        {
            Stage.CONSENT: lambda: steps.draw_consent(study, found, link),
            Stage.INSTRUCTIONS: lambda: steps.draw_instructions(study, link),
            Stage.PRACTICE: lambda: steps.draw_practice(study, found, link),
            Stage.SCREENED: lambda: steps.draw_screened(study, found),
        }[stage]()


def _draw_message() -> None:
    if message := st.session_state.pop("study.message", ""):
        st.info(safe(message, limit=300), icon=":material/info:")


def _draw_question(question: Question, place: Place, link: steps.Link) -> None:
    assert place.item is not None
    answers = place.entry.answers if place.entry else {}
    act = partial(_answer, link, place.item.id, question.name, _rows(place))
    draw_answers(question, place.item.id, answers, act)


_TOGGLES = (
    ("Skip", "skip_next", "S", "study.skip", "study.skipping"),
    ("Comment", "comment", "K", "study.commenting_on", "study.commenting"),
    ("Instructions", "help", "I", "study.help", "study.reading"),
)
"""Label, icon, key of the keyboard, key of the button, and what of the session it turns on and off."""


def _toggle(name: str) -> None:  # as it stands at the press: a second one may come before the screen is drawn anew
    st.session_state[name] = not st.session_state.get(name)


def _draw_moves(study: Study, place: Place, link: steps.Link) -> None:
    with st.container(horizontal=True, key="study_moves", vertical_alignment="center", gap="small"):
        disabled = place.back is None
        button("Back", "arrow_back", "study.back", go, place.back, shortcut="Left", type="tertiary", disabled=disabled)
        if place.revisited:
            button("Go on", "arrow_forward", "study.on", go, None, shortcut="Right", type="primary")
        for label, icon, shortcut, key, field in _TOGGLES if place.item is not None else _TOGGLES[-1:]:
            button(label, icon, key, _toggle, field, shortcut=shortcut, type="tertiary")
    if place.item is not None and st.session_state.get("study.skipping"):
        st.caption("Why do you skip this item?")
        with st.container(horizontal=True, gap="small"):
            for number, reason in enumerate(SKIP_REASONS, start=1):
                key, given = f"study.skip.{place.item.id}.{number}", (link, place.item.id, reason, _rows(place))
                button(reason.capitalize(), "", key, _skip, *given, shortcut=f"Shift+{number}")
    commented = place.entry.comment if place.entry else ""
    if place.item is not None and (st.session_state.get("study.commenting") or commented):
        st.text_input(
            "Comment",
            value=commented,
            key=f"study.comment.{place.item.id}",
            max_chars=COMMENT_LIMIT,
            on_change=_comment,
            args=(link, place.item.id),
            help="Saved when you leave the field or press Enter",
        )
    if st.session_state.get("study.reading"):
        with st.container(border=True):
            steps.draw_rules(study)


def _rows(place: Place) -> int:
    return place.entry.rows if place.entry else 0


def _answer(link: steps.Link, item: str, question: str, seen: int, answer: Answer) -> None:
    seconds = _seconds(item)
    if seen == 0 and seconds < TOO_SOON:
        st.session_state["study.message"] = "That was faster than anyone can look; please answer again."
        return

    def write(study: Study, annotator: str) -> None:
        entry = study.state().entries.get((annotator, item))
        if not (entry is not None and entry.skipped is None and entry.answers.get(question) == answer.value):
            study.answer(annotator, item, question, answer.value, seen=seen, seconds=seconds, client_time=client_time())
        if study.state().finished(annotator, item) and st.session_state.get("study.at") != item:
            go(None)

    do(write, link)


def _skip(link: steps.Link, item: str, reason: str, seen: int) -> None:
    def write(study: Study, annotator: str) -> None:
        study.skip(annotator, item, reason, seen=seen, seconds=_seconds(item), client_time=client_time())
        go(None)

    do(write, link)


def _comment(link: steps.Link, item: str) -> None:
    text = str(st.session_state.get(f"study.comment.{item}", ""))
    do(lambda study, annotator: study.comment(annotator, item, text), link)


def _seconds(item: str) -> float:
    shown = st.session_state.get("study.shown")
    return time.monotonic() - shown[1] if shown and shown[0] == item else math.nan
