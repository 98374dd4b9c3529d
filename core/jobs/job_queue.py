"""Jobs (audits, measurements, suites): started, watched, cancelled, resumed from anywhere; one runs, the others wait.

Everything is in files, so that a page, a shell and a server started anew see the same. The process that takes jobs
from the line is :mod:`core.jobs.work`; it outlives whoever started it.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import filelock
import psutil  # type: ignore[import-untyped]

from core import settings
from core.audit.record import now
from core.errors import InvalidInput, StoreError
from core.jobs import job_files
from core.jobs.job_files import State
from core.jobs.progress import Told, read_progress
from core.jobs.request import OneCommand
from core.store.run_files import MANIFEST

BIRTH_SLACK_S = 2.0
"""Seconds by which two readings of one birth may differ: the system's clock may be set in between."""


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

COMING_S = 20.0
"""Seconds in which a worker that was started must have begun; only then another is started in its place."""


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
        worker = subprocess.Popen(
            [sys.executable, "-m", "core", "jobs", "work"],
            cwd=settings.ROOT,
            env=settings.environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    threading.Thread(target=worker.wait, name="jobs-worker", daemon=True).start()  # or it would stay as a zombie
    return True
