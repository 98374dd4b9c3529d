"""One process at a time in a folder that is being written."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import filelock

from core.errors import StoreError
from core.writing import cannot_write


@contextmanager
def only_one(path: Path, *, what: str = "run", instead: str = "choose another run id") -> Iterator[None]:
    """Keep every other process out of a folder, made when needed; the system drops the lock when its holder dies.

    Args:
        what: the folder is, for the message.
        instead: what else the reader may do.

    Raises:
        StoreError: if another process works there, or the folder cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(path / ".lock", timeout=0)
        lock.acquire()
    except filelock.Timeout as error:
        raise StoreError(
            f"another process works on {what} {path.name} in {path.parent}; wait for it, or {instead}"
        ) from error
    except OSError as error:
        raise StoreError(cannot_write(path, error)) from error
    try:
        yield
    finally:
        (path / ".lock").unlink(missing_ok=True)
        lock.release()
        with suppress(OSError):  # what never began leaves no folder; any other is not empty
            path.rmdir()
