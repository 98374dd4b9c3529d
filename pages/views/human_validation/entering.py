"""Before the first vote: consent, instructions; and the ends: declined, turned away, done."""

import streamlit as st

from core.errors import NotAvailable
from core.human.consent import agree
from core.human.instructions import instructions
from core.human.ledger import Annotator, Ledger
from core.human.prolific import answered, check_room, completion_code, join, return_url, through
from core.human.studies import Study
from pages.views.common.text import counted, safe
from pages.views.human_validation.desk import desk
from pages.views.human_validation.link import Link, do, do_as_anyone

STOP = "On Prolific, please return your submission (“Stop without completing”)."


def draw_newcomer(study: Study, link: Link) -> None:
    """Draw what a participant of Prolific meets of whom nothing is kept yet.

    Raises:
        Refused: if nothing is left to do for them.
    """
    state = study.state()
    check_room(study)
    if state.consent is not None:
        draw_consent(study, None, link)
    else:
        draw_instructions(study, link)


def draw_consent(study: Study, annotator: Annotator | None, link: Link) -> None:
    """Draw the text of consent, or what stands there for who declined."""
    consent = study.state().consent
    assert consent is not None
    if st.session_state.get("study.declined") == consent.digest:
        _draw_declined(annotator, link)
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


def _draw_declined(annotator: Annotator | None, link: Link) -> None:
    st.title("You do not take part", anchor=False)
    if annotator is not None and annotator.voted:
        st.markdown("Thank you for reading. This visit stored nothing. What you answered before is kept; if it shall "
                    "not count, tell the person who sent you the link.")  # fmt: skip
    else:
        st.markdown("Thank you for reading. Nothing about you was stored. You may close this page.")
    if link.visit is not None:
        st.markdown(STOP)
    st.button("Read it again", key="study.reread", on_click=_decline, args=(None,), type="tertiary")


def draw_instructions(study: Study, link: Link) -> None:
    """Draw what is read before the first item."""
    st.title("Before you begin", anchor=False)
    draw_rules(study)
    st.button("Begin", type="primary", shortcut="Enter", on_click=_begin, args=(link,), key="study.begin")


def draw_rules(study: Study) -> None:
    """Draw the examples and the rules."""
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
    code = completion_code(state, annotator)
    if annotator.pid is None:
        st.title("Done, thank you", anchor=False)
        st.markdown("There is nothing left to judge for you. You may close this page.")
    elif code is not None:
        st.title("Done, thank you", anchor=False)
        st.markdown("All your answers are saved. Take this code back to Prolific, so that your submission counts.")
        _draw_code(code)
    else:
        _draw_too_many_skips(state, annotator)


def _draw_too_many_skips(state: Ledger, annotator: Annotator) -> None:
    done, needed = answered(state, annotator)
    st.title("Almost done", anchor=False)
    st.markdown(
        f"You answered {counted(done, 'item')} and skipped the others. The completion code needs at least {needed} "
        f"answered; go back to those that you skipped, or, if you prefer not to, stop here. {STOP}"
    )


def draw_not_open(study: Study, annotator: Annotator | None, link: Link) -> None:
    """Draw what stands in the place of a paused or closed study; a code that was earned is still given."""
    state = study.state()
    if annotator is not None and through(state, annotator):
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
    st.link_button("Return to Prolific", return_url(code), type="primary", icon=":material/open_in_new:")


def _agree(link: Link, digest: str) -> None:
    def write(study: Study, annotator: str | None) -> None:
        if annotator is not None:
            agree(study, annotator, digest)
        elif link.visit is not None:
            join(study, link.visit, agreed=digest)

    do_as_anyone(write, link)


def _decline(digest: str | None) -> None:
    st.session_state["study.declined"] = digest


def _begin(link: Link) -> None:
    def write(study: Study, annotator: str | None) -> None:
        if annotator is None and link.visit is not None:
            join(study, link.visit, agreed=None, begun=True)

    do_as_anyone(write, link)
    do(_note_begin, link)


def _note_begin(study: Study, annotator: str) -> None:
    if not study.state().annotators[annotator].begun:
        study.begin(annotator)
