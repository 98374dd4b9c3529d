"""What a server does when readers left: lets go of what was theirs, and gives what it freed back to the system.

Python finds what a session held in circles when it looks for them, DuckDB keeps what its queries took until a database
is closed, and the C library keeps what lies in pieces: without readers none of them does by itself.
"""

import time
from collections.abc import Callable
from threading import RLock, Timer

import streamlit as st
from streamlit import runtime
from streamlit.runtime import RuntimeState

from core.corpora.decoding_apart import end_processes
from core.evaluators.memory import give_back
from core.store.store import give_back_buffers
from pages.views.common.reader_uploads import AWAY_S

EVERY_S = 60.0
"""Seconds from one time to the next, while readers leave and until the sessions of those who left have expired."""

Later = Callable[[float, Callable[[], None]], object]  # has something done in so many seconds


def _in_a_thread(seconds: float, what: Callable[[], None]) -> None:
    timer = Timer(seconds, what)
    timer.daemon = True
    timer.start()


def _nobody() -> bool:
    return runtime.exists() and runtime.get_instance().state is RuntimeState.NO_SESSIONS_CONNECTED


class Leaving:
    """Tidies up while readers leave, and after; safe between threads.

    Args:
        clock: seconds that never go back.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        later: Later = _in_a_thread,
        nobody: Callable[[], bool] = _nobody,
    ) -> None:
        self._clock, self._later, self._nobody = clock, later, nobody
        self._left_last, self._waits = 0.0, False
        self._lock = RLock()  # a session may end wherever Python collects garbage, here too
        self._forget: list[Callable[[bool], object]] = []

    def also(self, forget: Callable[[bool], object]) -> None:
        """Have that let go of what it may, each time; it is told whether nobody is there."""
        self._forget.append(forget)

    def left(self) -> None:
        """Note that somebody left."""
        with self._lock:
            self._left_last = self._clock()
            waits, self._waits = self._waits, True
        if not waits:
            self._later(EVERY_S, self.tidy)

    def tidy(self) -> None:
        """Let go, give back, and do so again while readers leave."""
        nobody = self._nobody()
        try:
            for forget in self._forget:
                forget(nobody)
            if nobody:
                end_processes()
            give_back_buffers()
            give_back()
        finally:
            with self._lock:
                self._waits = self._clock() - self._left_last < AWAY_S + EVERY_S
            if self._waits:
                self._later(EVERY_S, self.tidy)


LEAVING = Leaving()  # of this server


@st.cache_resource(scope="session", show_spinner=False, on_release=lambda _: LEAVING.left())
def expect_to_leave() -> bool:
    """Have it noted when this session ends, in each run of ``app.py``."""
    return True
