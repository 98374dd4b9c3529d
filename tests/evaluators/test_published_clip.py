"""CLIPScore, PAC-S and PAC-S++ on tiny checkpoints in the publishers' formats, against plain numpy."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch

from core.evaluators.base import DualEncoder
from core.evaluators.references import ReferencedDualEncoder
from core.evaluators.registry import find
from core.evaluators.scoring import score_pairs
from tests.tiny import clip
from tests.tiny.reference import harmonic, image_embedding, merged, picture, text_embedding

SHAPES = ((60, 80), (80, 60), (48, 48), (1, 60), (60, 1), (1, 1), (31, 97), (300, 17))
CAPTIONS = (
    "A cat sits on a mat.",
    "cat",
    "dog " * 200,
    "Un gato, 猫, кошка 🐱",
    "a\x00b",
    "x" * 300,
    "THE SAME, in CAPITALS!",
    "A photo depicts a photo",
)
PREFIX = "A photo depicts "
STATES: Mapping[str, Callable[[], Mapping[str, torch.Tensor]]] = {
    "clipscore": clip.clip_state,
    "pac-s": clip.clip_state,
    "pac-s++": lambda: merged(clip.clip_state() | clip.adapters()),
}
SCALE = {"clipscore": 2.5, "pac-s": 2.0, "pac-s++": 2.0}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    folder = tmp_path_factory.mktemp("tiny")
    return {
        "clipscore": clip.write_openai(folder / "openai.pt"),
        "pac-s": clip.write_pac(folder / "pac.pth"),
        "pac-s++": clip.write_pac(folder / "pac++.pth", lora=True),
    }


@pytest.fixture(scope="module")
def images() -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [rng.integers(0, 256, (*shape, 3), dtype=np.uint8) for shape in SHAPES]


def tokens(text: str) -> np.ndarray:
    (ids,) = open_clip.tokenize([text])
    return ids.numpy()


def plain_score(name: str, image: np.ndarray, caption: str) -> float:
    state = STATES[name]()
    seen = image_embedding(state, picture(image, clip.SIDE))
    read = text_embedding(state, tokens(PREFIX + caption))
    return SCALE[name] * max(float(seen @ read), 0.0)


def encoder(reference: str) -> DualEncoder:
    found = find(reference).load()
    assert isinstance(found, DualEncoder)
    return found


@pytest.mark.parametrize("name", STATES)
def test_scores_are_those_of_the_formula(name: str, files: Mapping[str, Path], images: list[np.ndarray]) -> None:
    scores = encoder(f"{name}@{files[name]}").score(images, CAPTIONS)
    expected = [plain_score(name, image, caption) for image, caption in zip(images, CAPTIONS, strict=True)]
    assert max(expected) > 0.1
    np.testing.assert_allclose(scores, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("batch", [1, 64])
def test_neither_batch_nor_order_changes_a_score(
    name: str, batch: int, files: Mapping[str, Path], images: list[np.ndarray]
) -> None:
    loaded = encoder(f"{name}@{files[name]}")
    keyed = {str(index): image for index, image in enumerate(images)}
    pairs = [(key, caption) for key in keyed for caption in CAPTIONS]
    alone = np.array([loaded.score([keyed[key]], [caption])[0] for key, caption in pairs])
    order = np.random.default_rng(batch).permutation(len(pairs))
    shuffled = score_pairs(loaded, keyed, [pairs[index] for index in order], batch_size=batch)
    np.testing.assert_allclose(shuffled, alone[order], atol=1e-5, rtol=0)


def test_a_reference_based_score_is_the_harmonic_mean_with_the_closest_reference(
    files: Mapping[str, Path], images: list[np.ndarray]
) -> None:
    references = [["A dog."], ["cat", "A cat sleeps."], ["dog " * 200, "x"]]
    state = clip.clip_state()
    loaded = find(f"refclipscore@{files['clipscore']}").load()
    assert isinstance(loaded, ReferencedDualEncoder)
    scores = loaded.score(images[:3], CAPTIONS[:3], references)
    for score, image, caption, texts in zip(scores, images, CAPTIONS, references, strict=False):
        read = text_embedding(state, tokens(PREFIX + caption))
        likeness = max(float(read @ text_embedding(state, tokens(PREFIX + each))) for each in texts)
        assert score == pytest.approx(harmonic(plain_score("clipscore", image, caption), max(likeness, 0)), abs=1e-5)


@pytest.mark.parametrize("caption", ["", "  ", "\n"])
def test_a_blank_caption_has_no_score_and_harms_no_other(
    caption: str, files: Mapping[str, Path], images: list[np.ndarray]
) -> None:
    loaded = encoder(f"clipscore@{files['clipscore']}")
    scores = loaded.score(images[:2], [caption, "cat"])
    assert np.isnan(scores[0])
    assert scores[1] == pytest.approx(plain_score("clipscore", images[1], "cat"), abs=1e-5)
    assert np.isnan(loaded.score(images[:1], [caption])).all()
    assert loaded.encode_captions([caption]).shape == (1, clip.DIMENSIONS)


def test_marks_in_a_caption_are_letters_and_no_word_behind_them_is_lost(files: Mapping[str, Path]) -> None:
    loaded = encoder(f"clipscore@{files['clipscore']}")
    prompts = loaded._towers.prompts  # type: ignore[attr-defined]
    start, end = 49406, 49407
    for mark in ("<|endoftext|>", "<start_of_text>", "<end_of_text>", "<END_OF_TEXT>", "&lt;end_of_text&gt;"):
        (ids,) = prompts.tokens([f"a cat {mark} on a mat"]).tolist()
        assert (ids.count(start), ids.count(end)) == (1, 1)
        assert prompts.read(f"a cat {mark} on a mat").tokens == ids.index(end) + 1
    # what OpenAI's tokenizer, to which open_clip's marks are letters, makes of it: < end _ of _ text >
    assert prompts.tokens(["<end_of_text>"]).tolist() == prompts.tokens(["< end _ of _ text >"]).tolist()
    first, second = loaded.encode_captions(["a cat <end_of_text> on a mat", "a cat <end_of_text> dogs run"])
    assert float((first - second).abs().max()) > 1e-3


def test_a_torchscript_archive_as_openai_publishes_it_is_read(tmp_path: Path, images: list[np.ndarray]) -> None:
    path = clip.write_torchscript(tmp_path / "ViT-B-32.pt")
    half = {name: value.half() for name, value in clip.clip_state().items()}
    (score,) = encoder(f"clipscore@{path}").score(images[2:3], ["dog"])
    seen = image_embedding(half, picture(images[2], clip.SIDE))
    assert score == pytest.approx(2.5 * max(seen @ text_embedding(half, tokens(PREFIX + "dog")), 0), abs=1e-5)


def test_a_checkpoint_of_a_data_parallel_model_is_read(tmp_path: Path, images: list[np.ndarray]) -> None:
    state = {f"module.{name}": value for name, value in clip.clip_state().items()}
    torch.save({"state_dict": state}, tmp_path / "parallel.pth")
    (score,) = encoder(f"pac-s@{tmp_path / 'parallel.pth'}").score(images[:1], ["dog"])
    assert score == pytest.approx(plain_score("pac-s", images[0], "dog"), abs=1e-5)


def test_the_large_pac_s_uses_its_own_activation_and_normalisation(tmp_path: Path, images: list[np.ndarray]) -> None:
    path = clip.write_pac(tmp_path / "l14.pth", seed=5)
    state = clip.clip_state(5)
    scores = encoder(f"pac-s-l14@{path}").score(images[:3], CAPTIONS[:3])
    half = (0.5, 0.5, 0.5)
    for score, image, caption in zip(scores, images, CAPTIONS, strict=False):
        seen = image_embedding(state, picture(image, clip.SIDE, half, half), quick=False)
        read = text_embedding(state, tokens(PREFIX + caption), quick=False)
        assert score == pytest.approx(2 * max(float(seen @ read), 0), abs=1e-5)


def test_adapters_change_the_score_and_are_recorded(files: Mapping[str, Path], images: list[np.ndarray]) -> None:
    tuned, plain = encoder(f"pac-s++@{files['pac-s++']}"), encoder(f"pac-s@{files['pac-s']}")
    assert np.abs(tuned.score(images, CAPTIONS) - plain.score(images, CAPTIONS)).max() > 0.01
    facts = tuned.fingerprint.settings
    assert (facts["lora_rank"], facts["lora_added"], facts["lora_left"]) == (4, 9, 8)


def test_what_the_metric_saw_is_told(files: Mapping[str, Path]) -> None:
    loaded = encoder(f"clipscore@{files['clipscore']}")
    image = np.random.default_rng(0).integers(0, 256, (100, 200, 3), dtype=np.uint8)
    sight = loaded.see(image, "one two three " * 40)
    ((title, view),) = sight.views
    assert title == f"{clip.SIDE} × {clip.SIDE} px into the network"
    assert view.shape == (clip.SIDE, clip.SIDE, 3)
    assert sight.prompt.startswith("A photo depicts one two")
    assert sight.tokens == 3 + 120 + 2
    assert loaded.truncates("one two three " * 40)
    kept = sight.tokens - len(sight.truncated.split())
    assert kept == 77
    assert sight.crop is not None
    assert (round(sight.crop.x), round(sight.crop.width)) == (50, 100)


def test_the_fingerprint_holds_hash_precision_and_constants(files: Mapping[str, Path], tmp_path: Path) -> None:
    first = encoder(f"clipscore@{files['clipscore']}").fingerprint
    assert first.precision == "float32"
    assert first.settings["prefix"] == PREFIX
    other = clip.write_openai(tmp_path / "openai.pt", seed=9)
    second = encoder(f"clipscore@{other}").fingerprint
    assert first.name == second.name == "clipscore@openai"
    assert first.key != second.key


def test_two_evaluators_on_one_checkpoint_share_it(files: Mapping[str, Path]) -> None:
    path = files["clipscore"]
    first, second = find(f"clipscore@{path}").load(), find(f"refclipscore@{path}").load()
    assert first._towers is second._towers  # type: ignore[attr-defined]


def test_half_precision_is_close_and_says_so(
    files: Mapping[str, Path], images: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = find(f"clipscore@{files['clipscore']}")
    plan = kind.entry.precision.model_copy(update={"cpu": "bfloat16"})  # type: ignore[attr-defined]
    entry = kind.entry.model_copy(update={"precision": plan})  # type: ignore[attr-defined]
    monkeypatch.setattr(kind, "entry", entry)
    low = kind.load()
    assert low.fingerprint.precision == "bfloat16"
    expected = [plain_score("clipscore", image, caption) for image, caption in zip(images, CAPTIONS, strict=True)]
    np.testing.assert_allclose(low.score(images, CAPTIONS), expected, atol=0.15)
