"""Before an annotator's votes and after: whose link it is, consent, instructions, practice, one item, the ends."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import streamlit as st

from core.errors import InvariscopeError, NotAvailable
from core.features.human import prolific
from core.features.human.definition import ORIGINAL, VARIANT, StudyItem
from core.features.human.entrance import PREFERRED, Exercise
from core.features.human.first_steps import agree, instructions, lesson, practise, said_in_practice
from core.features.human.kinds import PREFERENCE, RATING, SIDES, TIE, Answer, Kind, Question, Value
from core.features.human.ledger import Annotator, Ledger
from core.features.human.studies import Refused, Study, Superseded
from pages.views.common.access import takes_annotators
from pages.views.common.layers import button
from pages.views.common.text import counted, safe
from pages.views.human_validation.study_desk import desk


@dataclass(frozen=True, slots=True)
class Link:
    """What a session was opened with."""

    token: str  # of an annotator, or of a study's link for Prolific
    visit: prolific.Visit | None = None  # what Prolific put into the link, or None


def opened(token: str) -> Link:
    """The link of this session. Raises Refused if Prolific's id in it cannot be one."""
    given = {
        name: value
        for name in (prolific.PID, prolific.STUDY_ID, prolific.SESSION_ID)
        if (value := st.query_params.get(name)) is not None
    }
    return Link(token, prolific.read_visit(given))


def go(item: str | None) -> None:
    """Show an item of theirs again, or with None the next one."""
    st.session_state["study.at"] = item
    for name in ("study.skipping", "study.commenting", "study.reading"):
        st.session_state[name] = False


def do(write: Callable[[Study, str], None], link: Link) -> None:
    """Write under the link's own name; what cannot be written is one sentence on the next screen."""

    def known(study: Study, annotator: str | None) -> None:
        if annotator is not None:
            write(study, annotator)

    do_as_anyone(known, link)


def do_as_anyone(write: Callable[[Study, str | None], None], link: Link) -> None:
    """The same; who comes from Prolific for the first time is nobody yet."""
    try:
        if not takes_annotators():
            return
        study, annotator = desk().whose(link.token, link.visit)
        write(study, annotator)
    except Superseded as error:
        go(None)
        st.session_state["study.message"] = str(error)
    except InvariscopeError as error:
        told = str(error) if isinstance(error, Refused) else "This could not be saved; try again in a moment."
        st.session_state["study.message"] = told


def draw_item(study: Study, item: StudyItem, left: str, draw_question: Callable[[Question], None]) -> None:
    """Draw an item. ``draw_question``: draws what stands below a version, or below both. Raises NotAvailable if its
    pictures cannot be made any more."""
    kind = study.definition.asked
    pictures = desk().pictures(study, item)  # as PNG: by itself Streamlit would make lossy copies, in every run
    shared_picture = kind.sides == 2 and item.edits == "caption"
    if shared_picture or kind.sides == 1:
        with st.container(key="study_shared", horizontal_alignment="center"):
            st.image(pictures.of(left), alt="The picture to judge", width="content", output_format="PNG")
    if kind.sides == 1 or not shared_picture:
        _draw_caption(item.caption(left), key="study_caption")
    if kind.sides == 1:
        draw_question(kind.questions[0])
        return
    cells = st.columns(2, gap="medium")
    for cell, side, version in zip(cells, SIDES, (left, _other(left)), strict=True):
        with cell.container(border=True, key=f"study_side_{side}"):
            if shared_picture:
                _draw_caption(item.caption(version), key=f"study_caption_{side}", head=side)
            else:
                st.markdown(f"**{side}**")
                st.image(pictures.of(version), alt=f"Picture of version {side}", width="stretch", output_format="PNG")
            draw_question(kind.question(side))
    draw_question(kind.question(PREFERENCE))


def _draw_caption(text: str, *, key: str, head: str = "") -> None:
    with st.container(key=key):
        st.markdown(f"{f'**{head}** ' if head else ''}“{safe(text, limit=2000)}”")


STOP = "On Prolific, please return your submission (“Stop without completing”)."


def draw_newcomer(study: Study, link: Link) -> None:
    """Draw what a participant of Prolific meets of whom nothing is kept yet. Raises Refused if nothing is left to do
    for them."""
    state = study.state()
    prolific.check_room(study)
    if state.consent is not None:
        draw_consent(study, None, link)
    else:
        draw_instructions(study, link)


def draw_consent(study: Study, annotator: Annotator | None, link: Link) -> None:
    """Draw the text of consent, or what stands there for who declined."""
    consent = study.state().consent
    assert consent is not None
    if st.session_state.get("study.declined") == consent.digest:
        st.title("You do not take part", anchor=False)
        if annotator is not None and annotator.voted:
            st.markdown(
                "Thank you for reading. This visit stored nothing. What you answered before is kept; if it shall "
                "not count, tell the person who sent you the link."
            )
        else:
            st.markdown("Thank you for reading. Nothing about you was stored. You may close this page.")
        if link.visit is not None:
            st.markdown(STOP)
        st.button("Read it again", key="study.reread", on_click=_decline, args=(None,), type="tertiary")
        return
    st.title("Do you agree to take part?", anchor=False)
    if annotator is not None and annotator.accepted is not None:
        st.caption("The text was changed since you agreed to it; please read it again.")
    with st.container(border=True, key="study_consent"):
        for block in consent.text.split("\n\n"):
            st.markdown("  \n".join(safe(line, limit=len(line) + 1) for line in block.split("\n")))
    with st.container(horizontal=True, gap="small"):
        st.button("I agree", type="primary", key="study.agree", on_click=_agree, args=(link, consent.digest))
        st.button("I do not agree", key="study.decline", on_click=_decline, args=(consent.digest,))


def draw_instructions(study: Study, link: Link) -> None:
    """Draw what is read before the first item."""
    st.title("Before you begin", anchor=False)
    draw_rules(study)
    st.button("Begin", type="primary", shortcut="Enter", on_click=_begin, args=(link,), key="study.begin")


def draw_rules(study: Study) -> None:
    """Draw the task, the questions as they are asked and how to judge, then the examples."""
    kind = study.definition.asked
    told = instructions(kind.name)
    st.header(told.title, anchor=False)
    st.markdown(" ".join(safe(step, limit=400) for step in told.steps))
    st.markdown("\n".join(f"{number}. {_asked(kind, each)}" for number, each in enumerate(kind.questions, start=1)))
    st.markdown("\n".join(f"- {safe(rule, limit=400)}" for rule in told.rules))
    examples = study.definition.examples
    if examples:
        st.header("Examples", anchor=False)
        cells = st.grid(min(len(examples), 3), min_column_width=240, gap="small")
        for number, example in enumerate(examples, start=1):
            with cells.container(border=True, height="stretch", key=f"study_example_{number}"):
                try:
                    st.image(desk().example(study, example), alt=f"Example {number}", width="stretch")
                except NotAvailable:
                    st.caption("The picture of this example cannot be shown.")
                st.markdown(f"“{safe(example.caption)}”")
                label = kind.scale[example.value - kind.lowest]
                st.markdown(f"**{label.capitalize()}**: {safe(example.why)}")
    st.markdown(
        "Answer with the keys that the buttons show, or tap them. Every answer is saved at once; you may stop "
        "at any time and go on later, on any device, with the same link."
    )


def _asked(kind: Kind, question: Question) -> str:
    if question.name in SIDES:
        return f"**{question.name}**: {safe(question.text)}"
    first = kind.questions[0].answers
    after = next((f"If {each.label}: " for each in first if each.value == question.after), "")
    return f"{after}{safe(question.text)}"


SEEN = ("vertical-flip", "reposition", "reposition-ground", "horizontal-flip", "rotation")
"""Families whose edit is seen at a glance, the plainest first."""


def shown_item(study: Study) -> StudyItem:
    """The item that shows what annotators see: the first one whose edit is plain, else the first one."""
    items = [each for each in study.definition.items if not each.attention]
    plain = [each for each in items if each.family in SEEN]
    return min(plain or items[:1], key=lambda each: SEEN.index(each.family) if plain else 0)


def draw_preview(study: Study) -> None:
    """Draw what an annotator reads and an item that they may be asked about; its buttons answer nothing."""
    pair, rules = st.tabs(("An item", "Instructions"))
    with rules:
        draw_rules(study)
    item = shown_item(study)

    def dead(question: Question) -> None:
        st.caption(question.text)
        with st.container(horizontal=True, gap="small"):
            for answer in question.answers:
                name = f"study.preview.{question.name}.{answer.value}"
                st.button(answer.label, disabled=True, key=name)

    pair.caption("Preview: the buttons are off.")
    try:
        with pair, st.container(key="study_preview"):
            draw_item(study, item, study.definition.left_version("preview", item.id), dead)
    except NotAvailable as error:
        pair.caption(f"No picture can be shown here: {safe(str(error), limit=300)}")


def draw_screened(study: Study, annotator: Annotator) -> None:
    """Draw the end for who did not pass practice."""
    state = study.state()
    practice = state.practice
    assert practice is not None
    st.title("The study ends here for you", anchor=False)
    best = max(state.hits(annotator, number) or 0 for number in range(practice.tries))
    st.markdown(
        f"The practice asked for {practice.needed} right answers of {len(practice.exercises)}; you had {best}"
        f"{' at best' if practice.tries > 1 else ''}. So you cannot go on in this study. Thank you for your time. Your "
        "practice answers are kept, marked as practice; they enter no result."
    )
    if annotator.pid is None:
        st.markdown("If you think that this is a mistake, tell the person who sent you the link.")
    elif state.prolific is not None and state.prolific.screened_out:
        st.markdown("Please take this code back to Prolific: it says that you were screened out.")
        _draw_code(state.prolific.screened_out)
    else:
        st.markdown(STOP)


def draw_done(study: Study, annotator: Annotator) -> None:
    """Draw the end for who is through with everything; participants of Prolific get their code here, and only here."""
    state = study.state()
    code = prolific.completion_code(state, annotator)
    if annotator.pid is None:
        st.title("Done, thank you", anchor=False)
        st.markdown("There is nothing left to judge for you. You may close this page.")
    elif code is not None:
        st.title("Done, thank you", anchor=False)
        st.markdown("All your answers are saved. Take this code back to Prolific, so that your submission counts.")
        _draw_code(code)
    else:
        done, needed = prolific.answered(state, annotator)
        st.title("Almost done", anchor=False)
        st.markdown(
            f"You answered {counted(done, 'item')} and skipped the others. The completion code needs at least {needed} "
            f"answered; go back to those that you skipped, or, if you prefer not to, stop here. {STOP}"
        )


def draw_too_late() -> None:
    """Draw what somebody meets for whom nothing is left, before they read a word of instructions."""
    st.title("Nothing is left to judge", anchor=False)
    st.markdown(
        "Every item of this study is answered or given to others, so there is none for you. Thank you for coming. "
        "Nothing that you do here is stored; if you think that this is a mistake, tell who sent you the link."
    )


def draw_not_open(study: Study, annotator: Annotator | None, link: Link) -> None:
    """Draw what stands in the place of a paused or closed study; a code that was earned is still given."""
    state = study.state()
    if annotator is not None and prolific.through(state, annotator):
        draw_done(study, annotator)
        return
    paused = state.status == "paused"
    st.title("The study is paused" if paused else "The study is closed", anchor=False)
    kept = f"{len(annotator.done)} of your answers are kept. " if annotator is not None else ""
    st.markdown(f"Thank you. {kept}{'Come back with the same link later.' if paused else ''}")
    if link.visit is not None and not paused:
        st.markdown(f"{STOP} If you answered some items already, write to the researcher through Prolific.")


def _draw_code(code: str) -> None:
    st.code(code, language=None)
    st.link_button("Return to Prolific", prolific.return_url(code), type="primary", icon=":material/open_in_new:")


def _agree(link: Link, digest: str) -> None:
    def write(study: Study, annotator: str | None) -> None:
        if annotator is not None:
            agree(study, annotator, digest)
        elif link.visit is not None:
            prolific.join(study, link.visit, agreed=digest)

    do_as_anyone(write, link)


def _decline(digest: str | None) -> None:
    st.session_state["study.declined"] = digest


def _begin(link: Link) -> None:
    def write(study: Study, annotator: str | None) -> None:
        if annotator is None and link.visit is not None:
            prolific.join(study, link.visit, agreed=None, begun=True)

    def note(study: Study, annotator: str) -> None:
        if not study.state().annotators[annotator].begun:
            study.begin(annotator)

    do_as_anyone(write, link)
    do(note, link)


_READ = "study.practised"  # item and try whose feedback is on the screen


def feedback_shown(ledger: Ledger, annotator: Annotator) -> bool:
    """Whether the annotator still reads what was right of the last practice item."""
    told = st.session_state.get(_READ)
    if told is None or told[0] not in ledger.exercises or told[1] >= len(annotator.rounds):
        return False
    return len(annotator.rounds[told[1]].get(told[0], {})) == len(ledger.practised)


def draw_practice(study: Study, annotator: Annotator, link: Link) -> None:
    """Draw the feedback on the last practice item, or the next one. Raises NotAvailable if its pictures cannot be made
    any more."""
    state = study.state()
    if feedback_shown(state, annotator):
        name, attempt = st.session_state[_READ]
        exercise, item = state.exercises[name], state.by_id[name]
        misses = exercise.misses(said_in_practice(state, annotator, name, attempt))
        number, many = list(state.exercises).index(name) + 1, len(state.exercises)
        st.progress(number / many, text=f"Practice {number} of {many} · nothing here counts")
        told = f" {safe(exercise.why, limit=400)}" if exercise.why else ""
        if misses:
            st.warning(f"**Not quite.**{told}", icon=":material/close:")
        else:
            st.success(f"**Right.**{told}", icon=":material/check:")
        left, answers = study.definition.left_version(annotator.id, name), annotator.rounds[attempt][name]
        say = partial(_draw_said, study.definition.asked, exercise=exercise, left=left, answers=answers)
        draw_item(study, item, left, say)
        go_on = st.session_state.pop
        button("Go on", "arrow_forward", "study.practice.on", go_on, _READ, None, type="primary", shortcut="Enter")
        return
    now = lesson(study, annotator.id)
    assert now.exercise is not None
    practice = state.practice
    assert practice is not None
    st.progress((now.number - 1) / now.total, text=f"Practice {now.number} of {now.total} · nothing here counts")
    if now.number == 1 and not now.answers:
        if now.attempt:
            hits = state.hits(annotator, now.attempt - 1)
            more_tries = practice.tries - now.attempt
            more = "this is your last try" if more_tries == 1 else f"you have {more_tries} tries left"
            st.info(
                f"You had {hits} of {now.total} right; at least {practice.needed} are needed. Once more, please: "
                f"{more}.",
                icon=":material/replay:",
            )
        elif practice.needed:
            tries = counted(practice.tries, "try", "tries")
            st.caption(f"{practice.needed} of {now.total} must be right to go on; you have {tries}.")
    item = study.definition.item(now.exercise.item)
    left = study.definition.left_version(annotator.id, item.id)

    def draw_question(question: Question) -> None:
        act = partial(_answer, link, item.id, question.name, now.attempt)
        closed = question.name in now.answers
        draw_answers(question, f"try{now.attempt}.{item.id}", now.answers, act, closed=closed)

    draw_item(study, item, left, draw_question)


def draw_answers(
    question: Question, key: str, given: Mapping[str, Value], act: Callable[[Answer], None], *, closed: bool = False
) -> None:
    """Draw a question with its answers to press; which version is preferred waits for both versions' own. ``given``:
    what was answered so far, by name of the question; ``closed``: it is not asked any more."""
    ready = question.name != PREFERENCE or all(side in given for side in SIDES)
    st.caption(question.text)
    with st.container(horizontal=True, gap="small", key=f"study_answers_{question.name}"):
        for answer in question.answers:
            st.button(
                answer.label,
                key=f"study.{key}.{question.name}.{answer.value}",
                shortcut=answer.key,
                type="primary" if given.get(question.name) == answer.value else "secondary",
                width="stretch",
                disabled=closed or not ready,
                on_click=act,
                args=(answer,),
                help=None if ready else "Judge both versions first",
            )


def _draw_said(kind: Kind, question: Question, exercise: Exercise, left: str, answers: dict[str, Value]) -> None:
    # what of the item the question is about: a version, or which is preferred
    about = PREFERRED if question.name == PREFERENCE else left if question.name == SIDES[0] else _other(left)
    if question.name == RATING:
        about = next(iter(exercise.right))
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


def _word(kind: Kind, question: Question, value: Value, left: str) -> str:
    if question.name != PREFERENCE:
        return kind.scale[int(value) - kind.lowest]
    side = value if value == TIE else SIDES[0] if value == left else SIDES[1]
    return next(each.label for each in question.answers if each.value == side)


def _other(version: str) -> str:
    return VARIANT if version == ORIGINAL else ORIGINAL


def _answer(link: Link, item: str, question: str, attempt: int, answer: Answer) -> None:
    def write(study: Study, annotator: str) -> None:
        practise(study, annotator, item, question, answer.value, attempt=attempt)
        st.session_state[_READ] = (item, attempt)

    do(write, link)
