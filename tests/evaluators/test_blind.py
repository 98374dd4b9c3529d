"""Readers that never see the image: the same number whatever the picture, and the order that they promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evaluators.base import Evaluator
from core.evaluators.metrics.blind import BlindLength, BlindTypicality
from core.evaluators.offline.class_texts import ClassTexts

WHITE, NOISE = np.full((8, 8, 3), 255, np.uint8), np.random.default_rng(0).integers(0, 256, (9, 5, 3), dtype=np.uint8)


@pytest.mark.parametrize("made", [BlindLength, BlindTypicality])
def test_the_picture_does_not_count(made: type[Evaluator]) -> None:
    reader = made.load()
    captions = ["A frog on a stone.", "Two buses."]
    assert reader.score([WHITE] * 2, captions).tolist() == reader.score([NOISE] * 2, captions).tolist()


@given(first=st.text(min_size=1, max_size=40), second=st.text(min_size=1, max_size=40))
def test_the_shorter_caption_scores_higher_and_equal_ones_tie(first: str, second: str) -> None:
    scores = BlindLength().score([WHITE, WHITE], [first, second])
    one, other = len(first.strip()), len(second.strip())
    if one and other:
        assert np.sign(scores[0] - scores[1]) == np.sign(other - one)
        assert scores[0] == 1 / (1 + one)
    else:
        assert np.isnan(scores).any()


def test_typicality_is_the_cosine_with_the_mean_of_the_class_texts() -> None:
    captions = ["A photo of a dog.", "zzz qqq xxx", ""]
    texts = ClassTexts("cpu")
    mean = texts.embeddings.numpy().astype(np.float64).mean(axis=0)
    vectors = texts.tower.encode(captions).numpy().astype(np.float64)
    wanted = np.clip(vectors @ mean / np.linalg.norm(mean), 0, 1)
    scores = BlindTypicality.load().score([WHITE] * 3, captions)
    np.testing.assert_allclose(scores[:2], wanted[:2], atol=1e-6)
    assert np.isnan(scores[2])
    assert scores[0] > scores[1]
