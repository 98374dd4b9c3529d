"""What pages freed goes back to the system once for all who left, when their sessions have expired."""

import pytest
from streamlit.runtime.caching import cache_resource_api
from streamlit.testing.v1 import AppTest

from core.settings import ROOT
from pages.views.common import leaving


class Clock:
    """Time that a test moves, and what is to happen when."""

    def __init__(self) -> None:
        self.now, self.coming, self.given = 1000.0, list[float](), 0

    def later(self, seconds: float) -> None:
        self.coming.append(self.now + seconds)

    def give(self) -> None:
        self.given += 1


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(leaving, "_left", [0.0])
    monkeypatch.setattr(leaving, "_later", found.later)
    monkeypatch.setattr(leaving, "give_back", found.give)
    monkeypatch.setattr(leaving.time, "monotonic", lambda: found.now)
    return found


def test_memory_is_given_back_once_when_the_last_who_left_has_expired(clock: Clock) -> None:
    leaving.left()
    clock.now += 100
    leaving.left()
    assert clock.coming == [1000 + leaving.EXPIRES_S]
    clock.now = clock.coming.pop()
    leaving._give_back()
    assert (clock.given, clock.coming) == (0, [1100 + leaving.EXPIRES_S])
    clock.now = clock.coming.pop()
    leaving._give_back()
    assert (clock.given, clock.coming) == (1, [])
    leaving.left()
    assert clock.coming == [clock.now + leaving.EXPIRES_S]


def test_a_session_of_the_app_is_noticed_when_it_ends(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = list[str]()
    monkeypatch.setattr(leaving, "left", lambda: ended.append("left"))
    assert not AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run().exception
    held = [name for name in cache_resource_api._resource_caches._function_caches if name is not None]
    for name in held:
        cache_resource_api.clear_session_cache(name)
    assert ended == ["left"]
