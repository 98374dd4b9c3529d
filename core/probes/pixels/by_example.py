"""Filling a hole with pieces of its surroundings, so that gravel stays gravel.

The crop around the hole is filled at a small size by PatchMatch (Barnes et al., *PatchMatch: A Randomized
Correspondence Algorithm for Structural Image Editing*, SIGGRAPH 2009), which finds what goes where. Where the crop lies
in level layers (sky over grass), pieces of the hole's own height are preferred, or the horizon would step where the
object stood. The fill is then enlarged, and the fine texture that the small size lost is copied from where each piece
of the fill has its likest known piece.
"""

from threading import Lock

import cv2
import numpy as np

from core.errors import ProbeRejected
from core.seeds import RUN_SEED

SIDE = 128
"""Longer side of the crop when PatchMatch fills it, in pixels; a smaller crop keeps its size."""

MARGIN = 0.6
"""How much of its surroundings a hole is filled from, in its own longer sides, on every side."""

LEAST_MARGIN = 24
"""In pixels, for the smallest holes."""

PATCH = 3
"""Radius of PatchMatch's patches, in pixels of the small size."""

DETAIL = 2
"""Radius of the pieces by which the fine texture is found, in pixels of the small size."""

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

_TURN = Lock()
"""PatchMatch keeps its seed for the whole process."""


def crop_around(hole: np.ndarray) -> tuple[slice, slice]:
    """Return the rows and columns of a hole, boolean [H, W], with the surroundings that it is filled from."""
    left, top, width, height = cv2.boundingRect(hole.view(np.uint8))
    margin = max(LEAST_MARGIN, round(MARGIN * max(width, height)))
    return slice(max(0, top - margin), top + height + margin), slice(max(0, left - margin), left + width + margin)


def fill_by_example(pixels: np.ndarray, hole: np.ndarray, barred: np.ndarray) -> np.ndarray | None:
    """Fill a hole from its surroundings.

    Args:
        pixels: uint8 RGB [H, W, 3], the crop of :func:`crop_around`.
        hole: boolean [H, W], what is filled.
        barred: boolean [H, W], what is neither filled nor filled from.

    Returns:
        uint8 RGB [H, W, 3], of which only the hole counts; None where too little is known around it. The same arrays
        give the same bytes.

    Raises:
        ProbeRejected: ``no-patchmatch`` where the package came without its library.
    """
    height, width = hole.shape
    scale = min(1.0, SIDE / max(height, width))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    small, unknown, shut = _shrunk(pixels, hole, barred, size)
    known = _whole(~unknown & ~shut)
    if not unknown.any() or np.count_nonzero(known) < LEAST_EXAMPLES:
        return None
    filled = _patch_match(small, unknown, shut, layered=between_rows(small, ~unknown & ~shut) >= LAYERED)
    if scale == 1:
        return filled
    large = cv2.resize(filled, (width, height), interpolation=cv2.INTER_CUBIC).astype(np.int16)
    sharp: np.ndarray = np.clip(large + _detail(pixels, filled, unknown, known), 0, 255).astype(np.uint8)
    return sharp


def _shrunk(
    pixels: np.ndarray, hole: np.ndarray, barred: np.ndarray, size: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The crop at the small size, what is unknown in it, and what is barred; a mean is taken of known pixels alone."""
    free = (~hole & ~barred).astype(np.float32)
    share = cv2.resize(free, size, interpolation=cv2.INTER_AREA)
    total = cv2.resize(pixels * free[..., None], size, interpolation=cv2.INTER_AREA)
    small = np.clip(np.rint(total / np.maximum(share, 0.5)[..., None]), 0, 255).astype(np.uint8)
    in_hole = cv2.resize(hole.astype(np.float32), size, interpolation=cv2.INTER_AREA)
    unknown = (share < 0.5) & (in_hole > 0)
    return np.ascontiguousarray(small), unknown, (share < 0.5) & ~unknown


def between_rows(pixels: np.ndarray, known: np.ndarray) -> float:
    """Share of the colours' variance that rows explain: 1 for level stripes, 0 for upright ones or one colour.

    Args:
        pixels: uint8 RGB [h, w, 3].
        known: boolean [h, w], the pixels that count.
    """
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
        return np.asarray(
            patchmatch.inpaint_regularity(
                small, unknown, _heights(*unknown.shape), global_mask=mask, patch_size=PATCH, guide_weight=OWN_HEIGHT
            )
        )


def _heights(height: int, width: int) -> np.ndarray:
    """PatchMatch's map of where pieces belong, float32 [h, w, 3]: rows from 0 to a half, since 1 counts as 0 again."""
    places = np.zeros((height, width, 3), np.float32)
    places[..., 0] = 0.5 * np.arange(height)[:, None] / height
    return places


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
    these sums stay below 2²⁴, so float32 is exact and their order no matter.
    """
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
    nearest = np.concatenate([_first_least(part @ blocks) for part in parts])
    moved = np.zeros((*filled.shape[:2], 2), int)
    moved[unknown] = np.argwhere(known)[nearest] - np.argwhere(unknown)
    return moved


def _first_least(distances: np.ndarray) -> np.ndarray:
    """Number of the nearest example of each piece, the first of equal ones, int [m], of blocks [b, m, n]."""
    own = distances.argmin(axis=2)
    block = np.take_along_axis(distances, own[..., None], axis=2)[..., 0].argmin(axis=0)
    return np.asarray(block * distances.shape[2] + own[block, np.arange(len(block))])
