"""Jobs whose commands run in the test's own process: for what they leave, where being a process is not the point."""

import os
from dataclasses import dataclass
from typing import IO

import pytest
from typer.testing import CliRunner

from core import registry
from core.__main__ import app
from core.jobs import job_queue


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that was none, and is over."""

    pid: int
    returncode: int

    def poll(self) -> int:
        return self.returncode

    wait = poll


def run_here(patch: pytest.MonkeyPatch) -> None:
    """Let jobs stay in line until :func:`drain` is called, and run in this process then."""
    patch.setattr(job_queue, "_start", _start)


def drain() -> None:
    """Do what a worker does: run what is in line, one after the other."""
    assert job_queue.work(poll_s=0)


def _start(command: list[str], log: IO[bytes]) -> Ended:
    if command[-2:] == ["jobs", "work"]:
        return Ended(0, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_apart", False)  # a job is no server, though the page that started it is
        done = CliRunner().invoke(app, command[3:])
    log.write(done.output.encode())
    return Ended(os.getpid(), done.exit_code)
