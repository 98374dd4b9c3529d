"""What a worker does: embed captions and make shards, each a pure function of the plan and of nothing made before it.

The same code runs in the audit's own process, in their own processes and on a cluster, so that the bytes are equal
whoever does it; see :mod:`core.audit.workers`.
"""

import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from itertools import chain
from typing import Any

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from core.audit import rows
from core.audit.plan import Plan
from core.audit.prefetch import Inbox, Prefetch
from core.audit.record import describe_evaluator
from core.audit.render import Group, references
from core.audit.rows import Gathered
from core.audit.shards import Finished, ShardCounts
from core.audit.workers.embedded_captions import CaptionTable, Prompts, ShardCache, caption_table, read_captions
from core.audit.workers.renderers import Renderers
from core.audit.workers.tasks import NOBODY, Embedded, Known, Loaded, Made, Result, Shard, Spent, Task, Tell, Work
from core.errors import ScoringStopped
from core.evaluators.base import DualEncoder, Evaluator
from core.evaluators.pool import Pool
from core.evaluators.scoring import embed_captions, score_pairs_with_errors
from core.evaluators.video.items import asks, made_for
from core.probes.pairs import Draft

_log = logging.getLogger("invariscope.audit")


class Maker:
    """Does tasks in their order, rendering ahead over all of them while the evaluators score.

    Args:
        pool: where models are loaded; the caller holds them.
        tell: hears of every batch; what it raises ends the work.
        renderers: who renders; None: a thread.
    """

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

        Args:
            before: no shards; they are done first, and found out while the first of the others is rendered.
        """
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
            started = time.perf_counter()
            found = embed_captions(
                evaluator,
                task.texts,
                batch_size=self._work.batches[task.evaluator],
                progress=lambda _done, _total: self._tell(-1, 0, rank),
            )
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
                if making.is_first(reference):
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
                making.add_time(evaluator.spec.name, len(group.images), time.perf_counter() - started)
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
    """A shard that is being made."""

    def __init__(self, task: Shard, cache: ShardCache) -> None:
        self.task, self.cache = task, cache
        self.found = Gathered()
        self.counts = ShardCounts()
        self.images: set[str] = set()
        self.spent: dict[str, Spent] = {}
        self.done = 0
        self._begun: set[str] = set()

    def is_first(self, reference: str) -> bool:
        """Whether an evaluator is met for the first time in this shard."""
        new = reference not in self._begun
        self._begun.add(reference)
        return new

    def add_time(self, name: str, images: int, seconds: float) -> None:
        before = self.spent.get(name, Spent(0, 0.0))
        self.spent[name] = Spent(before.images + images, before.seconds + seconds)


def load_all(plan: Plan, *, videos: bool, pool: Pool, stack: ExitStack, tell: Tell) -> list[Loaded]:
    """Load the evaluators of a plan and describe them; hold them where all have room at once, else say so.

    Args:
        stack: on whose end they are let go.
        tell: hears of every evaluator before it is loaded.
    """
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
