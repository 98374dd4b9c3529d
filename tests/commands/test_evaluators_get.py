"""``evaluators get``: what lies at a path is checked and remembered; what is missing is told."""

import json
from pathlib import Path

import pytest
import torch

from tests.commands.calling import Invoke
from tests.tiny import clip


@pytest.fixture(autouse=True)
def own_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INVARISCOPE_WEIGHTS", str(tmp_path / "weights"))
    return tmp_path / "weights"


def ready(invoke: Invoke) -> set[str]:
    return {each["name"] for each in json.loads(invoke("evaluators", "--json").stdout) if each["ready"]}


def test_a_local_file_without_published_hash_makes_its_evaluators_ready(invoke: Invoke, tmp_path: Path) -> None:
    path = clip.write_pac(tmp_path / "clip_ViT-B-32.pth")
    answer = invoke("evaluators", "get", "pac-s", "--weights", path)
    assert answer.exit_code == 0
    assert str(path) in answer.stdout
    assert "no hash is published" in answer.stdout
    assert {"pac-s", "refpac-s"} <= ready(invoke)
    assert "pac-s is ready" in invoke("evaluators", "get", "pac-s").stdout


def test_a_file_that_is_not_the_published_one_needs_a_name_of_its_own(invoke: Invoke, tmp_path: Path) -> None:
    path = clip.write_openai(tmp_path / "tiny.pt")
    refused = invoke("evaluators", "get", "clipscore", "--weights", path)
    assert refused.exit_code == 2
    assert "is not the published file" in refused.stderr
    assert "--as LABEL" in refused.stderr
    assert invoke("evaluators", "get", "clipscore", "--weights", path, "--as", "tiny").exit_code == 0
    assert "clipscore@tiny" in ready(invoke)
    assert "clipscore" not in ready(invoke)
    shown = json.loads(invoke("evaluators", "show", "clipscore@tiny", "--json").stdout)
    assert len(shown["fingerprint"]["weights"]) == 64


@pytest.mark.parametrize(("spoil", "match"), [("page", "is a web page"), ("cut", "is cut off or damaged")])
def test_what_is_no_checkpoint_is_told_before_its_hash(
    invoke: Invoke, tmp_path: Path, own_weights: Path, spoil: str, match: str
) -> None:
    path = clip.write_openai(tmp_path / "page.pt")
    whole = path.read_bytes()
    path.write_bytes(b"\n<!DOCTYPE html><html>" if spoil == "page" else whole[: len(whole) // 2])
    answer = invoke("evaluators", "get", "clipscore", "--weights", path)
    assert answer.exit_code == 3
    assert match in answer.stderr
    assert "score with it as" not in answer.stderr
    assert not own_weights.exists()


def test_weights_that_are_no_numbers_are_not_called_ready(invoke: Invoke, tmp_path: Path, own_weights: Path) -> None:
    path = clip.write_pac(tmp_path / "clip_ViT-B-32.pth")
    content = torch.load(path, weights_only=True)
    content["state_dict"]["token_embedding.weight"][5] = float("nan")
    torch.save(content, path)
    for arguments in (("get", "pac-s", "--weights", path, "--as", "mine"), ("show", f"pac-s@{path}")):
        answer = invoke("evaluators", *arguments)
        assert answer.exit_code == 3
        assert "the tensor 'token_embedding.weight' holds values that are NaN" in answer.stderr
    assert not own_weights.exists()


def test_a_file_that_cannot_be_loaded_is_not_remembered(invoke: Invoke, tmp_path: Path, own_weights: Path) -> None:
    path = tmp_path / "page.pth"
    path.write_text("<!doctype html>", encoding="utf-8")
    answer = invoke("evaluators", "get", "pac-s", "--weights", path)
    assert answer.exit_code == 3
    assert "is a web page" in answer.stderr
    assert not own_weights.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "match"),
    [
        (("conse-lite0",), 2, "has no weights to fetch"),
        (("clipscore", "--as", "x"), 2, "--as names a checkpoint given with --weights"),
        (("clipscore", "--weights", "nowhere.pt"), 2, "no file or folder nowhere.pt"),
        (("mcs", "--weights", "."), 2, "holds none of what mcs needs"),
        (("pac-s",), 3, "only a person can fetch clip_ViT-B-32.pth"),
        (("protoscore",), 3, "no address is published"),
        (("pr-mcs",), 3, "make them with: python -m core train pr-mcs"),
        (("clipscor",), 2, "did you mean clipscore"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    invoke: Invoke, arguments: tuple[str, ...], code: int, match: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = invoke("evaluators", "get", *arguments)
    assert answer.exit_code == code
    assert match in answer.stderr


def test_what_no_command_can_fetch_is_told_before_anything_is_fetched(invoke: Invoke, own_weights: Path) -> None:
    answer = invoke("evaluators", "get", "protoscore")  # 16.6 GB of Qwen2.5-VL stand before its adapter
    assert "nothing was fetched for protoscore" in answer.stderr
    assert "fetching" not in answer.stderr
    assert not own_weights.exists()
    listed = {each["name"]: each for each in json.loads(invoke("evaluators", "--json").stdout)}
    assert listed["protoscore"]["command"].endswith("get protoscore --weights PATH")
    assert listed["protoscore-base"]["command"].endswith("get protoscore-base")


def test_sources_and_sizes_are_told_before_a_download(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("https_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody listens there
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    told = " ".join(invoke("evaluators", "get", "clipscore").stderr.split())
    assert "151,277,313 parameters at four bytes each take 0.6 GB" in told.partition("cannot be fetched")[0]


def test_a_bad_label_is_refused(invoke: Invoke, tmp_path: Path) -> None:
    path = clip.write_openai(tmp_path / "tiny.pt")
    answer = invoke("evaluators", "get", "clipscore", "--weights", path, "--as", "a/b")
    assert answer.exit_code == 2
    assert "a label holds letters" in answer.stderr


def test_an_unlisted_checkpoint_runs_by_its_path(invoke: Invoke, tmp_path: Path) -> None:
    path = clip.write_openai(tmp_path / "tiny.pt")
    shown = json.loads(invoke("evaluators", "show", f"clipscore@{path}", "--json").stdout)
    assert shown["name"] == "clipscore@tiny"
    assert shown["ready"]


def test_the_check_of_a_metric_ends_with_its_verdict(invoke: Invoke) -> None:
    from core.settings import assets_dir

    template = f"{assets_dir() / 'templates' / 'metric.py'}:MyMetric"
    passed = invoke("check", template, "--items", 3, "--probes", "horizontal-flip", "--json")
    assert passed.exit_code == 0
    assert json.loads(passed.stdout)["passed"] is True
    assert json.loads(passed.stdout)["undecided"] == ["null", "horizontal-flip"]
    table = invoke("check", template, "--items", 3, "--probes", "horizontal-flip")
    assert "horizontal-flip" in table.stdout
    assert "undecided, 3 items show neither: null, horizontal-flip" in table.stderr
    assert invoke("check", template, "--items", 3, "--probes", "horizontal-flip", "--strict").exit_code == 1
    assert invoke("check", "nowhere.py:Metric").exit_code == 2
    alone = invoke("check", template, "--items", 3, "--probes", "horizontal-flip", "--directional")
    assert alone.exit_code == 2
    assert "no probe is directional; name one that expects the score to drop" in alone.stderr
    beyond = invoke("check", template, "--items", 3, "--probes", "horizontal-flip", "--selectivity-at-least", "3")
    assert "ask for 0 to 0.5, got 3" in beyond.stderr
