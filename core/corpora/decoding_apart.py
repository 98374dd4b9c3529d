"""Pictures and videos decoded apart: in a process with limits on memory and time, replaced where it took more.

The process (:mod:`core.corpora.decoding_process`) is warm: an ordinary picture costs what it costs here and the
copying of its pixels. It is asked on standard input and answers on standard output, a line of JSON and some bytes each
way; nothing is unpickled. It ends with this one.
"""

import atexit
import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from core import settings
from core.corpora.image_header import MAX_PIXELS, DecodedImage, ImageHeader, no_memory
from core.errors import BadImage, NotAvailable

MOST_LINE = 1 << 24  # most bytes of the line of an answer
MOST_BYTES = 1 << 31  # most bytes that may follow it


class AskedProcess:
    """One warm process; asked by one thread at a time.
    ``one_thread``: whether its matrix library keeps to one thread."""

    def __init__(self, module: str, *arguments: str, one_thread: bool = False) -> None:
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"} if one_thread else {}
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=settings.ROOT if not settings.INSTALLED else None,
            env=settings.environment() | threads,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.spent = False
        """Whether it must be replaced."""

    def ask(self, asked: dict[str, Any], data: bytes, seconds: float) -> tuple[dict[str, Any], bytearray]:
        """Return what it answers; ``failed`` is ``late`` where it was ended, ``gone`` where it ended."""
        late = threading.Event()

        def end() -> None:
            late.set()
            self._process.kill()

        timer = threading.Timer(seconds, end)
        timer.daemon = True
        timer.start()
        to, back = self._process.stdin, self._process.stdout
        assert to is not None
        assert back is not None
        try:
            to.write(json.dumps({**asked, "bytes": len(data)}).encode() + b"\n")
            to.write(data)
            to.flush()
            line = back.readline(MOST_LINE)
            if not line:
                raise EOFError
            told = json.loads(line)
            if not 0 <= told["bytes"] <= MOST_BYTES:
                raise ValueError(told["bytes"])
            answer = bytearray(told["bytes"])
            if back.readinto(answer) != len(answer):  # type: ignore[attr-defined]  # a buffered reader fills it or ends
                raise EOFError
            return told, answer
        except (OSError, EOFError, ValueError, TypeError, KeyError):
            self.spent = True
            return {"failed": "late" if late.is_set() else "gone"}, bytearray()
        finally:
            timer.cancel()
            timer.join()
            self.spent = self.spent or late.is_set()

    def end(self) -> None:
        """End the process and give its pipes back."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):  # what it never read stays in the buffer
                assert pipe is not None
                pipe.close()


_MODULE = "core.corpora.decoding_process"
_MOST_PROCESSES = 2
_TRIES = 1 + _MOST_PROCESSES
"""How often a picture is given to a process that may have ended before, or have ended over it."""

_PATIENCE_S = 60.0  # how long a picture waits for a process that decodes others, before its reader is told so


@dataclass(frozen=True, slots=True)
class Limits:
    """Of decoding one picture."""

    memory_mb: int  # address space, in MB, beyond what the process takes before; kept where the system can (Linux)
    seconds: float  # wall clock, its way there and back included


def decode_apart(data: bytes, *, name: str, max_side: int | None, max_pixels: int, limits: Limits) -> DecodedImage:
    """Like :func:`core.corpora.image_header.decode_image`, within limits.
    Raises BadImage also where a limit is reached; NotAvailable where other pictures keep every process busy."""
    asked = {"do": "decode", "name": name, "max_side": max_side, "max_pixels": max_pixels}
    told, pixels = _ask(asked, data, limits)
    kept = np.frombuffer(pixels, np.uint8).reshape(told["shape"])
    return DecodedImage(kept, told["bytes_sha256"], told["pixels_sha256"], told["format"], tuple(told["notes"]))


def header_apart(data: bytes, *, name: str, limits: Limits) -> ImageHeader:
    """Read format and size of an image, within limits. Raises BadImage, NotAvailable as :func:`decode_apart`."""
    told, _ = _ask({"do": "header", "name": name, "max_pixels": MAX_PIXELS}, data, limits)
    return ImageHeader(told["format"], told["width"], told["height"], told["orientation"])


def frames_apart(
    path: Path, *, name: str, count: int | None, side: int, limits: Limits
) -> tuple[dict[str, Any], np.ndarray]:
    """Like :func:`core.corpora.video_frames.read_scaled`, within limits.
    ``count``: how many frames, evenly spaced; None for all. ``side``: longest side of a frame, in pixels. Returns the
    fields of :class:`core.corpora.video_frames.Footage` but its path, and the frames, uint8 RGB [T, H, W, 3].
    Raises BadImage, NotAvailable as :func:`decode_apart`."""
    asked = {"do": "frames", "name": name, "path": str(path.absolute()), "count": count, "side": side}
    told, pixels = _ask(asked, b"", limits, cure="cut it into shorter parts, or convert it to MP4 (H.264)", once=True)
    return told["footage"], np.frombuffer(pixels, np.uint8).reshape(told["shape"])


def _ask(
    asked: dict[str, Any],
    data: bytes,
    limits: Limits,
    *,
    cure: str = "export it anew, as a plain JPEG or PNG",
    once: bool = False,
) -> tuple[dict[str, Any], bytearray]:
    """Have a process answer; one asked ``once`` is replaced: what it loaded would count against the next file."""
    told: dict[str, Any] = {"failed": "gone"}
    for _ in range(_TRIES):
        with _processes(os.getpid()).borrowed() as process:  # a fork must not speak to its parent's
            told, pixels = process.ask({**asked, **asdict(limits)}, data, limits.seconds)
            process.spent = process.spent or once
        if told.get("failed") != "gone":
            break
    name = asked["name"]
    match told.get("failed"):
        case None:
            return told, pixels
        case "late":
            raise BadImage(f"{name}: decoding it takes more than {limits.seconds:g} s; {cure}")
        case "memory" if told.get("size"):
            raise no_memory(name, *told["size"])
        case "gone":
            raise BadImage(f"{name}: the process that decodes it ends each time; {cure}")
        case "memory":
            raise BadImage(
                f"{name}: decoding it takes more than {limits.memory_mb} MB; scale it down or export it anew"
            )
        case _:
            raise BadImage(told["sentence"])


class _Processes:
    """A few processes, started when needed, lent one at a time."""

    def __init__(self) -> None:
        self._free: list[AskedProcess] = []
        self._places = threading.Semaphore(_MOST_PROCESSES)
        self._lock = threading.Lock()
        atexit.register(self.close)

    @contextlib.contextmanager
    def borrowed(self) -> Iterator[AskedProcess]:
        """Lend a process; one that is spent or has ended is replaced by the next who asks."""
        if not self._places.acquire(timeout=_PATIENCE_S):
            raise NotAvailable("other files are being decoded; try this one again in a minute")
        try:
            with self._lock:
                process = self._free.pop() if self._free else None
            process = process or AskedProcess(_MODULE, one_thread=True)
            try:
                yield process
            except BaseException:
                process.spent = True
                raise
            finally:
                if process.spent:
                    process.end()
                else:
                    with self._lock:
                        self._free.append(process)
        finally:
            self._places.release()

    def close(self) -> None:
        """End those that are free."""
        with self._lock:
            free, self._free = self._free, []
        for process in free:
            process.end()


@cache
def _processes(_pid: int) -> _Processes:
    return _Processes()


def end_processes() -> None:
    """End the processes that wait for a picture; the next picture starts one."""
    _processes(os.getpid()).close()
