"""Who may send a file, and how large a one, is asked before the server reads it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.views.common.upload_limits import UploadLimits

_PATH = "/_stcore/upload_file/"
_AROUND = 1 << 16
"""Bytes of a request that may lie around the file itself: heads and marks of its parts."""

_LINGER_S, _LINGER_BYTES = 10.0, 64 << 20
"""How long, and of how much, what is still sent after a refusal is thrown away: a browser that meets a closed
connection while it sends does not read the answer."""


class UploadDoor:
    """Refuses an upload by its session and the size it states, and stops reading one that sends more than may come.

    Args:
        app: that answers every other request.
        limits: gives those of the server's uploaded files, once it runs.
    """

    def __init__(self, app: ASGIApp, limits: Callable[[], UploadLimits]) -> None:
        self._app, self._limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        sent = _sent(scope)
        if sent is None:
            await self._app(scope, receive, send)
            return
        limits, read = self._limits(), 0
        stated = Headers(scope=scope).get("content-length", "")
        try:
            limits.check(*sent, max(0, int(stated) - _AROUND) if stated.isdecimal() else 0)
        except HTTPException as refusal:
            await _refuse(refusal, receive, send)
            return

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            limits.check(*sent, max(0, read - _AROUND))
            return message

        await self._app(scope, counted, send)


def _sent(scope: Scope) -> tuple[str, str] | None:
    """Session and file of an upload; None for every other request."""
    if scope["type"] != "http" or scope["method"] not in ("PUT", "POST"):
        return None
    _, found, rest = scope["path"].partition(_PATH)
    session, _, file = rest.partition("/")
    return (session, file) if found else None


async def _refuse(refusal: HTTPException, receive: Receive, send: Send) -> None:
    """Answer at once, and only then let go by what is still on its way; nothing of it is kept."""
    said = refusal.detail.encode()
    heads = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(said))]
    await send({"type": "http.response.start", "status": refusal.status_code, "headers": heads})
    await send({"type": "http.response.body", "body": said, "more_body": True})
    gone = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(_LINGER_S):
            while gone < _LINGER_BYTES and (message := await receive()).get("more_body"):
                gone += len(message["body"])
    await send({"type": "http.response.body"})
