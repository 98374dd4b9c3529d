"""A run that was killed, stopped by a full disk or met by a second process loses nothing and doubles nothing."""

import errno
import multiprocessing
import os
import signal
import threading
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from core.audit.manifest import read_run
from core.audit.plan import Plan, make_plan
from core.audit.run import RunStopped, run_audit
from core.audit.store import Store
from core.errors import StoreError
from core.evaluators.pool import Pool
from tests.audit.squares import HISTOGRAM, SLOW, build_corpus

ITEMS = 12

# Ended by kill, a run needs a process of its own: forked from a server that has torch imported already.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["torch"])


def plan_of(root: Path, evaluator: str = SLOW) -> Plan:
    return make_plan(build_corpus(root / "corpus", ITEMS), evaluators=[evaluator], shard_items=2, batch_size=4)


def audit_slowly(root: Path, said: Path) -> None:
    try:
        run_audit(plan_of(root), root / "runs", run_id="r", pool=Pool(100, "cpu"))
    except RunStopped as error:
        said.write_text(str(error), encoding="utf-8")


def start(root: Path) -> BaseProcess:
    process = PROCESSES.Process(target=audit_slowly, args=(root, root / "said.txt"))
    process.start()
    return process


def kill(process: BaseProcess) -> None:
    process.kill()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL


def wait_for(process: BaseProcess, folder: Path, shards: int) -> None:
    """Return once the process has begun its run, or made it so far that this many shards are there."""
    deadline = time.monotonic() + 120
    while not (folder / ".lock").is_file() or len(list(folder.glob("scores/*.parquet"))) < shards:
        assert process.is_alive(), "the run ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.002)


def content(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*.parquet"))}


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("uninterrupted")
    return run_audit(plan_of(root), root / "runs", run_id="r", pool=Pool(100, "cpu")).path


@pytest.mark.parametrize("shards", [(1,), (0, 2, 4)], ids=["killed-once", "killed-three-times"])
def test_a_killed_run_goes_on_to_the_very_same_bytes(
    shards: tuple[int, ...], uninterrupted: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "runs" / "r"
    for count in shards:
        process = start(tmp_path)
        wait_for(process, folder, count)
        time.sleep(0.013 * count)  # somewhere inside the next shard
        kill(process)
    assert read_run(folder).status == "running"
    finished = {path: path.stat().st_mtime_ns for path in folder.glob("scores/*.parquet")}
    run = run_audit(plan_of(tmp_path), tmp_path / "runs", run_id="r", pool=Pool(100, "cpu"))
    assert content(folder) == content(uninterrupted)
    assert run.manifest["counts"] == read_run(uninterrupted).manifest["counts"]
    assert run.manifest["content_sha256"] == read_run(uninterrupted).manifest["content_sha256"]
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    assert not list(folder.glob("**/*.tmp"))


def test_a_run_in_progress_can_be_read_and_not_joined_and_a_dead_one_is_not_waited_for(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "r"
    process = start(tmp_path)
    wait_for(process, folder, 1)
    try:
        with Store.open(folder) as store:
            assert store.problems == ()
            assert store.runs()[0].status == "running"
            assert store.query("select count(distinct item) n from scores").n[0] >= 2
        with pytest.raises(StoreError, match=r"another process works on run r in .*; wait for it"):
            run_audit(plan_of(tmp_path), tmp_path / "runs", run_id="r", pool=Pool(100, "cpu"))
    finally:
        kill(process)
    run = run_audit(plan_of(tmp_path), tmp_path / "runs", run_id="r", pool=Pool(100, "cpu"))
    assert run.status == "complete"


def test_interrupting_from_the_keyboard_ends_with_one_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "r"
    process = start(tmp_path)
    wait_for(process, folder, 1)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGINT)
    process.join(60)
    said = (tmp_path / "said.txt").read_text(encoding="utf-8")
    assert said.startswith("run r stopped after")
    assert "\n" not in said
    assert read_run(folder).status == "interrupted"


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
    before = threading.active_count()
    run_audit(plan_of(tmp_path, HISTOGRAM), tmp_path / "runs", run_id="r", pool=Pool(100, "cpu"))
    assert threading.active_count() == before
