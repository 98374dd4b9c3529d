"""A video file that OpenCV's FFmpeg decodes: its frames as players show them, mirrored, turned and stretched."""

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core.corpora.video_container import Marks, marks
from core.errors import BadImage

if TYPE_CHECKING:
    import cv2

MAX_PIXELS = 9_000_000
"""Largest frame, in pixels: 4096 × 2160 fits."""

_LISTENING = threading.Lock()
"""Standard error is one for all threads: two that listened at once would each give the other's file back for it."""

_SQUARE = 0.01
"""Pixels that are so little wider or narrower than high are square: an encoder rounds the shape of a frame."""


class BadVideo(BadImage):
    """A video that cannot be decoded safely (truncated, empty, too large, no video)."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How the stored frames of a film are shown.

    Args:
        stretched: of a stored frame with its pixels made square, before it is turned.
    """

    marks: Marks
    stretched: tuple[int, int]

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of a shown frame, in pixels."""
        width, height = self.stretched
        return (height, width) if self.marks.lies else (width, height)

    def shown(self, bgr: np.ndarray) -> np.ndarray:
        """A stored frame as uint8 RGB as players show it."""
        import cv2

        rgb = cv2.cvtColor(bgr, cv2.COLOR_BGR2RGB)
        if rgb.shape[1::-1] != self.stretched:
            rgb = cv2.resize(rgb, self.stretched, interpolation=cv2.INTER_LINEAR)
        return np.ascontiguousarray(self.marks.shown(rgb))


@contextmanager
def film(path: Path) -> Iterator[tuple["cv2.VideoCapture", Shape]]:
    """A file that was checked, open, and how its frames are shown.

    Raises:
        BadVideo: if it cannot be opened, or is to be shown aslant.
    """
    import cv2

    capture = _capture(path)
    try:
        capture.set(cv2.CAP_PROP_ORIENTATION_AUTO, 0)  # OpenCV turns a mirrored track by 180°
        width, height = (int(capture.get(each)) for each in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT))
        told = marks(path)
        if not told.quarter:
            raise BadVideo(f"{path}: its track is to be shown aslant, and only quarter turns are; export it upright")
        wide = _pixel_shape(capture) if path.suffix.lower() != ".gif" else 1.0  # no browser stretches a GIF
        stretched = (round(width * max(wide, 1.0)), round(height / min(wide, 1.0)))
        yield capture, Shape(told, stretched)
    finally:
        capture.release()


def _pixel_shape(capture: "cv2.VideoCapture") -> float:
    """Width of a pixel by its height; 1 where that is not known, or is nearly so."""
    import cv2

    across, down = (float(capture.get(each)) for each in (cv2.CAP_PROP_SAR_NUM, cv2.CAP_PROP_SAR_DEN))
    wide = across / down if across > 0 and down > 0 else 1.0
    return 1.0 if abs(wide - 1) < _SQUARE else wide


def _capture(path: Path) -> "cv2.VideoCapture":
    import cv2

    # an absolute path names no protocol; only FFmpeg, since other backends read patterns of names and devices
    capture = cv2.VideoCapture(str(path.absolute()), cv2.CAP_FFMPEG)
    if not capture.isOpened():
        capture.release()
        raise BadVideo(
            f"{path}: the video is broken or in a codec that OpenCV lacks, or holds no picture; convert it to MP4 "
            "(H.264)"
        )
    return capture


def codec_of(capture: "cv2.VideoCapture") -> str:
    """The four characters that name a codec, as far as they can be shown."""
    import cv2

    code = int(capture.get(cv2.CAP_PROP_FOURCC)) & 0xFFFFFFFF
    return "".join(each for each in code.to_bytes(4, "little").decode("latin-1") if each.isalnum()) or "unnamed"


def retrieved(capture: "cv2.VideoCapture", path: Path, place: int) -> np.ndarray:
    """The frame that was grabbed, as it is stored: uint8 BGR [H, W, 3].

    Raises:
        BadVideo: if there is none, or none that may be believed.
    """
    with _heard() as said:
        whole, bgr = capture.retrieve()
    if b"interlaced" in said[0]:
        raise BadVideo(
            f"{path}: frame {place} is interlaced, and OpenCV gives none of its picture; deinterlace it, e.g. with "
            "ffmpeg -i INPUT -vf yadif OUTPUT.mp4"
        )
    if not whole or bgr.ndim != 3 or bgr.shape[0] * bgr.shape[1] > MAX_PIXELS:
        raise BadVideo(f"{path}: frame {place} is broken or grew; convert it")
    return bgr


@contextmanager
def _heard() -> Iterator[list[bytes]]:
    """What the decoder complains of meanwhile, afterwards the only entry; other words go on to standard error.

    OpenCV 5 answers an interlaced frame with an array that holds no picture and calls it read; FFmpeg's complaint on
    standard error is the only sign.
    """
    said = [b""]
    with _LISTENING, tempfile.TemporaryFile() as aside:
        kept = os.dup(2)
        os.dup2(aside.fileno(), 2)
        try:
            yield said
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            aside.seek(0)
            said[0] = aside.read()
            if said[0] and b"swscaler" not in said[0]:
                os.write(2, said[0])
