"""Hiding parts of a pair: an evaluator whose eye and ear are known is found where it looks."""

from collections.abc import Sequence

import numpy as np
import pytest

from core.errors import InvalidInput, InvariscopeError
from core.features.lab.edited_copies import COARSE, MOST_WORDS, occlusion_map, word_losses
from tests.probes.painted import ground
from tests.scoring.handmade import handmade

ROWS, COLUMNS = slice(10, 20), slice(60, 75)
"""Of the place that the eye reads."""


def seen_and_heard(images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
    """Read the green of one place of the picture, and count the word dog."""
    seen = [float(each[ROWS, COLUMNS, 1].mean()) for each in images]
    return np.array(seen) + [10.0 * text.split().count("dog") for text in captions]


EYE = handmade(seen_and_heard)


def bright() -> np.ndarray:
    """80 × 120 px, dark but for the place that the eye reads."""
    pixels = np.full((80, 120, 3), 20, np.uint8)
    pixels[ROWS, COLUMNS, 1] = 200
    return pixels


def test_the_map_is_bright_where_the_evaluator_looks_and_nowhere_else() -> None:
    pixels = bright()
    found = occlusion_map(EYE, pixels, "a dog")
    # row 1 of 8 holds rows 10 to 19; columns 60 to 74 lie in column 4 of 8
    expected = np.zeros((8, 8), bool)
    expected[1, 4] = True
    assert (found.loss[expected] > 100).all()
    assert np.abs(found.loss[~expected & found.split]).max() == 0
    assert found.split[expected].all()
    assert found.score == pytest.approx(210)
    mean = pixels.reshape(-1, 3).mean(axis=0).round()[1]
    assert found.loss[1, 4] == pytest.approx(200 - mean)
    assert found.reach == found.loss[1, 4]


def test_half_of_the_coarse_cells_are_split_and_every_picture_is_counted() -> None:
    steps: list[tuple[int, int]] = []
    found = occlusion_map(EYE, ground(96, 96), "a dog", progress=lambda done, total: steps.append((done, total)))
    assert found.split.sum() == 4 * COARSE * COARSE // 2
    assert found.scored == 1 + 16 + 32
    assert steps == [(17, 49), (49, 49)]
    # a coarse cell that was not split says one value four times
    for row, column in np.argwhere(~found.split[::2, ::2]):
        assert np.ptp(found.loss[2 * row : 2 * row + 2, 2 * column : 2 * column + 2]) == 0


@pytest.mark.parametrize("size", [(8, 8), (9, 131), (240, 320)])
def test_the_cells_cover_every_pixel_once(size: tuple[int, int]) -> None:
    from core.features.lab.edited_copies import _cell

    pixels = np.zeros((*size, 3), np.uint8)
    covered = np.zeros(size, int)
    for place in np.ndindex(2 * COARSE, 2 * COARSE):
        covered[_cell(place, 2 * COARSE, pixels)] += 1
    assert (covered == 1).all()


def test_the_picture_that_is_given_is_not_written_into() -> None:
    pixels = bright()
    pixels.flags.writeable = False
    before = pixels.copy()
    occlusion_map(EYE, pixels, "a dog")
    np.testing.assert_array_equal(pixels, before)


def test_words_lose_what_they_give() -> None:
    found = word_losses(EYE, bright(), "A dog and a dog on grass.")
    assert [each.word for each in found] == ["A", "dog", "and", "a", "dog", "on", "grass."]
    assert [each.loss for each in found] == pytest.approx([0, 10, 0, 0, 10, 0, 0])
    assert [each.place for each in found] == list(range(7))


def test_one_word_cannot_be_left_out_and_too_many_are_refused() -> None:
    assert word_losses(EYE, bright(), "dog") == ()
    with pytest.raises(InvalidInput, match=f"at most {MOST_WORDS}"):
        word_losses(EYE, bright(), "dog " * (MOST_WORDS + 1))


def test_japanese_is_parted_by_its_dictionary() -> None:
    found = word_losses(EYE, bright(), "犬が草の上にいる", language="ja")
    assert "".join(each.word for each in found) == "犬が草の上にいる"
    assert len(found) > 3


def test_a_pair_without_a_score_has_no_map() -> None:
    with pytest.raises(InvariscopeError, match="handmade could not score the pair"):
        occlusion_map(handmade(lambda images, captions: np.full(len(images), np.nan)), bright(), "a dog")
    with pytest.raises(InvalidInput, match="7 × 7 px is too small"):
        occlusion_map(EYE, ground(7, 7), "a dog")
