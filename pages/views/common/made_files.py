"""Files that were made for a press of a button: kept until they can have been fetched.

Streamlit lets go of such a file when two runs of any sessions end before its browser fetches it: beside many readers,
half of all downloads failed. Here the latest ones stay for a while, however many runs end.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import PurePosixPath

from streamlit.runtime.media_file_manager import MediaFileManager

HELD_S = 60.0
"""Seconds for which a file is kept after it was made."""

HELD_MB = 64.0
"""Most that the kept files take together, in MB of 2**20 bytes; the newest one is kept whatever it takes."""

_NOBODY = "made for a press"
"""Stands among Streamlit's sessions for who holds these files."""


class MadeFiles:
    """The latest files that were made, of one server.

    Args:
        seconds: for which a file is kept.
        most_mb: that all take together.
        clock: seconds that never go back.
    """

    def __init__(
        self, *, seconds: float = HELD_S, most_mb: float = HELD_MB, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.seconds, self._most, self._clock = seconds, int(most_mb * 2**20), clock
        self._held = OrderedDict[str, tuple[float, int]]()
        self._lock = threading.Lock()

    def hold(self, manager: MediaFileManager, url: str) -> None:
        """Keep a file that the manager has just made."""
        name = PurePosixPath(url).stem
        file = manager.read_file(name)
        if file is not None:
            with self._lock:
                self._held[name] = self._clock() + self.seconds, len(file.content)
                self._held.move_to_end(name)
            self.let_go(manager)

    def let_go(self, manager: MediaFileManager) -> None:
        """Leave to Streamlit what was kept long enough, and the oldest of what is too much."""
        with self._lock:
            now, taken = self._clock(), sum(size for _, size in self._held.values())
            while self._held:
                name, (until, size) = next(iter(self._held.items()))
                if until > now and (taken <= self._most or len(self._held) == 1):
                    break
                del self._held[name]
                taken -= size
            held = {name: name for name in self._held}
        with manager._lock:
            manager._files_by_session_and_coord[_NOBODY] = held
