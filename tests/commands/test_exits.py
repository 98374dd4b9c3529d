"""What ends the process is a failure with a sentence: a gate passes on nothing but a metric that was tested."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from core.settings import ROOT
from tests.commands.calling import Invoke

METRIC = (ROOT / "siege" / "colours.py").read_text(encoding="utf-8")
AUDIT = ("audit", "--corpus", "demo", "--limit", "1", "--probes", "null", "--evaluators")


def metric(folder: Path, statement: str, *, inside: str = "") -> str:
    """A metric that ends the process as it is imported, or in one of its methods."""
    path = folder / "mine.py"
    within = re.compile(rf"(    def {inside}\(.*\n)")
    text = within.sub(rf"\1        {statement}\n", METRIC) if inside else f"{statement}\n{METRIC}"
    path.write_text(text, encoding="utf-8")
    return f"{path}:Colours"


def core(*words: str) -> "subprocess.CompletedProcess[str]":
    """The command line in its own process: what it tells a build is its exit code."""
    return subprocess.run([sys.executable, "-m", "core", *words], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("how", ["import sys; sys.exit(0)", "raise SystemExit"])
@pytest.mark.parametrize("words", [("check",), AUDIT])
def test_a_file_that_exits_as_it_is_imported_is_refused(
    invoke: Invoke, tmp_path: Path, how: str, words: tuple[str, ...]
) -> None:
    found = invoke(*words, metric(tmp_path, how))
    assert found.exit_code == 2
    assert "mine.py cannot be imported: it ends the process that imports it (SystemExit" in found.stderr


@pytest.mark.parametrize(
    "how", ["import os; os._exit(0)", "import os; os.kill(os.getpid(), 9)", "import os; os.execv('/bin/true', ['a'])"]
)
def test_a_gate_fails_on_a_file_that_ends_or_kills_its_process(invoke: Invoke, tmp_path: Path, how: str) -> None:
    found = invoke("check", metric(tmp_path, how))
    assert found.exit_code == 2
    assert re.search(r"mine\.py:Colours ended the process that imported it \((exit code 0|signal 9)\)", found.stderr)


@pytest.mark.parametrize("inside", ["", "load", "score"])
def test_os_exit_is_named_by_file_and_line_and_never_ends_with_0(tmp_path: Path, inside: str) -> None:
    found = core(*AUDIT, metric(tmp_path, "import os; os._exit(0)", inside=inside), "--out", str(tmp_path / "runs"))
    assert found.returncode == 2, found.stderr
    assert re.search(r"mine\.py, line \d+, ended the process with os\._exit\(0\) before the command", found.stderr)


def test_a_metric_that_exits_where_it_is_loaded_or_scores_fails_its_check(invoke: Invoke, tmp_path: Path) -> None:
    few = ("--items", "3", "--probes", "vflip")
    found = invoke("check", metric(tmp_path, "raise SystemExit(0)", inside="load"), *few)
    assert (found.exit_code, "ends the process that loads it (SystemExit: 0)" in found.stderr) == (2, True)
    found = invoke("check", metric(tmp_path, "raise SystemExit(0)", inside="score"), *few)
    assert (found.exit_code, "raised SystemExit: 0" in found.stdout) == (1, True)
