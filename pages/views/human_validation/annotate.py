"""The annotator's view: one item a screen, answered by keys or by touch, on the disk before the next one shows."""

import math
import time
from collections.abc import Callable

import streamlit as st

from core.errors import InvariscopeError, NotAvailable
from core.human.definition import ORIGINAL, VARIANT
from core.human.instructions import instructions
from core.human.kinds import PREFERENCE, SIDES, Answer, Question, Value
from core.human.ledger import OPEN, SKIP_REASONS
from core.human.studies import COMMENT_LIMIT, Place, Refused, Study, Superseded
from pages.views.common.access import takes_annotators
from pages.views.common.text import safe
from pages.views.human_validation.clock import client_time, draw_clock
from pages.views.human_validation.desk import desk

TOO_SOON = 0.3
"""Seconds after an item appeared in which an answer is a held key, not a judgement."""

AHEAD = 2


def draw_annotator(token: str) -> None:
    """Draw an annotator's screen, and nothing else."""
    if not takes_annotators():
        st.title("Annotation", anchor=False)
        st.error("This server is not set up for annotation; tell the person who sent you the link.")
        return
    _screen(token)


@st.fragment
def _screen(token: str) -> None:
    with st.container(key="study_screen"):
        _draw_checked(token)


def _draw_checked(token: str) -> None:
    try:
        study, annotator = desk().whose(token)  # in every run: a link can be revoked meanwhile
        _draw(study, annotator, token)
    except Refused as error:
        st.title("Annotation", anchor=False)
        st.error(safe(str(error), limit=400), icon=":material/link_off:")
    except InvariscopeError:
        st.title("Annotation", anchor=False)
        st.error("The study cannot be shown now. Nothing that you answered is lost; tell the person who sent you the "
                 "link, and try again later.")  # fmt: skip


def _draw(study: Study, annotator: str, token: str) -> None:
    state = study.state()
    if not state.annotators[annotator].begun:
        _draw_instructions(study, token)
        return
    place = study.place(annotator, at=st.session_state.get("study.at"))
    _draw_progress(place)
    _draw_message()
    if state.status != OPEN:
        st.title("The study is paused" if state.status == "paused" else "The study is closed", anchor=False)
        st.markdown(f"Thank you. {len(state.annotators[annotator].done)} of your answers are kept. "
                    + ("Come back with the same link later." if state.status == "paused" else ""))  # fmt: skip
        return
    if place.item is None:
        st.title("Done, thank you", anchor=False)
        st.markdown("There is nothing left to judge for you. You may close this page.")
        _draw_moves(study, place, token)
        return
    _note_shown(place)
    try:
        _draw_item(study, place, token)
    except NotAvailable:
        st.error("The pictures cannot be shown now. Nothing that you answered is lost; tell the person who sent you "
                 "the link.")  # fmt: skip
        return
    _draw_moves(study, place, token)
    draw_clock(place.item.id)
    desk().make_ahead(study, study.next_items(annotator, 1 + AHEAD)[1:])


def _draw_instructions(study: Study, token: str) -> None:
    st.title("Before you begin", anchor=False)
    _instruct(study)
    st.button("Begin", type="primary", shortcut="Enter", on_click=_begin, args=(token,), key="study.begin")


def _instruct(study: Study) -> None:
    kind = study.definition.asked
    told = instructions(kind.name)
    examples = study.definition.examples
    if examples:
        st.header("Examples", anchor=False)
        cells = st.grid(min(len(examples), 3), min_column_width=240, gap="medium")
        for number, example in enumerate(examples, start=1):
            with cells.container(border=True, key=f"study_example_{number}"):
                try:
                    st.image(desk().example(study, example), alt=f"Example {number}", width="stretch")
                except NotAvailable:
                    st.caption("The picture of this example cannot be shown.")
                st.markdown(f"“{safe(example.caption)}”")
                label = kind.scale[example.value - kind.lowest]
                st.markdown(f"**{label.capitalize()}**: {safe(example.why)}")
    st.header(told.title, anchor=False)
    st.markdown("\n".join(f"{number}. {safe(step, limit=400)}" for number, step in enumerate(told.steps, start=1)))
    st.markdown("\n".join(f"- {safe(rule, limit=400)}" for rule in told.rules))
    st.markdown("Answer with the keys that the buttons show, or tap them. Every answer is saved at once; you may stop "
                "at any time and go on later, on any device, with the same link.")  # fmt: skip


def _draw_progress(place: Place) -> None:
    """Say how far they are, without a clock, which would press."""
    told = f"Item {min(place.number, place.total)} of {place.total} · {place.done} done"
    st.progress(place.done / place.total if place.total else 1.0, text=told)


def _draw_message() -> None:
    message = st.session_state.pop("study.message", "")
    if message:
        st.info(safe(message, limit=300), icon=":material/info:")


def _note_shown(place: Place) -> None:
    """Remember when the item appeared, by a clock that does not jump."""
    assert place.item is not None
    shown = st.session_state.get("study.shown")
    if shown is None or shown[0] != place.item.id:
        st.session_state["study.shown"] = (place.item.id, time.monotonic())


def _draw_item(study: Study, place: Place, token: str) -> None:
    item, kind = place.item, study.definition.asked
    assert item is not None
    versions = {SIDES[0]: place.left}
    if kind.sides == 2:
        versions[SIDES[1]] = VARIANT if place.left == ORIGINAL else ORIGINAL
    pictures = desk().pictures(study, item)  # as PNG: by itself Streamlit would make lossy copies, in every run
    shared_picture = kind.sides == 2 and item.edits == "caption"
    if shared_picture or kind.sides == 1:
        with st.container(key="study_shared", horizontal_alignment="center"):
            st.image(pictures.of(place.left), alt="The picture to judge", width="content", output_format="PNG")
    if kind.sides == 1 or not shared_picture:
        _draw_caption(item.caption(place.left), key="study_caption")
    if kind.sides == 1:
        _draw_question(kind.questions[0], place, token)
        return
    cells = st.columns(2, gap="medium")
    for cell, (side, version) in zip(cells, versions.items(), strict=True):
        with cell.container(border=True, key=f"study_side_{side}"):
            if shared_picture:
                _draw_caption(item.caption(version), key=f"study_caption_{side}", head=side)
            else:
                st.markdown(f"**{side}**")
                st.image(pictures.of(version), alt=f"Picture of version {side}", width="stretch", output_format="PNG")
            _draw_question(kind.question(side), place, token)
    _draw_question(kind.question(PREFERENCE), place, token, ready=_judged(place))


def _draw_caption(text: str, *, key: str, head: str = "") -> None:
    with st.container(key=key):
        st.markdown(f"{f'**{head}** ' if head else ''}“{safe(text, limit=2000)}”")


def _judged(place: Place) -> bool:
    """Whether both versions are judged: the preference comes after."""
    return place.entry is not None and all(side in place.entry.answers for side in SIDES)


def _draw_question(question: Question, place: Place, token: str, *, ready: bool = True) -> None:
    assert place.item is not None
    st.caption(question.text)
    with st.container(horizontal=True, gap="small", key=f"study_answers_{question.name}"):
        for answer in question.answers:
            chosen = place.entry is not None and place.entry.answers.get(question.name) == answer.value
            st.button(
                answer.label, key=f"study.{place.item.id}.{question.name}.{answer.value}", shortcut=answer.key,
                type="primary" if chosen else "secondary", width="stretch",
                disabled=not ready, on_click=_answer, args=(token, place.item.id, question.name, answer, _rows(place)),
                help=None if ready else "Judge both versions first",
            )  # fmt: skip


def _draw_moves(study: Study, place: Place, token: str) -> None:
    with st.container(horizontal=True, key="study_moves", vertical_alignment="center", gap="small"):
        st.button("Back", icon=":material/arrow_back:", shortcut="Left", key="study.back", type="tertiary",
                  on_click=_go, args=(place.back,), disabled=place.back is None)  # fmt: skip
        if place.revisited:
            st.button("Go on", icon=":material/arrow_forward:", shortcut="Right", key="study.on", type="primary",
                      on_click=_go, args=(None,))  # fmt: skip
        if place.item is not None:
            st.button("Skip", icon=":material/skip_next:", shortcut="S", key="study.skip", type="tertiary",
                      on_click=_toggle, args=("study.skipping",))  # fmt: skip
            st.button("Comment", icon=":material/comment:", shortcut="K", key="study.commenting_on", type="tertiary",
                      on_click=_toggle, args=("study.commenting",))  # fmt: skip
        st.button("Instructions", icon=":material/help:", shortcut="I", key="study.help", type="tertiary",
                  on_click=_toggle, args=("study.reading",))  # fmt: skip
    if place.item is None:
        _draw_help(study)
        return
    if st.session_state.get("study.skipping"):
        st.caption("Why do you skip this item?")
        with st.container(horizontal=True, gap="small"):
            for number, reason in enumerate(SKIP_REASONS, start=1):
                st.button(reason.capitalize(), key=f"study.skip.{place.item.id}.{number}", shortcut=f"Shift+{number}",
                          on_click=_skip, args=(token, place.item.id, reason, _rows(place)))  # fmt: skip
    commented = place.entry.comment if place.entry else ""
    if st.session_state.get("study.commenting") or commented:
        st.text_input("Comment", value=commented, key=f"study.comment.{place.item.id}", max_chars=COMMENT_LIMIT,
                      on_change=_comment, args=(token, place.item.id),
                      help="Saved when you leave the field or press Enter")  # fmt: skip
    _draw_help(study)


def _draw_help(study: Study) -> None:
    if st.session_state.get("study.reading"):
        with st.container(border=True):
            _instruct(study)


def _rows(place: Place) -> int:
    return place.entry.rows if place.entry else 0


def _toggle(name: str) -> None:
    st.session_state[name] = not st.session_state.get(name)


def _go(item: str | None) -> None:
    st.session_state["study.at"] = item
    for name in ("study.skipping", "study.commenting", "study.reading"):
        st.session_state[name] = False


def _begin(token: str) -> None:
    _do(lambda study, annotator: study.begin(annotator), token)


def _answer(token: str, item: str, question: str, answer: Answer, seen: int) -> None:
    seconds = _seconds(item)
    if seen == 0 and seconds < TOO_SOON:
        st.session_state["study.message"] = "That was faster than anyone can look; please answer again."
        return

    def write(study: Study, annotator: str) -> None:
        if not _stands(study, annotator, item, question, answer.value):
            study.answer(annotator, item, question, answer.value, seen=seen, seconds=seconds, client_time=client_time())
        if study.state().finished(annotator, item) and st.session_state.get("study.at") != item:
            _go(None)

    _do(write, token)


def _skip(token: str, item: str, reason: str, seen: int) -> None:
    def write(study: Study, annotator: str) -> None:
        study.skip(annotator, item, reason, seen=seen, seconds=_seconds(item), client_time=client_time())
        _go(None)

    _do(write, token)


def _comment(token: str, item: str) -> None:
    text = str(st.session_state.get(f"study.comment.{item}", ""))
    _do(lambda study, annotator: study.comment(annotator, item, text), token)


def _do(write: Callable[[Study, str], None], token: str) -> None:
    """Write under the token's own name; what cannot be written is one sentence on the next screen."""
    try:
        if not takes_annotators():
            return
        study, annotator = desk().whose(token)
        write(study, annotator)
    except Superseded as error:
        _go(None)
        st.session_state["study.message"] = str(error)
    except InvariscopeError as error:
        told = str(error) if isinstance(error, Refused) else "This could not be saved; try again in a moment."
        st.session_state["study.message"] = told


def _stands(study: Study, annotator: str, item: str, question: str, value: Value) -> bool:
    """Whether this very answer is there already: a key that was pressed twice says nothing new."""
    entry = study.state().entries.get((annotator, item))
    return entry is not None and entry.skipped is None and entry.answers.get(question) == value


def _seconds(item: str) -> float:
    shown = st.session_state.get("study.shown")
    return time.monotonic() - shown[1] if shown and shown[0] == item else math.nan
