"""MCS, PickScore, SigLIP and open_clip by name, on tiny folders in the publishers' forms."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision.transforms import InterpolationMode, Resize

from core.errors import InvalidInput, NotAvailable, UnknownName
from core.evaluators.base import DualEncoder
from core.evaluators.metrics.mcs import load_sentence_transformer
from core.evaluators.registry import catalogue, find
from core.evaluators.scoring import score_pairs
from core.evaluators.weights.fetched import keep
from core.features.metric_check.metric_check import check_contract
from tests.tiny import clip, hub
from tests.tiny.reference import MEAN, STD, image_embedding, picture

SHAPES = ((60, 80), (48, 48), (1, 60), (31, 97))
CAPTIONS = ("A cat sits on a mat.", "Eine Katze im Schnee", "dog " * 200, "!")


@pytest.fixture(scope="module")
def images() -> list[np.ndarray]:
    rng = np.random.default_rng(4)
    return [rng.integers(0, 256, (*shape, 3), dtype=np.uint8) for shape in SHAPES]


@pytest.fixture(scope="module")
def multilingual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mcs")
    hub.write_sentence_transformer(folder / "clip-vit-b-32-multilingual")
    clip.write_openai(folder / "ViT-B-32.pt")
    return folder


@pytest.fixture(scope="module")
def pick(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("pick")
    return folder, hub.write_hub_clip(folder / "pickscore-v1", folder / "laion-clip-vit-h-14-processor")


@pytest.fixture(scope="module")
def siglip(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("siglip")
    return folder, hub.write_open_clip(folder)


def encoder(reference: str) -> DualEncoder:
    found = find(reference).load()
    assert isinstance(found, DualEncoder)
    return found


def unit(vector: torch.Tensor) -> np.ndarray:
    values = vector.detach().double().numpy().reshape(-1)
    return np.asarray(values / np.linalg.norm(values))


def test_mcs_is_mean_pooling_and_a_dense_layer_against_clips_picture(
    multilingual: Path, images: list[np.ndarray]
) -> None:
    from transformers import BertTokenizerFast, DistilBertConfig, DistilBertModel

    folder = multilingual / "clip-vit-b-32-multilingual"
    network = DistilBertModel(DistilBertConfig.from_pretrained(folder)).eval()
    network.load_state_dict(torch.load(folder / "pytorch_model.bin", weights_only=True))
    dense = torch.load(folder / "2_Dense" / "pytorch_model.bin", weights_only=True)["linear.weight"]
    tokenizer = BertTokenizerFast.from_pretrained(folder)
    scores = encoder(f"mcs@{multilingual}").score(images, CAPTIONS)
    for score, image, caption in zip(scores, images, CAPTIONS, strict=True):
        ids = tokenizer([caption], return_tensors="pt", truncation=True, max_length=48).input_ids
        states = network(input_ids=ids).last_hidden_state[0]
        read = unit(dense @ states.mean(dim=0))
        seen = image_embedding(clip.clip_state(), picture(image, clip.SIDE))
        assert score == pytest.approx(2.5 * max(float(seen @ read), 0), abs=1e-5)


def test_a_tuned_encoder_as_sentence_transformers_saves_it_runs_as_pr_mcs(
    multilingual: Path, tmp_path: Path, images: list[np.ndarray]
) -> None:
    network = load_sentence_transformer(multilingual / "clip-vit-b-32-multilingual")
    with torch.no_grad():
        network[2].linear.weight.neg_()
    network.save(str(tmp_path / "pr-mcs"))
    clip.write_openai(tmp_path / "ViT-B-32.pt")
    tuned = encoder(f"pr-mcs@{tmp_path}")
    untuned = encoder(f"mcs@{multilingual}")
    torch.testing.assert_close(tuned.encode_captions(CAPTIONS), -untuned.encode_captions(CAPTIONS))
    torch.testing.assert_close(tuned.encode_images(images), untuned.encode_images(images))


def test_pickscore_is_the_cosine_times_the_temperature(pick: tuple[Path, Any], images: list[np.ndarray]) -> None:
    from transformers import CLIPTokenizerFast

    folder, network = pick
    tokenizer = CLIPTokenizerFast.from_pretrained(folder / "laion-clip-vit-h-14-processor")
    scores = encoder(f"pickscore@{folder}").score(images, CAPTIONS)
    assert scores.min() < 0 < scores.max()
    for score, image, caption in zip(scores, images, CAPTIONS, strict=True):
        ids = tokenizer([caption], return_tensors="pt", truncation=True, max_length=77).input_ids
        seen = unit(network.get_image_features(pixel_values=as_the_processor_does(image)).pooler_output)
        read = unit(network.get_text_features(input_ids=ids).pooler_output)
        assert score == pytest.approx(float(np.exp(network.logit_scale.item())) * float(seen @ read), abs=2e-5)


def as_the_processor_does(image: np.ndarray, side: int = 40) -> torch.Tensor:
    height, width = image.shape[:2]
    size = (side, int(side * height / width)) if width <= height else (int(side * width / height), side)
    resized = np.asarray(Image.fromarray(image).resize(size, Image.Resampling.BICUBIC))
    top, left = (resized.shape[0] - side) // 2, (resized.shape[1] - side) // 2
    pixels = resized[top : top + side, left : left + side] / 255
    return torch.tensor((pixels - MEAN) / STD, dtype=torch.float32).permute(2, 0, 1)[None]


def test_siglip_squeezes_the_picture_and_never_scores_below_zero(
    siglip: tuple[Path, Any], images: list[np.ndarray]
) -> None:
    from open_clip.tokenizer import canonicalize_text
    from transformers import BertTokenizerFast

    folder, network = siglip
    tokenizer = BertTokenizerFast.from_pretrained(folder)
    loaded = encoder(f"siglip@{folder}")
    scores = loaded.score(images, CAPTIONS)
    assert scores.max() > 0
    for score, image, caption in zip(scores, images, CAPTIONS, strict=True):
        resized = np.asarray(Resize((160, 160), InterpolationMode.BICUBIC)(Image.fromarray(image)))
        pixels = torch.tensor(resized / 255 * 2 - 1, dtype=torch.float32).permute(2, 0, 1)[None]
        ids = tokenizer(
            [canonicalize_text(caption)], return_tensors="pt", truncation=True, max_length=16, padding="max_length"
        ).input_ids
        cosine = float(unit(network.encode_image(pixels)) @ unit(network.encode_text(ids)))
        assert score == pytest.approx(max(cosine, 0), abs=1e-5)
    assert loaded.crop(300, 20).width == 300


@pytest.mark.parametrize("name", ["mcs", "pickscore", "siglip"])
@pytest.mark.parametrize("batch", [1, 64])
def test_neither_batch_nor_order_changes_a_score(
    name: str,
    batch: int,
    multilingual: Path,
    pick: tuple[Path, Any],
    siglip: tuple[Path, Any],
    images: list[np.ndarray],
) -> None:
    loaded = encoder(f"{name}@{ {'mcs': multilingual, 'pickscore': pick[0], 'siglip': siglip[0]}[name] }")
    keyed = {str(index): image for index, image in enumerate(images)}
    pairs = [(key, caption) for key in keyed for caption in (*CAPTIONS, "🐱 猫", "x" * 500)]
    alone = np.array([loaded.score([keyed[key]], [caption])[0] for key, caption in pairs])
    order = np.random.default_rng(batch).permutation(len(pairs))
    shuffled = score_pairs(loaded, keyed, [pairs[index] for index in order], batch_size=batch)
    scale = 25.0 if name == "pickscore" else 1.0
    np.testing.assert_allclose(shuffled, alone[order], atol=1e-5 * scale, rtol=0)
    assert np.isnan(loaded.score(images[:1], [""])).all()


@pytest.mark.parametrize("name", ["clipscore", "refclipscore", "pac-s++", "mcs", "pickscore", "siglip"])
def test_every_promise_of_an_evaluator_is_kept(
    name: str,
    multilingual: Path,
    pick: tuple[Path, Any],
    siglip: tuple[Path, Any],
    tmp_path: Path,
) -> None:
    folders = {"mcs": multilingual, "pickscore": pick[0], "siglip": siglip[0]}
    path = folders.get(name) or clip.write_pac(tmp_path / "tiny.pth", lora=name == "pac-s++")
    rng = np.random.default_rng(5)
    images = [rng.integers(0, 256, (40 + 9 * index, 50, 3), dtype=np.uint8) for index in range(4)]
    found = check_contract(find(f"{name}@{path}").load(), images, CAPTIONS)
    assert [each for each in found if not each.passed] == []


def test_a_long_caption_is_cut_and_told(multilingual: Path, siglip: tuple[Path, Any]) -> None:
    for reference, limit in ((f"mcs@{multilingual}", 48), (f"siglip@{siglip[0]}", 16)):
        loaded = encoder(reference)
        assert loaded.fingerprint.settings["max_tokens"] == limit
        assert loaded.count_tokens("dog " * 100) == 102
        sight = loaded.see(np.zeros((9, 9, 3), np.uint8), "dog " * 100)
        assert len(sight.truncated.split()) == 102 - limit
        assert not loaded.truncates("a dog")


@pytest.fixture
def tiny_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A tiny architecture and its weights, known to open_clip by name."""
    import open_clip
    from open_clip import factory
    from open_clip.pretrained import _PRETRAINED

    from core.evaluators.metrics.open_clip_models import open_clip_model

    config = {
        "embed_dim": clip.DIMENSIONS,
        "vision_cfg": {"image_size": clip.SIDE, "layers": 2, "width": clip.WIDTH, "patch_size": clip.PATCH},
        "text_cfg": {"context_length": 77, "vocab_size": clip.VOCABULARY, "width": clip.WIDTH, "heads": 1, "layers": 2},
    }
    monkeypatch.setitem(factory._MODEL_CONFIGS, "ViT-Tiny", config)
    told = {
        "url": "",
        "hf_hub": "tiny/vit/",
        "mean": MEAN,
        "std": STD,
        "interpolation": "bicubic",
        "resize_mode": "shortest",
        "quick_gelu": True,
    }
    monkeypatch.setitem(_PRETRAINED, "ViT-Tiny", {"tiny2b": told})
    assert "ViT-Tiny" in open_clip.list_models()
    yield clip.write_openai(tmp_path / "open_clip_model.pt")
    open_clip_model.make.cache_clear()  # type: ignore[attr-defined]


def test_an_open_clip_model_runs_by_name_with_the_activation_of_its_weights(
    tiny_model: Path, images: list[np.ndarray]
) -> None:
    import open_clip

    from tests.tiny.reference import text_embedding

    loaded = encoder(f"open_clip:ViT-Tiny/tiny2b@{tiny_model}")
    scores = loaded.score(images, CAPTIONS)
    for score, image, caption in zip(scores, images, CAPTIONS, strict=True):
        (ids,) = open_clip.tokenize([caption])
        seen = image_embedding(clip.clip_state(), picture(image, clip.SIDE))
        read = text_embedding(clip.clip_state(), ids.numpy())
        assert score == pytest.approx(max(float(seen @ read), 0), abs=1e-5)


def test_an_open_clip_model_that_is_not_here_says_how_to_get_it(tiny_model: Path) -> None:
    available = find("open_clip:ViT-Tiny/tiny2b").availability()
    assert not available.ready
    assert available.command == "python -m core evaluators get open_clip:ViT-Tiny/tiny2b"


def test_what_was_fetched_on_demand_stands_in_the_list(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_WEIGHTS", str(tmp_path / "weights"))
    keep("open_clip:ViT-Tiny/tiny2b", tiny_model)
    keep("open_clip--ViT-Tiny--tiny2b", tiny_model)
    keep("open_clip:ViT-Tiny/tiny2b@mine", tiny_model)
    keep("open_clip:ViT-Gone/tiny2b", tiny_model)
    listed = catalogue()
    assert {"open_clip:ViT-Tiny/tiny2b", "open_clip:ViT-Tiny/tiny2b@mine"} <= set(listed.names())
    assert "open_clip:ViT-Gone/tiny2b" not in listed
    assert listed.get("open_clip:ViT-Tiny/tiny2b").availability().ready
    mine = find("open_clip:ViT-Tiny/tiny2b@mine").load()
    assert mine.fingerprint.name == "open_clip:ViT-Tiny/tiny2b@mine"


@pytest.mark.parametrize(
    ("reference", "error", "match"),
    [
        ("open_clip:ViT-B-99/openai", UnknownName, "no model 'ViT-B-99'; close: .*ViT-B-16"),
        ("open_clip:ViT-B-32/nope", UnknownName, "no weights 'nope' for ViT-B-32; it has .*laion2b_s34b_b79k"),
        ("open_clip:ViT-B-32", InvalidInput, "give a model and its weights"),
        ("nothing:ViT-B-32/openai", InvalidInput, "neither path/to/file.py:Name nor one of: .*open_clip:MODEL"),
    ],
)
def test_a_wrong_name_is_answered_with_the_right_ones(reference: str, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        find(reference)


def test_text_and_image_tower_of_different_models_are_refused(tmp_path: Path) -> None:
    hub.write_sentence_transformer(tmp_path / "clip-vit-b-32-multilingual", out=10)
    clip.write_openai(tmp_path / "ViT-B-32.pt")
    with pytest.raises(
        NotAvailable, match=r"embeddings of 10 numbers and .* of 24: text and image tower do not belong"
    ):
        find(f"mcs@{tmp_path}").load()


def test_a_folder_that_names_foreign_code_is_refused(tmp_path: Path) -> None:
    hub.write_sentence_transformer(tmp_path / "clip-vit-b-32-multilingual", module="subprocess.Popen")
    clip.write_openai(tmp_path / "ViT-B-32.pt")
    with pytest.raises(NotAvailable, match=r"names module 'subprocess\.Popen'.*refused"):
        find(f"mcs@{tmp_path}").load()


def test_pickled_weights_stand_in_for_no_safetensors(tmp_path: Path) -> None:
    hub.write_hub_clip(tmp_path / "pickscore-v1", tmp_path / "laion-clip-vit-h-14-processor", safe=False)
    with pytest.raises(NotAvailable, match=r"model\.safetensors"):
        find(f"pickscore@{tmp_path}").load()


def test_a_configuration_of_a_newer_version_is_one_sentence(tmp_path: Path) -> None:
    hub.write_open_clip(tmp_path, rope_from_the_future=True)
    with pytest.raises(NotAvailable, match=r"cannot be loaded by open_clip: TypeError.*rope_from_the_future"):
        find(f"siglip@{tmp_path}").load()


def test_weights_of_another_architecture_are_one_sentence(tmp_path: Path) -> None:
    hub.write_open_clip(tmp_path)
    config = json.loads((tmp_path / "open_clip_config.json").read_text())
    config["model_cfg"]["text_cfg"]["layers"] = 3
    (tmp_path / "open_clip_config.json").write_text(json.dumps(config))
    with pytest.raises(NotAvailable, match="cannot be loaded by open_clip") as caught:
        find(f"siglip@{tmp_path}").load()
    assert "\n" not in str(caught.value)
