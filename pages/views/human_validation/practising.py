"""Practice on the annotator's screen: an item, its questions, and then what was right and why."""

import streamlit as st

from core.human.definition import ORIGINAL, VARIANT, StudyItem
from core.human.entrance import PREFERRED, Exercise
from core.human.kinds import PREFERENCE, RATING, SIDES, TIE, Answer, Kind, Question, Value
from core.human.ledger import Annotator, Ledger
from core.human.practice import Lesson, lesson, practise, said_in_practice
from core.human.studies import Study
from pages.views.common.text import counted, safe
from pages.views.human_validation.item import draw_item
from pages.views.human_validation.link import Link, do

_READ = "study.practised"
"""Item and try whose feedback is on the screen."""


def feedback_shown(ledger: Ledger, annotator: Annotator) -> bool:
    """Whether the annotator still reads what was right of the last practice item."""
    told = st.session_state.get(_READ)
    if told is None or told[0] not in ledger.exercises or told[1] >= len(annotator.rounds):
        return False
    return len(annotator.rounds[told[1]].get(told[0], {})) == len(ledger.questions)


def draw_practice(study: Study, annotator: Annotator, link: Link) -> None:
    """Draw the feedback on the last practice item, or the next one.

    Raises:
        NotAvailable: if its pictures cannot be made any more.
    """
    if feedback_shown(study.state(), annotator):
        _draw_feedback(study, annotator)
        return
    now = lesson(study, annotator.id)
    assert now.exercise is not None
    _draw_head(study, annotator, now)
    item = study.definition.item(now.exercise.item)
    left = study.definition.left_version(annotator.id, item.id)
    draw_item(study, item, left, lambda question: _draw_question(question, item, now, link))


def _draw_head(study: Study, annotator: Annotator, now: Lesson) -> None:
    practice = study.state().practice
    assert practice is not None
    st.progress((now.number - 1) / now.total, text=f"Practice {now.number} of {now.total} · nothing here counts")
    if now.number > 1 or now.answers:
        return
    if now.attempt:
        hits = study.state().hits(annotator, now.attempt - 1)
        left = practice.tries - now.attempt
        more = "this is your last try" if left == 1 else f"you have {left} tries left"
        st.info(
            f"You had {hits} of {now.total} right; at least {practice.needed} are needed. Once more, please: {more}.",
            icon=":material/replay:",
        )
    elif practice.needed:
        tries = counted(practice.tries, "try", "tries")
        st.caption(f"{practice.needed} of {now.total} must be right to go on; you have {tries}.")


def _draw_question(question: Question, item: StudyItem, now: Lesson, link: Link) -> None:
    st.caption(question.text)
    said = now.answers.get(question.name)
    ready = question.name != PREFERENCE or all(side in now.answers for side in SIDES)
    with st.container(horizontal=True, gap="small", key=f"study_answers_{question.name}"):
        for answer in question.answers:
            st.button(
                answer.label, key=f"study.try{now.attempt}.{item.id}.{question.name}.{answer.value}",
                shortcut=answer.key, type="primary" if said == answer.value else "secondary", width="stretch",
                disabled=not ready or said is not None, on_click=_answer,
                args=(link, item.id, question.name, answer, now.attempt),
                help=None if ready else "Judge both versions first",
            )  # fmt: skip


def _draw_feedback(study: Study, annotator: Annotator) -> None:
    state = study.state()
    name, attempt = st.session_state[_READ]
    exercise, item = state.exercises[name], state.by_id[name]
    said = said_in_practice(state, annotator, name, attempt)
    misses = exercise.misses(said)
    number = list(state.exercises).index(name) + 1
    st.progress(
        number / len(state.exercises), text=f"Practice {number} of {len(state.exercises)} · nothing here counts"
    )
    told = f" {safe(exercise.why, limit=400)}" if exercise.why else ""
    if misses:
        st.warning(f"**Not quite.**{told}", icon=":material/close:")
    else:
        st.success(f"**Right.**{told}", icon=":material/check:")
    left = study.definition.left_version(annotator.id, name)
    answers = annotator.rounds[attempt][name]
    draw_item(study, item, left, lambda question: _draw_said(study.definition.asked, question, exercise, left, answers))
    st.button("Go on", type="primary", icon=":material/arrow_forward:", shortcut="Enter", key="study.practice.on",
              on_click=_go_on)  # fmt: skip


def _draw_said(kind: Kind, question: Question, exercise: Exercise, left: str, answers: dict[str, Value]) -> None:
    about = _about(question, exercise, left)
    said = next(each.label for each in question.answers if each.value == answers[question.name])
    right = exercise.right.get(about, ())
    words = [_word(kind, question, value, left) for value in right]
    st.caption(question.text)
    if not right:
        st.markdown(f"You said **{safe(said)}**; any answer is fine here.")
    elif said in words:
        st.markdown(f":material/check: You said **{safe(said)}**: right.")
    else:
        st.markdown(f":material/close: You said **{safe(said)}**; right is **{safe(' or '.join(words))}**.")


def _about(question: Question, exercise: Exercise, left: str) -> str:
    """What of an item a question is about: a version, or which is preferred."""
    if question.name == PREFERENCE:
        return PREFERRED
    if question.name == RATING:
        return next(iter(exercise.right))
    return left if question.name == SIDES[0] else _other(left)


def _word(kind: Kind, question: Question, value: Value, left: str) -> str:
    if question.name != PREFERENCE:
        return kind.scale[int(value) - kind.lowest]
    side = value if value == TIE else SIDES[0] if value == left else SIDES[1]
    return next(each.label for each in question.answers if each.value == side)


def _other(version: str) -> str:
    return VARIANT if version == ORIGINAL else ORIGINAL


def _answer(link: Link, item: str, question: str, answer: Answer, attempt: int) -> None:
    def write(study: Study, annotator: str) -> None:
        practise(study, annotator, item, question, answer.value, attempt=attempt)
        st.session_state[_READ] = (item, attempt)

    do(write, link)


def _go_on() -> None:
    st.session_state.pop(_READ, None)
