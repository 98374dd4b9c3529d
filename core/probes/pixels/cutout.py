"""The object cut out of its image, and put down on a background at another place."""

from dataclasses import dataclass

import cv2
import numpy as np

FEATHER = 3
"""Length of the linear alpha ramp at the object's edge, in pixels. Source: paper A, section A.8."""

SIGHT = 9
"""How far around the object distances to it are known, in pixels."""


@dataclass(frozen=True, slots=True)
class Cutout:
    """The patch P = I ⊙ M of Algorithm 1, cropped to the object's tight box.

    Args:
        left, top: corner of the crop in the image, in pixels.
        pixels: uint8 RGB [h, w, 3], the crop of the image.
        mask: boolean [h, w], the object inside the crop.
        ramp: float32 [h, w] in [0, 1]: 0 outside the object, FEATHER linear steps inside its edge, then 1.
        away: float32 [h + 2 SIGHT, w + 2 SIGHT]: Euclidean distance in pixels of each pixel of the crop, and of a
            margin of SIGHT around it, to the nearest pixel of the object.
        centroid: (x, y) mean of the object's pixel coordinates, in the image.
    """

    left: int
    top: int
    pixels: np.ndarray
    mask: np.ndarray
    ramp: np.ndarray
    away: np.ndarray
    centroid: tuple[float, float]

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


def cut_out(pixels: np.ndarray, mask: np.ndarray, *, feather: int = FEATHER) -> Cutout:
    """Cut an object out of its image.

    Args:
        pixels: uint8 RGB [H, W, 3].
        mask: boolean [H, W], with at least one pixel.
        feather: length of the alpha ramp in pixels. It lies inside the mask, so nothing of the old background is
            carried along; the ring of SeamE lies outside and does not see it.
    """
    left, top, width, height = cv2.boundingRect(mask.view(np.uint8))
    inside = slice(top, top + height), slice(left, left + width)
    crop = np.ascontiguousarray(mask[inside])
    moments = cv2.moments(crop.view(np.uint8), binaryImage=True)
    centroid = left + moments["m10"] / moments["m00"], top + moments["m01"] / moments["m00"]
    around = cv2.copyMakeBorder((~crop).view(np.uint8), SIGHT, SIGHT, SIGHT, SIGHT, cv2.BORDER_CONSTANT, value=1)
    away = cv2.distanceTransform(around, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    return Cutout(left, top, pixels[inside], crop, alpha_ramp(crop, feather), away, centroid)


def alpha_ramp(mask: np.ndarray, feather: int) -> np.ndarray:
    """Return min(d / feather, 1), d the distance in pixels to the nearest pixel outside the mask (float32 [h, w]).

    What lies beyond the array counts as outside, so an object that its image's border cuts is feathered there too.
    """
    padded = cv2.copyMakeBorder(mask.view(np.uint8), 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=0)
    depth = cv2.distanceTransform(padded, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)[1:-1, 1:-1]
    return np.minimum(depth / max(feather, 1), 1.0, dtype=np.float32)


def put_down(background: np.ndarray, cutout: Cutout, right: int, down: int, *, feather: bool = True) -> np.ndarray:
    """Return a copy of the background with the object moved by whole pixels, so at constant scale.

    Args:
        background: uint8 RGB [H, W, 3].
        right, down: the translation in pixels; the object's box must stay inside.
        feather: blend along the alpha ramp; otherwise the mask cuts hard.
    """
    result = background.copy()
    left, top = cutout.left + right, cutout.top + down
    target = result[top : top + cutout.height, left : left + cutout.width]
    if feather:
        target[...] = cv2.blendLinear(cutout.pixels, target.copy(), cutout.ramp, 1 - cutout.ramp)
    else:
        target[cutout.mask] = cutout.pixels[cutout.mask]
    return result
