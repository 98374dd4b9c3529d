"""A process of this house that is asked on standard input and answers on standard output, within a time.

A question is a line of JSON and some bytes, an answer likewise; nothing is unpickled. The process ends with this one.
"""

import contextlib
import json
import subprocess
import sys
import threading
from typing import Any

from core import settings

MOST_LINE = 1 << 24
"""Most bytes of the line of an answer."""

MOST_BYTES = 1 << 31
"""Most bytes that may follow it."""


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
        try:
            return self._exchange(asked, data)
        except (OSError, EOFError, ValueError, TypeError, KeyError):
            self.spent = True
            return {"failed": "late" if late.is_set() else "gone"}, bytearray()
        finally:
            timer.cancel()
            timer.join()
            self.spent = self.spent or late.is_set()

    def _exchange(self, asked: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytearray]:
        to, back = self._process.stdin, self._process.stdout
        assert to is not None
        assert back is not None
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
        if back.readinto(answer) != len(answer):  # type: ignore[attr-defined]  # a buffered reader fills it or has ended
            raise EOFError
        return told, answer

    def end(self) -> None:
        """End the process and give its pipes back."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):  # what it never read stays in the buffer
                assert pipe is not None
                pipe.close()
