"""Work of the Probe lab: few readers at once, and what goes on while nobody looks at it."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Event, Lock, Semaphore, Thread
from typing import Any

from core.errors import InvariscopeError

Tell = Callable[[Any, float], None]  # takes a partial result, and the share of the work that is done, in [0, 1]
LOOK_S = 1.0  # seconds after which one who waits looks whether the wait is still wanted


@contextmanager
def let_in(room: Semaphore, wait: Callable[[], object]) -> Iterator[None]:
    """Hold one of so many places while the context is open. ``wait``: called every second while none is free; what it
    raises ends the wait."""
    while not room.acquire(timeout=LOOK_S):
        wait()
    try:
        yield
    finally:
        room.release()


class _Stopped(Exception):
    """Somebody no longer wants what is worked out."""


class Work:
    """Something that is worked out in its own thread, whoever looks. ``make``: works it out; is given what tells a
    partial result and the share that is done, in [0, 1]. ``partial``: what is known so far; ``made``: the result, once
    it is ``over``; None where there is none, and ``error`` says why. ``unwanted``: nobody waits for it any more."""

    def __init__(self, make: Callable[[Tell], Any], room: Semaphore) -> None:
        self.partial: Any = None
        self.made: Any = None
        self.error, self.share = "", 0.0
        self._make, self._room = make, room
        self.over, self.unwanted, self._begun = Event(), Event(), 0.0
        self._wanted = set[str]()
        Thread(target=self._run, name="lab-work", daemon=True).start()

    def want(self, who: str) -> None:
        """Count somebody among those who wait for it."""
        self._wanted.add(who)

    def leave(self, who: str) -> None:
        """Count somebody out; once nobody waits, it ends at its next partial result."""
        self._wanted.discard(who)
        if not self._wanted:
            self.unwanted.set()

    def seconds_left(self, guess: float | None = None) -> float | None:
        """Seconds from now on, by what it took so far; before anything is done by a guess of the whole."""
        if not self._begun:
            return None
        gone = time.monotonic() - self._begun
        whole = gone / self.share if self.share else guess
        return None if whole is None else max(whole - gone, 0.0)

    def _run(self) -> None:
        try:
            with let_in(self._room, self._go_on):
                self._begun = time.monotonic()
                self.made = self._make(self._tell)
        except _Stopped:
            pass
        except InvariscopeError as error:
            self.error = str(error)
        except Exception as error:  # a thread's exception would be nobody's
            self.error = f"it ended with {type(error).__name__}: {error}"
        finally:
            self.over.set()

    def _tell(self, partial: Any, share: float) -> None:
        self.partial, self.share = partial, share
        self._go_on()

    def _go_on(self) -> None:
        if self.unwanted.is_set():
            raise _Stopped


KEPT = 16  # works that are remembered after they are over, for who comes back to them


class Works:
    """Works by what they are of, one for all who ask for it; safe between threads."""

    def __init__(self, at_once: int) -> None:
        self._room, self._lock = BoundedSemaphore(at_once), Lock()
        self._held = OrderedDict[Hashable, Work]()

    def of(self, key: Hashable, make: Callable[[Tell], Any], who: str) -> Work:
        """The work under a key, begun where it is not; one that was stopped is begun again. ``make``: as of
        :class:`Work`."""
        with self._lock:
            held = self._held.get(key)
            if held is None or held.unwanted.is_set():
                held = self._held[key] = Work(make, self._room)
            held.want(who)
            self._held.move_to_end(key)
            for each in [each for each, work in self._held.items() if work.over.is_set()][: len(self._held) - KEPT]:
                del self._held[each]
            return held
