"""Running an audit: captions first, then shard by shard, resumable after any kind of end.

This process writes every file of the run; who does the work, it or others, is :mod:`core.audit.workers`.
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from core.audit import rows
from core.audit.fingerprints import usual_threads
from core.audit.plan import Plan
from core.audit.record import check_same, first_manifest, now, outcome
from core.audit.render import Begun, begun_with, settle
from core.audit.shards import CORPUS_REJECTIONS, Finished, RunFolder, ShardCounts, only_one
from core.audit.workers.crew import Crew
from core.audit.workers.embedded_captions import CaptionFolder, Prompts, prompts, readers
from core.audit.workers.tasks import NOBODY, Embedded, Known, Shard, Spent, Tell, Work, without_items
from core.audit.workers.teams import crew
from core.errors import InvalidInput, InvariscopeError, ScoringStopped, StoreError
from core.evaluators.pool import Pool, shared_pool
from core.probes.pairs import LeftOut
from core.store.joined_shards import is_joined, join, take_apart
from core.store.run_files import AUDIT, COMPLETE, INTERRUPTED, MANIFEST, RUNNING, Part, Run, check_run_id, read_run
from core.store.run_sources import note_audited
from core.store.text_files import write_json, write_text

Existing = Literal["resume", "refuse", "replace"]
SHARDS = "each of its own"
"""How shards depend on each other; stands in a run's key, since it has a part in the last bits of a score."""


class RunStopped(InvariscopeError):
    """A run that was told to stop before its end; the same call goes on where it stopped."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    phase: str  # ``loading``, ``captions``, ``scoring`` or ``complete``
    done: int
    total: int
    elapsed_s: float
    eta_s: float | None  # estimated seconds to the end; None until something was measured
    shard: int
    shards: int
    evaluator: str = ""  # the one that is being loaded or scores now; empty where none does
    place: int = 0  # of that evaluator among those of the run, from 1; 0 where none works
    evaluators: int = 0  # in all

    @property
    def at_work(self) -> str:
        """Which evaluator works, in words: ``conse-lite0, 1 of 2``; empty where none does."""
        return f"{self.evaluator}, {self.place} of {self.evaluators}" if self.place else ""

    @property
    def doing(self) -> str:
        """What is done beside counting, in words; empty where nothing is to be said of it."""
        if not self.at_work:
            return ""
        return f"loading {self.at_work}" if self.phase == "loading" else f"at {self.at_work}"


Heard = Callable[[Progress], None]
Stop = Callable[[], bool]  # whether to end what is under way


def run_audit(
    plan: Plan,
    out: Path,
    *,
    run_id: str | None = None,
    existing: Existing = "resume",
    pool: Pool | None = None,
    workers: int = 1,
    threads: int | None = None,
    renderers: int = 0,
    cluster: str | None = None,
    device: str | None = None,
    progress: Heard | None = None,
    stop: Stop | None = None,
    command: str | None = None,
) -> Run:
    """Run a plan, or go on with a run that was ended.

    Two runs of one plan with as many threads give the same tables to the bit, whatever the number of workers and
    however often either was ended.
    ``out``: folder of runs; the run is its subfolder ``run_id``.
    ``run_id``: name of the run; None: corpus, time and digest.
    ``existing``: what to do if the run is there already: go on with it (a complete one is only checked), refuse, or
    start it over.
    ``pool``: where models are loaded, or whose device and budget workers share; None: the one of this process.
    ``workers``: processes that render and score; 1: this one.
    ``threads``: for one operation, in each worker; None: as the run was begun, else the cores divided by the workers,
    or 1 on a cluster.
    ``renderers``: processes that decode and edit for each worker; 0: its own thread.
    ``cluster``: address of a Ray cluster whose actors do the work; see :mod:`core.audit.workers.teams`.
    ``device``: of these actors; None: the best that each finds. On this machine it is the pool's.
    ``progress``: called whenever an evaluator has done with a batch.
    ``stop``: asked as often; True ends the run like Ctrl-C. ``command``: the command line, for the manifest.
    Raises InvalidInput if the existing run was made of another plan or other evaluators, or with other threads, or for
    an evaluator that several workers cannot run.
    Raises NotAvailable if an evaluator cannot be loaded.
    Raises StoreError if something cannot be written, or another process works on this run.
    Raises RunStopped on Ctrl-C or ``stop``; finished shards are kept."""
    pool = shared_pool() if pool is None else pool
    run_id = check_run_id(run_id or plan.usual_run_id())
    path = Path(out) / run_id
    begun = time.monotonic()
    with ExitStack() as stack:
        stack.enter_context(only_one(path))
        if existing == "refuse" and (path / MANIFEST).exists():
            raise InvalidInput(f"run {run_id} exists in {out}; choose another id, go on with it or replace it")
        told = _loading(plan, progress, begun)
        told(-1, 0, NOBODY)
        earlier = Begun() if existing == "replace" else begun_with(path)
        if threads is None:
            threads = earlier.threads or usual_threads(workers, cluster=cluster is not None)
        hands = crew(workers, pool, threads=threads, renderers=renderers, cluster=cluster, device=device)
        stack.callback(hands.close)
        ready = hands.describe(plan, told)
        evaluators = [each.told for each in ready.described]
        plan, batches = settle(plan, [each.full_batch for each in ready.described], begun=earlier.images)
        keys = [each["fingerprint"]["key"] for each in evaluators]
        parts = json.dumps((SHARDS, threads, plan.fingerprint(), *keys))
        folder = RunFolder(path, hashlib.sha256(parts.encode()).hexdigest()[:16])
        manifest = first_manifest(
            plan,
            run_id=run_id,
            key=folder.key,
            evaluators=evaluators,
            device=ready.device,
            command=command,
            workers=workers,
            threads=threads,
        )
        if existing == "replace":  # only now: what could not be loaded must not cost the earlier run
            (path / MANIFEST).unlink(missing_ok=True)  # first, so that a kill leaves no manifest over half its tables
            folder.clear()
        captions = {one: each.caption_key for one, each in zip(plan.evaluators, ready.described, strict=True)}
        job = _Job(plan, batches, captions, folder, manifest, hands, progress, stop, begun)
        job.open()
        note_audited(manifest)
        return job.run()


def _loading(plan: Plan, progress: Heard | None, begun: float) -> Tell:
    """What tells which evaluator is being loaded, before there is a job to tell anything."""
    names, images = [kind.spec.name for kind in plan.kinds_for(videos=plan.videos)], plan.cost().images

    def tell(_index: int, _variants: int, rank: int) -> None:
        if progress is not None:
            passed, at = time.monotonic() - begun, _at_work(names, rank)
            progress(Progress("loading", 0, images, passed, None, 0, len(plan.shards), *at))

    return tell


def _at_work(names: Sequence[str], rank: int) -> tuple[str, int, int]:
    return ("", 0, len(names)) if rank == NOBODY else (names[rank], rank + 1, len(names))


class _Job:
    """One call of :func:`run_audit`, once everything is loaded and the folder is ours."""

    def __init__(
        self,
        plan: Plan,
        batches: Mapping[str, int],
        caption_keys: Mapping[str, str],
        folder: RunFolder,
        manifest: dict[str, Any],
        hands: Crew,
        progress: Heard | None,
        stop: Stop | None,
        begun: float,
    ) -> None:
        self.plan, self.batches, self.folder, self.manifest, self.hands = plan, batches, folder, manifest, hands
        self.shards = plan.shards
        self.progress, self.stop, self.begun = progress, stop, begun
        self.before_s = 0.0
        self.run_id: str = manifest["run"]
        told = zip(plan.evaluators, manifest["evaluators"], strict=True)
        self.keys = {reference: each["fingerprint"]["key"] for reference, each in told}
        self.captions, self.caption_keys = CaptionFolder(folder.work, folder.key), caption_keys
        self.speed: dict[str, dict[str, float]] = manifest["speed"]
        self.per_item = 1 + len(plan.image_probes)
        self.sealed: Mapping[str, Part] | None = None
        self.joined = False
        self.before: ShardCounts | None = None
        self.embedded = ShardCounts()
        self.to_embed = 0
        self.made: dict[int, Finished] = {}
        self.ahead: dict[int, int] = {}
        self.done = self.skipped = self.furthest = 0
        self.rank = NOBODY
        self.phase = "captions"
        self.scoring_since = time.monotonic()

    def open(self) -> None:
        """Write the manifest before any result, or check that the existing one says the same."""
        path = self.folder.path / MANIFEST
        if path.exists():
            begun = read_run(self.folder.path)
            check_same(begun.manifest, self.manifest, self.folder.path)
            self.joined = is_joined(begun)
            if self.joined:
                begun = take_apart(begun)
            self.sealed = None if begun.seal is None else begun.seal.files
            earlier = begun.manifest
            for name in ("created", "command"):
                self.manifest[name] = earlier.get(name, self.manifest[name])
            self.before_s = float(earlier.get("elapsed_seconds") or 0.0)
            self.before = ShardCounts.read(earlier.get("captions"))
            for name, spent in (earlier.get("speed") or {}).items():
                self.speed[name] = dict(spent)
        self.folder.check_names(len(self.shards))
        self._save(RUNNING)
        left_out = (LeftOut(each.subject, None, each.code, each.detail) for each in self.plan.corpus.rejected)
        table = rows.rejections_table(self.run_id, self.plan.corpus.name, left_out)
        self.folder.write_table(self.folder.shard("rejections", CORPUS_REJECTIONS), table)
        names = tuple(each["name"] for each in self.manifest["evaluators"])
        plan = without_items(self.plan)
        self.hands.begin(Work(self.run_id, plan, self.plan.videos, names, self.keys, self.batches), self._heard)

    def run(self) -> Run:
        try:
            for index, items in enumerate(self.shards):
                known = self.folder.finished(index, items=[item.id for item in items], sealed=self.sealed)
                if known is not None:
                    self.made[index] = known
                    self.skipped += len(items) * self.per_item
            self.done = self.furthest = self.skipped
            self._make()
        except KeyboardInterrupt:
            raise self._stopped("") from None
        except ScoringStopped as error:
            raise self._stopped(str(error)) from error
        counts = {"items": len(self.plan.corpus.items), "rejected_by_loader": len(self.plan.corpus.rejected)}
        finished = [self.made[index] for index in range(len(self.shards))]
        self.manifest |= outcome(self.folder, finished, shards=len(self.shards), before=self.embedded, **counts)
        self.folder.close(self._told(COMPLETE), by=AUDIT, shards=len(self.shards))
        self.folder.clear_work()
        self._report("complete")
        return join(self.folder.path) if self.joined else read_run(self.folder.path)

    def _stopped(self, why: str) -> RunStopped:
        self._save(INTERRUPTED)
        told = f"run {self.run_id} stopped after {len(self.made)} of {len(self.shards)} shards"
        again = f"{why}; {told}: start it again" if why else f"{told}; start the same run again"
        return RunStopped(f"{again} and it goes on")

    def _make(self) -> None:
        """Embed the captions that no file of this run has yet, and make the shards that are missing."""
        todo = [Shard(index, items) for index, items in enumerate(self.shards) if index not in self.made]
        if not todo and self.before is not None:  # nobody will ask for the captions
            self.embedded = self.before
            self._begin_scoring()
            return
        for found in self.hands.each(todo, self._before_shards()):
            if isinstance(found, Embedded):
                self.captions.write(found.task, self.keys[found.task.evaluator], found.table, found.counts)
                self.embedded = self.embedded.plus(found.counts)
                self._add_time(found.spent)
                self.to_embed -= 1
                if not self.to_embed:
                    self._begin_scoring()
                continue
            scores = found.tables["scores"].replace_schema_metadata(self.folder.metadata(found.told))
            self.folder.write(found.index, {**found.tables, "scores": scores})
            self.made[found.index] = found.told
            self.ahead.pop(found.index, None)
            self.done += len(self.shards[found.index]) * self.per_item
            self._add_time(found.spent)
            self._save(RUNNING)

    def _before_shards(self) -> Iterator[Prompts | Known]:
        """The first phase: captions to be embedded, and where all of them are then found."""
        self._report("captions")
        tasks = prompts(self.plan, self.batches)
        first = readers(tasks, self.caption_keys, self.batches)
        tasks = [task for task in tasks if first[task.evaluator] == task.evaluator]
        todo = []
        for task in tasks:
            counts = self.captions.counts(task, self.keys[task.evaluator])
            self.embedded = self.embedded if counts is None else self.embedded.plus(counts)
            todo += [task] if counts is None else []
        self.to_embed = len(todo)
        if not todo:
            self._begin_scoring()
        yield from todo
        files: dict[str, tuple[Path, ...]] = {}
        for task in tasks:
            key = self.keys[task.evaluator]
            files[key] = (*files.get(key, ()), self.captions.file(task, key))
        yield Known({self.keys[one]: files[self.keys[other]] for one, other in first.items()})

    def _begin_scoring(self) -> None:
        self.manifest["captions"] = self.embedded.as_dict()
        self.phase, self.scoring_since = "scoring", time.monotonic()
        self._report(self.phase)

    def _add_time(self, spent: Mapping[str, Spent]) -> None:
        for name, each in spent.items():
            speed = self.speed.setdefault(name, {"images": 0, "seconds": 0.0})
            speed["images"] += each.images
            speed["seconds"] = round(speed["seconds"] + each.seconds, 3)

    def _heard(self, index: int, variants: int, rank: int) -> None:
        """Note how far a worker is with a shard, report it, and stop if told to; no shard has number -1."""
        if index >= 0:
            self.ahead[index] = variants
        if rank != NOBODY:
            self.rank = rank
        self._report(self.phase)
        if self.stop is not None and self.stop():
            raise KeyboardInterrupt

    def _report(self, phase: str) -> None:
        if self.progress is None:
            return
        now = time.monotonic()
        total = len(self.plan.corpus.items) * self.per_item
        # A worker that died begins its shard anew: the reader is not told that it went back.
        self.furthest = max(self.furthest, self.done + sum(self.ahead.values()))
        made = self.furthest - self.skipped
        eta = (now - self.scoring_since) / made * (total - self.furthest) if made else None
        rank = NOBODY if phase == COMPLETE else self.rank
        at = _at_work([each["name"] for each in self.manifest["evaluators"]], rank)
        passed, made_shards = now - self.begun, len(self.made)
        self.progress(Progress(phase, self.furthest, total, passed, eta, made_shards, len(self.shards), *at))

    def _save(self, status: str) -> None:
        write_json(self.folder.path / MANIFEST, self._told(status))

    def _told(self, status: str) -> dict[str, Any]:
        """The manifest as it is now; the run is sealed when it is closed, and only then."""
        self.manifest["status"] = status
        self.manifest["finished"] = now() if status == COMPLETE else None
        self.manifest["elapsed_seconds"] = round(self.before_s + time.monotonic() - self.begun, 3)
        return self.manifest


EVERY_S = 0.5  # seconds between two writings; a change of phase, or the next model that is loaded, is written at once
_PHASES = ("loading", "captions", "scoring", "complete")


@dataclass(frozen=True, slots=True)
class Told(Progress):
    """What a progress file says: how far it is, at a time."""

    at: float = field(kw_only=True)  # when it was written, in seconds since 1970; the seconds left are counted from it

    @property
    def share(self) -> float:
        """Part that is done, in [0, 1]."""
        return min(self.done / self.total, 1.0) if self.total else 0.0

    def left_s(self, now: float) -> float | None:
        """Seconds left at a time in seconds since 1970; None where nothing was measured yet."""
        return None if self.eta_s is None else max(self.eta_s - max(now - self.at, 0.0), 0.0)


class ProgressFile:
    """Writes progress aside and renames it; a disk that refuses costs the file and never the audit."""

    def __init__(self, path: Path, *, every_s: float = EVERY_S) -> None:
        self._path, self._every_s = path, every_s
        self._last = ("", 0.0)

    def __call__(self, progress: Progress) -> None:
        """Tell how far it is."""
        before, when = self._last
        step = f"{progress.phase} {progress.evaluator if progress.phase == 'loading' else ''}"
        if step == before and time.monotonic() - when < self._every_s:
            return
        self._last = (step, time.monotonic())
        text = json.dumps({**asdict(progress), "at": time.time()})
        with suppress(StoreError):
            write_text(self._path, text)


def read_progress(path: Path) -> Told | None:
    """Read a progress file; None where there is none, or it says nothing that makes sense."""
    try:
        told = Told(**json.loads(path.read_text(encoding="utf-8")))
        times = (told.elapsed_s, told.eta_s or 0.0, told.at)
        counts = (told.done, told.total, told.shard, told.shards, told.place, told.evaluators)
        numbers = all(0 <= number < 1e15 for number in (*times, *counts))
        sound = told.phase in _PHASES and isinstance(told.evaluator, str) and numbers
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return told if sound else None
