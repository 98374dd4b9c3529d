"""The object cut out of a mask from a box, and put down again on a grid of positions."""

import math
from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.ndimage import distance_transform_edt

from core.corpora.schema import Box
from core.errors import ProbeRejected
from core.probes.families.distance import ANGLES, GRID, RADII, normalised_radius
from core.probes.pixels.cutout import FEATHER, SIGHT, alpha_ramp, cut_out, mask_from_box, put_down
from core.probes.registry import select
from core.seeds import stream
from tests.probes.painted import SUBJECT, ellipse, ground, neighbour, paint, result_or_code

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
    np.testing.assert_allclose(alpha_ramp(mask), np.minimum(depth / 3, 1), atol=1e-6)


def test_the_ramp_rises_in_three_steps() -> None:
    assert FEATHER == 3
    np.testing.assert_allclose(alpha_ramp(np.ones((9, 9), bool))[4, :5], [1 / 3, 2 / 3, 1, 1, 1], atol=1e-6)


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


RNG = stream(1, "a", "b")


def test_the_grid_holds_the_centre_and_every_radius_in_every_direction() -> None:
    assert len(GRID) == 1 + (len(RADII) - 1) * len(ANGLES) == 33
    assert set(select(["distance"])) == set(GRID)
    assert not any(probe.default for probe in GRID)


@pytest.mark.parametrize(
    ("point", "radius"),
    [((79.5, 59.5), 0.0), ((159.5, 59.5), 1.0), ((79.5, -0.5), 1.0), ((159.5, 119.5), math.sqrt(2))],
)
def test_the_radius_is_0_at_the_centre_and_1_at_the_middle_of_each_side(
    point: tuple[float, float], radius: float
) -> None:
    assert normalised_radius(*point, 160, 120) == pytest.approx(radius)


def test_a_small_object_lands_within_half_a_pixel_of_its_position() -> None:
    scene = paint(radii=(6, 5))
    for probe in GRID:
        variant = probe.make(scene, SUBJECT, RNG)
        radius, _, angle = probe.name.removeprefix("distance:").partition("@")
        assert variant.object_mask is not None
        rows, columns = np.nonzero(variant.object_mask.to_array())
        turn = math.radians(int(angle or 0))
        assert columns.mean() == pytest.approx(79.5 + float(radius) * 80 * math.cos(turn), abs=0.51)
        assert rows.mean() == pytest.approx(59.5 - float(radius) * 60 * math.sin(turn), abs=0.51)
        assert variant.diagnostics["radius"] == pytest.approx(float(radius), abs=0.015)
        assert variant.diagnostics["bg_delta"] == 0


def test_a_position_that_does_not_fit_is_rejected_not_moved() -> None:
    scene = paint(centre=(80, 60), radii=(40, 30))
    made = [result_or_code(lambda probe=probe: probe.make(scene, SUBJECT, RNG)) for probe in GRID]
    codes = [each for each in made if isinstance(each, str)]
    assert set(codes) == {"leaves-image"}
    assert 0 < len(codes) < len(GRID)


def test_a_position_on_a_neighbour_is_rejected() -> None:
    scene = paint(centre=(130, 100), radii=(6, 5), others=(neighbour(Box(60, 40, 40, 40)),))
    with pytest.raises(ProbeRejected) as caught:
        GRID[0].make(scene, SUBJECT, RNG)
    assert caught.value.code == "collision"
