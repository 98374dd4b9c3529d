"""What is worked out while nobody looks: partial results, an estimate, an end, one for all who ask."""

import threading
from threading import BoundedSemaphore
from typing import Any

import numpy as np
import pytest

from core.errors import InvalidInput
from pages.views.failures.failure_pictures import Split, best_split
from pages.views.probe_lab.lab_work import Works, let_in


def test_a_work_is_begun_once_and_tells_how_far_it_is() -> None:
    go, begun = threading.Event(), list[int]()

    def make(tell: Any) -> str:
        begun.append(1)
        tell("half", 0.5)
        assert go.wait(30)
        return "whole"

    works = Works(1)
    work = works.of("key", make, "one")
    assert works.of("key", make, "one") is work
    while work.partial is None:
        assert not work.over.wait(0.01)
    assert (work.partial, work.share, work.over.is_set()) == ("half", 0.5, False)
    assert work.seconds_left() is not None
    go.set()
    assert work.over.wait(30)
    assert (work.made, work.error, begun) == ("whole", "", [1])


@pytest.mark.parametrize("error", [InvalidInput("no room"), RuntimeError("no room")])
def test_what_fails_says_why(error: Exception) -> None:
    def make(tell: Any) -> None:
        raise error

    work = Works(1).of("key", make, "one")
    assert work.over.wait(30)
    assert work.made is None
    assert "no room" in work.error


def test_what_is_stopped_ends_at_its_next_partial_result_and_may_be_asked_for_again() -> None:
    go = threading.Event()

    def make(tell: Any) -> str:
        assert go.wait(30)
        tell("half", 0.5)
        return "whole"

    works = Works(1)
    work = works.of("key", make, "one")
    assert works.of("key", make, "another") is work
    work.leave("one")
    assert not work.unwanted.is_set()  # somebody else waits for it
    work.leave("another")
    go.set()
    assert work.over.wait(30)
    assert work.made is None
    again = works.of("key", make, "one")
    assert again is not work
    assert again.over.wait(30)
    assert again.made == "whole"


def test_a_split_shows_the_object_as_it_was_and_as_it_is() -> None:
    left, right = np.zeros((10, 100), bool), np.zeros((10, 100), bool)
    left[:, 5:25], right[:, 75:95] = True, True
    assert best_split(left, right) == Split(50, right=False)
    assert best_split(right, left) == Split(50, right=True)
    assert best_split(left, left).right in (False, True)
    assert best_split(None, left) == Split()
    for before, after in ((left, right), (right, left), (left, left)):
        split = best_split(before, after)
        edge = split.uncovered if split.right else 100 - split.uncovered
        was = before[:, edge:] if split.right else before[:, :edge]
        now = after[:, :edge] if split.right else after[:, edge:]
        assert was.any()
        assert now.any()


def test_no_more_than_told_work_at_once_and_a_place_is_given_back_whatever_happens() -> None:
    room, working, most = BoundedSemaphore(2), list[int](), list[int]()
    leave = threading.Event()

    def read(number: int) -> None:
        with let_in(room, lambda: None):
            working.append(number)
            most.append(len(working))
            assert leave.wait(30)
            working.remove(number)

    threads = [threading.Thread(target=read, args=(number,)) for number in range(3)]
    for each in threads:
        each.start()

    def gone() -> None:
        raise InvalidInput("no longer wanted")

    while len(working) < 2:
        threads[0].join(0.01)
    with pytest.raises(InvalidInput), let_in(room, gone):
        pytest.fail("there was no place")
    leave.set()
    for each in threads:
        each.join(30)
    assert max(most) == 2
    with pytest.raises(ValueError, match="broken"), let_in(room, gone):
        raise ValueError("broken")
    for _ in range(2):
        assert room.acquire(blocking=False)
