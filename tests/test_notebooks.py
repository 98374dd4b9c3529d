"""The notebooks of the documents: their cells run in a fresh process, and what is kept of them is of no one machine."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.settings import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
FEW = 2
"""Items of an audit instead of those in the text."""

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [each for each in found if each["cell_type"] == "code"]


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.whole
@every_notebook
def test_every_cell_runs(path: Path, tmp_path: Path) -> None:
    sources = [re.sub(r"limit=\d+", f"limit={FEW}", "".join(each["source"])) for each in cells(path)]
    code = """
import json, sys
space = {}
for number, source in enumerate(json.load(sys.stdin)):
    exec(compile(source, f"cell {number}", "exec"), space)
print(len(set(space["run"].scores()["item"])), len(space["table"]), sorted(space["table"]["evaluator"].unique()))
"""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "INVARISCOPE_DATA": str(tmp_path / "data")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(sources),
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"{FEW} 8 ['conse-lite0', 'squeezed']"


@every_notebook
def test_what_is_kept_was_run_in_order_to_the_end(path: Path) -> None:
    assert [each["execution_count"] for each in cells(path)] == list(range(1, len(cells(path)) + 1))
    kept = [output for each in cells(path) for output in each["outputs"]]
    assert kept
    assert not [each for each in kept if each["output_type"] == "error"]


@every_notebook
def test_nothing_kept_names_a_folder_of_one_machine(path: Path) -> None:
    told = json.dumps([each["outputs"] for each in cells(path)])
    assert not re.findall(r"(?<![\w.:<])/(?:[\w.-]+/)+[\w.-]*", told)


@every_notebook
def test_its_links_lead_somewhere(path: Path) -> None:
    texts = json.loads(path.read_text(encoding="utf-8"))["cells"]
    links = [link for each in texts for link in re.findall(r"\]\((?!\w+:)([^)#]+)\)", "".join(each["source"]))]
    assert links
    assert all((path.parent / link).exists() for link in links)
