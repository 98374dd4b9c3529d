"""The clean plate: the image as if the object were not there.

OpenCV's fast-marching inpainting fills the hole (Telea, *An image inpainting technique based on the fast marching
method*, 2004). A large hole is filled at a reduced size, where the fill is smooth anyway, and stitched to the
photograph at full size along its rim.
"""

import cv2
import numpy as np

from core.errors import ProbeRejected

HOLE_REACH = 7
"""How far the hole reaches beyond the mask, in pixels: annotated outlines are loose, and a rim of the object that
stays behind bleeds into the fill. Less than the 8 px around the object that BGΔ leaves out."""

RADIUS = 3
"""Neighbourhood of the inpainting, in pixels."""

WORKING_SIDE = 112
"""A hole whose crop is longer than this is filled at this size."""

OTHERS_AS_GROUND = 0.5
"""Share of the hole's rim from which on other instances count as the ground behind the object."""

SMOOTHING = (15, 7, 3)
"""Sides of the box filters that take the creases out of a large fill, at the working size."""

RIM = 3
"""Width of the rim inside the hole that is filled at full size, in pixels."""


def clean_plate(pixels: np.ndarray, mask: np.ndarray, others: np.ndarray | None = None) -> np.ndarray:
    """Remove an object and fill the hole from its surroundings.

    Args:
        pixels: uint8 RGB [H, W, 3].
        mask: boolean [H, W] of the object.
        others: boolean [H, W] of other instances. They stay as they are, and the hole is not filled from them, or
            what was behind a rider would look like his motorcycle; but where they make up OTHERS_AS_GROUND of the
            hole's rim (a plate on a table) they are the ground that shows through.

    Returns:
        uint8 RGB [H, W, 3]; every pixel farther than HOLE_REACH from the mask is untouched.

    Raises:
        ProbeRejected: ``no-background`` where nothing of the image is left to fill from.

    Source: paper A, sections 3.2 and A.4 (Algorithm 1); PROTOCOL section 1.
    """
    others = np.zeros_like(mask) if others is None else others & ~mask
    result = pixels.copy()
    if not mask.any():
        return result
    crop = _around(mask)
    blocked = others[crop]
    gap = _grow(mask[crop], HOLE_REACH) & ~blocked
    rim = cv2.dilate(gap.view(np.uint8), np.ones((3, 3), np.uint8)).view(bool) & ~gap
    if np.count_nonzero(rim & blocked) >= OTHERS_AS_GROUND * np.count_nonzero(rim):
        blocked = np.zeros_like(gap)
    if (gap | blocked).all():
        raise ProbeRejected("no-background", "the object fills the image: nothing is left to fill its place from")
    cv2.copyTo(_fill(pixels[crop], gap | blocked), gap.view(np.uint8), result[crop])
    return result


def _grow(mask: np.ndarray, reach: float) -> np.ndarray:
    """Return the boolean [H, W] of pixels at most ``reach`` pixels (Euclidean) away from the mask."""
    away = cv2.distanceTransform((~mask).view(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    return away <= reach


def _around(mask: np.ndarray) -> tuple[slice, slice]:
    """Return the rows and columns of the mask, the hole around it and the neighbourhood that fills it."""
    left, top, width, height = cv2.boundingRect(mask.view(np.uint8))
    long_side = max(width, height) + 2 * HOLE_REACH
    margin = HOLE_REACH + 2 * RADIUS * max(1, -(-long_side // WORKING_SIDE))
    return slice(max(0, top - margin), top + height + margin), slice(max(0, left - margin), left + width + margin)


def _fill(pixels: np.ndarray, hole: np.ndarray) -> np.ndarray:
    long_side = max(hole.shape)
    if long_side <= WORKING_SIDE:
        return cv2.inpaint(pixels, hole.view(np.uint8), RADIUS, cv2.INPAINT_TELEA)
    filled = _fill_small(pixels, hole, WORKING_SIDE / long_side)
    rim = hole & _grow(~hole, RIM)
    return cv2.inpaint(filled, rim.view(np.uint8), RADIUS, cv2.INPAINT_TELEA)


def _fill_small(pixels: np.ndarray, hole: np.ndarray, scale: float) -> np.ndarray:
    height, width = hole.shape
    size = max(1, round(width * scale)), max(1, round(height * scale))
    known = (~hole).astype(np.float32)
    share = cv2.resize(known, size, interpolation=cv2.INTER_AREA)
    total = cv2.resize(pixels * known[..., None], size, interpolation=cv2.INTER_AREA)
    unknown = share < 0.5  # a small pixel is known where most of it was; its colour is the mean of that part
    small = np.where(unknown[..., None], 0, total / np.maximum(share, 0.5)[..., None])
    small = np.clip(np.rint(small), 0, 255).astype(np.uint8)
    if not unknown.all():
        small = _smooth(cv2.inpaint(small, unknown.view(np.uint8), RADIUS, cv2.INPAINT_TELEA), unknown)
    grown = cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR)
    result = pixels.copy()
    cv2.copyTo(grown, hole.view(np.uint8), result)
    return result


def _smooth(pixels: np.ndarray, unknown: np.ndarray) -> np.ndarray:
    """Average the filled part with its surroundings, coarse to fine; what is known stays fixed."""
    for side in SMOOTHING:
        averaged = cv2.blur(pixels, (side, side), borderType=cv2.BORDER_REPLICATE)
        cv2.copyTo(averaged, unknown.view(np.uint8), pixels)
    return pixels
