"""Every leaderboard that is kept, for who reports on all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.analysis.systems.file import Leaderboard, list_leaderboards, path_of, read_leaderboard
from core.errors import StoreError

Files = tuple[tuple[str, int, int], ...]
"""Name, time of change in ns and size of leaderboards, by name."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Leaderboards of the data folder.

    Args:
        boards: that could be opened, by name.
        unread: name of each that could not -> why, in one sentence.
    """

    boards: Sequence[Leaderboard] = ()
    unread: Mapping[str, str] = field(default_factory=dict)


def kept(files: Files | None = None) -> Kept:
    """Open every leaderboard of the data folder.

    Args:
        files: of :func:`changed`, those to open; None: all that are there now.
    """
    boards, unread = list[Leaderboard](), dict[str, str]()
    for name, _, _ in changed() if files is None else files:
        try:
            boards.append(read_leaderboard(path_of(name)))
        except StoreError as error:
            unread[name] = str(error)
    return Kept(tuple(boards), unread)


def changed() -> Files:
    """The leaderboards of the data folder as they are now; one that changes is another."""
    found = []
    for name in sorted(list_leaderboards()):
        try:
            about = path_of(name).stat()
        except OSError:  # removed in the meantime
            continue
        found.append((name, about.st_mtime_ns, about.st_size))
    return tuple(found)
