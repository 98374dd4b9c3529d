"""Which crew does the work of an audit: this process, several of this machine, or actors of a Ray cluster.

Actors are the very workers that processes of one machine are, on any of a cluster's nodes. The audit attaches to a
cluster that exists; :mod:`ray` is an optional extra and is imported when one is asked for. Every node needs this
Invariscope, the evaluators' weights and the corpus's folder under the same path.
"""

import logging
import os
import pickle
import re
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from multiprocessing.connection import Connection, wait
from typing import Any

from core import settings
from core.audit.fingerprints import GET_RAY, has_ray
from core.audit.workers.children import Inbox, child
from core.audit.workers.crew import Crew, Here, Team, Worker
from core.audit.workers.embedded_captions import read_captions
from core.audit.workers.making import Message, serve
from core.audit.workers.tasks import Known, Shard, Task
from core.errors import InvalidInput, NotAvailable
from core.evaluators.memory import AUDIT_KEPT_MB, keep_freed
from core.evaluators.pool import Pool

_LARGE = 2**20
_TAKE_S = 5.0  # how long an actor waits for something to say before it is asked again, in seconds
_KNOCK_S = 5.0  # how long it may take whoever listens at an address to accept a connection, in seconds
_TRIES = "RAY_gcs_server_port_wait_time_s"
"""What says how many times Ray tries to reach a head, 40 seconds each; 20 times where nothing says so."""


class ActorWorker(Worker):
    """An actor, with the question that it is to answer next."""

    def __init__(self, ray: Any, actor: Any, place: Callable[[bytes], Any]) -> None:
        super().__init__()
        self._ray, self._actor, self._place = ray, actor, place
        self._said, self._sent = "", 0
        self.answer: Any = actor.take.remote()

    def send(self, message: bytes) -> None:
        self._actor.give.remote(self._sent, self._place(message))  # where it died, whoever listens finds out
        self._sent += 1

    def hear(self) -> list[Message] | None:
        """What it said since, and ask again; None where it died."""
        try:
            found: list[Message] = self._ray.get(self.answer)
        except self._ray.exceptions.RayError as error:
            self._said = _death(str(error))
            return None
        self.answer = self._actor.take.remote()
        return found

    def end(self) -> str:
        with suppress(Exception):  # it has ended already, or the cluster has
            self._ray.kill(self._actor, no_restart=True)
        return self._said or "a kill"


class Cluster(Team[ActorWorker]):
    """Actors of a Ray cluster.
    ``address``: of the cluster: ``auto`` or ``HOST:6379``; this machine is one of its nodes.
    ``device``: theirs; its own card goes to each where it is one.
    ``intra_op``: threads for one operation, in each; so many cores are kept for it.
    ``renderers``: processes that render for each; a core more for each of them.
    Raises NotAvailable if Ray is not here, or no cluster answers under that address."""

    def __init__(self, address: str, count: int, *, device: str | None, intra_op: int, renderers: int = 0) -> None:
        super().__init__(count, device=device, budget_mb=None, intra_op=intra_op, renderers=renderers)
        self._ray = _attached(address)
        cards = 1 if device is not None and device.startswith("cuda") else 0
        made = self._ray.remote(num_cpus=intra_op + renderers, num_gpus=cards, max_restarts=0, max_concurrency=2)
        self._actor = made(Actor)
        self._placed: dict[bytes, Any] = {}
        self._check_room(intra_op + renderers, cards)

    def close(self) -> None:
        super().close()
        self._ray.shutdown()

    def _handed(self, task: Task) -> Task:
        """A shard says which of its files are here: a node that lacks one must not take it for missing."""
        if isinstance(task, Known):
            return Known({}, {key: tuple(map(read_captions, files)) for key, files in task.files.items()})
        if not isinstance(task, Shard):
            return task
        paths = dict.fromkeys(item.image_path for item in task.items if item.image_path is not None)
        return replace(task, there=tuple(path for path in paths if path.exists()))

    def _start(self) -> ActorWorker:
        return ActorWorker(self._ray, self._actor.remote(), self._place)

    def _place(self, message: bytes) -> Any:
        """Large messages that every actor hears lie in the cluster once."""
        if len(message) < _LARGE:
            return message
        if message not in self._placed:
            self._placed = {message: self._ray.put(message)}
        return self._placed[message]

    def _hear(self, seconds: float) -> Iterator[tuple[ActorWorker, Message | None]]:
        waiting = {worker.answer: worker for worker in self._workers}
        answered, _ = self._ray.wait(list(waiting), num_returns=len(waiting), timeout=seconds)
        for reference in answered:
            worker = waiting[reference]
            found = worker.hear()
            for message in [None] if found is None else found:
                yield worker, message

    def _check_room(self, cores: int, cards: int) -> None:
        """Refuse more actors than the cluster has room for: those without any would be waited for in vain."""
        whole = self._ray.cluster_resources()
        room = min(whole.get("CPU", 0) // cores, whole.get("GPU", 0) // cards if cards else float("inf"))
        if room < self._count:
            self._ray.shutdown()
            raise InvalidInput(
                f"the cluster has {whole.get('CPU', 0):g} cores and {whole.get('GPU', 0):g} cards, room for {room:g} "
                f"workers of {cores} cores{' and a card' if cards else ''}; ask for fewer, or with fewer threads"
            )


class Actor:
    """A worker inside an actor: what comes is put in line, what it says is kept until it is asked for."""

    def __init__(self) -> None:
        keep_freed(AUDIT_KEPT_MB)
        self._inbox: Inbox[Any] = Inbox()
        self._early: dict[int, Any] = {}
        self._next = 0
        self._said: list[Message] = []
        self._more = threading.Condition()
        threading.Thread(target=serve, args=(self._inbox, self._say), daemon=True).start()

    def give(self, number: int, message: bytes) -> None:
        """Take something in; an actor of two threads may be given the second message before the first."""
        found = pickle.loads(message)  # noqa: S301  # of the audit, over Ray, which unpickles all it carries
        with self._more:
            self._early[number] = found
            while self._next in self._early:
                self._inbox.put(self._early.pop(self._next))
                self._next += 1

    def take(self) -> list[Message]:
        """Wait a moment for something to say."""
        with self._more:
            self._more.wait_for(lambda: self._said, timeout=_TAKE_S)
            said, self._said = self._said, []
            return said

    def _say(self, message: Message) -> None:
        with self._more:
            self._said.append(message)
            self._more.notify()


def _attached(address: str) -> Any:
    if not has_ray():
        raise NotAvailable(
            f"a cluster needs the optional extra invariscope[cluster] (ray is not installed); get it with: {GET_RAY}"
        )
    ray: Any = import_module("ray")
    try:
        host, _, port = address.rpartition(":")
        if port.isdecimal():  # Ray takes long to find out that nobody listens
            socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_S).close()
        told = {name: value for name, value in settings.environment().items() if name == "INVARISCOPE_POOL_MB"}
        with _one_try():
            ray.init(
                address=address,
                log_to_driver=False,
                logging_level=logging.ERROR,
                include_dashboard=None,
                runtime_env={"env_vars": told},  # no folder of this machine, and nothing of judges
            )
    except (OSError, RuntimeError, ValueError, AssertionError, ray.exceptions.RayError) as error:
        why = " ".join(str(error).split())[:200]
        raise NotAvailable(
            f"no Ray cluster answers at {address!r} ({why}); docs/cluster.md starts one. If it asks for a token, set "
            "RAY_AUTH_MODE=token and RAY_AUTH_TOKEN here as there"
        ) from error
    return ray


@contextmanager
def _one_try() -> Iterator[None]:
    """Let Ray try once, where its user did not say how often."""
    if _TRIES in os.environ:
        yield
        return
    os.environ[_TRIES] = "1"
    try:
        yield
    finally:
        del os.environ[_TRIES]


def _death(told: str) -> str:
    """How an actor ended, from what Ray says of it, which is a page."""
    found = re.search(r"pid: (\d+).*?ip: (\S+)", told, re.DOTALL)
    return f"the death of process {found[1]} on {found[2]}" if found else " ".join(told.split())[:200]


class ChildWorker(Worker):
    """A process of this machine, over its own connection."""

    def __init__(self, process: "subprocess.Popen[bytes]", link: Connection) -> None:
        super().__init__()
        self.process, self.link = process, link

    def send(self, message: bytes) -> None:
        with suppress(OSError):  # it died; whoever listens finds out
            self.link.send_bytes(message)

    def end(self) -> str:
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


def crew(
    workers: int, pool: Pool, *, threads: int, renderers: int = 0, cluster: str | None = None, device: str | None = None
) -> Crew:
    """Choose who does the work.
    ``workers``: 1: this process; more: so many others, which share the pool's device and budget.
    ``cluster``: address of a Ray cluster whose actors do it; None: this machine.
    ``device``: of the actors; None: the best that each finds.
    Raises InvalidInput for a number out of its range, or more actors than the cluster has room for; NotAvailable if no
    cluster answers, or Ray is not here."""
    for name, value, least in (("workers", workers, 1), ("threads", threads, 1), ("renderers", renderers, 0)):
        if value < least:
            raise InvalidInput(f"{name} must be at least {least}, got {value}")
    if cluster is not None:
        return Cluster(cluster, workers, device=device, intra_op=threads, renderers=renderers)
    if workers == 1:
        return Here(pool, threads, renderers)
    share = pool.budget_mb / workers
    return Processes(workers, device=pool.device, budget_mb=share, intra_op=threads, renderers=renderers)
