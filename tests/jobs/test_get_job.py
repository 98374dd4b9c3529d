"""Weights fetched by a job: progress, hash, going on where it was cut, and the command's sentence without a network."""

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from core.audit.run import Told, read_progress
from core.errors import InvalidInput, UnknownName
from core.evaluators.weights import fetched
from core.evaluators.weights.catalogue import WeightFile, Weights, weights
from core.jobs import job_files as jobs_files
from core.jobs import job_queue
from core.jobs.command_jobs import GetRequest
from tests.commands.calling import Invoke
from tests.commands.conftest import invoke  # noqa: F401
from tests.jobs.here import drain, run_here
from tests.tiny import clip

NAME, SET = "pac-s", "pac-s-vit-b-32"


class Publisher(BaseHTTPRequestHandler):
    """Serves one file, from a byte on where asked; the first answer is cut where the test says so."""

    body = b""
    cut = 0
    ranges: list[str | None] = []  # noqa: RUF012

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.ranges.append(wanted)
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(self.body) - start))
        self.end_headers()
        self.wfile.write(self.body[start : self.cut or None])
        type(self).cut = 0

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    Publisher.ranges.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Publisher) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}/clip.pth"
        running.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("INVARISCOPE_WEIGHTS", str(tmp_path / "weights"))
    run_here(monkeypatch)
    return tmp_path


def published(server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, sha256: str | None = None) -> Path:
    """Let the weights of an evaluator come from a server of this machine; returns where they will lie."""
    Publisher.body = clip.write_pac(tmp_path / "made.pth").read_bytes()
    Publisher.cut = 0
    told = sha256 or hashlib.sha256(Publisher.body).hexdigest()
    known = weights(SET)
    file = WeightFile(name=known.files[0].name, sha256=told)
    here = Weights.model_construct(**{**known.model_dump(), "kind": "https", "url": server, "files": (file,)})
    monkeypatch.setattr(fetched, "weights", lambda identifier: here if identifier == SET else weights(identifier))
    return fetched.usual(here)


def progress_of(path: Path) -> Told:
    told = read_progress(path)
    assert told is not None
    return told


def test_the_command_of_a_job_fetches_tells_and_makes_it_ready(
    server: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    invoke: Invoke,  # noqa: F811
) -> None:
    target = published(server, monkeypatch, tmp_path)
    request, told = GetRequest.of(name=NAME, run_id="mine"), tmp_path / "progress.json"
    done = invoke(*request.command(told)[3:])
    assert done.exit_code == 0, done.output
    assert "pac-s is ready" in done.stdout
    assert target.read_bytes() == Publisher.body
    assert (progress_of(told).phase, progress_of(told).done, progress_of(told).total) == ("complete", 100, 100)
    assert request.is_complete(told)


def test_a_download_that_was_cut_goes_on_where_it_was(
    server: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    invoke: Invoke,  # noqa: F811
) -> None:
    target = published(server, monkeypatch, tmp_path)
    Publisher.cut = 5000
    request, told = GetRequest.of(name=NAME, run_id="mine"), tmp_path / "progress.json"
    cut = invoke(*request.command(told)[3:])
    assert cut.exit_code == 3
    assert not request.is_complete(told)
    assert not target.exists()
    whole = invoke(*request.command(told, resume=True)[3:])
    assert whole.exit_code == 0, whole.output
    assert Publisher.ranges == [None, "bytes=5000-"]
    assert target.read_bytes() == Publisher.body
    assert request.is_complete(told)


def test_other_bytes_than_published_are_not_kept(
    server: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    invoke: Invoke,  # noqa: F811
) -> None:
    target = published(server, monkeypatch, tmp_path, sha256="0" * 64)
    request, told = GetRequest.of(name=NAME, run_id="mine"), tmp_path / "progress.json"
    answer = invoke(*request.command(told)[3:])
    assert answer.exit_code == 3
    assert "it was not kept" in answer.stderr
    assert not target.exists()
    assert not request.is_complete(told)


def test_without_a_network_a_job_ends_with_the_command_s_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("https_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody listens there
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    job = job_queue.start(GetRequest.of(name="clipscore"))
    assert job.id.startswith("get-clipscore-")
    drain()
    done = job_queue.get(job.id)
    assert done.status == "failed"
    assert "cannot be fetched" in done.last_line
    assert "fetch it elsewhere and put it at" in done.last_line
    assert done.status in job_queue.RESUMABLE


def test_one_in_line_is_cancelled_and_its_file_is_read_again() -> None:
    job = job_queue.start(GetRequest.of(name="clipscore", run_id="mine"), work=False)
    assert jobs_files.read_job(job.folder)[0] == job.request
    assert job_queue.cancel("mine").status == "cancelled"
    assert job.request.keeps


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("nobody", UnknownName, "no evaluator is named"),
        ("conse-lite0", InvalidInput, "has no weights to fetch"),
        ("--help", InvalidInput, "must not begin with a dash"),
        ("", InvalidInput, "at least 1 character"),
    ],
)
def test_what_cannot_be_fetched_is_said_before_it_starts(name: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        job_queue.start(GetRequest.of(name=name))
    assert not job_queue.list_jobs()[0]
