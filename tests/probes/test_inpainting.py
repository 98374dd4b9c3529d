"""The clean plate."""

import numpy as np
import pytest
from scipy.ndimage import distance_transform_edt

from core.errors import ProbeRejected
from core.probes.pixels.inpainting import HOLE_REACH, clean_plate
from tests.probes.painted import ellipse, ground

SMALL = {"height": 90, "width": 120, "centre": (50, 40), "radii": (15, 10)}
LARGE = {"height": 300, "width": 400, "centre": (190, 140), "radii": (130, 90)}


def slope(height: int, width: int) -> np.ndarray:
    y, x = np.mgrid[0:height, 0:width]
    return np.stack([30 + 0.4 * x, 40 + 0.5 * y, 20 + 0.2 * x + 0.3 * y], axis=2).astype(np.uint8)


@pytest.mark.parametrize("scene", [SMALL, LARGE], ids=["small", "large"])
def test_the_object_is_gone_and_all_beyond_the_hole_is_untouched(scene: dict) -> None:
    height, width = scene["height"], scene["width"]
    mask = ellipse(height, width, centre=scene["centre"], radii=scene["radii"])
    pixels = slope(height, width)
    pixels[mask] = (255, 0, 255)
    pixels.flags.writeable = False
    plate = clean_plate(pixels, mask)
    beyond = distance_transform_edt(~mask) > HOLE_REACH
    np.testing.assert_array_equal(plate[beyond], pixels[beyond])
    assert not ((plate[..., 0] > 200) & (plate[..., 1] < 40)).any()


@pytest.mark.parametrize("scene", [SMALL, LARGE], ids=["small", "large"])
def test_a_slope_is_continued_through_the_hole(scene: dict) -> None:
    height, width = scene["height"], scene["width"]
    mask = ellipse(height, width, centre=scene["centre"], radii=scene["radii"])
    truth = slope(height, width)
    pixels = truth.copy()
    pixels[mask] = 255
    filled = clean_plate(pixels, mask)[mask].astype(float)
    assert np.abs(filled - truth[mask]).mean() < 0.1 * np.ptp(truth)


def test_the_same_image_and_mask_always_give_the_same_plate() -> None:
    mask = ellipse(300, 400, centre=(190, 140), radii=(130, 90))
    np.testing.assert_array_equal(clean_plate(ground(300, 400), mask), clean_plate(ground(300, 400), mask))


def test_a_neighbour_stays_and_does_not_bleed_into_the_hole() -> None:
    pixels = np.full((90, 120, 3), 100, np.uint8)
    mask = ellipse(90, 120, centre=(50, 40), radii=(15, 10))
    other = np.zeros_like(mask)
    other[20:60, 66:90] = True
    pixels[mask], pixels[other] = (255, 0, 0), (0, 255, 0)
    plate = clean_plate(pixels, mask, other)
    np.testing.assert_array_equal(plate[other], pixels[other])
    assert np.abs(plate[mask].astype(int) - 100).max() <= 6
    bleeding = clean_plate(pixels, mask)
    assert np.abs(bleeding[mask].astype(int) - 100).max() > 60


def test_what_the_object_stands_on_shows_through_even_if_it_is_an_instance() -> None:
    pixels = np.full((90, 120, 3), 100, np.uint8)
    table = ellipse(90, 120, centre=(60, 45), radii=(50, 38))
    plate_on_it = ellipse(90, 120, centre=(60, 45), radii=(12, 9))
    pixels[table], pixels[plate_on_it] = (0, 200, 0), (255, 0, 0)
    filled = clean_plate(pixels, plate_on_it, table)
    assert np.abs(filled[plate_on_it].astype(int) - (0, 200, 0)).max() <= 6


def test_an_object_that_fills_the_image_leaves_nothing_to_fill_from() -> None:
    with pytest.raises(ProbeRejected) as caught:
        clean_plate(ground(40, 50), np.ones((40, 50), bool))
    assert caught.value.code == "no-background"


def test_without_an_object_the_plate_is_a_copy_of_the_image() -> None:
    pixels = ground(40, 50)
    plate = clean_plate(pixels, np.zeros((40, 50), bool))
    np.testing.assert_array_equal(plate, pixels)
    assert not np.shares_memory(plate, pixels)
