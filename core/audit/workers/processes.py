"""Workers as processes of this machine."""

import pickle
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from core.audit.workers.children import child
from core.audit.workers.crew import Team, Worker
from core.audit.workers.serving import Message


class ChildWorker(Worker):
    """A process of this machine, over a connection of its own."""

    def __init__(self, process: "subprocess.Popen[bytes]", link: Connection) -> None:
        super().__init__()
        self.process, self.link = process, link

    def send(self, message: bytes) -> None:
        """Tell it something."""
        with suppress(OSError):  # it died; whoever listens finds out
            self.link.send_bytes(message)

    def end(self) -> str:
        """Kill it."""
        self.process.kill()
        self.process.wait()
        self.link.close()
        return f"code {self.process.returncode}"


class Processes(Team[ChildWorker]):
    """Several processes of this machine."""

    def _start(self) -> ChildWorker:
        return ChildWorker(*child("core.audit.workers.worker_process", self._intra_op))

    def _hear(self, seconds: float) -> Iterator[tuple[ChildWorker, Message | None]]:
        links: dict[Any, ChildWorker] = {worker.link: worker for worker in self._workers}
        for link in wait(list(links), timeout=seconds):
            try:
                message = links[link].link.recv()
            except (EOFError, OSError, pickle.UnpicklingError):  # cut off in the middle
                message = None
            yield links[link], message
