"""Processes by number and moment of birth: a number alone may belong to a stranger by now."""

import os
import signal
from contextlib import suppress

import psutil  # type: ignore[import-untyped]

BIRTH_SLACK_S = 2.0
"""Seconds by which two readings of one birth may differ: the system's clock may be set in between."""


def birth(pid: int) -> float | None:
    """When a process was born, in seconds since 1970; None where it is gone."""
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:
        return None


def alive(pid: int | None, born: float | None, *, word: str) -> bool:
    """Whether a process still runs and is the one that was started.

    Args:
        pid: its number.
        born: when it was born, as :func:`birth` told.
        word: one of its arguments, e.g. the id of its run.
    """
    if pid is None or born is None or pid <= 1:
        return False
    try:
        process = psutil.Process(pid)
        same = abs(process.create_time() - born) <= BIRTH_SLACK_S
        return same and process.status() != psutil.STATUS_ZOMBIE and word in process.cmdline()
    except psutil.Error:
        return False


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process and to those that it started in its group; one that is gone is no error."""
    with suppress(ProcessLookupError, PermissionError):
        if os.getpgid(pid) == pid:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)
