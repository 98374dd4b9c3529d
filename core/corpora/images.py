"""Pixels out of files, safely: every image becomes uint8 RGB [H, W, 3], or one clear sentence."""

import hashlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePath

import numpy as np
from PIL import Image, ImageFile

from core.corpora.image_header import (
    MAX_PIXELS,
    MIN_SIDE,
    SUFFIXES,
    cannot_read,
    check_bytes,
    open_bytes,
    orientation,
    require_auditable,
)
from core.errors import BadImage, InvalidInput

__all__ = [
    "MAX_PIXELS", "MIN_SIDE", "DecodedImage", "check_rgb", "check_stack", "decode_image", "encode_png", "pixel_hash",
    "read_image", "require_auditable",
]  # fmt: skip

_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_270, 7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}  # fmt: skip
"""What undoes each EXIF orientation. Source: EXIF 2.32, tag 0x0112."""


def check_stack(frames: np.ndarray, *, what: str = "a video") -> None:
    """Raise InvalidInput unless an array is a stack of frames, uint8 RGB [T, H, W, 3], each side at least 1.

    Args:
        frames: the array.
        what: begins the sentence of the error.
    """
    if frames.dtype != np.uint8 or frames.ndim != 4 or frames.shape[3] != 3 or 0 in frames.shape:
        raise InvalidInput(f"{what} must be uint8 RGB of shape [T, H, W, 3], got {frames.dtype} {frames.shape}")


def check_rgb(pixels: np.ndarray, *, what: str = "an image") -> None:
    """Raise InvalidInput unless an array is uint8 RGB [H, W, 3], at least 1 × 1.

    Args:
        pixels: the array.
        what: begins the sentence of the error.
    """
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3 or 0 in pixels.shape:
        raise InvalidInput(f"{what} must be uint8 RGB of shape [H, W, 3], got {pixels.dtype} {pixels.shape}")


@dataclass(frozen=True, slots=True, eq=False)
class DecodedImage:
    """A decoded image, or the frames of a video, and what had to be done to it.

    Args:
        pixels: uint8 RGB, shape [H, W, 3], of a video [T, H, W, 3], contiguous.
        bytes_sha256: hash of the file as it came.
        pixels_sha256: :func:`pixel_hash` of ``pixels`` (after any downsizing).
        format: JPEG, PNG, WebP, GIF, TIFF or BMP, by content; ``video`` of frames.
        notes: sentences for the reader, e.g. that only the first frame is used.
    """

    pixels: np.ndarray
    bytes_sha256: str
    pixels_sha256: str
    format: str
    notes: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """Width in pixels."""
        return int(self.pixels.shape[-2])

    @property
    def height(self) -> int:
        """Height in pixels."""
        return int(self.pixels.shape[-3])


def decode_image(data: bytes, *, name: str, max_side: int | None = None, max_pixels: int = MAX_PIXELS) -> DecodedImage:
    """Decode a file's bytes to upright RGB.

    Size and format are read before anything is decoded. The format is found by content; EXIF orientation
    is applied; alpha is shown on white; 16-bit values are scaled, not clipped; of an animation the first
    frame is used.

    Args:
        name: what messages call the image, usually its file name.
        max_side: longest side in pixels of the result; a larger image is scaled down (and noted).
        max_pixels: images above it are refused.

    Raises:
        BadImage: in one sentence, which file, what is wrong and what to do.
    """
    if max_side is not None and max_side < 1:
        raise InvalidInput(f"max_side must be at least 1 px, got {max_side}")
    kind, image = open_bytes(data, name=name, max_pixels=max_pixels)
    notes = _name_note(name, kind)
    try:
        pixels = _pixels(image, max_side=max_side, notes=notes, name=name)
    except BadImage:
        raise
    except MemoryError as error:
        raise BadImage(
            f"{name}: not enough memory to decode {image.width} × {image.height} px; scale it down"
        ) from error
    except Exception as error:  # a decoder raises nearly anything on broken data
        reason = str(error) or type(error).__name__
        raise BadImage(f"{name}: the {kind} data is broken or cut off ({reason}); copy or export it again") from error
    return DecodedImage(pixels, hashlib.sha256(data).hexdigest(), pixel_hash(pixels), kind, tuple(notes))


def read_image(path: Path, *, max_side: int | None = None, max_pixels: int = MAX_PIXELS) -> DecodedImage:
    """Read and decode an image file; see :func:`decode_image`.

    Raises:
        BadImage: also if the file is missing or cannot be read.
    """
    path = Path(path)
    try:
        check_bytes(path.stat().st_size, name=str(path))
        data = path.read_bytes()
    except OSError as error:
        raise cannot_read(path, error) from error
    return decode_image(data, name=str(path), max_side=max_side, max_pixels=max_pixels)


def pixel_hash(pixels: np.ndarray) -> str:
    """Return the sha256, in hex, of an array's shape and bytes: equal images are equal hashes."""
    digest = hashlib.sha256("x".join(str(side) for side in pixels.shape).encode() + b":")
    digest.update(np.ascontiguousarray(pixels).data)
    return digest.hexdigest()


def encode_png(pixels: np.ndarray) -> bytes:
    """Encode uint8 RGB [H, W, 3] as PNG; decoding gives the same array back.

    Raises:
        InvalidInput: if the array has another shape or type.
    """
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3:
        raise InvalidInput(f"pixels must be uint8 of shape [H, W, 3], got {pixels.dtype} {pixels.shape}")
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG", compress_level=3)
    return buffer.getvalue()


def _pixels(image: ImageFile.ImageFile, *, max_side: int | None, notes: list[str], name: str) -> np.ndarray:
    width, height = image.size
    target = _target(width, height, max_side)
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


def _target(width: int, height: int, max_side: int | None) -> tuple[int, int]:
    if max_side is None or max(width, height) <= max_side:
        return width, height
    scale = max_side / max(width, height)
    return max(round(width * scale), 1), max(round(height * scale), 1)


def _to_rgb(image: Image.Image, *, notes: list[str], name: str) -> Image.Image:
    if image.mode == "F" or image.mode.startswith("I"):
        return _deep_to_rgb(np.asarray(image), notes=notes, name=name)
    if not image.has_transparency_data:
        return image.convert("RGB")
    seen = image.convert("RGBA")
    alpha = seen.getchannel("A")
    if alpha.getextrema()[0] == 255:
        return seen.convert("RGB")
    notes.append("its transparent parts are shown on white")
    page = Image.new("RGB", seen.size, "white")
    page.paste(seen, mask=alpha)
    return page


def _deep_to_rgb(values: np.ndarray, *, notes: list[str], name: str) -> Image.Image:
    """Scale one deep grey channel to 8 bits: 16-bit integers, or floats in [0, 1]."""
    top = 1.0 if values.dtype.kind == "f" else 65535
    low, high = float(values.min()), float(values.max())
    if not (low >= 0 and high <= top):
        raise BadImage(f"{name}: pixel values from {low:g} to {high:g} have no agreed brightness; "
                       "save it with 8 or 16 bits a channel")  # fmt: skip
    notes.append("more than 8 bits a channel, scaled to 8")
    grey = np.rint(values.astype(np.float32) * np.float32(255 / top)).astype(np.uint8)
    return Image.fromarray(grey).convert("RGB")


def _name_note(name: str, kind: str) -> list[str]:
    suffix = PurePath(name).suffix.lower()
    if SUFFIXES.get(suffix, kind) == kind:
        return []
    return [f"named {suffix} but holds {kind}; read as {kind}"]
