"""What an image file says about itself, read before a single pixel is decoded.

Pixels out of bytes, in this process: every picture becomes uint8 RGB [H, W, 3], or one clear sentence.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePath
from typing import IO

import numpy as np
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

from core.errors import BadImage, InvalidInput

MAX_PIXELS = 50_000_000
"""Largest image that is decoded, in pixels: 150 MB as RGB. Pillow's own limits come later (89 and 179 Mpx)."""

MAX_BYTES = 100_000_000  # largest file that is read, in bytes
MIN_SIDE = 8  # shortest side in pixels that can be audited: below it a probe has nothing to move

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
    **dict.fromkeys((".jpg", ".jpeg", ".jpe", ".jfif"), "JPEG"),
    ".png": "PNG",
    ".webp": "WebP",
    ".gif": "GIF",
    **dict.fromkeys((".tif", ".tiff"), "TIFF"),
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
    Raises BadImage if the bytes are no image that is read, the header is broken, or the image is too large."""
    start = file.read(32)
    kind = sniff(start)
    if kind is None:
        if start[4:8] == b"ftyp":
            raise BadImage(f"{name}: HEIC, AVIF and video files are not read; export it as JPEG or PNG")
        first = start[:8]
        plain = first.isascii() and first.decode("ascii").isprintable()
        begins = f"it begins with {'“' + first.decode('ascii') + '”' if plain else first.hex(' ')}"
        raise BadImage(f"{name}: not a JPEG, PNG, WebP, GIF, TIFF or BMP image ({begins}); convert it to one")
    file.seek(0)
    try:
        image = _OPENERS[kind](file)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise BadImage(_too_large(name, "more than 89 million", max_pixels)) from error
    except Exception as error:  # a plugin raises nearly anything on a broken header
        why = str(error) or type(error).__name__
        raise BadImage(f"{name}: its {kind} header is broken ({why}); copy or export it again") from error
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
    """Refuse an image too small for any probe. Raises BadImage if a side is under MIN_SIDE."""
    if min(width, height) < MIN_SIDE:
        told = f"{name}: {width} × {height} px is too small to audit; give an image of at least {MIN_SIDE} px a side"
        raise BadImage(told)


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


def _too_large(name: str, size: str, max_pixels: int, *, pixels: int | None = None) -> str:
    count = size if pixels is None else f"{size} {pixels / 1e6:.0f} million"
    return f"{name}: {count} pixels are over the limit of {max_pixels / 1e6:.0f} million; scale the image down first"


_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""What undoes each EXIF orientation. Source: EXIF 2.32, tag 0x0112."""

_STRIP = 1 << 20  # pixels that are converted at a time where a conversion needs several copies of them


@dataclass(frozen=True, slots=True, eq=False)
class DecodedImage:
    """A decoded image, or the frames of a video, and what had to be done to it."""

    pixels: np.ndarray  # uint8 RGB, shape [H, W, 3], of a video [T, H, W, 3], contiguous
    bytes_sha256: str  # hash of the file as it came
    pixels_sha256: str  # :func:`pixel_hash` of ``pixels`` (after any downsizing)
    format: str  # JPEG, PNG, WebP, GIF, TIFF or BMP, by content; ``video`` of frames
    notes: tuple[str, ...] = ()  # sentences for the reader, e.g. that only the first frame is used.

    @property
    def width(self) -> int:
        """Width in pixels."""
        return int(self.pixels.shape[-2])

    @property
    def height(self) -> int:
        """Height in pixels."""
        return int(self.pixels.shape[-3])


def decode_image(data: bytes, *, name: str, max_side: int | None = None, max_pixels: int = MAX_PIXELS) -> DecodedImage:
    """Decode a file's bytes to upright RGB, in this process and without a limit on memory or time.

    Bytes of a stranger go through :func:`core.corpora.images.decode_stranger` instead.

    Size and format are read before anything is decoded. The format is found by content; EXIF orientation
    is applied; alpha is shown on white; 16-bit values are scaled, not clipped; of an animation the first
    frame is used.
    ``max_side``: longest side in pixels of the result; a larger image is scaled down (and noted).
    Raises BadImage, in one sentence, which file, what is wrong and what to do."""
    return decode_opened(*open_bytes(data, name=name, max_pixels=max_pixels), data, name=name, max_side=max_side)


def decode_opened(
    kind: str, image: ImageFile.ImageFile, data: bytes, *, name: str, max_side: int | None = None
) -> DecodedImage:
    """Decode an image that was opened from ``data`` and whose header was found good; see :func:`decode_image`."""
    if max_side is not None and max_side < 1:
        raise InvalidInput(f"max_side must be at least 1 px, got {max_side}")
    suffix = PurePath(name).suffix.lower()
    other = SUFFIXES.get(suffix, kind) != kind
    notes = [f"named {suffix} but holds {kind}; read as {kind}"] if other else []
    try:
        pixels = _pixels(image, max_side=max_side, notes=notes, name=name)
    except BadImage:
        raise
    except MemoryError as error:
        raise no_memory(name, *image.size) from error
    except Exception as error:  # a decoder raises nearly anything on broken data
        reason = str(error) or type(error).__name__
        raise BadImage(f"{name}: the {kind} data is broken or cut off ({reason}); copy or export it again") from error
    return DecodedImage(pixels, hashlib.sha256(data).hexdigest(), pixel_hash(pixels), kind, tuple(notes))


def pixel_hash(pixels: np.ndarray) -> str:
    """Return the sha256, in hex, of an array's shape and bytes: equal images are equal hashes."""
    digest = hashlib.sha256("x".join(str(side) for side in pixels.shape).encode() + b":")
    digest.update(np.ascontiguousarray(pixels).data)
    return digest.hexdigest()


def no_memory(name: str, width: int, height: int) -> BadImage:
    """Return the error for a picture that does not fit into the memory that decoding may take."""
    return BadImage(
        f"{name}: not enough memory to decode {width} × {height} px; scale it down, or save it as JPEG or 8-bit PNG"
    )


def _pixels(image: ImageFile.ImageFile, *, max_side: int | None, notes: list[str], name: str) -> np.ndarray:
    width, height = image.size
    target = fitted_size(width, height, max_side)
    turn = orientation(image)
    if turn is None:
        notes.append("its EXIF data is broken, so its orientation is unknown; shown as stored")
    if getattr(image, "is_animated", False):
        notes.append("it has several frames or pages; the first is used")
        image.seek(0)
    if target != (width, height):
        image.draft(None, target)  # a JPEG then skips the detail that would be thrown away; others ignore it
        notes.append(f"scaled from {width} × {height} to fit {max_side} px")
    picture = _to_rgb(image, notes=notes, name=name)
    if picture.size != target:
        picture = picture.resize(target, Image.Resampling.LANCZOS, reducing_gap=3.0)
    if turn in _UPRIGHT:
        picture = picture.transpose(_UPRIGHT[turn])
    return np.array(picture)


def fitted_size(width: int, height: int, max_side: int | None) -> tuple[int, int]:
    """Width and height, in pixels, of a picture that is scaled down to fit a longest side; None leaves it as it is."""
    if max_side is None or max(width, height) <= max_side:
        return width, height
    scale = max_side / max(width, height)
    return max(round(width * scale), 1), max(round(height * scale), 1)


def _to_rgb(image: Image.Image, *, notes: list[str], name: str) -> Image.Image:
    if image.mode == "F" or image.mode.startswith("I"):
        return _deep_to_rgb(image, notes=notes, name=name)
    if not image.has_transparency_data:
        return image.convert("RGB")
    page, clear = Image.new("RGB", image.size, "white"), False
    for box, strip in _strips(image):
        seen = strip.convert("RGBA")
        alpha = seen.getchannel("A")
        clear = clear or alpha.getextrema()[0] != 255
        page.paste(seen, box, mask=alpha)
    if clear:
        notes.append("its transparent parts are shown on white")
    return page


def _deep_to_rgb(image: Image.Image, *, notes: list[str], name: str) -> Image.Image:
    """Scale one deep grey channel to 8 bits: 16-bit integers, or floats in [0, 1]."""
    bands = (np.asarray(strip) for _, strip in _strips(image))
    ends = np.array([(values.min(), values.max()) for values in bands], dtype=np.float64)
    low, high = float(ends.min()), float(ends.max())
    top = 1.0 if image.mode == "F" else 65535
    if not (low >= 0 and high <= top):  # and so a NaN is refused
        told = f"pixel values from {low:g} to {high:g} have no agreed brightness"
        raise BadImage(f"{name}: {told}; save it with 8 or 16 bits a channel")
    notes.append("more than 8 bits a channel, scaled to 8")
    page = Image.new("RGB", image.size)
    for box, strip in _strips(image):
        grey = np.rint(np.asarray(strip).astype(np.float32) * np.float32(255 / top)).astype(np.uint8)
        page.paste(Image.fromarray(grey).convert("RGB"), box)
    return page


def _strips(image: Image.Image) -> Iterator[tuple[tuple[int, int, int, int], Image.Image]]:
    """Yield bands of a picture from top to bottom, each with its place: what a pixel becomes depends on it alone."""
    rows = max(1, _STRIP // image.width)
    for top in range(0, image.height, rows):
        box = (0, top, image.width, min(top + rows, image.height))
        yield box, image.crop(box)
