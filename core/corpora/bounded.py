"""Whether a picture can be read here and now: what its size, format and metadata allow its decoding to take.

Pillow joins metadata piece by piece, and a decoder goes over all pixels as often as a file says, so that a few
megabytes can take minutes. What is not plainly harmless is decoded apart (:mod:`core.corpora.apart`).
"""

from typing import IO

from PIL import ImageFile

from core.corpora.image_header import MAX_PIXELS, open_image, sniff

MOST_BYTES = 4_000_000
"""Largest file, in bytes, that is read here."""

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

    Args:
        file: at its beginning.
        size: of the file, in bytes.
        name: what messages call the image.
        max_pixels: images above it are refused.

    Raises:
        BadImage: as :func:`core.corpora.image_header.open_image`.
    """
    kind = sniff(file.read(32))
    if kind is not None and (kind not in _FORMATS or size > MOST_BYTES):
        return None
    if kind == "JPEG" and not _plain_segments(file):
        return None
    file.seek(0)
    kind, image = open_image(file, name=name, max_pixels=max_pixels)
    exif = max(len(image.info.get("exif", b"")), len(image.info.get("Raw profile type exif", "")) // 2)
    return None if exif > _MOST_EXIF else (kind, image)


def decodes_here(image: ImageFile.ImageFile, data: bytes) -> bool:
    """Whether the decoding of an image that :func:`open_bounded` returned is bounded, too."""
    return image.width * image.height <= MOST_PIXELS and (
        image.format != "JPEG" or data.count(_START_OF_SCAN) <= MOST_SCANS
    )


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
