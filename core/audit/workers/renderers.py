"""Rendering ahead of the evaluators: in the thread that asks, or in processes of their own.

Decoding, filling holes and editing take as long as a small network does, and one interpreter does one at a time.
Groups of images depend on nothing but the plan and the items, so they are the same wherever they are rendered.
"""

import pickle
import queue
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import cycle
from multiprocessing.connection import Connection

from core.audit.plan import Plan
from core.audit.render import Group, render
from core.audit.workers.children import child
from core.audit.workers.packing import packed
from core.audit.workers.tasks import Shard, Task
from core.errors import ScoringStopped

_MODULE = "core.audit.workers.renderer_process"


def prepared(plan: Plan, tasks: Iterable[Task], renderers: int) -> Iterator[Task | Group | None]:
    """Every task, a shard's with its groups behind it and None to close them.

    Args:
        plan: without its items.
        renderers: processes that render; 0: this thread does.

    Raises:
        ScoringStopped: if a process that renders ended.
        InvalidInput: if this machine lacks files that the audit has.
    """
    only_captions = isinstance(tasks, Sequence) and not any(isinstance(task, Shard) for task in tasks)
    if renderers and not only_captions:
        yield from _apart(plan, tasks, renderers)
        return
    for task in tasks:
        yield task
        if isinstance(task, Shard):
            task.check()
            yield from render(plan, task.items)
            yield None


def _apart(plan: Plan, tasks: Iterable[Task], count: int) -> Iterator[Task | Group | None]:
    with ExitStack() as stack:
        links = []
        for _ in range(count):
            process, link = child(_MODULE, 1)
            stack.callback(process.wait)
            stack.callback(process.kill)
            stack.callback(link.close)
            link.send_bytes(packed(plan))
            links.append(link)
        given: queue.SimpleQueue[tuple[Task, Connection | None] | None] = queue.SimpleQueue()
        threading.Thread(target=_give, args=(tasks, links, given), daemon=True).start()
        while (handed := given.get()) is not None:
            task, place = handed
            yield task
            if isinstance(task, Shard):
                task.check()
            if place is not None:
                yield from _groups(place)


def _give(
    tasks: Iterable[Task],
    links: list[Connection],
    given: "queue.SimpleQueue[tuple[Task, Connection | None] | None]",
) -> None:
    """Hand shards to the processes in turn, as soon as they come."""
    turn = cycle(links)
    with suppress(OSError):  # one has ended: whoever reads its groups says so
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
