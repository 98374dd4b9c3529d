"""Files that are made when their button is pressed: kept until they can have been fetched, refused with a sentence.

Streamlit lets go of such a file when two runs of any sessions end before its browser fetches it: beside many readers,
half of all downloads failed. Here the latest ones stay for a while, however many runs end.
"""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from pathlib import PurePosixPath
from typing import Any

from streamlit.logger import get_logger
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest
from streamlit.proto.ForwardMsg_pb2 import BackendOperationResponse, DeferredFileResponsePayload
from streamlit.runtime.backend_operation_handler import DeferredFileHandler
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileStorageError

from core.errors import InvariscopeError

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


Handler = Callable[[DeferredFileHandler, BackendOperationRequest, str], Coroutine[Any, Any, BackendOperationResponse]]

_MOST = 400
"""Characters of a sentence beside a button."""

_FAULT = "The file could not be made: this is a fault of Invariscope itself, and the server's log tells of it."


def tell_refused_files() -> None:
    """Say beside a button, for this whole process, why its file is not made; Streamlit says only that it failed.

    A refusal is no fault, and leaves no traceback in the server's log either. A file that is
    made stays until it can have been fetched (:mod:`pages.views.common.pressed_files`).
    """
    if DeferredFileHandler.handle.__module__ != __name__:
        DeferredFileHandler.handle = _handler(MadeFiles())  # type: ignore[assignment, method-assign]


def _handler(made: MadeFiles) -> Handler:
    async def handle(
        self: DeferredFileHandler,
        request: BackendOperationRequest,
        session_id: str,  # noqa: ARG001
    ) -> BackendOperationResponse:
        """Make the file in a thread, and answer with its address or with a sentence."""
        try:
            manager = self._get_media_file_mgr()
            url = await asyncio.to_thread(manager.execute_deferred, request.deferred_file.file_id)
        except MediaFileStorageError as error:
            return BackendOperationResponse(request_id=request.request_id, error_msg=_sentence(error))
        made.hold(manager, url)
        asyncio.get_running_loop().call_later(made.seconds + 1, made.let_go, manager)
        payload = DeferredFileResponsePayload(url=url)
        return BackendOperationResponse(request_id=request.request_id, deferred_file=payload)

    return handle


def _sentence(error: MediaFileStorageError) -> str:
    if isinstance(error.__cause__, InvariscopeError):
        told = str(error.__cause__)[:_MOST].rstrip(".")
        return f"{told[0].upper()}{told[1:]}."
    get_logger(__name__).error("a file could not be made", exc_info=error)
    return _FAULT
