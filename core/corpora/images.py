"""Pictures from files and from strangers, safely: every one becomes uint8 RGB [H, W, 3], or one clear sentence.

What comes over the network is decoded in its own process, with limits on memory and time. A file of the operator
is decoded here where its size and header bound what that can take, and in such a process where they do not.
"""

import stat
from io import BytesIO
from pathlib import Path
from typing import IO

import numpy as np
from PIL import Image, ImageFile

from core.corpora.decoding_apart import Limits, decode_apart, header_apart
from core.corpora.image_header import (
    MAX_PIXELS,
    MIN_SIDE,
    DecodedImage,
    ImageHeader,
    cannot_read,
    check_bytes,
    decode_image,
    decode_opened,
    open_image,
    pixel_hash,
    require_auditable,
    sniff,
    stated_header,
)
from core.errors import BadImage, InvalidInput

MOST_BYTES = 4_000_000  # largest file, in bytes, that is read here

MOST_PIXELS = 16_000_000
"""Largest picture, in pixels, that is decoded here: about 300 MB in the most costly of its formats, WebP."""

MOST_SCANS = 100
"""Scans of a progressive JPEG that is decoded here; encoders write about ten. Each goes over all pixels."""

_FORMATS = ("JPEG", "PNG", "WebP", "BMP")  # a TIFF is tags all over, a GIF's comment grows block by block
_MOST_SEGMENTS = 1000
_MOST_EXIF = 1 << 16  # one segment of a JPEG
_START_OF_SCAN = b"\xff\xda"
_SEGMENTS = (0xC0, 0xC1, 0xC2, 0xC4, 0xDB, 0xDD, *range(0xE0, 0xF0), 0xFE)  # frames, tables, metadata, comments


def open_bounded(
    file: IO[bytes], size: int, *, name: str, max_pixels: int = MAX_PIXELS
) -> tuple[str, ImageFile.ImageFile] | None:
    """Return (format, lazily opened image) where reading the header takes little, else None.
    ``file``: at its beginning.
    Raises BadImage as :func:`core.corpora.image_header.open_image`."""
    kind = sniff(file.read(32))
    if kind is not None and (kind not in _FORMATS or size > MOST_BYTES):
        return None
    if kind == "JPEG" and not _plain_segments(file):
        return None
    file.seek(0)
    kind, image = open_image(file, name=name, max_pixels=max_pixels)
    exif = max(len(image.info.get("exif", b"")), len(image.info.get("Raw profile type exif", "")) // 2)
    return None if exif > _MOST_EXIF else (kind, image)


def _plain_segments(file: IO[bytes]) -> bool:
    """Whether a JPEG is plain up to its pixels: few segments, at most one of EXIF, nothing that Pillow skips over."""
    file.seek(2)
    exif = 0
    for _ in range(_MOST_SEGMENTS):
        head = file.read(4)
        if head[:2] == _START_OF_SCAN:
            return exif <= 1
        length = int.from_bytes(head[2:], "big") - 2
        if len(head) < 4 or head[0] != 0xFF or head[1] not in _SEGMENTS or length < 0:
            return False
        start = file.read(min(6, length))
        exif += head[1] == 0xE1 and start == b"Exif\0\0"
        file.seek(length - len(start), 1)
    return False


__all__ = [
    "MAX_PIXELS",
    "MIN_SIDE",
    "DecodedImage",
    "ImageHeader",
    "check_rgb",
    "check_stack",
    "decode_image",
    "decode_stranger",
    "encode_png",
    "pixel_hash",
    "read_header",
    "read_image",
    "require_auditable",
]

STRANGER = Limits(memory_mb=500, seconds=10)  # what the decoding of a picture that came over the network may take

OPERATOR = Limits(memory_mb=1500, seconds=60)
"""What the decoding of a file of the operator may take: the largest picture that is read, in its most costly format."""


def check_stack(frames: np.ndarray, *, what: str = "a video") -> None:
    """Raise InvalidInput unless an array is a stack of frames, uint8 RGB [T, H, W, 3], each side at least 1."""
    if frames.dtype != np.uint8 or frames.ndim != 4 or frames.shape[3] != 3 or 0 in frames.shape:
        raise InvalidInput(f"{what} must be uint8 RGB of shape [T, H, W, 3], got {frames.dtype} {frames.shape}")


def check_rgb(pixels: np.ndarray, *, what: str = "an image") -> None:
    """Raise InvalidInput unless an array is uint8 RGB [H, W, 3], at least 1 × 1."""
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3 or 0 in pixels.shape:
        raise InvalidInput(f"{what} must be uint8 RGB of shape [H, W, 3], got {pixels.dtype} {pixels.shape}")


def decode_stranger(
    data: bytes, *, name: str, max_side: int | None = None, max_pixels: int = MAX_PIXELS, limits: Limits = STRANGER
) -> DecodedImage:
    """Like :func:`decode_image`, to the bit, in a process that may take so much memory and time and no more.
    Raises BadImage also where a limit is reached."""
    check_bytes(len(data), name=name)
    return decode_apart(data, name=name, max_side=max_side, max_pixels=max_pixels, limits=limits)


def read_image(path: Path, *, max_side: int | None = None, max_pixels: int = MAX_PIXELS) -> DecodedImage:
    """Read and decode an image file; see :func:`decode_image`. What its size and header do not bound is decoded within
    the limits of OPERATOR. Raises BadImage also if the file is missing or cannot be read."""
    path = Path(path)
    data, name = _bytes(path), str(path)
    opened = open_bounded(BytesIO(data), len(data), name=name, max_pixels=max_pixels)
    if opened is not None:
        image = opened[1]
        few_scans = image.format != "JPEG" or data.count(_START_OF_SCAN) <= MOST_SCANS
        if few_scans and image.width * image.height <= MOST_PIXELS:
            return decode_opened(*opened, data, name=name, max_side=max_side)
    return decode_apart(data, name=name, max_side=max_side, max_pixels=max_pixels, limits=OPERATOR)


def read_header(path: Path) -> ImageHeader:
    """Read format and size of an image file without decoding it.
    Raises BadImage if the file is missing, empty, not an image, or over the caps."""
    path = Path(path)
    try:
        size = _size(path)
        with path.open("rb") as file:
            opened = open_bounded(file, size, name=str(path))
            if opened is not None:
                return stated_header(*opened)
    except OSError as error:
        raise cannot_read(path, error) from error
    return header_apart(_bytes(path), name=str(path), limits=OPERATOR)


def _bytes(path: Path) -> bytes:
    try:
        _size(path)
        return path.read_bytes()
    except OSError as error:
        raise cannot_read(path, error) from error


def _size(path: Path) -> int:
    """Bytes of a file that may be read; a pipe or a device would be waited for."""
    found = path.stat()
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        raise BadImage(f"{path}: a pipe, socket or device is no picture; put the file itself there")
    check_bytes(found.st_size, name=str(path))
    return found.st_size


def encode_png(pixels: np.ndarray) -> bytes:
    """Encode uint8 RGB [H, W, 3] as PNG; decoding gives the same array back.
    Raises InvalidInput if the array is empty or has another shape or type."""
    check_rgb(pixels, what="pixels")
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG", compress_level=3)
    return buffer.getvalue()
