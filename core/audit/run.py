"""Running an audit on this machine: streaming, shard by shard, resumable after any kind of end."""

import hashlib
import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal

from core.audit import rows
from core.audit.batches import begun_with, settle
from core.audit.gathered import Gathered
from core.audit.lock import only_one
from core.audit.plan import Plan
from core.audit.prefetch import prefetch
from core.audit.record import check_same, describe_evaluator, first_manifest, now, outcome
from core.audit.render import Group, all_groups, references
from core.audit.shards import CORPUS_REJECTIONS, RunCache, RunFolder, ShardCounts
from core.errors import InvalidInput, InvariscopeError, ScoringStopped
from core.evaluators.base import Evaluator
from core.evaluators.cache import EmbeddingCache
from core.evaluators.pool import Pool, shared_pool
from core.evaluators.scoring import score_pairs_with_errors
from core.evaluators.video.idf import Idf
from core.evaluators.video.items import asks, made_for
from core.probes.pairs import Draft, LeftOut
from core.store.files import write_json
from core.store.manifest import COMPLETE, INTERRUPTED, MANIFEST, RUNNING, Run, check_run_id, read_run
from core.store.seal import AUDIT, Part

_log = logging.getLogger("invariscope.audit")
Existing = Literal["resume", "refuse", "replace"]


class RunStopped(InvariscopeError):
    """A run that was told to stop before its end; the same call goes on where it stopped."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Args:
        phase: ``loading``, ``scoring`` or ``complete``.
        done: images dealt with, rejected ones included.
        total: images in all.
        elapsed_s: seconds since this call began.
        eta_s: estimated seconds to the end; None until something was measured.
        shard: shards finished.
        shards: shards in all.
    """

    phase: str
    done: int
    total: int
    elapsed_s: float
    eta_s: float | None
    shard: int
    shards: int


def run_audit(
    plan: Plan,
    out: Path,
    *,
    run_id: str | None = None,
    existing: Existing = "resume",
    pool: Pool | None = None,
    cache: EmbeddingCache | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop: Callable[[], bool] | None = None,
    command: str | None = None,
) -> Run:
    """Run a plan, or go on with a run that was ended.

    Args:
        plan: what to do, from :func:`core.audit.plan.make_plan`.
        out: folder of runs; the run is its subfolder ``run_id``.
        run_id: name of the run; None: corpus, time and digest.
        existing: what to do if the run is there already: go on with it (a complete one is only checked),
            refuse, or start it over.
        pool: where models are loaded; None: the one of this process.
        cache: embeddings of other runs. Without one, two runs of one plan give the same tables to the bit.
        progress: called whenever an evaluator has done with a batch.
        stop: asked as often; True ends the run like Ctrl-C.
        command: the command line, for the manifest.

    Returns:
        The complete run.

    Raises:
        InvalidInput: if the existing run was made of another plan or other evaluators.
        NotAvailable: if an evaluator cannot be loaded.
        StoreError: if something cannot be written, or another process works on this run.
        RunStopped: on Ctrl-C or ``stop``; finished shards are kept.
    """
    pool = shared_pool() if pool is None else pool
    run_id = check_run_id(run_id or f"{plan.corpus.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{plan.fingerprint()[:6]}")
    path = Path(out) / run_id
    begun = time.monotonic()
    with ExitStack() as stack:
        stack.enter_context(only_one(path))
        if existing == "refuse" and (path / MANIFEST).exists():
            raise InvalidInput(f"run {run_id} exists in {out}; choose another id, go on with it or replace it")
        if progress is not None:
            progress(Progress("loading", 0, plan.cost().images, 0.0, None, 0, len(plan.shards)))
        described = [_described(pool, *each, plan.idf) for each in zip(plan.evaluators, plan.kinds, strict=True)]
        evaluators = [each for each, _ in described]
        _hold(pool, plan.evaluators, stack)
        begun_batch = None if existing == "replace" else begun_with(path)
        plan, batches = settle(plan, [size for _, size in described], begun=begun_batch)
        keys = [each["fingerprint"]["key"] for each in evaluators]
        folder = RunFolder(path, hashlib.sha256(json.dumps([plan.fingerprint(), *keys]).encode()).hexdigest()[:16])
        manifest = first_manifest(
            plan, run_id=run_id, key=folder.key, evaluators=evaluators, device=pool.device, command=command
        )
        if existing == "replace":  # only now: what could not be loaded must not cost the earlier run
            (path / MANIFEST).unlink(missing_ok=True)  # first, so that a kill leaves no manifest over half its tables
            folder.clear()
        job = _Job(plan, batches, folder, manifest, pool, RunCache(cache), progress, stop, begun)
        job.open()
        return job.run()


def _described(pool: Pool, reference: str, kind: type[Evaluator], idf: Idf | None) -> tuple[dict[str, Any], int]:
    with pool.lease(reference) as loaded:
        evaluator = made_for(loaded, kind, idf=idf)
        return describe_evaluator(reference, evaluator), evaluator.full_batch


def _hold(pool: Pool, references: Sequence[str], stack: ExitStack) -> None:
    """Keep evaluators loaded for the whole run if all have room at once; otherwise they take turns, said aloud."""
    if not {*references} <= {each.reference for each in pool.loaded()}:
        _log.warning(
            "the evaluators of this run have no room in %.0f MB together and are loaded in turns, which takes longer; "
            "set INVARISCOPE_POOL_MB higher if the machine has more",
            pool.budget_mb,
        )
        return
    for reference in references:
        stack.enter_context(pool.hold(reference))


class _Job:
    """One call of :func:`run_audit`, once everything is loaded and the folder is ours."""

    def __init__(
        self,
        plan: Plan,
        batches: Mapping[str, int],
        folder: RunFolder,
        manifest: dict[str, Any],
        pool: Pool,
        cache: RunCache,
        progress: Callable[[Progress], None] | None,
        stop: Callable[[], bool] | None,
        begun: float,
    ) -> None:
        self.plan, self.folder, self.manifest, self.pool, self.cache = plan, folder, manifest, pool, cache
        self.progress, self.stop, self.begun = progress, stop, begun
        self.batches = batches
        self.before_s = 0.0
        self.run_id: str = manifest["run"]
        self.makers = {
            reference: rows.RowMaker(self.run_id, plan, manifest["evaluators"][index]["name"])
            for index, reference in enumerate(plan.evaluators)
        }
        self.keys = {
            reference: manifest["evaluators"][index]["fingerprint"]["key"]
            for index, reference in enumerate(plan.evaluators)
        }
        self.kinds = dict(zip(plan.evaluators, plan.kinds, strict=True))
        self.speed: dict[str, dict[str, float]] = manifest["speed"]
        self.per_item = 1 + len(plan.image_probes)
        self.sealed: Mapping[str, Part] | None = None
        self.finished = 0
        self.done = self.skipped = 0
        self.scoring_since = time.monotonic()

    def open(self) -> None:
        """Write the manifest before any result, or check that the existing one says the same."""
        path = self.folder.path / MANIFEST
        if path.exists():
            begun = read_run(self.folder.path)
            self.sealed = None if begun.seal is None else begun.seal.files
            earlier = begun.manifest
            check_same(earlier, self.manifest, self.folder.path)
            for name in ("created", "command"):
                self.manifest[name] = earlier.get(name, self.manifest[name])
            self.before_s = float(earlier.get("elapsed_seconds") or 0.0)
            for name, spent in (earlier.get("speed") or {}).items():
                self.speed[name] = dict(spent)
        self.folder.check_names(len(self.plan.shards))
        self._save(RUNNING)
        left_out = (LeftOut(each.subject, None, each.code, each.detail) for each in self.plan.corpus.rejected)
        table = rows.rejections_table(self.run_id, self.plan.corpus.name, left_out)
        self.folder.write_table(self.folder.shard("rejections", CORPUS_REJECTIONS), table)

    def run(self) -> Run:
        """Make the shards that are missing and close the run."""
        try:
            counts = self._shards()
        except KeyboardInterrupt:
            self._save(INTERRUPTED)
            raise RunStopped(
                f"run {self.run_id} stopped after {self.finished} of {len(self.plan.shards)} shards; "
                "start the same run again and it goes on"
            ) from None
        except ScoringStopped as error:
            self._save(INTERRUPTED)
            raise RunStopped(
                f"{error}; run {self.run_id} stopped after {self.finished} of {len(self.plan.shards)} shards: "
                "start it again and it goes on"
            ) from error
        known = {"items": len(self.plan.corpus.items), "rejected_by_loader": len(self.plan.corpus.rejected)}
        self.manifest |= outcome(self.folder, counts, shards=len(self.plan.shards), **known)
        self.folder.close(self._told(COMPLETE), by=AUDIT, shards=len(self.plan.shards))
        self.folder.clear_work()
        self._report("complete")
        return read_run(self.folder.path)

    def _shards(self) -> ShardCounts:
        counts = ShardCounts()
        todo = []
        for index, items in enumerate(self.plan.shards):
            known = self.folder.finished(index, items=[item.id for item in items], sealed=self.sealed)
            if known is None:
                todo.append(index)
                continue
            self.cache.recall(self.folder.work(index))
            counts = counts.plus(known)
            self.finished += 1
            self.skipped += len(items) * self.per_item
        self.done = self.skipped
        self.scoring_since = time.monotonic()
        self._report("scoring")
        # One thread renders ahead over all shards, so that no shard's end leaves the evaluators waiting.
        source = prefetch(all_groups(self.plan, todo))
        try:
            for index in todo:
                counts = counts.plus(self._shard(index, source))
                self.finished += 1
                self._save(RUNNING)
        finally:
            source.close()  # type: ignore[attr-defined]  # it is a generator
        return counts

    def _shard(self, index: int, source: Iterator[Group | None]) -> ShardCounts:
        found = Gathered()
        counts = ShardCounts()
        for group in iter(source.__next__, None):
            assert group is not None
            counts = counts.plus(self._score(group, found))
            found.told += [draft for draft in group.drafts if draft.facts and self._is_read(draft)]
            found.left_out += group.left_out
            found.items += group.items
            self.done += group.variants
        found.sort(self.plan.shards[index])
        self.cache.save(self.folder.work(index))
        self.folder.write(index, found.tables(self.run_id, self.plan, self.folder.metadata(counts)))
        return counts

    def _score(self, group: Group, found: Gathered) -> ShardCounts:
        drafts = [draft for draft in group.drafts if self._is_read(draft)]
        counts = ShardCounts(
            unique_images=self.cache.first_seen("seen-image", [draft.image_key for draft in drafts]),
            unique_captions=self.cache.first_seen("seen-caption", [draft.caption for draft in drafts]),
        )
        if not drafts:
            self._tell(group.variants)
        for rank, (reference, maker) in enumerate(self.makers.items()):
            read, unread = maker.readable(self.kinds[reference], group.drafts)
            found.left_out += unread
            if not read:
                continue
            with self.pool.lease(reference) as loaded:
                evaluator = made_for(loaded, self.kinds[reference], idf=self.plan.idf)
                if evaluator.fingerprint.key != self.keys[reference]:  # loaded again, as what has no room is
                    raise ScoringStopped(f"evaluator {reference} is not the one that this run began with any more")
                started = time.perf_counter()
                scores = score_pairs_with_errors(
                    evaluator,
                    group.images,
                    [(draft.image_key, draft.caption) for draft in read],
                    references=[references(draft) for draft in read],
                    cache=self.cache,
                    batch_size=self.batches[reference],
                    progress=partial(self._tell_part, group.variants, rank),
                )
                spent = time.perf_counter() - started
                new, without_baseline = maker.rows(evaluator, read, scores)
                name = evaluator.spec.name
                del evaluator, loaded  # while the next one loads, the pool may want its memory
            found.rows += new
            found.left_out += without_baseline
            counts = counts.plus(ShardCounts(0, 0, scores.images_encoded, scores.captions_encoded, scores.calls))
            speed = self.speed.setdefault(name, {"images": 0, "seconds": 0.0})
            speed["images"] += len(group.images)
            speed["seconds"] = round(speed["seconds"] + spent, 3)
            self._tell_part(group.variants, rank, 1, 1)
        return counts

    def _is_read(self, draft: Draft) -> bool:
        return any(kind.spec.reads(draft.subject.language) and asks(kind, draft.probe) for kind in self.kinds.values())

    def _tell_part(self, images: int, rank: int, done: int, total: int) -> None:
        """Report how far a group of images is: the evaluators before ``rank``, and a part of what that one does."""
        self._tell(images * (rank * total + done) // (total * len(self.makers)))

    def _tell(self, ahead: int) -> None:
        """Report progress, ``ahead`` images past those of finished groups, and stop if told to."""
        self._report("scoring", ahead)
        if self.stop is not None and self.stop():
            raise KeyboardInterrupt

    def _report(self, phase: str, ahead: int = 0) -> None:
        if self.progress is None:
            return
        now = time.monotonic()
        total = len(self.plan.corpus.items) * self.per_item
        done = self.done + ahead
        made = done - self.skipped
        eta = (now - self.scoring_since) / made * (total - done) if made else None
        self.progress(Progress(phase, done, total, now - self.begun, eta, self.finished, len(self.plan.shards)))

    def _save(self, status: str) -> None:
        write_json(self.folder.path / MANIFEST, self._told(status))

    def _told(self, status: str) -> dict[str, Any]:
        """The manifest as it is now; the run is sealed when it is closed, and only then."""
        self.manifest["status"] = status
        self.manifest["finished"] = now() if status == COMPLETE else None
        self.manifest["elapsed_seconds"] = round(self.before_s + time.monotonic() - self.begun, 3)
        return self.manifest
