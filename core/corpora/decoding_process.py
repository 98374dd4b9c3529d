"""The process in which pictures and videos are decoded apart: asked on standard input, answers on standard output.

A question is a line of JSON and the bytes of a file; an answer a line of JSON and the bytes of the pixels. A video is
named instead, since its decoder opens files alone. Before each of them the address space is limited to what the process
had at its start and what the question allows.
"""

import json
import os
import sys
from dataclasses import asdict, fields
from pathlib import Path
from typing import IO, Any

import numpy as np

from core.corpora.image_header import decode_opened, open_bytes, stated_header
from core.errors import BadImage

try:
    import resource
except ModuleNotFoundError:  # not on every system; the time is limited everywhere
    resource = None  # type: ignore[assignment]


def main() -> None:
    """Answer until standard input ends."""
    asking, answering = sys.stdin.buffer, sys.stdout.buffer
    try:
        with Path("/proc/self/statm").open() as file:
            taken: int | None = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        taken = None
    while line := asking.readline():
        asked = json.loads(line)
        _limit(None if taken is None else taken + asked["memory_mb"] * 2**20)
        told, pixels = _answer(asked, asking)
        _limit(None)
        told["bytes"] = 0 if pixels is None else pixels.nbytes
        answering.write(json.dumps(told).encode() + b"\n")
        if pixels is not None:
            answering.write(pixels.data.cast("B"))
        answering.flush()


def _answer(asked: dict[str, Any], asking: IO[bytes]) -> tuple[dict[str, Any], np.ndarray | None]:
    size: tuple[int, int] | None = None
    name = asked["name"]
    try:
        data = asking.read(asked["bytes"])
        if asked["do"] == "frames":
            return _frames(asked)
        kind, image = open_bytes(data, name=name, max_pixels=asked["max_pixels"])
        size = image.size
        if asked["do"] == "header":
            return asdict(stated_header(kind, image)), None
        found = decode_opened(kind, image, data, name=name, max_side=asked["max_side"])
    except BadImage as error:
        if _out_of_memory(error):
            return {"failed": "memory", "size": size}, None
        return {"failed": "bad", "sentence": str(error)}, None
    except MemoryError:
        return {"failed": "memory", "size": size}, None
    told = {name: getattr(found, name) for name in ("bytes_sha256", "pixels_sha256", "format", "notes")}
    return {**told, "shape": found.pixels.shape}, found.pixels


def _frames(asked: dict[str, Any]) -> tuple[dict[str, Any], np.ndarray]:
    import cv2  # only where a video is asked for

    from core.corpora.video_frames import Sampling, read_scaled

    try:
        footage, frames = read_scaled(Path(asked["path"]), Sampling(asked["count"]), side=asked["side"])
    except cv2.error as error:
        if error.code != cv2.Error.StsNoMem:
            raise BadImage(f"{asked['path']}: a frame is broken ({error.err}); convert it") from error
        raise MemoryError from error
    told = {each.name: getattr(footage, each.name) for each in fields(footage) if each.name != "path"}
    return {"footage": told, "shape": frames.shape}, frames


def _out_of_memory(error: BadImage) -> bool:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError) or "allocat" in str(cause):
            return True
        cause = cause.__cause__
    return False


def _limit(most: int | None) -> None:
    """Limit the address space to so many bytes; None takes the limit away."""
    if resource is not None:
        unlimited = resource.RLIM_INFINITY
        resource.setrlimit(resource.RLIMIT_AS, (unlimited if most is None else most, unlimited))


if __name__ == "__main__":
    main()
