"""Where the object is after an image edit: the same edit, applied to its box and its mask.

Coordinates are those of :class:`core.corpora.schema.Box`: pixel (0, 0) covers the square from (0, 0) to (1, 1).
"""

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from core.corpora.schema import Box, Mask
from core.probes.pixels import edits as image_edits
from core.probes.scene import Scene


@dataclass(frozen=True, slots=True)
class Move:
    """What an edit does to places: ``box`` maps (box, width, height), ``mask`` maps a boolean [H, W]."""

    box: Callable[[Box, int, int], Box | None]
    mask: Callable[[np.ndarray], np.ndarray]


def follow(move: Move | None, scene: Scene) -> tuple[Box | None, Mask | None]:
    """Return where the item's box and mask are after an edit; None where it has none, or where it left the image.

    Where there is a mask, the box is the tight box around the moved mask. A move of None leaves all in its place.
    """
    item = scene.item
    if move is None:
        return item.box, item.mask
    if item.mask is not None and item.mask.area:
        moved = Mask.from_array(move.mask(scene.mask))
        return moved.box, (moved if moved.box else None)
    return (None if item.box is None else move.box(item.box, item.width, item.height)), None


def flip_box_vertical(box: Box, width: int, height: int) -> Box:  # noqa: ARG001  # called as every move is
    """Return the box in the image turned upside down."""
    return Box(box.x, height - box.bottom, box.width, box.height)


def flip_box_horizontal(box: Box, width: int, height: int) -> Box:  # noqa: ARG001  # called as every move is
    """Return the box in the mirrored image."""
    return Box(width - box.right, box.y, box.width, box.height)


def rotate_box(box: Box, degrees: float, width: int, height: int) -> Box | None:
    """Return the box around the four rotated corners, cut to the image; None where nothing is left inside."""
    matrix = image_edits.rotation_matrix(degrees, width, height)
    corners = np.array([(x, y, 1.0) for x in (box.x, box.right) for y in (box.y, box.bottom)])
    corners[:, :2] -= 0.5  # the matrix speaks of pixel centres, a box of pixel edges
    moved = corners @ matrix.T + 0.5
    (left, top), (right, bottom) = moved.min(axis=0), moved.max(axis=0)
    return Box.from_corners(float(left), float(top), float(right), float(bottom)).inside(width, height)


def rotate_mask(mask: np.ndarray, degrees: float) -> np.ndarray:
    """Rotate a boolean mask [H, W] as the image is; what the reflection repeats is not the object."""
    height, width = mask.shape
    matrix = image_edits.rotation_matrix(degrees, width, height)
    turned = cv2.warpAffine(mask.astype(np.uint8), matrix, (width, height), flags=cv2.INTER_NEAREST)
    return turned.astype(bool)


def zoom_box(box: Box, factor: float, width: int, height: int) -> Box | None:
    """Return the box in the enlarged image, cut to it; None where nothing is left inside."""
    left, top = width / 2 + factor * (box.x - width / 2), height / 2 + factor * (box.y - height / 2)
    return Box(left, top, factor * box.width, factor * box.height).inside(width, height)


def zoom_mask(mask: np.ndarray, factor: float) -> np.ndarray:
    """Enlarge a boolean mask [H, W] as the image is."""
    height, width = mask.shape
    matrix = image_edits.zoom_matrix(factor, width, height)
    return cv2.warpAffine(mask.astype(np.uint8), matrix, (width, height), flags=cv2.INTER_NEAREST).astype(bool)


def translate_box(box: Box, right: int, down: int, width: int, height: int) -> Box | None:
    """Return the moved box, cut to the image; None where nothing is left inside."""
    return Box(box.x + right, box.y + down, box.width, box.height).inside(width, height)


VERTICAL_FLIP = Move(flip_box_vertical, image_edits.flip_vertical)
HORIZONTAL_FLIP = Move(flip_box_horizontal, image_edits.flip_horizontal)


def rotation(degrees: float) -> Move:
    """The move of :func:`core.probes.pixels.edits.rotate`."""
    return Move(
        lambda box, width, height: rotate_box(box, degrees, width, height), lambda mask: rotate_mask(mask, degrees)
    )


def translation(right: int, down: int) -> Move:
    """The move of :func:`core.probes.pixels.edits.translate`."""
    return Move(
        lambda box, width, height: translate_box(box, right, down, width, height),
        lambda mask: image_edits.translate(mask, right=right, down=down),
    )


def zooming(factor: float) -> Move:
    """The move of :func:`core.probes.pixels.edits.zoom`."""
    return Move(lambda box, width, height: zoom_box(box, factor, width, height), lambda mask: zoom_mask(mask, factor))
