"""How textured a part of a picture is."""

import cv2
import numpy as np


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
