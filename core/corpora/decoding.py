"""Pixels out of bytes, in this process: every picture becomes uint8 RGB [H, W, 3], or one clear sentence."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np
from PIL import Image, ImageFile

from core.corpora.image_header import MAX_PIXELS, SUFFIXES, open_bytes, orientation
from core.errors import BadImage, InvalidInput

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


_STRIP = 1 << 20
"""Pixels that are converted at a time where a conversion needs several copies of them."""


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
    """Decode a file's bytes to upright RGB, in this process and without a limit on memory or time.

    Bytes of a stranger go through :func:`core.corpora.images.decode_stranger` instead.

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
    return decode_opened(*open_bytes(data, name=name, max_pixels=max_pixels), data, name=name, max_side=max_side)


def decode_opened(
    kind: str, image: ImageFile.ImageFile, data: bytes, *, name: str, max_side: int | None = None
) -> DecodedImage:
    """Decode an image that was opened from ``data`` and whose header was found good; see :func:`decode_image`."""
    if max_side is not None and max_side < 1:
        raise InvalidInput(f"max_side must be at least 1 px, got {max_side}")
    notes = _name_note(name, kind)
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
    ends = np.array([(values.min(), values.max()) for _, values in _deep_strips(image)], dtype=np.float64)
    low, high = float(ends.min()), float(ends.max())
    top = 1.0 if image.mode == "F" else 65535
    if not (low >= 0 and high <= top):  # and so a NaN is refused
        raise BadImage(
            f"{name}: pixel values from {low:g} to {high:g} have no agreed brightness; "
            "save it with 8 or 16 bits a channel"
        )
    notes.append("more than 8 bits a channel, scaled to 8")
    page = Image.new("RGB", image.size)
    for box, values in _deep_strips(image):
        grey = np.rint(values.astype(np.float32) * np.float32(255 / top)).astype(np.uint8)
        page.paste(Image.fromarray(grey).convert("RGB"), box)
    return page


def _strips(image: Image.Image) -> Iterator[tuple[tuple[int, int, int, int], Image.Image]]:
    """Yield bands of a picture from top to bottom, each with its place: what a pixel becomes depends on it alone."""
    rows = max(1, _STRIP // image.width)
    for top in range(0, image.height, rows):
        box = (0, top, image.width, min(top + rows, image.height))
        yield box, image.crop(box)


def _deep_strips(image: Image.Image) -> Iterator[tuple[tuple[int, int, int, int], np.ndarray]]:
    return ((box, np.asarray(strip)) for box, strip in _strips(image))


def _name_note(name: str, kind: str) -> list[str]:
    suffix = PurePath(name).suffix.lower()
    if SUFFIXES.get(suffix, kind) == kind:
        return []
    return [f"named {suffix} but holds {kind}; read as {kind}"]
