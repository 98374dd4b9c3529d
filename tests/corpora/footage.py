"""Small videos that tests write: coloured squares that move, as MP4 or as a folder of frames."""

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

COLOURS = {"red": (200, 30, 30), "green": (30, 160, 30), "blue": (30, 30, 220)}


def moving(colour: str, frames: int = 6, *, size: tuple[int, int] = (64, 48)) -> list[np.ndarray]:
    """A square of a colour that moves from left to right on grey; uint8 RGB."""
    made = []
    for place in range(frames):
        frame = np.full((size[1], size[0], 3), 120, dtype=np.uint8)
        left = place * (size[0] - 20) // max(frames - 1, 1)
        frame[12:36, left : left + 20] = COLOURS[colour]
        made.append(frame)
    return made


def write_video(path: Path, frames: Sequence[np.ndarray], *, rate: float = 8.0) -> Path:
    """Write frames as a video; its ending chooses the container."""
    path.parent.mkdir(parents=True, exist_ok=True)
    height, width = frames[0].shape[:2]
    code = cv2.VideoWriter_fourcc(*("MJPG" if path.suffix == ".avi" else "mp4v"))  # type: ignore[attr-defined]
    writer = cv2.VideoWriter(str(path), cv2.CAP_FFMPEG, code, rate, (width, height))
    assert writer.isOpened()
    for frame in frames:
        writer.write(cv2.cvtColor(frame, cv2.COLOR_RGB2BGR))
    writer.release()
    return path


def write_frames(folder: Path, frames: Sequence[np.ndarray]) -> Path:
    """Write frames as PNG files 1.png, 2.png, …"""
    folder.mkdir(parents=True)
    for place, frame in enumerate(frames, 1):
        Image.fromarray(frame).save(folder / f"{place}.png")
    return folder
