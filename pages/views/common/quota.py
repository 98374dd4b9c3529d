"""How long viewers may keep the server scoring and editing within ten minutes: each session, and all together."""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial

import streamlit as st
from streamlit.runtime import exists
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.errors import NotAvailable
from core.evaluators.pool import meter_leases
from core.probes.base import Probe, Subject
from core.scoring.workbench import Workbench
from pages.views.common.access import may_operate
from pages.views.common.reader_uploads import session

VIEWER_SECONDS = "INVARISCOPE_VIEWER_SECONDS"
"""Seconds of scoring that a viewer may take within WINDOW; 0 leaves viewers what is stored."""

USUAL_SECONDS = 60.0
WINDOW = 600.0
TOGETHER = 0.5
"""Share of WINDOW that all viewers may take together: the rest is the operator's."""

Meter = Callable[[], AbstractContextManager[None]]
"""Holds what is made for a session, and counts how long it took; see :func:`metered_here`."""


class Quota:
    """Seconds that each of many took, and all together, within the last WINDOW; safe under several threads.

    Args:
        now: the clock, in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._taken: deque[tuple[float, str, float]] = deque()

    @contextmanager
    def metered(self, owner: str, each: float) -> Iterator[None]:
        """Count what is done within as the owner's.

        Args:
            owner: whose.
            each: seconds that one owner may take.

        Raises:
            NotAvailable: if the owner, or all together, took what they may; says when there is time again.
        """
        self._check(owner, each)
        begun = self._now()
        try:
            yield
        finally:
            with self._lock:
                self._taken.append((self._now(), owner, self._now() - begun))

    def _check(self, owner: str, each: float) -> None:
        if each <= 0:
            raise NotAvailable("this server scores nothing for viewers; what is stored can be looked at")
        with self._lock:
            while self._taken and self._taken[0][0] <= self._now() - WINDOW:
                self._taken.popleft()
            own = self._wait([(when, took) for when, name, took in self._taken if name == owner], each)
            everyone = self._wait([(when, took) for when, _, took in self._taken], TOGETHER * WINDOW)
        if own:
            raise NotAvailable(
                f"a viewer may keep this server busy for {each:g} s within {WINDOW / 60:g} minutes; "
                f"there is time again in {own:.0f} s"
            )
        if everyone:
            raise NotAvailable(f"other viewers keep this server busy; there is time again in {everyone:.0f} s")

    def _wait(self, taken: list[tuple[float, float]], most: float) -> float:
        """Seconds until less than ``most`` lies within the window; 0 where that is so now."""
        left = sum(took for _, took in taken)
        for when, took in taken:
            if left < most:
                return 0.0
            left -= took
            if left < most:
                return max(when + WINDOW - self._now(), 1.0)
        return 0.0


@st.cache_resource(show_spinner=False)
def quota() -> Quota:
    """The quota of this server."""
    return Quota()


def limit_viewers() -> None:
    """Have every lease of a model in this server counted, where the session that has it score is a viewer's."""
    meter_leases(_of_the_session)


def metered_here() -> Meter:
    """What holds the making of a report, a picture or a file for this session, in whatever thread it is made.

    It counts with what the session has scored, within :data:`USUAL_SECONDS` at least: what is stored can be looked at
    where a viewer may score nothing.
    """
    if may_operate():
        return nullcontext
    return partial(quota().metered, session(), max(_seconds(), USUAL_SECONDS))


def _of_the_session() -> AbstractContextManager[None]:
    if get_script_run_ctx(suppress_warning=True) is None:
        return _nobodys() if exists() else nullcontext()
    return nullcontext() if may_operate() else quota().metered(session(), _seconds())


@contextmanager
def _nobodys() -> Iterator[None]:
    raise NotAvailable("nobody is known for whom this server would score; open the page again")
    yield


def _seconds() -> float:
    try:
        return float(os.environ.get(VIEWER_SECONDS, "") or USUAL_SECONDS)
    except ValueError:
        return USUAL_SECONDS


def make_counted(bench: Workbench, probes: Sequence[Probe], subject: Subject | None = None) -> None:
    """Make the variants that the bench does not hold yet, counted for this session; what it holds costs nothing.

    Args:
        bench: keeps what is made, for every session.
        probes: whose variants are drawn or scored next.
        subject: the caption beside them; None: edits of the picture alone.

    Raises:
        NotAvailable: where something is to be made and a viewer took what they may; says when there is time again.
    """
    missing = [probe for probe in probes if not bench.holds(probe, subject)]
    if not missing:
        return
    with metered_here()():
        for probe in missing:
            bench.make(probe, subject)
