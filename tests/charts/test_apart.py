"""Drawings made in a process of their own against those made here, and what happens where there is none."""

import pickle
import subprocess
import sys
import threading

import pytest

from core.charts import drawing_process, still
from core.charts.drawing_process import Drawings
from core.charts.spec import Figure
from tests.charts.drawings import EDGES, MAKERS

KINDS = ("svg", "pdf")


@pytest.fixture
def figures() -> list[Figure]:
    return [MAKERS[name](EDGES["usual"]) for name in ("intervals", "curve")]


@pytest.fixture
def here(figures: list[Figure]) -> list[dict[str, bytes]]:
    return [still.drawings(each, kinds=KINDS) for each in figures]


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Any figure is worth a process; names those that this process draws itself."""
    drawn: list[str] = []

    def noted(figure: Figure, *, kinds: tuple[str, ...]) -> dict[str, bytes]:
        drawn.append(figure.id)
        return still.drawings(figure, kinds=kinds)

    monkeypatch.setattr(drawing_process, "WORTH_A_PROCESS", 0)
    monkeypatch.setattr(drawing_process.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(drawing_process, "drawings", noted)
    return drawn


def test_a_process_of_its_own_draws_the_same_bytes(
    figures: list[Figure], here: list[dict[str, bytes]], eager: list[str]
) -> None:
    with Drawings(KINDS) as made:
        made.begin(figures[0])
        with made._changed:
            assert made._changed.wait_for(lambda: len(made._made) == 1, timeout=120)
        assert made.of(figures[0]) == here[0]
        assert eager == []
        assert [made.of(each) for each in figures] == here


def test_who_asks_draws_what_a_process_that_ends_leaves(
    figures: list[Figure], here: list[dict[str, bytes]], eager: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing_process, "_MODULE", "core.charts.no_such_module")
    with Drawings(KINDS) as made:
        for each in figures:
            made.begin(each)
        assert [made.of(each) for each in figures] == here
    assert sorted(eager) == sorted(each.id for each in figures)


def test_few_marks_or_one_core_start_no_process(
    figures: list[Figure], here: list[dict[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing_process.subprocess, "Popen", None)
    with Drawings(KINDS) as made:
        assert [made.of(each) for each in figures] == here
    monkeypatch.setattr(drawing_process, "WORTH_A_PROCESS", 0)
    monkeypatch.setattr(drawing_process.os, "cpu_count", lambda: 1)
    with Drawings(KINDS) as made:
        assert [made.of(each) for each in figures] == here
        assert made.of(figures[0]) is made.of(figures[0])
    with Drawings(()) as made:
        made.begin(figures[0])
        assert made.of(figures[0]) == {}


def test_what_is_not_asked_for_is_left_and_its_process_ends(
    figures: list[Figure], eager: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, *given: object, **named: object) -> None:
            super().__init__(*given, **named)  # type: ignore[call-overload]
            started.append(self)

    monkeypatch.setattr(drawing_process.subprocess, "Popen", Noted)
    with Drawings(KINDS) as made:
        for each in figures * 2:
            made.begin(each)
    assert len(started) <= 1
    assert all(each.poll() is not None for each in started)
    assert eager == []


def test_a_process_that_never_answers_is_not_waited_for(
    figures: list[Figure], eager: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, load = threading.Event(), pickle.load
    monkeypatch.setattr(drawing_process, "_MODULE", "tests.charts.mute")
    monkeypatch.setattr(drawing_process.pickle, "load", lambda back: asked.set() or load(back))
    with Drawings(KINDS) as made:
        made.begin(figures[0])
        assert asked.wait(60)
    assert made._thread is not None
    assert not made._thread.is_alive()
    assert eager == []


def test_the_process_ends_with_its_questions() -> None:
    ended = subprocess.run([sys.executable, "-m", "core.charts.drawing_process"], stdin=subprocess.DEVNULL, timeout=120)
    assert ended.returncode == 0
