"""One worker of an audit as a process of its own: ``python -m core.audit.worker_process LINK LIFE``.

LINK is the number of an open connection to the audit, over which tasks come and tables go; LIFE that of a pipe which
ends when the audit does, and with it the worker, whatever it is doing.
"""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from multiprocessing.connection import Connection

import cv2

from core.audit.making import Maker, Task, Work, load_all, threads
from core.audit.workers import Failed, Hello, Ready, Told
from core.errors import InvariscopeError
from core.evaluators.pool import Pool


def main(link: Connection, life: int) -> None:
    """Do what comes over the connection until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the audit, which ends its workers
    threading.Thread(target=_end_with, args=(life,), daemon=True).start()
    try:
        _work(link)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    except InvariscopeError as error:
        _say(link, Failed(type(error).__name__, str(error)))
    except Exception as error:  # the audit says it; nobody else would
        _say(link, Failed(type(error).__name__, str(error), traceback.format_exc()))


def _work(link: Connection) -> None:
    hello: Hello = link.recv()
    pool = Pool(hello.budget_mb, hello.device)
    cv2.setNumThreads(hello.intra_op)
    with ExitStack() as stack:
        stack.enter_context(threads(hello.intra_op))
        described = load_all(hello.plan, videos=hello.videos, pool=pool, stack=stack)
        link.send(Ready(described, pool.device))
        work: Work = link.recv()
        maker = Maker(work, pool, lambda index, variants: link.send(Told(index, variants)))
        for result in maker.each(_tasks(link)):
            link.send(result)


def _tasks(link: Connection) -> Iterator[Task]:
    with suppress(EOFError, OSError):
        while True:
            yield link.recv()


def _say(link: Connection, message: Failed) -> None:
    with suppress(OSError):
        link.send(message)


def _end_with(life: int) -> None:
    with suppress(OSError):
        os.read(life, 1)
    os._exit(1)


if __name__ == "__main__":
    main(Connection(int(sys.argv[1])), int(sys.argv[2]))
