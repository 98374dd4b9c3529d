import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.charts.canvas import box_canvas, cropped_away, outlined, thumbnail
from core.charts.contact_sheet import CELL, Cell, contact_sheet
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


def test_an_outline_changes_the_object_and_leaves_the_original_alone() -> None:
    pixels = picture()
    before = pixels.copy()
    mask = np.zeros(pixels.shape[:2], bool)
    mask[10:20, 10:20] = True
    drawn = outlined(pixels, mask)
    assert (pixels == before).all()
    assert (drawn[15, 15] != pixels[15, 15]).any()
    assert (drawn[30:, 40:] == pixels[30:, 40:]).all()


def test_what_the_crop_throws_away_is_darkened_and_what_it_keeps_is_kept() -> None:
    pixels = picture()
    drawn = cropped_away(pixels, Box(10, 0, 40, 40))
    assert (drawn[:, :9] <= pixels[:, :9] // 3 + 1).all()
    assert (drawn[5:35, 15:45] == pixels[5:35, 15:45]).all()


@pytest.mark.parametrize("crop", [None, Box(0, 0, 60, 40)])
def test_a_crop_that_keeps_all_draws_nothing(crop: Box | None) -> None:
    pixels = picture()
    assert (cropped_away(pixels, crop) == pixels).all()


def test_the_canvas_is_in_the_pixels_of_the_image_and_shows_the_box() -> None:
    figure = box_canvas(picture(), box=Box(5, 6, 20, 10))
    assert tuple(figure.layout.xaxis.range) == (0, 60)
    assert tuple(figure.layout.yaxis.range) == (40, 0)
    shape = figure.layout.shapes[0]
    assert (shape.x0, shape.y0, shape.x1, shape.y1) == (5, 6, 25, 16)
    assert figure.layout.dragmode == "select"


def test_the_canvas_sends_a_small_picture_of_a_large_one() -> None:
    figure = box_canvas(np.zeros((4000, 3000, 3), np.uint8))
    assert len(figure.layout.images[0].source) < 100_000
    assert tuple(figure.layout.xaxis.range) == (0, 3000)


@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_contact_sheet_holds_every_variant(count: int) -> None:
    red = np.zeros((50, 80, 3), np.uint8)
    red[..., 0] = 255
    sheet = contact_sheet([Cell(red, ("vflip", "conse-lite0 0.5 −2.0 %"))] * count, title="There is a cat.")
    assert (sheet == (255, 0, 0)).all(axis=2).sum() == count * 50 * 80
    assert sheet.shape[1] <= 5 * CELL


def test_a_contact_sheet_survives_any_script_and_length() -> None:
    cell = Cell(picture(), ("🦡" * 50, "مرحبا", "x" * 10_000))
    assert contact_sheet([cell], title="\u202e 日本語 " * 500).dtype == np.uint8
