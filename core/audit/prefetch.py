"""Making the next thing while the last one is used: one thread, a bounded queue, in order."""

import queue
import threading
from collections.abc import Generator, Iterator
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


def prefetch(source: Iterator[T], *, depth: int = 1) -> Generator[T, None, None]:
    """Yield what ``source`` yields, made in a thread of its own and at most ``depth`` ahead.

    What ``source`` raises is raised here. Closing the generator stops the thread and waits for it.
    """
    waiting: queue.Queue[_Message[T]] = queue.Queue(maxsize=depth)
    stopped = threading.Event()

    def offer(message: _Message[T]) -> bool:
        while not stopped.is_set():
            try:
                waiting.put(message, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def work() -> None:
        try:
            for value in source:
                if not offer(_Message(value)):
                    return
            offer(_Message(last=True))
        except BaseException as error:  # handed over to the thread that uses the values
            offer(_Message(error=error))

    thread = threading.Thread(target=work, name="prefetch", daemon=True)
    thread.start()
    try:
        yield from _handed_over(waiting)
    finally:
        stopped.set()
        thread.join()


def _handed_over(waiting: "queue.Queue[_Message[T]]") -> Iterator[T]:
    while True:
        message = waiting.get()
        if message.error is not None:
            raise message.error
        if message.last:
            return
        yield message.value  # type: ignore[misc]  # None is a legal value of T
