"""Jobs (audits, measurements, suites): started, watched, cancelled, resumed from anywhere; one runs, the others wait.

Everything is in files, so that a page, a shell and a server started anew see the same. The worker, which takes
jobs from the line one by one and looks after each until it ends, outlives whoever started it.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import filelock
import psutil  # type: ignore[import-untyped]

from core import settings
from core.audit.record import now
from core.audit.run import Told, read_progress
from core.errors import InvalidInput, StoreError
from core.jobs import job_files
from core.jobs.job_files import State
from core.jobs.request import OneCommand
from core.store.run_files import MANIFEST
from core.writing import cannot_write

BIRTH_SLACK_S = 2.0  # seconds by which two readings of one birth may differ: the system's clock may be set in between


def birth(pid: int) -> float | None:
    """When a process was born, in seconds since 1970; None where it is gone."""
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:
        return None


def alive(pid: int | None, born: float | None, *, word: str) -> bool:
    """Whether a process still runs and is the one that was ``born`` as :func:`birth` told; ``word``: one of its
    arguments."""
    if pid is None or born is None or pid <= 1:
        return False
    try:
        process = psutil.Process(pid)
        same = abs(process.create_time() - born) <= BIRTH_SLACK_S
        return same and process.status() != psutil.STATUS_ZOMBIE and word in process.cmdline()
    except psutil.Error:
        return False


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process and to those that it started in its group; one that is gone is no error."""
    with suppress(ProcessLookupError, PermissionError):
        if os.getpgid(pid) == pid:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)


ACTIVE = ("waiting", "running")
RESUMABLE = ("failed", "cancelled", "died")
COMING_S = 20.0  # seconds in which a worker that was started must have begun; only then another is started in its place


@dataclass(frozen=True, slots=True)
class Job:
    """One audit, one measurement of a calibration, or evaluators on one suite, that was asked for."""

    folder: Path  # its files
    request: OneCommand  # what it does
    state: State  # how it stands; a job whose process is gone says ``died``, or ``complete`` where its run is
    progress: Told | None  # what the audit told last; None before it said anything

    @property
    def id(self) -> str:
        """Name of the job and of its run."""
        return self.folder.name

    @property
    def status(self) -> str:
        """``waiting``, ``running``, ``complete``, ``failed``, ``cancelled`` or ``died``."""
        return self.state.status

    @property
    def stopping(self) -> bool:
        """Whether it was asked to stop and has not yet."""
        return self.status == "running" and self.state.cancel is not None

    @property
    def run_folder(self) -> Path:
        """Where its run lies, once it has begun."""
        return settings.runs_dir() / self.id

    def log(self, *, lines: int = 200) -> str:
        """Last lines that the audit said."""
        return job_files.tail(self.folder / job_files.LOG, lines=lines)

    @property
    def last_line(self) -> str:
        """The last thing that the audit said of itself, e.g. why it failed."""
        said = [line.strip() for line in self.log(lines=40).splitlines() if line.strip() and not line.startswith("—")]
        return next((line for line in reversed(said) if line.startswith("error:")), said[-1] if said else "")


def list_jobs(jobs: Path | None = None) -> tuple[tuple[Job, ...], tuple[str, ...]]:
    """Read every job: running, then in line, then ended with the latest first; and a sentence for each broken one."""
    jobs = settings.jobs_dir() if jobs is None else jobs
    found: list[Job] = []
    problems: list[str] = []
    working = None
    for folder in job_files.job_folders(jobs):
        try:
            request, state = job_files.read_job(folder)
        except StoreError as error:
            if (folder / job_files.JOB).exists():  # or somebody took it off the list just now
                problems.append(str(error))
            continue
        if state.status == "running" and not alive(state.pid, state.born, word=folder.name):
            working = worker_is_alive(jobs) if working is None else working
            if not working:  # a worker that lives will say itself how it ended
                state = state.model_copy(update={"status": outcome(folder, request, state, None)})
        found.append(Job(folder, request, state, read_progress(folder / job_files.PROGRESS)))
    problems += [
        f"{folder / job_files.JOB} is missing; the job is left out, remove its folder to be rid of it"
        for folder in job_files.half_jobs(jobs)
    ]
    rank = {"running": 0, "waiting": 1}
    found.sort(key=lambda job: (rank.get(job.status, 2), job.state.turn if job.status in ACTIVE else -job.state.turn))
    return tuple(found), tuple(problems)


def start(request: OneCommand, jobs: Path | None = None, *, work: bool = True) -> Job:
    """Put an audit in line; it begins at once where nothing else runs, by a worker that ``work`` starts if none is
    there. Raises InvariscopeError if the request cannot be run, its id is taken, or the disk refuses."""
    jobs = settings.jobs_dir() if jobs is None else jobs
    request.check()
    with job_files.queue_lock(jobs):
        request = request.named(_taken(jobs))
        assert request.run_id is not None
        if request.run_id in _taken(jobs):
            raise InvalidInput(f"run {request.run_id} is there already; choose another run id")
        folder = jobs / request.run_id
        job_files.write_shape(folder / job_files.STATE, State(status="waiting", turn=_next_turn(jobs), queued=now()))
        job_files.write_shape(folder / job_files.JOB, request)
        if work:
            _wake(jobs)
    return get(request.run_id, jobs)


def get(job_id: str, jobs: Path | None = None) -> Job:
    """Read one job as :func:`list_jobs` tells it; raises InvalidInput if there is none of that id, and StoreError if
    its files cannot be used."""
    jobs = settings.jobs_dir() if jobs is None else jobs
    folder = job_files.job_folder(jobs, job_id)
    job_files.read_job(folder)
    return next(job for job in list_jobs(jobs)[0] if job.id == job_id)


def cancel(job_id: str, jobs: Path | None = None) -> Job:
    """Take a job out of the line, or have the running one stopped as by Ctrl-C; what it finished is kept. Raises
    InvalidInput if it has ended already."""
    jobs = settings.jobs_dir() if jobs is None else jobs
    with job_files.queue_lock(jobs):
        job = get(job_id, jobs)
        if job.status == "waiting":
            _change(job, status="cancelled", ended=now(), cancel=now())
        elif job.status == "running":
            if job.state.cancel is None:
                _change(job, cancel=now())
            _wake(jobs)  # the worker that started it may be gone; another stops it
        else:
            raise InvalidInput(f"job {job_id} is {job.status} and cannot be cancelled")
    return get(job_id, jobs)


def resume(job_id: str, jobs: Path | None = None, *, work: bool = True) -> Job:
    """Put a job that ended early in line again; its run goes on where it was. Raises InvalidInput if it has not ended,
    or is complete."""
    jobs = settings.jobs_dir() if jobs is None else jobs
    with job_files.queue_lock(jobs):
        job = get(job_id, jobs)
        if job.status not in RESUMABLE:
            raise InvalidInput(f"job {job_id} is {job.status}; only one that ended early can be resumed")
        fresh = State(status="waiting", turn=_next_turn(jobs), attempt=job.state.attempt + 1, queued=now())
        job_files.write_shape(job.folder / job_files.STATE, fresh)
        if work:
            _wake(jobs)
    return get(job_id, jobs)


def forget(job_ids: Sequence[str], jobs: Path | None = None) -> None:
    """Take jobs that have ended off the list, with their logs; their runs stay. Raises InvalidInput if one has not
    ended."""
    jobs = settings.jobs_dir() if jobs is None else jobs
    with job_files.queue_lock(jobs):
        known = {job.id: job for job in list_jobs(jobs)[0]}
        for job in [known.get(job_id) or get(job_id, jobs) for job_id in job_ids]:
            if job.status in ACTIVE:
                raise InvalidInput(f"job {job.id} is {job.status}; cancel it first")
            for name in (job_files.JOB, job_files.STATE, job_files.LOG, job_files.PROGRESS):
                (job.folder / name).unlink(missing_ok=True)
            with suppress(OSError):  # something that is not ours lies there: it stays
                job.folder.rmdir()


def wake() -> bool:
    """Start a worker where a job waits, or runs without one to look after it; say whether one was started."""
    jobs = settings.jobs_dir()
    if not any(job.status in ACTIVE for job in list_jobs(jobs)[0]) or worker_is_alive(jobs):
        return False
    with job_files.queue_lock(jobs):
        return _wake(jobs, patient=True)


def worker_is_alive(jobs: Path) -> bool:
    """Whether a worker takes jobs from this line now: it holds a lock that the system drops when it dies."""
    if not (jobs / job_files.WORKER_LOCK).exists():
        return False
    lock = filelock.FileLock(jobs / job_files.WORKER_LOCK, timeout=0)
    try:
        lock.acquire()
    except (filelock.Timeout, OSError):
        return True
    lock.release()
    return False


def trouble() -> str:
    """Why nobody takes the jobs that wait, as the last worker said it; empty where all is well."""
    jobs = settings.jobs_dir()
    said = job_files.tail(jobs / job_files.WORKER_LOG, lines=20).splitlines()
    last = next((line for line in reversed(said) if line.startswith("error:")), "")
    return last if last and next_waiting(jobs) is not None and not worker_is_alive(jobs) else ""


def outcome(folder: Path, request: OneCommand, state: State, exit_code: int | None) -> job_files.Status:
    """How a process ended, by its exit code (None: nobody was there to see it) and by what it left behind."""
    if exit_code in (0, 1, None) and request.is_complete(folder / job_files.PROGRESS):
        return "complete"
    if state.cancel is not None or exit_code == 130:
        return "cancelled"
    return "died" if exit_code is None or exit_code < 0 else "failed"


def next_waiting(jobs: Path) -> Job | None:
    """The job whose turn it is, or None."""
    return next((job for job in list_jobs(jobs)[0] if job.status == "waiting"), None)


def _change(job: Job, **changes: object) -> None:
    job_files.write_shape(job.folder / job_files.STATE, job.state.model_copy(update=changes))


def _taken(jobs: Path) -> set[str]:
    runs = settings.runs_dir()
    begun = {path.parent.name for path in runs.glob(f"*/{MANIFEST}")}
    return begun | {path.name for path in job_files.job_folders(jobs)}


def _next_turn(jobs: Path) -> int:
    return 1 + max((job.state.turn for job in list_jobs(jobs)[0]), default=0)


def _wake(jobs: Path, *, patient: bool = False) -> bool:
    """Start a worker unless one is at work; the caller holds the lock of the queue."""
    coming = jobs / job_files.COMING
    try:
        fresh = 0 <= time.time() - coming.stat().st_mtime < COMING_S
    except OSError:
        fresh = False
    if worker_is_alive(jobs) or (patient and fresh):
        return False
    coming.touch()
    with (jobs / job_files.WORKER_LOG).open("wb") as log:
        worker = _start([sys.executable, "-m", "core", "jobs", "work"], log)
    threading.Thread(target=worker.wait, name="jobs-worker", daemon=True).start()  # or it would stay as a zombie
    return True


POLL_S = 0.3
GRACE_S = (30.0, 10.0)
"""Seconds after Ctrl-C until SIGTERM, and from there until SIGKILL. A large model may take long over one batch."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class _Process:
    """A process that this worker started, or that one before it started and left behind."""

    pid: int
    ended: Callable[[], tuple[bool, int | None]]  # whether it has, and its exit code where that can be known


def _start(command: list[str], log: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a process of its own session, which outlives this one; what it says goes to the log."""
    return subprocess.Popen(
        command,
        cwd=settings.ROOT,
        env=settings.environment(),
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def _left_behind(state: job_files.State, word: str) -> _Process:
    return _Process(state.pid or 0, lambda: (not alive(state.pid or 0, state.born, word=word), None))


def work(
    jobs: Path | None = None,
    *,
    poll_s: float = POLL_S,
    grace_s: tuple[float, float] = GRACE_S,
    tell: Callable[[str], None] = lambda _: None,
) -> bool:
    """Drain the line, then return; audits run in sessions of their own and survive this process. A cancelled job has
    ``grace_s`` from SIGINT to SIGTERM, and from there to SIGKILL; ``tell`` is called with a sentence whenever a job
    begins or ends. False if another worker is at work already; raises StoreError if the disk refuses a state, and the
    line stays as it is."""
    jobs = settings.jobs_dir() if jobs is None else jobs
    try:
        jobs.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(jobs / job_files.WORKER_LOCK, timeout=3)  # a reader may hold it for a moment
        lock.acquire()
    except filelock.Timeout:
        return False
    except OSError as error:
        raise StoreError(cannot_write(jobs / job_files.WORKER_LOCK, error)) from error
    try:
        worker = _Worker(jobs, poll_s, grace_s, tell)
        worker.take_over()
        while (job := worker.begin_next(lock)) is not None:
            worker.follow(*job)
    finally:
        lock.release()
    return True


@dataclass(slots=True)
class _Worker:
    jobs: Path
    poll_s: float
    grace_s: tuple[float, float]
    tell: Callable[[str], None]

    def take_over(self) -> None:
        """Look after what a worker that was killed left running, and close what ended meanwhile."""
        for folder in job_files.job_folders(self.jobs):
            try:
                request, state = job_files.read_job(folder)
            except StoreError as error:
                self.tell(str(error))
                continue
            if state.status == "running":
                self.follow(Job(folder, request, state, None), _left_behind(state, folder.name))

    def begin_next(self, lock: filelock.BaseFileLock) -> tuple[Job, _Process] | None:
        """Begin the job whose turn it is; None where the line is empty, and then this worker is none any more."""
        while True:
            with job_files.queue_lock(self.jobs):
                job = next_waiting(self.jobs)
                if job is None:  # whoever adds a job after this sees that no worker is there
                    (self.jobs / job_files.COMING).unlink(missing_ok=True)
                    lock.release()
                    return None
                begun = self._begin(job)
            if begun is not None:
                return begun

    def _begin(self, job: Job) -> tuple[Job, _Process] | None:
        log = job.folder / job_files.LOG
        again = job.state.attempt > 1
        command = job.request.command(job.folder / job_files.PROGRESS, resume=again)
        # Written before the process is there: a disk that refuses the state must not leave an audit that nobody knows.
        self._change(job, status="running", started=now(), pid=None, born=None)
        (job.folder / job_files.PROGRESS).unlink(missing_ok=True)
        try:
            with log.open("ab") as out:
                out.write(f"— {now()}, attempt {job.state.attempt}: {job.request.shell(resume=again)}\n".encode())
                out.flush()
                popen = _start(command, out)
        except OSError as error:
            self._change(job, status="failed", ended=now())
            self.tell(f"job {job.id} could not be started: {cannot_write(log, error)}")
            return None
        known = self._change(job, pid=popen.pid, born=birth(popen.pid))
        self.tell(f"job {job.id} began")
        return replace(job, state=known), _Process(popen.pid, lambda: (popen.poll() is not None, popen.returncode))

    def follow(self, job: Job, process: _Process) -> None:
        """Wait for the end of a job; stop it when somebody asks, first politely."""
        sent = 0
        next_signal = 0.0
        while True:
            over, code = process.ended()
            if over:
                break
            if self._state(job).cancel is not None and sent < len(_SIGNALS) and time.monotonic() >= next_signal:
                send(process.pid, _SIGNALS[sent])
                next_signal = time.monotonic() + (*self.grace_s, 0.0)[sent]
                sent += 1
            time.sleep(self.poll_s)
        with job_files.queue_lock(self.jobs):
            state = self._state(job)
            ended = {"status": outcome(job.folder, job.request, state, code), "ended": now(), "exit_code": code}
            job_files.write_shape(job.folder / job_files.STATE, state.model_copy(update=ended))
        self.tell(f"job {job.id} is {ended['status']}")

    def _change(self, job: Job, **changes: Any) -> job_files.State:
        changed = self._state(job).model_copy(update=changes)
        job_files.write_shape(job.folder / job_files.STATE, changed)
        return changed

    def _state(self, job: Job) -> job_files.State:
        """The present state; the one that was known, where somebody spoilt the file meanwhile."""
        try:
            return job_files.read_shape(job.folder / job_files.STATE, job_files.State)
        except StoreError:
            return job.state
