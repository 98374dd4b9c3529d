"""The clean plate."""

import numpy as np
import pandas as pd
import patchmatch
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import distance_transform_edt, gaussian_filter

from core.errors import ProbeRejected
from core.probes.pixels import inpainting
from core.probes.pixels.inpainting import EXAMPLE, HOLE_REACH, SMOOTH, Fill, Plates, between_rows, clean_plate, gradient
from tests.probes.painted import ellipse, ground

SMALL = {"height": 90, "width": 120, "centre": (50, 40), "radii": (15, 10)}
LARGE = {"height": 300, "width": 400, "centre": (190, 140), "radii": (130, 90)}


def gravel(height: int = 300, width: int = 400) -> np.ndarray:
    """Blobs of light and dark grey, some four pixels wide, alike everywhere."""
    noise = np.random.default_rng(0).normal(size=(height, width))
    blurred = gaussian_filter(noise, 2.0)
    grey = 120 + 45 * blurred / blurred.std()
    return np.clip(np.repeat(grey[..., None], 3, axis=2), 0, 255).astype(np.uint8)


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
    plate = clean_plate(pixels, mask).pixels
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
    filled = clean_plate(pixels, mask).pixels[mask].astype(float)
    assert np.abs(filled - truth[mask]).mean() < 0.1 * np.ptp(truth)


def test_the_same_image_and_mask_always_give_the_same_plate() -> None:
    mask = ellipse(300, 400, centre=(190, 140), radii=(130, 90))
    once = clean_plate(gravel(), mask).pixels
    patchmatch.set_random_seed(7)  # of the whole process: who sets it must not change a plate
    np.testing.assert_array_equal(once, clean_plate(gravel(), mask).pixels)


def test_gravel_is_filled_with_gravel_and_by_telea_with_a_smear() -> None:
    mask = ellipse(300, 400, centre=(190, 140), radii=(90, 60))
    truth = gravel()
    pixels = truth.copy()
    pixels[mask] = (255, 0, 255)
    made, smooth = clean_plate(pixels, mask), clean_plate(pixels, mask, fill=Fill.TELEA)
    assert (made.filled, smooth.filled) == (EXAMPLE, SMOOTH)
    inside = ellipse(300, 400, centre=(190, 140), radii=(80, 50))
    assert 0.7 < gradient(made.pixels, inside) / gradient(truth, inside) < 1.3
    assert gradient(smooth.pixels, inside) / gradient(truth, inside) < 0.3


def layers(height: int = 300, width: int = 400, horizon: int = 120) -> np.ndarray:
    """Gravel under a soft blue sky."""
    sky = np.random.default_rng(1).normal(size=(height, width))
    sky = gaussian_filter(sky, 12) / 0.02
    pixels = np.clip(np.stack([110 + sky, 160 + sky, 220 + sky], axis=2), 0, 255).astype(np.uint8)
    pixels[horizon:] = gravel(height, width)[horizon:]
    return pixels


@pytest.mark.parametrize(("width", "height"), [(110, 90), (70, 100), (150, 60)])
def test_a_horizon_goes_on_where_the_object_stood_across_it(width: int, height: int) -> None:
    truth = layers()
    mask = ellipse(300, 400, centre=(200, 130), radii=(width, height))
    pixels = truth.copy()
    pixels[mask] = (255, 0, 255)
    plate = clean_plate(pixels, mask)
    assert plate.filled == EXAMPLE
    filled = plate.pixels.astype(int)
    blue = filled[..., 2] - filled[..., 0] > 50
    # of the columns that the object hid: sky ends and gravel begins within a few pixels of the horizon
    columns = mask.any(axis=0)
    assert np.abs(blue[:, columns].sum(axis=0) - 120).mean() < 4


def test_rows_explain_level_stripes_and_nothing_of_upright_ones_or_of_one_colour() -> None:
    stripes = np.repeat(np.arange(40, dtype=np.uint8)[:, None, None] * 5, 30, axis=1).repeat(3, axis=2)
    known = np.ones((40, 30), bool)
    assert between_rows(stripes, known) == pytest.approx(1)
    assert between_rows(np.ascontiguousarray(stripes.transpose(1, 0, 2)), known.T) == pytest.approx(0)
    assert between_rows(np.full_like(stripes, 7), known) == 0
    noisy = np.random.default_rng(0).integers(0, 256, (40, 30, 3), np.uint8)
    known[:, 10:20] = False
    of_rows = pd.DataFrame(noisy[known].astype(float)).assign(row=np.nonzero(known)[0])
    means = of_rows.groupby("row").transform("mean")
    colours = of_rows[[0, 1, 2]]
    share = ((means - colours.mean()) ** 2).to_numpy().sum() / ((colours - colours.mean()) ** 2).to_numpy().sum()
    assert between_rows(noisy, known) == pytest.approx(share)


@pytest.mark.parametrize(("least", "most"), [(0, 256), (0, 2), (0, 1), (100, 256)])
def test_the_likest_piece_is_that_of_a_plain_search_the_first_of_equal_ones(least: int, most: int) -> None:
    rng = np.random.default_rng(4)
    filled = np.repeat(rng.integers(least, most, (24, 30, 1), np.uint8), 3, axis=2)
    filled[:4] = filled[4:8]
    unknown = np.zeros((24, 30), bool)
    unknown[8:20, 6:24] = True
    filled[unknown] //= 1 + least  # black in the hole, where all that is known is bright
    known = inpainting._whole(~unknown)
    padded = np.pad(filled.astype(int), ((2, 2), (2, 2), (0, 0)), mode="reflect")
    places = np.argwhere(known)
    examples = np.array([padded[y : y + 5, x : x + 5] for y, x in places])
    moved = inpainting._likest(filled, unknown, known)
    for y, x in np.argwhere(unknown):
        away = ((examples - padded[y : y + 5, x : x + 5]) ** 2).sum(axis=(1, 2, 3))
        assert tuple(moved[y, x]) == tuple(places[np.argmin(away)] - (y, x))


def test_no_product_of_the_search_wakes_further_threads() -> None:
    multiplications = inpainting._AT_ONCE * inpainting._EXAMPLES_AT_ONCE * (3 * (2 * inpainting.DETAIL + 1) ** 2 + 1)
    assert multiplications <= 65_536 * 4  # OpenBLAS: SMP_THRESHOLD_MIN times GEMM_MULTITHREAD_THRESHOLD


def test_soft_surroundings_keep_the_smooth_fill() -> None:
    mask = ellipse(90, 120, centre=(50, 40), radii=(15, 10))
    assert clean_plate(slope(90, 120), mask).filled == SMOOTH


def test_nothing_of_a_neighbour_is_copied_into_the_hole() -> None:
    mask = ellipse(300, 400, centre=(150, 140), radii=(60, 40))
    pixels, other = gravel(), np.zeros_like(mask)
    other[60:220, 230:300] = True
    pixels[other] = np.where(np.random.default_rng(1).random((160, 70, 1)) < 0.5, (0, 255, 0), (0, 90, 0)).reshape(
        -1, 3
    )
    pixels[mask] = (255, 0, 255)
    plate = clean_plate(pixels, mask, other)
    assert plate.filled == EXAMPLE
    np.testing.assert_array_equal(plate.pixels[other], pixels[other])
    filled = plate.pixels[mask].astype(int)
    assert (filled[:, 1] - filled[:, 0] > 60).mean() < 0.01


@settings(max_examples=8)
@given(st.integers(0, 2**32 - 1))
def test_of_any_picture_nothing_beyond_the_hole_is_touched_and_the_same_is_made_again(seed: int) -> None:
    rng = np.random.default_rng(seed)
    height, width = (int(each) for each in rng.integers(40, 90, 2))
    pixels = rng.integers(0, 256, (height, width, 3), np.uint8)
    mask = np.zeros((height, width), bool)
    top, left = (int(rng.integers(0, each - 8)) for each in (height, width))
    mask[top : top + int(rng.integers(1, 24)), left : left + int(rng.integers(1, 24))] = True
    kept = pixels.copy()
    plate = clean_plate(pixels, mask).pixels
    np.testing.assert_array_equal(pixels, kept)
    beyond = distance_transform_edt(~mask) > HOLE_REACH
    np.testing.assert_array_equal(plate[beyond], pixels[beyond])
    np.testing.assert_array_equal(plate, clean_plate(pixels, mask).pixels)


def test_a_missing_library_is_told_and_never_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patchmatch, "patchmatch_available", False)
    mask = ellipse(300, 400, centre=(190, 140), radii=(60, 40))
    with pytest.raises(ProbeRejected, match="reinstall it") as caught:
        clean_plate(gravel(), mask)
    assert caught.value.code == "no-patchmatch"


def test_a_plate_is_made_once_for_the_same_picture_and_mask_and_few_are_kept() -> None:
    plates = Plates(most_bytes=2 * gravel().nbytes)
    mask, none = ellipse(300, 400, centre=(190, 140), radii=(30, 20)), np.zeros((300, 400), bool)
    made = plates.get(gravel(), mask, none, Fill.TELEA)
    assert plates.get(gravel(), mask, none, Fill.TELEA) is made
    assert not made.pixels.flags.writeable
    others = [plates.get(np.roll(gravel(), by, 1), mask, none, Fill.TELEA) for by in (1, 2)]
    assert plates.get(np.roll(gravel(), 2, 1), mask, none, Fill.TELEA) is others[1]
    assert plates.get(gravel(), mask, none, Fill.TELEA) is not made


@pytest.mark.parametrize("fill", Fill)
def test_a_neighbour_stays_and_does_not_bleed_into_the_hole(fill: Fill) -> None:
    pixels = np.full((90, 120, 3), 100, np.uint8)
    mask = ellipse(90, 120, centre=(50, 40), radii=(15, 10))
    other = np.zeros_like(mask)
    other[20:60, 66:90] = True
    pixels[mask], pixels[other] = (255, 0, 0), (0, 255, 0)
    plate = clean_plate(pixels, mask, other, fill=fill).pixels
    np.testing.assert_array_equal(plate[other], pixels[other])
    assert np.abs(plate[mask].astype(int) - 100).max() <= 6
    bleeding = clean_plate(pixels, mask, fill=Fill.TELEA).pixels
    assert np.abs(bleeding[mask].astype(int) - 100).max() > 60


def test_what_the_object_stands_on_shows_through_even_if_it_is_an_instance() -> None:
    pixels = np.full((90, 120, 3), 100, np.uint8)
    table = ellipse(90, 120, centre=(60, 45), radii=(50, 38))
    plate_on_it = ellipse(90, 120, centre=(60, 45), radii=(12, 9))
    pixels[table], pixels[plate_on_it] = (0, 200, 0), (255, 0, 0)
    filled = clean_plate(pixels, plate_on_it, table).pixels
    assert np.abs(filled[plate_on_it].astype(int) - (0, 200, 0)).max() <= 6


def test_an_object_that_fills_the_image_leaves_nothing_to_fill_from() -> None:
    with pytest.raises(ProbeRejected) as caught:
        clean_plate(ground(40, 50), np.ones((40, 50), bool))
    assert caught.value.code == "no-background"


def test_without_an_object_the_plate_is_a_copy_of_the_image() -> None:
    pixels = ground(40, 50)
    plate = clean_plate(pixels, np.zeros((40, 50), bool)).pixels
    np.testing.assert_array_equal(plate, pixels)
    assert not np.shares_memory(plate, pixels)
