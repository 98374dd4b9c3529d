"""What a server gives back when its readers left: what pages freed lies in pieces, and in circles, until then."""

import time
from threading import Lock, Timer

import streamlit as st

from core.evaluators.memory import give_back

EXPIRES_S = 150.0
"""Seconds after which Streamlit has let go of a session whose browser went away; it keeps it for two minutes."""

_lock = Lock()
_left = [0.0]
"""When somebody left last, by ``time.monotonic()``; 0 where nobody did since memory was given back."""


@st.cache_resource(scope="session", show_spinner=False, on_release=lambda _: left())
def expect_to_leave() -> bool:
    """Have this session counted as one that leaves, in a run of ``app.py``."""
    return True


def left() -> None:
    """Somebody left: memory is given back when the session has expired, once for all who leave meanwhile."""
    with _lock:
        waits, _left[0] = bool(_left[0]), time.monotonic()
    if not waits:
        _later(EXPIRES_S)


def _later(seconds: float) -> None:
    timer = Timer(seconds, _give_back)
    timer.daemon = True
    timer.start()


def _give_back() -> None:
    with _lock:
        still = _left[0] + EXPIRES_S - time.monotonic()
        if still <= 0:
            _left[0] = 0.0
    if still > 0:
        _later(still)
    else:
        give_back()
