"""An evaluator as a reward: its numbers, its guard, and a tiny captioner that is trained on one."""

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
import torch

import invariscope
from core.errors import InvalidInput, NotAvailable
from core.evaluators.registry import find
from core.probes.words.health import repeated
from core.scoring.reference_metrics import CIDER, compare
from core.settings import ROOT
from tests.tiny import clip

GOOD = ("a red cat on the mat", "the dog sits on a sofa", "a man and a woman in the snow")
HACKED = {
    "breaks off": "a red cat sits on a",
    "ends in words about nothing": "a red cat in the background of setting area",
    "says its end again": "a red cat cat",
    "says itself again": "a red cat on the mat and a red cat on the grass",
}


@pytest.fixture(scope="module")
def name(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"pac-s++@{clip.write_pac(tmp_path_factory.mktemp('weights') / 'tiny.pth', lora=True)}"


@pytest.fixture(scope="module")
def images() -> list[np.ndarray]:
    rng = np.random.default_rng(2)
    return [rng.integers(0, 255, (40 + 10 * index, 50, 3), dtype=np.uint8) for index in range(3)]


def test_a_reward_is_the_score_and_the_guard_takes_it_from_hollow_captions(name: str, images: list[np.ndarray]) -> None:
    captions = [*GOOD, *HACKED.values(), " "]
    given = [images[index % 3] for index in range(len(captions))]
    scores = find(name).load().score(given, captions)
    for guard in (True, False):
        found = invariscope.Reward(name, device="cpu", guard=guard)(given, captions)
        assert (found.dtype, found.shape) == (np.float32, (8,))
        paid = len(GOOD) if guard else len(captions) - 1
        assert found[:paid] == pytest.approx(scores[:paid], abs=1e-6)
        assert (found[paid:] == 0).all()
    assert (scores[:-1] > 0).any()


def test_the_guard_says_which_captions_are_hollow() -> None:
    assert not any(map(invariscope.Reward.refuses, GOOD))
    assert all(map(invariscope.Reward.refuses, HACKED.values()))


def test_a_picture_and_a_caption_are_encoded_once(name: str, images: list[np.ndarray], monkeypatch) -> None:  # type: ignore[no-untyped-def]
    reward = invariscope.Reward(name, device="cpu")
    seen, read = [], []
    kind = type(reward.evaluator)
    pictures, texts = kind.encode_images, kind.encode_captions
    monkeypatch.setattr(kind, "encode_images", lambda self, each: seen.append(len(each)) or pictures(self, each))
    monkeypatch.setattr(kind, "encode_captions", lambda self, each: read.append(len(each)) or texts(self, each))
    first = reward([images[0]] * 5 + [images[1]] * 5, [*GOOD, "a cat", "a dog"] * 2)
    assert (sum(seen), sum(read)) == (2, 5)
    again = reward([images[1].copy()], ["a dog"])
    assert (sum(seen), sum(read)) == (2, 5)
    assert again[0] == first[-1]
    assert reward([], []).shape == (0,)


def test_what_is_no_reward_is_refused_in_a_sentence(name: str, images: list[np.ndarray], tmp_path: Path) -> None:
    path = clip.write_pac(tmp_path / "tiny.pth")
    with pytest.raises(InvalidInput, match=r"'refpac-s@.*' is no reward: it must need no references"):
        invariscope.Reward(f"refpac-s@{path}")
    with pytest.raises(NotAvailable, match="there is no device 'cuda:9'"):
        invariscope.Reward(name, device="cuda:9")
    reward = invariscope.Reward(name, device="cpu")
    with pytest.raises(InvalidInput, match="as many images as captions, got 1 and 2"):
        reward(images[:1], GOOD[:2])
    with pytest.raises(InvalidInput, match=r"must be uint8 RGB of shape \[H, W, 3\], got float64"):
        reward([np.zeros((4, 4, 3))], GOOD[:1])


def test_the_drift_holds_the_numbers_of_each_measure_by_itself() -> None:
    references = [[f"a {colour} cat on the mat", f"the {colour} cat sits"] for colour in ("red", "blue", "black")] * 4
    said: dict[int, Sequence[str]] = {
        0: [texts[0] for texts in references],
        9: ["a red cat on a", *(f"a cat a cat {index}" for index in range(11))],
    }
    table = invariscope.drift({"guard": said}, references)
    assert set(table["n"]) == {12}
    for step, captions in said.items():
        own = table[table["step"] == step].set_index("measure")["value"]
        assert own[CIDER] == pytest.approx(compare(captions, references).means[CIDER])
        assert own["words a caption"] == pytest.approx(np.mean([len(text.split()) for text in captions]))
        assert [own[f"Rep-{n}"] for n in (1, 2, 3, 4)] == pytest.approx(
            [np.mean([repeated(text, n) for text in captions]) for n in (1, 2, 3, 4)]
        )
    assert table.set_index(["step", "measure"]).loc[(9, "hollow endings, %"), "value"] == pytest.approx(100 / 12)
    figure = invariscope.drift_figure(table)
    assert list(figure.frame["panel"].unique()) == list(table["measure"].unique())
    with pytest.raises(InvalidInput, match="one list of references"):
        invariscope.drift({"guard": {0: ["a cat"]}}, references)


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("self_critical", ROOT / "docs" / "self_critical.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_the_example_trains_a_captioner_and_draws_its_drift(example: ModuleType, name: str, tmp_path: Path) -> None:
    words = ["--pictures", "16", "--learn", "30", "--improve", "4", "--reward", name, "--device", "cpu"]
    example.main([*words, "--out", str(tmp_path)])
    table = pd.read_csv(tmp_path / "drift.csv")
    assert sorted(set(table["step"])) == [0, 1, 2, 3, 4]
    assert set(table["arm"]) == {"guard", "none"}
    begun = [rows.drop(columns="arm").reset_index(drop=True) for _, rows in table[table["step"] == 0].groupby("arm")]
    assert begun[0].equals(begun[1])  # both go on from one captioner
    assert (tmp_path / "drift.svg").read_bytes().startswith(b"<?xml")


def test_self_critical_steps_raise_the_reward(example: ModuleType) -> None:
    """A reward for one word alone: after the steps the captioner says it more often than before."""
    torch.manual_seed(0)
    captioner = example.Captioner(3, ["cat", "dog", "mat"])
    features = torch.eye(3)

    def reward(images: list[np.ndarray], captions: list[str]) -> np.ndarray:
        return np.array([("dog" in text.split()) - 0.05 * len(text.split()) for text in captions], dtype=np.float32)

    def mean() -> float:
        with torch.no_grad():
            said = captioner.texts(captioner.told(features.repeat(40, 1), sample=True)[0])
        return float(reward([], said).mean())

    before = mean()
    example.improve(captioner, features, [np.zeros((2, 2, 3), np.uint8)] * 3, reward, steps=60, rate=1e-3)
    assert mean() > before + 0.2
