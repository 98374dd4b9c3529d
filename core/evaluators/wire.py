"""Arrays between two processes of this house: shapes and types as JSON, the numbers as bytes, nothing unpickled."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.errors import InvalidInput

_TYPES = ("uint8", "bool", "int64", "float32", "float64")


def pack(arrays: Sequence[np.ndarray]) -> tuple[list[dict[str, Any]], bytes]:
    """Type and shape of every array, and their bytes one after the other.

    Raises:
        InvalidInput: for an array of another type than uint8, bool, int64, float32 and float64.
    """
    told = [{"type": str(each.dtype), "shape": list(each.shape)} for each in arrays]
    if strange := [each["type"] for each in told if each["type"] not in _TYPES]:
        raise InvalidInput(f"arrays are of {', '.join(_TYPES)}, got {strange[0]}")
    return told, b"".join(np.ascontiguousarray(each).tobytes() for each in arrays)


def unpack(told: Sequence[dict[str, Any]], data: bytes | bytearray) -> list[np.ndarray]:
    """Arrays as :func:`pack` wrote them, each a copy that may be written to.

    Raises:
        InvalidInput: where types, shapes and bytes do not belong together.
    """
    found, start = [], 0
    for each in told:
        shape = tuple(each["shape"])
        if each["type"] not in _TYPES or not all(isinstance(side, int) and side >= 0 for side in shape):
            raise InvalidInput(f"arrays are of {', '.join(_TYPES)}, got {str(each)[:80]}")
        size = math.prod(shape) * np.dtype(each["type"]).itemsize
        if start + size > len(data):
            raise InvalidInput(f"{len(data)} bytes are too few for arrays such as {str(each)[:80]}")
        found.append(np.frombuffer(data, each["type"], math.prod(shape), start).reshape(shape).copy())
        start += size
    return found
