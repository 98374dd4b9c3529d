"""How the command line is called in tests: in this process for speed, in its own where exit matters."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from core.__main__ import app
from core.evaluators import self_check as checks
from tests.commands.calling import Invoke, Shell

ROOT = Path(__file__).resolve().parents[2]
EVALUATORS = Path(__file__).with_name("colour_words.py")


@pytest.fixture
def invoke(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Invoke:
    """Call a command in this process, with an empty data folder of its own."""
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(checks, "HOST", "http://127.0.0.1:9")  # nobody answers there: no test asks a publisher
    monkeypatch.delenv("INVARISCOPE_DEBUG", raising=False)

    def call(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)

    return call


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Call ``python -m core`` as a script would, with an empty data folder of its own."""
    base = {**os.environ, "INVARISCOPE_DATA": str(tmp_path / "data"), "COLUMNS": "200"}
    base.pop("INVARISCOPE_DEBUG", None)

    def call(*arguments: object, env: Mapping[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "core", *map(str, arguments)]
        return subprocess.run(
            command, cwd=ROOT, env={**base, **(env or {})}, capture_output=True, text=True, timeout=300
        )

    return call


@pytest.fixture
def colour_words() -> str:
    """Reference of a dual encoder that sees colours and colour words."""
    return f"{EVALUATORS}:ColourWords"


@pytest.fixture
def word_count() -> str:
    """Reference of an evaluator that is no dual encoder."""
    return f"{EVALUATORS}:WordCount"
