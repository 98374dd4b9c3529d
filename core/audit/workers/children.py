"""Processes of this machine that Invariscope starts for itself, each over a connection, and what goes over it."""

import io
import os
import pickle
import subprocess
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from types import MappingProxyType
from typing import Any

from core import settings
from core.audit.prefetch import Inbox
from core.errors import InvalidInput
from core.probes.base import Probe
from core.probes.registry import bring, brought_from, catalogue


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
