"""Other people's packages by name: their own numbers, a score a pair, and a sentence where they are not here."""

import json
import shutil
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from huggingface_hub import constants
from PIL import Image

from core.audit.record import describe_evaluator
from core.errors import InvalidInput, InvariscopeError, NotAvailable, UnknownName
from core.evaluators.base import Evaluator, PartlyScored
from core.evaluators.metrics import capevalkit_metrics as kit
from core.evaluators.metrics.t2v_models import TextToVisual
from core.evaluators.metrics.torchmetrics_models import TorchmetricsClipScore, _Features
from core.evaluators.other_packages import Package, as_files, tensors_digest
from core.evaluators.registry import find
from core.features.metric_check.metric_check import check_contract
from tests.tiny.hub import write_hub_clip

CAPTIONS = ("a cat", "Two dogs run.", "!", "x" * 60)
SHAPES = ((60, 80), (40, 40), (31, 97), (90, 50))


@pytest.fixture(scope="module")
def images() -> list[np.ndarray]:
    rng = np.random.default_rng(4)
    return [rng.integers(0, 256, (*shape, 3), dtype=np.uint8) for shape in SHAPES]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("models") / "clip-tiny"
    return folder, write_hub_clip(folder, folder)


@pytest.fixture(scope="module")
def metric(tiny: tuple[Path, Any]) -> TorchmetricsClipScore:
    found = find(f"torchmetrics:clip_score/{tiny[0]}").load()
    assert isinstance(found, TorchmetricsClipScore)
    return found


def cosines(folder: Path, network: Any, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
    """Cosines by transformers alone, from one forward pass over the whole batch."""
    from transformers import CLIPProcessor

    processor = CLIPProcessor.from_pretrained(folder)
    pixels = [torch.tensor(image).permute(2, 0, 1) for image in images]
    given = processor(text=list(captions), images=pixels, return_tensors="pt", padding=True)
    with torch.no_grad():
        found = network(**given)
    return torch.nn.functional.cosine_similarity(found.image_embeds, found.text_embeds).numpy()


def test_a_score_of_torchmetrics_is_a_hundred_times_the_cosine_of_its_pair(
    metric: TorchmetricsClipScore, tiny: tuple[Path, Any], images: list[np.ndarray]
) -> None:
    expected = 100 * cosines(*tiny, images, CAPTIONS)
    assert (expected < 0).any()
    np.testing.assert_allclose(metric.score(images, CAPTIONS), np.maximum(expected, 0), atol=1e-3)


def test_torchmetrics_itself_keeps_one_mean_of_a_batch_and_the_adapter_a_score_a_pair(
    metric: TorchmetricsClipScore, tiny: tuple[Path, Any], images: list[np.ndarray]
) -> None:
    from torchmetrics.multimodal import CLIPScore  # seconds of imports, for this test alone
    from transformers import CLIPProcessor

    folder, network = tiny
    theirs = CLIPScore(lambda: (_Features(network), CLIPProcessor.from_pretrained(folder)))
    pixels = [torch.tensor(image).permute(2, 0, 1) for image in images]
    theirs.update(pixels, list(CAPTIONS))
    assert float(theirs.compute()) == pytest.approx(100 * cosines(*tiny, images, CAPTIONS).mean(), abs=1e-3)
    for place, (image, caption) in enumerate(zip(pixels, CAPTIONS, strict=True)):
        theirs.reset()
        theirs.update(image, caption)
        # their batch of one lies elsewhere in memory: last bits of a cosine may differ, and 100 of it are a score
        assert metric.score(images, CAPTIONS)[place] == pytest.approx(float(theirs.compute()), abs=1e-5)


def test_the_adapter_keeps_every_promise_of_an_evaluator(
    metric: TorchmetricsClipScore, images: list[np.ndarray]
) -> None:
    findings = check_contract(metric, images, CAPTIONS)
    assert not [each for each in findings if not each.passed]


@pytest.mark.parametrize("caption", ["a\x00b \ud800", "<|endoftext|> cat", "猫がソファの上にいます。"], ids=ascii)
def test_an_awkward_caption_has_a_score(metric: TorchmetricsClipScore, images: list[np.ndarray], caption: str) -> None:
    assert np.isfinite(metric.score(images[:1], [caption])).all()


def test_of_a_caption_that_is_too_long_the_words_do_not_count_and_the_row_says_that_it_was_cut(
    metric: TorchmetricsClipScore, images: list[np.ndarray]
) -> None:
    assert not metric.truncates("x" * 75)
    assert metric.truncates("x" * 76)
    first, second = metric.score([images[0]] * 2, ["x" * 100, "y" * 100])
    assert first == second
    sight = metric.see(images[0], "x" * 100)
    assert sight.truncated.replace(" ", "") == "x" * 24  # of 102 tokens 77 are kept; the closing mark is no word
    assert "every caption of more than 77 tokens has one and the same score" in sight.notes[0]
    assert metric.see(images[0], "cat").notes == ()


def test_a_closing_mark_inside_a_caption_ends_it_and_the_row_says_that_it_was_cut(
    metric: TorchmetricsClipScore, images: list[np.ndarray]
) -> None:
    first, second = metric.score([images[0]] * 2, ["a cat <|endoftext|> xx", "a cat <|endoftext|> yy"])
    assert first == second
    assert metric.truncates("a cat <|endoftext|> xx")
    assert metric.see(images[0], "a cat <|endoftext|> xx").truncated.replace(" ", "") == "xx"


def test_it_says_what_it_is_and_what_its_scores_depend_on(
    metric: TorchmetricsClipScore, tiny: tuple[Path, Any]
) -> None:
    folder, network = tiny
    assert metric.spec.name == "torchmetrics:clip_score/clip-tiny"
    assert metric.spec.score_range == (0.0, 100.0)
    assert metric.fingerprint.weights == tensors_digest([network])
    assert set(metric.fingerprint.versions) == {"torchmetrics", "transformers", "torch"}
    with torch.no_grad():
        other = write_hub_clip(folder.parent / "other", folder.parent / "other", seed=1)
    assert tensors_digest([other]) != metric.fingerprint.weights
    assert metric.footprint().memory_mb == pytest.approx(type(metric).needs_mb("cpu"), rel=0.1)


def test_a_model_of_the_hub_is_taken_from_its_cache_and_never_fetched(
    tiny: tuple[Path, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, images: list[np.ndarray]
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    kind = find("torchmetrics:clip_score/openai/tiny")
    told = kind.availability()
    assert (told.ready, told.command) == (False, "hf download openai/tiny")
    with pytest.raises(NotAvailable, match="files of openai/tiny are not on this machine; get it with: hf download"):
        kind.load()
    repository = tmp_path / "models--openai--tiny"
    shutil.copytree(tiny[0], repository / "snapshots" / "abc")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("abc")
    assert kind.availability().ready
    assert kind.spec.languages == ("en",)
    np.testing.assert_allclose(
        kind.load().score(images, CAPTIONS), np.maximum(100 * cosines(*tiny, images, CAPTIONS), 0), atol=1e-3
    )


def test_a_folder_that_holds_no_clip_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "clip"}')
    with pytest.raises(NotAvailable, match="holds no CLIP that transformers loads"):
        find(f"torchmetrics:clip_score/{tmp_path}").load()


@pytest.mark.parametrize(
    ("reference", "error", "problem"),
    [
        ("torchmetrics:clip_iqa", InvalidInput, "clip_score alone scores a picture with a caption, got 'clip_iqa'"),
        ("torchmetrics:", InvalidInput, "write torchmetrics:clip_score or"),
        ("torchmetrics:clip_score/a b/c", InvalidInput, "no folder and no model of the Hugging Face hub is named"),
        ("torchmetrics:clip_score@x.pt", InvalidInput, "runs no checkpoint of your own; leave the @ out"),
        ("t2v_metrics:", InvalidInput, "give a model of t2v_metrics"),
        ("t2v_metrics:gpt-4o", InvalidInput, "scores 0 where no answer came; use the evaluator judge"),
        ("capevalkit:expert", InvalidInput, "it scores 0 where the model's answer holds no score"),
        ("capevalkit:cider", InvalidInput, "it sees no picture"),
        ("capevalkit:cats", UnknownName, "no metric of CaptionEvalKit is known as 'cats'; known: clipscore"),
        ("nothing:x", InvalidInput, "nor one of: capevalkit:METRIC"),
    ],
)
def test_what_no_adapter_takes_is_told_in_a_sentence(
    reference: str, error: type[InvariscopeError], problem: str
) -> None:
    with pytest.raises(error) as told:
        find(reference)
    assert problem in str(told.value)


@pytest.mark.parametrize(
    "reference", ["torchmetrics:clip_score", "t2v_metrics:openai:ViT-L-14", "capevalkit:polos", "open_clip:a/b"]
)
def test_a_reference_stays_what_was_typed_wherever_one_stands(
    reference: str, metric: Evaluator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parent)
    assert describe_evaluator(reference, metric)["reference"] == reference


def test_a_package_that_is_not_here_says_how_to_get_it() -> None:
    told = Package("no_such_package", "no-such-package").availability()
    assert (told.ready, told.reason) == (False, "the package no-such-package is not installed")
    assert told.command == "pip install no-such-package"
    told = Package("json", "json", programs=("no-such-program",)).availability()
    assert "calls the program no-such-program" in told.reason
    assert Package("torchmetrics", "torchmetrics").versions(("no-such",)).keys() == {"torchmetrics"}


@pytest.mark.parametrize("reference", ["t2v_metrics:clip-flant5-xl", "capevalkit:clipscore", "capevalkit:polos"])
def test_every_adapter_is_known_without_its_package(reference: str) -> None:
    kind = find(reference)
    assert kind.spec.name == reference
    told = kind.availability()
    assert told.ready or told.command
    if not told.ready:
        with pytest.raises(NotAvailable, match="get it with"):
            kind.load()


def test_pictures_become_files_without_loss_each_once_and_go_again(images: list[np.ndarray]) -> None:
    with as_files([images[0], images[1], images[0]]) as (folder, paths):
        assert paths[0] == paths[2] != paths[1]
        np.testing.assert_array_equal(np.asarray(Image.open(paths[1])), images[1])
        assert len(list(folder.iterdir())) == 2
    assert not folder.exists()


def test_t2v_metrics_is_given_each_pair_alone(images: list[np.ndarray]) -> None:
    asked = []

    def scorer(*, images: list[str], texts: list[str]) -> torch.Tensor:
        asked.append((images[0], texts[0]))
        return torch.tensor([[np.asarray(Image.open(images[0])).mean() / 255 + len(texts[0]) / 1000]])

    found = TextToVisual(scorer, "").score([images[0], images[0], images[1]], ["a", " ", "\ud800b"])
    np.testing.assert_allclose(
        found, [images[0].mean() / 255 + 0.001, np.nan, images[1].mean() / 255 + 0.002], rtol=1e-6
    )
    assert [text for _, text in asked] == ["a", "\ufffdb"]


def test_what_a_model_of_t2v_metrics_takes_and_is_is_read_from_its_tensors() -> None:
    class Held:
        def __init__(self) -> None:
            self.model_name, self.vision, self.text = "m", torch.nn.Linear(2**10, 2**8), torch.nn.Linear(4, 4)

    class Scorer:
        def __init__(self) -> None:
            self.model = Held()

    scorer = Scorer()
    taken = TextToVisual(scorer, "").footprint().memory_mb  # type: ignore[arg-type]
    assert taken == pytest.approx(4 * ((2**10 + 1) * 2**8 + 20) / 2**20)


@pytest.mark.parametrize(
    "output",
    [
        {"CLIPScore": 0.5, "per_item": {"0": {"CLIPScore": 0.4, "RefCLIPScore": 0.9}, "1": {"CLIPScore": None}}},
        {"CLIPScore": {"score": 0.4, "per_item": {"0": 0.4, "1": None}}},
    ],
)
def test_both_forms_of_the_kit_s_output_are_read(output: dict[str, Any]) -> None:
    assert kit.read_answer(output, "CLIPScore") == {"0": 0.4}
    with pytest.raises(InvalidInput, match="has no per_item scores of PAC-S, it has other"):
        kit.read_answer({"other": 1}, "PAC-S")


RUNNER = """
import argparse, json, struct
from pathlib import Path
parser = argparse.ArgumentParser()
for name in ("predictions", "references", "output"):
    parser.add_argument(f"--{name}")
told = parser.parse_args()
rows = [json.loads(line) for line in Path(told.predictions).read_text(encoding="utf-8").splitlines()]
scores = {}
for row in rows:
    width, height = struct.unpack(">II", Path(row["image"]).read_bytes()[16:24])
    scores[row["id"]] = {"CLIPScore": len(row["caption"]) / 100 + width / 1e4 + height / 1e6}
Path(told.output).write_text(json.dumps({"CLIPScore": 0.0, "per_item": scores}))
"""


@pytest.fixture
def real_kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kit's own code in the layout of its checkout, with one metric that needs no download."""
    spec = find_spec("capevalkit")
    if spec is None or spec.origin is None or shutil.which("uv") is None:
        pytest.skip("capevalkit is not installed here (it pins datasets<4), or uv is not on the PATH")
    root = tmp_path / "checkout"
    shutil.copytree(Path(spec.origin).parent, root / "capevalkit")
    (root / "pyproject.toml").write_text('[project]\nname = "capevalkit"\nversion = "0"\n')
    metric, upstream = root / "metrics" / "clipscore", root / "metrics" / "upstreams" / "tiny"
    metric.mkdir(parents=True)
    upstream.mkdir(parents=True)
    (metric / "metric.toml").write_text(
        '[metric]\nname = "clipscore"\npython = ">=3.10"\nmodule = "score"\n[repository]\n'
        'dir = "metrics/upstreams/tiny"\nuv_project = "metrics/upstreams/tiny"\n[runner]\n'
        'command = ["python", "score.py"]\n'
    )
    (upstream / "pyproject.toml").write_text(
        '[project]\nname = "tiny"\nversion = "0"\nrequires-python = ">=3.10"\ndependencies = []\n'
    )
    (upstream / "score.py").write_text(RUNNER)
    monkeypatch.setenv("CAPEVALKIT_HOME", str(tmp_path / "home"))
    for name in [name for name in sys.modules if name.split(".")[0] == "capevalkit"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(root)


@pytest.mark.usefixtures("real_kit")
def test_the_kit_scores_all_pairs_of_a_call_in_its_own_process(images: list[np.ndarray]) -> None:
    loaded = find("capevalkit:clipscore").load()
    expected = [
        len(caption) / 100 + image.shape[1] / 1e4 + image.shape[0] / 1e6
        for image, caption in zip(images, CAPTIONS, strict=True)
    ]
    np.testing.assert_allclose(loaded.score(images, CAPTIONS), expected)
    with pytest.raises(PartlyScored) as partly:
        loaded.score(images, ["a cat", " ", "x\u2028y", "a cat"])
    assert np.isnan(partly.value.scores).tolist() == [False, True, True, False]
    assert [bool(each) for each in partly.value.errors] == [False, True, True, False]
    assert json.loads(json.dumps(loaded.fingerprint.as_dict()))["versions"].keys() == {"capevalkit"}
    with pytest.raises(NotAvailable, match=r"capevalkit:polos does not run here .*capevalkit doctor"):
        find("capevalkit:polos").load()
