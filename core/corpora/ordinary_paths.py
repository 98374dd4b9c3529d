"""Which paths name ordinary files and folders: nothing of the kernel's, and nothing that waits or never ends."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from core.errors import InvalidInput

KERNEL = (Path("/proc"), Path("/sys"), Path("/dev"))
"""Folders whose files are windows into the kernel: reading one may wait for ever, end never, or tell secrets."""

_ORDINARY = (Path("/dev/shm"),)  # memory that is used as a disk
_KINDS = {stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket", stat.S_ISCHR: "a device", stat.S_ISBLK: "a device"}


def ordinary(path: Path) -> Path:
    """Return a path that names an ordinary file or folder, or nothing yet; links are followed to find out. Nothing is
    opened. Raises InvalidInput for what lies in /proc, /sys or /dev, for pipes, sockets, devices and links to them, for
    links in a circle and for what no disk can hold."""
    told = str(path)[:300]
    try:
        real = Path(os.path.realpath(path))
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        mode = stat.S_IFREG  # nothing yet
    except (OSError, ValueError, RuntimeError) as error:
        raise InvalidInput(
            f"{told!r} is no path that can be followed ({getattr(error, 'strerror', None) or error}); correct it"
        ) from error
    kernel = in_kernel(real)
    if kernel is not None:
        raise InvalidInput(
            f"{told} lies in {kernel}, where the system shows itself and no data lie; name a file or folder of your own"
        )
    kind = next((name for test, name in _KINDS.items() if test(mode)), None)
    if kind is not None:
        raise InvalidInput(f"{told} is {kind}, and only files and folders are read; write its content into a file")
    return path


def in_kernel(real: Path) -> Path | None:
    """The folder of the kernel in which a path without links lies, or None."""
    if any(real.is_relative_to(folder) for folder in _ORDINARY):
        return None
    return next((folder for folder in KERNEL if real.is_relative_to(folder)), None)


def lies_in(path: Path, roots: Sequence[Path]) -> bool:
    """Whether a path lies in one of some folders once every link is followed; nothing is opened."""
    try:
        real = Path(os.path.realpath(path))
        return any(real.is_relative_to(os.path.realpath(root)) for root in roots)
    except (OSError, ValueError):
        return False
