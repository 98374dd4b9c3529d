"""The way into a page: through ``app.py`` alone, whatever other sessions do at the start of a server."""

import gc
import threading

import pytest
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest

from core.jobs import job_queue
from core.jobs.request import audit_request
from core.settings import ROOT
from pages.views.common import access, page_head
from tests.pages.opening import RUN, Open, said, turned

ENTERED = page_head._prepare


@pytest.fixture
def first(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """A first session of the server in its own thread: it arrives while this one is on its way in."""
    arrived = threading.Event()

    def other() -> None:
        PagesManager.uses_pages_directory = False
        arrived.set()

    def meanwhile() -> None:
        if PagesManager.uses_pages_directory:
            session = threading.Thread(target=other)
            session.start()
            session.join()
        ENTERED()

    monkeypatch.setattr(page_head, "_prepare", meanwhile)
    return arrived


def test_a_page_is_behind_the_door_while_another_first_session_arrives(
    open_page: Open, first: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(access.TOKEN, "the-key-of-this-server")
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    turned(app, RUN)
    app.run()
    assert first.is_set(), "Streamlit ran the page without app.py first, as it does in a fresh server"
    assert not app.exception
    assert [title.value for title in app.title] == ["Invariscope"]
    assert "holds this server's token" in said(app)
    assert not app.button


def test_a_page_without_the_dashboard_says_so() -> None:
    app = AppTest.from_file(str(ROOT / "pages" / "runs.py"), default_timeout=120).run()
    assert not app.exception
    assert not app.title
    assert "start it with `python -m core app`" in app.error[0].value


def test_the_page_of_audits_is_not_drawn_for_viewers(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "_local", lambda: False)
    monkeypatch.setattr(access, "visible", lambda pages: pages)
    app = open_page(RUN)
    assert "you are a viewer here" in said(app)
    assert not [each for each in app.button if (each.key or "").startswith("run.")]


def test_a_button_that_an_operator_pressed_no_more_starts_nothing(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_queue, "wake", lambda: None)
    app = open_page(RUN, corpus="demo", evaluators="blind-length", probes="vflip", limit="4", run_id="mine")
    assert not app.button(key="run.start").disabled
    monkeypatch.setattr(access, "_local", lambda: False)
    app.button(key="run.start").click().run()
    assert not app.exception
    assert job_queue.list_jobs() == ((), ())


def test_a_card_s_button_does_nothing_for_a_viewer(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_queue, "wake", lambda: None)
    asked = audit_request(corpus="demo", evaluators=("blind-length",), probes=("vflip",), limit=4, run_id="mine")
    job_queue.start(asked, work=False)
    app = open_page(RUN)
    monkeypatch.setattr(access, "_local", lambda: False)
    app.button(key="run.cancel.mine").click().run()
    assert not app.exception
    assert job_queue.get("mine").status == "waiting"


def test_pages_are_left_out_of_collections_of_garbage_once(open_page: Open) -> None:
    page_head._prepare.clear()
    first = _Held()
    open_page(RUN)
    later = _Held()
    open_page(RUN)
    looked = {id(each) for each in gc.get_objects()}
    assert id(first) not in looked
    assert id(later) in looked


class _Held:
    """Something that Python looks through for garbage."""

    def __init__(self) -> None:
        self.own = {"own": self}
