"""The dashboard on a free port, with a data folder of its own."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from urllib.error import URLError
from urllib.request import urlopen

import psutil  # type: ignore[import-untyped]

from core.settings import ROOT

START_S = 300.0
"""Seconds that a server may take to answer."""


class Server:
    """A server that runs while the context is open.

    Args:
        data: folder for ``INVARISCOPE_DATA``.
        port: to listen on; a free one by default. After a kill, one on the same port is what its readers come back to.
    """

    def __init__(self, data: Path, *, port: int | None = None) -> None:
        self.port = port or _free_port()
        self.address = f"localhost:{self.port}"
        env = {**os.environ, "INVARISCOPE_DATA": str(data), "OMP_WAIT_POLICY": "PASSIVE"}
        command = [sys.executable, "-m", "streamlit", "run", "serve.py", "--server.port", str(self.port)]
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def __enter__(self) -> "Server":
        until = time.monotonic() + START_S
        while time.monotonic() < until:
            try:
                with urlopen(f"http://{self.address}/_stcore/health", timeout=2):
                    return self
            except (URLError, OSError):
                time.sleep(0.1)
        self._process.kill()
        raise RuntimeError(f"the app did not start within {START_S:.0f} s")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.terminate()
        self._process.wait(timeout=30)

    def kill(self) -> None:
        """End it as ``kill -9`` does."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def resident_mb(self) -> float:
        """Memory that the server and the processes that it started hold, in MB of 10**6 bytes."""
        own = psutil.Process(self._process.pid)
        return sum(_resident(each) for each in (own, *own.children(recursive=True))) / 1e6


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:  # it left between the list and the look
        return 0
