"""Where a page fails, its reader gets a sentence and a report, and neither holds anything of the reader's."""

import json
from pathlib import Path

import pytest
from streamlit import config, error_util
from streamlit.testing.v1 import AppTest

from core.errors import InvalidInput
from core.settings import ROOT
from pages.views.common import crash
from pages.views.common.crash import ELSEWHERE, MOST_CAUSES, report
from tests.pages.opening import WORDS, Open, texts

SECRET = "a dog on Ann's sofa"

SCRIPT = """
import streamlit as st
from pages.views.common.crash import catch_crashes

def fail():
    raise KeyError("a dog on Ann's sofa")

catch_crashes()
st.button("In a callback", key="callback", on_click=fail)

@st.fragment
def part():
    if st.button("In a fragment", key="fragment"):
        fail()

part()
if st.button("Twice", key="twice"):
    st.rerun()
if st.button("Stop", key="stop"):
    st.stop()
st.write("to the end")
"""


@pytest.fixture(autouse=True)
def restored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave Streamlit's own handler to the tests that come after."""
    monkeypatch.setattr(error_util, "show_uncaught_app_exception", error_util.show_uncaught_app_exception)


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page Words fails over what the reader has."""

    def glossary() -> object:
        caption = SECRET
        try:
            raise ValueError(caption)
        except ValueError as error:
            raise KeyError(f"{caption} in /srv/ann/pictures") from error

    monkeypatch.setattr("pages.views.words_view.glossary", glossary)


def shown(app: AppTest) -> str:
    """Everything that the browser is sent, in one string."""
    return "\n".join([texts(app), *(str(each.proto) for each in app.exception), str(app.main)])


def file_of(app: AppTest) -> bytes:
    """The file that the one button offers."""
    (button,) = app.get("download_button")
    assert "Crash report" in str(button.proto)
    return crash_files[-1]


crash_files: list[bytes] = []


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep each file on its way into the button: AppTest has no way to press a download."""
    real = crash.st.download_button

    def keep(label: str, data: bytes, *args: object, **options: object) -> bool:
        if label == "Crash report":
            crash_files.append(data)
        return real(label, data, *args, **options)  # type: ignore[arg-type]

    crash_files.clear()
    monkeypatch.setattr(crash.st, "download_button", keep)


def test_a_page_that_fails_says_one_sentence_and_offers_a_report_without_the_readers_content(
    open_page: Open, failing: None
) -> None:
    app = open_page(WORDS)
    (box,) = app.exception
    told = json.loads(file_of(app))
    assert told["id"] in box.value
    assert "fault of Invariscope itself" in box.value
    assert not list(box.proto.stack_trace)
    for secret in (SECRET, "Ann", "/srv", str(ROOT), str(Path.home())):
        assert secret not in shown(app)
        assert secret not in file_of(app).decode()
    assert told["page"] == "words"
    assert told["errors"][0]["type"] == "builtins.KeyError"
    assert told["errors"][1]["type"] == "builtins.ValueError"
    assert told["versions"]["streamlit"]
    assert ["app.py", "<module>"] in [[each["file"], each["function"]] for each in told["errors"][0]["frames"]]
    assert told["action"].startswith("pages/views/words_view.py:")
    assert told["action"].endswith(" draw")


@pytest.mark.parametrize("where", ["callback", "fragment"])
def test_a_callback_and_a_fragment_that_fail_are_told_in_the_same_way(where: str, open_page: Open) -> None:
    app = AppTest.from_string(SCRIPT, default_timeout=60).run()
    app.button(key=where).click().run()
    (box,) = app.exception
    assert "fault of Invariscope itself" in box.value
    assert SECRET not in shown(app)
    assert SECRET not in file_of(app).decode()
    app.run()
    assert not app.exception


@pytest.mark.parametrize("how", ["twice", "stop"])
def test_a_page_that_runs_again_or_stops_is_no_failure(how: str) -> None:
    app = AppTest.from_string(SCRIPT, default_timeout=60).run()
    app.button(key=how).click().run()
    assert not app.exception
    assert not crash_files
    assert ("to the end" in texts(app)) == (how == "twice")


def test_a_sentence_of_invariscope_that_no_page_caught_is_said_as_it_is(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def glossary() -> dict[str, object]:
        raise InvalidInput("the word list is empty")

    monkeypatch.setattr("pages.views.words_view.glossary", glossary)
    app = open_page(WORDS)
    assert not app.exception
    assert [each.value for each in app.error] == ["the word list is empty"]
    assert not crash_files


def test_outside_every_page_streamlit_says_nothing_of_an_exception_and_links_to_nobody() -> None:
    assert config.get_option("client.showErrorDetails") == "none"
    assert str(config.get_option("client.showErrorLinks")).lower() == "false"


def test_a_report_names_no_code_and_no_type_of_somebody_elses() -> None:
    space: dict[str, object] = {"__name__": "anns_plugin"}
    exec(compile("class Anns(Exception): pass\ndef anns(x):\n    raise Anns(x)", "/srv/ann/p.py", "exec"), space)
    try:
        space["anns"](SECRET)  # type: ignore[operator]
    except Exception as error:
        told = report(error, "words")
    assert "ann" not in json.dumps(told).lower().replace("channel", "")
    assert told["errors"][0]["type"] == ELSEWHERE
    assert told["errors"][0]["frames"][-1] == {"file": ELSEWHERE, "line": 0, "function": ELSEWHERE}


def test_a_report_ends_where_causes_go_in_a_circle_or_never_end() -> None:
    first, second = ValueError(), KeyError()
    first.__cause__, second.__cause__ = second, first
    assert len(report(first, "words")["errors"]) == 2
    many = ValueError()
    for _ in range(20):
        following = ValueError()
        following.__cause__, many = many, following
    assert len(report(many, "words")["errors"]) == MOST_CAUSES


def test_the_same_fault_has_the_same_number_and_another_has_another() -> None:
    def fault(kind: type[Exception], words: str) -> str:
        try:
            raise kind(words)
        except Exception as error:
            return str(report(error, "words")["id"])

    numbers = [fault(ValueError, "one"), fault(ValueError, "two"), fault(KeyError, "one")]
    assert numbers[0] == numbers[1] != numbers[2]
