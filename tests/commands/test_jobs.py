"""``jobs`` as a user of the command line meets it."""

import json
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core.commands._shared import Code
from core.jobs import job_queue
from core.jobs.request import audit_request
from core.settings import jobs_dir, runs_dir
from core.store.run_files import read_run
from tests.commands.calling import Invoke


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "photos"
    root.mkdir()
    for seed in range(2):
        pixels = np.random.default_rng(seed).integers(0, 255, (32, 40, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(root / f"{seed}.png")
    (root / "captions.csv").write_text("image,caption,label\n0.png,A red bed.,bed\n1.png,A blue bed.,bed\n")
    return root


def ended(name: str) -> job_queue.Job:
    """The job, once it is over."""
    deadline = time.monotonic() + 300
    while job_queue.get(name).status in job_queue.ACTIVE:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return job_queue.get(name)


def test_a_job_is_started_listed_read_and_forgotten(invoke: Invoke, folder: Path, colour_words: str) -> None:
    asked = ("--corpus", "folder", "--root", folder, "--probes", "vflip", "--subject", "human")
    more = ("--sample", "2", "--captions-each", "2", "--workers", "2")
    begun = invoke("jobs", "start", *asked, *more, "--evaluators", colour_words, "--run-id", "first")
    assert begun.exit_code == Code.OK, begun.stderr
    assert begun.stdout.startswith("job first is in line")
    assert ended("first").status == "complete"
    assert read_run(runs_dir() / "first").status == "complete"
    listed = json.loads(invoke("jobs", "--json").stdout)
    assert [(job["job"], job["status"]) for job in listed] == [("first", "complete")]
    kept = {"subject": "human", "sample": 2, "captions_each": 2, "workers": 2}
    assert {name: listed[0]["request"][name] for name in kept} == kept
    assert "first  complete" in invoke("jobs").stdout
    assert "4 of 4 images" in invoke("jobs", "log", "first").stdout
    again = invoke("jobs", "start", *asked, "--evaluators", colour_words, "--run-id", "first")
    assert again.exit_code == Code.BAD_INPUT
    assert "run first is there already; choose another run id" in again.stderr
    assert "only one that ended early" in invoke("jobs", "resume", "first").stderr
    assert "cannot be cancelled" in invoke("jobs", "cancel", "first").stderr
    assert invoke("jobs", "forget", "first").stdout == "1 off the list; the runs stay\n"
    assert "no job yet" in invoke("jobs").stderr
    assert read_run(runs_dir() / "first").status == "complete"


def test_a_job_in_line_is_cancelled_and_a_spoilt_one_told(invoke: Invoke, folder: Path, colour_words: str) -> None:
    for run_id in ("one", "two"):
        request = audit_request(corpus="folder", root=folder, evaluators=(colour_words,), run_id=run_id)
        job_queue.start(request, work=False)
    (jobs_dir() / "two" / "state.json").write_text("{", encoding="utf-8")
    done = invoke("jobs", "cancel", "one")
    assert done.stdout == "job one is cancelled\n"
    listed = invoke("jobs")
    assert "one  cancelled" in listed.stdout
    assert "two/state.json cannot be read" in listed.stderr


@pytest.mark.parametrize("action", ["cancel", "resume", "log", "forget"])
@pytest.mark.parametrize("job", ["nothing", "../up"])
def test_a_job_that_is_not_there_is_one_sentence(invoke: Invoke, action: str, job: str) -> None:
    done = invoke("jobs", action, job)
    assert done.exit_code == Code.BAD_INPUT
    assert len(done.stderr.splitlines()) == 1


def test_a_language_that_a_corpus_does_not_hold_ends_the_job_with_a_sentence(
    invoke: Invoke, folder: Path, colour_words: str
) -> None:
    asked = ("--corpus", "folder", "--root", folder, "--subject", "human", "--language", "en,de")
    assert invoke("jobs", "start", *asked, "--evaluators", colour_words, "--run-id", "both").exit_code == Code.OK
    job = ended("both")
    assert (job.status, job.request.languages) == ("failed", ("en", "de"))
    assert "no caption of corpus 'folder' is in language 'de'" in job.log(lines=5)


def test_an_address_that_no_cluster_can_have_is_one_sentence(invoke: Invoke, folder: Path, colour_words: str) -> None:
    asked = ("--corpus", "folder", "--root", folder, "--evaluators", colour_words)
    done = invoke("jobs", "start", *asked, "--cluster", "no address")
    assert done.exit_code == Code.BAD_INPUT
    assert len(done.stderr.splitlines()) == 1
    assert "cluster" in done.stderr
    assert "'no address'" in done.stderr
    assert invoke("jobs", "--json").stdout.strip() == "[]"


def test_a_worker_with_nothing_to_do_ends(invoke: Invoke) -> None:
    assert invoke("jobs", "work").exit_code == Code.OK
