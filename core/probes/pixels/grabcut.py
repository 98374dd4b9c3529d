"""The object's mask where only its box is known: GrabCut, from the box.

Source: Rother, Kolmogorov, Blake, *GrabCut: interactive foreground extraction using iterated graph cuts*, 2004;
PROTOCOL section 1 (masks).
"""

import cv2
import numpy as np

from core.corpora.schema import Box
from core.errors import ProbeRejected

WORKING_SIDE = 224
"""The crop around the box is cut at this length of its longer side."""

ROUNDS = 1
"""Iterations of GrabCut; on COCO's boxes one gives better masks than two or five."""

CONTEXT = 0.15
"""How much of the surroundings is seen, as a share of the box's sides, on each side."""

CORE = 0.35
"""Where nothing stands out, the middle of the box, this share of its sides, is taken for the object."""

FEWEST = 8
"""Pixels that GrabCut needs on either side of the box's edge to model its colours."""

SPECK = 0.05
"""A part smaller than this share of the largest part is noise."""

LEAST = 0.02
"""A mask that fills less of its box than this is no object."""

LEAST_GROWTH = 1.1
"""A mask that does not outgrow the core by this factor is no object either."""


def mask_from_box(pixels: np.ndarray, box: Box) -> np.ndarray:
    """Find the object inside a box. The same image and box always give the same mask.

    OpenCV's random generator of the calling thread is seeded: GrabCut starts from k-means.
    ``pixels``: uint8 RGB [H, W, 3]. ``box``: around the object, in pixels; what lies outside the image is cut off.
    Returns boolean [H, W], True only inside the box.
    Raises ProbeRejected ``box-outside`` where the box misses the image; ``box-too-small`` or ``box-too-large`` where it
    leaves too little to tell the object from the rest; ``grabcut-empty`` where nothing is found.
    """
    height, width = pixels.shape[:2]
    rows, columns = _inner(box, width, height)
    view = _surroundings(rows, columns, width, height)
    crop = np.ascontiguousarray(pixels[view])
    inside = np.zeros(crop.shape[:2], bool)
    top, left = view[0].start, view[1].start
    inside[rows.start - top : rows.stop - top, columns.start - left : columns.stop - left] = True
    found = _find(crop, inside, core=False, least=LEAST)
    if found is None:
        found = _find(crop, inside, core=True, least=LEAST_GROWTH * CORE**2)
    if found is None:
        raise ProbeRejected("grabcut-empty", "no object stands out inside the box; draw the box closer or paint a mask")
    mask = np.zeros((height, width), bool)
    mask[view] = found
    return mask


def _inner(box: Box, width: int, height: int) -> tuple[slice, slice]:
    inside = box.inside(width, height)
    if inside is None:
        raise ProbeRejected("box-outside", f"the box lies outside the image of {width} × {height} px; draw it inside")
    left, top = int(inside.x), int(inside.y)
    right, bottom = min(width, int(np.ceil(inside.right))), min(height, int(np.ceil(inside.bottom)))
    if right - left < 4 or bottom - top < 4:
        raise ProbeRejected("box-too-small", f"the box has {right - left} × {bottom - top} px; it needs at least 4 × 4")
    return slice(top, bottom), slice(left, right)


def _surroundings(rows: slice, columns: slice, width: int, height: int) -> tuple[slice, slice]:
    across = max(4, round(CONTEXT * (columns.stop - columns.start)))
    down = max(4, round(CONTEXT * (rows.stop - rows.start)))
    return (
        slice(max(0, rows.start - down), min(height, rows.stop + down)),
        slice(max(0, columns.start - across), min(width, columns.stop + across)),
    )


def _find(crop: np.ndarray, inside: np.ndarray, *, core: bool, least: float) -> np.ndarray | None:
    """Return the boolean mask, or None where it fills less than ``least`` of the box."""
    height, width = inside.shape
    scale = min(1.0, WORKING_SIDE / max(height, width))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    small = cv2.resize(crop, size, interpolation=cv2.INTER_AREA)
    hint = cv2.resize(inside.view(np.uint8), size, interpolation=cv2.INTER_NEAREST)
    if np.count_nonzero(hint == 0) < FEWEST or np.count_nonzero(hint) < FEWEST:
        raise ProbeRejected("box-too-large", "the box leaves nothing of the image around it; draw it closer")
    chosen = cv2.resize(_cut(small, hint, core=core), (width, height), interpolation=cv2.INTER_LINEAR) > 0.5
    found = _without_specks(chosen & inside)
    return found if found.sum() >= least * inside.sum() else None


def _cut(pixels: np.ndarray, inside: np.ndarray, *, core: bool) -> np.ndarray:
    """Run GrabCut; return float32 [H, W], 1 for the object, all 0 where it runs out of pixels."""
    labels = _labels(inside, core=core)
    background, foreground = np.zeros((1, 65)), np.zeros((1, 65))  # the models; OpenCV fixes their size
    cv2.setRNGSeed(0)
    try:
        cv2.grabCut(pixels, labels, (0, 0, 1, 1), background, foreground, ROUNDS, cv2.GC_INIT_WITH_MASK)
    except cv2.error:  # OpenCV asserts where one of the two sides is left without a pixel
        return np.zeros(inside.shape, np.float32)
    likely: np.ndarray = ((labels == cv2.GC_PR_FGD) | (labels == cv2.GC_FGD)).astype(np.float32)
    return likely


def _labels(inside: np.ndarray, *, core: bool) -> np.ndarray:
    """Return GrabCut's first guess: background outside the box, perhaps object inside, object in the core."""
    labels = np.where(inside > 0, cv2.GC_PR_FGD, cv2.GC_BGD).astype(np.uint8)
    if not core:
        return labels
    left, top, width, height = cv2.boundingRect(inside)
    across, down = round(width * (1 - CORE) / 2), round(height * (1 - CORE) / 2)
    labels[top + down : top + height - down, left + across : left + width - across] = cv2.GC_FGD
    return labels


def _without_specks(found: np.ndarray) -> np.ndarray:
    count, parts, stats, _ = cv2.connectedComponentsWithStats(found.view(np.uint8), connectivity=8)
    if count <= 2:
        return found
    areas = stats[:, cv2.CC_STAT_AREA].copy()
    areas[0] = 0
    return np.isin(parts, np.flatnonzero(areas >= SPECK * areas.max()))
