"""The audit engine against scoring pair by pair, against the bare encoders, and on the whole demo corpus."""

import argparse
import hashlib
import os
import resource
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any, Self

import numpy as np
import torch

from bench.checkpoints import write
from bench.report import row
from core.audit.fingerprints import cores
from core.audit.plan import Plan, make_plan
from core.audit.render import render
from core.audit.request import OFFLINE, AuditRequest, choice_of
from core.audit.run import run_audit
from core.audit.workers.making import threads
from core.corpora.registry import catalogue
from core.evaluators.base import DualEncoder, evaluator
from core.evaluators.metrics.conse import ConseLite0
from core.evaluators.offline.class_texts import shared_class_texts
from core.evaluators.offline.image_tower import ImageTower
from core.evaluators.pool import Pool
from core.probes.pixels.inpainting import kept_plates
from core.store.store import Store

INSERTED = tuple(f"inserted-{family}" for family in ("cultural", "economic", "gender", "emotion", "occupational"))
WORKERS_ITEMS = 48
"""Items of the comparison of workers, in shards of four."""
GRIDS = {
    "the paper's grid": (("template",), ("default",)),
    "the same beside a human caption, too": (("template", "human"), ("default",)),
    "the same with words inserted into the human caption": (("template", "human"), ("default", *INSERTED)),
}
"""Grids of the ratios: subjects and probes."""
BATCH = 32


@evaluator(
    name="conse-lite0-forgetful",
    title="conse-lite0 that remembers no image",
    summary="The towers alone: the image tower's memory of earlier pictures would make every way look fast.",
    family="bench",
    score_range=(0.0, 1.0),
    memory_mb=330,
    offline=True,
    source="conse-lite0",
    licence="Apache-2.0",
)
class Forgetful(ConseLite0):
    """ConSE without the image tower's memory."""

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        """Load its own tower."""
        return cls(ImageTower(cls.backbone, device, memory_bytes=0), shared_class_texts(device))


EVALUATOR = f"{__file__}:Forgetful"


@dataclass(frozen=True, slots=True)
class Metric:
    """What is audited for the ratios.

    Args:
        name: as it is printed.
        items: of the demo corpus, evenly over it: one shard.
        separately: items whose pairs are also scored one by one.
        repeats: audits, and as often the bare encoders.
    """

    name: str
    items: int
    separately: int
    repeats: int


CONSE = Metric("`conse-lite0`", items=8, separately=2, repeats=2)
CLIPSCORE = Metric("CLIPScore's ViT-B/32, random weights", items=6, separately=1, repeats=1)


@dataclass(frozen=True, slots=True)
class Way:
    """How cores are shared.

    Args:
        name: as it is printed.
        threads: of the network, and of the bare encoders that the audit is compared with.
        renderers: processes that render beside it; 0: a thread does.
    """

    name: str
    threads: int
    renderers: int


WAYS = (
    Way("a thread for each core", cores(), 0),
    Way("one thread, a process that renders", 1, 1),
)


@dataclass(frozen=True, slots=True)
class Took:
    """What something took.

    Args:
        seconds: on the clock.
        cpu: seconds of a processor, of processes that it started too.
    """

    seconds: float
    cpu: float

    def times(self, factor: float) -> "Took":
        """What it would take so many times."""
        return Took(self.seconds * factor, self.cpu * factor)


Key = tuple[str, str, str]
"""Item, probe and subject of a row."""


def main() -> None:
    """Print one row a measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-demo", action="store_true", help="leave the audits of the whole demo corpus out")
    parser.add_argument("--only", choices=("ratios", "workers", "demo"), help="one part; default: all")
    chosen = parser.parse_args()
    if chosen.only in (None, "ratios"):
        all_ratios()
    if chosen.only in (None, "workers"):
        workers()
    if chosen.only == "demo" or (chosen.only is None and not chosen.no_demo):
        demo()


def all_ratios() -> None:
    """Measure every metric on every grid, every way."""
    with tempfile.TemporaryDirectory() as folder:
        metrics = {EVALUATOR: CONSE, _clipscore(Path(folder)): CLIPSCORE}
        for reference, metric in metrics.items():
            pool = Pool()
            with pool.hold(reference):
                for grid, (subjects, probes) in GRIDS.items():
                    plan = _plan(metric.items, evaluators=[reference], subject=choice_of(subjects), probes=probes)
                    ratios(metric, plan, grid, pool)


def _clipscore(folder: Path) -> str:
    """Write CLIPScore's network with random weights and return its reference.

    Cosines of random towers are as a rule negative, and CLIPScore is then 0: the text tower is turned round, so that
    there is something to compare.
    """
    reference = write(folder, ["clipscore"])["clipscore"]
    path = reference.partition("@")[2]
    state = torch.load(path, weights_only=True)
    torch.save({**state, "text_projection": -state["text_projection"]}, path)
    return reference


def ratios(metric: Metric, plan: Plan, grid: str, pool: Pool) -> None:
    """Audit a part of the demo corpus, every way; compare its speed and its scores with the two other ways to score.

    No engine beats the bare encoders on what is unique: their speed against separate scoring is told as what could be.
    """
    images, captions, pairs = _inputs(plan)
    few = {item.id for item in plan.corpus.items[:: len(plan.corpus) // metric.separately][: metric.separately]}
    subset = [pair for pair in pairs if pair[0][0] in few]
    for way in WAYS:
        with pool.lease(plan.evaluators[0]) as loaded, threads(way.threads):
            assert isinstance(loaded, DualEncoder)
            _bare(loaded, list(images.values())[:BATCH], captions[:BATCH])  # warm up
            audits, bares = [], []
            for _ in range(metric.repeats):  # in turn, so that a busy minute of the machine meets both
                bares.append(_bare(loaded, list(images.values()), captions))
                audits.append(_audit(plan, pool, way))
            clock = _Clock()
            alone = [loaded.score([images[key]], [caption])[0] for _, key, caption in subset]
            separate = clock.took().times(len(pairs) / len(subset))
        scores = audits[0][1]
        apart = float(np.max(np.abs(np.array([scores[key] for key, _, _ in subset]) - np.array(alone))))
        audit, bare = _median(took for took, _ in audits), _median(bares)
        what = f"audit of {grid} ({metric.name}; {way.name})"
        often = "once" if metric.repeats == 1 else f"medians of {metric.repeats}"
        n = (
            f"{len(plan.corpus)} items, {len(pairs)} pairs, {len(images)} unique images, {len(captions)} unique "
            f"captions; {often}, load {os.getloadavg()[0]:.0f}"
        )
        row(
            f"{what} against every pair scored separately",
            f"{separate.seconds / audit.seconds:.1f} × faster of {separate.seconds / bare.seconds:.1f} × at best; "
            f"{separate.cpu / audit.cpu:.1f} of {separate.cpu / bare.cpu:.1f} × by the processor's time; "
            f"scores {apart:.1g} apart, {np.count_nonzero(alone)} of them above 0",
            f"{n}; {len(pairs) / len(images):.1f} pairs an image; {len(subset)} pairs timed separately",
            "≥ 4 ×, ≤ 1e-5",
        )
        row(
            f"{what}, reading, rendering, scoring and writing, against the bare encoders",
            f"{bare.seconds / audit.seconds:.2f} of their speed ({audit.seconds:.1f} s against {bare.seconds:.1f} s); "
            f"{bare.cpu / audit.cpu:.2f} by the processor's time ({audit.cpu:.1f} s against {bare.cpu:.1f} s)",
            n,
            "≥ 0.95",
        )
        if apart > 1e-5:
            raise SystemExit(f"scores differ by {apart:g} from those of the pairs scored separately")


def workers() -> None:
    """Audit a part of the demo corpus with one and with two workers of one thread each, in turn."""
    runs: dict[int, list[tuple[float, float, str]]] = {1: [], 2: []}
    with (
        tempfile.TemporaryDirectory() as out,  # their own processes: towers remember pictures met before
        ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as apart,
    ):
        for turn in range(2):
            for count, found in runs.items():
                found.append(apart.submit(_timed, Path(out) / f"{count}-{turn}", count).result())
    plan = _shared_plan()
    one, two = (min(seconds for seconds, _, _ in runs[count]) for count in (1, 2))
    scored = {count: min(seconds for _, seconds, _ in runs[count]) for count in runs}
    same = len({content for each in runs.values() for _, _, content in each}) == 1
    row(
        "audit with two workers against one, a thread each (three offline evaluators)",
        f"{scored[1] / scored[2]:.2f} × faster ({one / two:.2f} × with loading), {'equal' if same else 'OTHER'} bytes",
        f"{len(plan.corpus)} items, {len(plan.shards)} shards; {scored[1]:.0f} s and {scored[2]:.0f} s, better of two",
        "≥ 1.7 ×, equal bytes",
    )
    if not same:
        raise SystemExit("the tables of two workers have other bytes than those of one")


def _shared_plan() -> Plan:
    return _plan(WORKERS_ITEMS, evaluators=OFFLINE, shard_items=4)


def _timed(out: Path, count: int) -> tuple[float, float, str]:
    """Seconds in all, seconds after loading, and a digest of all tables."""
    plan = _shared_plan()
    begun: list[float] = []
    started = time.perf_counter()
    run = run_audit(
        plan,
        out,
        run_id="bench",
        pool=Pool(),
        workers=count,
        threads=1,
        progress=lambda told: begun.append(time.perf_counter()) if told.phase != "loading" else None,
    )
    ended = time.perf_counter()
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(run.path.rglob("*.parquet"))))
    return ended - started, ended - begun[0], digest.hexdigest()


def demo() -> None:
    """Audit the whole demo corpus with every offline evaluator: with two workers, then in this process."""
    plan = make_plan(catalogue().get("demo").load(), AuditRequest(evaluators=OFFLINE))
    with tempfile.TemporaryDirectory() as out:
        started = time.perf_counter()
        run_audit(plan, Path(out), run_id="bench", pool=Pool(), workers=2)
        seconds = time.perf_counter() - started
    row(
        "the same with two workers, models loaded and results written",
        f"{seconds / 60:.1f} min",
        f"{len(plan.corpus)} items, {cores()} cores, once",
        "< 4 min",
    )
    _demo_here()


def _demo_here() -> None:
    """Audit the whole demo corpus with every offline evaluator in this process; its peak memory is the process's."""
    plan = make_plan(catalogue().get("demo").load(), AuditRequest(evaluators=OFFLINE))
    with tempfile.TemporaryDirectory() as out:
        started = time.perf_counter()
        run = run_audit(plan, Path(out), run_id="bench", pool=Pool())
        seconds = time.perf_counter() - started
    counts = run.manifest["counts"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    row(
        "audit of the demo corpus, three offline evaluators, models loaded and results written",
        f"{seconds / 60:.1f} min, peak memory {peak:.1f} GB",
        f"{counts['items_kept']} items, {counts['rows']} scores, {counts['unique_images']} unique images, once",
        "< 8 min, < 4 GB",
    )


def _plan(count: int, **options: Any) -> Plan:
    corpus = catalogue().get("demo").load()
    every = len(corpus) // count
    chosen = type(corpus)(corpus.name, corpus.items[::every][:count], (), corpus.description)
    cut = {name: options.pop(name) for name in ("shard_items", "batch_size") if name in options}
    request = AuditRequest.of(**{"evaluators": (EVALUATOR,), "subject": "template", **options})
    return make_plan(chosen, request, **{"batch_size": BATCH, **cut})


def _inputs(plan: Plan) -> tuple[dict[str, np.ndarray], list[str], list[tuple[Key, str, str]]]:
    """Unique images by hash, unique captions, and the (key, image hash, caption) of every row."""
    images: dict[str, np.ndarray] = {}
    pairs = []
    for group in render(plan, plan.corpus.items):
        images |= group.images
        for draft in group.drafts:
            name = "identity" if draft.probe is None else draft.probe.name
            pairs.append(((draft.item.id, name, draft.subject.name), draft.image_key, draft.caption))
    return images, sorted({caption for *_, caption in pairs}, key=len), pairs


def _median(found: Iterable[Took]) -> Took:
    told = list(found)
    return Took(median(each.seconds for each in told), median(each.cpu for each in told))


def _bare(evaluator: DualEncoder, images: list[np.ndarray], captions: list[str]) -> Took:
    clock = _Clock()
    for start in range(0, len(images), BATCH):
        evaluator.encode_images(images[start : start + BATCH])
    for start in range(0, len(captions), BATCH):
        evaluator.encode_captions(captions[start : start + BATCH])
    return clock.took()


def _audit(plan: Plan, pool: Pool, way: Way) -> tuple[Took, dict[Key, float]]:
    kept_plates.cache_clear()  # the fills are a part of every audit, not of the first one alone
    with tempfile.TemporaryDirectory() as out:
        clock = _Clock()
        run = run_audit(plan, Path(out), run_id="bench", pool=pool, threads=way.threads, renderers=way.renderers)
        took = clock.took()
        with Store.open(run.path) as store:
            table = store.query("select item, probe, subject, score from scores")
    keys = zip(table["item"], table["probe"], table["subject"], strict=True)
    return took, dict(zip(keys, table["score"], strict=True))


class _Clock:
    """Seconds since it was made, and those of a processor, of ended processes too."""

    def __init__(self) -> None:
        self._begun = self._now()

    def took(self) -> Took:
        return Took(*(now - begun for now, begun in zip(self._now(), self._begun, strict=True)))

    @staticmethod
    def _now() -> tuple[float, float]:
        used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return time.perf_counter(), sum(each.ru_utime + each.ru_stime for each in used)


if __name__ == "__main__":
    main()
