"""Who may do what: a token as the key of one's own server, viewers who look and start nothing."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.settings import ROOT
from core.stories.story import Slide, Story
from pages.views.common import access
from tests.pages.opening import (
    CALIBRATION,
    CONTRAST,
    FAILURES,
    HUMAN,
    LAB,
    OVERVIEW,
    RESULTS,
    RUN,
    RUNS,
    STORIES,
    SUITES,
    SYSTEMS,
    VIDEO,
    Open,
    led,
    offer_log_in,
    said,
    turned,
)

KEY = "the-key-of-this-server"


def front(**query: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params.update(query)
    return app.run()


def no_new_run(app: AppTest) -> bool:
    """Whether the address of new runs shows the list of runs alone."""
    shown = turned(app, RUN).run()
    told = "'view' is no part of this page's link" in said(shown)
    return told and not shown.exception and not [each for each in shown.button if (each.key or "").startswith("run.")]


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(access.TOKEN, KEY)
    return KEY


@pytest.fixture
def viewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "_local", lambda: False)


def test_without_the_token_nothing_opens_and_the_way_is_said(open_page: Open, demo: Path, token: str) -> None:
    for query in ({}, {"key": "guessed"}, {"key": ""}):
        app = front(**query)
        assert [title.value for title in app.title] == ["Invariscope"]
        assert "holds this server's token" in said(app)
        assert "demo" not in said(app)
        assert "key" not in app.query_params
        with pytest.raises(ValueError, match="Known pages"):
            turned(app, RUN)


def test_the_token_opens_everything_and_leaves_the_link(open_page: Open, demo: Path, token: str) -> None:
    app = front(key=KEY)
    assert [title.value for title in app.title] == ["Start"]
    assert "key" not in app.query_params
    assert not app.exception
    assert [title.value for title in turned(app, RUN).run().title] == ["Runs"]


def test_wrong_tries_keep_nobody_out(open_page: Open, demo: Path, token: str) -> None:
    for tried in range(7):
        assert [title.value for title in front(key=f"guess-{tried}").title] == ["Invariscope"]
        assert not access.mark_of(f"guess-{tried}")
    assert [title.value for title in front(key=KEY).title] == ["Start"]
    assert access.mark_of(KEY)


def test_a_server_with_another_token_does_not_know_the_session(
    open_page: Open, demo: Path, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = front(key=KEY)
    monkeypatch.setenv(access.TOKEN, "another")
    assert "holds this server's token" in said(app.run())


def test_viewers_look_and_start_nothing(open_page: Open, demo: Path, viewer: None) -> None:
    Story.create("Shown").add(Slide("One", note="a note"))
    assert no_new_run(open_page(OVERVIEW))
    for page, gone in (
        (RUNS, "runs.upload"),
        (SUITES, "suites.start"),
        (SYSTEMS, "systems.score"),
        (CALIBRATION, "calib.measuring"),
        (STORIES, "stories.title.shown"),
        (RESULTS, "collect.figure.F-spatial"),
        (FAILURES, "collect.failure.0"),
    ):
        app = open_page(page)
        assert not app.exception, page
        kinds = ("button", "file_uploader", "text_input", "text_area")
        assert gone not in [each.key for kind in kinds for each in getattr(app, kind)], page
    assert "a note" in said(open_page(STORIES))
    assert "you are a viewer here" in said(open_page(SUITES))
    assert "1 −" not in said(open_page(FAILURES))


def test_a_run_without_a_directional_test_leads_viewers_to_no_page_that_they_have_not(
    open_page: Open, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways = [led(each.proto) for each in open_page(CONTRAST).get("page_link")]
    assert {"run_audit", "probe_lab"} <= set(ways)
    monkeypatch.setattr(access, "_local", lambda: False)
    app = open_page(CONTRAST)
    assert not app.exception
    assert [led(each.proto) for each in app.get("page_link")] == [each for each in ways if each != "run_audit"]


@pytest.mark.parametrize(
    ("page", "query", "kind"),
    [
        (LAB, {"source": "upload"}, "file_uploader"),
        (LAB, {"source": "camera"}, "camera_input"),
        (VIDEO, {"source": "upload"}, "file_uploader"),
    ],
)
def test_viewers_bring_files_only_where_they_may(
    open_page: Open, demo: Path, viewer: None, monkeypatch: pytest.MonkeyPatch, page: str, query: dict, kind: str
) -> None:
    app = open_page(page, **query)
    assert not app.exception
    assert not app.get(kind)
    assert "takes no files of viewers" in said(app)
    monkeypatch.setenv(access.VIEWER_UPLOADS, "yes")
    assert open_page(page, **query).get(kind)


def test_with_a_log_in_others_look_only_where_they_are_let_in(
    open_page: Open, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer_log_in(monkeypatch)
    assert [title.value for title in front().title] == ["Invariscope"]
    monkeypatch.setenv(access.VIEWERS, "yes")
    app = front()
    assert [title.value for title in app.title] == ["Start"]
    assert no_new_run(app)


def test_viewers_are_kept_out_where_it_is_said_so(
    open_page: Open, demo: Path, viewer: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(access.VIEWERS, "no")
    app = front()
    assert [title.value for title in app.title] == ["Invariscope"]
    assert "nothing protects its studies" in said(app)


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize(
    ("name", "value", "todo"),
    [
        ("INVARISCOPE_COORDINATOR_PASSWORD", "open sesame", "OIDC"),
        ("INVARISCOPE_COORDINATOR_PASSWORD", "short", "OIDC"),
        ("INVARISCOPE_VIEWER_SECONDS", "0", "OIDC"),
        (access.VIEWERS, "perhaps", "yes or no"),
        (access.VIEWER_UPLOADS, "perhaps", "yes or no"),
        (access.COORDINATORS, "ada@example.org", "`[auth]`"),
        ("INVARISCOPE_PUBLIC_URL", "study.example.org", "https://"),
        ("INVARISCOPE_UPLOADS_MB", "much", "a number of MB"),
    ],
)
def test_a_setting_of_the_door_that_cannot_be_kept_closes_it_and_says_why(
    open_page: Open, demo: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, todo: str, local: bool
) -> None:
    monkeypatch.setattr(access, "_local", lambda: local)
    monkeypatch.setenv(access.TOKEN, KEY)
    monkeypatch.setenv(access.VIEWERS, "yes")
    monkeypatch.setenv(name, value)
    for query in ({}, {"key": KEY}, {"token": "of-an-annotator"}):
        app = front(**query)
        assert [title.value for title in app.title] == ["Invariscope"]
        words = said(app).replace("\\", "")
        assert "lets nobody in" in words
        assert name in words
        assert todo in words
        with pytest.raises(ValueError, match="Known pages"):
            turned(app, RUN)
    assert not open_page(HUMAN).selectbox


def test_where_a_reader_asks_from_is_looked_up_once_for_a_page(
    open_page: Open, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[bool]()

    def here() -> bool:
        asked.append(local)
        return local

    local = True
    monkeypatch.setattr(access, "_local", here)
    app = open_page(FAILURES)
    buttons = [each.key for each in app.button if (each.key or "").startswith("collect.")]
    assert len(buttons) > len(asked) > 0
    local = False
    app.run()
    assert not [each.key for each in app.button if (each.key or "").startswith("collect.")]
