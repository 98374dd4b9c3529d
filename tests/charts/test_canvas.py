from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from core.charts.canvas import ACCENT, cropped_away, mask_png, thumbnail
from core.corpora.schema import Box


def picture(height: int = 40, width: int = 60) -> np.ndarray:
    return np.random.default_rng(0).integers(40, 255, (height, width, 3), dtype=np.uint8)


@given(st.integers(1, 400), st.integers(1, 400), st.integers(1, 100))
def test_a_thumbnail_fits_and_is_never_enlarged(height: int, width: int, side: int) -> None:
    small = thumbnail(np.zeros((height, width, 3), np.uint8), side=side)
    assert max(small.shape[:2]) <= max(side, 1)
    assert min(small.shape[:2]) >= 1
    if max(height, width) <= side:
        assert small.shape == (height, width, 3)


def test_a_mask_travels_as_the_colour_of_outlines_on_nothing() -> None:
    mask = np.zeros((40, 60), bool)
    mask[10:20, 10:20] = True
    sent = np.asarray(Image.open(BytesIO(mask_png(mask))))
    assert (sent[mask] == (*ACCENT, 255)).all()
    assert not sent[~mask].any()


def test_what_the_crop_throws_away_is_darkened_and_what_it_keeps_is_kept() -> None:
    pixels = picture()
    drawn = cropped_away(pixels, Box(10, 0, 40, 40))
    assert (drawn[:, :9] <= pixels[:, :9] // 3 + 1).all()
    assert (drawn[5:35, 15:45] == pixels[5:35, 15:45]).all()


@pytest.mark.parametrize("crop", [None, Box(0, 0, 60, 40)])
def test_a_crop_that_keeps_all_draws_nothing(crop: Box | None) -> None:
    pixels = picture()
    assert (cropped_away(pixels, crop) == pixels).all()
