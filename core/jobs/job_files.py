"""The files of jobs: what was asked, how it stands, its log and progress; whole or not at all, one writer at a time.

A job is a folder ``data/jobs/<run-id>/`` with ``job.json`` (the request, never changed), ``state.json`` (replaced under
the lock of the queue), ``log.txt`` (only ever appended to) and ``progress.json`` (written by the audit). No file holds
a secret or the environment, and nothing in them is ever read by a shell.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, TypeVar

import filelock
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.audit.request import first_problem
from core.errors import InvalidInput, NotAvailable, StoreError
from core.features.feature import job_kind
from core.jobs.request import OneCommand
from core.store.run_files import check_run_id
from core.store.text_files import write_json
from core.writing import cannot_write

JOB, STATE, LOG, PROGRESS = "job.json", "state.json", "log.txt", "progress.json"
QUEUE_LOCK, WORKER_LOCK, WORKER_LOG, COMING = ".queue.lock", ".worker.lock", ".worker.log", ".worker.coming"
LARGEST_FILE = 1_000_000  # most bytes of a job file that are read: one that was tampered with may be anything
HALF_S = 60.0  # seconds after which a job without its request is not being started or taken off the list any more
_SUM = "sha256"
Status = Literal["waiting", "running", "complete", "failed", "cancelled", "died"]
Shape = TypeVar("Shape", bound=BaseModel)


class State(BaseModel):
    """How a job stands."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    status: Status  # ``died`` is one whose process ended without a word
    turn: int = Field(ge=1)  # place in the order of starting; the lowest waiting one is next
    attempt: int = Field(default=1, ge=1)  # 1, and one more each time it is resumed
    queued: str  # when it was asked for, UTC
    started: str | None = None  # when its process began
    ended: str | None = None  # when its end was noticed
    pid: int | None = Field(default=None, gt=1)  # number of its process
    born: float | None = None  # when that process was born, in seconds since 1970
    exit_code: int | None = None  # of the process; negative: the signal that ended it; None: not known
    cancel: str | None = None  # when somebody asked to stop it


class _Kind(BaseModel):
    """What a job file says of its kind; the rest is checked by that kind."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: object = None


def read_shape(path: Path, shape: type[Shape]) -> Shape:
    """Read a JSON file of a known shape; raises StoreError if it is missing, cut, or was changed by somebody."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise InvalidInput(f"it has more than {LARGEST_FILE} bytes")
        return shape.model_validate_json(_checked(data))
    except FileNotFoundError as error:
        raise StoreError(f"{path} is missing; the job is left out, remove its folder to be rid of it") from error
    except (OSError, ValueError, RecursionError) as error:
        why = first_problem(error) if isinstance(error, ValidationError) else str(error)
        raise StoreError(f"{path} cannot be read ({why}); it is left out, remove its folder to be rid of it") from error


def read_job(folder: Path) -> tuple[OneCommand, State]:
    """Read a job's request and state; raises StoreError if a file cannot be used, or names another job than the
    folder."""
    told = read_shape(folder / JOB, _Kind).kind
    try:  # one of a kind that nobody knows is held against an audit's shape
        kind = (job_kind(told) if isinstance(told, str) else None) or job_kind("")
    except NotAvailable as error:
        raise StoreError(f"{folder / JOB} cannot be read ({error}); the job is left out") from error
    assert isinstance(kind, type)
    assert issubclass(kind, OneCommand)
    request = read_shape(folder / JOB, kind)
    if request.run_id != folder.name:
        raise StoreError(
            f"{folder / JOB} names run {request.run_id!r} and lies in {folder.name!r}; "
            "the job is left out, remove its folder to be rid of it"
        )
    return request, read_shape(folder / STATE, State)


def _checked(data: bytes) -> bytes:
    """The value without its checksum; a file without one is of an older Invariscope, or somebody's own."""
    told = json.loads(data)
    if not isinstance(told, dict) or _SUM not in told:
        return data
    stated = told.pop(_SUM)
    if stated != _digest(told):
        raise InvalidInput("it is not what was written")
    return json.dumps(told).encode()


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def write_shape(path: Path, value: BaseModel) -> None:
    """Write a JSON file with its checksum aside and rename it; raises StoreError if it cannot, and the old one
    stands."""
    told = value.model_dump(mode="json")
    write_json(path, {**told, _SUM: _digest(told)})


def job_folders(jobs: Path) -> list[Path]:
    """Folders that hold a job, by name; what has another name than an id may have is none."""
    try:
        found = sorted(path for path in jobs.iterdir() if path.is_dir() and not path.is_symlink())
    except OSError:
        return []
    return [path for path in found if _is_id(path.name) and (path / JOB).exists()]


def half_jobs(jobs: Path) -> list[Path]:
    """Folders with a job's state and without its request, for longer than it takes to start or to forget one."""
    found = []
    for path in sorted(jobs.glob(f"*/{STATE}")):
        with suppress(OSError):  # taken off the list in between
            if not (path.parent / JOB).exists() and time.time() - path.stat().st_mtime > HALF_S:
                found.append(path.parent)
    return found


def job_folder(jobs: Path, job_id: str) -> Path:
    """Folder of a job that is there; raises InvalidInput for a text that is no id, or a job that is not there."""
    folder = jobs / check_run_id(job_id)
    if not (folder / JOB).is_file():
        known = ", ".join(path.name for path in job_folders(jobs)) or "none"
        raise InvalidInput(f"there is no job {job_id!r}; there are: {known}")
    return folder


@contextmanager
def queue_lock(jobs: Path) -> Iterator[None]:
    """Be the only one that changes a state or decides whether a worker is needed; raises StoreError if the folder
    cannot be written, or somebody holds the lock too long."""
    try:
        jobs.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(jobs / QUEUE_LOCK, timeout=20)
        lock.acquire()
    except filelock.Timeout as error:
        raise StoreError(f"another process holds {jobs / QUEUE_LOCK}; try again in a moment") from error
    except OSError as error:
        raise StoreError(cannot_write(jobs / QUEUE_LOCK, error)) from error
    try:
        yield
    finally:
        lock.release()


def tail(path: Path, *, lines: int = 200, most_bytes: int = 64_000) -> str:
    """Last lines of a log, without what could steer a terminal or a page; empty where there is no log."""
    try:
        with path.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(file.tell() - most_bytes, 0))
            text = file.read(most_bytes).decode("utf-8", errors="replace")
    except OSError:
        return ""
    kept = ("".join(each for each in line if each.isprintable() or each == "\t") for line in text.splitlines()[-lines:])
    return "\n".join(kept)


def _is_id(name: str) -> bool:
    try:
        return check_run_id(name) == name
    except InvalidInput:
        return False
