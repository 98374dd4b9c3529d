"""Pictures that no camera makes, a name each: cut, altered byte by byte, with headers that lie, floods and bombs."""

import random
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO

import numpy as np
from PIL import Image

from siege import bombs

Made = Callable[[], bytes]
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP")
MODES = {
    "1": "PNG",
    "L": "PNG",
    "LA": "PNG",
    "P": "PNG",
    "RGBA": "PNG",
    "I;16": "PNG",
    "CMYK": "JPEG",
    "YCbCr": "JPEG",
    "I": "TIFF",
    "F": "TIFF",
    "LAB": "TIFF",
    "I;16B": "TIFF",
    "RGBX": "TIFF",
    "CMYK ": "TIFF",
}
FUZZED = 14
"""Files of each format with bytes altered anywhere, and as many with bytes altered in their first hundred."""

CUT = (1, 2, 8, 16, 40, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
"""Where files are cut: after so many bytes, or this share of them."""


def hostile(seed: int, *, quick: bool = False) -> Iterator[tuple[str, Made]]:
    """Every hostile picture, by name.

    Args:
        seed: of the bytes that are altered.
        quick: a tenth of them, without those that take long.
    """
    every = [*_cut(), *_fuzzed(seed), *_lying(), *_modes(), *_no_pictures(), *_floods()]
    yield from every[:: 10 if quick else 1]
    if not quick:
        yield from _bombs()


def plain(kind: str, side: int = 64) -> bytes:
    """A whole picture of one format, seeded noise."""
    pixels = np.random.default_rng(5).integers(0, 255, (side, side + 9, 3), dtype=np.uint8)
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, kind)
    return buffer.getvalue()


def _cut() -> Iterator[tuple[str, Made]]:
    for kind in FORMATS:
        data = plain(kind)
        for at in CUT:
            end = int(at if isinstance(at, int) else at * len(data))
            yield f"{kind} cut after {end} of {len(data)} bytes", partial(_first, data, end)


def _first(data: bytes, end: int) -> bytes:
    return data[:end]


def _fuzzed(seed: int) -> Iterator[tuple[str, Made]]:
    for kind in FORMATS:
        for number in range(2 * FUZZED):
            where = 100 if number % 2 else None
            rng = random.Random(f"{seed}/{kind}/{number}")
            yield f"{kind} altered {number}", partial(_altered, plain(kind), rng, where)


def _altered(data: bytes, rng: random.Random, where: int | None) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 2, 5, 20))):
        changed[rng.randrange(min(where or len(data), len(data)))] = rng.randrange(256)
    return bytes(changed)


def _lying() -> Iterator[tuple[str, Made]]:
    for wide, high in ((0, 0), (1, 1), (0, 64), (7000, 7000), (65_535, 65_535), (2**31 - 1, 1), (2**31 - 1, 2**31 - 1)):
        yield f"PNG that says {wide} × {high}", partial(_png_saying, wide, high)
        if wide <= 65_535:
            yield f"GIF that says {wide} × {high}", partial(_saying, "GIF", 6, "<HH", wide, high)
        yield f"BMP that says {wide} × {high}", partial(_saying, "BMP", 18, "<ii", wide, high)
    yield "BMP that stands on its head", lambda: _saying("BMP", 18, "<ii", 73, -64)
    yield "BMP of negative width", lambda: _saying("BMP", 18, "<ii", -73, 64)
    for offset in (0, 7, 2**32 - 1):
        yield f"TIFF whose directory lies at {offset}", partial(_saying, "TIFF", 4, "<I", offset)


def _saying(kind: str, at: int, shape: str, *values: int) -> bytes:
    data = bytearray(plain(kind))
    struct.pack_into(shape, data, at, *values)
    return bytes(data)


def _png_saying(wide: int, high: int) -> bytes:
    data = bytearray(plain("PNG"))
    struct.pack_into(">II", data, 16, wide, high)
    struct.pack_into(">I", data, 29, zlib.crc32(bytes(data[12:29])))
    return bytes(data)


def _modes() -> Iterator[tuple[str, Made]]:
    for mode, kind in MODES.items():
        yield f"{kind} of mode {mode.strip()}", partial(_in_mode, mode.strip(), kind)
    for kind, frames in (("GIF", 500), ("PNG", 200), ("WEBP", 100), ("TIFF", 200)):
        yield f"{kind} of {frames} frames", partial(_animated, kind, frames)


def _in_mode(mode: str, kind: str) -> bytes:
    grey = np.random.default_rng(1).integers(0, 255, (40, 50), dtype=np.uint8)
    plain_image = Image.fromarray(grey)
    if mode.startswith("I;16"):
        image = Image.fromarray(grey.astype(np.uint16) * 257)
    elif mode == "LAB":
        image = Image.merge("LAB", [plain_image] * 3)
    else:
        image = plain_image.convert("RGB").convert(mode)
    buffer = BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()


def _animated(kind: str, frames: int) -> bytes:
    made = [Image.new("RGB", (32, 32), (number % 256, 0, 0)) for number in range(frames)]
    buffer = BytesIO()
    made[0].save(buffer, kind, save_all=True, append_images=made[1:])
    return buffer.getvalue()


def _no_pictures() -> Iterator[tuple[str, Made]]:
    others = {
        "nothing": b"",
        "one byte": b"\xff",
        "zeros": bytes(4096),
        "text": b"this is no picture\n" * 50,
        "HTML": b"<html><script>alert(1)</script>",
        "SVG": b'<svg xmlns="http://www.w3.org/2000/svg"/>',
        "SVG with an entity": b'<!DOCTYPE s [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg>&x;</svg>',
        "PDF": b"%PDF-1.7\n%\xe2\xe3\n",
        "PostScript": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(x) show\n",
        "ELF": b"\x7fELF" + bytes(60),
        "gzip": b"\x1f\x8b\x08" + bytes(40),
        "pickle": b"\x80\x04cos\nsystem\n.",
        "ICO": b"\0\0\1\0\1\0" + bytes(40),
        "PSD": b"8BPS\0\1" + bytes(40),
        "TAR": bytes(257) + b"ustar\0" + bytes(300),
        "MP4": b"\0\0\0\x18ftypisom" + bytes(40),
        "XPM": b'/* XPM */ static char *x[]={"9 9 1 1"};',
        "FLI": b"\0\0\0\0\x12\xaf" + bytes(200),
        "PCX": b"\x0a\5\1\x08" + bytes(200),
        "PPM": b"P6 99999 99999 255\n",
        "JPEG 2000": b"\0\0\0\x0cjP  \r\n\x87\n" + bytes(60),
        "SGI": b"\x01\xda\x00\x01" + bytes(600),
        "PNG of its signature alone": b"\x89PNG\r\n\x1a\n",
        "GIF in JPEG's clothes": b"\xff\xd8\xff" + plain("GIF"),
    }
    for name, data in others.items():
        yield name, partial(bytes, data)
    yield "picture with an archive behind it", _with_archive


def _with_archive() -> bytes:
    buffer = BytesIO(plain("JPEG"))
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(10_000_000))
    return buffer.getvalue()


def _floods() -> Iterator[tuple[str, Made]]:
    for entries, each in ((10, 1000), (5000, 10), (2000, 20_000), (65_000, 64)):
        yield f"TIFF of {entries} tags over {each} bytes", partial(bombs.tiff, entries, each)
        yield f"WebP with EXIF of {entries} tags", partial(_webp_with, entries, each)
        yield f"PNG with EXIF of {entries} tags", partial(_png_with, entries, each)
    text = b"Comment\0\0" + zlib.compress(bytes(30_000_000))
    yield "PNG whose text unpacks to 30 MB", lambda: bombs.png(40, 30, chunks=((b"zTXt", text),))
    yield "PNG whose profile unpacks to 30 MB", lambda: bombs.png(40, 30, chunks=((b"iCCP", b"x\0\0" + text[9:]),))
    yield "PNG of 20 000 chunks", lambda: bombs.png(40, 30, chunks=((b"tEXt", b"a\0b"),) * 20_000)


def _png_with(entries: int, each: int) -> bytes:
    return bombs.png(40, 30, chunks=((b"eXIf", bombs.exif(entries, each)),))


def _webp_with(entries: int, each: int) -> bytes:
    buffer = BytesIO()
    Image.new("RGB", (40, 30)).save(buffer, "WEBP", exif=bombs.exif(entries, each))
    return buffer.getvalue()


def _bombs() -> Iterator[tuple[str, Made]]:
    for kind, name in ((0, "grey"), (2, "RGB"), (4, "grey and alpha"), (6, "RGBA")):
        for bits in (8, 16):
            yield f"PNG 7000² {name} {bits} bits", partial(bombs.png, 7000, 7000, kind=kind, bits=bits)
    yield "PNG of 30 000 × 30 000", lambda: bombs.png(30_000, 30_000, kind=0)
    yield "JPEG of 300 scans at 2000²", lambda: bombs.in_scans(300, 2000)
    yield "JPEG of 3 000 scans at 1000²", lambda: bombs.in_scans(3000, 1000)
    yield "JPEG with 26 MB of EXIF", lambda: bombs.in_segments(26_000_000, 60_000)
    yield "JPEG with EXIF in 100 000 segments", lambda: bombs.in_segments(1_000_000, 10)
    for name in ("WEBP", "GIF", "BMP", "TIFF"):
        yield f"{name} of 7000²", partial(_empty, name, "L" if name == "GIF" else "RGB")
    yield "TIFF of 7000² floats", lambda: _empty("TIFF", "F", compression="tiff_lzw")
    yield "TIFF of 6900² CMYK", lambda: _empty("TIFF", "CMYK", compression="tiff_lzw")


def _empty(kind: str, mode: str, **options: str) -> bytes:
    buffer = BytesIO()
    Image.new(mode, (7000, 7000)).save(buffer, kind, **options)
    return buffer.getvalue()
