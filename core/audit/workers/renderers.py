"""Rendering ahead of the evaluators: in the thread that asks, or in their own processes.

Decoding, filling holes and editing take as long as a small network does, and one interpreter does one at a time.
Groups of images depend on nothing but the plan and the items, so they are the same wherever they are rendered.
Processes need a second or two until they can begin; so they are started before the evaluators are loaded.
"""

import pickle
import queue
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import cycle
from multiprocessing.connection import Connection
from typing import Self

from core.audit.plan import Plan
from core.audit.render import Group, render
from core.audit.workers.children import child, packed
from core.audit.workers.tasks import Shard, Task
from core.errors import ScoringStopped

_MODULE = "core.audit.workers.renderer_process"


class Renderers:
    """Whoever renders for one stream of tasks; processes are started at once and ended with the context.

    Args:
        count: of processes; 0: the thread that asks.
    """

    def __init__(self, count: int = 0) -> None:
        self._links: list[Connection] = []
        self._stack = ExitStack()
        for _ in range(count):
            process, link = child(_MODULE, 1)
            self._stack.callback(process.wait)
            self._stack.callback(process.kill)
            self._stack.callback(link.close)
            self._links.append(link)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def prepared(self, plan: Plan, tasks: Iterable[Task]) -> Iterator[Task | Group | None]:
        """Every task, a shard's with its groups behind it and None to close them.

        Args:
            plan: without its items.

        Raises:
            ScoringStopped: if a process that renders ended.
            InvalidInput: if this machine lacks files that the audit has.
        """
        if self._links:
            yield from _apart(plan, tasks, self._links)
            return
        for task in tasks:
            yield task
            if isinstance(task, Shard):
                task.check()
                yield from render(plan, task.items)
                yield None


def _apart(plan: Plan, tasks: Iterable[Task], links: Sequence[Connection]) -> Iterator[Task | Group | None]:
    given: queue.SimpleQueue[tuple[Task, Connection | None] | None] = queue.SimpleQueue()
    threading.Thread(target=_give, args=(packed(plan), tasks, links, given), daemon=True).start()
    while (handed := given.get()) is not None:
        task, place = handed
        yield task
        if isinstance(task, Shard):
            task.check()
        if place is not None:
            yield from _groups(place)


def _give(
    plan: bytes,
    tasks: Iterable[Task],
    links: Sequence[Connection],
    given: "queue.SimpleQueue[tuple[Task, Connection | None] | None]",
) -> None:
    """Tell the processes the plan and hand shards to them in turn, as soon as they come."""
    turn = cycle(links)
    for link in links:
        with suppress(OSError):  # it has ended: whoever reads its groups says so
            link.send_bytes(plan)
    with suppress(OSError):
        for task in tasks:
            place = next(turn) if isinstance(task, Shard) else None
            given.put((task, place))
            if place is not None:
                place.send_bytes(packed(task))
    given.put(None)


def _groups(link: Connection) -> Iterator[Group | None]:
    group: Group | None = Group()
    while group is not None:
        try:
            group = link.recv()
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            raise ScoringStopped(
                "a process that renders ended, perhaps for lack of memory; take fewer of them"
            ) from error
        yield group
