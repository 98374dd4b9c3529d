"""Plates that were made before: the same picture and the same mask have the same plate, whoever asks."""

import hashlib
from collections import OrderedDict
from functools import cache
from threading import Lock

import numpy as np

from core.probes.pixels.inpainting import Fill, Plate, clean_plate

MOST_BYTES = 64 * 2**20
"""How much of them is kept; the one that was not asked for the longest goes first."""


class Plates:
    """Plates by picture and mask; safe to share between threads, which may make one plate twice and keep it once.

    Args:
        most_bytes: of pixels that are kept.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._kept: OrderedDict[bytes, Plate] = OrderedDict()
        self._lock = Lock()

    def get(self, pixels: np.ndarray, mask: np.ndarray, others: np.ndarray, fill: Fill) -> Plate:
        """Return the plate of :func:`core.probes.pixels.inpainting.clean_plate`; its pixels are read-only.

        Raises:
            ProbeRejected: as it does; a rejection is not kept.
        """
        key = _key(pixels, mask, others, fill)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = clean_plate(pixels, mask, others, fill=fill)
        made.pixels.flags.writeable = False
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > 1 and sum(each.pixels.nbytes for each in self._kept.values()) > self._most:
                self._kept.popitem(last=False)
        return made


@cache
def kept_plates() -> Plates:
    """The plates of this process."""
    return Plates()


def _key(pixels: np.ndarray, mask: np.ndarray, others: np.ndarray, fill: Fill) -> bytes:
    digest = hashlib.blake2b(f"{pixels.shape}{fill.value}".encode(), digest_size=20)
    for each in (pixels, np.packbits(mask), np.packbits(others)):
        digest.update(np.ascontiguousarray(each).data)
    return digest.digest()
