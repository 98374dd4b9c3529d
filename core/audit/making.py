"""What a worker does: embed captions and make shards, each a pure function of the plan and of nothing made before it.

The same code runs in the audit's own process, in processes of their own and on a cluster, so that the bytes are equal
whoever does it; see :mod:`core.audit.workers`.
"""

import io
import logging
import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from core.audit import rows
from core.audit.captions import CaptionTable, Prompts, ShardCache, caption_table
from core.audit.gathered import Gathered
from core.audit.plan import Plan
from core.audit.prefetch import prefetch
from core.audit.record import describe_evaluator
from core.audit.render import Group, references, render
from core.audit.shards import Finished, ShardCounts
from core.corpora.schema import Item
from core.errors import InvalidInput, ScoringStopped
from core.evaluators.base import DualEncoder, Evaluator
from core.evaluators.pool import Pool
from core.evaluators.registry import find
from core.evaluators.scoring import embed_captions, score_pairs_with_errors
from core.evaluators.video.items import asks, for_items, made_for
from core.probes.base import Probe
from core.probes.pairs import Draft
from core.probes.registry import catalogue

_log = logging.getLogger("invariscope.audit")


@dataclass(frozen=True, slots=True)
class Work:
    """What a worker must know beside its tasks.

    Args:
        run: id of the run.
        plan: without its items.
        videos: whether the items are videos.
        names: names of the evaluators in the run's tables, in the plan's order.
        keys: their fingerprints, by reference.
        batches: images and captions in one call, by reference.
    """

    run: str
    plan: Plan
    videos: bool
    names: tuple[str, ...]
    keys: Mapping[str, str]
    batches: Mapping[str, int]

    @property
    def kinds(self) -> dict[str, type[Evaluator]]:
        """Classes of the evaluators, as they score such items."""
        name = self.plan.corpus.name
        return {each: for_items(find(each), videos=self.videos, corpus=name) for each in self.plan.evaluators}


@dataclass(frozen=True, slots=True)
class Shard:
    """Items whose rows are written together."""

    index: int
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """From here on, captions that were embedded are found in these files, by the evaluator's fingerprint."""

    files: Mapping[str, tuple[Path, ...]]


Task = Prompts | Shard | Known


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds that an evaluator worked, and the images that it was given."""

    images: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Embedded:
    """Captions of a task.

    Args:
        table: of :func:`core.audit.captions.caption_table`.
    """

    task: Prompts
    table: pa.Table
    counts: ShardCounts
    spent: Mapping[str, Spent]


@dataclass(frozen=True, slots=True)
class Made:
    """A shard.

    Args:
        tables: by name; what stands in their metadata is the caller's.
        spent: by name of the evaluator.
    """

    index: int
    tables: Mapping[str, pa.Table]
    told: Finished
    spent: Mapping[str, Spent]


Result = Embedded | Made
Tell = Callable[[int, int], None]
"""Called with (index of a shard, variants of it that are dealt with)."""


def without_items(plan: Plan) -> Plan:
    """The plan as a worker needs it: items come with the tasks."""
    return replace(plan, corpus=replace(plan.corpus, items=(), rejected=()))


class Maker:
    """Does tasks in their order, rendering ahead over all of them while the evaluators score.

    Args:
        pool: where models are loaded; the caller holds them.
        tell: hears of every batch; what it raises ends the work.
    """

    def __init__(self, work: Work, pool: Pool, tell: Tell) -> None:
        self._work, self._pool, self._tell = work, pool, tell
        self._kinds = work.kinds
        self._makers = {
            reference: rows.RowMaker(work.run, work.plan, name)
            for reference, name in zip(work.plan.evaluators, work.names, strict=True)
        }
        self._captions: dict[str, CaptionTable] = {}

    def each(self, tasks: Iterable[Task]) -> Iterator[Result]:
        """Do tasks, which may come in one by one, and yield what they bring in their order."""
        source = prefetch(self._prepared(tasks))
        try:
            for task in source:
                match task:
                    case Known():
                        self._captions = {key: CaptionTable(files) for key, files in task.files.items()}
                    case Prompts():
                        yield self._embed(task)
                    case Shard():
                        yield self._shard(task, source)
        finally:
            source.close()  # type: ignore[attr-defined]  # it is a generator

    def _prepared(self, tasks: Iterable[Task]) -> Iterator[Task | Group | None]:
        """Every task, a shard's with its groups behind it and None to close them."""
        for task in tasks:
            yield task
            if isinstance(task, Shard):
                yield from render(self._work.plan, task.items)
                yield None

    def _embed(self, task: Prompts) -> Embedded:
        with self._lease(task.evaluator) as evaluator:
            evaluator.forget()
            assert isinstance(evaluator, DualEncoder)
            started = time.perf_counter()
            found = embed_captions(
                evaluator, task.texts, batch_size=self._work.batches[task.evaluator],
                progress=lambda _done, _total: self._tell(-1, 0),
            )  # fmt: skip
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
            self._tell(making.task.index, making.done + group.variants)
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
        self._tell(making.task.index, making.done + images * (rank * total + done) // (total * len(self._makers)))


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


def load_all(plan: Plan, *, videos: bool, pool: Pool, stack: ExitStack) -> list[tuple[dict[str, Any], int]]:
    """Load the evaluators of a plan and describe them; hold them where all have room at once, else say so.

    Args:
        stack: on whose end they are let go.

    Returns:
        For each, what the manifest says of it and its ``full_batch``.
    """
    described = []
    for reference in plan.evaluators:
        kind = for_items(find(reference), videos=videos, corpus=plan.corpus.name)
        with pool.lease(reference) as found:
            evaluator = made_for(found, kind, idf=plan.idf)
            described.append((describe_evaluator(reference, evaluator), evaluator.full_batch))
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


def packed(value: Any) -> bytes:
    """Pickle what goes to a worker; a probe goes by its name.

    Raises:
        InvalidInput: for a probe that a worker could not find.
    """
    made = io.BytesIO()
    _Packer(made, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return made.getvalue()


class _Packer(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, Probe):
            return NotImplemented
        if value.name not in catalogue() or catalogue().get(value.name) != value:
            raise InvalidInput(f"probe {value.name!r} is known in this process alone; run the audit with one worker")
        return _probe, (value.name,)


def _probe(name: str) -> Probe:
    return catalogue().get(name)
