"""The way to a published evaluator that is not here: what it is, what it takes, and the job that fetches it."""

import streamlit as st

from core.errors import InvariscopeError
from core.evaluators.registry import find
from core.evaluators.weights.catalogue import Weights
from core.evaluators.weights.fetched import places
from core.evaluators.weights.published import Published
from core.jobs import jobs
from core.jobs.getting import GetRequest, get_request
from core.jobs.jobs import Job
from pages.views.common.access import may_operate, operators_only
from pages.views.common.text import safe, thousands
from pages.views.probe_lab.state import availabilities

_SAID = "run.get.said"
_FETCHED = ("hub", "https")
"""Kinds of weights that need no person to fetch them."""


def draw_get(name: str) -> None:
    """Draw what an evaluator would bring, and the button that fetches it; nothing where only a person can."""
    kind = find(name)
    if not may_operate() or not issubclass(kind, Published):
        return
    missing = [place.weights for place in places(kind.entry) if place.missing]
    if not missing or not all(each.kind in _FETCHED for each in missing):
        return
    st.caption("  \n".join(map(_told, missing)))
    st.caption(
        f"{thousands(kind.entry.parameters)} parameters, about {kind.entry.memory_mb('cpu'):,.0f} MB in memory on a "
        f"CPU. Files that hold them at four bytes each take {4e-9 * kind.entry.parameters:.1f} GB, at two bytes half "
        "of it; the publisher says which when they are asked for."
    )
    active = _active(name)
    st.button(
        "Being fetched" if active else f"Get {name}", key=f"run.get.{name}", icon=":material/download:",
        on_click=_start, args=(name,), disabled=active is not None,
        help="A job fetches the files, holds them to the published hash where there is one, and scores the publisher's "
        "example. One that is stopped goes on where it was.",
    )  # fmt: skip


def draw_said() -> None:
    """Say how the last button was answered."""
    kind, said = st.session_state.pop(_SAID, ("", ""))
    if said:
        (st.error if kind == "error" else st.success)(safe(said, limit=600))


def draw_got(job: Job) -> None:
    """Draw a job that fetched an evaluator; from now on it can be chosen."""
    assert isinstance(job.request, GetRequest)
    if not st.session_state.get(f"run.got.{job.id}"):
        st.session_state[f"run.got.{job.id}"] = True
        availabilities.clear()
    ready = availabilities().get(job.request.name)
    if ready is not None and ready.ready:
        st.caption(f"{safe(job.request.name)} is here and can be chosen.")
    elif ready is not None:
        st.caption(f"{safe(job.request.name)} has its weights, but cannot score yet: {safe(ready.reason, limit=300)}.")


def _told(known: Weights) -> str:
    said = f"{safe(known.title)} · licence {safe(known.licence)} · {safe(known.where, limit=300)}"
    return f"{said}  \n{safe(known.note, limit=300)}" if known.note else said


def _active(name: str) -> Job | None:
    return next((job for job in jobs.list_jobs()[0] if job.status in jobs.ACTIVE
                 and isinstance(job.request, GetRequest) and job.request.name == name), None)  # fmt: skip


@operators_only
def _start(name: str) -> None:
    """Put the download in line; a callback."""
    try:
        if _active(name) is not None:
            return
        job = jobs.start(get_request(name=name))
    except InvariscopeError as error:
        st.session_state[_SAID] = ("error", str(error))
        return
    st.session_state[_SAID] = ("success", f"{job.id} was put in line, among the jobs.")
