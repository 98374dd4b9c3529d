"""The canvas, and contact sheets: slides of 16:9 with whole captions, plain signs and pictures as large as fits."""

from io import BytesIO

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from core.charts.canvas import (
    ACCENT,
    HEIGHT,
    WIDTH,
    Cell,
    Score,
    _font,
    contact_sheet,
    cropped_away,
    grid,
    mask_png,
    thumbnail,
    wrapped,
)
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


RED = np.zeros((1000, 1600, 3), np.uint8)
RED[..., 0] = 255
SCORES = tuple(Score(f"conse-lite{place} 0.547 · −18.4 %", place > 0) for place in range(3))
LONG = "A dog and a cat lie on the warm stones beside the road while two children look at them. " * 3


def cell(caption: str = "There is a cat.") -> Cell:
    return Cell(RED, "Moved to top left", caption, SCORES)


@pytest.mark.parametrize(("count", "slides"), [(0, 1), (1, 1), (2, 1), (7, 1), (15, 1), (16, 2), (31, 3)])
def test_a_sheet_is_slides_of_16_to_9_and_holds_every_picture(count: int, slides: int) -> None:
    sheet = contact_sheet([cell()] * count, title="There is a cat.", foot="Null band: conse-lite0 ±1.3 %")
    assert sheet.shape == (slides * HEIGHT, WIDTH, 3)
    assert WIDTH * 9 == HEIGHT * 16
    red = (sheet == (255, 0, 0)).all(axis=2)
    assert cv2.connectedComponents(red.astype(np.uint8))[0] - 1 == count


def test_fewer_pictures_are_larger() -> None:
    def red(count: int) -> float:
        sheet = contact_sheet([cell()] * count, title="t")
        return float((sheet == (255, 0, 0)).all(axis=2).sum() / count)

    assert red(2) > red(6) > red(15)


@pytest.mark.parametrize("text", ["There is a cat.", LONG, "x" * 500, "−2.0 % → Δ ● ○ ± “é”"])
def test_a_caption_is_written_whole(text: str) -> None:
    lines = wrapped(text, 300, _font(20))
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(_font(20).getlength(each) <= 300 for each in lines)


def test_long_captions_take_slides_and_not_letters() -> None:
    columns, rows = grid([cell(LONG * 2)] * 15, 800)
    assert columns * rows < 15
    assert contact_sheet([cell(LONG * 2)] * 15, title="t").shape[0] > HEIGHT


def test_a_sheet_survives_any_script_and_length() -> None:
    odd = Cell(RED, "🦡" * 50, "x" * 10_000, (Score("مرحبا"),))
    assert contact_sheet([odd], title="\u202e 日本語 " * 500).shape == (HEIGHT, WIDTH, 3)
