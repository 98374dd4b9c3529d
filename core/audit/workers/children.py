"""Processes of this machine that Invariscope starts for itself, each over a connection of its own."""

import os
import subprocess
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from typing import Any

from core import settings
from core.audit.prefetch import Inbox


def child(module: str, intra_op: int) -> "tuple[subprocess.Popen[bytes], Connection]":
    """Start a module of Invariscope as a process, with an open connection whose number is its only argument.

    Args:
        intra_op: threads for one operation in it.
    """
    ours, theirs = Pipe()
    count = str(intra_op)
    process = subprocess.Popen(
        [sys.executable, "-m", module, str(theirs.fileno())],
        cwd=None if settings.INSTALLED else settings.ROOT,
        env=settings.environment() | {"OMP_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count},
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    theirs.close()
    return process, ours


def inbox(link: Connection) -> Inbox[Any]:
    """What comes over the connection to the parent, read by a thread as it comes; its end ends this process."""
    come: Inbox[Any] = Inbox()

    def read() -> None:
        with suppress(EOFError, OSError):
            while True:
                come.put(link.recv())
        os._exit(1)  # whoever asked is gone, and nobody waits for what is being done

    threading.Thread(target=read, daemon=True).start()
    return come
