"""What a command may write to: a regular file or a folder, never a device, a pipe or what a link leads to.

A rename replaces whatever has a name: as root, a file written to ``/dev/full`` takes the place of the device. And a
link in a folder leads writing out of it. One rule for every output stands here; :mod:`core.writing` holds every
file and folder to it, the command line every option that names an output, before any work is done.
"""

import os
import stat
from pathlib import Path

from core.errors import InvalidInput

LEFTOVER = ".invariscope.tmp"
"""Ends the names of the folders that outputs are filled in, so that no other program's is swept."""

_KINDS = (
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)


def why_not_file(path: Path) -> str | None:
    """Why no file may be written under a name, as a sentence; None where it may: a regular file, or nothing yet.

    Example:
        >>> why_not_file(Path("/dev/full"))
        '/dev/full is a device, and outputs replace nothing but regular files; name another file'
    """
    found = _mode(path)
    if found is None or stat.S_ISREG(found):
        return None
    if stat.S_ISDIR(found):
        return f"{path} is a folder; name a file in it"
    if stat.S_ISLNK(found):
        return f"{path} is a link to {path.readlink()}, and outputs follow no link; name the file itself"
    kind = next((name for is_kind, name in _KINDS if is_kind(found)), "no regular file")
    return f"{path} is {kind}, and outputs replace nothing but regular files; name another file"


def why_not_folder(path: Path) -> str | None:
    """Why nothing may be written into a folder, as a sentence; None where it may, be it there already or not.

    A folder that is there is walked through: a link in it that leads out of it would lead writing out too.
    """
    found = _mode(path)
    if found is None:
        return None
    if stat.S_ISLNK(found):
        return f"{path} is a link to {path.readlink()}, and outputs follow no link; name the folder itself"
    if not stat.S_ISDIR(found):
        return f"{path} is no folder; name a folder"
    within = path.resolve()
    for above, folders, files in os.walk(path):
        for name in (*folders, *files):
            each = Path(above, name)
            if each.is_symlink() and not each.resolve().is_relative_to(within):
                return f"{each} is a link that leads out of {path}; take it away, or name another folder"
    return None


def check_file(path: Path) -> Path:
    """Return the name of a file that may be written.

    Raises:
        InvalidInput: for one of :func:`why_not_file`.
    """
    if why := why_not_file(path):
        raise InvalidInput(why)
    return path


def check_folder(path: Path) -> Path:
    """Return a folder that may be written into.

    Raises:
        InvalidInput: for one of :func:`why_not_folder`.
    """
    if why := why_not_folder(path):
        raise InvalidInput(why)
    return path


def check_empty(path: Path, *, overwrite: bool) -> Path:
    """Return a folder to fill that holds nothing yet, or whose files may be replaced.

    Raises:
        InvalidInput: for one of :func:`why_not_folder`, and for one that holds files unless they may be replaced.
    """
    check_folder(path)
    if not overwrite and path.is_dir() and any(not each.name.endswith(LEFTOVER) for each in path.iterdir()):
        raise InvalidInput(f"{path} holds files; choose another folder, or say --overwrite (in Python overwrite=True)")
    return path


def _mode(path: Path) -> int | None:
    """Kind and rights of what has the name, a link itself included; None where there is nothing, or nobody may look."""
    try:
        return path.lstat().st_mode
    except OSError:
        return None
