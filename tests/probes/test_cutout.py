"""The object cut out and put down again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.ndimage import distance_transform_edt

from core.probes.pixels.cutout import FEATHER, SIGHT, alpha_ramp, cut_out, put_down
from tests.probes.painted import ellipse, ground

MASKS = arrays(bool, st.tuples(st.integers(1, 14), st.integers(1, 14))).filter(np.any)


@given(mask=MASKS)
def test_the_cutout_is_the_tight_box_of_the_mask_with_its_centroid(mask: np.ndarray) -> None:
    pixels = ground(*mask.shape)
    cutout = cut_out(pixels, mask)
    rows, columns = np.nonzero(mask)
    assert (cutout.left, cutout.top) == (columns.min(), rows.min())
    assert (cutout.width, cutout.height) == (np.ptp(columns) + 1, np.ptp(rows) + 1)
    np.testing.assert_allclose(cutout.centroid, (columns.mean(), rows.mean()))
    np.testing.assert_array_equal(cutout.placed(mask.shape), mask)


@given(mask=MASKS)
def test_the_ramp_is_linear_in_the_distance_to_the_outside(mask: np.ndarray) -> None:
    depth = distance_transform_edt(np.pad(mask, 1))[1:-1, 1:-1]
    np.testing.assert_allclose(alpha_ramp(mask, 3), np.minimum(depth / 3, 1), atol=1e-6)


def test_the_ramp_rises_in_three_steps() -> None:
    assert FEATHER == 3
    np.testing.assert_allclose(alpha_ramp(np.ones((9, 9), bool), FEATHER)[4, :5], [1 / 3, 2 / 3, 1, 1, 1], atol=1e-6)


@given(mask=MASKS, right=st.integers(-13, 13), down=st.integers(-13, 13))
def test_distances_around_a_moved_object_are_scipys(mask: np.ndarray, right: int, down: int) -> None:
    cutout = cut_out(ground(*mask.shape), mask)
    right = min(max(right, -cutout.left), mask.shape[1] - cutout.width - cutout.left)
    down = min(max(down, -cutout.top), mask.shape[0] - cutout.height - cutout.top)
    view, away = cutout.surroundings(mask.shape, right, down)
    expected = distance_transform_edt(~cutout.placed(mask.shape, right, down))
    np.testing.assert_allclose(away, expected[view], atol=1e-5)
    outside = np.ones(mask.shape, bool)
    outside[view] = False
    assert (expected[outside] > SIGHT).all()


@pytest.mark.parametrize("feather", [True, False])
def test_a_moved_object_is_blended_along_its_ramp_and_nowhere_else(feather: bool) -> None:
    pixels, background = ground(60, 80), ground(60, 80, seed=1)
    cutout = cut_out(pixels, ellipse(60, 80, centre=(20, 30), radii=(12, 9)))
    placed = put_down(background, cutout, 25, -7, feather=feather)
    alpha = np.zeros((60, 80))
    ramp = cutout.ramp if feather else cutout.mask
    alpha[cutout.top - 7 : cutout.top - 7 + cutout.height, cutout.left + 25 : cutout.left + 25 + cutout.width] = ramp
    moved = np.roll(pixels, (-7, 25), axis=(0, 1))
    expected = alpha[..., None] * moved + (1 - alpha[..., None]) * background
    assert np.abs(placed - expected).max() <= 0.51
    np.testing.assert_array_equal(placed[alpha == 0], background[alpha == 0])
    np.testing.assert_array_equal(placed[alpha == 1], moved[alpha == 1])


def test_the_background_is_not_written_on() -> None:
    pixels, background = ground(30, 30), ground(30, 30, seed=1)
    background.flags.writeable = False
    put_down(background, cut_out(pixels, ellipse(30, 30, centre=(10, 10), radii=(5, 5))), 8, 8)
    np.testing.assert_array_equal(background, ground(30, 30, seed=1))
