"""What is made elsewhere, in a thread or a process of this machine that Invariscope starts, and how it comes in."""

import io
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from core import settings
from core.errors import InvalidInput
from core.probes.base import Probe
from core.probes.registry import bring, brought_from, catalogue

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
    """What ``source`` yields, made in its own thread, which begins at once and is at most one ahead. What ``source``
    raises is raised here."""

    def __init__(self, source: Iterator[T]) -> None:
        self._source = source
        self._waiting: queue.Queue[_Message[T]] = queue.Queue(maxsize=1)
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


def child(module: str, intra_op: int) -> "tuple[subprocess.Popen[bytes], Connection]":
    """Start a module of Invariscope as a process, with an open connection whose number is its only argument."""
    ours, theirs = Pipe()
    count = str(intra_op)
    process = subprocess.Popen(
        [sys.executable, "-m", module, str(theirs.fileno())],
        cwd=None if settings.INSTALLED else settings.ROOT,
        env=settings.environment() | {"OMP_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count},
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    theirs.close()
    return process, ours


def inbox(link: Connection) -> Inbox[Any]:
    """What comes over the connection to the parent, read by a thread as it comes; its end ends this process."""
    come: Inbox[Any] = Inbox()

    def read() -> None:
        with suppress(EOFError, OSError):
            while True:
                come.put(link.recv())
        os._exit(1)  # whoever asked is gone, and nobody waits for what is being done

    threading.Thread(target=read, daemon=True).start()
    return come


def packed(value: Any) -> bytes:
    """Pickle what goes to a worker; a probe goes by its name, one of a file by the file's.
    Raises InvalidInput for a probe that a worker could not find."""
    made = io.BytesIO()
    _Packer(made, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return made.getvalue()


class _Packer(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, MappingProxyType):
            return _read_only, (dict(value),)
        if not isinstance(value, Probe):
            return NotImplemented
        if reference := brought_from(value.name):
            return _of_file, (reference, value.name)
        if value.name not in catalogue() or catalogue().get(value.name) != value:
            raise InvalidInput(f"probe {value.name!r} is known in this process alone; run the audit with one worker")
        return _probe, (value.name,)


def _read_only(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


def _probe(name: str) -> Probe:
    return catalogue().get(name)


def _of_file(reference: str, name: str) -> Probe:
    return next(probe for probe in bring(reference) if probe.name == name)
