"""What moving an object did to the rest of the image, to the object's edge, and to where it was.

Source: paper A, section A.8; radii in PROTOCOL section 1. Dilation is by Euclidean distance.
"""

from collections.abc import Callable

import cv2
import numpy as np

from core.probes.pixels.cutout import Cutout
from core.probes.pixels.gradients import gradient, local_variance

BACKGROUND_REACH = 8
"""r_bg: pixels around the object, old and new place, that BGΔ leaves out."""

SEAM_RING = (2, 5)
"""r_1, r_2: the ring around the object in which the edge energy is measured, in pixels."""


def bg_delta(before: np.ndarray, after: np.ndarray, cutout: Cutout, right: int, down: int) -> float:
    """Return BGΔ: the mean of ‖I(p) − I′(p)‖₁ over the pixels p away from the object.

    Args:
        before, after: uint8 RGB [H, W, 3], I and I′; a channel counts in [0, 1] and the three are added.
        cutout: the object, at its place in I.
        right, down: how far it was moved in I′, in pixels.

    Returns:
        A number in [0, 3]; NaN where no pixel is farther than BACKGROUND_REACH from both places.
    """
    counted = np.ones(before.shape[:2], bool)
    for place in ((0, 0), (right, down)):
        view, away = cutout.surroundings(before.shape, *place)
        counted[view] &= away > BACKGROUND_REACH
    if not counted.any():
        return float("nan")
    return float(sum(cv2.mean(cv2.absdiff(before, after), mask=counted.view(np.uint8))[:3]) / 255)


def seam_energy(pixels: np.ndarray, cutout: Cutout, right: int = 0, down: int = 0) -> float:
    """Return SeamE: the mean Sobel magnitude in dilate(M, 5) ∖ dilate(M, 2).

    The magnitude √(gx² + gy²) of OpenCV's 3 × 3 Sobel filter (weights 1, 2, 1; not normalised) is taken per RGB
    channel in [0, 1] and averaged over the three.

    Args:
        pixels: uint8 RGB [H, W, 3].
        cutout: the object, at its place in the original.
        right, down: how far it was moved in ``pixels``.

    Returns:
        A number ≥ 0; NaN where the ring is empty.
    """
    view, away = cutout.surroundings(pixels.shape, right, down)
    ring = (away > SEAM_RING[0]) & (away <= SEAM_RING[1])
    if not ring.any():
        return float("nan")
    return gradient(np.ascontiguousarray(pixels[view]), ring)


FILL_RIM = 8
"""Pixels around the hole whose texture that of the fill is held against."""


def fill_ratio(after: np.ndarray, cutout: Cutout, right: int, down: int) -> float:
    """Return how sharp the filled hole is beside its rim: mean Sobel magnitude inside over that around.

    BGΔ leaves out what the fill reaches, so it cannot see a smear; this looks at nothing else.

    Args:
        after: uint8 RGB [H, W, 3], I′.
        cutout: the object, at its place in I.
        right, down: how far it was moved in I′, in pixels.

    Returns:
        A number ≥ 0; 1: as sharp as around, below 1: smoother. NaN where the object covers its old place, or the
        rim is empty or without any gradient.
    """
    return _hole_over_rim(gradient, after, cutout, right, down)


def texture_ratio(after: np.ndarray, cutout: Cutout, right: int, down: int) -> float:
    """Return how textured the filled hole is beside its rim: mean local variance inside over that around.

    The windows see the hole alone and the rim alone (:func:`~core.probes.pixels.gradients.local_variance`), so an
    edge between the two, which :func:`fill_ratio` counts as sharpness of the fill, adds nothing here.

    Args:
        after, cutout, right, down: as of :func:`fill_ratio`.

    Returns:
        A number ≥ 0; 1: as textured as around, below 1: flatter. NaN as of :func:`fill_ratio`.
    """
    return _hole_over_rim(local_variance, after, cutout, right, down)


def _hole_over_rim(
    measure: Callable[[np.ndarray, np.ndarray], float], after: np.ndarray, cutout: Cutout, right: int, down: int
) -> float:
    """A measure of the pixels where the object was over that of the ring around; neither counts where it is now."""
    view, away = cutout.surroundings(after.shape)
    moved = cutout.placed(after.shape, right, down)[view]
    hole, rim = (away <= 0) & ~moved, (away > 0) & (away <= FILL_RIM) & ~moved
    if not hole.any() or not rim.any():
        return float("nan")
    inside, around = (measure(np.ascontiguousarray(after[view]), each) for each in (hole, rim))
    return inside / around if around > 0 else float("nan")
