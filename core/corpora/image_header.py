"""What an image file says about itself, read before a single pixel is decoded."""

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO

from PIL import (
    BmpImagePlugin,
    GifImagePlugin,
    Image,
    ImageFile,
    JpegImagePlugin,
    PngImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)

from core.errors import BadImage

MAX_PIXELS = 50_000_000
"""Largest image that is decoded, in pixels: 150 MB as RGB. Pillow's own limits come later (89 and 179 Mpx)."""

MAX_BYTES = 100_000_000
"""Largest file that is read, in bytes."""

MIN_SIDE = 8
"""Shortest side in pixels that can be audited: below it a probe has nothing to move."""

Opener = Callable[[IO[bytes]], ImageFile.ImageFile]

# The plugins are called by name, not through Image.open: only these six decoders ever see a stranger's
# bytes, and the size is checked against our cap before Pillow's own check warns.
_OPENERS: dict[str, Opener] = {
    "JPEG": JpegImagePlugin.JpegImageFile,
    "PNG": PngImagePlugin.PngImageFile,
    "WebP": WebPImagePlugin.WebPImageFile,
    "GIF": GifImagePlugin.GifImageFile,
    "TIFF": TiffImagePlugin.TiffImageFile,
    "BMP": BmpImagePlugin.BmpImageFile,
}

SUFFIXES = {
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".jpe": "JPEG",
    ".jfif": "JPEG",
    ".png": "PNG",
    ".webp": "WebP",
    ".gif": "GIF",
    ".tif": "TIFF",
    ".tiff": "TIFF",
    ".bmp": "BMP",
}
"""File name endings of the formats that are read, in lower case."""

_SIGNATURES = (
    (b"\xff\xd8\xff", "JPEG"),
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"BM", "BMP"),
    (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"),
    (b"II+\0", "TIFF"),
    (b"MM\0+", "TIFF"),
)

_ORIENTATION_TAG = 0x0112
_TURNED = (5, 6, 7, 8)


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """Format and size of an image as it will be seen, after its EXIF orientation, which is 1 to 8 (1: upright)."""

    format: str
    width: int
    height: int
    orientation: int = 1

    @property
    def lies(self) -> bool:
        """Whether the picture is stored lying on its side, so that its stored width is its height."""
        return self.orientation in _TURNED


def sniff(start: bytes) -> str | None:
    """Return the format whose signature the first bytes carry, whatever the file is called."""
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "WebP"
    return next((name for signature, name in _SIGNATURES if start.startswith(signature)), None)


def stated_header(kind: str, image: ImageFile.ImageFile) -> ImageHeader:
    """Return what an opened image states of itself, upright."""
    width, height = image.size
    turn = orientation(image) or 1
    return ImageHeader(kind, *((height, width) if turn in _TURNED else (width, height)), turn)


def open_image(file: IO[bytes], *, name: str, max_pixels: int = MAX_PIXELS) -> tuple[str, ImageFile.ImageFile]:
    """Return (format, lazily opened image) once its size is known to be under the cap.

    Raises:
        BadImage: if the bytes are no image that is read, the header is broken, or the image is too large.
    """
    start = file.read(32)
    kind = sniff(start)
    if kind is None:
        raise BadImage(_unknown(name, start))
    file.seek(0)
    try:
        image = _OPENERS[kind](file)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise BadImage(_too_large(name, "more than 89 million", max_pixels)) from error
    except Exception as error:  # a plugin raises nearly anything on a broken header
        raise BadImage(f"{name}: its {kind} header is broken ({_reason(error)}); copy or export it again") from error
    width, height = image.size
    if width * height > max_pixels:
        raise BadImage(_too_large(name, f"{width} × {height} =", max_pixels, pixels=width * height))
    return kind, image


def open_bytes(data: bytes, *, name: str, max_pixels: int = MAX_PIXELS) -> tuple[str, ImageFile.ImageFile]:
    """Like :func:`open_image`, for bytes in memory; checks their number too."""
    check_bytes(len(data), name=name)
    return open_image(BytesIO(data), name=name, max_pixels=max_pixels)


def orientation(image: Image.Image) -> int | None:
    """Return the EXIF orientation, 1 (upright) where there is none, or None where the EXIF data is broken."""
    if isinstance(image, TiffImagePlugin.TiffImageFile):
        return 1  # Pillow turns a TIFF itself, its stated size included
    try:
        # PngImageFile.getexif would decode the pixels to look for a late EXIF chunk; the base method does not.
        value = Image.Image.getexif(image).get(_ORIENTATION_TAG, 1)
    except MemoryError:
        raise
    except Exception:  # EXIF is a stranger's binary format inside a stranger's file
        return None
    return value if value in range(1, 9) else 1


def require_auditable(width: int, height: int, *, name: str) -> None:
    """Refuse an image too small for any probe.

    Raises:
        BadImage: if a side is under MIN_SIDE.
    """
    if min(width, height) < MIN_SIDE:
        raise BadImage(
            f"{name}: {width} × {height} px is too small to audit; give an image of at least {MIN_SIDE} px a side"
        )


def check_bytes(count: int, *, name: str) -> None:
    """Raise BadImage for an empty or an oversized file."""
    if count == 0:
        raise BadImage(f"{name}: the file is empty (0 bytes); copy or download it again")
    if count > MAX_BYTES:
        raise BadImage(
            f"{name}: {count / 1e6:.0f} MB is over the limit of {MAX_BYTES / 1e6:.0f} MB; save it smaller, e.g. as JPEG"
        )


def cannot_read(path: Path, error: OSError) -> BadImage:
    """Return the error for a file that the operating system does not hand over."""
    if isinstance(error, FileNotFoundError):
        return BadImage(f"{path}: there is no such file any more or yet; restore it or correct the path")
    return BadImage(f"{path}: the file cannot be read ({error.strerror or error}); check its permissions and the disk")


def _unknown(name: str, start: bytes) -> str:
    if start[4:8] == b"ftyp":
        return f"{name}: HEIC, AVIF and video files are not read; export it as JPEG or PNG"
    return f"{name}: not a JPEG, PNG, WebP, GIF, TIFF or BMP image (it begins with {start[:8]!r}); convert it to one"


def _too_large(name: str, size: str, max_pixels: int, *, pixels: int | None = None) -> str:
    count = size if pixels is None else f"{size} {pixels / 1e6:.0f} million"
    return f"{name}: {count} pixels are over the limit of {max_pixels / 1e6:.0f} million; scale the image down first"


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
