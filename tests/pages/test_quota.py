"""Viewers keep the server scoring for so long and no longer; its operator for as long as they like."""

import ast
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest, DeferredFileRequestPayload
from streamlit.proto.ForwardMsg_pb2 import BackendOperationResponse
from streamlit.runtime.backend_operation_handler import DeferredFileHandler
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.testing.v1 import AppTest

from core.errors import NotAvailable
from core.evaluators.pool import Pool
from core.settings import ROOT
from pages.views.common import access, quota
from pages.views.common.downloads import _held
from pages.views.common.pressed_files import tell_refused_files
from pages.views.common.quota import TOGETHER, WINDOW, Quota
from pages.views.probe_lab.lab_state import shared
from tests.loops import finish
from tests.pages.opening import FAILURES, LAB, OVERVIEW, Open, said


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def take(held: Quota, clock: Clock, owner: str, seconds: float, each: float = 60) -> None:
    with held.metered(owner, each):
        clock.now += seconds


def test_who_took_what_they_may_waits_until_enough_of_it_is_past(clock: Clock) -> None:
    held = Quota(clock)
    take(held, clock, "a", 40)
    clock.now += 100
    take(held, clock, "a", 25)
    with pytest.raises(NotAvailable, match=r"for 60 s within 10 minutes; there is time again in 475 s"):
        take(held, clock, "a", 1)
    take(held, clock, "b", 1)
    clock.now += 474
    take(held, clock, "a", 1)


def test_all_together_have_half_of_the_time(clock: Clock) -> None:
    held = Quota(clock)
    for number in range(6):
        take(held, clock, f"{number}", 50)
    with pytest.raises(NotAvailable, match="other viewers keep this server busy; there is time again in 350 s"):
        take(held, clock, "new", 1)


def test_what_fails_counts_and_a_quota_of_nothing_scores_nothing(clock: Clock) -> None:
    held = Quota(clock)
    with suppress(ZeroDivisionError), held.metered("a", 5):
        clock.now += 6
        raise ZeroDivisionError
    with pytest.raises(NotAvailable, match="for 5 s"):
        take(held, clock, "a", 1, each=5)
    with pytest.raises(NotAvailable, match="scores nothing for viewers"):
        take(held, clock, "b", 1, each=0)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 30), st.floats(0, 200)), max_size=40))
def test_nobody_has_begun_with_more_than_they_may(steps: list[tuple[str, float, float]]) -> None:
    clock = Clock()
    held, taken = Quota(clock), list[tuple[float, str, float]]()
    for owner, seconds, pause in steps:
        clock.now += pause
        recent = [(name, took) for when, name, took in taken if when > clock.now - WINDOW]
        own, everyone = sum(took for name, took in recent if name == owner), sum(took for _, took in recent)
        try:
            take(held, clock, owner, seconds)
        except NotAvailable:
            assert own >= 60 - 1e-6 or everyone >= TOGETHER * WINDOW - 1e-6
        else:
            assert own < 60 + 1e-6
            assert everyone < TOGETHER * WINDOW + 1e-6
            taken.append((clock.now, owner, seconds))


@pytest.fixture
def viewer(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(access, "_local", lambda: False)
    quota.quota.clear()
    yield
    quota.quota.clear()


@pytest.mark.parametrize("seconds", ["0.000001", "0"])
def test_a_viewer_beyond_the_quota_is_told_so_and_sees_the_rest_of_the_page(
    open_page: Open, viewer: None, monkeypatch: pytest.MonkeyPatch, seconds: str
) -> None:
    monkeypatch.setenv(quota.VIEWER_SECONDS, seconds)
    app = open_page(LAB, evaluators="conse-lite0,conse-lite2", probes="vflip")
    assert not app.exception
    words = said(app)
    assert "scores nothing for viewers" in words if seconds == "0" else "a viewer may keep this server busy" in words
    assert "Probe lab" in {title.value for title in app.title}


def test_an_operator_has_no_quota(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(quota.VIEWER_SECONDS, "0")
    app = open_page(LAB, evaluators="conse-lite0", probes="vflip")
    assert "for viewers" not in said(app)


def test_a_lease_of_nobody_is_refused_in_a_server(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a thread, a dialog or a fragment that no run of ``app.py`` began."""
    open_page(LAB, evaluators="blind-length", probes="vflip")
    with Pool(100, "cpu").lease("blind-length"):
        pass
    monkeypatch.setattr(quota, "exists", lambda: True)
    with pytest.raises(NotAvailable, match="nobody is known"), Pool(100, "cpu").lease("blind-length"):
        pass


@pytest.mark.usefixtures("demo", "viewer")
def test_a_viewer_s_report_files_and_pictures_count(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page(FAILURES)
    assert len(quota.quota()._taken) > 0
    before = len(quota.quota()._taken)
    app = open_page(OVERVIEW)
    app.button(key="overview.report.make").click().run()
    assert not app.exception
    assert len(quota.quota()._taken) > before
    monkeypatch.setattr(quota, "USUAL_SECONDS", 1e-6)
    monkeypatch.setenv(quota.VIEWER_SECONDS, "0.000001")
    app.run()
    assert "a viewer may keep this server busy" in said(app)
    assert "invariscope:" not in said(app)
    assert "may keep this server busy" in said(open_page(FAILURES, probes="hflip"))


@pytest.mark.usefixtures("viewer")
def test_a_file_is_counted_for_who_was_shown_its_button(open_page: Open) -> None:
    def page() -> None:
        import streamlit as st

        from pages.views.common.quota import metered_here

        st.session_state["meter"] = metered_here()

    meter = AppTest.from_function(page).run().session_state["meter"]
    assert _held(meter, lambda: b"made") == b"made"
    assert len(quota.quota()._taken) == 1


UNCOUNTED = {
    "views/common/crash.py": "a few lines about a fault, already made; must be there when all else fails",
    "views/failures/failure_card.py": "the text that stands on the page, below the button",
    "views/run_audit/audit_jobs.py": "a stored file of an operator's page, read and not made",
}
"""Place in pages/ of a button whose file nobody makes -> why it is not counted."""


def sources() -> dict[str, ast.Module]:
    """Place in pages/ -> its code."""
    home = ROOT / "pages"
    return {
        path.relative_to(home).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in home.rglob("*.py")
    }


def calls(tree: ast.AST, name: str) -> list[ast.Call]:
    """Calls of a function or method of this name."""
    found = (each for each in ast.walk(tree) if isinstance(each, ast.Call))
    return [each for each in found if name in (getattr(each.func, "attr", ""), getattr(each.func, "id", ""))]


def given(call: ast.Call) -> ast.expr:
    """What a download button is given to hand out."""
    named = [each.value for each in call.keywords if each.arg == "data"]
    return named[0] if named else call.args[1]


def test_no_button_of_any_page_makes_a_file_uncounted() -> None:
    buttons = [(place, call) for place, tree in sources().items() for call in calls(tree, "download_button")]
    uncounted = [(place, ast.unparse(call)) for place, call in buttons if not _counts(given(call))]
    assert {place for place, _ in uncounted} == set(UNCOUNTED), uncounted
    assert len(buttons) - len(uncounted) >= 18


def _counts(data: ast.expr) -> bool:
    return isinstance(data, ast.Call) and isinstance(data.func, ast.Name) and data.func.id == "counted_making"


def test_no_page_makes_an_edit_or_a_report_uncounted() -> None:
    trees = sources()
    making = {place for place, tree in trees.items() for call in calls(tree, "make") if _of(call, "bench")}
    assert making - {"views/common/quota.py"}
    assert [place for place in making if not calls(trees[place], "make_counted")] == ["views/common/quota.py"]
    reports = {
        place for place, tree in trees.items() for call in calls(tree, "button")
        if call.args and isinstance(call.args[0], ast.Constant) and str(call.args[0].value).startswith("Make ")
    }  # fmt: skip
    assert reports
    assert all(calls(trees[place], "metered_here") for place in reports)


def _of(call: ast.Call, name: str) -> bool:
    return isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") == name


@pytest.mark.usefixtures("viewer")
def test_an_edit_counts_once_for_who_has_it_made_and_not_for_who_sees_it_again(open_page: Open) -> None:
    shared.clear()
    open_page(LAB, evaluators="", probes="vflip,hflip")
    taken = len(quota.quota()._taken)
    assert taken == 1  # nothing is scored: the making alone
    open_page(LAB, evaluators="", probes="hflip,vflip")
    assert len(quota.quota()._taken) == taken


@pytest.mark.usefixtures("viewer")
def test_who_used_up_the_quota_has_no_edit_made_and_is_told_so(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared.clear()
    monkeypatch.setattr(quota, "USUAL_SECONDS", 1e-6)
    monkeypatch.setenv(quota.VIEWER_SECONDS, "0.000001")
    app = open_page(LAB, evaluators="", probes="vflip")
    assert [each for each in app.button if each.key == "lab.see.vflip"]
    app.session_state["lab.probes.panel"] = True
    app.run().button(key="lab.usual").click().run()
    assert not app.exception
    assert "a viewer may keep this server busy" in said(app)
    assert not [each for each in app.button if str(each.key).startswith("lab.see.")]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (NotAvailable("there is time again in 40 s"), "There is time again in 40 s."),
        (KeyError("a dog on Ann's sofa"), "a fault of Invariscope itself"),
    ],
)
def test_a_file_that_is_not_made_says_why_beside_its_button(error: Exception, told: str) -> None:
    def refused() -> bytes:
        raise error

    sentence = _answer(refused).error_msg
    assert told in sentence
    assert "Ann" not in sentence


def test_a_file_that_is_made_has_an_address() -> None:
    answer = _answer(lambda: b"made")
    assert answer.deferred_file.url.startswith("/media/")
    assert not answer.error_msg


def _answer(data: Callable[[], bytes]) -> BackendOperationResponse:
    """What Streamlit's own handler, as the app has it, answers who presses a button."""
    tell_refused_files()
    files = MediaFileManager(MemoryMediaFileStorage("/media"))
    asked = DeferredFileRequestPayload(file_id=files.add_deferred(data, "text/plain", "a", "a.txt"))
    request = BackendOperationRequest(request_id="1", deferred_file=asked)
    return finish(DeferredFileHandler(lambda: files).handle(request, "session"))
