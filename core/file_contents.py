"""What files hold, told by digests, and whether they may have changed, told by stamps, which are cheap to look at."""

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

Stamps = tuple[tuple[str, int, int], ...]  # path, size in bytes and time of the last change in ns of some files


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, in hex. Raises OSError if it cannot be read."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def known_sha256(path: Path) -> str:
    """The same; a file that has not changed by its stamp is read once a process. Raises OSError likewise."""
    facts = path.stat()
    return _known(path, facts.st_mtime_ns, facts.st_size)


def stamps(paths: Iterable[Path]) -> Stamps:
    """What a reader's copy of some files depends on; without those that went away since they were listed."""
    found = []
    for path in paths:
        try:
            facts = path.stat()
        except OSError:
            continue
        found.append((str(path), facts.st_size, facts.st_mtime_ns))
    return tuple(found)


@lru_cache(maxsize=64)
def _known(path: Path, _modified_ns: int, _size: int) -> str:
    return file_sha256(path)
