"""Whatever is asked of the pool, what is loaded stays under its budget, and what has no memory says where it went."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InvariscopeError, NotAvailable
from core.evaluators.pool import Pool
from tests.evaluators import sizes

NAMES = ("A", "B", "C", "Larger", "Huge", "Smaller", "Broken", "Starved")
BUDGET = 110.0


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of a user's own; it is read anew at every lease, and so the counts live in a module."""
    made = tmp_path_factory.mktemp("plugin") / "made.py"
    made.write_text(f"from tests.evaluators.sizes import {', '.join(NAMES)}\n", encoding="utf-8")
    return made


@pytest.fixture
def plugin(path: Path) -> Callable[[str], str]:
    sizes.ROOM.update(card=1e9, cpu=1e9)
    sizes.AT_LOAD.clear()
    sizes.ALIVE.clear()
    return lambda name: f"{path}:{name}"


def lease(pool: Pool, reference: str) -> None:
    with pool.lease(reference):
        pass


def held_mb() -> float:
    """What is really alive, whatever the pool counts."""
    return float(sum(each.real_mb for each in sizes.ALIVE))


@settings(max_examples=60, deadline=None)
@given(
    actions=st.lists(
        st.one_of(
            st.tuples(st.sampled_from(["lease", "hold"]), st.sampled_from(NAMES)),
            st.tuples(st.just("drop"), st.integers(0, 3)),
        ),
        max_size=9,
    )
)
def test_no_sequence_of_leases_and_holds_keeps_more_than_the_budget(path: Path, actions: list[tuple[str, Any]]) -> None:
    sizes.ALIVE.clear()
    pool = Pool(BUDGET, "cpu", patience_s=0.0)
    holds: list[tuple[str, ExitStack]] = []
    for action, what in actions:
        if action == "drop":
            if what < len(holds):
                holds.pop(what)[1].close()
        elif action == "lease":
            with suppress(InvariscopeError, ValueError):
                lease(pool, f"{path}:{what}")
        else:
            stack = ExitStack()
            with suppress(InvariscopeError, ValueError):
                stack.enter_context(pool.hold(f"{path}:{what}"))
                holds.append((what, stack))
        loaded = pool.loaded()
        assert held_mb() == sum(each.memory_mb for each in loaded) <= BUDGET
        assert {each.reference.rpartition(":")[2] for each in loaded if each.in_use} == {name for name, _ in holds}
    for _, stack in holds:
        stack.close()
    pool.release()
    assert pool.loaded() == ()
    assert held_mb() == 0


def test_many_threads_together_never_load_beyond_the_budget(plugin: Callable[[str], str]) -> None:
    pool = Pool(BUDGET, "cpu", patience_s=30)
    barrier = threading.Barrier(4)

    def work(start: int) -> None:
        barrier.wait()
        for turn in range(3):
            lease(pool, plugin(("A", "B", "C", "Broken")[(start + turn) % 3]))
            with suppress(ValueError):
                lease(pool, plugin("Broken"))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert max(sizes.AT_LOAD) <= BUDGET
    assert held_mb() <= BUDGET


def test_one_that_is_larger_than_it_says_costs_idle_ones_their_place(plugin: Callable[[str], str]) -> None:
    pool = Pool(BUDGET, "cpu", patience_s=0.0)
    lease(pool, plugin("B"))
    lease(pool, plugin("Larger"))
    assert [(each.reference, each.memory_mb) for each in pool.loaded()] == [(plugin("Larger"), 55)]
    lease(pool, plugin("B"))
    sizes.AT_LOAD.clear()
    lease(pool, plugin("Larger"))
    assert sizes.AT_LOAD == [55]  # known by now: room was made before the load


def test_one_that_turns_out_too_large_is_dropped_and_says_its_size(plugin: Callable[[str], str]) -> None:
    pool = Pool(BUDGET, "cpu", patience_s=0.0)
    for _ in range(2):
        with pytest.raises(NotAvailable, match=r"'huge' needs 140 MB and the pool may hold 110 MB.*at least 140"):
            lease(pool, plugin("Huge"))
        assert pool.loaded() == ()
        assert held_mb() == 0
    with (
        pool.hold(plugin("B")),
        pytest.raises(NotAvailable, match=r"no room for evaluator 'larger' \(55 MB of 110 MB\)"),
    ):
        lease(pool, plugin("Larger"))


def test_one_that_is_smaller_than_it_says_leaves_its_room_to_others(plugin: Callable[[str], str]) -> None:
    pool = Pool(BUDGET, "cpu", patience_s=0.0)
    for name in ("Smaller", "A"):
        lease(pool, plugin(name))
    assert [each.memory_mb for each in pool.loaded()] == [30, 40]


def test_a_card_without_memory_is_first_emptied(plugin: Callable[[str], str]) -> None:
    pool = Pool(1000, "card")
    sizes.ROOM["card"] = 120  # another program has the rest
    for name in ("B", "C"):
        lease(pool, plugin(name))
    assert [(each.reference, each.device, each.note) for each in pool.loaded()] == [(plugin("C"), "card", "")]


def test_what_the_card_has_no_memory_for_runs_on_the_cpu_and_says_so(
    plugin: Callable[[str], str], caplog: pytest.LogCaptureFixture
) -> None:
    pool = Pool(100, "card")
    sizes.ROOM["card"] = 70
    with caplog.at_level(logging.WARNING):
        for name in ("C", "B", "A"):
            lease(pool, plugin(name))
    told = "c: card has no memory left to load it; going on on the CPU"
    assert told in caplog.text
    found = {each.reference.rpartition(":")[2]: (each.device, each.note) for each in pool.loaded()}
    assert found["A"] == ("card", "")
    assert found.get("C", ("cpu", f"{told}.")) == ("cpu", f"{told}.")


def test_lying_on_the_cpu_it_takes_nothing_of_the_cards_budget(plugin: Callable[[str], str]) -> None:
    pool = Pool(100, "card")
    sizes.ROOM["card"] = 70
    lease(pool, plugin("C"))
    sizes.ROOM["card"] = 1e9
    with pool.hold(plugin("C")), pool.hold(plugin("B")), pool.hold(plugin("A")):
        assert {each.device for each in pool.loaded()} == {"card", "cpu"}


def test_the_cpu_is_no_way_out_where_it_has_no_memory_either(
    plugin: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes.ROOM["card"] = 10
    monkeypatch.setenv("INVARISCOPE_POOL_MB", "90")
    with pytest.raises(
        NotAvailable, match="card has no memory left for it, and the CPU would need 100 MB of at most 90"
    ):
        lease(Pool(100, "card"), plugin("C"))
    with pytest.raises(NotAvailable, match="'starved': no memory left to load it, even on the CPU"):
        lease(Pool(100, "cpu"), plugin("Starved"))
