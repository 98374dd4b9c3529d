"""The clean plate: the image as if the object were not there.

OpenCV's fast-marching inpainting fills the hole (Telea, *An image inpainting technique based on the fast marching
method*, 2004). A large hole is filled at a reduced size, where the fill is smooth anyway, and stitched to the
photograph at full size along its rim.
"""

import cv2
import numpy as np

from core.errors import ProbeRejected

HOLE_REACH = 5
"""How far the hole reaches beyond the mask, in pixels: annotated outlines are loose, and a rim of the object that
stays behind bleeds into the fill. Less than the 8 px around the object that BGΔ leaves out."""

RADIUS = 3
"""Neighbourhood of the inpainting, in pixels."""

WORKING_SIDE = 160
"""A hole whose crop is longer than this is filled at this size."""

RIM = 3
"""Width of the rim inside the hole that is filled at full size, in pixels."""


def clean_plate(pixels: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Remove an object and fill the hole from its surroundings.

    Args:
        pixels: uint8 RGB [H, W, 3].
        mask: boolean [H, W] of the object.

    Returns:
        uint8 RGB [H, W, 3]; every pixel farther than HOLE_REACH from the mask is untouched.

    Raises:
        ProbeRejected: ``no-background`` where the hole leaves nothing of the image.

    Source: paper A, sections 3.2 and A.4 (Algorithm 1); PROTOCOL section 1.
    """
    result = pixels.copy()
    hole = grow(mask, HOLE_REACH)
    if not hole.any():
        return result
    if hole.all():
        raise ProbeRejected("no-background", "the object fills the image: nothing is left to fill its place from")
    crop = _around(hole)
    result[crop] = _fill(pixels[crop], hole[crop])
    return result


def grow(mask: np.ndarray, reach: float) -> np.ndarray:
    """Return the boolean [H, W] of pixels at most ``reach`` pixels (Euclidean) away from the mask."""
    if not mask.any():
        return np.zeros_like(mask, dtype=bool)
    away = cv2.distanceTransform((~mask).view(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    return away <= reach + 1e-3


def _around(hole: np.ndarray) -> tuple[slice, slice]:
    left, top, width, height = cv2.boundingRect(hole.view(np.uint8))
    margin = 2 * RADIUS * max(1, -(-max(width, height) // WORKING_SIDE))
    return slice(max(0, top - margin), top + height + margin), slice(max(0, left - margin), left + width + margin)


def _fill(pixels: np.ndarray, hole: np.ndarray) -> np.ndarray:
    long_side = max(hole.shape)
    if long_side <= WORKING_SIDE:
        return cv2.inpaint(pixels, hole.view(np.uint8), RADIUS, cv2.INPAINT_TELEA)
    filled = _fill_small(pixels, hole, WORKING_SIDE / long_side)
    rim = hole & grow(~hole, RIM)
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
        small = cv2.inpaint(small, unknown.view(np.uint8), RADIUS, cv2.INPAINT_TELEA)
    grown = cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR)
    result = pixels.copy()
    cv2.copyTo(grown, hole.view(np.uint8), result)
    return result
