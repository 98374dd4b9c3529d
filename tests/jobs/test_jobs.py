"""Jobs with real processes: they outlive whoever started them, stand in line, stop, go on, and die without a word."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil
import pyarrow.parquet as pq
import pytest
from PIL import Image

from core import settings
from core.audit.plan import make_plan
from core.audit.run import EVERY_S, run_audit
from core.errors import InvalidInput, NotAvailable, StoreError, UnknownName
from core.evaluators.pool import Pool
from core.jobs import job_files as jobs_files
from core.jobs import job_queue
from core.jobs.job_queue import Job, alive, birth
from core.jobs.request import AuditJob, audit_request, read_options
from core.store.run_files import read_run
from tests.audit.squares import GATED, HISTOGRAM, PLUGINS
from tests.jobs.leftovers import end_all
from tests.plugins.gate import PATIENCE_S, Gate

ITEMS = 60
SHARD_CALLS = 3
"""Calls of the evaluator that a shard of 24 items needs under two image probes, 32 images a call."""


@pytest.fixture(scope="session")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("photos")
    lines = ["image,caption,label"]
    for index in range(ITEMS):
        pixels = np.random.default_rng(index).integers(0, 255, (32, 40, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(root / f"{index:03d}.png")
        lines.append(f"{index:03d}.png,Noise.,bed")
    (root / "captions.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return root


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty data folder; whatever a test left running under it is ended."""
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    yield settings.jobs_dir()
    end_all(tmp_path / "data")


@pytest.fixture
def gate(here: Path) -> Gate:
    """Lets the gated evaluator finish one shard and begin the next."""
    made = Gate(settings.data_dir())
    made.shut(SHARD_CALLS + 1)
    return made


def asked(photos: Path, run_id: str | None = "first", evaluator: str = HISTOGRAM, **more: object) -> AuditJob:
    fields = {"corpus": "folder", "root": photos, "probes": ("vflip", "hflip"), "evaluators": (evaluator,)}
    return audit_request(**{**fields, "run_id": run_id, **more})


def wait(until: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not until():
        assert time.monotonic() < deadline, f"{what} never came"
        time.sleep(0.05)


def ended(job_id: str) -> Job:
    wait(lambda: job_queue.get(job_id).status not in job_queue.ACTIVE, f"the end of {job_id}")
    return job_queue.get(job_id)


def scoring(job_id: str, shards: int = 1) -> Job:
    """Wait until a job has written this many shards."""
    folder = settings.runs_dir() / job_id / "scores"

    def there() -> bool:
        job = job_queue.get(job_id)
        assert job.status in job_queue.ACTIVE, job.log()
        return len(list(folder.glob("*.parquet"))) >= shards

    wait(there, f"shard {shards} of {job_id}")
    return job_queue.get(job_id)


def workers() -> list[psutil.Process]:
    mine = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        data = (process.info["environ"] or {}).get("INVARISCOPE_DATA")
        if (process.info["cmdline"] or [])[-2:] == ["jobs", "work"] and data == os.environ["INVARISCOPE_DATA"]:
            mine.append(process)
    return mine


def worker() -> psutil.Process:
    wait(workers, "the worker")
    return workers()[0]


def kill_workers(here: Path) -> None:
    """End whoever takes jobs: for a moment there are two, of which one is about to see that it is not needed."""

    def gone() -> bool:
        for process in workers():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        return not job_queue.worker_is_alive(here)

    wait(gone, "the end of the worker")


def content(run_id: str) -> dict[str, list[dict[str, object]]]:
    folder = settings.runs_dir() / run_id
    return {
        f"{path.parent.name}/{path.name}": pq.read_table(path).drop_columns("run").to_pylist()
        for path in sorted(folder.rglob("*.parquet"))
    }


def test_a_job_runs_without_its_starter_and_tells_how_far_it_is(here: Path, photos: Path, gate: Gate) -> None:
    code = (
        "from core.jobs import job_queue; from core.jobs.request import AuditJob; import sys;"
        "job_queue.start(AuditJob.model_validate_json(sys.argv[1]))"
    )
    wanted = asked(photos, evaluator=GATED).model_dump_json()
    gate.shut(0)
    subprocess.run([sys.executable, "-c", code, wanted], cwd=settings.ROOT, check=True, timeout=PATIENCE_S)
    wait(gate.holds, "the first call")
    time.sleep(EVERY_S)  # from now on the next word on progress is due
    gate.shut(SHARD_CALLS + 1)
    job = scoring("first")
    assert job.status == "running"
    told = job.progress
    assert told is not None
    assert (told.phase, told.total, told.shards) == ("scoring", 3 * ITEMS, 3)
    wait(lambda: 0 < (job_queue.get("first").progress or told).done < 3 * ITEMS, "progress")
    assert psutil.Process(job.state.pid).ppid() == worker().pid
    assert os.getsid(job.state.pid or 0) == job.state.pid
    gate.open()
    done = ended("first")
    assert (done.status, done.state.exit_code) == ("complete", 0)
    assert done.progress is not None
    assert done.progress.share == 1
    assert "180 of 180 images" in done.log()
    run = read_run(settings.runs_dir() / "first")
    assert run.status == "complete"
    assert "--progress-file" not in run.manifest["command"]
    wait(lambda: not job_queue.worker_is_alive(here), "the end of the worker")


def test_a_cancelled_job_goes_on_to_the_scores_of_one_that_was_left_alone(here: Path, photos: Path, gate: Gate) -> None:
    wanted = asked(photos, "stopped", GATED)
    job_queue.start(wanted)
    scoring("stopped")
    assert job_queue.cancel("stopped").stopping
    stopped = ended("stopped")
    assert (stopped.status, stopped.state.exit_code) == ("cancelled", 130)
    assert read_run(stopped.run_folder).status == "interrupted"
    assert "interrupted; resume with: python -m core audit" in stopped.last_line
    kept = {path: path.stat().st_mtime_ns for path in stopped.run_folder.glob("scores/*.parquet")}
    assert len(kept) == 1
    gate.open()
    job_queue.resume("stopped")
    again = ended("stopped")
    assert (again.status, again.state.attempt, again.state.cancel) == ("complete", 2, None)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    run_audit(make_plan(wanted.load(), wanted), settings.runs_dir(), run_id="alone", pool=Pool(100, "cpu"))
    assert content("stopped") == content("alone")


def test_jobs_stand_in_line_and_outlive_the_worker_that_looks_after_them(here: Path, photos: Path, gate: Gate) -> None:
    job_queue.start(asked(photos, "one", GATED))
    job_queue.start(asked(photos, "two"))
    job_queue.start(asked(photos, "never"))
    pid = scoring("one").state.pid
    assert [(job.id, job.status) for job in job_queue.list_jobs()[0]] == [
        ("one", "running"),
        ("two", "waiting"),
        ("never", "waiting"),
    ]
    assert job_queue.cancel("never").status == "cancelled"
    kill_workers(here)
    found = job_queue.get("one")
    assert (found.status, found.state.pid) == ("running", pid)
    (here / jobs_files.COMING).unlink(missing_ok=True)
    assert job_queue.wake()
    assert not job_queue.wake()
    job_queue.cancel("one")
    one, two = ended("one"), ended("two")
    assert (one.status, two.status) == ("cancelled", "complete")
    assert one.state.ended is not None
    assert two.state.started is not None
    assert one.state.ended <= two.state.started
    assert not (settings.runs_dir() / "never").exists()


def press(photos: Path, run_id: str | None) -> str:
    try:
        return job_queue.start(asked(photos, run_id), work=False).id
    except InvalidInput as error:
        return str(error)


def test_several_sessions_that_press_at_once_each_get_a_job_of_their_own(here: Path, photos: Path) -> None:
    with ThreadPoolExecutor(8) as sessions:
        made = list(sessions.map(press, [photos] * 8, [None] * 8))
        same = list(sessions.map(press, [photos] * 4, ["same"] * 4))
    assert len(set(made)) == 8
    assert same.count("same") == 1
    assert same.count("run same is there already; choose another run id") == 3
    turns = [job.state.turn for job in job_queue.list_jobs()[0]]
    assert turns == sorted(set(turns)) == list(range(1, 10))


def test_an_audit_that_was_killed_is_said_to_have_died_and_can_be_resumed(here: Path, photos: Path, gate: Gate) -> None:
    job_queue.start(asked(photos, "dead", GATED))
    job = scoring("dead")
    assert job.state.pid is not None
    os.kill(job.state.pid, signal.SIGKILL)
    dead = ended("dead")
    assert (dead.status, dead.state.exit_code) == ("died", -signal.SIGKILL)
    assert job_queue.resume("dead", work=False).status == "waiting"


def test_a_job_whose_machine_went_down_is_said_to_have_died(here: Path, photos: Path) -> None:
    job_queue.start(asked(photos, "dead"), work=False)
    stranger = {"pid": os.getpid(), "born": birth(os.getpid())}
    for changes in ({"pid": 4_000_000, "born": 1.0}, {"pid": os.getpid(), "born": 1.0}, stranger, {}):
        state = jobs_files.State(status="running", turn=1, queued="2026-01-01T00:00:00Z", **changes)
        jobs_files.write_shape(here / "dead" / jobs_files.STATE, state)
        assert job_queue.get("dead").status == "died"
    assert job_queue.resume("dead", work=False).status == "waiting"


def test_a_process_is_known_by_its_number_its_birth_and_its_word() -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "word"])
    try:
        born = birth(process.pid)
        assert born is not None
        wait(lambda: alive(process.pid, born, word="word"), "the process")
        assert not alive(process.pid, born, word="other")
        assert not alive(process.pid, born - 60, word="word")
        assert not alive(None, born, word="word")
        process.kill()
        wait(lambda: psutil.Process(process.pid).status() == psutil.STATUS_ZOMBIE, "the end of the process")
        assert not alive(process.pid, born, word="word")  # a zombie is no running process
    finally:
        process.wait()
    assert birth(process.pid) is None


def test_an_audit_that_fails_at_once_says_why(here: Path, photos: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone.py"
    gone.write_text((PLUGINS / "histogram.py").read_text(encoding="utf-8"), encoding="utf-8")
    wanted = asked(photos, "broken", f"{gone}:Histogram")
    job_queue.start(wanted, work=False)
    gone.unlink()
    (settings.jobs_dir() / jobs_files.COMING).unlink(missing_ok=True)
    job_queue.wake()
    failed = ended("broken")
    assert (failed.status, failed.state.exit_code) == ("failed", 2)
    assert failed.last_line.startswith(f"error: no file {gone}")


def test_an_audit_that_does_not_hear_is_ended_all_the_same(
    here: Path, photos: Path, gate: Gate, tmp_path: Path
) -> None:
    deaf = tmp_path / "deaf.py"
    deaf.write_text(
        "import signal\n"
        "for number in (signal.SIGINT, signal.SIGTERM):\n    signal.signal(number, signal.SIG_IGN)\n"
        "from tests.plugins.gated import Gated\n",
        encoding="utf-8",
    )
    job = job_queue.start(asked(photos, "deaf", GATED), work=False)
    other = job.request.model_copy(update={"evaluators": (f"{deaf}:Gated",)})
    jobs_files.write_shape(here / "deaf" / jobs_files.JOB, other)
    code = "from core.jobs.job_queue import work; work(grace_s=(0.5, 0.5))"
    drain = subprocess.Popen([sys.executable, "-c", code], cwd=settings.ROOT)
    try:
        scoring("deaf")
        job_queue.cancel("deaf")
        stopped = ended("deaf")
        assert (stopped.status, stopped.state.exit_code) == ("cancelled", -signal.SIGKILL)
        assert drain.wait(PATIENCE_S) == 0
    finally:
        drain.kill()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("job.json", "{", "cannot be read"),
        ("job.json", '{"corpus": "demo"}', "evaluators: Field required"),
        ("job.json", '{"corpus": "demo", "evaluators": ["x"], "shell": "rm -rf /"}', "shell: Extra inputs"),
        ("job.json", '{"corpus": "demo", "evaluators": ["x"], "run_id": "../up"}', "run_id: a run id has"),
        ("job.json", '{"corpus": "demo", "evaluators": ["x"], "run_id": "other"}', "names run 'other'"),
        ("job.json", "[" * 100_000, "cannot be read"),
        ("job.json", " " * 1_000_001, "more than 1000000 bytes"),
        ("state.json", '{"status": "waiting"', "cannot be read"),
        ("state.json", '{"status": "running", "turn": 1, "queued": "", "pid": 1}', "pid"),
        ("state.json", '{"status": "glad", "turn": 1, "queued": ""}', "status"),
        ("state.json", None, "is missing"),
    ],
)
def test_a_spoilt_job_file_is_one_sentence_and_the_others_stay(
    here: Path, photos: Path, name: str, text: str | None, said: str
) -> None:
    for run_id in ("good", "bad"):
        job_queue.start(asked(photos, run_id), work=False)
    path = here / "bad" / name
    path.unlink()
    if text is not None:
        path.write_text(text, encoding="utf-8")
    found, problems = job_queue.list_jobs()
    assert [job.id for job in found] == ["good"]
    assert len(problems) == 1
    assert said in problems[0]
    assert "\n" not in problems[0]
    with pytest.raises(StoreError):
        job_queue.cancel("bad")


def test_what_is_no_job_is_not_listed(here: Path) -> None:
    for name in ("-x", ".hidden", "with space", "empty"):
        (here / name).mkdir(parents=True)
    assert job_queue.list_jobs() == ((), ())
    for text in ("../up", "", "a/b", "nothing"):
        with pytest.raises(InvalidInput):
            job_queue.get(text)


def test_forgetting_takes_the_job_off_the_list_and_leaves_its_run(here: Path, photos: Path) -> None:
    job_queue.start(asked(photos), work=False)
    with pytest.raises(InvalidInput, match="is waiting; cancel it first"):
        job_queue.forget(["first"])
    job_queue.cancel("first")
    run = settings.runs_dir() / "first"
    run.mkdir(parents=True)
    (run / "manifest.json").write_text("{}", encoding="utf-8")
    job_queue.forget(["first"])
    assert job_queue.list_jobs() == ((), ())
    assert (run / "manifest.json").is_file()
    with pytest.raises(InvalidInput, match="run first is there already"):
        job_queue.start(asked(photos), work=False)


def test_what_would_fail_at_once_is_refused_before_there_is_a_job(here: Path, photos: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    for changes, error, said in (
        ({"root": tmp_path / "nowhere"}, InvalidInput, "there is no folder"),
        ({"root": file}, InvalidInput, "is a file"),
        ({"root": "/a\0b"}, InvalidInput, "folder"),
        ({"root": None}, InvalidInput, "needs a folder"),
        ({"corpus": "demoo"}, UnknownName, "no corpus is named"),
        ({"probes": ("vfilp",)}, UnknownName, "did you mean vflip"),
        ({"evaluators": ("conse",)}, UnknownName, "did you mean conse-lite"),
        ({"evaluators": (f"{tmp_path}/no.py:Name",)}, InvalidInput, "no file"),
    ):
        with pytest.raises(error, match=said):
            job_queue.start(asked(photos, **changes), work=False)
    assert job_queue.list_jobs() == ((), ())


@pytest.mark.parametrize(
    "changes",
    [
        {"run_id": "../up"},
        {"run_id": "-x"},
        {"limit": 0},
        {"evaluators": ()},
        {"evaluators": ("a,b",)},
        {"subject": "all"},
        {"seed": -1},
        {"nonsense": 1},
        {"probes": ("",)},
    ],
)
def test_a_request_says_what_is_wrong_with_it(photos: Path, changes: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(changes))):
        asked(photos, **changes)


def test_an_evaluator_that_is_not_here_is_refused_with_the_command_that_gets_it(
    here: Path, photos: Path, tmp_path: Path
) -> None:
    missing = tmp_path / "missing.py"
    missing.write_text(
        (PLUGINS / "histogram.py").read_text(encoding="utf-8")
        + "\n\n@evaluator(name='far', title='Far', **SPEC)\nclass Far(Histogram):\n    @classmethod\n"
        + "    def availability(cls):\n        from core.evaluators.base import Availability\n\n"
        + "        return Availability(False, 'no weights', 'fetch it')\n",
        encoding="utf-8",
    )
    with pytest.raises(NotAvailable, match="far is not available: no weights; get it with: fetch it"):
        job_queue.start(asked(photos, evaluator=f"{missing}:Far"), work=False)


def test_a_full_disk_is_one_sentence_and_leaves_no_half_job(
    small_disk: Path, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(small_disk))
    job_queue.start(asked(photos, "before"), work=False)
    subprocess.run(["dd", "if=/dev/zero", f"of={small_disk / 'filler'}", "bs=4096"], capture_output=True)
    with pytest.raises(StoreError, match="the disk is full"):
        job_queue.start(asked(photos, "after"), work=False)
    assert [job.id for job in job_queue.list_jobs()[0]] == ["before"]
    assert job_queue.list_jobs()[1] == ()


def test_the_shell_command_means_the_same_words(here: Path, tmp_path: Path) -> None:
    import shlex

    root = tmp_path / "it's $HOME; a *folder*"
    request = audit_request(
        corpus="folder",
        root=root,
        options={"language": "de"},
        evaluators=("conse-lite0",),
        run_id="r",
        limit=3,
        subject="both",
        probes=("spatial", "vflip"),
        languages=("de", "en"),
        captions_each=2,
    )
    words = shlex.split(request.shell(resume=True))
    assert words[3 : 3 + len(request.arguments(resume=True))] == request.arguments(resume=True)
    assert words[-2:] == ["--out", str(settings.runs_dir())]
    assert str(root) in words
    assert words[words.index("--language") + 1] == "de,en"
    assert words[words.index("--captions-each") + 1] == "2"


def test_options_are_read_as_they_are_typed() -> None:
    assert read_options(" split = val2017 , slice=all,") == {"split": "val2017", "slice": "all"}
    for text in ("split", "=x", "a=", "a=1,a=2"):
        with pytest.raises(InvalidInput):
            read_options(text)


def test_a_request_or_state_in_which_one_letter_changed_is_not_taken_for_what_was_asked(
    here: Path, photos: Path
) -> None:
    job_queue.start(asked(photos, "good"), work=False)
    for run_id, name, before, after in (
        ("one", "job.json", "vflip", "hflip"),
        ("two", "state.json", '"attempt": 1', '"attempt": 2'),
    ):
        job_queue.start(asked(photos, run_id), work=False)
        path = here / run_id / name
        text = path.read_text(encoding="utf-8")
        assert before in text
        path.write_text(text.replace(before, after, 1), encoding="utf-8")
    found, problems = job_queue.list_jobs()
    assert [job.id for job in found] == ["good"]
    assert [problem.count("is not what was written") for problem in sorted(problems)] == [1, 1]


def test_a_job_without_its_request_is_named_once_nobody_can_be_starting_it(here: Path, photos: Path) -> None:
    job_queue.start(asked(photos, "half"), work=False)
    (here / "half" / "job.json").unlink()
    assert job_queue.list_jobs() == ((), ())
    long_ago = time.time() - jobs_files.HALF_S - 1
    os.utime(here / "half" / "state.json", (long_ago, long_ago))
    assert [problem.partition(" is missing")[0] for problem in job_queue.list_jobs()[1]] == [
        str(here / "half" / "job.json")
    ]
