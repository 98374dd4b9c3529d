"""The endpoint to which any session may send files: who may bring none, or brings too much, is refused there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from bench.server import Server
from bench.visitor import Gone, Visitor
from pages.views.common.access import TOKEN, VIEWER_UPLOADS
from pages.views.common.server_door import VIEWER_MB
from siege.material import data_folder
from siege.trials import Finding, Tally

FILE_MB = 60
"""Size of one file, in MB; the server takes one of 64."""


def run(tally: Tally) -> None:
    """Send files as somebody at the door, and more than a viewer may."""
    with data_folder() as data, _told({TOKEN: "open sesame"}), Server(data) as server:
        visitor = Visitor(server.address, "overview", "")
        for size in (1, 1 << 20):
            tally.attempt(f"endpoint: {size} bytes at the door", partial(_refused, visitor, bytes(size), 403))
        visitor.close()
    viewers = {"STREAMLIT_SERVER_ADDRESS": "0.0.0.0", VIEWER_UPLOADS: "yes"}
    with data_folder() as data, _told(viewers), Server(data) as server:
        visitor = Visitor(server.address, "overview", "")
        before = server.resident_mb()
        for number in range(VIEWER_MB // FILE_MB):
            tally.attempt(f"endpoint: file {number} of a viewer", partial(visitor.put, bytes(FILE_MB << 20)))
        for _ in range(2):
            tally.attempt("endpoint: more than a viewer may", partial(_refused, visitor, bytes(FILE_MB << 20), 413))
        tally.note_growth(server.resident_mb() - before)
        visitor.close()


def _refused(visitor: Visitor, data: bytes, status: int) -> None:
    try:
        visitor.put(data)
    except Gone as error:
        if f"HTTP Error {status}" not in str(error):
            raise Finding("traceback", str(error)) from error
        return
    raise Finding("silent", f"{len(data)} bytes were taken")


@contextmanager
def _told(settings: dict[str, str]) -> Iterator[None]:
    """Settings of the servers that start within."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
