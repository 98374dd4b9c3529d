"""The clean plate: the image as if the object were not there.

Its place is filled by example (:mod:`core.probes.pixels.by_example`), or smoothly: OpenCV's fast-marching inpainting
(Telea, *An image inpainting technique based on the fast marching method*, 2004) fills a large hole at a reduced size
and stitches it to the photograph at full size along its rim.
"""

from dataclasses import dataclass
from enum import StrEnum

import cv2
import numpy as np

from core.errors import ProbeRejected
from core.probes.pixels.by_example import crop_around, fill_by_example
from core.probes.pixels.gradients import gradient

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

SOFT = 0.03
"""Texture around a hole below which the smooth fill stays. On the demo corpus, where what was behind the object is
known, the seam of the fill by example is the farther one from the truth below this, and the nearer one above."""

TEXTURE_RIM = 8
"""How far around a hole its surroundings' texture is measured, in pixels."""

RIM = 3
"""Width of the rim inside the hole that is filled at full size, in pixels."""


class Fill(StrEnum):
    """How the place that an object leaves is filled."""

    EXAMPLE = "example"
    TELEA = "telea"


EXAMPLE, SMOOTH = "example", "smooth"
"""What a hole was filled with."""


@dataclass(frozen=True, slots=True)
class Plate:
    """A picture without its object.

    Args:
        pixels: uint8 RGB [H, W, 3].
        filled: how its place was filled: EXAMPLE or SMOOTH.
    """

    pixels: np.ndarray
    filled: str


def clean_plate(
    pixels: np.ndarray, mask: np.ndarray, others: np.ndarray | None = None, *, fill: Fill = Fill.EXAMPLE
) -> Plate:
    """Remove an object and fill the hole from its surroundings.

    By example, pieces of the surroundings stand in the hole; where they are soft (less texture around the hole than
    SOFT) or hold too little, the smooth fill stays, which has no seams.

    Args:
        pixels: uint8 RGB [H, W, 3].
        mask: boolean [H, W] of the object.
        others: boolean [H, W] of other instances. They stay as they are, and the hole is not filled from them, or
            what was behind a rider would look like his motorcycle; but where they make up OTHERS_AS_GROUND of the
            hole's rim (a plate on a table) they are the ground that shows through.
        fill: by example, or smooth throughout.

    Returns:
        The plate; every pixel farther than HOLE_REACH from the mask is untouched. The same arrays give the same bytes.

    Raises:
        ProbeRejected: ``no-background`` where nothing of the image is left to fill from; ``no-patchmatch`` where the
            library that fills by example is not here.

    Source: paper A, sections 3.2 and A.4 (Algorithm 1); PROTOCOL section 1.
    """
    others = np.zeros_like(mask) if others is None else others & ~mask
    result = pixels.copy()
    if not mask.any():
        return Plate(result, SMOOTH)
    hole = hole_of(mask, others)
    part = _by_example(pixels, hole, others) if fill is Fill.EXAMPLE else None
    filled = SMOOTH if part is None else EXAMPLE
    crop, inside = part or _smoothly(pixels, mask, hole, others)
    cv2.copyTo(inside, np.ascontiguousarray(hole[crop]).view(np.uint8), result[crop])
    return Plate(result, filled)


def hole_of(mask: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Boolean [H, W] of what is filled when an object is taken away: it and HOLE_REACH around it, others aside."""
    hole = np.zeros_like(mask)
    crop = _around(mask)
    hole[crop] = _grow(mask[crop], HOLE_REACH) & ~others[crop]
    return hole


Part = tuple[tuple[slice, slice], np.ndarray]
"""Rows and columns of an image, and uint8 RGB pixels for them."""


def _by_example(pixels: np.ndarray, hole: np.ndarray, others: np.ndarray) -> Part | None:
    crop = crop_around(hole)
    own, barred = np.ascontiguousarray(hole[crop]), others[crop]
    if _rim(own, barred)[1]:
        barred = np.zeros_like(own)
    if texture_around(pixels[crop], own, barred) < SOFT:
        return None
    filled = fill_by_example(np.ascontiguousarray(pixels[crop]), own, barred)
    return None if filled is None else (crop, filled)


def texture_around(pixels: np.ndarray, hole: np.ndarray, barred: np.ndarray) -> float:
    """Mean Sobel magnitude of the TEXTURE_RIM pixels around a hole, channels in [0, 1]; 0 where there are none."""
    rim = _grow(hole, TEXTURE_RIM) & ~_grow(hole, 1) & ~barred
    return gradient(np.ascontiguousarray(pixels), rim) if rim.any() else 0.0


def _rim(hole: np.ndarray, barred: np.ndarray) -> tuple[np.ndarray, bool]:
    """The pixels next to a hole, and whether others make up so many of them that they are its ground."""
    rim = cv2.dilate(hole.view(np.uint8), np.ones((3, 3), np.uint8)).view(bool) & ~hole
    return rim, bool(np.count_nonzero(rim & barred) >= OTHERS_AS_GROUND * np.count_nonzero(rim))


def _smoothly(pixels: np.ndarray, mask: np.ndarray, hole: np.ndarray, others: np.ndarray) -> Part:
    crop = _around(mask)
    gap, blocked = np.ascontiguousarray(hole[crop]), others[crop]
    if _rim(gap, blocked)[1]:
        blocked = np.zeros_like(gap)
    if (gap | blocked).all():
        raise ProbeRejected("no-background", "the object fills the image: nothing is left to fill its place from")
    return crop, _fill(pixels[crop], gap | blocked)


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
