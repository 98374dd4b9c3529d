"""Pictures that no camera makes, by code: a few kilobytes that ask for minutes or gigabytes."""

import struct
import zlib
from io import BytesIO

import numpy as np
from PIL import Image


def png(
    width: int, height: int, *, kind: int = 2, bits: int = 8, chunks: tuple[tuple[bytes, bytes], ...] = ()
) -> bytes:
    """A PNG of one colour; ``kind`` 0 grey, 2 RGB, 4 grey and alpha, 6 RGBA; more chunks stand before the pixels."""
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[kind]
    row = b"\0" + bytes(range(1, 1 + channels * bits // 8)) * width
    packing = zlib.compressobj(1)
    body = b"".join(packing.compress(row) for _ in range(height)) + packing.flush()
    header = struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, 0)
    parts = ((b"IHDR", header), *chunks, (b"IDAT", body), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts
    )


def exif(entries: int, each: int) -> bytes:
    """EXIF data whose tags all point at the same bytes: few on disk, entries times each in memory."""
    start = 8 + 2 + 12 * entries + 4
    tags = b"".join(struct.pack("<HHII", 0x200 + number, 7, each, start) for number in range(entries))
    return b"II*\0" + struct.pack("<IH", 8, entries) + tags + bytes(4) + bytes(each)


def tiff(entries: int, each: int) -> bytes:
    """A TIFF of nothing but such tags."""
    return exif(entries, each)


def jpeg(width: int = 64, height: int = 48, **options: object) -> bytes:
    """A plain JPEG."""
    pixels = np.random.default_rng(0).integers(0, 255, (height, width, 3), dtype=np.uint8)
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", **options)
    return buffer.getvalue()


def in_segments(total: int, each: int) -> bytes:
    """A JPEG whose EXIF data comes in many segments, which a decoder joins one by one."""
    data = jpeg()
    segment = b"\xff\xe1" + struct.pack(">H", each + 8) + b"Exif\0\0" + bytes(each)
    return data[:2] + segment * (total // each) + data[2:]


def in_scans(count: int, side: int) -> bytes:
    """A progressive JPEG whose last scan comes again and again; each goes over every pixel."""
    data = jpeg(side, side, progressive=True, quality=1)
    last = data.rindex(b"\xff\xda")
    return data[:last] + data[last:-2] * count + data[-2:]
