"""The object: found inside its box where only that is known, cut out of its image, and put down at another place.

What moving an object did to the rest of the image, to the object's edge, and to where it was.

Source: paper A, section A.8; radii and masks in PROTOCOL section 1. Dilation is by Euclidean distance. Rother,
Kolmogorov, Blake, *GrabCut: interactive foreground extraction using iterated graph cuts*, 2004.
"""

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from core.corpora.schema import Box
from core.errors import ProbeRejected
from core.probes.pixels.inpainting import gradient, local_variance

WORKING_SIDE = 224  # the crop around the box is cut at this length of its longer side
ROUNDS = 1  # iterations of GrabCut; on COCO's boxes one gives better masks than two or five
CONTEXT = 0.15  # how much of the surroundings is seen, as a share of the box's sides, on each side
CORE = 0.35  # where nothing stands out, the middle of the box, this share of its sides, is taken for the object
FEWEST = 8  # pixels that GrabCut needs on either side of the box's edge to model its colours
SPECK = 0.05  # a part smaller than this share of the largest part is noise
LEAST = 0.02  # a mask that fills less of its box than this is no object
LEAST_GROWTH = 1.1  # a mask that does not outgrow the core by this factor is no object either
FILL_RIM = 8  # pixels around the hole whose texture that of the fill is held against


def mask_from_box(pixels: np.ndarray, box: Box) -> np.ndarray:
    """Find the object inside a box. The same image and box always give the same mask.
    OpenCV's random generator of the calling thread is seeded: GrabCut starts from k-means.
    ``pixels``: uint8 RGB [H, W, 3]. ``box``: around the object, in pixels; what lies outside the image is cut off.
    Returns boolean [H, W], True only inside the box.
    Raises ProbeRejected ``box-outside`` where the box misses the image; ``box-too-small`` or ``box-too-large`` where it
    leaves too little to tell the object from the rest; ``grabcut-empty`` where nothing is found."""
    height, width = pixels.shape[:2]
    within = box.inside(width, height)
    if within is None:
        raise ProbeRejected("box-outside", f"the box lies outside the image of {width} × {height} px; draw it inside")
    left, top = int(within.x), int(within.y)
    right, bottom = min(width, int(np.ceil(within.right))), min(height, int(np.ceil(within.bottom)))
    if right - left < 4 or bottom - top < 4:
        raise ProbeRejected("box-too-small", f"the box has {right - left} × {bottom - top} px; it needs at least 4 × 4")
    across, down = (max(4, round(CONTEXT * side)) for side in (right - left, bottom - top))
    first_row, first_column = max(0, top - down), max(0, left - across)
    view = slice(first_row, min(height, bottom + down)), slice(first_column, min(width, right + across))
    crop = np.ascontiguousarray(pixels[view])
    inside = np.zeros(crop.shape[:2], bool)
    inside[top - first_row : bottom - first_row, left - first_column : right - first_column] = True
    found = _find(crop, inside, core=False, least=LEAST)
    if found is None:
        found = _find(crop, inside, core=True, least=LEAST_GROWTH * CORE**2)
    if found is None:
        raise ProbeRejected("grabcut-empty", "no object stands out inside the box; draw the box closer or paint a mask")
    mask = np.zeros((height, width), bool)
    mask[view] = found
    return mask


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
    found = chosen & inside
    count, parts, stats, _ = cv2.connectedComponentsWithStats(found.view(np.uint8), connectivity=8)
    if count > 2:  # specks go
        areas = stats[:, cv2.CC_STAT_AREA].copy()
        areas[0] = 0
        found = np.isin(parts, np.flatnonzero(areas >= SPECK * areas.max()))
    return found if found.sum() >= least * inside.sum() else None


def _cut(pixels: np.ndarray, inside: np.ndarray, *, core: bool) -> np.ndarray:
    """Run GrabCut; return float32 [H, W], 1 for the object, all 0 where it runs out of pixels."""
    # first guess: background outside the box, perhaps object inside, object in the core
    labels = np.where(inside > 0, cv2.GC_PR_FGD, cv2.GC_BGD).astype(np.uint8)
    if core:
        left, top, width, height = cv2.boundingRect(inside)
        across, down = round(width * (1 - CORE) / 2), round(height * (1 - CORE) / 2)
        labels[top + down : top + height - down, left + across : left + width - across] = cv2.GC_FGD
    background, foreground = np.zeros((1, 65)), np.zeros((1, 65))  # the models; OpenCV fixes their size
    cv2.setRNGSeed(0)
    try:
        cv2.grabCut(pixels, labels, (0, 0, 1, 1), background, foreground, ROUNDS, cv2.GC_INIT_WITH_MASK)
    except cv2.error:  # OpenCV asserts where one of the two sides is left without a pixel
        return np.zeros(inside.shape, np.float32)
    likely: np.ndarray = ((labels == cv2.GC_PR_FGD) | (labels == cv2.GC_FGD)).astype(np.float32)
    return likely


FEATHER = 3  # length of the linear alpha ramp at the object's edge, in pixels. Source: paper A, section A.8.
SIGHT = 9  # how far around the object distances to it are known, in pixels


@dataclass(frozen=True, slots=True)
class Cutout:
    """The patch P = I ⊙ M of Algorithm 1, cropped to the object's tight box."""

    # left, top: corner of the crop in the image, in pixels
    left: int
    top: int
    pixels: np.ndarray  # uint8 RGB [h, w, 3], the crop of the image
    mask: np.ndarray  # boolean [h, w], the object inside the crop
    ramp: np.ndarray  # float32 [h, w] in [0, 1]: 0 outside the object, FEATHER linear steps inside its edge, then 1
    # float32 [h + 2 SIGHT, w + 2 SIGHT]: Euclidean distance in pixels of each pixel of the crop, and of a margin of
    # SIGHT around it, to the nearest pixel of the object
    away: np.ndarray
    centroid: tuple[float, float]  # (x, y) mean of the object's pixel coordinates, in the image

    @property
    def width(self) -> int:
        """Width of the object's tight box, in pixels."""
        return int(self.mask.shape[1])

    @property
    def height(self) -> int:
        """Height of the object's tight box, in pixels."""
        return int(self.mask.shape[0])

    def placed(self, shape: tuple[int, ...], right: int = 0, down: int = 0) -> np.ndarray:
        """Return the boolean [H, W] of the object in an image of that shape, moved by whole pixels."""
        mask = np.zeros(shape[:2], bool)
        left, top = self.left + right, self.top + down
        mask[top : top + self.height, left : left + self.width] = self.mask
        return mask

    def surroundings(
        self, shape: tuple[int, ...], right: int = 0, down: int = 0
    ) -> tuple[tuple[slice, slice], np.ndarray]:
        """Return the rows and columns of an image around the moved object, and ``away`` there."""
        height, width = shape[:2]
        left, top = self.left + right - SIGHT, self.top + down - SIGHT
        rows = slice(max(0, top), min(height, top + self.away.shape[0]))
        columns = slice(max(0, left), min(width, left + self.away.shape[1]))
        near = self.away[rows.start - top : rows.stop - top, columns.start - left : columns.stop - left]
        return (rows, columns), near


def cut_out(pixels: np.ndarray, mask: np.ndarray) -> Cutout:
    """Cut an object out of its image.
    ``pixels``: uint8 RGB [H, W, 3]. ``mask``: boolean [H, W], with at least one pixel.
    The alpha ramp lies inside the mask, so nothing of the old background is carried along; the ring of SeamE lies
    outside and does not see it."""
    left, top, width, height = cv2.boundingRect(mask.view(np.uint8))
    inside = slice(top, top + height), slice(left, left + width)
    crop = np.ascontiguousarray(mask[inside])
    moments = cv2.moments(crop.view(np.uint8), binaryImage=True)
    centroid = left + moments["m10"] / moments["m00"], top + moments["m01"] / moments["m00"]
    around = cv2.copyMakeBorder((~crop).view(np.uint8), SIGHT, SIGHT, SIGHT, SIGHT, cv2.BORDER_CONSTANT, value=1)
    away = cv2.distanceTransform(around, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    return Cutout(left, top, pixels[inside], crop, alpha_ramp(crop), away, centroid)


def alpha_ramp(mask: np.ndarray) -> np.ndarray:
    """Return min(d / FEATHER, 1), d the distance in pixels to the nearest pixel outside the mask (float32 [h, w]).
    What lies beyond the array counts as outside, so an object that its image's border cuts is feathered there too."""
    padded = cv2.copyMakeBorder(mask.view(np.uint8), 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=0)
    depth = cv2.distanceTransform(padded, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)[1:-1, 1:-1]
    return np.minimum(depth / FEATHER, 1.0, dtype=np.float32)


def put_down(background: np.ndarray, cutout: Cutout, right: int, down: int, *, feather: bool = True) -> np.ndarray:
    """Return a copy of the background with the object moved by whole pixels, so at constant scale.
    ``background``: uint8 RGB [H, W, 3].
    ``right``, ``down``: the translation in pixels; the object's box must stay inside.
    ``feather``: blend along the alpha ramp; otherwise the mask cuts hard."""
    result = background.copy()
    left, top = cutout.left + right, cutout.top + down
    target = result[top : top + cutout.height, left : left + cutout.width]
    if feather:
        target[...] = cv2.blendLinear(cutout.pixels, target.copy(), cutout.ramp, 1 - cutout.ramp)
    else:
        target[cutout.mask] = cutout.pixels[cutout.mask]
    return result


BACKGROUND_REACH = 8  # r_bg: pixels around the object, old and new place, that BGΔ leaves out
SEAM_RING = (2, 5)  # r_1, r_2: the ring around the object in which the edge energy is measured, in pixels


def bg_delta(before: np.ndarray, after: np.ndarray, cutout: Cutout, right: int, down: int) -> float:
    """Return BGΔ: the mean of ‖I(p) − I′(p)‖₁ over the pixels p away from the object.
    ``before``, ``after``: uint8 RGB [H, W, 3], I and I′; a channel counts in [0, 1] and the three are added.
    Returns a number in [0, 3]; NaN where no pixel is farther than BACKGROUND_REACH from both places."""
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
    ``pixels``: uint8 RGB [H, W, 3].
    Returns a number ≥ 0; NaN where the ring is empty."""
    view, away = cutout.surroundings(pixels.shape, right, down)
    ring = (away > SEAM_RING[0]) & (away <= SEAM_RING[1])
    if not ring.any():
        return float("nan")
    return gradient(np.ascontiguousarray(pixels[view]), ring)


def fill_ratio(after: np.ndarray, cutout: Cutout, right: int, down: int) -> float:
    """Return how sharp the filled hole is beside its rim: mean Sobel magnitude inside over that around.
    BGΔ leaves out what the fill reaches, so it cannot see a smear; this looks at nothing else.
    Returns a number ≥ 0; 1: as sharp as around, below 1: smoother. NaN where the object covers its old place, or the
    rim is empty or without any gradient."""
    return _hole_over_rim(gradient, after, cutout, right, down)


def texture_ratio(after: np.ndarray, cutout: Cutout, right: int, down: int) -> float:
    """Return how textured the filled hole is beside its rim: mean local variance inside over that around.
    The windows see the hole alone and the rim alone (:func:`~core.probes.pixels.inpainting.local_variance`), so an
    edge between the two, which :func:`fill_ratio` counts as sharpness of the fill, adds nothing here.
    Returns a number ≥ 0; 1: as textured as around, below 1: flatter. NaN as of :func:`fill_ratio`."""
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
