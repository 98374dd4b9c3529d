"""A command imports what it uses: nothing that another one needs, and no library that takes seconds."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from skimage import data, io

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
