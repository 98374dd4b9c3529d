"""Turns among readers: never more at once than told, first come first served, and a place that can be given up."""

import threading
import time
from collections.abc import Callable

import pytest

from pages.views.probe_lab.lab_work import Turns


def _started(turns: Turns, name: str, order: list[str], leave: threading.Event) -> threading.Thread:
    """A reader in its own thread who holds a turn until told to leave; returns once it stands in line or works."""
    waits = threading.Event()

    def read() -> None:
        with turns.taken(lambda before: waits.set()):
            order.append(name)
            waits.set()
            assert leave.wait(30)

    thread = threading.Thread(target=read)
    thread.start()
    assert waits.wait(30)
    return thread


def test_readers_come_in_the_order_in_which_they_came_and_never_more_at_once_than_told() -> None:
    turns, order, leave = Turns(1), list[str](), [threading.Event() for _ in range(3)]
    threads = [_started(turns, name, order, event) for name, event in zip("abc", leave, strict=True)]
    for done, event in enumerate(leave, start=1):
        assert order == list("abc")[:done]
        event.set()
        threads[done - 1].join(30)
        _until(lambda done=done: len(order) == min(done + 1, 3))
    assert order == ["a", "b", "c"]


def test_one_who_waits_is_told_how_many_are_before_and_may_leave_without_holding_up_those_behind() -> None:
    turns, order, leave = Turns(1), list[str](), threading.Event()
    first = _started(turns, "first", order, leave)
    told = list[int]()

    class Gone(Exception):
        pass

    def go(before: int) -> None:
        told.append(before)
        raise Gone

    with pytest.raises(Gone), turns.taken(go):
        order.append("never")
    assert told == [0]
    behind = _started(turns, "behind", order, leave)
    leave.set()
    for each in (first, behind):
        each.join(30)
    assert order == ["first", "behind"]


def test_a_turn_is_given_back_whatever_happens_in_it() -> None:
    turns = Turns(1)
    with pytest.raises(ValueError, match="broken"), turns.taken(lambda before: None):
        raise ValueError("broken")
    with turns.taken(lambda before: pytest.fail("nobody holds a turn")):
        pass


def test_as_many_as_told_work_at_once() -> None:
    turns, order, leave = Turns(2), list[str](), threading.Event()
    threads = [_started(turns, name, order, leave) for name in "abc"]
    assert sorted(order) == ["a", "b"]
    leave.set()
    for each in threads:
        each.join(30)
    assert order[2] == "c"


def _until(true: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not true():
        assert time.monotonic() < until
        time.sleep(0.01)
