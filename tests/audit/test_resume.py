"""A run that was killed, stopped by a full disk or met by a second process loses nothing and doubles nothing."""

import errno
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from core.audit.plan import Plan
from core.audit.run import RunStopped, run_audit
from core.errors import StoreError
from core.evaluators.pool import Pool
from core.store.run_files import Run, read_run
from core.store.store import Store
from tests.audit.squares import GATED, HISTOGRAM, build_corpus
from tests.plans import make_plan
from tests.plugins.gate import PATIENCE_S, Gate

ITEMS = 12
SHARD_CALLS = 8
"""Calls of the evaluator that a shard of two items needs, four images a call."""

# Ended by kill, a run needs its own process: forked from a server that has torch imported already.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["torch"])


def plan_of(root: Path, evaluator: str = GATED) -> Plan:
    return make_plan(build_corpus(root / "corpus", ITEMS), evaluators=[evaluator], shard_items=2, batch_size=4)


def audit(root: Path, said: Path) -> None:
    os.environ["INVARISCOPE_DATA"] = str(root)
    try:
        run_audit(plan_of(root), root / "runs", run_id="r", pool=Pool(100, "cpu"))
    except RunStopped as error:
        said.write_text(str(error), encoding="utf-8")


def start(root: Path, shards: int) -> BaseProcess:
    """Begin or go on in its own process; return once it has written so many more shards and waits in the next."""
    gate = Gate(root)
    gate.shut(shards * SHARD_CALLS + 2)
    process = PROCESSES.Process(target=audit, args=(root, root / "said.txt"))
    process.start()
    wait_for(process, gate.holds)
    return process


def wait_for(process: BaseProcess, until: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not until():
        assert process.is_alive(), "the run ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.002)


def kill(process: BaseProcess) -> None:
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL


def content(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*.parquet"))}


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("uninterrupted")
    return run_audit(plan_of(root), root / "runs", run_id="r", pool=Pool(100, "cpu")).path


def finish(root: Path) -> Run:
    Gate(root).open()
    return run_audit(plan_of(root), root / "runs", run_id="r", pool=Pool(100, "cpu"))


def shards_of(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.glob("scores/*.parquet")}


def same_as(uninterrupted: Path, run: Run) -> None:
    assert content(run.path) == content(uninterrupted)
    assert run.manifest["counts"] == read_run(uninterrupted).manifest["counts"]
    assert run.manifest["content_sha256"] == read_run(uninterrupted).manifest["content_sha256"]
    assert not list(run.path.glob("**/*.tmp"))


@pytest.mark.parametrize("more", [(1,), (0, 2, 2)], ids=["killed-once", "killed-three-times"])
def test_a_killed_run_goes_on_to_the_very_same_bytes(
    more: tuple[int, ...], uninterrupted: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "runs" / "r"
    for shards in more:
        kill(start(tmp_path, shards))
    assert read_run(folder).status == "running"
    finished = shards_of(folder)
    assert len(finished) == sum(more)
    same_as(uninterrupted, finish(tmp_path))
    assert finished.items() <= shards_of(folder).items()


def test_a_run_killed_as_soon_as_it_has_its_folder_begins_anew(uninterrupted: Path, tmp_path: Path) -> None:
    Gate(tmp_path).shut(0)
    process = PROCESSES.Process(target=audit, args=(tmp_path, tmp_path / "said.txt"))
    process.start()
    wait_for(process, (tmp_path / "runs" / "r" / ".lock").is_file)
    kill(process)
    same_as(uninterrupted, finish(tmp_path))


def test_a_run_in_progress_can_be_read_and_not_joined_and_a_dead_one_is_not_waited_for(tmp_path: Path) -> None:
    process = start(tmp_path, 1)
    try:
        with Store.open(tmp_path / "runs" / "r") as store:
            assert store.problems == ()
            assert store.runs()[0].status == "running"
            assert store.query("select count(distinct item) n from scores").n[0] == 2
        with pytest.raises(StoreError, match=r"another process works on run r in .*; wait for it"):
            run_audit(plan_of(tmp_path), tmp_path / "runs", run_id="r", pool=Pool(100, "cpu"))
    finally:
        kill(process)
    assert finish(tmp_path).status == "complete"


def test_interrupting_from_the_keyboard_ends_with_one_sentence(tmp_path: Path) -> None:
    process = start(tmp_path, 1)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGINT)
    process.join(PATIENCE_S)
    said = (tmp_path / "said.txt").read_text(encoding="utf-8")
    assert said.startswith("run r stopped after 1 of 6 shards")
    assert "\n" not in said
    assert read_run(tmp_path / "runs" / "r").status == "interrupted"


def test_a_full_disk_is_one_sentence_and_the_run_goes_on_once_there_is_room(small_disk: Path, tmp_path: Path) -> None:
    whole = run_audit(plan_of(tmp_path, HISTOGRAM), tmp_path / "whole", run_id="r", pool=Pool(100, "cpu"))
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * (1024 - 120) * 1024)
    plan = plan_of(tmp_path, HISTOGRAM)
    with pytest.raises(StoreError, match=r"cannot be written: the disk is full; free some space") as caught:
        run_audit(plan, small_disk, run_id="r", pool=Pool(100, "cpu"))
    assert len(str(caught.value).splitlines()) == 1
    finished = list((small_disk / "r").glob("scores/*.parquet"))
    assert 0 < len(finished) < 6
    assert all(pq.read_table(path).num_rows for path in finished)
    assert not list(small_disk.glob("**/*.tmp"))
    ballast.unlink()
    run = run_audit(plan, small_disk, run_id="r", pool=Pool(100, "cpu"))
    assert content(run.path) == content(whole.path)


def test_a_disk_that_fills_up_at_any_write_leaves_a_run_that_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run_audit(plan_of(tmp_path, HISTOGRAM), tmp_path / "whole", run_id="r", pool=Pool(100, "cpu"))
    real, calls = os.fsync, [0]
    plan = plan_of(tmp_path, HISTOGRAM)
    for nth in (1, 4, 9, 16, 23):

        def fails(handle: int, nth: int = nth) -> None:
            calls[0] += 1
            if calls[0] >= nth:
                raise OSError(errno.ENOSPC, "No space left on device")
            real(handle)

        calls[0] = 0
        monkeypatch.setattr(os, "fsync", fails)
        with pytest.raises(StoreError, match="the disk is full"):
            run_audit(plan, tmp_path / "runs", run_id="r", pool=Pool(100, "cpu"))
        monkeypatch.setattr(os, "fsync", real)
        assert not list((tmp_path / "runs").glob("**/*.tmp"))
    run = run_audit(plan, tmp_path / "runs", run_id="r", pool=Pool(100, "cpu"))
    assert content(run.path) == content(whole.path)


def test_no_thread_outlives_a_run(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    run_audit(plan_of(tmp_path, HISTOGRAM), tmp_path / "runs", run_id="r", pool=Pool(100, "cpu"))
    assert set(threading.enumerate()) <= before
