"""Making the next thing while the last one is used: one thread, a bounded queue, in order."""

import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Message(Generic[T]):
    value: T | None = None
    error: BaseException | None = None
    last: bool = False


class Inbox(Iterator[T]):
    """What comes in from elsewhere, in order; another thread puts it in, and whoever reads waits for it."""

    def __init__(self) -> None:
        self._come: queue.SimpleQueue[_Message[T]] = queue.SimpleQueue()

    def put(self, value: T) -> None:
        """Take something in."""
        self._come.put(_Message(value))

    def stop(self) -> None:
        """End it behind what is in it: a thread that waits for more goes on."""
        self._come.put(_Message(last=True))

    def __next__(self) -> T:
        """Wait for the next."""
        message = self._come.get()
        if message.last:
            self.stop()  # for the next reader
            raise StopIteration
        return message.value  # type: ignore[return-value]  # None is a legal value of T


class Prefetch(Iterator[T]):
    """What ``source`` yields, made in its own thread, which begins at once and is at most ``depth`` ahead.

    What ``source`` raises is raised here.
    """

    def __init__(self, source: Iterator[T], *, depth: int = 1) -> None:
        self._source = source
        self._waiting: queue.Queue[_Message[T]] = queue.Queue(maxsize=depth)
        self._stopped = threading.Event()
        self._ended = False
        self._thread = threading.Thread(target=self._work, name="prefetch", daemon=True)
        self._thread.start()

    def __next__(self) -> T:
        """Wait for the next."""
        if self._ended:
            raise StopIteration
        message = self._waiting.get()
        self._ended = message.last or message.error is not None
        if message.error is not None:
            raise message.error
        if message.last:
            raise StopIteration
        return message.value  # type: ignore[return-value]  # None is a legal value of T

    def close(self) -> None:
        """Stop the thread and wait for it."""
        self._stopped.set()
        self._thread.join()

    def _work(self) -> None:
        try:
            for value in self._source:
                if not self._offer(_Message(value)):
                    return
            self._offer(_Message(last=True))
        except BaseException as error:  # handed over to the thread that uses the values
            self._offer(_Message(error=error))

    def _offer(self, message: _Message[T]) -> bool:
        while not self._stopped.is_set():
            try:
                self._waiting.put(message, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False
