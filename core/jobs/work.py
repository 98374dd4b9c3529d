"""The worker: takes jobs from the line one by one, looks after each until it ends, and goes when none is left."""

import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import filelock

from core import settings
from core.audit.record import now
from core.errors import StoreError
from core.jobs import job_files
from core.jobs.job_queue import Job, alive, birth, next_waiting, outcome, send
from core.writing import cannot_write

POLL_S = 0.3
GRACE_S = (30.0, 10.0)
"""Seconds after Ctrl-C until SIGTERM, and from there until SIGKILL. A large model may take long over one batch."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class _Process:
    """A process that this worker started, or that one before it started and left behind."""

    pid: int
    ended: Callable[[], tuple[bool, int | None]]  # whether it has, and its exit code where that can be known


def _started(popen: "subprocess.Popen[bytes]") -> _Process:
    return _Process(popen.pid, lambda: (popen.poll() is not None, popen.returncode))


def _left_behind(state: job_files.State, word: str) -> _Process:
    return _Process(state.pid or 0, lambda: (not alive(state.pid or 0, state.born, word=word), None))


def work(
    jobs: Path | None = None,
    *,
    poll_s: float = POLL_S,
    grace_s: tuple[float, float] = GRACE_S,
    tell: Callable[[str], None] = lambda _: None,
) -> bool:
    """Drain the line, then return; audits run in sessions of their own and survive this process.

    A cancelled job has ``grace_s`` from SIGINT to SIGTERM, and from there to SIGKILL; ``tell`` is called with a
    sentence whenever a job begins or ends. False if another worker is at work already; raises StoreError if the disk
    refuses a state, and the line stays as it is.
    """
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
                popen = subprocess.Popen(
                    command,
                    cwd=settings.ROOT,
                    env=settings.environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except OSError as error:
            self._change(job, status="failed", ended=now())
            self.tell(f"job {job.id} could not be started: {cannot_write(log, error)}")
            return None
        known = self._change(job, pid=popen.pid, born=birth(popen.pid))
        self.tell(f"job {job.id} began")
        return replace(job, state=known), _started(popen)

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
