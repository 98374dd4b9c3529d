"""Who does the work of an audit: its own process, or several, none of which writes a file.

Workers send back tables; the audit's own process alone writes them, under its lock. So a worker that is killed leaves
nothing behind, one whose audit was killed can harm nothing, and what is in a run's folder is whole.
"""

import logging
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, Generic, TypeVar

from core.audit.plan import Plan
from core.audit.workers.children import packed
from core.audit.workers.embedded_captions import Prompts
from core.audit.workers.making import Failed, Hello, Maker, Message, Ready, Renderers, Told, load_all, threads
from core.audit.workers.tasks import NOBODY, Known, Result, Task, Tell, Work, without_items
from core.errors import InvalidInput, InvariscopeError, NotAvailable, ScoringStopped
from core.evaluators.pool import Pool
from core.evaluators.registry import is_offered

MOST_DEATHS = 3  # workers that may die over one task before the run stops: it is probably the task
AHEAD = 2  # tasks that a worker has at once at least, so that it renders the next one while it scores the last
LOADING, WAITING = "loading its evaluators", "waiting for a task"
LOOK_S = 0.2  # how often it is asked whether to stop, in seconds
_log = logging.getLogger("invariscope.audit")


class Here:
    """The audit's own process. ``renderers``: processes that render for it; 0: its own thread."""

    def __init__(self, pool: Pool, intra_op: int, renderers: int = 0) -> None:
        self._pool = pool
        self._stack = ExitStack()
        self._stack.enter_context(threads(intra_op))
        self._renderers = self._stack.enter_context(Renderers(renderers))
        self._maker: Maker | None = None

    def describe(self, plan: Plan, tell: Tell) -> Ready:
        """Load the evaluators, telling of each, and say what they are, and where."""
        return Ready(
            load_all(plan, videos=plan.videos, pool=self._pool, stack=self._stack, tell=tell), self._pool.device
        )

    def begin(self, work: Work, tell: Tell) -> None:
        """Say what the tasks to come belong to."""
        self._maker = Maker(work, self._pool, tell, renderers=self._renderers)

    def each(self, tasks: Sequence[Task], before: Iterable[Task] = ()) -> Iterator[Result]:
        """Do tasks and yield what they bring, in their order; the first shard is rendered from the beginning on."""
        assert self._maker is not None
        yield from self._maker.each(tasks, before)

    def close(self) -> None:
        """Let the evaluators go."""
        self._stack.close()


class Worker(ABC):
    """One of a team.
    ``ready``: whether it has loaded its evaluators.
    ``todo``: tasks that it was given and has not done, in their order."""

    def __init__(self) -> None:
        self.ready = False
        self.todo: deque[Task] = deque()

    @abstractmethod
    def send(self, message: bytes) -> None:
        """Tell it something; one that died need not hear it."""

    @abstractmethod
    def end(self) -> str:
        """End it, if it has not ended; returns how it ended, as in ``code -9``."""


W = TypeVar("W", bound=Worker)


class Team(ABC, Generic[W]):
    """Several workers, each with its own models; one that dies is replaced and its tasks are done again.
    ``device``: theirs; None: the best that each finds.
    ``budget_mb``: most memory for the weights of each; None: what its machine gives.
    ``renderers``: processes that render for each; 0: its own thread."""

    def __init__(
        self, count: int, *, device: str | None, budget_mb: float | None, intra_op: int, renderers: int = 0
    ) -> None:
        self._count, self._device, self._budget_mb = count, device, budget_mb
        self._intra_op, self._renderers = intra_op, renderers
        self._ahead = max(AHEAD, renderers + 1)
        self._workers: list[W] = []
        self._waiting: deque[Task] = deque()
        self._deaths: Counter[str] = Counter()
        self._first: list[bytes] = []  # what a worker hears before its tasks
        self._ready: Ready | None = None
        self._tell: Tell = lambda _index, _variants, _rank: None

    def describe(self, plan: Plan, tell: Tell) -> Ready:
        """Start the workers and say what the first that is ready has loaded.
        Raises InvalidInput for an evaluator that one process alone may run, or an evaluator or probe that no other
        process knows."""
        here = [reference for reference in plan.evaluators if is_offered(reference)]
        if here:
            raise InvalidInput(
                f"evaluator {here[0]!r} is a class of this process alone; write it into a file and name "
                "path/to/file.py:Name, or run it with one worker"
            )
        alone = [kind.spec.name for kind in plan.kinds if kind.one_process]
        if alone:
            raise InvalidInput(f"evaluator {alone[0]} keeps one budget and one journal; run it with one worker")
        told = without_items(plan), plan.videos, self._device, self._budget_mb, self._intra_op, self._renderers
        self._first, self._tell = [packed(Hello(*told))], tell
        self._workers = [self._begin() for _ in range(self._count)]
        while self._ready is None:
            self._look()
        return self._ready

    def begin(self, work: Work, tell: Tell) -> None:
        """Say what the tasks to come belong to."""
        self._tell = tell
        self._say(packed(work))

    def each(self, tasks: Sequence[Task], before: Iterable[Task] = ()) -> Iterator[Result]:
        """Do tasks and yield what they bring, in any order.
        Raises ScoringStopped if a worker's evaluator says so, or several workers died over one task."""
        for task in before:
            if isinstance(task, Known):
                yield from self._rest()
                self._say(packed(self._handed(task)))
            else:
                self._waiting.append(task)
        yield from self._rest()
        self._waiting += tasks
        yield from self._rest()

    def _rest(self) -> Iterator[Result]:
        """What the tasks bring that are waiting or being done, until there are none."""
        while self._waiting or any(worker.todo for worker in self._workers):
            self._tell(-1, 0, NOBODY)
            self._give()
            yield from self._look()

    def close(self) -> None:
        """End every worker."""
        for worker in self._workers:
            worker.end()
        self._workers = []

    def _handed(self, task: Task) -> Task:
        return task

    @abstractmethod
    def _start(self) -> W:
        """Start a worker."""

    @abstractmethod
    def _hear(self, seconds: float) -> Iterator[tuple[W, Message | None]]:
        """What workers say within so many seconds; None of one that died."""

    def _begin(self) -> W:
        worker = self._start()
        worker.send(self._first[0])
        return worker

    def _say(self, message: bytes) -> None:
        """Tell every worker, those to come included."""
        self._first.append(message)
        for worker in self._workers:
            if worker.ready:
                worker.send(message)

    def _give(self) -> None:
        """Hand waiting tasks to those who have room, one each in turn.
        Of the last ones, as many as there are workers, each goes to whoever has done all of its own: nobody waits while
        another holds one that it has not begun."""
        for _ in range(self._ahead):
            for worker in sorted(self._workers, key=lambda each: len(each.todo)):
                room = self._ahead if len(self._waiting) > self._count else 1
                if self._waiting and worker.ready and len(worker.todo) < room:
                    task = self._waiting.popleft()
                    worker.todo.append(task)
                    worker.send(packed(self._handed(task)))

    def _look(self) -> list[Result]:
        """Hear what workers say, for a moment; replace those that died."""
        found: list[Result] = []
        for worker, message in self._hear(LOOK_S):
            match message:
                case None:
                    self._replace(worker)
                case Ready():
                    self._welcome(worker, message)
                case Told():
                    self._tell(message.index, message.variants, message.rank)
                case Failed():
                    kinds = {kind.__name__: kind for kind in (ScoringStopped, NotAvailable, InvalidInput)}
                    if message.kind in kinds or not message.trace:
                        raise kinds.get(message.kind, InvariscopeError)(message.error)
                    raise RuntimeError(f"a worker failed: {message.kind}: {message.error}\n{message.trace}")
                case _:
                    worker.todo.popleft()
                    found.append(message)
        return found

    def _welcome(self, worker: W, message: Ready) -> None:
        self._ready = self._ready or message
        if (told := _same(message)) != (first := _same(self._ready)):
            raise InvalidInput(f"a worker loaded other evaluators than the first one: {told} and not {first}")
        worker.ready = True
        self._deaths.pop(LOADING, None)
        for each in self._first[1:]:
            worker.send(each)

    def _replace(self, worker: W) -> None:
        how, doing = worker.end(), WAITING if worker.ready else LOADING
        if worker.todo:
            task = worker.todo[0]
            assert not isinstance(task, Known)  # heard by all, and answered by nobody
            doing = f"{'embedding captions' if isinstance(task, Prompts) else 'making shard'} {task.index}"
        self._deaths[doing] += doing != WAITING
        if self._deaths[doing] >= MOST_DEATHS:
            raise ScoringStopped(
                f"{MOST_DEATHS} workers ended (the last with {how}) while {doing}, perhaps for lack of memory; "
                "take fewer workers"
            )
        _log.warning("a worker ended with %s while %s; another takes its place", how, doing)
        self._waiting.extendleft(reversed(worker.todo))
        self._workers[self._workers.index(worker)] = self._begin()


def _same(ready: Ready) -> tuple[str, ...]:
    """What must agree among workers: device and fingerprints."""
    return (ready.device.partition(":")[0], *(str(each.told["fingerprint"]["key"]) for each in ready.described))


Crew = Here | Team[Any]  # whoever does the work
