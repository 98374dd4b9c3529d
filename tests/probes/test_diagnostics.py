"""BGΔ and SeamE of paper A, section A.8, and the fill's diagnostics, against slow, plain readings."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skimage.morphology import dilation, disk

from core.probes.pixels.cutout import bg_delta, cut_out, fill_ratio, seam_energy, texture_ratio
from tests.probes.painted import ellipse, ground


def grown(mask: np.ndarray, radius: int) -> np.ndarray:
    return dilation(mask, disk(radius))


def plain_bg_delta(before: np.ndarray, after: np.ndarray, source: np.ndarray, target: np.ndarray) -> float:
    away = ~grown(source | target, 8)
    change = np.abs(before / 255 - after / 255).sum(axis=2)
    return float(change[away].mean()) if away.any() else math.nan


def plain_seam_energy(pixels: np.ndarray, mask: np.ndarray) -> float:
    ring = grown(mask, 5) & ~grown(mask, 2)
    return plain_gradient(pixels, ring) if ring.any() else math.nan


def plain_gradient(pixels: np.ndarray, where: np.ndarray) -> float:
    padded = np.pad(pixels / 255, ((1, 1), (1, 1), (0, 0)), mode="reflect")
    magnitudes = []
    for y, x in zip(*np.nonzero(where), strict=True):
        block = padded[y : y + 3, x : x + 3]
        across = (block[:, 2] - block[:, 0]) * np.array([[1], [2], [1]])
        down = (block[2] - block[0]) * np.array([[1], [2], [1]])
        magnitudes.append(np.sqrt(across.sum(0) ** 2 + down.sum(0) ** 2).mean())
    return float(np.mean(magnitudes))


def plain_variance(pixels: np.ndarray, where: np.ndarray) -> float:
    variances = []
    for y, x in zip(*np.nonzero(where), strict=True):
        rows, columns = slice(max(0, y - 2), y + 3), slice(max(0, x - 2), x + 3)
        variances.append((pixels[rows, columns][where[rows, columns]] / 255).var(axis=0).mean())
    return float(np.mean(variances))


def hole_and_rim(mask: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return mask & ~target, grown(mask, 8) & ~mask & ~target


@settings(max_examples=40, deadline=None)
@given(
    right=st.integers(-12, 30),
    down=st.integers(-10, 18),
    x=st.integers(14, 30),
    y=st.integers(12, 22),
    seed=st.integers(0, 5),
)
def test_the_diagnostics_are_those_of_the_paper(right: int, down: int, x: int, y: int, seed: int) -> None:
    mask = ellipse(50, 72, centre=(x, y), radii=(9, 6))
    before, after = ground(50, 72, seed), ground(50, 72, seed + 100)
    cutout = cut_out(before, mask)
    right = min(max(right, -cutout.left), 72 - cutout.width - cutout.left)
    down = min(max(down, -cutout.top), 50 - cutout.height - cutout.top)
    target = cutout.placed(mask.shape, right, down)
    np.testing.assert_allclose(
        bg_delta(before, after, cutout, right, down), plain_bg_delta(before, after, mask, target), rtol=1e-6
    )
    np.testing.assert_allclose(seam_energy(after, cutout, right, down), plain_seam_energy(after, target), rtol=1e-5)


def test_a_background_that_changes_by_a_hundredth_in_each_channel_has_a_delta_of_three_hundredths() -> None:
    mask = ellipse(60, 60, centre=(30, 30), radii=(6, 6))
    before = np.zeros((60, 60, 3), np.uint8)
    after = np.full_like(before, 51)  # 0.2
    assert bg_delta(before, after, cut_out(before, mask), 0, 0) == pytest.approx(0.6)


def test_where_nothing_is_far_from_the_object_the_background_change_is_unknown() -> None:
    pixels = ground(12, 12)
    assert math.isnan(bg_delta(pixels, pixels, cut_out(pixels, ellipse(12, 12, centre=(6, 6), radii=(3, 3))), 0, 0))


def test_where_the_object_leaves_no_ring_the_seam_is_unknown() -> None:
    assert math.isnan(seam_energy(ground(9, 9), cut_out(ground(9, 9), np.ones((9, 9), bool))))


def test_a_plain_image_has_no_seam() -> None:
    pixels = np.full((40, 40, 3), 77, np.uint8)
    assert seam_energy(pixels, cut_out(pixels, ellipse(40, 40, centre=(20, 20), radii=(6, 6)))) == 0


@settings(max_examples=20, deadline=None)
@given(right=st.integers(-12, 30), down=st.integers(-10, 18), seed=st.integers(0, 5))
def test_the_fill_is_held_against_its_rim_by_gradient_and_by_local_variance(right: int, down: int, seed: int) -> None:
    mask, pixels = ellipse(50, 72, centre=(24, 18), radii=(9, 6)), ground(50, 72, seed)
    pixels[mask] = ground(50, 72, seed + 7)[mask] // 2 + 60
    cutout = cut_out(pixels, mask)
    right = min(max(right, -cutout.left), 72 - cutout.width - cutout.left)
    down = min(max(down, -cutout.top), 50 - cutout.height - cutout.top)
    hole, rim = hole_and_rim(mask, cutout.placed(mask.shape, right, down))
    if not hole.any():
        assert math.isnan(fill_ratio(pixels, cutout, right, down))
        assert math.isnan(texture_ratio(pixels, cutout, right, down))
        return
    for found, plain in ((fill_ratio, plain_gradient), (texture_ratio, plain_variance)):
        expected = plain(pixels, hole) / plain(pixels, rim)
        np.testing.assert_allclose(found(pixels, cutout, right, down), expected, rtol=1e-9)


def filled(inside: np.ndarray) -> tuple[float, float]:
    """Both diagnostics of a noisy picture whose hole holds other pixels; the object is moved far away."""
    mask = ellipse(80, 160, centre=(40, 40), radii=(14, 14))
    pixels = np.random.default_rng(3).integers(80, 120, (80, 160, 3)).astype(np.uint8)
    pixels[mask] = inside[mask]
    cutout = cut_out(pixels, mask)
    return fill_ratio(pixels, cutout, 80, 0), texture_ratio(pixels, cutout, 80, 0)


def test_a_fill_like_its_surroundings_has_ratios_of_one_and_a_rougher_one_larger() -> None:
    noise = np.random.default_rng(4).integers(80, 120, (80, 160, 3)).astype(np.uint8)
    assert filled(noise) == pytest.approx((1, 1), abs=0.1)
    assert filled(2 * (noise - 100).astype(np.int8) + np.int16(100)) == pytest.approx((2, 4), rel=0.15)


def test_a_flat_fill_of_another_colour_has_an_edge_but_no_texture() -> None:
    flat = np.full((80, 160, 3), 250, np.uint8)
    gradient, texture = filled(flat)
    assert texture == 0
    assert gradient > 0.5  # its outline, which the gradient takes for sharpness


def test_where_the_rim_has_no_texture_or_the_object_covers_its_old_place_the_fill_is_unknown() -> None:
    plain = np.full((40, 40, 3), 77, np.uint8)
    mask = ellipse(40, 40, centre=(20, 20), radii=(6, 6))
    for pixels, right in ((plain, 12), (ground(40, 40), 0)):
        cutout = cut_out(pixels, mask)
        assert math.isnan(fill_ratio(pixels, cutout, right, 0))
        assert math.isnan(texture_ratio(pixels, cutout, right, 0))
