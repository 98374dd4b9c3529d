"""Edits of a stack of frames: which frames of a video are kept, and in which order."""

import numpy as np


def every_second(count: int) -> list[int]:
    """Places of every second frame, the first one among them.

    Example:
        >>> every_second(5)
        [0, 2, 4]
    """
    return [*range(0, count, 2)]


def backwards(count: int) -> list[int]:
    """Places of all frames, the last one first.

    Example:
        >>> backwards(3)
        [2, 1, 0]
    """
    return [*range(count - 1, -1, -1)]


def kept(frames: np.ndarray, places: list[int]) -> np.ndarray:
    """Frames at some places, uint8 [T', H, W, 3], contiguous and no view of the others."""
    return np.ascontiguousarray(frames[places])
