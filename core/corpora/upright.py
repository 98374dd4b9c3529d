"""Boxes and masks of a picture that is stored lying on its side, where they are seen: EXIF orientations 5 to 8.

Each exchanges x and y and may mirror the result. Source: EXIF 2.32, tag 0x0112.
"""

import numpy as np

from core.corpora.schema import Box

_ACROSS, _DOWN = (6, 7), (7, 8)
"""Orientations that mirror the exchanged picture left for right, and top for bottom."""


def upright_box(box: Box, width: int, height: int, orientation: int) -> Box:
    """Return a box of the stored picture, whose width and height are in pixels, where it is seen.

    Example:
        >>> upright_box(Box(20, 30, 100, 90), 320, 240, 6)
        Box(x=120, y=20, width=90, height=100)
    """
    left = height - box.bottom if orientation in _ACROSS else box.y
    top = width - box.right if orientation in _DOWN else box.x
    return Box(left, top, box.height, box.width)


def upright_mask(mask: np.ndarray, orientation: int) -> np.ndarray:
    """Return a mask [H, W] of the stored picture where it is seen: [W, H]."""
    return np.ascontiguousarray(mask.T[:: -1 if orientation in _DOWN else 1, :: -1 if orientation in _ACROSS else 1])
