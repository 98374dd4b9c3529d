"""Evaluators held to a suite by a job: it tells how far it is, ends with a stored result, and is stopped."""

from pathlib import Path

import pytest
from PIL import Image

from core import settings
from core.audit.run import read_progress
from core.errors import InvalidInput, NotAvailable
from core.features.suites.suite_result import stored
from core.jobs import job_files as jobs_files
from core.jobs import job_queue
from core.jobs.command_jobs import SuiteRequest
from tests.analysis.suites.made import GROUPS, pascal_file
from tests.commands.calling import Invoke
from tests.commands.conftest import invoke  # noqa: F401
from tests.jobs.here import drain, run_here


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[str, ...]]:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    run_here(monkeypatch)
    folder = tmp_path / "images"
    folder.mkdir()
    for group in GROUPS:
        for number in range(12):
            Image.new("RGB", (8, 8), (10 * number, 0, 0)).save(folder / f"{group}{number}.jpg")
    return {"files": (str(pascal_file(tmp_path / "source")),), "images": (str(folder),)}


def test_a_job_ends_with_a_result_that_the_page_shows(given: dict[str, tuple[str, ...]]) -> None:
    job = job_queue.start(SuiteRequest.of(**given, evaluators=("blind-length", "blind-typicality")))
    assert job.id.startswith("suite-pascal_50s-")
    drain()
    done = job_queue.get(job.id)
    assert done.status == "complete", done.log()
    assert done.progress is not None
    assert (done.progress.done, done.progress.total) == (2 * 96, 2 * 96)
    (result,), problems = stored()
    assert not problems
    assert [each.evaluator for each in result.reached] == ["blind-length", "blind-typicality"]
    assert "suite pascal_50s.json" in done.request.told
    assert not (settings.runs_dir() / job.id).exists()  # it is no run


def test_a_job_out_of_line_is_cancelled_and_begins_anew(given: dict[str, tuple[str, ...]]) -> None:
    job = job_queue.start(SuiteRequest.of(**given, evaluators=("blind-length",), run_id="mine"), work=False)
    path = job.folder / jobs_files.JOB
    assert jobs_files.read_shape(path, SuiteRequest) == job.request
    assert job_queue.cancel("mine").status == "cancelled"
    assert stored() == ((), ())
    assert job_queue.resume("mine", work=False).status == "waiting"
    assert not job.request.keeps


def test_the_command_tells_how_far_it_is(invoke: Invoke, given: dict[str, tuple[str, ...]], tmp_path: Path) -> None:  # noqa: F811
    told = tmp_path / "progress.json"
    request = SuiteRequest.of(**given, evaluators=("blind-length",), keep_self_references=True, run_id="mine")
    words = request.command(told)[3:]
    assert words[-4:] == ["--job", "mine", "--progress-file", str(told)]
    done = invoke(*words)
    assert done.exit_code == 0, done.output
    found = read_progress(told)
    assert found is not None
    assert (found.phase, found.done, found.total) == ("complete", 96, 96)
    assert request.is_complete(told)
    assert not request.is_complete(tmp_path / "nothing.json")


def test_what_cannot_be_done_is_refused_before_a_job_is_made(
    given: dict[str, tuple[str, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_WEIGHTS", str(tmp_path / "weights"))
    usual = {**given, "evaluators": ("blind-length",)}
    for changes, said in (
        ({"files": ("nowhere.json",)}, "paths are absolute"),
        ({"files": ("/nowhere/x.json",)}, "no file /nowhere/x.json"),
        ({"files": given["images"]}, "give the publisher's file"),
        ({"images": given["files"]}, "give the folder"),
        ({"evaluators": ("--help",)}, "evaluators are names"),
        ({"evaluators": ()}, "evaluators"),
        ({"run": "--help"}, "must not begin with a dash"),
        ({"run": "nowhere"}, "no run 'nowhere' is here; name a run that is"),
    ):
        with pytest.raises(InvalidInput, match=said):
            SuiteRequest.of(**{**usual, **changes}).check()
    with pytest.raises(NotAvailable, match="evaluators get clipscore"):
        job_queue.start(SuiteRequest.of(**{**usual, "evaluators": ("clipscore",)}))
    assert job_queue.list_jobs() == ((), ())
