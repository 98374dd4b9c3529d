"""Which of eleven colour names the pixels of an object carry, by fixed rules on hue, saturation and value.

The rules are coarse, and shade and light move a pixel from one name to another. They serve to say that a colour is
*not* there, never that it is.
"""

import cv2
import numpy as np

HUES = (
    ("red", 0, 8),
    ("orange", 8, 21),
    ("yellow", 21, 34),
    ("green", 34, 86),
    ("blue", 86, 130),
    ("purple", 130, 150),
    ("pink", 150, 172),
    ("red", 172, 180),
)
"""Names with their hues, half open, in OpenCV's halves of a degree."""

BLACK_BELOW = 50
"""Value, 0 to 255, below which a pixel is black."""
GREY_BELOW = 40
"""Saturation, 0 to 255, below which a pixel is white or gray."""
WHITE_FROM = 190
"""Value from which a pixel without saturation is white."""
BROWN_BELOW = 170
"""Value below which an orange, a yellow or a red of middling saturation is brown."""


def colour_shares(pixels: np.ndarray, mask: np.ndarray) -> dict[str, float]:
    """Share of an object's pixels by colour name; empty where the mask is.
    ``pixels``: uint8 RGB [H, W, 3]. ``mask``: boolean [H, W]."""
    inside = pixels[mask].reshape(-1, 1, 3)
    if not len(inside):
        return {}
    hue, saturation, value = (channel.ravel() for channel in cv2.split(cv2.cvtColor(inside, cv2.COLOR_RGB2HSV)))
    names = np.full(len(hue), "", dtype="U6")
    for name, low, high in HUES:
        names[(hue >= low) & (hue < high)] = name
    warm = np.isin(names, ("red", "orange", "yellow"))
    names[warm & (value < BROWN_BELOW) & (saturation < 200)] = "brown"
    names[(names == "orange") & (value < BROWN_BELOW)] = "brown"
    names[(names == "red") & (saturation < 120) & (value >= BROWN_BELOW)] = "pink"
    names[saturation < GREY_BELOW] = "gray"
    names[(saturation < GREY_BELOW) & (value >= WHITE_FROM)] = "white"
    names[value < BLACK_BELOW] = "black"
    found, counts = np.unique(names, return_counts=True)
    return {str(name): float(count / len(names)) for name, count in zip(found, counts, strict=True)}
