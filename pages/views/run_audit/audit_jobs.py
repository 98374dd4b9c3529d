"""The jobs: what runs, waits and ended."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Literal

import streamlit as st

from core.api.progress_lines import duration
from core.errors import InvariscopeError
from core.jobs import job_queue
from core.jobs.command_jobs import SHARE, CheckRequest, GetRequest, MeasureRequest, SuiteRequest
from core.jobs.job_queue import Job
from core.probes.rejections import UNCODED, meaning
from core.store.run_files import read_run
from pages.views.common.access import may_operate, operators_only
from pages.views.common.layers import button, tell_refused, tried
from pages.views.common.links import FAILURES, OVERVIEW, RESULTS, link_to
from pages.views.common.text import counted, safe, thousands
from pages.views.run_audit.audit_brought import draw_got
from pages.views.run_audit.own_metric import draw_checked

EVERY_S = 2.0
IDLE_EVERY_S = 20.0
"""Seconds between two looks while a job is active, and while none is."""

SHOWN = 5  # ended jobs on one page of the list

KEPT, NOT_KEPT = "; what it finished is kept", "; its result is kept once it is whole"
"""What becomes of the work of a job that is stopped, as the end of a sentence."""

AGAIN = "Its result is kept once it is whole; resume it to begin anew."

LINKS = (
    (RESULTS, "See its results", ":material/bar_chart:"),
    (FAILURES, "Its pictures", ":material/photo_library:"),
    (OVERVIEW, "Start", ":material/insights:"),
)
"""Where a complete run can be looked at; each opens on that run alone."""

_SAID = "run.jobs.said"  # session key of what a button of a card was refused
_Colour = Literal["gray", "blue", "orange", "green", "red"]
_BADGES: dict[str, tuple[str, _Colour, str]] = {
    "waiting": ("In line", "gray", ":material/hourglass_empty:"),
    "running": ("Running", "blue", ":material/play_arrow:"),
    "stopping": ("Stopping", "orange", ":material/pause:"),
    "complete": ("Complete", "green", ":material/check:"),
    "failed": ("Failed", "red", ":material/error:"),
    "cancelled": ("Cancelled", "gray", ":material/stop:"),
    "died": ("Died", "red", ":material/heart_broken:"),
}


def running() -> bool:
    """Whether a job waits or runs."""
    return _any_active(job_queue.list_jobs()[0])


def draw_jobs() -> None:
    """Draw the jobs and keep them up to date; other sessions see and change the same ones."""
    active = running()
    st.fragment(_draw, run_every=EVERY_S if active else IDLE_EVERY_S)(active)


def watch_jobs(find: Callable[[], list[Job]]) -> None:
    """Draw some jobs and keep them up to date; once none is active, the page runs again with what they made."""
    if found := find():
        active = _any_active(found)
        st.fragment(_watch, run_every=EVERY_S if active else None)(find, active)


def _watch(find: Callable[[], list[Job]], polled: bool) -> None:
    _wake()
    found = find()
    if polled and not _any_active(found):
        st.rerun()
    tell_refused(_SAID)
    for job in found:
        _draw_card(job)


def _wake() -> None:
    """Let no job stand whose worker was killed, or whose machine began anew."""
    try:
        job_queue.wake()
    except InvariscopeError as error:
        st.error(safe(str(error), limit=400))


def _draw(polled: bool) -> None:
    _wake()
    found, problems = job_queue.list_jobs()
    if _any_active(found) != polled:
        st.rerun()
    tell_refused(_SAID)
    for problem in problems:
        st.warning(safe(problem, limit=500), icon=":material/warning:")
    if stuck := job_queue.trouble():
        st.error(f"The jobs in line cannot be begun. {safe(stuck, limit=500)}")
    if not found:
        return
    st.header("Jobs", anchor=False)
    for job in found:
        if job.status in job_queue.ACTIVE:
            _draw_card(job)
    ended = [job for job in found if job.status not in job_queue.ACTIVE]
    if not ended:
        return
    pages = -(-len(ended) // SHOWN)
    page = min(st.session_state.get("run.jobs.page") or 1, pages)
    for one in ended[(page - 1) * SHOWN : page * SHOWN]:
        _draw_card(one)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        if pages > 1:
            st.pagination(pages, key="run.jobs.page")
        button(
            "Clear the list",
            "clear_all",
            "run.forget",
            _do,
            lambda: job_queue.forget([one.id for one in ended]),
            type="tertiary",
            help="Takes the jobs that have ended off this list. Their runs stay.",
        )


def _draw_card(job: Job) -> None:
    with st.container(border=True, key=f"run_job_{job.id}"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(f"**{safe(job.id)}**", width="content")
            label, colour, icon = _BADGES["stopping" if job.stopping else job.status]
            st.badge(label, color=colour, icon=icon)
        words = [safe(each, limit=120) for each in job.request.told]
        words += [f"attempt {job.state.attempt}"] if job.state.attempt > 1 else []
        st.caption(" · ".join(words))
        {"waiting": _waiting, "running": _running}.get(job.status, _ended)(job)


def _waiting(job: Job) -> None:
    line = [each.id for each in job_queue.list_jobs()[0] if each.status == "waiting"]
    place = line.index(job.id) + 1 if job.id in line else 1
    st.caption("Next in line" if place == 1 else f"Number {place} in line")
    _buttons(job, cancel=True)


def _running(job: Job) -> None:
    told = job.progress
    begun = _seconds(job.state.started)
    spent = f"{duration(max(time.time() - begun, 0))} passed" if begun is not None else ""
    if told is None or told.phase == "loading":
        loads = safe(told.at_work) if told and told.at_work else "the models"
        st.progress(0.0, text=f"{f'Loading {loads}' if told else 'Reading its files'} … {spent}")
    elif told.phase == "captions":
        st.progress(told.share, text=" · ".join(filter(None, (f"Reading the captions … {spent}", safe(told.at_work)))))
    else:
        left = told.left_s(time.time())
        words = [_done(job, told.done, told.total), safe(told.at_work), spent]
        words += [f"about {duration(left)} left"] if left is not None and told.done < told.total else []
        st.progress(told.share, text=" · ".join(each for each in words if each))
    if job.stopping:
        st.caption(f"It finishes the batch that it is at, then stops{KEPT if job.request.keeps else NOT_KEPT}.")
    _buttons(job, cancel=not job.stopping)


def _ended(job: Job) -> None:
    if job.status == "complete":
        _complete(job)
    elif job.status == "failed":
        st.error(safe(job.last_line or "It ended without a word.", limit=500))
    elif job.status == "died":
        st.warning(
            "Its process ended without a word: it was killed, or the machine went down. "
            + ("What it finished is kept; resume it to go on." if job.request.keeps else AGAIN)
        )
    elif job.state.cancel is None:
        st.warning(safe(job.last_line or "It was interrupted.", limit=500))
    if job.status == "cancelled":
        told, done = job.progress, "fetched" if isinstance(job.request, GetRequest) else "scored"
        if not job.request.keeps:
            st.caption(AGAIN)
        else:
            st.caption(
                f"{_done(job, told.done, told.total)} done; resume it to go on."
                if told and told.done
                else f"Nothing was {done} yet; resume it to begin."
            )
    _buttons(job, resume=job.status in job_queue.RESUMABLE, ended=True)


def _done(job: Job, done: int, total: int) -> str:
    return f"{done} %" if job.request.unit == SHARE else f"{thousands(done)} of {counted(total, job.request.unit)}"


def _complete(job: Job) -> None:
    if isinstance(job.request, MeasureRequest):
        st.caption(f"Took {_took(job)}. Calibration shows it beside what holds by construction.")
        query = {"evaluator": job.request.evaluator, "reading": job.request.reading}
        link_to("calibration", "Calibration", icon=":material/tune:", query_params=query)
    elif isinstance(job.request, SuiteRequest):
        st.caption(f"Took {_took(job)}. Suites shows what the evaluators reach.")
        link_to("suites", "Suites", icon=":material/fact_check:")
    elif isinstance(job.request, GetRequest):
        draw_got(job)
    elif isinstance(job.request, CheckRequest):
        st.caption(f"Took {_took(job)}.")
        draw_checked(job.request, key=f"run.checked.{job.id}")
    else:
        with suppress(InvariscopeError):
            counts = read_run(job.run_folder).manifest["counts"]
            null = counts.get("scores_null")
            words = [
                counted(counts["rows"], "score"),
                *([f"{thousands(null)} of them without a value"] if null else []),
            ]
            st.caption(f"{', '.join(words)} · {counted(counts['items_kept'], 'item')} · took {_took(job)}")
            coded = {code: number for code, number in counts.get("scores_null_by_code", {}).items() if code != UNCODED}
            if reasons := "; ".join(f"{meaning(code)} ({thousands(number)})" for code, number in coded.items()):
                st.caption(f"Why some have no value: {reasons}.")
        with st.container(horizontal=True):
            for page, label, icon in LINKS:
                link_to(page, label, icon=icon, query_params={"run": job.id})


def _buttons(job: Job, *, cancel: bool = False, resume: bool = False, ended: bool = False) -> None:
    if not may_operate():
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if cancel:
            hint = f"Stops as Ctrl-C would{KEPT if job.request.keeps else NOT_KEPT}."
            button("Cancel", "stop", f"run.cancel.{job.id}", _do, lambda: job_queue.cancel(job.id), help=hint)
        if resume:
            hint = (
                "Goes on where it was."
                if isinstance(job.request, GetRequest)
                else ("Goes on where it was, to the very same scores." if job.request.keeps else AGAIN)
            )
            button("Resume", "play_arrow", f"run.resume.{job.id}", _do, lambda: job_queue.resume(job.id), help=hint)
        if ended:
            hint = "The run stays." if job.request.keeps and job.request.unit != SHARE else "What it made stays."
            key, looks = f"run.forget.{job.id}", {"type": "tertiary", "help": hint}
            button("Remove from the list", "", key, _do, lambda: job_queue.forget([job.id]), **looks)
        shown = st.toggle("Log", key=f"run.log.{job.id}", help="The last lines that it said.")
    if shown:
        st.code(job.log(lines=60) or "It has said nothing yet.", language=None, wrap_lines=True, height=240)
        st.caption("In a shell:")
        st.code(job.request.shell(resume=job.state.attempt > 1 or ended), language="shell", wrap_lines=True)


@operators_only
def _do(action: Callable[[], object]) -> None:
    tried(action, _SAID)


def _any_active(found: Sequence[Job]) -> bool:
    return any(job.status in job_queue.ACTIVE for job in found)


def _took(job: Job) -> str:
    begun, over = _seconds(job.state.started), _seconds(job.state.ended)
    return "—" if begun is None or over is None else duration(max(over - begun, 0))


def _seconds(moment: str | None) -> float | None:
    try:
        return None if moment is None else datetime.fromisoformat(moment).timestamp()
    except ValueError:
        return None
