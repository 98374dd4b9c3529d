"""The picture of an item and of its rivals; the frames of a video, one above the other, are one picture."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from core.corpora.images import DecodedImage, pixel_hash, read_image
from core.corpora.schema import Item, Rival
from core.corpora.video_container import BadVideo
from core.corpora.video_frames import Footage, open_video, read_frames
from core.errors import BadImage

MAX_STACK = 512 << 20
"""Most bytes of the frames of one item, which lie in memory together: 20 frames of 4096 × 2160 px fit."""

_SHOWN = 9


def check_stack_size(footage: Footage, frames: int) -> None:
    """Raise BadVideo where so many frames of a video are more than lie in memory together."""
    size = frames * footage.width * footage.height * 3
    if size > MAX_STACK:
        raise BadVideo(
            f"{footage.path}: {frames:,} frames of {footage.width} × {footage.height} px are {size >> 20:,} MB and an "
            f"item may have {MAX_STACK >> 20}; look at fewer frames, or scale it"
        )


def read_stack(path: Path, places: Sequence[int]) -> DecodedImage:
    """Decode some frames of a video.
    ``path``: of a file, or of a folder of frames. ``places``: of the frames, from 0, never falling.
    Returns the frames as ``pixels``, uint8 RGB [T, H, W, 3].
    Raises BadVideo, in one sentence: which file, what is wrong and what to do."""
    footage = open_video(path)
    if places[-1] >= footage.frames:
        told = f"{path}: frame {places[-1] + 1} is asked for and it has {footage.frames}; load the corpus again"
        raise BadVideo(told)
    check_stack_size(footage, len(places))
    stack = np.empty((len(places), footage.height, footage.width, 3), np.uint8)
    for place, frame in enumerate(read_frames(footage, places)):
        if frame.shape != stack.shape[1:]:
            raise BadVideo(
                f"{path}: frame {places[place] + 1} has {frame.shape[1]} × {frame.shape[0]} px and the first one "
                f"{footage.width} × {footage.height}; give its frames one size"
            )
        stack[place] = frame
    return DecodedImage(stack, footage.sha256, pixel_hash(stack), "video")


def as_picture(pixels: np.ndarray) -> np.ndarray:
    """What stands for some pixels where one picture is shown: nine of a video's frames at most, evenly spaced from the
    first to the last, side by side, row by row.
    ``pixels``: uint8 RGB [H, W, 3], given back as it is, or frames [T, H, W, 3].
    Returns uint8 RGB [H', W', 3]; frames at their size, white where the last row is not full."""
    if pixels.ndim == 3:
        return pixels
    shown = pixels if len(pixels) <= _SHOWN else pixels[np.linspace(0, len(pixels) - 1, _SHOWN).astype(int)]
    count, height, width, channels = shown.shape
    columns = int(np.ceil(np.sqrt(count)))
    rows = -(-count // columns)
    sheet = np.full((rows * columns, height, width, channels), 255, np.uint8)
    sheet[:count] = shown
    grid = sheet.reshape(rows, columns, height, width, channels).swapaxes(1, 2)
    return np.ascontiguousarray(grid.reshape(rows * height, columns * width, channels))


def read_item(item: Item, *, decoded: DecodedImage | None = None) -> DecodedImage:
    """Read an item's image, or the frames of its video, at full size, and check that it is still the one recorded.
    ``decoded``: what the file gave for another item that shows it; None: the file is read.
    Raises BadImage if the file is unreadable, or its size or a recorded hash differs."""
    if item.image_path is None:
        raise BadImage(f"item {item.id!r} lives in memory and has no file; pass its pixels instead")
    image = _read(item.image_path, item.frames) if decoded is None else decoded
    return _as_recorded(image, item.image_path, (item.width, item.height), item.bytes_sha256, item.pixels_sha256)


def read_rival(item: Item, rival: Rival) -> DecodedImage:
    """Read a rival's image, or its frames, at full size, and check that it has its size and is still the one recorded.
    Raises BadImage if the file is unreadable, or its size or a recorded hash differs."""
    size = rival.size or (item.width, item.height)
    image = _read(rival.path, rival.frames)
    return _as_recorded(image, rival.path, size, rival.bytes_sha256, rival.pixels_sha256)


def _read(path: Path, frames: tuple[int, ...]) -> DecodedImage:
    return read_stack(path, frames) if frames else read_image(path)


def _as_recorded(
    image: DecodedImage, path: Path, size: tuple[int, int], bytes_sha256: str | None, pixels_sha256: str | None
) -> DecodedImage:
    if (image.width, image.height) != size:
        how = f"it is {image.width} × {image.height} px instead of {size[0]} × {size[1]}"
    elif bytes_sha256 not in (None, image.bytes_sha256):
        how = "its bytes have another hash"
    elif pixels_sha256 not in (None, image.pixels_sha256):
        how = "its pixels have another hash"
    else:
        return image
    told = f"the file changed since the corpus was read ({how})"
    raise BadImage(f"{path}: {told}; restore it or load the corpus again")
