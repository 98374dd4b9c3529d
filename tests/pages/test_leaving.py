"""When readers left: what was theirs goes, what was freed goes back to the system, once for all who left meanwhile."""

import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable

import psutil
import pytest
from streamlit.runtime.caching import cache_resource_api
from streamlit.testing.v1 import AppTest

from bench.server import Server
from bench.visitor import PATIENCE_S, Visitor
from core.features.human.creation import Pictures
from core.settings import ROOT
from pages.views.common import reader_uploads
from pages.views.common.reader_uploads import AWAY_S, EVERY_S, Leaving
from pages.views.human_validation import study_desk
from siege.crowd import LINK
from siege.material import data_folder
from siege.pictures import rough_png


class Time:
    """Seconds that a test moves, and what is to be done when."""

    def __init__(self) -> None:
        self.now, self.coming = 1000.0, list[tuple[float, Callable[[], None]]]()

    def later(self, seconds: float, what: Callable[[], None]) -> None:
        self.coming.append((self.now + seconds, what))

    def next(self) -> None:
        ((self.now, what),) = self.coming
        self.coming.clear()
        what()


def test_a_server_tidies_up_until_the_sessions_of_those_who_left_have_expired(monkeypatch: pytest.MonkeyPatch) -> None:
    moved, told, given, here = Time(), list[tuple[float, bool]](), list[str](), {"a", "b"}
    monkeypatch.setattr(reader_uploads, "give_back", lambda: given.append("memory"))
    monkeypatch.setattr(reader_uploads, "give_back_buffers", lambda: given.append("buffers"))
    monkeypatch.setattr(reader_uploads, "end_processes", lambda: given.append("decoders"))
    readers = Leaving(lambda: moved.now, moved.later, lambda: not here)
    readers.also(lambda nobody: told.append((moved.now - 1000, nobody)))
    here.remove("a")
    readers.left()
    moved.next()
    assert told == [(EVERY_S, False)]
    here.remove("b")
    readers.left()
    last = moved.now
    while moved.coming:
        moved.next()
    assert [nobody for _, nobody in told[1:]] == [True] * (len(told) - 1)
    assert AWAY_S + EVERY_S <= moved.now - last < AWAY_S + 2 * EVERY_S
    assert given == ["buffers", "memory", *(["decoders", "buffers", "memory"] * (len(told) - 1))]
    readers.left()
    assert len(moved.coming) == 1, "it begins again with the next who leaves"


def test_what_cannot_be_let_go_of_once_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    moved = Time()
    readers = Leaving(lambda: moved.now, moved.later)

    def fails(_: bool) -> None:
        raise ValueError("not now")

    readers.also(fails)
    readers.left()
    with pytest.raises(ValueError, match="not now"):
        moved.next()
    assert len(moved.coming) == 1


def test_a_session_of_the_app_is_noticed_when_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = list[str]()
    monkeypatch.setattr(reader_uploads.LEAVING, "left", lambda: ended.append("left"))
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    assert not app.run().exception
    assert not app.run().exception
    assert not ended
    for name in [name for name in cache_resource_api._resource_caches._function_caches if name is not None]:
        cache_resource_api.clear_session_cache(name)
    assert ended == ["left"]


def test_a_process_that_is_spawned_beside_a_page_shows_nothing() -> None:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    assert not app.run().exception
    assert sys.modules["__main__"].__file__ == str(ROOT / "app.py")
    beside = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(0,))
    beside.start()
    beside.join(PATIENCE_S)
    assert beside.exitcode == 0


def test_pictures_of_a_study_stay_while_somebody_is_there() -> None:
    held = study_desk.desk()
    held._pictures.put("item", Pictures(b"before", b"after"))
    held.forget_pictures(False)
    assert held._pictures.get("item") is not None
    held.forget_pictures(True)
    assert held._pictures.get("item") is None


@pytest.mark.whole
@pytest.mark.filterwarnings("ignore:connect.. must be used:DeprecationWarning")
def test_a_real_server_ends_its_decoder_once_nobody_is_there() -> None:
    with data_folder() as data, Server(data) as server:
        started = psutil.Process(server._process.pid)
        with Visitor(server.address, "probe_lab", LINK) as visitor:
            visitor.upload("lab.file", "a.png", rough_png(1))
            assert len(started.children()) == 1
        until = time.monotonic() + PATIENCE_S
        while started.children() and time.monotonic() < until:
            time.sleep(1)
        assert not started.children()


QUERIES = """
import duckdb, sys
from pathlib import Path
from core.store.store import give_back_buffers
def held():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6
one = duckdb.connect(":memory:")
one.execute("create table t as select range as i, hash(range)::varchar as s from range(400000)")
before = held()
one.execute("select a.s, b.s from t a join t b on a.i = b.i + 1 order by a.s").fetchone()
one.execute("select 1").fetchall()
after = held()
give_back_buffers()
print(before, after, held(), one.execute("select count(*) from t").fetchone()[0])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads what the process holds from /proc")
def test_what_queries_took_goes_back_while_the_database_stays_open() -> None:
    told = subprocess.run([sys.executable, "-c", QUERIES], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    before, after, left, count = map(float, told.split())
    assert after - before > 20, "the query took memory and kept it"
    assert left - before < (after - before) / 2
    assert count == 400_000
