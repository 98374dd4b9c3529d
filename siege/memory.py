"""The most memory that this process and those that it started held while something was tried."""

from contextlib import suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]


class Peak:
    """Begin to watch; Linux alone keeps a process's peak and lets it be set back, elsewhere it reads as 0."""

    def __init__(self) -> None:
        self._before = {each.pid: _resident_mb(each.pid) for each in _family()}
        for pid in self._before:
            with suppress(OSError):
                Path(f"/proc/{pid}/clear_refs").write_text("5")

    def most_mb(self) -> float:
        """Most that one process held beyond what it held at the beginning; a new one counts as a whole."""
        return max((_peak_mb(each.pid) - self._before.get(each.pid, 0.0) for each in _family()), default=0.0)


def _family() -> list[psutil.Process]:
    own = psutil.Process()
    return [own, *own.children(recursive=True)]


def _resident_mb(pid: int) -> float:
    return _status_mb(pid, "VmRSS:")


def _peak_mb(pid: int) -> float:
    return _status_mb(pid, "VmHWM:")


def _status_mb(pid: int, name: str) -> float:
    """A line of Linux's account of a process, in MB; 0 where there is none."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(name)), 0.0)
