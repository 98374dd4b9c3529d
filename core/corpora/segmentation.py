"""What a COCO ``segmentation`` may hold: checked before its bytes reach pycocotools' C code.

A run-length encoding that does not fill its image exactly would decode to whatever lay in memory, and a polygon
with coordinates far outside it would cost memory in proportion.
"""

import math
from collections.abc import Sequence
from typing import Any

_CONTINUES, _SIGN, _FIVE_BITS = 0x20, 0x10, 0x1F


def check_segmentation(segmentation: Any, height: int, width: int) -> None:
    """Check polygons or a run-length encoding against the size of their image.

    Args:
        segmentation: list of polygons ``[x, y, x, y, …]`` in pixels, or ``{"size": [h, w], "counts": …}`` with
            counts as a list of ints or as COCO's compressed text.

    Raises:
        ValueError: with what is wrong.
    """
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

    Raises:
        ValueError: if the text ends inside a number or holds another alphabet.
    """
    data = text.encode("ascii") if isinstance(text, str) else bytes(text)
    counts: list[int] = []
    value = shift = 0
    for byte in data:
        digit = byte - 48
        if not 0 <= digit < 64 or shift > 30:
            raise ValueError("its counts are no COCO run lengths")
        value |= (digit & _FIVE_BITS) << shift
        shift += 5
        if digit & _CONTINUES:
            continue
        if digit & _SIGN:
            value -= 1 << shift
        counts.append(value + counts[-2] if len(counts) > 2 else value)
        value = shift = 0
    if shift:
        raise ValueError("its counts end inside a number")
    return counts


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
