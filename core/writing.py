"""Writing a whole file or a whole folder, or nothing: a kill, a full disk or a second reader never meets half of one.

Everything is filled beside its target under a name that nobody can guess, synced, looked at, and given its name in one
step. What a killed process left there is swept by the next that writes into the same folder, and by no other means than
a lock is it known to be dead: the system drops the lock of a process that ends, however it ends.
"""

import errno
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Literal, TypeVar

from core.errors import InvalidInput, StoreError, first_line

try:
    import fcntl
except ModuleNotFoundError:  # Windows: nobody can tell there who is dead, but by age
    fcntl = None  # type: ignore[assignment]

T = TypeVar("T")
Standing = Literal["kept", "replaced", "refused"]  # what becomes of files that stand where a whole folder is written
_LONGEST = 200  # characters of a file's name in that of its temporary folder; a file system takes 255
_swept: set[Path] = set()  # folders in which this process has looked for what others left


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a temporary file, sync it, open it again, and give it its name in one step.
    ``path``: final name; its folder is made when needed.
    ``write``: called with the temporary path, whose name is the final one's. It raises where what lies there is not
    what it meant to write; a Parquet file is opened again here.
    Raises StoreError if it cannot be written, or is a folder, a device or a link; what stood there still stands."""
    _refuse(why_not_file(path))
    with _told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _aside(path.parent.absolute(), path.name) as aside:
            temporary = aside / path.name
            write(temporary)
            take_place(temporary, path)


def take_place(made: Path, path: Path) -> None:
    """Sync a file beside its place, open it again, give it its name in one step. Raises as :func:`write_whole`."""
    with _told(path):
        _sync(made)
        if made.suffix == ".parquet":  # what a library has written, before it takes the place of what is whole
            from pyarrow import ArrowException
            from pyarrow.parquet import read_metadata

            try:
                read_metadata(made)
            except (ArrowException, OSError) as error:
                raise OSError(None, f"it was not written whole ({first_line(error)})") from error
        _refuse(why_not_file(path))  # as it is now, after what may have been long work
        made.replace(path)
        _sync(path.parent)


def write_bytes(path: Path, data: bytes) -> None:
    """Write bytes as a whole file or nothing. Raises StoreError as :func:`write_whole`."""
    write_whole(path, lambda temporary: temporary.write_bytes(data))


def write_folder_whole(
    folder: Path, write: Callable[[Path], T], *, standing: Standing = "kept", sync: bool = True
) -> T:
    """Let ``write`` fill a new folder beside another, sync it, and put it in the other's place.
    A folder that is not there yet becomes whole in one rename. One that is there is put aside by one rename, and the
    new one takes its name by another. A kill between the two, some microseconds, leaves nothing under the name; the
    next call that writes beside it brings the old one back first. Where a folder cannot be renamed (a disk or a
    container's volume is mounted there, it is the current one, or the one above may not be written), the new files are
    made aside in it and renamed one by one once all of them are whole, those on top last.
    ``write``: called with a temporary folder, which is there and empty.
    ``standing``: what becomes of files that stand in the folder: ``kept`` where ``write`` makes no others of their
    names, ``replaced``, all of them, or ``refused``: a folder that holds any is left as it is.
    ``sync``: whether all of it is on the disk before it takes its name; a loss of power may empty files else, which is
    for readers who compare what they read with digests. Returns what ``write`` returned.
    Raises StoreError if the folder cannot be written; what stood there before still stands."""
    _refuse(why_not_folder(folder))
    with _told(folder):
        target = folder.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        sweep(target.parent)
        free = not target.exists() or not (target.is_mount() or Path.cwd().is_relative_to(target))
        beside = free and (os.access(target.parent, os.W_OK) or not target.exists())
        with _aside(target.parent if beside else target, target.name) as aside:
            new = aside / "new"
            new.mkdir()
            made = write(new)
            for each in (*new.rglob("*"), new) if sync else ():
                _sync(each)
            _refuse(why_not_folder(folder))
            with _locked(aside.parent, wait=True):
                there = target.iterdir() if standing == "refused" and target.exists() else ()
                if any(not each.name.endswith(LEFTOVER) for each in there):
                    raise StoreError(f"{folder} holds files; choose another folder")
                if beside:
                    _exchange(new, target, keep=standing != "replaced")
                else:
                    _move_into(new, target, keep=standing != "replaced")
            _sync(aside.parent)
            return made


def sweep(folder: Path) -> None:
    """Remove what killed processes of this user left in a folder of what they wrote; what lives is left alone. A folder
    that such a process had put aside, and gave no successor, gets its name back."""
    for left in folder.glob(f".*{LEFTOVER}"):
        with suppress(OSError), _locked(left) as dead:
            ours = not hasattr(os, "geteuid") or left.lstat().st_uid == os.geteuid()
            if dead and not left.is_symlink() and ours:
                for old in (left / "old").glob("*"):
                    if not os.path.lexists(folder / old.name):
                        old.rename(folder / old.name)
                shutil.rmtree(left, ignore_errors=True)


def is_full(error: BaseException) -> bool:
    """Whether an error says that the disk, or the user's share of it, is full."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def cannot_write(path: Path, error: OSError) -> str:
    """One sentence: which file, why, what to do."""
    if is_full(error):
        return f"{path} cannot be written: the disk is full; free some space and start again"
    return f"{path} cannot be written: {error.strerror or error}; check the folder and start again"


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(cannot_write(path, error)) from error


def _refuse(why: str | None) -> None:
    if why:
        raise StoreError(why)


@contextmanager
def _aside(home: Path, name: str) -> Iterator[Path]:
    """A folder in another that is new, nobody can guess and nobody else may enter, locked as long as this lives. So
    what lies in it is never another's file, nor a link that leads writing elsewhere."""
    if home not in _swept:
        _swept.add(home)
        sweep(home)
    for _ in range(100):
        folder = Path(mkdtemp(prefix=f".{name[:_LONGEST]}.", suffix=LEFTOVER, dir=home))
        try:
            lock = _lock(folder)
        except (BlockingIOError, FileNotFoundError):  # before it was locked somebody took it for a dead one's
            continue
        if folder.is_dir():
            break
        if lock is not None:
            os.close(lock)
    else:
        raise OSError(errno.EAGAIN, f"no folder could be locked in {home}")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _lock(folder: Path, *, wait: bool = False) -> int | None:
    """Lock a folder until the handle is closed or its process is dead; None where the system has no such locks.
    Raises BlockingIOError if somebody else holds it."""
    if fcntl is None:
        return None
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        os.close(handle)
        if isinstance(error, BlockingIOError):
            raise
        return None
    return handle


@contextmanager
def _locked(folder: Path, *, wait: bool = False) -> Iterator[bool]:
    """Hold a folder's lock; False where there are no locks and its age does not say that whoever made it is gone."""
    handle = _lock(folder, wait=wait)
    try:
        # what nobody can lock is dead after a day
        yield handle is not None or time.time() - folder.stat().st_mtime > 86_400
    finally:
        if handle is not None:
            os.close(handle)


def _exchange(new: Path, folder: Path, *, keep: bool) -> None:
    if not folder.exists():
        new.rename(folder)
        return
    if keep:
        _keep_others(folder, new)
    shutil.copymode(folder, new)
    with suppress(OSError):  # that of another user stays with who may not give files away
        shutil.chown(new, folder.stat().st_uid, folder.stat().st_gid)
    old = new.parent / "old" / folder.name
    old.parent.mkdir()
    folder.rename(old)
    try:
        new.rename(folder)
    except BaseException:
        old.rename(folder)
        raise


def _keep_others(old: Path, new: Path) -> None:
    """Give a new folder the files of an old one that it has no others of."""
    for above, folders, files in os.walk(old):
        within = new / Path(above).relative_to(old)
        for name in folders:
            if not Path(above, name).is_symlink():
                (within / name).mkdir(exist_ok=True)
        for name in (*files, *(each for each in folders if Path(above, each).is_symlink())):
            if not os.path.lexists(within / name):
                try:
                    os.link(Path(above, name), within / name, follow_symlinks=False)
                except OSError:  # a file system without links
                    shutil.copy2(Path(above, name), within / name, follow_symlinks=False)


def _move_into(new: Path, folder: Path, *, keep: bool) -> None:
    made = {each.relative_to(new) for each in new.rglob("*")}
    others = [] if keep else [each for each in folder.rglob("*") if not each.is_relative_to(new.parent)]
    files = sorted((each for each in new.rglob("*") if not each.is_dir()), key=lambda each: -len(each.parts))
    for each in files:
        target = folder / each.relative_to(new)
        target.parent.mkdir(parents=True, exist_ok=True)
        each.replace(target)
    for each in sorted(others, reverse=True):  # what lies in a folder before the folder
        if each.relative_to(folder) in made:
            continue
        if each.is_dir() and not each.is_symlink():
            each.rmdir()
        else:
            each.unlink()


def _sync(path: Path) -> None:
    if path.is_symlink():
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


LEFTOVER = ".invariscope.tmp"  # ends the names of folders that outputs are filled in: no other program's is swept
_KINDS = (
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)


def why_not_file(path: Path) -> str | None:
    """Why no file may be written under a name, as a sentence; None where it may: a regular file, or nothing yet.

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
    """Why nothing may be written into a folder, as a sentence; None where it may, be it there already or not. A folder
    that is there is walked through: a link in it that leads out of it would lead writing out too."""
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
    """Return the name of a file that may be written. Raises InvalidInput for one of :func:`why_not_file`."""
    if why := why_not_file(path):
        raise InvalidInput(why)
    return path


def check_folder(path: Path) -> Path:
    """Return a folder that may be written into. Raises InvalidInput for one of :func:`why_not_folder`."""
    if why := why_not_folder(path):
        raise InvalidInput(why)
    return path


def check_empty(path: Path, *, overwrite: bool) -> Path:
    """Return a folder to fill that holds nothing yet, or whose files may be replaced.
    Raises InvalidInput for one of :func:`why_not_folder`, and for one that holds files unless they may be replaced."""
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
