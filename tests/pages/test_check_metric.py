"""Check my metric on Run an audit: the command's check as a job, its report on the page."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.jobs import job_queue
from core.jobs.command_jobs import CheckRequest
from pages.views.run_audit.audit_setup import FILES
from tests.audit.squares import HISTOGRAM
from tests.jobs.leftovers import end_all
from tests.pages.opening import RUN, Open, said
from tests.plugins.gate import PATIENCE_S


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    yield
    end_all(tmp_path / "data")


def named(app: AppTest, reference: str) -> AppTest:
    return app.text_input(key=FILES).set_value(reference).run()


def test_without_an_evaluator_it_says_what_to_choose(open_page: Open) -> None:
    app = open_page(RUN, evaluators="")
    assert not app.exception
    assert "Choose an evaluator above, or name one by its path." in said(app)
    assert "run.check.start" not in [each.key for each in app.button]


def test_a_wrong_name_lists_the_evaluators_of_the_file_alone(open_page: Open) -> None:
    app = named(open_page(RUN), f"{HISTOGRAM}s")
    app.button(key="run.check.start").click().run()
    assert not app.exception
    assert "has no 'Histograms' that is an Evaluator class" in said(app)
    sentence = next(each.value for each in app.error if "Histograms" in each.value)
    assert "Histogram" in sentence
    assert "Sequence" not in sentence
    assert "np" not in sentence.split("it has")[1]
    assert not job_queue.list_jobs()[0]


def test_a_check_runs_as_a_job_and_its_report_stands_among_them(open_page: Open) -> None:
    app = named(open_page(RUN), HISTOGRAM)
    assert app.selectbox(key="run.check.metric").value == HISTOGRAM
    app.number_input(key="run.check.items").set_value(12).run()
    app.number_input(key="run.check.threshold").set_value(0.1).run()
    app.multiselect(key="run.check.probes").set_value(["vertical-flip", "blur", "foil"]).run()
    app.toggle(key="run.check.directional").set_value(True).run()
    assert "--threshold 0.1 --items 12 --probes vertical-flip,blur,foil --directional" in said(app).replace("\n", " ")
    app.button(key="run.check.start").click().run()
    assert "was put in line, among the jobs" in said(app)
    (job,) = job_queue.list_jobs()[0]
    assert isinstance(job.request, CheckRequest)
    deadline = time.monotonic() + PATIENCE_S
    while job_queue.get(job.id).status in job_queue.ACTIVE:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    app.run()
    assert not app.exception
    words = said(app)
    assert "**histogram** fails; families: " in words
    assert "blur" in words
    table = next(each.value for each in app.dataframe if "Median |% change|" in each.value)
    assert set(table["Family"]) == {"null", "vertical-flip", "blur"}
    assert "fails" in set(table[""])
    assert table["95 % interval"].str.contains(" to ").any()
    broken = next(each.value for each in app.dataframe if "Failures, %" in each.value)
    assert list(broken["Family"]) == ["foil"]
    told = json.loads(job.request.report.read_text(encoding="utf-8"))
    for name in told["undecided"]:
        assert name in words
    job.request.report.unlink()
    app.run()
    assert "check the metric again" in said(app)
