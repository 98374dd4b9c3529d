"""A job as its worker runs it, and the worker as a user of the command line meets it."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core.commands._shared import Code
from core.jobs import job_queue
from core.jobs.request import audit_request
from tests.commands.calling import Invoke
from tests.jobs.here import drain, run_here


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "photos"
    root.mkdir()
    for seed in range(2):
        pixels = np.random.default_rng(seed).integers(0, 255, (32, 40, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(root / f"{seed}.png")
    (root / "captions.csv").write_text("image,caption,label\n0.png,A red bed.,bed\n1.png,A blue bed.,bed\n")
    return root


def test_a_language_that_a_corpus_does_not_hold_ends_the_job_with_a_sentence(
    invoke: Invoke, folder: Path, colour_words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_here(monkeypatch)
    asked = audit_request(
        corpus="folder",
        root=folder,
        subject="human",
        languages=("en", "de"),
        sample=2,
        captions_each=2,
        workers=2,
        evaluators=(colour_words,),
        run_id="both",
    )
    job_queue.start(asked)
    drain()
    job = job_queue.get("both")
    assert (job.status, job.request.languages) == ("failed", ("en", "de"))
    assert "no caption of corpus 'folder' is in language 'de'" in job.log(lines=5)


def test_a_worker_with_nothing_to_do_ends(invoke: Invoke) -> None:
    assert invoke("jobs", "work").exit_code == Code.OK
