"""Shards depend on the plan alone: in any order, with any number of workers, through any death, the bytes are equal."""

import logging
import multiprocessing
import os
import pickle
import random
import re
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import torch

from core import __version__
from core.audit.plan import Plan
from core.audit.render import Group, render
from core.audit.run import Progress, RunStopped, run_audit
from core.audit.shards import ShardCounts
from core.audit.workers import crew, making
from core.audit.workers.children import Inbox, packed
from core.audit.workers.embedded_captions import (
    CaptionFolder,
    CaptionTable,
    Prompts,
    caption_table,
    prompts,
    read_captions,
    readers,
)
from core.audit.workers.making import Failed, Hello, Maker, serve, threads
from core.audit.workers.tasks import Embedded, Known, Made, Shard, Work, without_items
from core.audit.workers.teams import Processes
from core.corpora.registry import catalogue
from core.corpora.schema import Item
from core.errors import InvalidInput
from core.evaluators import registry
from core.evaluators.cache import caption_hash
from core.evaluators.metrics.conse import ConseLite0, ConseLite2
from core.evaluators.pool import Pool
from core.evaluators.registry import find, offer
from core.evaluators.scoring import CaptionEmbeddings, in_reading_order
from core.probes.registry import catalogue as probes
from core.store.run_files import Run, read_run
from tests.audit.squares import GATED, HISTOGRAM, PAIRED, PLUGINS, build_corpus
from tests.plans import make_plan
from tests.plugins.gate import PATIENCE_S, Gate

MORTAL, FICKLE, BUDGETED, SPENT = (
    f"{PLUGINS / 'mortal.py'}:{name}" for name in ("Mortal", "Fickle", "Budgeted", "Spent")
)
ITEMS = 10

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["torch"])


def plan_of(root: Path, *evaluators: str) -> Plan:
    corpus = build_corpus(root / "corpus", ITEMS)
    return make_plan(corpus, evaluators=evaluators, shard_items=2, batch_size=4)


def audit(root: Path, plan: Plan, name: str, **options: object) -> Run:
    return run_audit(plan, root / name, run_id="r", pool=Pool(100, "cpu"), threads=1, **options)  # type: ignore[arg-type]


def content(run: Run) -> dict[Path, bytes]:
    return {path.relative_to(run.path): path.read_bytes() for path in sorted(run.path.rglob("*.parquet"))}


def same(one: Run, other: Run) -> None:
    assert content(one) == content(other)
    for name in ("counts", "content_sha256", "captions", "key"):
        assert one.manifest[name] == other.manifest[name], name


def test_two_workers_of_whom_one_is_killed_give_the_bytes_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path))
    plan = plan_of(tmp_path, MORTAL, PAIRED)
    alone = audit(tmp_path, plan, "alone")
    (tmp_path / "lives").write_text("1", encoding="utf-8")
    told: list[Progress] = []
    with caplog.at_level(logging.WARNING, "invariscope.audit"):
        pair = audit(tmp_path, plan, "pair", workers=2, progress=told.append)
    same(alone, pair)
    assert len(caplog.records) == 1
    assert re.fullmatch(
        r"a worker ended with code -9 while making shard \d; another takes its place", caplog.records[0].message
    )
    assert (alone.manifest["workers"], pair.manifest["workers"]) == (1, 2)
    assert [each.done for each in told] == sorted(each.done for each in told)
    assert (told[-1].phase, told[-1].done) == ("complete", told[-1].total)
    loaded = [each.place for each in told if each.phase == "loading"]
    assert {0, 1, 2} == set(loaded)  # said by workers as by the audit's own process
    assert {name: each["images"] for name, each in pair.manifest["speed"].items()} == {
        name: each["images"] for name, each in alone.manifest["speed"].items()
    }


class Noted(crew.Worker):
    """A worker that does nothing by itself."""

    def send(self, message: bytes) -> None:
        """Hear it."""

    def end(self) -> str:
        """Be gone."""
        return "nothing"


class Slow(crew.Team[Noted]):
    """A team of which one is slow: it does a task while the others do three each.

    Attributes:
        waited: for each look, whether somebody had nothing to do while another held a task that it had not begun.
    """

    def _start(self) -> Noted:
        return Noted()

    def start(self) -> None:
        self._first = [b""]
        self._workers = [self._begin() for _ in range(self._count)]
        for worker in self._workers:
            worker.ready = True
        self.waited: list[bool] = []

    def _hear(self, seconds: float) -> Iterator[tuple[Noted, Any]]:
        held = [len(worker.todo) for worker in self._workers]
        self.waited.append(min(held) == 0 and max(held) > 1)
        for worker in self._workers[1:] * 3 + self._workers[:1]:
            if worker.todo:
                yield worker, worker.todo[0]


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("tasks", [1, 4, 11, 12])
@pytest.mark.parametrize("apart", [0, 3])
def test_nobody_waits_while_another_holds_a_task_that_it_has_not_begun(count: int, tasks: int, apart: int) -> None:
    team = Slow(count, device=None, budget_mb=None, intra_op=1, renderers=apart)
    team.start()
    shards = [Shard(index, ()) for index in range(tasks)]
    done = [task.index for task in team.each(shards)]  # type: ignore[union-attr]
    assert sorted(done) == list(range(tasks))
    assert not any(team.waited)


def test_a_task_that_kills_every_worker_stops_the_run_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path))
    monkeypatch.setattr(crew, "MOST_DEATHS", 1)
    (tmp_path / "lives").write_text("99", encoding="utf-8")
    with pytest.raises(
        RunStopped, match=r"1 workers ended \(the last with code -9\) while making shard \d, perhaps for"
    ):
        audit(tmp_path, plan_of(tmp_path, MORTAL), "runs", workers=2)
    assert read_run(tmp_path / "runs" / "r").status == "interrupted"
    assert not _children(os.getpid())


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.whole)])
def test_an_evaluator_that_stops_the_run_stops_it_from_a_worker_too(tmp_path: Path, workers: int) -> None:
    plan = plan_of(tmp_path, SPENT)
    with pytest.raises(RunStopped, match=r"the budget is spent; run r stopped after \d of 5 shards: start it again"):
        audit(tmp_path, plan, "runs", workers=workers)
    assert read_run(tmp_path / "runs" / "r").status == "interrupted"


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.whole)])
def test_processes_that_render_bring_the_same_bytes(tmp_path: Path, workers: int) -> None:
    plan = plan_of(tmp_path, HISTOGRAM, PAIRED)
    same(audit(tmp_path, plan, "alone"), audit(tmp_path, plan, "apart", workers=workers, renderers=2))
    assert not _children(os.getpid())


def test_the_first_shard_is_rendered_while_captions_are_embedded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, begun = plan_of(tmp_path, HISTOGRAM), threading.Event()

    def rendered(plan: Plan, items: Sequence[Item]) -> Iterator[Group]:
        begun.set()
        return render(plan, items)

    class Waiting(find(HISTOGRAM)):  # type: ignore[misc]
        """Reads captions once a shard is being rendered."""

        spec = replace(find(HISTOGRAM).spec, name="waiting")

        def encode_captions(self, captions: Sequence[str]) -> torch.Tensor:
            """Wait, and read them."""
            assert begun.wait(PATIENCE_S)
            found: torch.Tensor = super().encode_captions(captions)
            return found

    monkeypatch.setattr(making, "render", rendered)
    monkeypatch.setattr(registry, "_OFFERED", {})
    whole = audit(tmp_path, replace(plan, evaluators=(offer(Waiting),)), "whole")
    assert whole.manifest["counts"]["scores_null"] == 0


def test_processes_that_render_are_there_before_they_are_asked_and_end_with_the_audit() -> None:
    with making.Renderers(2):
        assert len(_children(os.getpid())) == 2
    assert not _children(os.getpid())


def test_a_process_that_renders_and_dies_stops_the_run_with_a_sentence(tmp_path: Path) -> None:
    def kill(_: Progress) -> None:
        for each in _children(os.getpid()):
            os.kill(each, signal.SIGKILL)

    with pytest.raises(RunStopped, match="a process that renders ended, perhaps for lack of mem"):
        audit(tmp_path, plan_of(tmp_path, HISTOGRAM), "runs", renderers=1, progress=kill)
    same(audit(tmp_path, plan_of(tmp_path, HISTOGRAM), "alone"), audit(tmp_path, plan_of(tmp_path, HISTOGRAM), "runs"))


def test_workers_that_load_other_evaluators_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="a worker loaded other evaluators than the first one"):
        audit(tmp_path, plan_of(tmp_path, FICKLE), "runs", workers=2)
    assert not _children(os.getpid())


def test_what_workers_cannot_share_is_refused_before_any_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Processes, "_start", lambda _: pytest.fail("a worker was started"))
    with pytest.raises(InvalidInput, match="evaluator budgeted keeps one budget and one journal; run it with one wor"):
        audit(tmp_path, plan_of(tmp_path, BUDGETED), "runs", workers=2)
    monkeypatch.setattr(registry, "_OFFERED", {})
    mine = offer(type("Mine", (find(HISTOGRAM),), {"spec": replace(find(HISTOGRAM).spec, name="of-a-notebook")}))
    with pytest.raises(InvalidInput, match="evaluator 'of-a-notebook' is a class of this process alone; write it into"):
        audit(tmp_path, plan_of(tmp_path, mine), "runs", workers=2)
    plan = plan_of(tmp_path, HISTOGRAM)
    changed = replace(plan.probes[0], family="mine")
    with pytest.raises(InvalidInput, match=f"probe {changed.name!r} is known in this process alone"):
        audit(tmp_path, replace(plan, probes=(changed, *plan.probes[1:])), "runs", workers=2)
    for options in ({"workers": 0}, {"threads": 0}):
        with pytest.raises(InvalidInput, match="must be at least 1, got 0"):
            run_audit(plan, tmp_path / "none", pool=Pool(100, "cpu"), **options)


def _run(root: Path) -> None:
    os.environ["INVARISCOPE_DATA"] = str(root)
    audit(root, plan_of(root, GATED), "runs", workers=2)


def test_workers_end_with_their_audit_and_another_number_of_them_goes_on(tmp_path: Path) -> None:
    alone = audit(tmp_path, plan_of(tmp_path, GATED), "alone")
    gate = Gate(tmp_path)
    gate.shut(4)
    process = PROCESSES.Process(target=_run, args=(tmp_path,))
    process.start()
    assert process.pid is not None
    for _ in _patiently():
        if gate.holds():
            break
    theirs = _children(process.pid)
    assert len(theirs) >= 2
    process.kill()
    process.join()
    for _ in _patiently():
        if not any(Path(f"/proc/{each}").exists() for each in theirs):  # reaped by whoever adopts them
            break
    gate.open()
    same(alone, audit(tmp_path, plan_of(tmp_path, GATED), "runs"))


def test_a_run_keeps_to_the_threads_that_it_was_begun_with(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, HISTOGRAM)
    stopping = iter(range(1000))
    with pytest.raises(RunStopped):
        audit(tmp_path, plan, "runs", stop=lambda: next(stopping) > 6)
    with pytest.raises(InvalidInput, match="begun with other threads"):
        run_audit(plan, tmp_path / "runs", run_id="r", pool=Pool(100, "cpu"), threads=2)
    run = run_audit(plan, tmp_path / "runs", run_id="r", pool=Pool(100, "cpu"))
    assert run.manifest["threads"] == 1
    same(audit(tmp_path, plan, "whole"), run)


def work_of(plan: Plan, batch: int) -> Work:
    found = {reference: find(reference).load() for reference in plan.evaluators}
    names = tuple(each.spec.name for each in found.values())
    keys = {reference: each.fingerprint.key for reference, each in found.items()}
    plan = replace(plan, batch_size=batch)
    return Work("r", without_items(plan), plan.videos, names, keys, dict.fromkeys(plan.evaluators, batch))


def made(plan: Plan, tasks: list[object], folder: Path, pool: Pool) -> dict[int, Made]:
    work = work_of(plan, 8)
    maker, captions = Maker(work, pool, lambda _index, _variants, _rank: None), CaptionFolder(folder, "key")
    files: dict[str, tuple[Path, ...]] = {}
    for found in maker.each(prompts(plan, work.batches)):
        assert isinstance(found, Embedded)
        key = work.keys[found.task.evaluator]
        captions.write(found.task, key, found.table, found.counts)
        files[key] = (*files.get(key, ()), captions.file(found.task, key))
    shards = [each for each in maker.each([Known(files), *tasks]) if isinstance(each, Made)]  # type: ignore[list-item]
    return {each.index: each for each in shards}


def test_shards_of_real_evaluators_do_not_depend_on_their_order(tmp_path: Path) -> None:
    corpus = catalogue().get("demo").load()
    names = ["conse-lite0", "grounding-judge"]
    chosen = ["vflip", "translation:offset4", "cultural", "size"]
    plan = make_plan(replace(corpus, items=corpus.items[::40]), evaluators=names, probes=chosen, shard_items=2)
    tasks = [Shard(index, items) for index, items in enumerate(plan.shards)]
    shuffled = random.Random(3).sample(tasks, len(tasks))
    assert shuffled != tasks
    pool = Pool(2000, "cpu")
    with threads(1):
        one = made(plan, [*tasks], tmp_path / "one", pool)
        other = made(plan, [*shuffled], tmp_path / "other", pool)
        fresh = made(plan, [shuffled[0]], tmp_path / "fresh", Pool(2000, "cpu"))
    assert one.keys() == other.keys() == {*range(len(tasks))}
    for index, shard in {**other, **fresh}.items():
        assert dict(shard.tables) == dict(one[index].tables)
        assert (shard.told.counts, shard.told.images.tolist()) == (
            one[index].told.counts,
            one[index].told.images.tolist(),
        )
    assert sum(each.told.counts.caption_encodings for each in one.values()) == 0


def test_captions_are_embedded_once_for_all_shards_and_again_where_a_file_is_damaged(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, HISTOGRAM)
    whole = audit(tmp_path, plan, "whole")
    counts = whole.manifest["counts"]
    assert whole.manifest["captions"]["caption_encodings"] == counts["caption_encodings"] == counts["unique_captions"]
    told: list[Progress] = []
    with pytest.raises(RunStopped):
        audit(tmp_path, plan, "runs", progress=told.append, stop=lambda: told[-1].shard > 0)
    files = list((tmp_path / "runs" / "r" / "work").glob("captions-*.arrow"))
    assert files
    for path in files:
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    same(whole, audit(tmp_path, plan, "runs"))


def test_a_table_of_captions_gives_back_what_was_put_in_and_is_taken_for_no_other(tmp_path: Path) -> None:
    texts = ("a", "é", "\ud800 odd", "long " * 99)
    task = Prompts("x", 0, texts)
    rng = np.random.default_rng(1)
    values = {text: rng.normal(size=(2, 3)).astype(kind) for text, kind in zip(texts[:3], "fdf", strict=True)}
    table = caption_table(CaptionEmbeddings(values, 4, 2))
    folder = CaptionFolder(tmp_path, "key")
    folder.write(task, "f", table, ShardCounts(calls=2))
    assert folder.counts(task, "f") == ShardCounts(calls=2)
    assert folder.counts(Prompts("x", 0, texts[1:]), "f") is None
    assert folder.counts(replace(task, index=1), "f") is None
    assert CaptionFolder(tmp_path, "other").counts(task, "f") is None
    read = CaptionTable([read_captions(folder.file(task, "f"))])
    for text, value in values.items():
        found = read.get(caption_hash(text))
        assert found is not None
        assert found.dtype == value.dtype
        np.testing.assert_array_equal(found, value)
    assert read.get(caption_hash(texts[3])) is None


@pytest.mark.parametrize(
    "told",
    [
        None,
        3,
        [],
        {},
        {"calls": 1},
        {"image_encodings": 0, "caption_encodings": 1, "calls": "2"},
        {"image_encodings": 0, "caption_encodings": 1, "calls": 2, "more": 3},
    ],
)
def test_counts_that_somebody_changed_are_made_again(told: object) -> None:
    assert ShardCounts.read(told) is None
    assert ShardCounts.read(ShardCounts(0, 1, 2).as_dict()) == ShardCounts(0, 1, 2)


def test_captions_are_shared_by_those_who_embed_the_same_ones_alike_and_nobody_else() -> None:
    texts = {"a": ("x", "y"), "b": ("x", "y"), "c": ("x", "y"), "d": ("x", "z"), "e": ("x", "y")}
    tasks = [Prompts(name, index, (text,)) for name, each in texts.items() for index, text in enumerate(each)]
    keys = {"a": "one", "b": "one", "c": "other", "d": "one", "e": "one"}
    batches = dict.fromkeys("abcd", 8) | {"e": 4}
    assert readers(tasks, keys, batches) == {"a": "a", "b": "a", "c": "c", "d": "d", "e": "e"}


def test_two_evaluators_of_one_text_tower_embed_captions_once_and_score_as_each_does_alone(tmp_path: Path) -> None:
    corpus = build_corpus(tmp_path / "corpus", 3)
    both, *alone = (
        run_audit(
            make_plan(corpus, evaluators=names, probes=["cultural", "vflip"]),
            tmp_path / "-".join(names),
            run_id="r",
            pool=Pool(1000, "cpu"),
            threads=1,
        )
        for names in (("conse-lite0", "conse-lite2"), ("conse-lite0",), ("conse-lite2",))
    )
    assert both.manifest["captions"] == alone[0].manifest["captions"] == alone[1].manifest["captions"]
    for run in alone:
        (name,) = (each["name"] for each in run.manifest["evaluators"])
        found, expected = (pq.read_table(each.path / "scores") for each in (both, run))
        found = found.filter(pc.equal(found["evaluator"].cast("string"), name))
        assert found["score"].equals(expected["score"])
        assert len(expected) > 3 * 12


class Loud(ConseLite0):
    """Reads captions in its own way."""

    def encode_captions(self, captions: Sequence[str]) -> torch.Tensor:
        """Read them shouted."""
        return super().encode_captions([caption.upper() for caption in captions])


def test_whoever_reads_captions_in_a_way_of_its_own_shares_none() -> None:
    loud, lite0, lite2 = Loud.load(), ConseLite0.load(), ConseLite2.load()
    assert lite0.caption_key == lite2.caption_key
    assert len({lite0.caption_key, loud.caption_key, lite0.fingerprint.key}) == 2  # Loud forgot its own fingerprint
    assert loud.caption_key != lite0.caption_key


def test_captions_come_in_whole_batches_short_ones_first(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, HISTOGRAM, PAIRED)
    tasks = prompts(plan, dict.fromkeys(plan.evaluators, 4))
    texts = [text for task in tasks for text in task.texts]
    assert {task.evaluator for task in tasks} == {HISTOGRAM}  # the other reads pairs
    assert texts == sorted(set(texts), key=lambda text: (len(text), text)) == in_reading_order(reversed(texts))
    assert all(len(task.texts) % 4 == 0 for task in tasks[:-1])


def test_a_worker_of_another_version_says_so_and_one_without_the_files_too(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, HISTOGRAM)
    come, said = Inbox[Any](), list[Any]()
    come.put(Hello(without_items(plan), False, "cpu", 100.0, 1, version="0.0.1"))
    serve(come, said.append)
    assert said == [
        Failed(
            "InvalidInput",
            f"the audit is of Invariscope 0.0.1 and a worker of {__version__}; install the same on every machine",
        )
    ]
    shard = Shard(0, plan.corpus.items[:2], there=(tmp_path / "not-here.png",))
    with pytest.raises(InvalidInput, match=r"cannot read .*not-here.png, which the audit can; every node needs"):
        made(plan, [shard], tmp_path / "work", Pool(100, "cpu"))


def test_every_probe_of_the_catalogue_reaches_a_worker(tmp_path: Path) -> None:
    assert pickle.loads(packed(tuple(probes()))) == tuple(probes())


def _children(pid: int) -> set[int]:
    """Worker processes of a process."""
    found = set()
    for path in Path("/proc").glob("[0-9]*"):
        try:
            told = (path / "stat").read_text().rpartition(")")[2].split()
            if int(told[1]) == pid and b"core.audit.workers." in (path / "cmdline").read_bytes():
                found.add(int(path.name))
        except (OSError, ValueError, IndexError):
            continue
    return found


def _patiently() -> Iterator[None]:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        yield
        time.sleep(0.02)
    pytest.fail("it did not happen")
