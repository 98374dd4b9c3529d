"""Pure image edits: uint8 RGB [H, W, 3] in, a new contiguous uint8 RGB [H, W, 3] out; the input is never changed.

The edits that move pixels without mixing them (flips, translation) also accept a mask of shape [H, W], so that a
mask follows its image by the same code. Edits of a stack of frames: which frames of a video are kept, in which order.

Where the object is after an edit: the same edit, applied to its box and its mask. Coordinates are those of
:class:`core.corpora.schema.Box`: pixel (0, 0) covers the square from (0, 0) to (1, 1).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from core.corpora.images import check_rgb
from core.corpora.schema import Box, Mask
from core.errors import InvalidInput
from core.probes.scene import Scene

JPEG_QUALITY = 95  # quality of the re-encoding that nobody can see
RESIZE_SCALE = 1.25  # how far an image is enlarged before it returns to its size; both steps are bicubic
BLUR_REACH = 4.0  # half width of the Gaussian kernel, in standard deviations


def flip_vertical(pixels: np.ndarray) -> np.ndarray:
    """Turn an image upside down: the first row becomes the last.
    Source: paper A, section 3.2."""
    return pixels[::-1].copy()


def flip_horizontal(pixels: np.ndarray) -> np.ndarray:
    """Mirror an image: the first column becomes the last.
    Source: paper A, section 3.2."""
    return cv2.flip(pixels.view(np.uint8), 1).view(pixels.dtype)  # four times as fast as copying the reversed view


def rotate(pixels: np.ndarray, degrees: float) -> np.ndarray:
    """Rotate an image about its centre, at the same size; reflection fills the corners, sampling is bicubic.
    ``pixels``: uint8 RGB [H, W, 3]. ``degrees``: counter-clockwise as seen on the screen.
    Source: paper A, section A.4."""
    check_rgb(pixels)
    height, width = pixels.shape[:2]
    if 1 in (height, width):  # OpenCV does not return from reflecting a line, so repeat it first
        down, across = (3 if side == 1 else 1 for side in (height, width))
        middle = tuple(slice(1, 2) if repeat == 3 else slice(None) for repeat in (down, across))
        return rotate(pixels.repeat(down, axis=0).repeat(across, axis=1), degrees)[middle].copy()
    matrix = rotation_matrix(degrees, width, height)
    return cv2.warpAffine(pixels, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT_101)


def rotation_matrix(degrees: float, width: int, height: int) -> np.ndarray:
    """Return the float64 [2, 3] matrix that takes a pixel (x, y) of the image to its place after :func:`rotate`.
    That of a quarter turn holds whole numbers, so that each pixel comes to lie on one: where the sides differ by an odd
    number, half a pixel would have a mask lose columns.
    Raises InvalidInput if the angle is not finite."""
    if not math.isfinite(degrees):
        raise InvalidInput(f"degrees must be a finite angle, got {degrees!r}")
    matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), degrees, 1.0)
    return matrix if degrees % 90 else np.floor(matrix.round(6))


def blur(pixels: np.ndarray, sigma: float) -> np.ndarray:
    """Blur an image with a Gaussian of standard deviation ``sigma``, in pixels; reflection at the edges.
    Raises InvalidInput if sigma is not positive.
    Source: paper A, section 3.2 (σ ∈ {1.0, 2.0})."""
    check_rgb(pixels)
    if not (math.isfinite(sigma) and sigma > 0):
        raise InvalidInput(f"sigma must be a positive number of pixels, got {sigma!r}")
    side = 2 * math.ceil(BLUR_REACH * sigma) + 1
    return cv2.GaussianBlur(pixels, (side, side), sigma, borderType=cv2.BORDER_REFLECT_101)


def translate(pixels: np.ndarray, *, right: int = 0, down: int = 0) -> np.ndarray:
    """Move an image by whole pixels; the edge rows and columns are repeated where it leaves a gap.
    ``pixels``: [H, W, 3] or, for a mask, [H, W]. ``right``: columns to the right; negative to the left.
    ``down``: rows down; negative up."""
    height, width = pixels.shape[:2]
    right, down = min(max(right, 1 - width), width - 1), min(max(down, 1 - height), height - 1)
    kept = pixels[max(0, -down) : height - max(0, down), max(0, -right) : width - max(0, right)]
    gaps = max(0, down), max(0, -down), max(0, right), max(0, -right)
    return cv2.copyMakeBorder(kept.view(np.uint8), *gaps, cv2.BORDER_REPLICATE).view(pixels.dtype)


def zoom(pixels: np.ndarray, factor: float) -> np.ndarray:
    """Enlarge an image about its centre, at the same size: what leaves it is cut off; sampling is bicubic.
    ``pixels``: uint8 RGB [H, W, 3]. ``factor``: at least 1.
    Raises InvalidInput if the factor is below 1 or not finite."""
    check_rgb(pixels)
    height, width = pixels.shape[:2]
    matrix = zoom_matrix(factor, width, height)
    return cv2.warpAffine(pixels, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)


def zoom_matrix(factor: float, width: int, height: int) -> np.ndarray:
    """Return the float64 [2, 3] matrix that takes a pixel (x, y) of the image to its place after :func:`zoom`.
    Raises InvalidInput if the factor is below 1 or not finite."""
    if not (math.isfinite(factor) and factor >= 1):
        raise InvalidInput(f"the factor of a zoom must be at least 1, got {factor!r}")
    middle = (width - 1) / 2, (height - 1) / 2
    return np.array([[factor, 0.0, (1 - factor) * middle[0]], [0.0, factor, (1 - factor) * middle[1]]])


def brighten(pixels: np.ndarray, factor: float) -> np.ndarray:
    """Multiply the values of an image, rounded and kept within 0 to 255.
    ``factor``: 1 changes nothing; below 1 it darkens. Raises InvalidInput if the factor is not positive."""
    check_rgb(pixels)
    if not (math.isfinite(factor) and factor > 0):
        raise InvalidInput(f"the factor of the brightness must be positive, got {factor!r}")
    return cv2.convertScaleAbs(pixels, alpha=factor)


CHROMA = {
    "4:2:0": cv2.IMWRITE_JPEG_SAMPLING_FACTOR_420,
    "4:2:2": cv2.IMWRITE_JPEG_SAMPLING_FACTOR_422,
    "4:4:4": cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444,
}
"""How a JPEG keeps its colours: at a quarter, at half, or at all of the places at which it keeps brightness."""


def jpeg(pixels: np.ndarray, *, quality: int = JPEG_QUALITY, chroma: str = "4:2:0") -> np.ndarray:
    """Encode an image as JPEG and decode it again.
    ``quality``: 1 to 100. ``chroma``: of CHROMA.
    Raises InvalidInput if the quality is out of range, or the chroma is not known."""
    check_rgb(pixels)
    if not 1 <= quality <= 100:
        raise InvalidInput(f"quality must lie in 1..100, got {quality!r}")
    if chroma not in CHROMA:
        raise InvalidInput(f"chroma must be one of {', '.join(CHROMA)}, got {chroma!r}")
    blue_first = cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR)
    settings = [cv2.IMWRITE_JPEG_QUALITY, quality, cv2.IMWRITE_JPEG_SAMPLING_FACTOR, CHROMA[chroma]]
    done, encoded = cv2.imencode(".jpg", blue_first, settings)
    if not done:
        told = f"an image of shape {pixels.shape} cannot be written as JPEG; its sides are limited to 65535"
        raise InvalidInput(told)
    decoded = cv2.imdecode(encoded, cv2.IMREAD_COLOR)
    assert decoded is not None  # it was encoded a line above
    return cv2.cvtColor(decoded, cv2.COLOR_BGR2RGB)


def resize_and_back(pixels: np.ndarray, *, scale: float = RESIZE_SCALE) -> np.ndarray:
    """Resize an image by a factor and then to its own size again, bicubic both ways.
    Raises InvalidInput if the scale is not positive."""
    check_rgb(pixels)
    if not (math.isfinite(scale) and scale > 0):
        raise InvalidInput(f"scale must be positive, got {scale!r}")
    height, width = pixels.shape[:2]
    size = max(1, round(width * scale)), max(1, round(height * scale))
    there = cv2.resize(pixels, size, interpolation=cv2.INTER_CUBIC)
    return cv2.resize(there, (width, height), interpolation=cv2.INTER_CUBIC)


def every_second(count: int) -> list[int]:
    """Places of every second frame, the first one among them.

    >>> every_second(5)
    [0, 2, 4]
    """
    return [*range(0, count, 2)]


@dataclass(frozen=True, slots=True)
class Move:
    """What an edit does to places: ``box`` maps (box, width, height), ``mask`` maps a boolean [H, W]."""

    box: Callable[[Box, int, int], Box | None]
    mask: Callable[[np.ndarray], np.ndarray]


def follow(move: Move | None, scene: Scene) -> tuple[Box | None, Mask | None]:
    """Return where the item's box and mask are after an edit; None where it has none, or where it left the image.
    Where there is a mask, the box is the tight box around the moved mask. A move of None leaves all in its place."""
    item = scene.item
    if move is None:
        return item.box, item.mask
    if item.mask is not None and item.mask.area:
        moved = Mask.from_array(move.mask(scene.mask))
        return moved.box, (moved if moved.box else None)
    return (None if item.box is None else move.box(item.box, item.width, item.height)), None


VERTICAL_FLIP = Move(lambda box, _, height: Box(box.x, height - box.bottom, box.width, box.height), flip_vertical)
HORIZONTAL_FLIP = Move(lambda box, width, _: Box(width - box.right, box.y, box.width, box.height), flip_horizontal)


def rotation(degrees: float) -> Move:
    """The move of :func:`rotate`: the box around the four rotated corners, cut to the image; None where nothing is left
    inside. What the reflection repeats is not the object."""

    def around(box: Box, width: int, height: int) -> Box | None:
        corners = np.array([(x, y, 1.0) for x in (box.x, box.right) for y in (box.y, box.bottom)])
        corners[:, :2] -= 0.5  # the matrix speaks of pixel centres, a box of pixel edges
        moved = corners @ rotation_matrix(degrees, width, height).T + 0.5
        (left, top), (right, bottom) = moved.min(axis=0), moved.max(axis=0)
        return Box.from_corners(float(left), float(top), float(right), float(bottom)).inside(width, height)

    return Move(around, lambda mask: _warped(mask, rotation_matrix(degrees, *mask.shape[::-1])))


def translation(right: int, down: int) -> Move:
    """The move of :func:`translate`; a box is cut to the image."""
    return Move(
        lambda box, width, height: Box(box.x + right, box.y + down, box.width, box.height).inside(width, height),
        lambda mask: translate(mask, right=right, down=down),
    )


def zooming(factor: float) -> Move:
    """The move of :func:`zoom`; a box is cut to the image."""

    def enlarged(box: Box, width: int, height: int) -> Box | None:
        left, top = width / 2 + factor * (box.x - width / 2), height / 2 + factor * (box.y - height / 2)
        return Box(left, top, factor * box.width, factor * box.height).inside(width, height)

    return Move(enlarged, lambda mask: _warped(mask, zoom_matrix(factor, *mask.shape[::-1])))


def _warped(mask: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    size = mask.shape[1], mask.shape[0]
    return cv2.warpAffine(mask.astype(np.uint8), matrix, size, flags=cv2.INTER_NEAREST).astype(bool)
