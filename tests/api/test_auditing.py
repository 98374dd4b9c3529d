"""An audit from Python is the audit of the command line, with classes that stand in no file."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import invariscope
from core.audit.run import Progress, RunStopped
from core.corpora.schema import Corpus
from core.errors import InvalidInput
from core.settings import ROOT
from invariscope import audit, open_run
from tests.api import brightness

GREYS = {"dark": 40, "half": 90, "light": 200}


@pytest.fixture
def greys(tmp_path: Path) -> Path:
    """A folder of plain pictures, each darker in its lower half, with a caption each."""
    folder = tmp_path / "greys"
    folder.mkdir()
    for name, grey in GREYS.items():
        pixels = np.full((40, 40, 3), grey, dtype=np.uint8)
        pixels[20:] = grey - 40
        Image.fromarray(pixels).save(folder / f"{name}.png")
    (folder / "captions.csv").write_text(
        "image,caption\n" + "".join(f"{name}.png,A {name} picture.\n" for name in GREYS)
    )
    return folder


def test_a_class_of_a_notebook_scores_a_folder(greys: Path, own_data: Path) -> None:
    run = audit(greys, brightness.make(), "vertical-flip", progress=False)
    rows = run.scores().set_index(["item", "probe"])["score"]
    for name, grey in GREYS.items():
        for probe in ("identity", "vflip"):
            assert rows[f"{name}.png", probe] == pytest.approx((grey - 20) / 255)
    assert len(rows) == 2 * len(GREYS)
    assert run.path.parent == own_data / "runs"
    assert run.manifest["evaluators"][0]["reference"] == "notebook-brightness"


def test_the_rows_are_those_of_the_command_line(greys: Path, tmp_path: Path) -> None:
    """The same metric from a file, by ``python -m core audit``, in its own process."""
    source = (ROOT / "tests" / "api" / "brightness.py").read_text("utf-8")
    metric = tmp_path / "metric.py"
    metric.write_text(f"{source}\n\nMine = make()\n", encoding="utf-8")
    told = ["--corpus", "folder", "--root", greys, "--evaluators", f"{metric}:Mine", "--probes", "vertical-flip,null"]
    command = [
        sys.executable,
        "-m",
        "core",
        "audit",
        *map(str, told),
        "--out",
        str(tmp_path / "shell"),
        "--run-id",
        "one",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    run = audit(greys, [brightness.make()], ["vertical-flip", "null"], run_id="one", progress=False)
    pd.testing.assert_frame_equal(run.scores(), open_run(tmp_path / "shell" / "one").scores())


def test_a_corpus_is_a_name_a_folder_or_itself(greys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metric = brightness.make()
    by_path = audit(str(greys), metric, "vertical-flip", progress=False)
    by_name = audit("folder", metric, "vertical-flip", root=greys, options={"name": "mine"}, progress=False)
    assert by_name.manifest["corpus"]["name"] == "mine"
    with monkeypatch.context() as there:
        there.chdir(greys.parent)
        greys.rename("demo")
        named = audit(Path("demo"), metric, "vertical-flip", progress=False)
    assert named.manifest["corpus"]["name"] == "folder"
    assert by_path.scores()["score"].tolist() == by_name.scores()["score"].tolist() == named.scores()["score"].tolist()


def test_a_corpus_object_is_audited_as_it_is(squares: Corpus) -> None:
    run = audit(squares, brightness.make(), ["vertical-flip"], limit=1, progress=False)
    assert set(run.scores()["item"]) == {squares.items[0].id}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"corpus": "nowhere"}, "no corpus and no folder is named 'nowhere'; corpora: "),
        ({"corpus": 7}, "a corpus is a name, the path of a folder or a Corpus, got int '7'"),
        ({"evaluators": "conse"}, "no evaluator is named 'conse'; did you mean"),
        ({"evaluators": [7]}, "an evaluator is a name, path/to/file.py:Name, a class or a function, got int '7'"),
        ({"evaluators": int}, "'int' is not an Evaluator class marked with @evaluator"),
        ({"evaluators": []}, "no evaluator is chosen"),
        ({"evaluators": brightness.make("conse-lite0")}, "an evaluator named 'conse-lite0' is installed; give Bright"),
        ({"evaluators": brightness.make("a:b")}, "name has letters, digits and . _ + -, got 'a:b'"),
        ({"evaluators": brightness.make()()}, "give the class Brightness, not Brightness()"),
        ({"probes": "vertikal-flip"}, "vertikal-flip"),
        ({"subject": "people"}, "subject is one of template, human, both, got 'people'"),
        ({"resume": True}, "resume needs the run_id"),
        ({"resume": True, "overwrite": True, "run_id": "a"}, "resume and overwrite exclude each other"),
        ({"run_id": "a/b"}, "a run id has 1 to 100 letters"),
        ({"options": {"size": 3}}, "has no option 'size'"),
        ({"limit": 0}, "limit must be at least 1, got 0"),
    ],
)
def test_what_cannot_be_used_is_told_in_a_sentence(arguments: dict[str, object], problem: str) -> None:
    usual = {"corpus": "demo", "evaluators": brightness.make(), "probes": "vertical-flip", "progress": False}
    with pytest.raises(InvalidInput, match=re.escape(problem)):
        audit(**{**usual, **arguments})  # type: ignore[arg-type]


def test_a_cell_that_is_run_again_gives_its_new_class(greys: Path) -> None:
    first = audit(greys, brightness.make(), "vertical-flip", run_id="mine", progress=False)
    again = {"run_id": "mine", "progress": False}
    with pytest.raises(InvalidInput, match="run mine exists in"):
        audit(greys, brightness.make(gain=0.5), "vertical-flip", **again)
    with pytest.raises(InvalidInput, match="begun with other evaluators"):
        audit(greys, brightness.make(gain=0.5), "vertical-flip", resume=True, **again)
    before = first.scores()["score"]
    second = audit(greys, brightness.make(gain=0.5), "vertical-flip", overwrite=True, **again)
    np.testing.assert_allclose(second.scores()["score"], before / 2)


def test_a_run_that_was_stopped_goes_on(make_many: Path) -> None:
    def stop(at: Progress) -> None:
        if at.shard:
            raise KeyboardInterrupt

    metric = brightness.make()
    with pytest.raises(RunStopped, match=r"stopped after 1 of 2 shards.*run_id='mine' and resume=True"):
        audit(make_many, metric, "vertical-flip", run_id="mine", progress=stop)
    assert open_run("mine").manifest["status"] == "interrupted"
    done = audit(make_many, metric, "vertical-flip", run_id="mine", resume=True, progress=False)
    whole = audit(make_many, metric, "vertical-flip", run_id="whole", progress=False)
    pd.testing.assert_frame_equal(done.scores().drop(columns="run"), whole.scores().drop(columns="run"))


@pytest.fixture
def make_many(tmp_path: Path) -> Path:
    """A folder of more pictures than a shard holds."""
    folder = tmp_path / "many"
    folder.mkdir()
    lines = ["image,caption"]
    for number in range(30):
        Image.new("RGB", (20, 20), (8 * number, 8 * number, 8 * number)).save(folder / f"{number:02d}.png")
        lines.append(f"{number:02d}.png,A grey square.")
    (folder / "captions.csv").write_text("\n".join(lines))
    return folder


def test_progress_is_a_line_nothing_or_a_call(greys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[Progress] = []
    metric = brightness.make()
    audit(greys, metric, "vertical-flip", progress=seen.append)
    audit(greys, metric, "vertical-flip", run_id="silent", progress=False)
    assert capsys.readouterr().err == ""
    assert (seen[-1].phase, seen[-1].done, seen[-1].total) == ("complete", 6, 6)
    audit(greys, metric, "vertical-flip", run_id="told")
    assert capsys.readouterr().err.splitlines()[-1].startswith("audit: 6 of 6 images")


def test_importing_costs_nothing() -> None:
    code = "import sys, invariscope; print([name for name in ('numpy', 'pandas', 'torch') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stderr
    assert invariscope.__all__ == sorted(invariscope.__all__)
