"""What a worker does: embed captions and make shards, each a pure function of the plan and of nothing made before it.

The same code runs in the audit's own process, in their own processes and on a cluster, so that the bytes are equal
whoever does it; see :mod:`core.audit.workers`. Decoding, filling holes and editing take as long as a small network
does, so groups of images, which depend on the plan and the items alone, are rendered ahead in the thread that asks or
in processes. These need a second or two until they can begin, and are started before the evaluators are loaded.
"""

import logging
import pickle
import queue
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, cycle
from multiprocessing.connection import Connection
from typing import Any, Self

import cv2
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

import core
from core.audit import rows
from core.audit.plan import Plan
from core.audit.record import describe_evaluator
from core.audit.render import Group, references, render
from core.audit.rows import Gathered
from core.audit.shards import Finished, ShardCounts
from core.audit.workers.children import Inbox, Prefetch, child, packed
from core.audit.workers.embedded_captions import CaptionTable, Prompts, ShardCache, caption_table, read_captions
from core.audit.workers.tasks import NOBODY, Embedded, Known, Loaded, Made, Result, Shard, Spent, Task, Tell, Work
from core.errors import InvalidInput, InvariscopeError, ScoringStopped
from core.evaluators.base import DualEncoder, Evaluator
from core.evaluators.pool import Pool
from core.evaluators.scoring import embed_captions, score_pairs_with_errors
from core.evaluators.video.video_evaluator import asks, made_for
from core.probes.pairs import Draft
from core.registry import STRANGERS

_log = logging.getLogger("invariscope.audit")


class Renderers:
    """Whoever renders for one stream of tasks; processes are started at once and ended with the context."""

    def __init__(self, count: int = 0) -> None:
        self._links: list[Connection] = []
        self._stack = ExitStack()
        for _ in range(count):
            process, link = child("core.audit.workers.renderer_process", 1)
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
        ``plan``: without its items.
        Raises ScoringStopped if a process that renders ended; InvalidInput if this machine lacks files that the audit
        has."""
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
        group: Group | None = Group()
        while place is not None and group is not None:
            try:
                group = place.recv()
            except (EOFError, OSError, pickle.UnpicklingError) as error:
                raise ScoringStopped("a process that renders ended, perhaps for lack of memory; take fewer") from error
            yield group


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


class Maker:
    """Does tasks in their order, rendering ahead over all of them while the evaluators score.
    ``tell``: hears of every batch; what it raises ends the work. ``renderers``: who renders; None: a thread."""

    def __init__(self, work: Work, pool: Pool, tell: Tell, *, renderers: Renderers | None = None) -> None:
        self._work, self._pool, self._tell = work, pool, tell
        self._renderers = Renderers() if renderers is None else renderers
        self._kinds = work.kinds
        self._makers = {
            reference: rows.RowMaker(work.run, work.plan, name)
            for reference, name in zip(work.plan.evaluators, work.names, strict=True)
        }
        self._captions: dict[str, CaptionTable] = {}

    def each(self, tasks: Iterable[Task], before: Iterable[Task] = ()) -> Iterator[Result]:
        """Do tasks, which may come in one by one, and yield what they bring in their order.
        ``before``: no shards; they are done first, and found out while the first of the others is rendered."""
        with ExitStack() as stack:
            source = stack.enter_context(closing(Prefetch(self._renderers.prepared(self._work.plan, tasks))))
            if isinstance(tasks, Inbox):
                stack.callback(tasks.stop)  # first: the thread that prepares may be waiting for a task
            for task in chain(before, source):
                match task:
                    case Known():
                        tables = {key: map(read_captions, files) for key, files in task.files.items()}
                        self._captions = {key: CaptionTable(each) for key, each in {**tables, **task.tables}.items()}
                    case Prompts():
                        yield self._embed(task)
                    case Shard():
                        yield self._shard(task, source)

    def _embed(self, task: Prompts) -> Embedded:
        with self._lease(task.evaluator) as evaluator:
            evaluator.forget()
            assert isinstance(evaluator, DualEncoder)
            rank = self._work.plan.evaluators.index(task.evaluator)
            self._tell(-1, 0, rank)
            size, started = self._work.batches[task.evaluator], time.perf_counter()
            found = embed_captions(evaluator, task.texts, batch_size=size, progress=lambda *_: self._tell(-1, 0, rank))
            spent = {evaluator.spec.name: Spent(0, time.perf_counter() - started)}
        counts = ShardCounts(caption_encodings=found.captions_encoded, calls=found.calls)
        return Embedded(task, caption_table(found), counts, spent)

    def _shard(self, task: Shard, source: Iterator[Any]) -> Made:
        making = _Making(task, ShardCache(self._captions))
        for group in iter(source.__next__, None):
            self._score(group, making)
            found = making.found
            found.told += [draft for draft in group.drafts if draft.facts and self._is_read(draft)]
            found.left_out += group.left_out
            found.items += group.items
            making.done += group.variants
        making.found.sort(task.items)
        tables = making.found.tables(self._work.run, self._work.plan, {})
        return Made(task.index, tables, Finished.of(making.counts, making.images), making.spent)

    def _score(self, group: Group, making: "_Making") -> None:
        making.images.update(draft.image_key for draft in group.drafts if self._is_read(draft))
        if not group.drafts:
            self._tell(making.task.index, making.done + group.variants, NOBODY)
        for rank, (reference, maker) in enumerate(self._makers.items()):
            read, unread = maker.readable(self._kinds[reference], group.drafts)
            making.found.left_out += unread
            if not read:
                continue
            tell = partial(self._tell_part, making, group.variants, rank)
            with self._lease(reference) as evaluator:
                if reference not in making.begun:
                    making.begun.add(reference)
                    evaluator.forget()
                started = time.perf_counter()
                scores = score_pairs_with_errors(
                    evaluator,
                    group.images,
                    [(draft.image_key, draft.caption) for draft in read],
                    references=[references(draft) for draft in read],
                    cache=making.cache,
                    batch_size=self._work.batches[reference],
                    progress=tell,
                )
                before, took = making.spent.get(evaluator.spec.name, Spent(0, 0.0)), time.perf_counter() - started
                making.spent[evaluator.spec.name] = Spent(before.images + len(group.images), before.seconds + took)
                new, without_baseline = maker.rows(evaluator, read, scores)
                del evaluator  # while the next one loads, the pool may want its memory
            making.found.rows += new
            making.found.left_out += without_baseline
            making.counts = making.counts.plus(
                ShardCounts(scores.images_encoded, scores.captions_encoded, scores.calls)
            )
            tell(1, 1)

    @contextmanager
    def _lease(self, reference: str) -> Iterator[Evaluator]:
        with self._pool.lease(reference) as loaded:
            evaluator = made_for(loaded, self._kinds[reference], idf=self._work.plan.idf)
            if evaluator.fingerprint.key != self._work.keys[reference]:  # loaded again, as what has no room is
                raise ScoringStopped(f"evaluator {reference} is not the one that this run began with any more")
            yield evaluator

    def _is_read(self, draft: Draft) -> bool:
        kinds = self._kinds.values()
        return any(kind.spec.reads(draft.subject.language) and asks(kind, draft.probe) for kind in kinds)

    def _tell_part(self, making: "_Making", images: int, rank: int, done: int, total: int) -> None:
        """Tell how far a group of images is: the evaluators before ``rank``, and a part of what that one does."""
        variants = making.done + images * (rank * total + done) // (total * len(self._makers))
        self._tell(making.task.index, variants, rank)


class _Making:
    def __init__(self, task: Shard, cache: ShardCache) -> None:
        self.task, self.cache = task, cache
        self.found = Gathered()
        self.counts = ShardCounts()
        self.images: set[str] = set()
        self.spent: dict[str, Spent] = {}
        self.done = 0
        self.begun: set[str] = set()


def load_all(plan: Plan, *, videos: bool, pool: Pool, stack: ExitStack, tell: Tell) -> list[Loaded]:
    """Load the evaluators of a plan and describe them; hold them where all have room at once, else say so.
    ``stack``: on whose end they are let go. ``tell``: hears of every evaluator before it is loaded."""
    described = []
    for rank, (reference, kind) in enumerate(zip(plan.evaluators, plan.kinds_for(videos=videos), strict=True)):
        tell(-1, 0, rank)
        with pool.lease(reference) as found:
            evaluator = made_for(found, kind, idf=plan.idf)
            key = evaluator.caption_key if isinstance(evaluator, DualEncoder) else ""
            described.append(Loaded(describe_evaluator(reference, evaluator), evaluator.full_batch, key))
            del evaluator, found
    if {*plan.evaluators} <= {each.reference for each in pool.loaded()}:
        for reference in plan.evaluators:
            stack.enter_context(pool.hold(reference))
        return described
    _log.warning(
        "the evaluators of this run have no room in %.0f MB together and are loaded in turns, which takes longer; "
        "set INVARISCOPE_POOL_MB higher if the machine has more",
        pool.budget_mb,
    )
    return described


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let one operation use so many threads: the number has a part in the last bits of a score."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        with threadpool_limits(count):
            yield
    finally:
        torch.set_num_threads(before)


@dataclass(frozen=True, slots=True)
class Hello:
    """The first message to a worker.
    ``budget_mb``: most memory for its weights, in MB; None: what its own machine gives. ``version``: of Invariscope."""

    plan: Plan
    videos: bool
    device: str | None
    budget_mb: float | None
    intra_op: int
    renderers: int = 0
    version: str = core.__version__


@dataclass(frozen=True, slots=True)
class Ready:
    """A worker has loaded its evaluators."""

    described: list[Loaded]
    device: str


@dataclass(frozen=True, slots=True)
class Told:
    """How far a worker is with a shard, and which evaluator works, by its place in the plan."""

    index: int
    variants: int
    rank: int


@dataclass(frozen=True, slots=True)
class Failed:
    """A worker raised what the run cannot go on after.
    ``kind``: name of the error's class. ``trace``: its traceback, where it is none of ours."""

    kind: str
    error: str
    trace: str = ""


Message = Ready | Told | Failed | Result  # what a worker says


def serve(inbox: Inbox[Any], send: Callable[[Message], None]) -> None:
    """Do what comes in until nothing comes any more: Hello, then Work, then tasks.
    ``send``: tells the audit; what it raises ends the worker."""
    try:
        hello: Hello = next(inbox)
        if hello.version != core.__version__:
            raise InvalidInput(
                f"the audit is of Invariscope {hello.version} and a worker of {core.__version__}; "
                "install the same on every machine"
            )

        def tell(index: int, variants: int, rank: int) -> None:
            send(Told(index, variants, rank))

        pool = Pool(hello.budget_mb, hello.device)
        cv2.setNumThreads(hello.intra_op)
        with ExitStack() as stack:
            stack.enter_context(threads(hello.intra_op))
            renderers = stack.enter_context(Renderers(hello.renderers))
            described = load_all(hello.plan, videos=hello.videos, pool=pool, stack=stack, tell=tell)
            send(Ready(described, pool.device))
            for work in inbox:
                maker = Maker(work, pool, tell, renderers=renderers)
                for result in maker.each(inbox):
                    send(result)
    except InvariscopeError as error:
        send(Failed(type(error).__name__, str(error)))
    except STRANGERS as error:  # the audit says it; nobody else would
        send(Failed(type(error).__name__, str(error), traceback.format_exc()))
