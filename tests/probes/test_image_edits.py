"""Image edits against numpy, scipy, scikit-image and Pillow."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image
from scipy.ndimage import gaussian_filter
from scipy.ndimage import shift as shift_reference
from skimage.transform import rotate as rotate_reference

from core.errors import InvalidInput
from core.probes.pixels import edits as image_edits
from tests.probes.painted import ground

IMAGES = arrays(np.uint8, st.tuples(st.integers(1, 12), st.integers(1, 12), st.just(3)))

EDITS = {
    "flip_vertical": image_edits.flip_vertical,
    "flip_horizontal": image_edits.flip_horizontal,
    "rotate": lambda pixels: image_edits.rotate(pixels, 10),
    "blur": lambda pixels: image_edits.blur(pixels, 2.0),
    "translate": lambda pixels: image_edits.translate(pixels, right=1, down=-2),
    "jpeg": image_edits.jpeg,
    "resize_and_back": image_edits.resize_and_back,
}


@pytest.mark.parametrize("name", EDITS)
@given(pixels=IMAGES)
def test_an_edit_keeps_shape_and_dtype_and_leaves_its_input_alone(name: str, pixels: np.ndarray) -> None:
    before = pixels.copy()
    pixels.flags.writeable = False
    after = EDITS[name](pixels)
    assert (after.shape, after.dtype) == (pixels.shape, np.uint8)
    assert after.flags.c_contiguous
    assert not np.shares_memory(after, pixels)
    np.testing.assert_array_equal(pixels, before)
    np.testing.assert_array_equal(EDITS[name](pixels), after)


@pytest.mark.parametrize("name", EDITS)
@pytest.mark.parametrize("colour", [(0, 0, 0), (255, 255, 255), (200, 120, 40)])
def test_an_edit_keeps_a_plain_image_plain(name: str, colour: tuple[int, int, int]) -> None:
    pixels = np.full((40, 50, 3), colour, np.uint8)
    assert np.abs(EDITS[name](pixels).astype(int) - pixels).max() <= (3 if name == "jpeg" else 1)


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_reads_a_slice_of_a_larger_image_as_its_copy(name: str) -> None:
    view = ground(60, 80)[5:45, 7:61]
    np.testing.assert_array_equal(EDITS[name](view), EDITS[name](view.copy()))


@given(pixels=IMAGES)
def test_flips_are_numpys_and_undo_themselves(pixels: np.ndarray) -> None:
    np.testing.assert_array_equal(image_edits.flip_vertical(pixels), np.flip(pixels, 0))
    np.testing.assert_array_equal(image_edits.flip_horizontal(pixels), np.flip(pixels, 1))
    for flip in (image_edits.flip_vertical, image_edits.flip_horizontal):
        np.testing.assert_array_equal(flip(flip(pixels)), pixels)


@pytest.mark.parametrize("degrees", [-10, -5, 5, 10, 33])
@pytest.mark.parametrize("size", [(90, 130), (91, 64)])
def test_a_rotation_is_that_of_scikit_image_away_from_the_border(degrees: int, size: tuple[int, int]) -> None:
    pixels = image_edits.blur(ground(*size), 1.5)  # two bicubic kernels agree on what is smooth
    expected = rotate_reference(pixels, degrees, order=3, mode="reflect", preserve_range=True)
    inside = np.s_[12:-12, 12:-12]
    off = np.abs(image_edits.rotate(pixels, degrees)[inside] - np.clip(expected, 0, 255)[inside])
    assert off.mean() < 0.6
    assert off.max() < 6


def test_a_rotation_by_a_quarter_of_a_square_is_exact_and_counter_clockwise() -> None:
    pixels = ground(41, 41)
    np.testing.assert_array_equal(image_edits.rotate(pixels, 90), np.rot90(pixels))


def test_a_rotation_fills_the_corners_from_the_image() -> None:
    pixels = np.full((60, 80, 3), 200, np.uint8)
    assert image_edits.rotate(pixels, 10).min() == 200


@pytest.mark.parametrize("sigma", [1.0, 2.0])
def test_a_blur_is_scipys(sigma: float) -> None:
    pixels = ground(50, 70)
    expected = gaussian_filter(pixels.astype(float), (sigma, sigma, 0), mode="mirror")
    assert np.abs(image_edits.blur(pixels, sigma) - expected).max() < 1.5


@given(pixels=IMAGES, right=st.integers(-14, 14), down=st.integers(-14, 14))
def test_a_translation_is_scipys_with_the_edge_repeated(pixels: np.ndarray, right: int, down: int) -> None:
    expected = shift_reference(pixels, (down, right, 0), order=0, mode="nearest")
    np.testing.assert_array_equal(image_edits.translate(pixels, right=right, down=down), expected)


def test_a_translation_moves_a_mask_as_it_moves_an_image() -> None:
    mask = ground(9, 11)[..., 0] > 100
    moved = image_edits.translate(mask, right=2, down=1)
    assert moved.dtype == bool
    np.testing.assert_array_equal(moved[1:, 2:], mask[:-1, :-2])


@pytest.mark.parametrize("quality", [50, 95])
def test_a_jpeg_is_that_of_pillow(quality: int) -> None:
    pixels = ground(64, 80)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=quality, subsampling="4:2:0")
    expected = np.asarray(Image.open(stream)).astype(int)
    assert np.abs(image_edits.jpeg(pixels, quality=quality) - expected).mean() < 1.5


def test_a_jpeg_keeps_red_red() -> None:
    pixels = np.full((32, 32, 3), (220, 20, 30), np.uint8)
    np.testing.assert_allclose(image_edits.jpeg(pixels).reshape(-1, 3).mean(0), (220, 20, 30), atol=3)


def test_resizing_there_and_back_hardly_changes_a_photograph() -> None:
    from skimage import data

    pixels = data.astronaut()
    error = np.mean((image_edits.resize_and_back(pixels).astype(float) - pixels) ** 2)
    assert 10 * np.log10(255**2 / error) > 40


@pytest.mark.parametrize("sigma", [0.0, -1.0, float("nan")])
def test_a_blur_needs_a_positive_sigma(sigma: float) -> None:
    with pytest.raises(InvalidInput, match="sigma must be a positive number"):
        image_edits.blur(ground(8, 8), sigma)


@pytest.mark.parametrize("quality", [0, 101])
def test_a_jpeg_needs_a_quality_in_range(quality: int) -> None:
    with pytest.raises(InvalidInput, match=r"1\.\.100"):
        image_edits.jpeg(ground(8, 8), quality=quality)


def test_a_rotation_needs_a_finite_angle_and_a_resize_a_positive_scale() -> None:
    with pytest.raises(InvalidInput, match="finite angle"):
        image_edits.rotate(ground(8, 8), float("inf"))
    with pytest.raises(InvalidInput, match="scale must be positive"):
        image_edits.resize_and_back(ground(8, 8), scale=0)


@pytest.mark.parametrize("bad", [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3), float), np.zeros((4, 4, 4), np.uint8)])
def test_what_is_no_rgb_image_is_refused(bad: np.ndarray) -> None:
    for edit in (image_edits.jpeg, image_edits.resize_and_back, EDITS["blur"], EDITS["rotate"]):
        with pytest.raises(InvalidInput, match="uint8 RGB"):
            edit(bad)
