"""VQAScore on a tiny CLIP-FlanT5 in the publisher's format, against its parts put together by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from core.errors import NotAvailable
from core.evaluators.registry import find
from tests.tiny.clip_t5 import write_clip_t5
from tests.tiny.vlm import SIDE

CAPTIONS = ["A cat.", "Two dogs on a very long bench beside a bicycle.", "", "<image> in a caption"]


def picture(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (30 + 10 * seed, 44, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("t5")
    return folder, write_clip_t5(folder)


def by_hand(evaluator: Any, parts: Any, image: np.ndarray, caption: str) -> float:
    """sqrt(P(Yes) · P(end | Yes)), one pair at a time, nothing padded."""
    text, projector, tower = parts
    side = max(image.shape[:2])
    square = Image.new("RGB", (side, side), tuple(int(255 * mean) for mean in evaluator._model.pictures.image_mean))
    square.paste(Image.fromarray(image), ((side - image.shape[1]) // 2, (side - image.shape[0]) // 2))
    facts = evaluator._model.pictures
    shares = np.asarray(square.resize((SIDE, SIDE), Image.Resampling.BICUBIC)) / 255  # as Pillow resizes
    pixels = torch.from_numpy((shares - facts.image_mean) / facts.image_std).permute(2, 0, 1)[None].float()
    torch.testing.assert_close(facts(square, return_tensors="pt").pixel_values, pixels, atol=1e-5, rtol=0)
    words = evaluator._model.words
    with torch.no_grad():
        patches = projector(tower(pixels, output_hidden_states=True).hidden_states[-2][0, 1:])
        before, behind = (
            text.shared(torch.tensor(words(part).input_ids)) for part in evaluator.prompt(caption).split("<image>")
        )
        embedded = torch.cat([before, patches, behind])[None]
        yes, end = words("Yes").input_ids
        logits = text(inputs_embeds=embedded, decoder_input_ids=torch.tensor([[0, yes]])).logits[0].softmax(dim=-1)
    return float((logits[0, yes] * logits[1, end]).sqrt())


@pytest.mark.parametrize("batch", [1, 64])
def test_the_score_is_that_of_the_parts_put_together(tiny: tuple[Path, Any], batch: int) -> None:
    evaluator: Any = find(f"vqascore-xl@{tiny[0]}").load()
    evaluator._model.runner.batch = batch
    images = [picture(seed) for seed in range(3) for _ in CAPTIONS]
    captions = CAPTIONS * 3
    found = evaluator.score(images, captions)
    expected = [by_hand(evaluator, tiny[1], image, text) for image, text in zip(images, captions, strict=True)]
    assert found == pytest.approx(expected, abs=1e-5)
    assert np.ptp(found) > 1e-4
    assert evaluator.see(images[1], "A cat.").views[0][1].shape[0] == evaluator.see(images[1], "A").views[0][1].shape[1]


def test_each_part_of_the_prompt_ends_as_the_training_had_it(tiny: tuple[Path, Any]) -> None:
    evaluator: Any = find(f"vqascore-xl@{tiny[0]}").load()
    before, behind = evaluator._model.tokens(evaluator.prompt("A cat."))
    assert before[-1] == behind[-1] == 2
    assert evaluator.count_tokens("A cat.") == len(before) + 1 + len(behind)
    assert evaluator._model.pictures.crop_size["height"] == SIDE


def test_a_missing_part_is_named(tiny: tuple[Path, Any], tmp_path: Path) -> None:
    write_clip_t5(tmp_path)
    (tmp_path / "clip-flant5-xl" / "pytorch_model-00002-of-00002.bin").unlink()
    with pytest.raises(NotAvailable, match=r"no pytorch_model-00002-of-00002\.bin"):
        find(f"vqascore-xl@{tmp_path}").load()


def test_an_index_that_points_outside_its_folder_is_refused(tiny: tuple[Path, Any], tmp_path: Path) -> None:
    write_clip_t5(tmp_path)
    index = tmp_path / "clip-flant5-xl" / "pytorch_model.bin.index.json"
    index.write_text('{"weight_map": {"shared.weight": "../../secret.bin"}}')
    with pytest.raises(NotAvailable, match="outside its folder"):
        find(f"vqascore-xl@{tmp_path}").load()
