"""The clean plate: the image as if the object were not there.

Its place is filled by example (:mod:`core.probes.pixels.inpainting`), or smoothly: OpenCV's fast-marching inpainting
(Telea, *An image inpainting technique based on the fast marching method*, 2004) fills a large hole at a reduced size
and stitches it to the photograph at full size along its rim.

How textured a part of a picture is.

Plates that were made before: the same picture and the same mask have the same plate, whoever asks.
"""

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from threading import Lock

import cv2
import numpy as np

from core.errors import ProbeRejected
from core.seeds import RUN_SEED

TEXTURE_WINDOW = 5  # width and height of the window in which a local variance is taken, in pixels
EXAMPLE, SMOOTH = "example", "smooth"  # what a hole was filled with
Part = tuple[tuple[slice, slice], np.ndarray]  # rows and columns of an image, and uint8 RGB pixels for them
MOST_BYTES = 64 * 2**20  # how much of them is kept; the one that was not asked for the longest goes first


def gradient(crop: np.ndarray, where: np.ndarray) -> float:
    """Return the mean over marked pixels and RGB channels of the Sobel magnitude, channels in [0, 1].
    ``crop``: uint8 RGB [H, W, 3]. ``where``: boolean [H, W], with at least one pixel."""
    # Whole numbers until the root: OpenCV's float magnitude rounds differently with where its memory lies.
    across, upright = (
        cv2.Sobel(crop, cv2.CV_16S, *order, ksize=3)[where].astype(np.float64) for order in ((1, 0), (0, 1))
    )
    return float(np.sqrt(across**2 + upright**2).mean() / 255)


def local_variance(crop: np.ndarray, where: np.ndarray) -> float:
    """Return the mean over marked pixels and RGB channels of the variance around them, channels in [0, 1].
    The variance of a pixel is that of the marked pixels in the window of TEXTURE_WINDOW centred on it; what is not
    marked counts for nothing, so an edge to the rest is no texture.
    ``crop``: uint8 RGB [H, W, 3]. ``where``: boolean [H, W], with at least one pixel."""
    marked = where.astype(np.float64)
    own = crop * marked[..., None]
    # sums of whole numbers are exact in float64, whatever the order they are added in
    count, total, squares = (
        cv2.boxFilter(
            each, cv2.CV_64F, (TEXTURE_WINDOW, TEXTURE_WINDOW), normalize=False, borderType=cv2.BORDER_CONSTANT
        )[where]
        for each in (marked, own, own * own)
    )
    mean = total / count[:, None]
    return float(np.maximum(squares / count[:, None] - mean**2, 0).mean() / 255**2)


SIDE = 128  # longer side of the crop when PatchMatch fills it, in pixels; a smaller crop keeps its size
MARGIN = 0.6  # how much of its surroundings a hole is filled from, in its own longer sides, on every side
LEAST_MARGIN = 24  # in pixels, for the smallest holes
PATCH = 3  # radius of PatchMatch's patches, in pixels of the small size
DETAIL = 2  # radius of the pieces by which the fine texture is found, in pixels of the small size

LAYERED = 0.4
"""Share of the colours' variance that lies between rows from which on a crop counts as one of level layers."""

OWN_HEIGHT = 0.06
"""Weight of a piece's way up or down beside its colours, in layers; PatchMatch's ``guide_weight``. Of the demo corpus's
true backgrounds fills are nearest with about this: less lets horizons bend, more repeats the same few pieces."""

LEAST_EXAMPLES = 64
"""Whole known pieces that the small crop must hold; with fewer there is nothing to fill from by example."""

_AT_ONCE, _EXAMPLES_AT_ONCE = 32, 104
"""Pieces, and known pieces, of one product of matrices: too little for OpenBLAS to wake its other threads (it does from
2¹⁸ multiplications on), which would wait by spinning beside the network that scores meanwhile."""

_TURN = Lock()  # PatchMatch keeps its seed for the whole process


def crop_around(hole: np.ndarray) -> tuple[slice, slice]:
    """Return the rows and columns of a hole, boolean [H, W], with the surroundings that it is filled from."""
    left, top, width, height = cv2.boundingRect(hole.view(np.uint8))
    margin = max(LEAST_MARGIN, round(MARGIN * max(width, height)))
    return slice(max(0, top - margin), top + height + margin), slice(max(0, left - margin), left + width + margin)


def fill_by_example(pixels: np.ndarray, hole: np.ndarray, barred: np.ndarray) -> np.ndarray | None:
    """Fill a hole from its surroundings.
    ``pixels``: uint8 RGB [H, W, 3], the crop of :func:`crop_around`. ``hole``: boolean [H, W], what is filled.
    ``barred``: boolean [H, W], what is neither filled nor filled from.
    Returns uint8 RGB [H, W, 3], of which only the hole counts; None where too little is known around it. The same
    arrays give the same bytes.
    Raises ProbeRejected ``no-patchmatch`` where the package came without its library."""
    height, width = hole.shape
    scale = min(1.0, SIDE / max(height, width))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    free = (~hole & ~barred).astype(np.float32)
    share, inside = (cv2.resize(each, size, interpolation=cv2.INTER_AREA) for each in (free, hole.astype(np.float32)))
    total = cv2.resize(pixels * free[..., None], size, interpolation=cv2.INTER_AREA)  # a mean is of known pixels alone
    mean = np.clip(np.rint(total / np.maximum(share, 0.5)[..., None]), 0, 255).astype(np.uint8)
    small, unknown = np.ascontiguousarray(mean), (share < 0.5) & (inside > 0)
    shut = (share < 0.5) & ~unknown
    known = _whole(~unknown & ~shut)
    if not unknown.any() or np.count_nonzero(known) < LEAST_EXAMPLES:
        return None
    filled = _patch_match(small, unknown, shut, layered=between_rows(small, ~unknown & ~shut) >= LAYERED)
    if scale == 1:
        return filled
    large = cv2.resize(filled, (width, height), interpolation=cv2.INTER_CUBIC).astype(np.int16)
    sharp: np.ndarray = np.clip(large + _detail(pixels, filled, unknown, known), 0, 255).astype(np.uint8)
    return sharp


def between_rows(pixels: np.ndarray, known: np.ndarray) -> float:
    """Share of the colours' variance that rows explain: 1 for level stripes, 0 for upright ones or one colour.
    ``pixels``: uint8 RGB [h, w, 3]. ``known``: boolean [h, w], the pixels that count."""
    there = known.any(axis=1)
    colours, count = np.where(known[..., None], pixels, 0.0)[there], known.sum(axis=1)[there]
    means, mean = colours.sum(axis=1) / count[:, None], pixels[known].mean(axis=0)
    total = float(((pixels[known] - mean) ** 2).sum())
    return float((count[:, None] * (means - mean) ** 2).sum()) / total if total else 0.0


def _patch_match(small: np.ndarray, unknown: np.ndarray, shut: np.ndarray, *, layered: bool) -> np.ndarray:
    import patchmatch  # its import loads a library

    if not patchmatch.patchmatch_available:
        raise ProbeRejected(
            "no-patchmatch",
            "the package PyPatchMatch came without its library, so a hole cannot be filled by example; reinstall it as "
            "its page on PyPI says, or choose the probes of reposition-telea",
        )
    with _TURN:
        patchmatch.set_random_seed(RUN_SEED)
        mask = shut if shut.any() else None
        if not layered:
            return np.asarray(patchmatch.inpaint(small, unknown, global_mask=mask, patch_size=PATCH))
        heights = np.zeros((*unknown.shape, 3), np.float32)  # where pieces belong: rows to a half, 1 counts as 0 again
        heights[..., 0] = 0.5 * np.arange(len(unknown))[:, None] / len(unknown)
        return np.asarray(
            patchmatch.inpaint_regularity(
                small, unknown, heights, global_mask=mask, patch_size=PATCH, guide_weight=OWN_HEIGHT
            )
        )


def _whole(known: np.ndarray) -> np.ndarray:
    """Centres of the pieces of which every pixel is known, boolean [h, w]."""
    side = 2 * DETAIL + 1
    kernel = np.ones((side, side), np.uint8)
    return cv2.erode(known.astype(np.uint8), kernel, borderType=cv2.BORDER_CONSTANT, borderValue=0).astype(bool)


def _detail(pixels: np.ndarray, filled: np.ndarray, unknown: np.ndarray, known: np.ndarray) -> np.ndarray:
    """What the small size lost, int16 [H, W, 3]: of each pixel in the hole, that of the pixel it resembles."""
    (height, width), (low, narrow) = pixels.shape[:2], filled.shape[:2]
    rows = np.minimum(np.arange(height) * low // height, low - 1)
    columns = np.minimum(np.arange(width) * narrow // width, narrow - 1)
    moved = _likest(filled, unknown, known)[rows[:, None], columns]
    down = np.clip(np.arange(height)[:, None] + np.rint(moved[..., 0] * (height / low)), 0, height - 1).astype(int)
    right = np.clip(np.arange(width) + np.rint(moved[..., 1] * (width / narrow)), 0, width - 1).astype(int)
    blurred = cv2.resize(pixels, (narrow, low), interpolation=cv2.INTER_AREA)
    smooth = cv2.resize(blurred, (width, height), interpolation=cv2.INTER_CUBIC)
    lost: np.ndarray = (pixels.astype(np.int16) - smooth)[down, right]
    return lost


def _likest(filled: np.ndarray, unknown: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Way from each unknown pixel to the centre of the known piece most like its own, int [h, w, 2], rows first.
    Of the squared distance |w|² − 2 w·e + |e|² the first term is the same for every example e, so one product of
    matrices tells the others: |e|² is a further column, and −2 stands in the examples. Pieces are of whole numbers, and
    these sums stay below 2²⁴, so float32 is exact and their order no matter."""
    side = 2 * DETAIL + 1
    padded = cv2.copyMakeBorder(filled, DETAIL, DETAIL, DETAIL, DETAIL, cv2.BORDER_REFLECT_101).astype(np.float32)
    pieces = np.lib.stride_tricks.sliding_window_view(padded, (side, side), axis=(0, 1))
    pieces = pieces.reshape(*filled.shape[:2], -1)
    wanted, examples = pieces[unknown], pieces[known]
    told = np.column_stack([-2 * examples, np.einsum("ij,ij->i", examples, examples)])
    told = np.pad(told, ((0, -len(told) % _EXAMPLES_AT_ONCE), (0, 0)), mode="edge")  # the last again: never the first
    blocks = np.ascontiguousarray(told.reshape(-1, _EXAMPLES_AT_ONCE, told.shape[1]).transpose(0, 2, 1))
    asked = np.column_stack([wanted, np.ones(len(wanted), np.float32)])
    parts = [asked[start : start + _AT_ONCE] for start in range(0, len(asked), _AT_ONCE)]
    nearest = []  # number of the nearest example of each piece, the first of equal ones
    for part in parts:
        distances = part @ blocks
        own = distances.argmin(axis=2)
        block = np.take_along_axis(distances, own[..., None], axis=2)[..., 0].argmin(axis=0)
        nearest.append(block * distances.shape[2] + own[block, np.arange(len(block))])
    moved = np.zeros((*filled.shape[:2], 2), int)
    moved[unknown] = np.argwhere(known)[np.concatenate(nearest)] - np.argwhere(unknown)
    return moved


HOLE_REACH = 7
"""How far the hole reaches beyond the mask, in pixels: annotated outlines are loose, and a rim of the object that
stays behind bleeds into the fill. Less than the 8 px around the object that BGΔ leaves out."""

RADIUS = 3  # neighbourhood of the inpainting, in pixels
WORKING_SIDE = 112  # a hole whose crop is longer than this is filled at this size
OTHERS_AS_GROUND = 0.5  # share of the hole's rim from which on other instances count as the ground behind the object
SMOOTHING = (15, 7, 3)  # sides of the box filters that take the creases out of a large fill, at the working size

SOFT = 0.03
"""Texture around a hole below which the smooth fill stays. On the demo corpus, where what was behind the object is
known, the seam of the fill by example is the farther one from the truth below this, and the nearer one above."""

TEXTURE_RIM = 8  # how far around a hole its surroundings' texture is measured, in pixels
RIM = 3  # width of the rim inside the hole that is filled at full size, in pixels


class Fill(StrEnum):
    """How the place that an object leaves is filled."""

    EXAMPLE = "example"
    TELEA = "telea"


@dataclass(frozen=True, slots=True)
class Plate:
    """A picture without its object.
    ``pixels``: uint8 RGB [H, W, 3]. ``filled``: how its place was filled: EXAMPLE or SMOOTH."""

    pixels: np.ndarray
    filled: str


def clean_plate(
    pixels: np.ndarray, mask: np.ndarray, others: np.ndarray | None = None, *, fill: Fill = Fill.EXAMPLE
) -> Plate:
    """Remove an object and fill the hole from its surroundings.

    By example, pieces of the surroundings stand in the hole; where they are soft (less texture around the hole than
    SOFT) or hold too little, the smooth fill stays, which has no seams.

    ``pixels``: uint8 RGB [H, W, 3]. ``mask``: boolean [H, W] of the object.
    ``others``: boolean [H, W] of other instances. They stay as they are, and the hole is not filled from them, or what
    was behind a rider would look like his motorcycle; but where they make up OTHERS_AS_GROUND of the hole's rim (a
    plate on a table) they are the ground that shows through.
    ``fill``: by example, or smooth throughout.
    Returns the plate; every pixel farther than HOLE_REACH from the mask is untouched. The same arrays give the same
    bytes.
    Raises ProbeRejected: ``no-background`` where nothing of the image is left to fill from; ``no-patchmatch`` where the
    library that fills by example is not here.
    Source: paper A, sections 3.2 and A.4 (Algorithm 1); PROTOCOL section 1."""
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


def _by_example(pixels: np.ndarray, hole: np.ndarray, others: np.ndarray) -> Part | None:
    crop = crop_around(hole)
    own, barred = np.ascontiguousarray(hole[crop]), others[crop]
    if _rim(own, barred)[1]:
        barred = np.zeros_like(own)
    around = _grow(own, TEXTURE_RIM) & ~_grow(own, 1) & ~barred
    if not around.any() or gradient(np.ascontiguousarray(pixels[crop]), around) < SOFT:
        return None
    filled = fill_by_example(np.ascontiguousarray(pixels[crop]), own, barred)
    return None if filled is None else (crop, filled)


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
    height, width = hole.shape
    scale = WORKING_SIDE / long_side
    size = max(1, round(width * scale)), max(1, round(height * scale))
    known = (~hole).astype(np.float32)
    share = cv2.resize(known, size, interpolation=cv2.INTER_AREA)
    total = cv2.resize(pixels * known[..., None], size, interpolation=cv2.INTER_AREA)
    unknown = share < 0.5  # a small pixel is known where most of it was; its colour is the mean of that part
    small = np.where(unknown[..., None], 0, total / np.maximum(share, 0.5)[..., None])
    small = np.clip(np.rint(small), 0, 255).astype(np.uint8)
    if not unknown.all():
        small = cv2.inpaint(small, unknown.view(np.uint8), RADIUS, cv2.INPAINT_TELEA)
        for side in SMOOTHING:  # the filled part is averaged with its surroundings, coarse to fine; what is known stays
            averaged = cv2.blur(small, (side, side), borderType=cv2.BORDER_REPLICATE)
            cv2.copyTo(averaged, unknown.view(np.uint8), small)
    grown = cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR)
    filled = pixels.copy()
    cv2.copyTo(grown, hole.view(np.uint8), filled)
    rim = hole & _grow(~hole, RIM)
    return cv2.inpaint(filled, rim.view(np.uint8), RADIUS, cv2.INPAINT_TELEA)


class Plates:
    """Plates by picture and mask; safe to share between threads, which may make one plate twice and keep it once.
    ``most_bytes``: of pixels that are kept."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._kept: OrderedDict[bytes, Plate] = OrderedDict()
        self._lock = Lock()

    def get(self, pixels: np.ndarray, mask: np.ndarray, others: np.ndarray, fill: Fill) -> Plate:
        """Return the plate of :func:`core.probes.pixels.inpainting.clean_plate`; its pixels are read-only.
        Raises ProbeRejected as it does; a rejection is not kept."""
        digest = hashlib.blake2b(f"{pixels.shape}{fill.value}".encode(), digest_size=20)
        for each in (pixels, np.packbits(mask), np.packbits(others)):
            digest.update(np.ascontiguousarray(each).data)
        key = digest.digest()
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = clean_plate(pixels, mask, others, fill=fill)
        made.pixels.flags.writeable = False
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > 1 and sum(plate.pixels.nbytes for plate in self._kept.values()) > self._most:
                self._kept.popitem(last=False)
        return made


@cache
def kept_plates() -> Plates:
    """The plates of this process."""
    return Plates()
