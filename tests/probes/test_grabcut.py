"""A mask from a box."""

from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.corpora.schema import Box
from core.errors import ProbeRejected
from core.probes.pixels.grabcut import mask_from_box
from tests.probes.painted import ellipse, ground, result_or_code

CODES = ("box-outside", "box-too-small", "box-too-large", "grabcut-empty")


def pictured(height: int = 120, width: int = 160, scale: int = 1) -> tuple[np.ndarray, np.ndarray, Box]:
    mask = ellipse(height * scale, width * scale, centre=(70 * scale, 60 * scale), radii=(30 * scale, 22 * scale))
    pixels = ground(height * scale, width * scale)
    pixels[mask] = (230, 40, 30)
    return pixels, mask, Box(37 * scale, 35 * scale, 66 * scale, 50 * scale)


@pytest.mark.parametrize("scale", [1, 6])
def test_an_object_of_another_colour_is_found(scale: int) -> None:
    pixels, truth, box = pictured(scale=scale)
    found = mask_from_box(pixels, box)
    assert found.dtype == bool
    assert found.shape == truth.shape
    assert (found & truth).sum() / (found | truth).sum() > 0.93


@settings(max_examples=25, deadline=None)
@given(
    x=st.floats(-20, 150),
    y=st.floats(-20, 110),
    width=st.floats(0.5, 200),
    height=st.floats(0.5, 150),
)
def test_a_mask_lies_inside_its_box_or_is_refused_with_a_code(x: float, y: float, width: float, height: float) -> None:
    pixels, _, _ = pictured()
    box = Box(x, y, width, height)
    found = result_or_code(lambda: mask_from_box(pixels, box))
    if isinstance(found, str):
        assert found in CODES
        return
    rows, columns = np.nonzero(found)
    assert columns.min() >= np.floor(x)
    assert columns.max() < np.ceil(x + width)
    assert rows.min() >= np.floor(y)
    assert rows.max() < np.ceil(y + height)


def test_the_mask_does_not_depend_on_the_generator_the_thread_or_what_ran_before() -> None:
    pixels, _, box = pictured()
    noise = np.random.default_rng(0).integers(0, 256, pixels.shape, np.uint8)
    expected = mask_from_box(noise, box)
    with ThreadPoolExecutor(4) as pool:
        for seed, found in enumerate(pool.map(lambda _: mask_from_box(noise, box), range(8))):
            np.testing.assert_array_equal(found, expected)
            cv2.setRNGSeed(seed)
            np.testing.assert_array_equal(mask_from_box(noise, box), expected)


def test_the_image_is_only_read() -> None:
    pixels, _, box = pictured()
    before = pixels.copy()
    pixels.flags.writeable = False
    mask_from_box(pixels, box)
    np.testing.assert_array_equal(pixels, before)


@pytest.mark.parametrize(
    ("box", "code"),
    [
        (Box(200, 10, 20, 20), "box-outside"),
        (Box(10, 10, 2, 30), "box-too-small"),
        (Box(0, 0, 160, 120), "box-too-large"),
        (Box(-50, -50, 400, 400), "box-too-large"),
    ],
)
def test_a_box_that_cannot_be_cut_is_refused_with_what_to_do(box: Box, code: str) -> None:
    with pytest.raises(ProbeRejected) as caught:
        mask_from_box(pictured()[0], box)
    assert caught.value.code == code


@pytest.mark.parametrize("size", [(5, 5), (8, 8), (9, 200)])
def test_a_tiny_image_is_cut_or_refused(size: tuple[int, int]) -> None:
    for box in (Box(0, 0, 4, 4), Box(1, 1, size[1] - 2.0, size[0] - 2.0)):
        found = result_or_code(lambda box=box: mask_from_box(ground(*size), box))
        assert found in CODES if isinstance(found, str) else found.any()


def test_on_a_plain_image_there_is_nothing_to_find_or_all_of_the_box() -> None:
    box = Box(40, 30, 60, 50)
    found = result_or_code(lambda: mask_from_box(np.full((120, 160, 3), 99, np.uint8), box))
    assert found == "grabcut-empty" if isinstance(found, str) else found.sum() == 3000
