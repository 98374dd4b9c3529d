"""METEOR's program, started once and asked line by line, as :mod:`core.scoring.reference_metrics` starts it."""

import subprocess
from types import SimpleNamespace
from typing import Any

import pytest

from core.scoring import reference_metrics


class AskedMeteor:
    """Stands in for ``subprocess.run`` there; the program starts with the first question."""

    def __init__(self) -> None:
        self._started: subprocess.Popen[str] | None = None

    def __enter__(self) -> "AskedMeteor":
        return self

    def __exit__(self, *told: object) -> None:
        if self._started is not None:
            self._started.communicate()

    def stands_in(self, patch: pytest.MonkeyPatch) -> None:
        patch.setattr(reference_metrics, "subprocess", SimpleNamespace(run=self._run))

    def _run(self, command: list[str], *, input: str, cwd: object, **told: Any) -> "subprocess.CompletedProcess[str]":
        if self._started is None or self._started.poll() is not None:
            self._started = subprocess.Popen(
                command,
                cwd=cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                bufsize=1,
            )
        answers = [self._ask(line) for line in input.splitlines(keepends=True)]
        return subprocess.CompletedProcess(command, 0, "".join(answers), "")

    def _ask(self, line: str) -> str:
        assert self._started is not None
        assert self._started.stdin is not None
        assert self._started.stdout is not None
        self._started.stdin.write(line)
        self._started.stdin.flush()
        return self._started.stdout.readline()
