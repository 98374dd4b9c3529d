"""What a COCO ``segmentation`` may hold: checked before its bytes reach pycocotools' C code.

A run-length encoding that does not fill its image exactly would decode to whatever lay in memory, and a polygon
with coordinates far outside it would cost memory in proportion.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

_CONTINUES, _SIGN, _FIVE_BITS = 0x20, 0x10, 0x1F


def check_segmentation(segmentation: Any, height: int, width: int) -> None:
    """Check polygons or a run-length encoding against the size of their image.
    ``segmentation``: list of polygons ``[x, y, x, y, …]`` in pixels, or ``{"size": [h, w], "counts": …}`` with counts
    as a list of ints or as COCO's compressed text.
    Raises ValueError with what is wrong."""
    if isinstance(segmentation, list):
        if not segmentation:
            raise ValueError("it is an empty list")
        for polygon in segmentation:
            _check_polygon(polygon, height, width)
    elif isinstance(segmentation, dict) and {"size", "counts"} <= segmentation.keys():
        if segmentation["size"] != [height, width]:
            raise ValueError(f"its size is {segmentation['size']}, the image's [{height}, {width}]")
        counts = segmentation["counts"]
        check_counts(counts if isinstance(counts, list) else decompress_counts(counts), height * width)
    else:
        raise ValueError(f"it is {type(segmentation).__name__}, neither a list of polygons nor size and counts")


def decompress_counts(text: str | bytes) -> list[int]:
    """Return the run lengths of COCO's compressed text, e.g. ``decompress_counts("52203") == [5, 2, 2, 2, 5]``.

    Source: cocodataset/cocoapi, common/maskApi.c, rleFrString.
    Raises ValueError if the text ends inside a number or holds another alphabet.
    """
    data = text.encode("ascii") if isinstance(text, str) else bytes(text)
    if not data:
        return []
    digits = np.frombuffer(data, np.uint8).astype(np.int64) - 48
    ends = (digits & _CONTINUES) == 0
    first = np.flatnonzero(np.concatenate([[True], ends[:-1]]))
    number = np.cumsum(np.concatenate([[False], ends[:-1]]))
    shifts = 5 * (np.arange(len(digits)) - first[number])
    if ((digits < 0) | (digits >= 64) | (shifts > 30)).any():
        raise ValueError("its counts are no COCO run lengths")
    if not ends[-1]:
        raise ValueError("its counts end inside a number")
    counts = np.add.reduceat((digits & _FIVE_BITS) << shifts, first)
    counts -= np.where(digits[ends] & _SIGN, 1 << (shifts[ends] + 5), 0)
    for start in (1, 2):  # from the fourth on, each is told as what it is more than the one before the last
        counts[start::2] = np.cumsum(counts[start::2])
    found: list[int] = counts.tolist()
    return found


def check_counts(counts: Sequence[Any], pixels: int) -> None:
    """Raise ValueError unless run lengths fill exactly so many pixels."""
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        raise ValueError("its counts must be whole numbers of at least 0")
    if sum(counts) != pixels:
        raise ValueError(f"its counts add up to {sum(counts)} pixels, the image has {pixels}")


def _check_polygon(polygon: Any, height: int, width: int) -> None:
    if not isinstance(polygon, list) or len(polygon) < 6 or len(polygon) % 2:
        raise ValueError("a polygon needs at least three points x, y")
    if not all(isinstance(value, int | float) and math.isfinite(value) for value in polygon):
        raise ValueError("a polygon's coordinates must be finite numbers")
    if not (-width <= min(polygon[::2]) and max(polygon[::2]) <= 2 * width):
        raise ValueError(f"a polygon leaves the image by more than its width of {width} px")
    if not (-height <= min(polygon[1::2]) and max(polygon[1::2]) <= 2 * height):
        raise ValueError(f"a polygon leaves the image by more than its height of {height} px")
