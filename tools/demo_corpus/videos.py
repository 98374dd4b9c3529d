"""Videos of the demo corpus: one cut-out that moves before a still background, and a caption that is true of it.

The background of a video is drawn once, the cut-out is put on it frame by frame, so that nothing but its place or its
size changes. Captions are English alone.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from core.corpora.demo_backgrounds import Background, make_background, shadowed
from core.corpora.demo_plan import Plan, capital, rows_of
from core.corpora.video_folder import BACKWARDS
from core.errors import BadCorpus, StoreError
from core.seeds import RUN_SEED, stream
from tools.demo_corpus.composed import cut_out, matched_light
from tools.demo_corpus.stamps import PACKAGE, PACKAGE_VERSION, read_stamp

FOLDER = "videos"
SIZE = (320, 240)
FRAMES = 16
RATE = 8.0
"""Frames a second."""

MOTIONS: Mapping[str, tuple[str, str]] = {
    "right": ("moves from left to right", "moves from right to left"),
    "left": ("moves from right to left", "moves from left to right"),
    "up": ("moves upwards", "moves downwards"),
    "down": ("moves downwards", "moves upwards"),
    "nearer": ("grows larger", "grows smaller"),
}
"""Motion -> what is true of it, and what is true of it backwards."""

_COLUMNS = ("id", "stamp", "background", "motion", "height")
_EDGE = 0.03
_SMALLEST = 0.35
"""Of its last size, what a cut-out that comes nearer begins with."""


@dataclass(frozen=True, slots=True)
class VideoEntry:
    """One video: a stamp, a background, a motion, and how high the cut-out is, in percent of the frame."""

    id: str
    stamp: str
    background: str
    motion: str
    height: int


@dataclass(frozen=True, slots=True)
class BuiltVideo:
    """A video that was written: its file, its captions, where it comes from."""

    name: str
    captions: tuple[str, ...]
    backwards: str
    source: str


def read_videos(folder: Path, plan: Plan) -> tuple[VideoEntry, ...]:
    """Read ``videos.csv``.

    Raises:
        BadCorpus: naming the file, the line and the value that cannot be used.
    """
    found = []
    for where, row in rows_of(folder / "videos.csv", _COLUMNS):
        if row["stamp"] not in plan.stamps or row["background"] not in plan.grammar.places:
            raise BadCorpus(f"{where}: stamp and background must stand in stamps.csv and places.csv, got {row}")
        if row["motion"] not in MOTIONS:
            raise BadCorpus(f"{where}: {row['motion']!r} must be one of {', '.join(MOTIONS)}")
        if not row["height"].isdigit() or not 5 <= int(row["height"]) <= 80:
            raise BadCorpus(f"{where}: height must be 5 to 80 percent of the frame, got {row['height']!r}")
        found.append(VideoEntry(row["id"], row["stamp"], row["background"], row["motion"], int(row["height"])))
    return tuple(found)


def build_videos(output: Path, assets: Path, plan: Plan, stamps: Path) -> tuple[BuiltVideo, ...]:
    """Write every video with ``captions.json`` and :data:`BACKWARDS` into a folder.

    Args:
        output: folder of the corpus; the videos lie in ``videos`` below it.
        assets: folder of the editable lists.
        stamps: folder of the stamps.

    Raises:
        StoreError: if a video cannot be written.
    """
    folder = output / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    built = tuple(_build(entry, plan, stamps, folder) for entry in read_videos(assets, plan))
    for name, held in (
        ("captions.json", {Path(each.name).stem: list(each.captions) for each in built}),
        (BACKWARDS, {Path(each.name).stem: each.backwards for each in built}),
    ):
        (folder / name).write_text(json.dumps(held, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return built


def video_frames(entry: VideoEntry, plan: Plan, stamps: Path) -> tuple[Iterator[np.ndarray], Background]:
    """Frames of a video one after the other, uint8 RGB [H, W, 3], and their background."""
    rng = stream(RUN_SEED, "build-demo-video", entry.id)
    place = make_background(entry.background, *SIZE, rng)
    return _frames(entry, plan, read_stamp(stamps, entry.stamp), place), place


def _build(entry: VideoEntry, plan: Plan, stamps: Path, folder: Path) -> BuiltVideo:
    frames, place = video_frames(entry, plan, stamps)
    name = f"{entry.id}.mp4"
    _write(folder / name, frames)
    stamp = plan.stamps[entry.stamp]
    noun = (plan.grammar.nouns.get(entry.stamp) or plan.grammar.nouns[stamp.label])["en"]
    where = plan.grammar.places[entry.background]["en"]
    true, backwards = (capital(f"{noun} {motion} {where}.") for motion in MOTIONS[entry.motion])
    source = (
        f"{PACKAGE} {PACKAGE_VERSION}: {entry.stamp} (cut-out, moved) on background {entry.background!r} made of "
        f"scikit-image's {' and '.join(place.photographs)}"
    )
    return BuiltVideo(name, (true, f"There is {noun} {where}."), backwards, source)


def _frames(entry: VideoEntry, plan: Plan, stamp: Image.Image, place: Background) -> Iterator[np.ndarray]:
    pose = plan.stamps[entry.stamp].pose
    for number in range(FRAMES):
        share = number / (FRAMES - 1)
        zoom = _SMALLEST + (1 - _SMALLEST) * share if entry.motion == "nearer" else 1.0
        height = round(SIZE[1] * entry.height / 100 * zoom)
        cut = cut_out(stamp, (max(1, round(stamp.width * height / stamp.height)), height))
        at = _at(entry.motion, share, cut.size, place.horizon if pose == "stand" else 0)
        canvas = place.image.copy()
        lit = matched_light(cut, place.image, np.asarray(cut.getchannel("A")) > 127)
        if pose != "float":
            canvas = shadowed(canvas, lit.getchannel("A"), at, standing=pose == "stand")
        canvas.paste(lit, at, lit)
        yield np.asarray(canvas.convert("RGB"))


def _at(motion: str, share: float, size: tuple[int, int], horizon: int) -> tuple[int, int]:
    """Left upper corner of the cut-out at a share of the way."""
    slack = [frame - side - 2 * round(_EDGE * frame) for frame, side in zip(SIZE, size, strict=True)]
    edge = [round(_EDGE * frame) for frame in SIZE]
    along = 1 - share if motion in ("left", "up") else share
    left, top = slack[0] / 2, slack[1] / 2
    if motion in ("left", "right"):
        left = along * slack[0]
        top = slack[1] if horizon else top
    elif motion in ("up", "down"):
        top = along * slack[1]
    return edge[0] + round(left), edge[1] + round(top)


def _write(path: Path, frames: Iterator[np.ndarray]) -> None:
    import cv2

    code = cv2.VideoWriter.fourcc(*"mp4v")
    writer = cv2.VideoWriter(str(path), cv2.CAP_FFMPEG, code, RATE, SIZE)
    if not writer.isOpened():
        raise StoreError(f"{path} cannot be written as a video; check the disk and the package opencv-python-headless")
    try:
        for frame in frames:
            writer.write(cv2.cvtColor(frame, cv2.COLOR_RGB2BGR))
    finally:
        writer.release()
