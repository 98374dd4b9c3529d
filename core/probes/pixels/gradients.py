"""How textured a part of a picture is."""

import cv2
import numpy as np

TEXTURE_WINDOW = 5
"""Width and height of the window in which a local variance is taken, in pixels."""


def gradient(crop: np.ndarray, where: np.ndarray) -> float:
    """Return the mean over marked pixels and RGB channels of the Sobel magnitude, channels in [0, 1].

    Args:
        crop: uint8 RGB [H, W, 3].
        where: boolean [H, W], with at least one pixel.
    """
    # Whole numbers until the root: OpenCV's float magnitude rounds differently with where its memory lies.
    across, upright = (
        cv2.Sobel(crop, cv2.CV_16S, *order, ksize=3)[where].astype(np.float64) for order in ((1, 0), (0, 1))
    )
    return float(np.sqrt(across**2 + upright**2).mean() / 255)


def local_variance(crop: np.ndarray, where: np.ndarray) -> float:
    """Return the mean over marked pixels and RGB channels of the variance around them, channels in [0, 1].

    The variance of a pixel is that of the marked pixels in the window of TEXTURE_WINDOW centred on it; what is not
    marked counts for nothing, so an edge to the rest is no texture.

    Args:
        crop: uint8 RGB [H, W, 3].
        where: boolean [H, W], with at least one pixel.
    """
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
