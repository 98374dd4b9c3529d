"""Who does the work of an audit: its own process, or several, none of which writes a file.

Workers send back tables; the audit's own process alone writes them, under its lock. So a worker that is killed leaves
nothing behind, one whose audit was killed can harm nothing, and what is in a run's folder is whole.
"""

import logging
import pickle
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, Protocol

from core import settings
from core.audit.making import Known, Maker, Result, Task, Tell, Work, load_all, packed, threads, without_items
from core.audit.plan import Plan
from core.errors import InvalidInput, InvariscopeError, NotAvailable, ScoringStopped
from core.evaluators.pool import Pool

MOST_DEATHS = 3
"""Workers that may die over one task before the run stops: it is probably the task."""
AHEAD = 2
"""Tasks that a worker has at once, so that it renders the next one while it scores the last."""
_LOOK_S = 0.2
_WORKER = "core.audit.worker_process"

_log = logging.getLogger("invariscope.audit")

Described = list[tuple[dict[str, Any], int]]
"""For each evaluator, what the manifest says of it and its ``full_batch``."""


class Crew(Protocol):
    """Whoever does the work."""

    def describe(self, plan: Plan) -> Described:
        """Load the evaluators and say what they are."""

    def begin(self, work: Work, tell: Tell) -> None:
        """Say what the tasks to come belong to."""

    def each(self, tasks: Sequence[Task]) -> Iterator[Result]:
        """Do tasks and yield what they bring, in any order."""

    def close(self) -> None:
        """End whatever still works and let the evaluators go."""


class Here:
    """The audit's own process.

    Args:
        pool: where models are loaded.
        intra_op: threads for one operation of torch.
    """

    def __init__(self, pool: Pool, intra_op: int) -> None:
        self._pool = pool
        self._stack = ExitStack()
        self._stack.enter_context(threads(intra_op))
        self._maker: Maker | None = None

    def describe(self, plan: Plan) -> Described:
        """Load the evaluators and say what they are."""
        return load_all(plan, videos=plan.videos, pool=self._pool, stack=self._stack)

    def begin(self, work: Work, tell: Tell) -> None:
        """Say what the tasks to come belong to."""
        self._maker = Maker(work, self._pool, tell)

    def each(self, tasks: Sequence[Task]) -> Iterator[Result]:
        """Do tasks and yield what they bring, in their order."""
        assert self._maker is not None
        yield from self._maker.each(tasks)

    def close(self) -> None:
        """Let the evaluators go."""
        self._stack.close()


@dataclass(frozen=True, slots=True)
class Hello:
    """The first message to a worker.

    Args:
        plan: without its items.
        budget_mb: most memory for its weights, in MB.
        intra_op: threads for one operation.
    """

    plan: Plan
    videos: bool
    device: str
    budget_mb: float
    intra_op: int


@dataclass(frozen=True, slots=True)
class Ready:
    """A worker has loaded its evaluators."""

    described: Described
    device: str


@dataclass(frozen=True, slots=True)
class Told:
    """How far a worker is with a shard."""

    index: int
    variants: int


@dataclass(frozen=True, slots=True)
class Failed:
    """A worker raised what the run cannot go on after.

    Args:
        kind: name of the error's class.
        trace: its traceback, where it is none of ours.
    """

    kind: str
    error: str
    trace: str = ""


@dataclass(eq=False, slots=True)
class _Worker:
    process: "subprocess.Popen[bytes]"
    link: Connection
    life: Connection
    ready: bool = False
    todo: deque[Task] = field(default_factory=deque)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.link.close()
        self.life.close()


class Processes:
    """Several processes, each with models of its own; one that dies is replaced and its tasks are done again.

    Args:
        count: of processes.
        pool: its device is theirs, its budget is divided among them; nothing is loaded into it.
        intra_op: threads for one operation, in each.
    """

    def __init__(self, count: int, pool: Pool, intra_op: int) -> None:
        self._count, self._pool, self._intra_op = count, pool, intra_op
        self._workers: list[_Worker] = []
        self._waiting: deque[Task] = deque()
        self._deaths: Counter[str] = Counter()
        self._first: list[bytes] = []  # what a worker hears before its tasks
        self._ready: Ready | None = None
        self._tell: Tell = lambda _index, _variants: None

    def describe(self, plan: Plan) -> Described:
        """Start the processes and say what the first that is ready has loaded.

        Raises:
            InvalidInput: for an evaluator that only one process may run, or a probe that no other process knows.
        """
        alone = [kind.spec.name for kind in plan.kinds if kind.one_process]
        if alone:
            raise InvalidInput(f"evaluator {alone[0]} keeps one budget and one journal; run it with one worker")
        share = self._pool.budget_mb / self._count
        self._first = [packed(Hello(without_items(plan), plan.videos, self._pool.device, share, self._intra_op))]
        self._workers = [self._start() for _ in range(self._count)]
        while self._ready is None:
            self._look()
        return self._ready.described

    def begin(self, work: Work, tell: Tell) -> None:
        """Say what the tasks to come belong to."""
        self._tell = tell
        self._say(packed(work))

    def each(self, tasks: Sequence[Task]) -> Iterator[Result]:
        """Do tasks and yield what they bring, in any order.

        Raises:
            ScoringStopped: if a worker's evaluator says so, or several workers died over one task.
        """
        for task in tasks:
            if isinstance(task, Known):
                self._say(packed(task))
            else:
                self._waiting.append(task)
        while self._waiting or any(worker.todo for worker in self._workers):
            self._tell(-1, 0)
            self._give()
            yield from self._look()

    def close(self) -> None:
        """End every process."""
        for worker in self._workers:
            worker.end()
        self._workers = []

    def _start(self) -> _Worker:
        ours, theirs = Pipe()
        ends, life = Pipe(duplex=False)
        count = str(self._intra_op)
        process = subprocess.Popen(
            [sys.executable, "-m", _WORKER, str(theirs.fileno()), str(ends.fileno())],
            cwd=None if settings.INSTALLED else settings.ROOT,
            env=settings.environment() | {"OMP_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count},
            pass_fds=[theirs.fileno(), ends.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        theirs.close()
        ends.close()
        worker = _Worker(process, ours, life)
        for message in self._first[:1]:
            self._send(worker, message)
        return worker

    def _say(self, message: bytes) -> None:
        """Tell every worker, those to come included."""
        self._first.append(message)
        for worker in self._workers:
            if worker.ready:
                self._send(worker, message)

    def _give(self) -> None:
        """Hand waiting tasks to those who have room, one each in turn, so that the last ones are spread."""
        for _ in range(AHEAD):
            for worker in sorted(self._workers, key=lambda each: len(each.todo)):
                if self._waiting and worker.ready and len(worker.todo) < AHEAD:
                    task = self._waiting.popleft()
                    worker.todo.append(task)
                    self._send(worker, packed(task))

    def _look(self) -> list[Result]:
        """Hear what workers say, for a moment; replace those that died."""
        found: list[Result] = []
        links: dict[Any, _Worker] = {worker.link: worker for worker in self._workers}
        for link in wait(list(links), timeout=_LOOK_S):
            worker = links[link]
            try:
                message = worker.link.recv()
            except (EOFError, OSError, pickle.UnpicklingError):
                self._replace(worker)
                continue
            match message:
                case Ready():
                    self._welcome(worker, message)
                case Told():
                    self._tell(message.index, message.variants)
                case Failed():
                    raise _raised(message)
                case _:
                    worker.todo.popleft()
                    found.append(message)
        return found

    def _welcome(self, worker: _Worker, message: Ready) -> None:
        self._ready = self._ready or message
        if (told := _same(message)) != (first := _same(self._ready)):
            raise InvalidInput(f"a worker loaded other evaluators than the first one: {told} and not {first}")
        worker.ready = True
        for each in self._first[1:]:
            self._send(worker, each)

    def _replace(self, worker: _Worker) -> None:
        worker.end()
        code = worker.process.returncode
        doing = str(_name(worker.todo[0])) if worker.todo else "loading its evaluators"
        self._deaths[doing] += 1
        if self._deaths[doing] >= MOST_DEATHS:
            raise ScoringStopped(
                f"{MOST_DEATHS} workers ended (the last with code {code}) while {doing}, perhaps for lack of memory; "
                "take fewer workers"
            )
        _log.warning("a worker ended with code %s while %s; another takes its place", code, doing)
        self._waiting.extendleft(reversed(worker.todo))
        self._workers[self._workers.index(worker)] = self._start()

    @staticmethod
    def _send(worker: _Worker, message: bytes) -> None:
        try:
            worker.link.send_bytes(message)
        except OSError:  # it died; the next look finds out
            return


def crew(workers: int, pool: Pool, intra_op: int) -> Crew:
    """Choose who does the work.

    Raises:
        InvalidInput: for a number below 1.
    """
    for name, value in (("workers", workers), ("threads", intra_op)):
        if value < 1:
            raise InvalidInput(f"{name} must be at least 1, got {value}")
    return Here(pool, intra_op) if workers == 1 else Processes(workers, pool, intra_op)


def _name(task: Task) -> str:
    match task:
        case Known():
            return "reading captions"
        case _ if hasattr(task, "texts"):
            return f"embedding captions {task.index}"
        case _:
            return f"making shard {task.index}"


def _same(ready: Ready) -> tuple[str, ...]:
    """What must agree among workers: device and fingerprints."""
    return (ready.device.partition(":")[0], *(str(told["fingerprint"]["key"]) for told, _ in ready.described))


def _raised(failed: Failed) -> Exception:
    kinds = {kind.__name__: kind for kind in (ScoringStopped, NotAvailable, InvalidInput)}
    if failed.kind in kinds:
        return kinds[failed.kind](failed.error)
    if not failed.trace:
        return InvariscopeError(failed.error)
    return RuntimeError(f"a worker failed: {failed.kind}: {failed.error}\n{failed.trace}")
