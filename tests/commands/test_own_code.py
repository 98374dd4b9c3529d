"""Probes, corpora and plain functions by their path: everywhere an evaluator is taken by its path."""

import hashlib
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import invariscope
from core import registry
from core.audit.workers.children import packed
from core.commands._shared import Code
from core.corpora import registry as corpora
from core.corpora.schema import Origin
from core.errors import InvalidInput, UnknownName
from core.evaluators.base import PartlyScored
from core.evaluators.functions import metrics_in
from core.evaluators.registry import find
from core.jobs.request import audit_request
from core.probes import registry as probes
from core.store.run_files import read_run
from core.store.run_sources import is_audited_code
from tests.commands.calling import Invoke
from tests.plugins import own

FILE = str(Path(own.__file__).resolve())


@pytest.fixture
def greys(tmp_path: Path) -> Path:
    """Two grey pictures of 100 and 200 with captions."""
    root = tmp_path / "greys"
    root.mkdir()
    for level in (100, 200):
        Image.new("RGB", (40, 32), (level,) * 3).save(root / f"{level}.png")
    (root / "captions.csv").write_text("image,caption\n100.png,dark\n200.png,light\n", encoding="utf-8")
    return root


@pytest.fixture(autouse=True)
def forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test brings, the next one does not know."""
    monkeypatch.setattr(probes, "_BROUGHT", {})
    monkeypatch.setattr(corpora, "_BROUGHT", {})


def test_corpus_probe_and_function_of_a_file_are_audited(invoke: Invoke, greys: Path, tmp_path: Path) -> None:
    done = invoke(
        "audit",
        "--corpus",
        f"{FILE}:own",
        "--root",
        greys,
        "--option",
        "called=mine",
        "--subject",
        "human",
        "--probes",
        f"{FILE}:brighter",
        "--evaluators",
        f"{FILE}:brightness",
        "--out",
        tmp_path / "runs",
        "--run-id",
        "r",
    )
    assert done.exit_code == Code.OK, done.stderr
    run = invariscope.open_run(tmp_path / "runs" / "r")
    rows = run.scores().sort_values(["probe", "item"])
    assert rows[["probe", "evaluator"]].drop_duplicates().to_numpy().tolist() == [
        ["brighter", "brightness"],
        ["identity", "brightness"],
    ]
    assert rows["score"].tolist() == pytest.approx([120 / 255, 220 / 255, 100 / 255, 200 / 255])
    told = read_run(tmp_path / "runs" / "r").manifest
    digest = hashlib.sha256(Path(FILE).read_bytes()).hexdigest()
    assert (told["corpus"]["name"], told["corpus"]["loader"]) == ("mine", f"{FILE}:own")
    assert {each["name"]: each.get("file") for each in told["probes"]} == {"brighter": digest}
    (evaluator,) = told["evaluators"]
    assert evaluator["fingerprint"]["weights"] == f"sha256 {digest}"
    assert evaluator["file"]["sha256"] == digest


def test_python_takes_the_same_and_a_function_itself(greys: Path, tmp_path: Path) -> None:
    run = invariscope.audit(
        f"{FILE}:own",
        [own.of_array, f"{FILE}:brightness"],
        f"{FILE}:brighter",
        root=greys,
        subject="human",
        out=tmp_path,
        run_id="r",
        progress=False,
    )
    scores = run.scores().pivot_table(index=["item", "probe"], columns="evaluator", values="score")
    np.testing.assert_allclose(scores["of_array"], scores["brightness"])
    assert len(scores) == 4


def test_every_command_that_takes_an_evaluator_by_path_takes_these(invoke: Invoke, greys: Path, tmp_path: Path) -> None:
    (tmp_path / "candidates.json").write_text(json.dumps({"100": "a dark one", "200": "a light one"}))
    scored = invoke("score", tmp_path / "candidates.json", greys, "--evaluator", f"{FILE}:brightness")
    assert (scored.exit_code, scored.stdout) == (Code.OK, f"brightness: {(100 + 200) / 2 / 255:.4f}\n")
    shown = invoke("corpora", "show", f"{FILE}:own", "--root", greys, "--json")
    assert json.loads(shown.stdout)["kept"] == 2
    listed = invoke("probes", "--probes", f"{FILE}:brighter", "--json")
    assert [each["name"] for each in json.loads(listed.stdout)] == ["brighter"]
    checked = invoke("check", f"{FILE}:brightness", "--probes", f"{FILE}:brighter", "--items", "3", "--json")
    assert [each["family"] for each in json.loads(checked.stdout)["families"]] == ["null", "brighter"]
    assert all(each["passed"] for each in json.loads(checked.stdout)["contract"]), checked.stdout
    source = json.loads(checked.stdout)["source"]
    assert (source["name"], source["reference"]) == ("brightness", "tests/plugins/own.py:brightness")
    assert is_audited_code(Path(FILE), source["file"]["sha256"])
    again = invoke("check", FILE, "--items", "3")
    assert "defines 3 metrics; say which" in " ".join(again.stderr.split())
    board = invoke(
        "leaderboard",
        tmp_path / "candidates.json",
        "--corpus",
        f"{FILE}:own",
        "--root",
        greys,
        "--evaluators",
        f"{FILE}:brightness",
        "--edits",
        f"{FILE}:brighter",
        "--json",
    )
    assert board.exit_code == Code.OK, board.stderr


def test_what_is_no_finite_number_is_that_pair_without_a_score_and_says_why() -> None:
    metric = find(f"{FILE}:sometimes").load()
    pictures = [np.zeros((4, 4, 3), np.uint8)] * 8
    captions = ["nan", "text", "nothing", "two", "array", "raise", "abc", ""]
    with pytest.raises(PartlyScored) as partly:
        metric.score(pictures, captions)
    scores, errors = partly.value.scores, partly.value.errors
    assert [math.isnan(each) for each in scores] == [True, True, True, True, False, True, False, False]
    assert (scores[4], scores[6], scores[7]) == (0.25, 3, 0)
    assert errors[0] == "sometimes gave 'nan', which is no finite number"
    assert re.fullmatch(
        r"sometimes raised ValueError: no such caption \(line \d+: raise ValueError.*\)", errors[5] or ""
    )
    assert (errors[4], errors[6]) == (None, None)


LISTS = """
def score(images, captions, scale=1):
    return [scale * image.size[0] / len(caption) for image, caption in zip(images, captions)]
"""


def test_a_function_of_lists_is_asked_at_once_and_one_bad_pair_costs_that_pair(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(LISTS)
    metric = find(str(path)).load()
    pictures = [np.zeros((4, 6, 3), np.uint8)] * 3
    assert metric.score(pictures, ["ab", "abc", "a"]).tolist() == [3, 2, 6]
    assert metric.score([], []).shape == (0,)
    with pytest.raises(PartlyScored) as partly:
        metric.score(pictures, ["ab", "", "a"])
    np.testing.assert_array_equal(partly.value.scores, [3, math.nan, 6])
    why = partly.value.errors[1] or ""
    assert why.startswith("score raised ZeroDivisionError: ")
    assert "(line 3: return [scale * image.size[0]" in why


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return [1.0] * (len(captions) + 1)", "score gave 4 scores for 3 pairs; return one for each pair"),
        ("return 1.0", r"score gave '1\.0' for 3 pairs; return a list or an array of 3 numbers"),
        ("return None", "score gave 'None' for 3 pairs"),
    ],
)
def test_another_number_of_scores_than_pairs_is_refused(tmp_path: Path, body: str, said: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(f"def score(images, captions):\n    {body}\n")
    with pytest.raises(InvalidInput, match=said):
        find(str(path)).load().score([np.zeros((4, 6, 3), np.uint8)] * 3, ["a", "b", "c"])


def test_a_file_that_fails_on_import_says_the_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("import math\nmath.sqrt(-1)\ndef score(images, captions): ...\n")
    with pytest.raises(InvalidInput, match=r"mine\.py cannot be imported: ValueError: .* \(line 2: math\.sqrt\(-1\)\)"):
        find(str(path))


def test_the_fingerprint_of_a_function_is_that_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def metric(image, caption):\n    return 1.0\n")
    before = find(f"{path}:metric").load().fingerprint
    assert before.weights == f"sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}"
    path.write_text(path.read_text() + "\nK = 2\n")
    assert find(f"{path}:metric").load().fingerprint.key != before.key
    assert metrics_in(path.read_bytes(), "mine.py") == ("metric",)


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        (f"{FILE}:helper", "has no 'helper' that is an Evaluator class .* or a function of .*brightness, of_array"),
        (f"{FILE}:gone", "has no 'gone' that is"),
        (
            FILE,
            r"own\.py defines 3 metrics; say which: .*own\.py:brightness or .*own\.py:of_array or .*own\.py:sometimes",
        ),
    ],
)
def test_what_is_no_metric_is_refused_with_what_there_is(reference: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        find(reference)


def test_what_is_no_probe_or_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no 'brightness' that is a probe .*; it has brighter, taken"):
        probes.select([f"{FILE}:brightness"])
    with pytest.raises(InvalidInput, match="holds a probe 'vflip', and another one has that name; rename it"):
        probes.select([f"{FILE}:taken"])
    with pytest.raises(
        InvalidInput, match=r"no 'brighter' that is a function marked with @corpus_loader.*; it has own"
    ):
        corpora.find(f"{FILE}:brighter")
    with pytest.raises(InvalidInput, match="no file"):
        corpora.find(f"{tmp_path}/gone.py:own")


def test_a_job_names_them_by_their_absolute_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(FILE).parent)
    asked = audit_request(corpus="own.py:own", probes=("own.py:brighter", "vflip"), evaluators=("own.py:brightness",))
    assert asked.own_code == (f"{FILE}:own", f"{FILE}:brighter")
    assert f"--probes {FILE}:brighter,vflip" in asked.shell()
    assert asked.stem == "own"
    asked.evaluators  # noqa: B018
    with pytest.raises(InvalidInput, match="needs a folder"):
        asked.check()


def test_a_probe_of_a_file_goes_to_a_worker_by_its_file() -> None:
    import pickle

    (probe,) = probes.select([f"{FILE}:brighter"])
    data = packed(probe)
    assert FILE.encode() in data
    probes._BROUGHT.clear()
    assert pickle.loads(data).name == "brighter"
    assert probes.brought_from("brighter") == f"{FILE}:brighter"


def test_a_server_runs_none_of_it_and_no_stored_run_leads_to_code(monkeypatch: pytest.MonkeyPatch, greys: Path) -> None:
    with pytest.raises(UnknownName):
        corpora.load_again(Origin(f"{FILE}:own", greys))
    monkeypatch.setattr(registry, "_apart", True)
    for ask in (lambda: probes.select([f"{FILE}:brighter"]), lambda: corpora.find(f"{FILE}:own")):
        with pytest.raises(InvalidInput, match="is code, which a server does not run in itself; start it as a job"):
            ask()
    asked = audit_request(
        corpus=f"{FILE}:own", root=str(greys), probes=(f"{FILE}:brighter",), evaluators=("conse-lite0",)
    )
    asked.check()
    with pytest.raises(InvalidInput, match="there is no file"):
        audit_request(corpus="/gone.py:own", evaluators=("conse-lite0",)).check()
