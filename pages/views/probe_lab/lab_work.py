"""Work of the Probe lab: turns among readers, and what goes on while nobody looks at it."""

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import Condition, Event, Lock, Thread
from typing import Any

from core.errors import InvariscopeError

Tell = Callable[[Any, float], None]
"""Takes a partial result, and the share of the work that is done, in [0, 1]."""

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


class _Stopped(Exception):
    """Somebody no longer wants what is worked out."""


class Work:
    """Something that is worked out in its own thread, whoever looks.

    Args:
        make: works it out; is given what tells a partial result and the share of the work that is done, in [0, 1].
        turns: it waits for one first.

    Attributes:
        partial: what is known so far; None before anything is.
        share: of the work that is done.
        made: the result, once ``over``; None where there is none.
        error: why there is none.
    """

    def __init__(self, make: Callable[[Tell], Any], turns: Turns) -> None:
        self.partial: Any = None
        self.made: Any = None
        self.error, self.share = "", 0.0
        self._make, self._turns = make, turns
        self._over, self._unwanted, self._begun = Event(), Event(), 0.0
        self._wanted = set[str]()
        Thread(target=self._run, name="lab-work", daemon=True).start()

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self._over.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait so long at most; returns whether it is over."""
        return self._over.wait(seconds)

    def want(self, who: str) -> None:
        """Count somebody among those who wait for it."""
        self._wanted.add(who)

    def leave(self, who: str) -> None:
        """Count somebody out; once nobody waits, it ends at its next partial result."""
        self._wanted.discard(who)
        if not self._wanted:
            self._unwanted.set()

    @property
    def stopped(self) -> bool:
        """Whether nobody wants it any more."""
        return self._unwanted.is_set()

    def seconds_left(self, guess: float | None = None) -> float | None:
        """Seconds from now on, by what it took so far; before anything is done by a guess of the whole."""
        if not self._begun:
            return None
        gone = time.monotonic() - self._begun
        whole = gone / self.share if self.share else guess
        return None if whole is None else max(whole - gone, 0.0)

    def _run(self) -> None:
        try:
            with self._turns.taken(lambda _: self._go_on()):
                self._begun = time.monotonic()
                self.made = self._make(self._tell)
        except _Stopped:
            pass
        except InvariscopeError as error:
            self.error = str(error)
        except Exception as error:  # a thread's exception would be nobody's
            self.error = f"it ended with {type(error).__name__}: {error}"
        finally:
            self._over.set()

    def _tell(self, partial: Any, share: float) -> None:
        self.partial, self.share = partial, share
        self._go_on()

    def _go_on(self) -> None:
        if self._unwanted.is_set():
            raise _Stopped


KEPT = 16
"""Works that are remembered after they are over, for who comes back to them."""


class Works:
    """Works by what they are of, one for all who ask for it; safe between threads.

    Args:
        at_once: how many go on at the same time.
    """

    def __init__(self, at_once: int) -> None:
        self._turns, self._lock = Turns(at_once), Lock()
        self._held = OrderedDict[Hashable, Work]()

    def of(self, key: Hashable, make: Callable[[Tell], Any], who: str) -> Work:
        """The work under a key, begun where it is not; one that was stopped is begun again.

        Args:
            key: of this very question.
            make: as of :class:`Work`.
            who: asks for it.
        """
        with self._lock:
            held = self._held.get(key)
            if held is None or held.stopped:
                held = self._held[key] = Work(make, self._turns)
            held.want(who)
            self._held.move_to_end(key)
            for each in [each for each, work in self._held.items() if work.over][: len(self._held) - KEPT]:
                del self._held[each]
            return held
