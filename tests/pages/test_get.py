"""Get on Run an audit: what a published evaluator brings, and the job that fetches it."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.jobs import job_queue
from core.jobs.command_jobs import GetRequest
from core.jobs.job_files import STATE, State, write_shape
from pages.views.common import access
from tests.jobs.here import drain, run_here
from tests.pages.opening import LAB, RUN, Open, missing_told, said


@pytest.fixture(autouse=True)
def own_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVARISCOPE_WEIGHTS", str(tmp_path / "weights"))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # nobody listens there
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    run_here(monkeypatch)


def ways(app: AppTest) -> set[str]:
    return {str(each.key) for each in app.button if str(each.key).startswith("run.get.")}


def test_licence_size_and_source_stand_beside_the_button(open_page: Open) -> None:
    app = missing_told(open_page(RUN))
    assert not app.exception
    words = said(app)
    assert "OpenAI CLIP ViT-B/32 · licence MIT · https://openaipublic" in words
    assert "151,277,313 parameters, about 577 MB in memory on a CPU" in words
    assert "at four bytes each take 0.6 GB" in words
    assert "run.get.clipscore" in ways(app)
    assert "run.get.pac-s" not in ways(app)  # only a person can fetch it
    assert "run.get.pr-mcs" not in ways(app)  # nobody publishes it
    assert not ways(missing_told(open_page(LAB)))


def test_without_a_network_the_card_says_what_the_command_says(open_page: Open) -> None:
    app = missing_told(open_page(RUN))
    app.button(key="run.get.clipscore").click().run()
    assert not app.exception
    assert "was put in line, among the jobs" in said(app)
    (job,) = job_queue.list_jobs()[0]
    assert job.request == GetRequest(name="clipscore", run_id=job.id)
    drain()
    app.run()
    assert not app.exception
    assert "fetch it elsewhere and put it at" in said(app)
    assert f"run.resume.{job.id}" in [each.key for each in app.button]


def test_one_that_is_being_fetched_is_not_started_twice(open_page: Open) -> None:
    app = missing_told(open_page(RUN))
    job_queue.start(GetRequest.of(name="clipscore", run_id="mine"), work=False)
    write_shape(job_queue.get("mine").folder / STATE, State(status="waiting", turn=5, queued="2026-01-01T00:00:00Z"))
    app.run()
    assert not app.exception
    assert app.button(key="run.get.clipscore").disabled
    assert app.button(key="run.get.clipscore").label == "Being fetched"


def test_a_viewer_gets_nothing(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "_local", lambda: False)
    assert not ways(missing_told(open_page(LAB)))
