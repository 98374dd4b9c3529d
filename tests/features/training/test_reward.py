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


WORDY = """\
def wordy(image, caption):
    \"\"\"Pays for every word, as a score that minds no repetition does.\"\"\"
    return len(caption.split()) / 24
"""


def test_self_critical_steps_raise_the_reward_and_the_guard_keeps_captions_whole(
    example: ModuleType, tmp_path: Path
) -> None:
    """A reward that pays for words: without the guard captions become long and hollow, with it they do not."""
    path = tmp_path / "wordy.py"
    path.write_text(WORDY, encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"wordy' states no lowest score; say .* least=0\.0"):
        invariscope.Reward(f"{path}:wordy", device="cpu")
    features, pictures = torch.eye(3), [np.full((2, 2, 3), index, np.uint8) for index in range(3)]

    def after(steps: int, *, guard: bool) -> tuple[float, float]:
        """Words, and share that the guard refuses, of 300 sampled captions."""
        torch.manual_seed(0)
        captioner = example.Captioner(3, ["a", "cat", "on", "the", "mat"])
        reward = invariscope.Reward(f"{path}:wordy", device="cpu", guard=guard, least=0.0)
        example.improve(captioner, features, pictures, reward, steps=steps, rate=1e-2)
        with torch.no_grad():
            said = captioner.texts(captioner.told(features.repeat(100, 1), sample=True)[0])
        return float(np.mean([len(text.split()) for text in said])), float(np.mean([*map(reward.refuses, said)]))

    begun, alone, guarded = after(0, guard=True), after(60, guard=False), after(60, guard=True)
    assert alone[0] > begun[0] + 3
    assert alone[1] > begun[1] + 0.2
    assert guarded[1] < min(begun[1], alone[1] - 0.5)
