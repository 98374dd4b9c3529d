"""Frames out of videos, safely: a file or a folder of frames becomes uint8 RGB [H, W, 3] arrays, or one clear sentence.

A file is decoded by OpenCV's FFmpeg. It opens only what begins like a known container and is called so: FFmpeg would
follow playlists and patterns of names to other files and addresses. Frames are counted by decoding, not believed. They
come as players show them, mirrored, turned and stretched as the file says, and at the times of its own time stamps.
"""

import hashlib
import math
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from core.corpora.corpus_files import whole_number
from core.corpora.decoding_apart import Limits, frames_apart
from core.corpora.image_header import SUFFIXES as IMAGES
from core.corpora.image_header import fitted_size
from core.corpora.images import read_header, read_image
from core.corpora.ordinary_paths import ordinary
from core.corpora.video_container import (
    KINDS,
    MAX_PIXELS,
    START,
    SUFFIXES,
    BadVideo,
    Marks,
    codec_of,
    film,
    retrieved,
    sniff,
)
from core.errors import BadImage, InvalidInput

MAX_BYTES = 512 << 20  # largest file, in bytes
MAX_SECONDS = 900.0  # longest video, in seconds
MAX_FRAMES = 30_000  # most frames of a video, decoded or in a folder

MAX_DECODED = 12_000_000_000
"""Most pixels of all frames of a file together: ten minutes of 25 frames a second at 1024 × 768."""

STRANGER = Limits(memory_mb=1500, seconds=60)  # what the decoding of a video that came over the network may take
WHOLE = (0.0, 1.0)  # a whole video, as a part of it

_SAME_TIME = 1e-6
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Sampling:
    """Which frames of a video are looked at.
    ``count``: so many, evenly spaced from the first to the last, as ``np.linspace`` gives them, cut to whole numbers
    (in time: of a video of uneven rate, those that are shown then); of a video with fewer frames some are taken more
    than once. None: every frame.
    Raises InvalidInput if the count is below 1."""

    count: int | None = None

    def __post_init__(self) -> None:
        if self.count is not None and not 1 <= self.count <= MAX_FRAMES:
            raise InvalidInput(f"the number of frames must lie between 1 and {MAX_FRAMES:,}, got {self.count}")

    @classmethod
    def from_option(cls, given: int | str, *, name: str = "frames") -> "Sampling":
        """Read a reader's choice: ``all``, or a number. Raises InvalidInput if it is neither."""
        return cls(None if given == "all" else whole_number(given, name=f"{name} (all, or a number)"))

    @property
    def told(self) -> str:
        """In words, for a fingerprint."""
        return "every frame" if self.count is None else f"{self.count} frames, np.linspace cut to whole numbers"

    def places(self, total: int, times: Sequence[float] = ()) -> tuple[int, ...]:
        """Places of the frames among ``total``, in order.
        ``times``: of the frames, rising; empty where they follow each other evenly.

        >>> Sampling(3).places(4, (0.0, 0.1, 0.2, 2.0))
        (0, 2, 3)
        """
        if self.count is None:
            return tuple(range(total))
        if not times:
            return tuple(int(each) for each in np.linspace(0, total - 1, self.count))
        return tuple(_shown_at(each, times) for each in np.linspace(times[0], times[-1], self.count))


@dataclass(frozen=True, slots=True)
class Footage:
    """A video that was opened, counted and found to be within the caps."""

    path: Path
    frames: int  # how many it has
    width: int  # of a frame as it is shown, in pixels; of a folder, of its first
    height: int  # likewise
    seconds: float | None  # how long it runs, by its time stamps; None where it does not say, and of a folder
    sha256: str  # of the file's bytes, or of the names and bytes of the frames
    # of the frames, in seconds from the first; empty where they follow each other evenly, and of a folder
    times: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()  # sentences for the reader, e.g. that its colours are HDR.

    def part(self, start: float, end: float) -> tuple[int, int]:
        """First frame and the one after the last of a part, given as shares of the length; one frame at least. Of a
        video of uneven rate these are the frames that are shown in the part, by their times."""
        if self.times and self.seconds:
            first = _shown_at(start * self.seconds, self.times)
            last = int(np.searchsorted(self.times, end * self.seconds - _SAME_TIME))
        else:
            first, last = min(int(start * self.frames), self.frames - 1), int(end * self.frames)
        return first, max(first + 1, min(last, self.frames))

    def places(self, sampling: Sampling, part: tuple[float, float] = WHOLE) -> tuple[int, ...]:
        """Places of the frames of a part that are looked at, in order."""
        first, end = self.part(*part)
        return tuple(first + each for each in sampling.places(end - first, self.times[first:end]))


def _shown_at(moment: float, times: Sequence[float]) -> int:
    """The frame that is shown at a time: the last one that began."""
    return max(int(np.searchsorted(times, moment + _SAME_TIME, side="right")) - 1, 0)


def open_video(path: Path) -> Footage:
    """Open a video file, or a folder of frames, and count its frames.
    Raises BadVideo, in one sentence: which file, what is wrong and what to do."""
    try:
        path = ordinary(Path(path))
    except InvalidInput as error:
        raise BadVideo(str(error)) from error
    if not path.is_dir():
        return _open_file(path)
    files = _frame_files(path)
    if not files:
        raise BadVideo(f"{path} holds no frame; give a folder of JPEG or PNG frames, named in their order")
    if len(files) > MAX_FRAMES:
        raise BadVideo(f"{path} holds {len(files):,} frames and {MAX_FRAMES:,} are read; thin it out")
    first = read_header(files[0])
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return Footage(path, len(files), first.width, first.height, None, digest.hexdigest())


def read_frames(footage: Footage, places: Sequence[int]) -> Iterator[np.ndarray]:
    """Decode frames one after the other.
    ``places``: of the frames, from 0, never falling; one that repeats is given again. Yields uint8 RGB [H, W, 3].
    Raises BadVideo if the video changed, or a frame cannot be decoded."""
    if footage.path.is_dir():
        files = _frame_files(footage.path)
        for place in places:
            yield read_image(files[place], max_pixels=MAX_PIXELS).pixels
        return
    at, frame = -1, None
    with film(footage.path) as (capture, shape):
        for place in places:
            while at < place:
                if not capture.grab():
                    raise BadVideo(f"{footage.path}: frame {at + 1} of {footage.frames} cannot be decoded any more")
                at, frame = at + 1, None
            if frame is None:
                frame = shape.shown(retrieved(capture, footage.path, at))
            yield frame


def read_scaled(path: Path, sampling: Sampling, *, side: int) -> tuple[Footage, np.ndarray]:
    """Open a video and decode the frames that are looked at, each scaled down to fit a longest side.
    ``side``: longest side of a frame, in pixels; smaller frames stay as they are. Returns the video, and its frames:
    uint8 RGB [T, H, W, 3], in the order of ``Footage.places``.
    Raises BadVideo if it cannot be read, or its frames are of several sizes."""
    import cv2

    footage, frames = open_video(path), []
    for each in read_frames(footage, footage.places(sampling)):
        height, width = each.shape[:2]
        size = fitted_size(width, height, side)
        frames.append(each if size == (width, height) else cv2.resize(each, size, interpolation=cv2.INTER_AREA))
    if len({each.shape for each in frames}) > 1:
        raise BadVideo(f"{path}: its frames are of several sizes; scale them to one")
    return footage, np.stack(frames)


def read_stranger(data: bytes, sampling: Sampling, *, name: str, side: int) -> tuple[Footage, np.ndarray]:
    """Like :func:`read_scaled`, of a file's bytes that came over the network: in its own process, within limits.
    ``name``: what messages call it, with the ending that tells its container.
    Raises BadImage, in one sentence: which file, what is wrong and what to do; NotAvailable where other files keep
    every such process busy."""
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
        times, notes = (tuple(told.pop(name)) for name in ("times", "notes"))
        return Footage(path, **told, times=times, notes=notes), frames


def find_videos(folder: Path) -> dict[str, Path]:
    """Videos of a folder by their id: the stem of a file, or the name of a folder of frames.
    Raises InvalidInput if the folder is missing, or two videos have one id."""
    if not folder.is_dir():
        raise InvalidInput(f"no folder {folder}; give the folder that holds the videos")
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        framed = path.is_dir() and any(each.suffix.lower() in IMAGES for each in path.iterdir())
        if path.name.startswith(".") or not (path.suffix.lower() in SUFFIXES if path.is_file() else framed):
            continue
        key = path.stem if path.is_file() else path.name
        if key in found:
            raise InvalidInput(f"{key!r} may be {found[key].name} or {path.name}; keep one in {folder}")
        found[key] = path
    return found


def _open_file(path: Path) -> Footage:
    import cv2

    digest = _checked(path)
    with film(path) as (capture, shape):
        width, height = shape.size
        if not 0 < width * height <= MAX_PIXELS:
            raise BadVideo(f"{path}: frames of {width} × {height} px, and 1 to {MAX_PIXELS:,} px are decoded; scale it")
        rate, codec = float(capture.get(cv2.CAP_PROP_FPS)), codec_of(capture)
        step = 1 / rate if math.isfinite(rate) and rate > 0 else 0.0
        most = min(MAX_FRAMES, MAX_DECODED // (width * height))
        long = f"longer than {most:,} frames or {MAX_SECONDS:g} s, the most at {width} × {height} px; cut it into parts"
        times: list[float] = []
        while capture.grab():
            if not times:
                retrieved(capture, path, 0)
            times.append(_next_time(float(capture.get(cv2.CAP_PROP_POS_MSEC)) / 1000, times, step))
            if len(times) > most or times[-1] - times[0] > MAX_SECONDS:
                raise BadVideo(f"{path}: {long}")
    if not times:
        raise BadVideo(f"{path}: no frame can be decoded; it is broken, cut off, or OpenCV lacks its codec ({codec})")
    uneven, seconds = _length(times, step, shape.marks)
    if seconds is not None and seconds > MAX_SECONDS:
        raise BadVideo(f"{path}: {long}")
    told = f"its colours are HDR ({shape.marks.hdr}) and its codes are scored as they are, paler than people see them; "
    notes = (f"{told}convert it to SDR",) if shape.marks.hdr else ()
    return Footage(path, len(times), width, height, seconds, digest, uneven, notes)


def _next_time(stamp: float, before: Sequence[float], step: float) -> float:
    """Time of a frame in seconds: its stamp; where that does not rise (some have none), as far on as the one before."""
    if not before:
        return stamp if math.isfinite(stamp) else 0.0
    if math.isfinite(stamp) and stamp > before[-1]:
        return stamp
    return before[-1] + (before[-1] - before[-2] if len(before) > 1 else step)


def _length(times: Sequence[float], step: float, told: Marks) -> tuple[tuple[float, ...], float | None]:
    """Times from the first frame on, empty where they are even, and the seconds that all frames are shown for. Stamps
    that lie less than half a frame beside an even grid are even: containers round them. The last frame is shown as long
    as its container says, else as long as the one before."""
    run = times[-1] - times[0]
    gap = run / (len(times) - 1) if len(times) > 1 else told.last or step
    if gap <= 0:
        return (), None
    if all(abs(each - times[0] - place * gap) < gap / 2 for place, each in enumerate(times)):
        return (), round(gap * len(times), 6)
    return tuple(each - times[0] for each in times), round(run + (told.last or times[-1] - times[-2]), 6)


def _checked(path: Path) -> str:
    """Hash of a file that is called and begins like a video. Raises BadVideo otherwise."""
    kinds = ", ".join(SUFFIXES)
    if path.suffix.lower() not in SUFFIXES:
        raise BadVideo(f"{path}: videos end in {kinds}; convert it, or give a folder of its frames")
    if "%" in str(path.absolute()):
        raise BadVideo(f"{path}: a % in a path is a pattern of names to the decoder; rename it")
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadVideo(f"{path}: larger than {MAX_BYTES >> 20} MB; cut it into parts")
        with path.open("rb") as file:
            kind = sniff(file.read(START))
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BadVideo(f"{path} cannot be read ({error.strerror or error}); restore it or correct the path") from error
    if kind is None:
        raise BadVideo(f"{path}: it begins like none of {', '.join(KINDS)}; convert it")
    return digest


def _frame_files(folder: Path) -> list[Path]:
    """Images of a folder in the order of their names, numbers as numbers; links out of it are passed over."""
    home = folder.resolve()
    files = [
        path
        for path in folder.iterdir()
        if path.suffix.lower() in IMAGES and path.is_file() and path.resolve().is_relative_to(home)
    ]
    return sorted(
        files, key=lambda path: [(int(part), "") if part.isdigit() else (-1, part) for part in _DIGITS.split(path.name)]
    )
