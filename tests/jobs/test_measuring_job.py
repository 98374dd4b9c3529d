"""A calibration measured by a job: it outlives whoever started it, is stopped, goes on, and shows its result."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core import settings
from core.errors import InvalidInput
from core.features.calibration.measurement import read_all
from core.jobs import job_files as jobs_files
from core.jobs import job_queue
from core.jobs.command_jobs import MeasureRequest
from tests.features.calibration.corners import corner_run
from tests.jobs.here import drain, run_here
from tests.jobs.leftovers import end_all
from tests.plugins.gate import PATIENCE_S


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    data = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INVARISCOPE_DATA", str(data))
        patch.setenv("OMP_NUM_THREADS", "1")
        corner_run(data, items=60)
        yield data
        end_all(data)


@pytest.fixture(autouse=True)
def in_use(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(here))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def request(**changes: object) -> MeasureRequest:
    usual = {"run": "corners", "evaluator": "corner", "families": ("vertical-flip", "horizontal-flip")}
    return MeasureRequest.of(**{**usual, "subject": "human", **changes})


def wait(until: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not until():
        assert time.monotonic() < deadline, f"{what} never came"
        time.sleep(0.05)


def test_a_job_measures_and_leaves_its_result_beside_the_runs(here: Path) -> None:
    job = job_queue.start(request())
    wait(lambda: job_queue.get(job.id).status not in job_queue.ACTIVE, "the end of the job")
    done = job_queue.get(job.id)
    assert done.status == "complete", done.log()
    assert done.progress is not None
    assert done.progress.done == done.progress.total > 0
    (file,), problems = read_all("corners")
    assert not problems
    assert file.evaluator == "corner"
    assert "calibration of corner measured" in done.request.told
    assert not (settings.runs_dir() / job.id).exists()  # it is no run
    job_queue.forget([job.id])


def test_a_job_that_was_cancelled_before_its_turn_goes_on_when_resumed(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_here(monkeypatch)
    job = job_queue.start(request(run_id="mine"), work=False)
    assert job_queue.cancel(job.id).status == "cancelled"
    job_queue.resume(job.id)
    drain()
    assert job_queue.get("mine").status == "complete", job_queue.get("mine").log()
    job_queue.forget(["mine"])


def test_a_job_that_cannot_be_done_says_why(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_here(monkeypatch)
    job = job_queue.start(request(families=("vertical-flip", "nowhere"), evaluator="nobody", run_id="wrong"))
    drain()
    assert job_queue.get(job.id).status == "failed"
    assert "error:" in job_queue.get(job.id).last_line
    job_queue.forget(["wrong"])


def test_a_request_read_back_is_the_same_and_its_command_needs_no_shell(here: Path) -> None:
    asked = request(run_id="m1", weights="each", device="cpu")
    path = here / "job.json"
    jobs_files.write_shape(path, asked)
    assert jobs_files.read_shape(path, MeasureRequest) == asked
    command = asked.command(here / "p.json")
    assert command[command.index("--job") + 1] == "m1"
    assert command[command.index("--families") + 1] == "vertical-flip,horizontal-flip"
    assert asked.shell().startswith("env INVARISCOPE_DATA=")
    assert asked.same(request(weights="uniform", device="cpu"))
    assert not asked.same(request(subject="template", device="cpu"))
    assert asked.named().run_id == "m1"
    assert str(request().named().run_id).startswith("measure-corners-")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"families": ()}, "families"),
        ({"families": ("a,b",)}, "without comma"),
        ({"run": "--output=/etc/x"}, "dash"),
        ({"evaluator": "-x"}, "dash"),
        ({"reading": "shift"}, "reading"),
        ({"run_id": "../x"}, "run id"),
        ({"more": 1}, "more"),
    ],
)
def test_strange_requests_are_refused(change: dict, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        request(**change)


def test_a_run_that_is_not_there_is_refused_before_a_job_is_made() -> None:
    with pytest.raises(InvalidInput, match="no run 'elsewhere'"):
        job_queue.start(request(run="elsewhere"))
