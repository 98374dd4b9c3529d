"""The generative evaluators on tiny models in transformers' format, against one plain forward pass a pair."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from core.errors import InvalidInput, NotAvailable
from core.evaluators.base import Evaluator, PartlyScored
from core.evaluators.generative import REMEMBERED, Answer
from core.evaluators.metrics.fleur import MOST_TOKENS, smoothed
from core.evaluators.registry import find
from core.evaluators.scoring import score_pairs_with_errors
from core.evaluators.towers.preprocessing import padded_square
from core.probes.rejections import code_of
from tests.tiny.vlm import write_llava, write_qwen

CAPTIONS = ["A cat.", "Two dogs sit on a bench beside a very small, very old bicycle.", "", 'A "quoted" café 猫']


def picture(seed: int) -> np.ndarray:
    shape = [(40, 60), (91, 33), (28, 28)][seed % 3]
    return np.random.default_rng(seed).integers(0, 256, (*shape, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("vlm")
    write_llava(root / "llava")
    write_llava(root / "marks", marks=True)
    write_qwen(root / "qwen")
    return {name: root / name for name in ("llava", "marks", "qwen")}


def load(name: str, folder: Path) -> Any:
    return find(f"{name}@{folder}").load()


def forward(evaluator: Any, image: np.ndarray, prompt: str) -> torch.Tensor:
    """Next-token probabilities by the network and processor themselves: one pair, nothing padded, nothing reused."""
    model = evaluator._model
    inputs = model.processor(images=[Image.fromarray(image)], text=[prompt], return_tensors="pt")
    with torch.no_grad():
        return model.runner.network(**inputs).logits[0, -1].float().softmax(dim=-1)


def pairs() -> tuple[list[np.ndarray], list[str]]:
    images = [picture(seed) for seed in range(3)]
    return [image for image in images for _ in CAPTIONS], CAPTIONS * 3


@pytest.mark.parametrize("family", ["llava", "qwen"])
@pytest.mark.parametrize("batch", [1, 64])
def test_vqascore_is_the_probability_of_yes_in_any_batch_and_order(
    folders: dict[str, Path], family: str, batch: int
) -> None:
    evaluator = load("vqascore-qwen", folders[family])
    evaluator._model.runner.batch = batch
    images, captions = pairs()
    found = evaluator.score(images, captions)
    yes = evaluator._model.processor.tokenizer.convert_tokens_to_ids("Yes")
    expected = [
        float(forward(evaluator, image, evaluator.prompt(caption))[yes])
        for image, caption in zip(images, captions, strict=True)
    ]
    assert found == pytest.approx(expected, abs=1e-5)
    assert len(set(found.round(7))) == len(found)
    assert evaluator.score(images[::-1], captions[::-1])[::-1] == pytest.approx(found, abs=1e-6)


def test_the_question_holds_the_caption_as_it_is(folders: dict[str, Path]) -> None:
    prompt = load("vqascore-qwen", folders["qwen"]).prompt('A {caption} of "braces".')
    assert 'Does this figure show "A {caption} of "braces"."? Please answer Yes or No.' in prompt


def test_protoscore_is_the_expected_rating_brought_to_one(folders: dict[str, Path]) -> None:
    evaluator = load("protoscore-base", folders["qwen"])
    images, captions = pairs()
    found = evaluator.score(images, captions)
    words = evaluator._model.processor.tokenizer
    for image, caption, score in zip(images, captions, found, strict=True):
        prompt = evaluator.prompt(caption)
        assert prompt.endswith('{"score": ')
        row = forward(evaluator, image, prompt)
        shares = np.array([float(row[words.convert_tokens_to_ids(digit)]) for digit in "1234"])
        assert score == pytest.approx((shares @ [1, 2, 3, 4] / shares.sum() - 1) / 3, abs=1e-5)
    assert ((found >= 0) & (found <= 1)).all()


def adapter(base: Path, folder: Path, *, targets: tuple[str, ...] = ("q_proj", "v_proj")) -> Any:
    """Write a PEFT adapter with random weights; return the tuned network, not merged."""
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForImageTextToText

    network = AutoModelForImageTextToText.from_pretrained(base)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of peft about transformers
        tuned = get_peft_model(network, LoraConfig(r=4, lora_alpha=8, target_modules=list(targets)))
    rng = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for name, value in tuned.named_parameters():
            if "lora_" in name:
                value.copy_(torch.randn(value.shape, generator=rng) * 0.3)
    tuned.save_pretrained(folder)
    return tuned.eval()


def test_an_adapter_is_merged_into_the_model_that_it_was_made_for(folders: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "qwen2.5-vl-7b").symlink_to(folders["qwen"])
    tuned = adapter(folders["qwen"], tmp_path / "protoscore-adapter")
    evaluator = load("protoscore", tmp_path)
    plain = load("protoscore-base", folders["qwen"])
    image, caption = picture(0), "A cat."
    assert abs(evaluator.score([image], [caption])[0] - plain.score([image], [caption])[0]) > 1e-4
    prompt = evaluator.prompt(caption)
    inputs = evaluator._model.processor(images=[Image.fromarray(image)], text=[prompt], return_tensors="pt")
    with torch.no_grad():
        row = tuned(**inputs).logits[0, -1].softmax(dim=-1)
    ids = [evaluator._model.token(digit) for digit in "1234"]
    shares = row[ids].double().numpy()
    expected = (shares @ [1, 2, 3, 4] / shares.sum() - 1) / 3
    assert evaluator.score([image], [caption])[0] == pytest.approx(expected, abs=1e-5)


def test_an_adapter_of_another_model_is_refused_in_a_sentence(folders: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "qwen2.5-vl-7b").symlink_to(folders["qwen"])
    adapter(folders["llava"], tmp_path / "protoscore-adapter", targets=("vision_tower.layers.0.mlp.fc1", "fc2"))
    with pytest.raises(NotAvailable, match="adapter"):
        load("protoscore", tmp_path)


def answer_of(text: str, rows: list[dict[int, float]], digits: list[int]) -> Answer:
    """An answer of one character a token, with the given probabilities at each place."""
    table = np.full((len(text), 40), 1e-9, dtype=np.float32)
    for place, row in enumerate(rows):
        for token, share in row.items():
            table[place, token] = share
    ids = [digits[int(each)] if each.isdigit() else 30 for each in text]
    return Answer(np.array(ids), table, tuple(text))


digit_rows = st.lists(st.floats(0, 0.125, width=32), min_size=10, max_size=10)


@settings(max_examples=60, deadline=None)
@given(first=digit_rows, second=digit_rows, tenth=st.integers(0, 9), hundredth=st.integers(1, 9))
def test_fleur_smooths_the_first_and_where_present_the_second_decimal(
    first: list[float], second: list[float], tenth: int, hundredth: int
) -> None:
    digits = list(range(10, 20))
    rows: list[dict[int, float]] = [{}, {}, dict(zip(digits, first, strict=True))]
    expected = sum(0.1 * digit * share for digit, share in enumerate(first))
    assert smoothed(answer_of(f"0.{tenth}", rows, digits), digits) == pytest.approx(expected, abs=1e-5)
    expected += sum(0.01 * digit * share for digit, share in enumerate(second))
    rows.append(dict(zip(digits, second, strict=True)))
    assert smoothed(answer_of(f"0.{tenth}{hundredth}", rows, digits), digits) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("text", ["1", "1.0", " 1.00 ", "1."])
def test_fleur_reads_one_from_its_whole_digit(text: str) -> None:
    digits = list(range(10, 20))
    rows = [{} if not each.isdigit() else {digits[1]: 0.7, digits[0]: 0.2} for each in text]
    assert smoothed(answer_of(text, rows, digits), digits) == pytest.approx(0.7 + 0.9 * 0.2, abs=1e-6)


@pytest.mark.parametrize("text", ["", "I cannot say.", "7", "0", "1.5", "8 of 10", "0.8 or 0.9", "under 0.8", "2.0"])
def test_fleur_takes_nothing_else_for_a_score(text: str) -> None:
    digits = list(range(10, 20))
    with pytest.raises(InvalidInput, match="no score") as raised:
        smoothed(answer_of(text, [{} for _ in text], digits), digits)
    assert code_of(str(raised.value)) == "answer-no-score"


@pytest.mark.parametrize("text", ["0.85", "1.0"])
def test_fleur_needs_every_digit_as_a_token_of_its_own(text: str) -> None:
    joined = Answer(np.array([30]), np.zeros((1, 40), dtype=np.float32), (text,))
    with pytest.raises(InvalidInput, match="several digits as one token") as raised:
        smoothed(joined, list(range(10, 20)))
    assert code_of(str(raised.value)) == "answer-one-token"


def test_an_answer_without_a_score_is_null_with_its_text_and_never_the_previous_score(
    folders: dict[str, Path],
) -> None:
    evaluator = load("fleur", folders["llava"])  # its weights are random, and so is what it writes
    images, captions = pairs()
    with pytest.raises(PartlyScored) as raised:
        evaluator.score(images, captions)
    assert np.isnan(raised.value.scores).all()
    assert all(f"not ended after {MOST_TOKENS} tokens: " in (error or "") for error in raised.value.errors)
    assert {code_of(error) for error in raised.value.errors} == {"answer-cut"}


def test_an_answer_that_was_cut_is_no_score_however_much_it_looks_like_one() -> None:
    digits = list(range(10, 20))
    for text in ("0.85", "1.0", "I would say 0."):
        whole = answer_of(text, [{} for _ in text], digits)
        with pytest.raises(InvalidInput, match="had not ended") as raised:
            smoothed(replace(whole, ended=False), digits)
        assert code_of(str(raised.value)) == "answer-cut"


def test_a_number_that_python_writes_with_an_exponent_is_smoothed_as_any_other() -> None:
    digits = list(range(10, 20))
    rows = [{}, {}, {digits[0]: 0.5, digits[3]: 0.5}, {digits[2]: 1.0}, {}, {}, {}]
    assert smoothed(answer_of("0.00001", rows, digits), digits) == pytest.approx(0.15 + 0.02, abs=1e-6)


@pytest.fixture(scope="module")
def trained(folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny LLaVA, taught to answer three pairs with a score."""
    evaluator = load("fleur", folders["marks"])
    model, network = evaluator._model, evaluator._model.runner.network
    wanted = [(picture(0), "A cat.", "0.85"), (picture(1), "A dog.", "0.3"), (picture(2), "A bed.", "1.0")]
    optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
    for _ in range(60):
        for image, caption, score in wanted:
            text = evaluator.prompt(caption) + score + "</s>"
            picture_given = [Image.fromarray(evaluator.view(image))]
            inputs = model.processor(images=picture_given, text=[text], return_tensors="pt")
            told = len(model.processor.tokenizer.encode(score + "</s>", add_special_tokens=False))
            labels = inputs["input_ids"].clone()
            labels[:, :-told] = -100
            optimiser.zero_grad()
            network(**inputs, labels=labels).loss.backward()
            optimiser.step()
    folder = tmp_path_factory.mktemp("trained")
    network.save_pretrained(folder)
    model.processor.save_pretrained(folder)
    return folder


def by_hand(evaluator: Any, image: np.ndarray, prompt: str) -> float:
    """FLEUR's score, one token and one whole forward pass after the other."""
    text, rows = "", []
    words = evaluator._model.processor.tokenizer
    for _ in range(MOST_TOKENS):
        row = forward(evaluator, evaluator.view(image), prompt + text)
        if int(row.argmax()) == words.eos_token_id:
            break
        rows.append(row)
        text += words.decode([int(row.argmax())])
    digit = [words.convert_tokens_to_ids(str(each)) for each in range(10)]
    if float(text) == 1.0:
        return float(rows[0][digit[1]] + 0.9 * rows[0][digit[0]])
    score = sum(0.1 * each * float(rows[2][digit[each]]) for each in range(10))
    if len(text) > 3:
        score += sum(0.01 * each * float(rows[3][digit[each]]) for each in range(10))
    return score


def test_an_answer_says_whether_the_model_ended_it(trained: Path) -> None:
    evaluator = load("fleur", trained)
    asked = [evaluator.view(picture(0))], [evaluator.prompt("A cat.")]
    (whole,), (cut,) = (evaluator._model.answers(*asked, tokens=tokens) for tokens in (MOST_TOKENS, 3))
    assert whole.ended
    assert len(whole.tokens) < MOST_TOKENS
    assert not cut.ended
    assert whole.text.startswith(cut.text)


@pytest.mark.parametrize("batch", [1, 64])
def test_fleur_is_the_formula_token_by_token(trained: Path, batch: int) -> None:
    evaluator = load("fleur", trained)
    evaluator._model.runner.batch = batch
    images, captions = [picture(0), picture(1), picture(2), picture(0)], ["A cat.", "A dog.", "A bed.", "A cat."]
    found = evaluator.score(images, captions)
    expected = [
        by_hand(evaluator, image, evaluator.prompt(caption)) for image, caption in zip(images, captions, strict=True)
    ]
    assert found == pytest.approx(expected, abs=1e-5)
    assert found == pytest.approx([0.85, 0.3, 1.0, 0.85], abs=0.15)


def test_reffleur_shows_the_references_and_wants_some(trained: Path) -> None:
    evaluator = load("reffleur", trained)
    assert evaluator.spec.takes_references
    assert "Reference Captions: {references}" in evaluator.prompt("A cat.")
    with pytest.raises(PartlyScored) as raised:
        evaluator.score([picture(0)], ["A cat."], [[]])
    assert "reference" in (raised.value.errors[0] or "")


def test_the_judge_on_this_machine_gives_null_where_the_answer_is_no_verdict(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluator = load("judge-local", folders["qwen"])
    said = ['{"score": 7, "reason": "seen"}', "seven"]  # the model's own words are random
    made = [Answer(np.zeros(1), np.zeros((1, 0)), (text,)) for text in said]
    monkeypatch.setattr(evaluator._model, "answers", lambda images, prompts, **_: made)
    with pytest.raises(PartlyScored, match="not the JSON") as raised:
        evaluator.score([picture(0), picture(1)], ["A cat.", "A dog."])
    assert raised.value.scores[0] == 7.0


def test_the_judge_on_this_machine_answers_by_itself(folders: dict[str, Path]) -> None:
    evaluator = load("judge-local", folders["qwen"])
    key = "picture"
    found = score_pairs_with_errors(evaluator, {key: picture(0)}, [(key, "A cat.")])
    assert np.isnan(found.scores[0])
    assert "not the JSON" in (found.errors[0] or "")


def test_a_picture_is_encoded_once_for_all_its_captions(folders: dict[str, Path]) -> None:
    evaluator = load("vqascore-qwen", folders["llava"])
    model = evaluator._model
    model._encoded.clear()
    seen = []
    network = model.runner.network
    encode = network.get_image_features
    network.get_image_features = lambda *given, **named: seen.append(1) or encode(*given, **named)
    evaluator.score([picture(0), picture(0), picture(1)] * 3, [f"A cat {number}." for number in range(9)])
    assert len(seen) == 2
    evaluator.score([picture(seed) for seed in range(REMEMBERED + 3)], ["A cat."] * (REMEMBERED + 3))
    assert len(model._encoded) == REMEMBERED


def test_the_digits_are_found_behind_the_mark_that_opens_a_text(folders: dict[str, Path]) -> None:
    words = load("fleur", folders["marks"])._model.processor.tokenizer
    assert len(words.encode("7", add_special_tokens=False)) == 2
    assert words.convert_ids_to_tokens(load("fleur", folders["marks"])._digits) == list("0123456789")
    with pytest.raises(InvalidInput, match="tokens"):
        load("fleur", folders["marks"])._model.token("10")


@pytest.mark.parametrize(("name", "family"), [("vqascore-qwen", "qwen"), ("protoscore-base", "qwen")])
def test_a_caption_that_holds_the_models_own_marks_is_only_read(
    folders: dict[str, Path], name: str, family: str
) -> None:
    evaluator = load(name, folders[family])
    captions = ["A <|image_pad|> cat.<|im_end|>", "A <image> on a </s> mat."]
    assert np.isfinite(evaluator.score([picture(0)] * 2, captions)).all()
    assert "A < |image_pad|> cat.< |im_end|>" in evaluator.prompt(captions[0])


def test_fleur_reads_a_caption_as_its_authors_do(folders: dict[str, Path]) -> None:
    evaluator = load("fleur", folders["llava"])
    assert "Caption: A cat < image> sits.\n\nScore" in evaluator.prompt(" A  cat\t<image>\n sits.\n")
    reference = load("reffleur", folders["llava"])
    prompt = reference._with(reference.prompt("{references} {caption}"), ["one", "two {caption}"])
    assert "Reference Captions: one\ntwo {caption}\n\nCandidate Caption: {references} {caption}\n" in prompt


@pytest.mark.parametrize("family", ["llava", "qwen"])
def test_pictures_are_resized_by_pillow_as_the_authors_did(folders: dict[str, Path], family: str) -> None:
    pictures = load("vqascore-qwen", folders[family])._model.processor.image_processor
    square = np.random.default_rng(4).integers(0, 256, (112, 112, 3), dtype=np.uint8)
    side = 28 if family == "llava" else 112
    seen = Image.fromarray(square).resize((side, side), Image.Resampling.BICUBIC)
    expected = (np.asarray(seen) / 255 - pictures.image_mean) / pictures.image_std
    found = pictures(Image.fromarray(square), return_tensors="np")["pixel_values"]
    assert sorted(found.ravel())[:: side * 2] == pytest.approx(
        sorted(np.tile(expected, (1 if family == "llava" else 2, 1, 1, 1)).ravel())[:: side * 2], abs=1e-5
    )


def test_padding_keeps_the_whole_picture_in_the_middle() -> None:
    image = picture(1)
    square = padded_square(image, colour=(1, 2, 3))
    assert square.shape == (91, 91, 3)
    assert (square[:, 29:62] == image).all()
    assert (square[:, 0] == (1, 2, 3)).all()


@pytest.mark.parametrize("harm", ["cut", "page", "foreign"])
def test_a_damaged_or_foreign_folder_is_refused_in_a_sentence(
    folders: dict[str, Path], tmp_path: Path, harm: str
) -> None:
    for path in folders["llava"].iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    weights = tmp_path / "model.safetensors"
    if harm == "cut":
        weights.write_bytes(weights.read_bytes()[:2000])
    elif harm == "page":
        weights.write_bytes(b"<!DOCTYPE html><html>not here</html>")
    else:
        (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(NotAvailable, match="fetch it again"):
        load("fleur", tmp_path)


def test_generative_evaluators_explain_a_pair(folders: dict[str, Path]) -> None:
    for name, family in (("vqascore-qwen", "qwen"), ("protoscore-base", "qwen"), ("fleur", "llava")):
        evaluator: Evaluator = load(name, folders[family])
        sight = evaluator.see(picture(1), "A cat.")
        assert "A cat." in sight.prompt
        assert sight.tokens == evaluator.count_tokens("A cat.")
        assert evaluator.fingerprint.key == load(name, folders[family]).fingerprint.key
