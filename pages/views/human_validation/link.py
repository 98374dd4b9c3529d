"""Whose link was opened, and writing under that name alone."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from core.errors import InvariscopeError
from core.human.prolific import PID, SESSION_ID, STUDY_ID, Visit, read_visit
from core.human.studies import Refused, Study, Superseded
from pages.views.common.access import takes_annotators
from pages.views.human_validation.desk import desk


@dataclass(frozen=True, slots=True)
class Link:
    """What a session was opened with.

    Args:
        token: of an annotator, or of a study's link for Prolific.
        visit: what Prolific put into the link, or None.
    """

    token: str
    visit: Visit | None = None


def opened(token: str) -> Link:
    """The link of this session.

    Raises:
        Refused: if Prolific's id in it cannot be one.
    """
    given = {name: value for name in (PID, STUDY_ID, SESSION_ID) if (value := st.query_params.get(name)) is not None}
    return Link(token, read_visit(given))


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
