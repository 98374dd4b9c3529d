"""What a reader is told where a file that is made when its button is pressed cannot be made."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from streamlit.logger import get_logger
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest
from streamlit.proto.ForwardMsg_pb2 import BackendOperationResponse, DeferredFileResponsePayload
from streamlit.runtime.backend_operation_handler import DeferredFileHandler
from streamlit.runtime.media_file_storage import MediaFileStorageError

from core.errors import InvariscopeError
from pages.views.common.made_files import MadeFiles

Handler = Callable[[DeferredFileHandler, BackendOperationRequest, str], Coroutine[Any, Any, BackendOperationResponse]]

_MOST = 400
"""Characters of a sentence beside a button."""

_FAULT = "The file could not be made: this is a fault of Invariscope itself, and the server's log tells of it."


def tell_refused_files() -> None:
    """Say beside a button, for this whole process, why its file is not made; Streamlit says only that it failed.

    A refusal, as of a used-up quota, is no fault, and leaves no traceback in the server's log either. A file that is
    made stays until it can have been fetched (:mod:`pages.views.common.made_files`).
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
