"""What a video's file says of itself beside its frames: its container, how its track is to be shown, how it ends.

OpenCV gives neither the mirroring of a track nor its transfer function, and turns a mirrored one by 180°; both stand in
the container, as ISO/IEC 14496-12 (MP4) and RFC 9559 (Matroska) lay it out, and are read here, a few bounded bytes.
"""

import io
import math
import os
import struct
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from core.errors import BadImage

if TYPE_CHECKING:
    import cv2


SUFFIXES = {
    ".mp4": "MP4", ".m4v": "MP4", ".mov": "MP4", ".3gp": "MP4", ".3g2": "MP4", ".f4v": "MP4", ".avi": "AVI",
    ".divx": "AVI", ".mkv": "Matroska", ".webm": "Matroska", ".mpg": "MPEG", ".mpeg": "MPEG", ".m2v": "MPEG",
    ".vob": "MPEG", ".ts": "MPEG-TS", ".mts": "MPEG-TS", ".m2ts": "MPEG-TS", ".wmv": "WMV", ".asf": "WMV",
    ".flv": "FLV", ".ogv": "Ogg", ".gif": "GIF", ".apng": "APNG",
}  # fmt: skip
"""File name endings of the containers that are read, in lower case."""

KINDS = tuple(dict.fromkeys(SUFFIXES.values()))  # the containers that are read
START = 1024  # bytes of a file's beginning that tell its container

_ATOMS = (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip")
_BEGINNINGS = {
    b"\x1a\x45\xdf\xa3": "Matroska",
    b"GIF87a": "GIF",
    b"GIF89a": "GIF",
    b"\0\0\1\xba": "MPEG",
    b"\0\0\1\xb3": "MPEG",
    b"\x30\x26\xb2\x75\x8e\x66\xcf\x11": "WMV",
    b"FLV\1": "FLV",
    b"OggS": "Ogg",
}
_PACKETS = ((188, 0), (192, 4))
"""Bytes of a packet of MPEG-TS, and where its mark stands in it: broadcast, and Blu-ray and AVCHD."""

_HDR = {16: "PQ", 18: "HLG"}  # transfer characteristics of Rec. ITU-T H.273 that need more than a screen's range.

_UPRIGHT = (1.0, 0.0, 0.0, 1.0)
_BRANCHES = (b"mdia", b"minf", b"stbl")
_MOST_HEADER, _MOST_ENTRY, _MOST_PARTS = 64 << 20, 1 << 20, 100_000

_SEGMENT, _TRACKS, _ENTRY = 0x18538067, 0x1654AE6B, 0xAE
_TRACK_TYPE, _TRANSFER, _YAW, _PITCH, _ROLL = 0x83, 0x55BA, 0x7673, 0x7674, 0x7675
_FLOATS = {4: ">f", 8: ">d"}
_HOLDERS = (0xE0, 0x55B0, 0x7670)  # elements of Matroska: pictures of a track, their colours, their projection


@dataclass(frozen=True, slots=True)
class Marks:
    """What a container says of how its video is shown.
    ``matrix``: (a, b, c, d): the point (x, y) of a frame is shown at (a x + c y, b x + d y), y downwards."""

    matrix: tuple[float, float, float, float] = _UPRIGHT
    hdr: str = ""  # ``PQ``, ``HLG`` or ``Dolby Vision``; empty where the file says none
    last: float | None = None  # seconds that the last frame is shown for; None where the file does not say

    @property
    def quarter(self) -> bool:
        """Whether the frame is turned by quarters, mirrored or not, so that every pixel stays one."""
        a, b, c, d = (abs(each) for each in self.matrix)
        least = 0.01 * max(a, b, c, d)
        return (b <= least and c <= least) or (a <= least and d <= least)

    @property
    def lies(self) -> bool:
        """Whether width and height change places."""
        return abs(self.matrix[1]) > abs(self.matrix[0])

    def shown(self, pixels: np.ndarray) -> np.ndarray:
        """A frame [H, W, 3] as players show it; only of marks with ``quarter``.

        >>> Marks((-1, 0, 0, 1)).shown(np.array([[[1], [2]]])).ravel().tolist()
        [2, 1]
        """
        a, b, c, d = self.matrix
        across, down = (c, b) if self.lies else (a, d)
        turned = pixels.swapaxes(0, 1) if self.lies else pixels
        return turned[:: -1 if down < 0 else 1, :: -1 if across < 0 else 1]


def sniff(start: bytes) -> str | None:
    """The container whose signature the first bytes carry, whatever the file is called."""
    if start[4:8] in _ATOMS:
        return "MP4"
    if start[:4] == b"RIFF" and start[8:12] == b"AVI ":
        return "AVI"
    if start[:8] == b"\x89PNG\r\n\x1a\n" and b"acTL" in start:
        return "APNG"
    if any(start[at::size][:5] == b"G" * 5 for size, at in _PACKETS):
        return "MPEG-TS"
    return next((kind for begins, kind in _BEGINNINGS.items() if start.startswith(begins)), None)


def marks(path: Path) -> Marks:
    """Read what a file says of how its video is shown; what is broken or not known says nothing."""
    with path.open("rb") as file:
        read = {"MP4": _of_mp4, "Matroska": _of_matroska, "GIF": _of_gif}.get(sniff(file.read(START)) or "")
        file.seek(0)
        try:
            return Marks() if read is None else read(file)
        except (struct.error, IndexError, OverflowError):  # cut off or broken: the decoder says what is wrong with it
            return Marks()


def _of_mp4(file: BinaryIO) -> Marks:
    at, end = 0, _size(file)
    for _ in range(_MOST_PARTS):
        file.seek(at)
        size, kind = struct.unpack(">I4s", file.read(8))
        header = 8
        if size == 1:
            (size,), header = struct.unpack(">Q", file.read(8)), 16
        if kind == b"moov":
            return _of_movie(file.read(min(size - header if size else end, _MOST_HEADER)))
        if size < header:  # 0: to the end of the file; less: broken
            break
        at += size
    return Marks()


def _of_movie(held: bytes) -> Marks:
    movie = np.eye(2)
    for kind, at, end in _boxes(held, 0, len(held)):
        if kind == b"mvhd":
            movie = _matrix(held, at + (48 if held[at] else 36))
        elif kind == b"trak":
            track: dict[bytes, int] = {}
            for name, place, _ in _inside(held, at, end):
                track.setdefault(name, place)  # QuickTime has a second handler, of the data
            if b"hdlr" in track and held[track[b"hdlr"] + 8 :][:4] == b"vide":
                return _of_track(held, track, movie)
    return Marks()


def _of_track(held: bytes, at: dict[bytes, int], movie: np.ndarray) -> Marks:
    found = Marks()
    if b"tkhd" in at:
        turned = _matrix(held, at[b"tkhd"] + (52 if held[at[b"tkhd"]] else 40)) @ movie
        a, b, c, d = map(float, turned.ravel())
        if a * d - b * c:  # one that shows nothing is taken for none, as players do
            found = replace(found, matrix=(a, b, c, d))
    if b"stsd" in at:
        begin = at[b"stsd"] + 8
        size, kind = struct.unpack_from(">I4s", held, begin)
        transfer = "Dolby Vision" if kind in (b"dvh1", b"dvhe", b"dvav", b"dva1", b"dav1") else ""
        for name, place, _ in _boxes(held, begin + 86, begin + size):
            if name == b"colr" and held[place : place + 4] in (b"nclx", b"nclc"):
                transfer = _HDR.get(struct.unpack_from(">H", held, place + 6)[0], "")
                break
        found = replace(found, hdr=transfer)  # empty where it is a screen's or unsaid
    if b"mdhd" in at and b"stts" in at:
        scale, count = (
            struct.unpack_from(">I", held, place)[0]
            for place in (at[b"mdhd"] + (20 if held[at[b"mdhd"]] else 12), at[b"stts"] + 4)
        )
        ticks = struct.unpack_from(">I", held, at[b"stts"] + 8 * count + 4)[0] if count else 0
        found = replace(found, last=ticks / scale if scale and ticks else None)
    return found


def _matrix(held: bytes, at: int) -> np.ndarray:
    a, b, _, c, d = struct.unpack_from(">5i", held, at)
    return np.array([[a, b], [c, d]]) / 65536


def _boxes(held: bytes, at: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Kind of each box of MP4 between two places, and where its content begins and ends."""
    for _ in range(_MOST_PARTS):
        if at + 8 > min(end, len(held)):
            return
        size, kind = struct.unpack_from(">I4s", held, at)
        if size < 8:
            return
        yield kind, at + 8, min(at + size, end)
        at += size


def _inside(held: bytes, at: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Boxes of a track, through those that only hold others."""
    for kind, begin, stop in _boxes(held, at, end):
        if kind in _BRANCHES:
            yield from _inside(held, begin, stop)
        else:
            yield kind, begin, stop


def _of_matroska(file: BinaryIO) -> Marks:
    for entry in _elements(file, _size(file), (_SEGMENT, _TRACKS), _ENTRY):
        held = io.BytesIO(entry)
        told = dict(_values(held, len(entry)))
        if int.from_bytes(told.get(_TRACK_TYPE, b"")) == 1:
            turns = (told.get(each, b"") for each in (_YAW, _ROLL, _PITCH))
            yaw, roll, pitch = (
                struct.unpack(_FLOATS[len(each)], each)[0] if len(each) in _FLOATS else 0.0 for each in turns
            )
            matrix = _UPRIGHT
            if not pitch and yaw in (0, 180, -180):
                angle, across = math.radians(-roll if yaw else roll), -1 if yaw else 1
                matrix = across * math.cos(angle), -math.sin(angle), across * math.sin(angle), math.cos(angle)
            return Marks(matrix, _HDR.get(int.from_bytes(told.get(_TRANSFER, b"")), ""))
    return Marks()


def _elements(file: BinaryIO, end: int, through: tuple[int, ...], wanted: int) -> Iterator[bytes]:
    """Contents of the elements of a kind below others, each by its first bytes."""
    for kind, stop in _parts(file, end):
        if kind == wanted:
            yield file.read(min(stop - file.tell(), _MOST_ENTRY))
        elif kind in through:
            yield from _elements(file, stop, through, wanted)


def _values(file: BinaryIO, end: int) -> Iterator[tuple[int, bytes]]:
    """Every value of a track's entry, through the elements that only hold others."""
    for kind, stop in _parts(file, end):
        if kind in _HOLDERS:
            yield from _values(file, stop)
        else:
            yield kind, file.read(min(stop - file.tell(), 8))


def _parts(file: BinaryIO, end: int) -> Iterator[tuple[int, int]]:
    """Kind and end of each element of Matroska up to a place, the file at its content."""
    for _ in range(_MOST_PARTS):
        if file.tell() >= end:
            return
        kind, size = _number(file, marked=True), _number(file, marked=False)
        stop = end if size is None or kind is None else min(end, file.tell() + size)
        yield kind or 0, stop
        file.seek(stop)


def _number(file: BinaryIO, *, marked: bool) -> int | None:
    """A number of variable length, with or without the bits that tell it; None where it says that it is unknown."""
    first = file.read(1)[0]
    length = 9 - first.bit_length()
    whole = bytes([first]) + file.read(length - 1)
    value = int.from_bytes(whole)
    bare = value & ((1 << 7 * length) - 1)
    return value if marked else None if bare == (1 << 7 * length) - 1 else bare


def _of_gif(file: BinaryIO) -> Marks:
    """How long the last frame of a GIF is shown; below 0.02 s it is a tenth of a second to every player."""
    header, last = file.read(13), None
    file.seek(3 * 2 << (header[10] & 7) if header[10] & 128 else 0, io.SEEK_CUR)
    while (mark := file.read(1)) in (b"!", b","):
        if mark == b",":
            frame = file.read(9)
            file.seek((3 * 2 << (frame[8] & 7) if frame[8] & 128 else 0) + 1, io.SEEK_CUR)
        elif file.read(1) == b"\xf9":
            control = file.read(5)
            hundredths = int.from_bytes(control[2:4], "little")
            last = hundredths / 100 if hundredths >= 2 else 0.1
        while (size := file.read(1)[0]) > 0:
            file.seek(size, io.SEEK_CUR)
    return Marks(last=last)


def _size(file: BinaryIO) -> int:
    end = file.seek(0, io.SEEK_END)
    file.seek(0)
    return end


MAX_PIXELS = 9_000_000  # largest frame, in pixels: 4096 × 2160 fits

_LISTENING = threading.Lock()
"""Standard error is one for all threads: two that listened at once would each give the other's file back for it."""

_SQUARE = 0.01
"""Pixels that are so little wider or narrower than high are square: an encoder rounds the shape of a frame."""


class BadVideo(BadImage):
    """A video that cannot be decoded safely (truncated, empty, too large, no video)."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How the stored frames of a film are shown."""

    marks: Marks
    stretched: tuple[int, int]  # of a stored frame with its pixels made square, before it is turned

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
    Raises BadVideo if it cannot be opened, or is to be shown aslant."""
    import cv2

    # an absolute path names no protocol; only FFmpeg, since other backends read patterns of names and devices
    capture = cv2.VideoCapture(str(path.absolute()), cv2.CAP_FFMPEG)
    try:
        if not capture.isOpened():
            why = "broken or in a codec that OpenCV lacks, or holds no picture; convert it to MP4 (H.264)"
            raise BadVideo(f"{path}: the video is {why}")
        capture.set(cv2.CAP_PROP_ORIENTATION_AUTO, 0)  # OpenCV turns a mirrored track by 180°
        width, height = (int(capture.get(each)) for each in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT))
        told = marks(path)
        if not told.quarter:
            raise BadVideo(f"{path}: its track is to be shown aslant, and only quarter turns are; export it upright")
        across, down = (float(capture.get(each)) for each in (cv2.CAP_PROP_SAR_NUM, cv2.CAP_PROP_SAR_DEN))
        known = across > 0 and down > 0 and path.suffix.lower() != ".gif"  # no browser stretches a GIF
        wide = across / down if known and abs(across / down - 1) >= _SQUARE else 1.0
        stretched = (round(width * max(wide, 1.0)), round(height / min(wide, 1.0)))
        yield capture, Shape(told, stretched)
    finally:
        capture.release()


def codec_of(capture: "cv2.VideoCapture") -> str:
    """The four characters that name a codec, as far as they can be shown."""
    import cv2

    code = int(capture.get(cv2.CAP_PROP_FOURCC)) & 0xFFFFFFFF
    return "".join(each for each in code.to_bytes(4, "little").decode("latin-1") if each.isalnum()) or "unnamed"


def retrieved(capture: "cv2.VideoCapture", path: Path, place: int) -> np.ndarray:
    """The frame that was grabbed, as it is stored: uint8 BGR [H, W, 3].
    Raises BadVideo if there is none, or none that may be believed."""
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
    """What the decoder complains of meanwhile, afterwards the only entry; other words go on to standard error. OpenCV 5
    answers an interlaced frame with an array that holds no picture and calls it read; FFmpeg's complaint on standard
    error is the only sign."""
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
