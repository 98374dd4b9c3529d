"""What an item shows, read from its file: a picture, or the frames of a video, still as the corpus recorded it."""

from pathlib import Path

from core.corpora.images import DecodedImage, read_image
from core.corpora.schema import Item, Rival
from core.corpora.stacks import read_stack
from core.errors import BadImage


def read_item(item: Item, *, decoded: DecodedImage | None = None) -> DecodedImage:
    """Read an item's image, or the frames of its video, at full size, and check that it is still the one recorded.

    Args:
        decoded: what the file gave for another item that shows it; None: the file is read.

    Raises:
        BadImage: if the file is unreadable, or its size or a recorded hash differs.
    """
    if item.image_path is None:
        raise BadImage(f"item {item.id!r} lives in memory and has no file; pass its pixels instead")
    image = _read(item.image_path, item.frames) if decoded is None else decoded
    return _as_recorded(image, item.image_path, (item.width, item.height), item.bytes_sha256, item.pixels_sha256)


def read_rival(item: Item, rival: Rival) -> DecodedImage:
    """Read a rival's image, or its frames, at full size, and check that it has its size and is still the one recorded.

    Raises:
        BadImage: if the file is unreadable, or its size or a recorded hash differs.
    """
    size = rival.size or (item.width, item.height)
    image = _read(rival.path, rival.frames)
    return _as_recorded(image, rival.path, size, rival.bytes_sha256, rival.pixels_sha256)


def _read(path: Path, frames: tuple[int, ...]) -> DecodedImage:
    if not frames:
        return read_image(path)
    return read_stack(path, frames)


def _as_recorded(
    image: DecodedImage, path: Path, size: tuple[int, int], bytes_sha256: str | None, pixels_sha256: str | None
) -> DecodedImage:
    if (image.width, image.height) != size:
        raise _changed(path, f"it is {image.width} × {image.height} px instead of {size[0]} × {size[1]}")
    if bytes_sha256 not in (None, image.bytes_sha256):
        raise _changed(path, "its bytes have another hash")
    if pixels_sha256 not in (None, image.pixels_sha256):
        raise _changed(path, "its pixels have another hash")
    return image


def _changed(path: Path, how: str) -> BadImage:
    return BadImage(f"{path}: the file changed since the corpus was read ({how}); "
                    "restore it or load the corpus again")  # fmt: skip
