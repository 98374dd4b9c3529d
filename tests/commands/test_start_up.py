"""A command imports only what it uses, and tells its progress in a pipe in few plain lines."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from skimage import data, io

from core.api import progress_lines as plain
from core.api.progress_lines import duration
from core.commands._shared import progress

ROOT = Path(__file__).resolve().parents[2]
COMPILER = ("torch._dynamo", "torch._inductor", "sympy", "torchvision", "timm", "transformers")
"""What PyTorch compiles with, and libraries that bring it."""
OTHERS = ("statsmodels", "sklearn", "skimage", "matplotlib", "plotly", "streamlit")

TOLD = """
import json, runpy, sys
sys.argv[0] = "core"
try:
    runpy.run_module("core", run_name="__main__")
finally:
    print("\\n" + json.dumps(sorted(sys.modules)))
"""


def imported(folder: Path, *arguments: object) -> set[str]:
    """Modules that a process has at the end of a command, in a data folder of its own."""
    given = [sys.executable, "-c", TOLD, *map(str, arguments)]
    places = {"INVARISCOPE_DATA": str(folder / "data"), "INVARISCOPE_CACHE": str(folder / "cache")}
    done = subprocess.run(given, cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, **places})
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_scores_of_the_offline_evaluators_need_no_compiler_and_no_statistics(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    io.imsave(tmp_path / "pictures" / "cat.png", data.chelsea())
    (tmp_path / "said.json").write_text(json.dumps({"cat": "A cat."}))
    found = imported(tmp_path, "score", tmp_path / "said.json", tmp_path / "pictures", "--evaluator", "conse-lite0")
    assert "torch" in found
    assert not found.intersection((*COMPILER, *OTHERS, "pandas", "scipy", "pyarrow", "duckdb"))


def test_an_audit_of_the_offline_evaluators_needs_no_compiler(tmp_path: Path) -> None:
    found = imported(tmp_path, "audit", "--corpus", "demo", "--limit", 1, "--probes", "hflip")
    assert "torch" in found
    assert not found.intersection((*COMPILER, *OTHERS))


@pytest.mark.parametrize("arguments", [("runs",), ("--help",)])
def test_what_scores_nothing_needs_no_network(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    found = imported(tmp_path, *arguments)
    assert not found.intersection(("torch", *COMPILER, *OTHERS, "pandas", "scipy"))


@pytest.mark.parametrize(
    ("seconds", "said"), [(0, "0 s"), (59.4, "59 s"), (61, "1 min 01 s"), (3599.7, "1 h 00 min"), (3725, "1 h 02 min")]
)
def test_durations_read_as_people_say_them(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_in_a_pipe_the_first_and_the_last_line_come_and_few_between(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ticks = iter([0.0, *(float(second) for second in range(1, 101))])
    monkeypatch.setattr(plain.time, "monotonic", lambda: next(ticks))
    with progress("scoring", unit="pairs", plain_every_s=40) as update:
        for done in range(1, 101):
            update(done, 100)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "scoring: 1 of 100 pairs, 1 s, about 1 min 39 s left",
        "scoring: 41 of 100 pairs, 41 s, about 59 s left",
        "scoring: 81 of 100 pairs, 1 min 21 s, about 19 s left",
        "scoring: 100 of 100 pairs, 1 min 40 s",
    ]


def test_a_line_says_which_model_is_at_work(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("audit", unit="images") as update:
        update(0, 9, doing="loading conse-lite0, 1 of 2")
    assert capsys.readouterr().err == "audit: 0 of 9 images, 0 s, loading conse-lite0, 1 of 2\n"


def test_on_a_terminal_a_bar_counts_to_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with progress("scoring", unit="pairs") as update:
        update(7, 7)
    assert "7/7" in capsys.readouterr().err
