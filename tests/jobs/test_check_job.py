"""A metric checked by a job: the report of the command, what is refused before it starts, and how it is stopped."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import settings
from core.audit.run import read_progress
from core.errors import InvalidInput, StoreError, UnknownName
from core.jobs import job_files as jobs_files
from core.jobs import job_queue
from core.jobs.command_jobs import CheckRequest, check_request, read_report
from tests.audit.squares import HISTOGRAM
from tests.commands.calling import Invoke
from tests.commands.conftest import invoke  # noqa: F401
from tests.jobs.leftovers import end_all
from tests.plugins.gate import PATIENCE_S


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    yield tmp_path
    end_all(tmp_path / "data")


def wait(until: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not until():
        assert time.monotonic() < deadline, f"{what} never came"
        time.sleep(0.05)


def test_a_job_leaves_the_report_that_the_command_prints(folders: Path, invoke: Invoke) -> None:  # noqa: F811
    request = check_request(evaluator=HISTOGRAM, items=4, probes=("vertical-flip", "null", "foil"), directional=True)
    job = job_queue.start(request)
    assert job.id.startswith("check-Histogram-")
    wait(lambda: job_queue.get(job.id).status not in job_queue.ACTIVE, "the end of the job")
    done = job_queue.get(job.id)
    assert done.status == "complete", done.log()
    assert done.progress is not None
    assert (done.progress.done, done.progress.total) == (4, 4)
    assert isinstance(done.request, CheckRequest)
    report = read_report(done.request.report)
    printed = json.loads(invoke(*request.arguments(), "--json").stdout)
    assert json.loads(done.request.report.read_text(encoding="utf-8")) == printed
    assert report.passed == printed["passed"]
    assert [each.family for each in report.families] == [each["family"] for each in printed["families"]]
    assert report.families[0].size.estimate == printed["families"][0]["size"]["estimate"]
    assert report.broken is not None
    assert not (settings.runs_dir() / job.id).exists()  # it is no run


def test_a_metric_that_fails_is_a_job_that_is_complete(folders: Path, invoke: Invoke) -> None:  # noqa: F811
    request = check_request(evaluator=HISTOGRAM, items=12, probes=("blur",), threshold=0.001, run_id="mine")
    told = folders / "progress.json"
    done = invoke(*request.command(told)[3:])
    assert done.exit_code == 1, done.output
    assert not read_report(request.report).passed
    assert request.is_complete(told)
    progress = read_progress(told)
    assert progress is not None
    assert progress.phase == "complete"


def test_one_in_line_is_cancelled_and_its_file_is_read_again(folders: Path) -> None:
    job = job_queue.start(check_request(evaluator=HISTOGRAM, run_id="mine"), work=False)
    assert jobs_files.read_job(job.folder)[0] == job.request
    assert job_queue.cancel("mine").status == "cancelled"
    assert not job.request.keeps


@pytest.mark.parametrize(
    ("fields", "error", "said"),
    [
        ({"evaluator": "nobody"}, UnknownName, "no evaluator is named 'nobody'"),
        ({"evaluator": f"{HISTOGRAM}s"}, InvalidInput, "it has Histogram, "),
        ({"evaluator": "/no/such.py:Own"}, InvalidInput, "no file /no/such.py"),
        ({"evaluator": HISTOGRAM, "probes": ("nothing",)}, UnknownName, "no probe is named 'nothing'"),
    ],
)
def test_what_cannot_be_checked_is_said_before_it_starts(
    folders: Path, fields: dict[str, object], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        job_queue.start(check_request(**fields))
    assert not job_queue.list_jobs()[0]


@pytest.mark.parametrize(
    "fields",
    [
        {"evaluator": "--help"},
        {"evaluator": ""},
        {"threshold": 0.0},
        {"items": 2},
        {"probes": ("a,b",)},
        {"probes": ("--json",)},
        {"failures_at_most": 101.0},
        {"selectivity_at_least": 1.5},
    ],
)
def test_what_is_no_request_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        check_request(**{"evaluator": HISTOGRAM, **fields})


@given(text=st.binary(max_size=200))
def test_a_report_that_somebody_changed_is_a_sentence(text: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("report") / "check.json"
    path.write_bytes(text)
    with pytest.raises(StoreError, match="check the metric again"):
        read_report(path)
