"""Frames out of videos, safely: a file or a folder of frames becomes uint8 RGB [H, W, 3] arrays, or one clear sentence.

A file is decoded by OpenCV's FFmpeg. It opens only what begins like MP4, AVI, Matroska or GIF and is called so: FFmpeg
would follow playlists and patterns of names to other files and addresses. Frames are counted by decoding, not believed.
"""

import hashlib
import math
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from core.corpora.apart import Limits, frames_apart
from core.corpora.decoding import fitted_size
from core.corpora.files import whole_number
from core.corpora.image_header import SUFFIXES as IMAGES
from core.corpora.images import read_header, read_image
from core.corpora.places import ordinary
from core.errors import BadImage, InvalidInput

if TYPE_CHECKING:
    import cv2

MAX_BYTES = 512 << 20
"""Largest file, in bytes."""

MAX_SECONDS = 900.0
"""Longest video, in seconds."""

MAX_FRAMES = 30_000
"""Most frames of a video, decoded or in a folder."""

MAX_PIXELS = 9_000_000
"""Largest frame, in pixels: 4096 × 2160 fits."""

MAX_DECODED = 12_000_000_000
"""Most pixels of all frames of a file together: ten minutes of 25 frames a second at 1024 × 768."""

SUFFIXES = {".mp4": "MP4", ".m4v": "MP4", ".mov": "MP4", ".avi": "AVI", ".mkv": "Matroska", ".webm": "Matroska",
            ".gif": "GIF"}  # fmt: skip
"""File name endings of the containers that are read, in lower case."""

STRANGER = Limits(memory_mb=1500, seconds=60)
"""What the decoding of a video that came over the network may take."""

_ATOMS = (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip")
_DIGITS = re.compile(r"(\d+)")


class BadVideo(BadImage):
    """A video that cannot be decoded safely (truncated, empty, too large, no video)."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """Which frames of a video are looked at.

    Args:
        count: so many, evenly spaced from the first to the last, as ``np.linspace`` gives them, cut to whole numbers;
            of a video with fewer frames some are taken more than once. None: every frame.

    Raises:
        InvalidInput: if the count is below 1.
    """

    count: int | None = None

    def __post_init__(self) -> None:
        if self.count is not None and not 1 <= self.count <= MAX_FRAMES:
            raise InvalidInput(f"the number of frames must lie between 1 and {MAX_FRAMES:,}, got {self.count}")

    @classmethod
    def from_option(cls, given: int | str, *, name: str = "frames") -> "Sampling":
        """Read a reader's choice: ``all``, or a number.

        Raises:
            InvalidInput: if it is neither.
        """
        return cls(None if given == "all" else whole_number(given, name=f"{name} (all, or a number)"))

    @property
    def told(self) -> str:
        """In words, for a fingerprint."""
        return "every frame" if self.count is None else f"{self.count} frames, np.linspace cut to whole numbers"

    def places(self, total: int) -> tuple[int, ...]:
        """Places of the frames among ``total``, in order."""
        if self.count is None:
            return tuple(range(total))
        return tuple(int(each) for each in np.linspace(0, total - 1, self.count))


@dataclass(frozen=True, slots=True)
class Footage:
    """A video that was opened, counted and found to be within the caps.

    Args:
        path: of the file, or of the folder of its frames.
        frames: how many it has.
        width: of a frame, in pixels; of a folder, of its first.
        height: likewise.
        seconds: how long it runs; None where it does not say, and of a folder.
        sha256: of the file's bytes, or of the names and bytes of the frames.
    """

    path: Path
    frames: int
    width: int
    height: int
    seconds: float | None
    sha256: str

    def part(self, start: float, end: float) -> tuple[int, int]:
        """First frame and the one after the last of a part, given as shares of the whole; one frame at least."""
        first = min(int(start * self.frames), self.frames - 1)
        return first, max(first + 1, min(int(end * self.frames), self.frames))


def open_video(path: Path) -> Footage:
    """Open a video file, or a folder of frames, and count its frames.

    Raises:
        BadVideo: in one sentence: which file, what is wrong and what to do.
    """
    try:
        path = ordinary(Path(path))
    except InvalidInput as error:
        raise BadVideo(str(error)) from error
    return _open_folder(path) if path.is_dir() else _open_file(path)


def read_frames(footage: Footage, places: Sequence[int]) -> Iterator[np.ndarray]:
    """Decode frames one after the other.

    Args:
        footage: of :func:`open_video`.
        places: of the frames, from 0, never falling; one that repeats is given again.

    Yields:
        uint8 RGB [H, W, 3].

    Raises:
        BadVideo: if the video changed, or a frame cannot be decoded.
    """
    if footage.path.is_dir():
        files = _frame_files(footage.path)
        for place in places:
            yield read_image(files[place], max_pixels=MAX_PIXELS).pixels
        return
    yield from _decoded(footage, places)


def read_scaled(path: Path, sampling: Sampling, *, side: int) -> tuple[Footage, np.ndarray]:
    """Open a video and decode the frames that are looked at, each scaled down to fit a longest side.

    Args:
        path: of the file, or of the folder of its frames.
        sampling: which frames.
        side: longest side of a frame, in pixels; smaller frames stay as they are.

    Returns:
        The video, and its frames: uint8 RGB [T, H, W, 3], in the order of ``sampling.places``.

    Raises:
        BadVideo: if it cannot be read, or its frames are of several sizes.
    """
    footage = open_video(path)
    frames = [_fitted(each, side) for each in read_frames(footage, sampling.places(footage.frames))]
    if len({each.shape for each in frames}) > 1:
        raise BadVideo(f"{path}: its frames are of several sizes; scale them to one")
    return footage, np.stack(frames)


def read_stranger(data: bytes, sampling: Sampling, *, name: str, side: int) -> tuple[Footage, np.ndarray]:
    """Like :func:`read_scaled`, of a file's bytes that came over the network: in a process of its own, within limits.

    Args:
        data: of the file.
        name: what messages call it, with the ending that tells its container.

    Raises:
        BadImage: in one sentence: which file, what is wrong and what to do.
        NotAvailable: where other files keep every such process busy.
    """
    suffix = PurePosixPath(name.replace("\\", "/")).suffix.lower()
    if suffix not in SUFFIXES:
        raise BadVideo(f"{name}: videos end in {', '.join(SUFFIXES)}; convert it")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"upload{suffix}"
        path.write_bytes(data)
        try:
            told, frames = frames_apart(path, name=name, count=sampling.count, side=side, limits=STRANGER)
        except BadImage as error:
            raise BadVideo(str(error).replace(str(path), name)) from error
        return Footage(path, **told), frames


def find_videos(folder: Path) -> dict[str, Path]:
    """Videos of a folder by their id: the stem of a file, or the name of a folder of frames.

    Raises:
        InvalidInput: if the folder is missing, or two videos have one id.
    """
    if not folder.is_dir():
        raise InvalidInput(f"no folder {folder}; give the folder that holds the videos")
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or not (path.suffix.lower() in SUFFIXES if path.is_file() else _has_frames(path)):
            continue
        key = path.stem if path.is_file() else path.name
        if key in found:
            raise InvalidInput(f"{key!r} may be {found[key].name} or {path.name}; keep one in {folder}")
        found[key] = path
    return found


def sniff(start: bytes) -> str | None:
    """The container whose signature the first bytes carry, whatever the file is called."""
    if start[4:8] in _ATOMS:
        return "MP4"
    if start[:4] == b"RIFF" and start[8:12] == b"AVI ":
        return "AVI"
    if start[:4] == b"\x1a\x45\xdf\xa3":
        return "Matroska"
    return "GIF" if start[:6] in (b"GIF87a", b"GIF89a") else None


def _fitted(pixels: np.ndarray, side: int) -> np.ndarray:
    import cv2

    height, width = pixels.shape[:2]
    size = fitted_size(width, height, side)
    return pixels if size == (width, height) else cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)


def _open_file(path: Path) -> Footage:
    import cv2

    digest = _checked(path)
    capture = _capture(path)
    try:
        width, height = (int(capture.get(each)) for each in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT))
        if not 0 < width * height <= MAX_PIXELS:
            raise BadVideo(f"{path}: frames of {width} × {height} px, and 1 to {MAX_PIXELS:,} px are decoded; scale it")
        rate = float(capture.get(cv2.CAP_PROP_FPS))
        most = min(MAX_FRAMES, MAX_DECODED // (width * height))
        known = math.isfinite(rate) and rate > 0
        count = 0
        while capture.grab():
            count += 1
            if count > most or (known and count / rate > MAX_SECONDS):
                raise BadVideo(
                    f"{path}: longer than {most:,} frames or {MAX_SECONDS:g} s, the most at {width} × {height} px; "
                    "cut it into parts"
                )
    finally:
        capture.release()
    if not count:
        raise BadVideo(f"{path}: no frame can be decoded; it is broken, cut off, or in a codec that OpenCV lacks")
    return Footage(path, count, width, height, count / rate if known else None, digest)


def _checked(path: Path) -> str:
    """Hash of a file that is called and begins like a video.

    Raises:
        BadVideo: otherwise.
    """
    kinds = ", ".join(SUFFIXES)
    if path.suffix.lower() not in SUFFIXES:
        raise BadVideo(f"{path}: videos end in {kinds}; convert it, or give a folder of its frames")
    if "%" in str(path.absolute()):
        raise BadVideo(f"{path}: a % in a path is a pattern of names to the decoder; rename it")
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadVideo(f"{path}: larger than {MAX_BYTES >> 20} MB; cut it into parts")
        with path.open("rb") as file:
            kind = sniff(file.read(16))
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BadVideo(f"{path} cannot be read ({error.strerror or error}); restore it or correct the path") from error
    if kind is None:
        raise BadVideo(f"{path}: it begins like none of {', '.join(dict.fromkeys(SUFFIXES.values()))}; convert it")
    return digest


def _capture(path: Path) -> "cv2.VideoCapture":
    import cv2

    # an absolute path names no protocol; only FFmpeg, since other backends read patterns of names and devices
    capture = cv2.VideoCapture(str(path.absolute()), cv2.CAP_FFMPEG)
    if not capture.isOpened():
        capture.release()
        raise BadVideo(f"{path}: the video is broken or in a codec that OpenCV lacks; convert it to MP4 (H.264)")
    return capture


def _decoded(footage: Footage, places: Sequence[int]) -> Iterator[np.ndarray]:
    import cv2

    capture, at, frame = _capture(footage.path), -1, None
    try:
        for place in places:
            while at < place:
                if not capture.grab():
                    raise BadVideo(f"{footage.path}: frame {at + 1} of {footage.frames} cannot be decoded any more")
                at, frame = at + 1, None
            if frame is None:
                whole, bgr = capture.retrieve()
                if not whole or bgr.ndim != 3 or bgr.shape[0] * bgr.shape[1] > MAX_PIXELS:
                    raise BadVideo(f"{footage.path}: frame {at} of {footage.frames} is broken or grew; convert it")
                frame = np.ascontiguousarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2RGB))
            yield frame
    finally:
        capture.release()


def _open_folder(folder: Path) -> Footage:
    files = _frame_files(folder)
    if not files:
        raise BadVideo(f"{folder} holds no frame; give a folder of JPEG or PNG frames, named in their order")
    if len(files) > MAX_FRAMES:
        raise BadVideo(f"{folder} holds {len(files):,} frames and {MAX_FRAMES:,} are read; thin it out")
    first = read_header(files[0])
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return Footage(folder, len(files), first.width, first.height, None, digest.hexdigest())


def _frame_files(folder: Path) -> list[Path]:
    """Images of a folder in the order of their names, numbers as numbers; links out of it are passed over."""
    home = folder.resolve()
    files = [
        path for path in folder.iterdir()
        if path.suffix.lower() in IMAGES and path.is_file() and path.resolve().is_relative_to(home)
    ]  # fmt: skip
    return sorted(files, key=lambda path: [(int(part), "") if part.isdigit() else (-1, part)
                                           for part in _DIGITS.split(path.name)])  # fmt: skip


def _has_frames(folder: Path) -> bool:
    return any(path.suffix.lower() in IMAGES for path in folder.iterdir())
