"""One worker of an audit as its own process: ``python -m core.audit.workers.worker_process LINK``.

LINK is the number of an open connection to the audit, over which tasks come and tables go; when it ends, so does the
worker, whatever it is doing.
"""

import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection

from core.audit.workers.children import inbox
from core.audit.workers.making import serve
from core.evaluators.memory import AUDIT_KEPT_MB, keep_freed


def main(link: Connection) -> None:
    """Do what comes over the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the audit, which ends its workers
    keep_freed(AUDIT_KEPT_MB)
    with suppress(BrokenPipeError, ConnectionResetError):
        serve(inbox(link), link.send)


if __name__ == "__main__":
    main(Connection(int(sys.argv[1])))
