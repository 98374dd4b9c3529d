"""One process that renders for an audit: ``python -m core.audit.workers.renderer_process LINK``."""

import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection

import cv2

from core.audit.plan import Plan
from core.audit.render import render
from core.audit.workers.children import inbox, packed
from core.evaluators.memory import AUDIT_KEPT_MB, keep_freed


def main(link: Connection) -> None:
    """Render the shards that come over the connection, group by group; None closes each."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    cv2.setNumThreads(1)
    keep_freed(AUDIT_KEPT_MB)
    come = inbox(link)
    plan: Plan = next(come)
    with suppress(BrokenPipeError, ConnectionResetError):
        for task in come:
            for group in render(plan, task.items):
                link.send_bytes(packed(group))
            link.send_bytes(packed(None))


if __name__ == "__main__":
    main(Connection(int(sys.argv[1])))
