"""The pool loads once, never runs one model from two threads, and keeps inside its budget."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core.errors import InvalidInput, NotAvailable, UnknownName
from core.evaluators.pool import Pool, shared_pool

SOURCE = """
import time
import numpy as np
from core.evaluators.base import Availability, Evaluator, Fingerprint, evaluator

LOG = []

def make(name, memory_mb, *, ready=True, fails=False):
    @evaluator(name=name, title=name, summary="", family="test", score_range=(0.0, 1.0), memory_mb=memory_mb,
               offline=True, source="", licence="")
    class Made(Evaluator):
        busy = 0
        most_busy = 0

        @classmethod
        def availability(cls):
            return Availability(ready, "its weights are not here", "" if ready else f"fetch {name}")

        @classmethod
        def load(cls, *, device="cpu"):
            LOG.append(name)
            time.sleep(0.05)
            if fails:
                raise NotImplementedError("half a file")
            return cls()

        @property
        def fingerprint(self):
            return Fingerprint(name, "", "", "")

        def score(self, images, captions):
            Made.busy += 1
            Made.most_busy = max(Made.most_busy, Made.busy)
            time.sleep(0.001)
            Made.busy -= 1
            return np.zeros(len(images))

    return Made

Small = make("small", 100)
Other = make("other", 100)
Third = make("third", 100)
Big = make("big", 250)
Absent = make("absent", 10, ready=False)
Broken = make("broken", 10, fails=True)
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Callable[[str], str]:
    path = tmp_path / "models.py"
    path.write_text(SOURCE, encoding="utf-8")
    return lambda name: f"{path}:{name}"


@pytest.fixture
def pool() -> Pool:
    return Pool(250, "cpu", patience_s=0.2)


def test_a_stampede_loads_once_and_one_thread_at_a_time_runs_the_model(
    plugin: Callable[[str], str], pool: Pool
) -> None:
    reference = plugin("Small")
    barrier = threading.Barrier(8)

    def work(_: int) -> object:
        barrier.wait()
        for _ in range(5):
            with pool.lease(reference) as evaluator:
                evaluator.score([1], ["a"])  # type: ignore[list-item]
        return evaluator

    with ThreadPoolExecutor(8) as threads:
        seen = set(threads.map(work, range(8)))
    assert len(seen) == 1
    assert type(seen.pop()).most_busy == 1  # type: ignore[attr-defined]
    assert [(each.reference, each.in_use) for each in pool.loaded()] == [(reference, False)]


def test_the_least_recently_used_evaluator_makes_room(plugin: Callable[[str], str], pool: Pool) -> None:
    for name in ("Small", "Other", "Small", "Third"):
        with pool.lease(plugin(name)):
            time.sleep(0.002)
    assert [each.reference.rpartition(":")[2] for each in pool.loaded()] == ["Small", "Third"]
    assert sum(each.memory_mb for each in pool.loaded()) <= pool.budget_mb


def test_what_is_held_stays_and_the_refusal_says_who_holds_it(plugin: Callable[[str], str], pool: Pool) -> None:
    with pool.hold(plugin("Small")), pool.lease(plugin("Other")):
        with (
            pytest.raises(NotAvailable, match=r"no room for evaluator 'third'.*Small.*INVARISCOPE_POOL_MB"),
            pool.lease(plugin("Third")),
        ):
            pass
        assert {each.reference.rpartition(":")[2] for each in pool.loaded() if each.in_use} == {"Small", "Other"}
    with pool.lease(plugin("Third")):
        pass


def test_a_lease_that_must_wait_gets_its_turn_when_memory_is_released(plugin: Callable[[str], str]) -> None:
    pool = Pool(250, "cpu", patience_s=30)
    leased = threading.Event()

    def wait_for_room() -> None:
        with pool.lease(plugin("Big")):
            leased.set()

    with pool.lease(plugin("Small")):
        thread = threading.Thread(target=wait_for_room)
        thread.start()
        assert not leased.wait(0.1)
    thread.join(30)
    assert leased.is_set()


def test_a_held_model_can_still_be_leased_by_another_thread(plugin: Callable[[str], str], pool: Pool) -> None:
    def lease() -> bool:
        with pool.lease(plugin("Small")):
            return True

    with pool.hold(plugin("Small")), ThreadPoolExecutor(1) as thread:
        assert thread.submit(lease).result(timeout=10)


def test_the_same_thread_may_lease_twice(plugin: Callable[[str], str], pool: Pool) -> None:
    with pool.lease(plugin("Small")) as first, pool.lease(plugin("Small")) as second:
        assert first is second


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("Absent", NotAvailable, "its weights are not here; get it with: fetch absent"),
        ("Broken", NotImplementedError, "half a file"),
    ],
)
def test_what_cannot_be_loaded_says_so_every_time_and_takes_no_room(
    plugin: Callable[[str], str], pool: Pool, name: str, error: type[Exception], words: str
) -> None:
    for _ in range(2):
        with pytest.raises(error, match=words), pool.lease(plugin(name)):
            pass
    assert pool.loaded() == ()


def test_an_evaluator_larger_than_the_budget_is_refused_at_once(plugin: Callable[[str], str]) -> None:
    with (
        pytest.raises(NotAvailable, match="'big' needs 250 MB and the pool may hold 200 MB"),
        Pool(200, "cpu").lease(plugin("Big")),
    ):
        pass


def test_release_unloads_what_nobody_holds(plugin: Callable[[str], str], pool: Pool) -> None:
    with pool.lease(plugin("Small")):
        with pool.lease(plugin("Other")):
            pass
        pool.release()
        assert [each.reference.rpartition(":")[2] for each in pool.loaded()] == ["Small"]


def test_an_unknown_name_and_an_impossible_budget_are_refused(monkeypatch: pytest.MonkeyPatch, pool: Pool) -> None:
    with pytest.raises(UnknownName), pool.lease("no-such-evaluator"):
        pass
    with pytest.raises(InvalidInput, match="budget_mb must be positive, got 0"):
        Pool(0)
    for bad in ("many", "-3", "nan", "inf"):
        monkeypatch.setenv("INVARISCOPE_POOL_MB", bad)
        with pytest.raises(InvalidInput, match=f"INVARISCOPE_POOL_MB must be a positive number of MB, got '{bad}'"):
            Pool()
    monkeypatch.setenv("INVARISCOPE_POOL_MB", "512")
    assert Pool().budget_mb == 512


@pytest.fixture
def fresh_shared_pool() -> Iterator[None]:
    shared_pool.cache_clear()
    yield
    shared_pool.cache_clear()


@pytest.mark.usefixtures("fresh_shared_pool")
def test_a_process_has_one_shared_pool() -> None:
    assert shared_pool() is shared_pool()
