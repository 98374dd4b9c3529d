"""Who may work now: a few readers of this server at once, the others in line in the order in which they came."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition

LOOK_S = 1.0
"""Seconds after which one who waits is told how many are before."""


class Turns:
    """Turns among the threads of one server.

    Args:
        at_once: how many may work at the same time, at least 1.
    """

    def __init__(self, at_once: int) -> None:
        self._free, self._line, self._changed = at_once, deque[object](), Condition()

    @contextmanager
    def taken(self, wait: Callable[[int], None]) -> Iterator[None]:
        """Hold a turn while the context is open.

        Args:
            wait: told every second how many stand before, itself not counted; what it raises gives up the place.
        """
        self._stand_in_line(wait)
        try:
            yield
        finally:
            with self._changed:
                self._free += 1
                self._changed.notify_all()

    def _stand_in_line(self, wait: Callable[[int], None]) -> None:
        me = object()
        with self._changed:
            self._line.append(me)
        try:
            while (before := self._come(me)) is not None:
                wait(before)
        except BaseException:
            with self._changed:
                self._line.remove(me)
                self._changed.notify_all()
            raise

    def _come(self, me: object) -> int | None:
        """Take a free turn when one's own has come; how many stand before where it has not by then."""
        with self._changed:
            if self._changed.wait_for(lambda: self._free > 0 and self._line[0] is me, LOOK_S):
                self._line.popleft()
                self._free -= 1
                self._changed.notify_all()
                return None
            return self._line.index(me)
