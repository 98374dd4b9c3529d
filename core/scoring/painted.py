"""A mask that somebody painted in the browser: it is a picture of a stranger until it was decoded as one."""

from base64 import b64decode
from binascii import Error

import cv2
import numpy as np

from core.corpora.images import decode_stranger
from core.errors import BadImage, InvalidInput

MOST_BYTES = 1_000_000
"""Most that a painted mask may take as a PNG; one of 640 px takes some 20 kB."""

_BEGIN = "data:image/png;base64,"
_HALF = 127
"""Grey above which a pixel of the mask is the object's: a brush has soft edges."""


def read_painted(address: str, *, before: np.ndarray, shown: tuple[int, int]) -> np.ndarray:
    """Read a painted mask, and keep what was not painted over as it was before, pixel by pixel.

    Args:
        address: of the PNG, ``data:image/png;base64,…``, white where the object is.
        before: boolean [H, W] in the pixels of the item, the mask that was painted on; all False where there was none.
        shown: (h, w) of :func:`at_size`, as the browser had it and as the PNG must be.

    Returns:
        Boolean [H, W].

    Raises:
        BadImage: if it is no such file, or too large, or takes too much to decode.
        InvalidInput: if its size is not that of the picture it was painted on, or nothing is left of the object.
    """
    height, width = shown
    decoded = decode_stranger(_bytes(address), name="the painted mask", max_pixels=height * width)
    if decoded.pixels.shape[:2] != shown:
        got = f"{decoded.width} × {decoded.height}"
        raise InvalidInput(f"a mask painted here has {width} × {height} px, got {got}; paint it again")
    painted = decoded.pixels[..., 0] > _HALF
    changed = at_size(painted != at_size(before, shown), before.shape)
    whole = np.where(changed, at_size(painted, before.shape), before)
    if not whole.any():
        raise InvalidInput("nothing is left of the mask; paint the object, or clear what was drawn")
    return whole


def at_size(mask: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A boolean mask at another size (height, width)."""
    height, width = shape
    if mask.shape == (height, width):
        return mask
    scaled: np.ndarray = cv2.resize(mask.astype(np.float32), (width, height), interpolation=cv2.INTER_LINEAR) > 0.5
    return scaled


def _bytes(address: str) -> bytes:
    if not address.startswith(_BEGIN):
        raise BadImage(f"a painted mask is a PNG, got {address[:30]!r}; paint it again")
    if len(address) > MOST_BYTES * 4 // 3 + len(_BEGIN) + 4:
        raise BadImage(f"a painted mask takes at most {MOST_BYTES // 1000} kB, got {len(address) // 1000} kB of text")
    try:
        return b64decode(address[len(_BEGIN) :], validate=True)
    except (Error, ValueError) as error:
        raise BadImage("the painted mask did not arrive whole; paint it again") from error
