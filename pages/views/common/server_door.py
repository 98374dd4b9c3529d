"""What the server does with a request: whom it answers, headers, limits of uploads, the token that a browser keeps.

Streamlit's endpoint for uploads asks nobody who they are.
Every session that has a connection may put files there, whether a page showed it a way to or not, and what it put stays
in memory as long as it is connected. Who may send a file, and how large a one, is asked before the server reads it.

The token is kept where no other port of the machine gets it, as it would get a cookie: cookies know no ports, and
whoever runs another server on this machine is sent those of ours by a browser that visits it. What a page stores is of
its origin alone, port included. So the link with the token leaves a mark of it there, and a script that stands before
Streamlit's own adds the mark to the WebSocket that a page opens, the first and each later.
"""

import asyncio
import json
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime import exists, get_instance
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from core.errors import InvalidInput
from core.settings import assets_dir, public_url
from pages.views.common.access import KEPT, KEY, asks_for_token, mark_of, may_bring, may_operate

MB = 1 << 20
OPERATOR_MB = 2048  # most that the files of an operator's session may take together
VIEWER_MB = 128  # most that the files of a viewer's session may take together, where viewers may bring files at all
VIEWERS_MB = 512  # most that the files of all viewers' sessions may take together


class UploadLimits:
    """Takes the place of ``add_file`` of a server's uploaded files: asks who may, and how much there is already."""

    def __init__(self, files: MemoryUploadedFileManager) -> None:
        self._files, self._add = files, files.add_file
        self._most: dict[str, int] = {}
        self._lock = threading.RLock()  # who keeps a file asks first

    def allow(self, session: str, most_mb: int) -> None:
        """Say what a session may hold, as its page finds in every run; 0 where it may bring nothing."""
        with self._lock:
            self._most = {
                name: most
                for name, most in self._most.items()
                if not exists() or get_instance().is_active_session(name)
            }
            self._most[session] = most_mb

    def __call__(self, session_id: str, file: UploadedFileRec) -> None:
        """Keep a file. Raises HTTPException 403 for a session that may bring none, 413 where there would be too
        much."""
        with self._lock:
            self.check(session_id, file.file_id, len(file.data))
            self._add(session_id=session_id, file=file)

    def check(self, session: str, file_id: str, size_bytes: int) -> None:
        """Ask whether a file may come, before it is read. Raises HTTPException 403 for a session that may bring none,
        413 where there would be too much."""
        with self._lock:
            most, size = self._most.get(session, 0), size_bytes / MB
            if not most:
                raise HTTPException(403, "This session may bring no files.")
            held = {
                name: sum(len(each.data) for each in list(files.values())) / MB
                for name, files in list(self._files.file_storage.items())
            }
            if replaced := self._files.get_files(session, [file_id]):
                held[session] -= len(replaced[0].data) / MB
            if held.get(session, 0.0) + size > most:
                raise HTTPException(413, f"The files of one session may take {most} MB together; remove some first.")
            viewers = sum(taken for name, taken in held.items() if self._most.get(name) != OPERATOR_MB)
            if most != OPERATOR_MB and viewers + size > VIEWERS_MB:
                raise HTTPException(413, "Other readers' files take what this server has for them; try again later.")


def limit_uploads() -> None:
    """Say what this session may bring, in a run of ``app.py``."""
    context = get_script_run_ctx()
    if context is None or not isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        return
    most = OPERATOR_MB if may_operate() else VIEWER_MB if may_bring() else 0
    guard(context.uploaded_file_mgr).allow(context.session_id, most)


def guard(files: MemoryUploadedFileManager) -> UploadLimits:
    """The limits of a server's uploaded files, from now on in force."""
    if not isinstance(files.add_file, UploadLimits):
        files.add_file = UploadLimits(files)  # type: ignore[method-assign]
    limits: Any = files.add_file
    assert isinstance(limits, UploadLimits)
    return limits


_PATH = "/_stcore/upload_file/"
_AROUND = 1 << 16  # bytes of a request that may lie around the file itself: heads and marks of its parts

_LINGER_S, _LINGER_BYTES = 10.0, 64 << 20
"""How long, and of how much, what is still sent after a refusal is thrown away: a browser that meets a closed
connection while it sends does not read the answer."""


class UploadDoor:
    """Refuses an upload by its session and the size it states, and stops reading one that sends more than may come.
    ``limits``: gives those of the server's uploaded files, once it runs."""

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


class _Around:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app


HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}
"""No other site shows a page of ours in a frame or hears its address, and a file is what its type says."""


class SafeHeaders(_Around):
    """Puts HEADERS on every answer over HTTP."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)


_METRICS = "/_stcore/metrics"
"""Streamlit's numbers of a server, its sessions and what its pages hold, which it gives to whoever asks."""


class OwnOrigin(_Around):
    """Refuses a WebSocket that a page of another origin opens, and the server's numbers. Streamlit takes every port of
    a host that it knows for its own: on a machine of several accounts, a page of another account's server would act
    with this browser's cookie."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        heads = Headers(scope=scope) if scope["type"] in ("http", "websocket") else Headers({})
        if scope["type"] == "websocket" and not is_own_origin(heads.get("origin"), heads.get("host", "")):
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "http" and scope["path"].rstrip("/").endswith(_METRICS):
            await PlainTextResponse("Not found", 404)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def is_own_origin(origin: str | None, host: str) -> bool:
    """Whether a page of this origin is one of this server's. ``origin``: that the browser says: scheme, host and port;
    None for a program, which says none and has no cookies but its own. ``host``: that was asked for, with its port
    where that is not the scheme's usual one."""
    if origin is None:
        return True
    told = urlsplit(origin)
    with suppress(InvalidInput):  # the door says what is wrong with the address, and lets nobody in
        public = urlsplit(public_url() or "")
        if public.netloc and (told.scheme, told.netloc) == (public.scheme, public.netloc):
            return True
    by_proxy = told.scheme == "https" and ":" not in host  # one that ends TLS passes the bare name on
    return told.netloc == host and (told.scheme == "http" or by_proxy)


_OWN = ("/_stcore/", "/static/", "/media/", "/component/")  # where Streamlit answers with something else than a page


_STORE, _SCRIPT = (
    (assets_dir() / "style" / f"{name}.html").read_text(encoding="utf-8") for name in ("keep_key", "add_key")
)
"""The page that stores the mark of a token, and the script that adds it to the WebSocket of each page."""


class KeyLink(_Around):
    """Lets the browser keep the right token of a link, and takes it from there for every session of it. Every other
    request passes, and every one where the server asks for no token."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if not asks_for_token():
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket" and scope["path"].endswith("/_stcore/stream"):
            # its headers hold what the page's script added to its address
            kept = next((value for name, value in _query(scope) if name == KEY), "")
            header = (KEPT.lower().encode(), kept.encode("ascii", "replace"))
            await self._app({**scope, "headers": [*scope["headers"], header]}, receive, send)
        elif scope["type"] == "http" and scope["method"] == "GET" and not scope["path"].startswith(_OWN):
            await self._page(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        query = _query(scope)
        mark = next((mark_of(value) for name, value in query if name == KEY), "")
        if not mark:
            # the answer comes whole and as it is written: a script is put into it
            without = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
            heads = [(name, value) for name, value in scope["headers"] if name not in without]
            await self._app({**scope, "headers": heads}, receive, _ScriptedPage(send))
            return
        rest = urlencode([(name, value) for name, value in query if name != KEY])
        there = f"/{scope['path'].lstrip('/')}{f'?{rest}' if rest else ''}"
        page = _STORE.format(mark=_quoted(mark), rest=_quoted(there))
        await HTMLResponse(page, headers={"Cache-Control": "no-store"})(scope, receive, send)


class _ScriptedPage:
    """Passes an answer on; a page of HTML with the script at the begin of its head."""

    def __init__(self, send: Send) -> None:
        self._send, self._head, self._page = send, dict[str, object](), b""

    async def __call__(self, message: Message) -> None:
        """Take one message of the answer."""
        kind = Headers(raw=message.get("headers", [])).get("content-type", "")
        if message["type"] == "http.response.start" and kind.startswith("text/html"):
            self._head = dict(message)
        elif self._head and message["type"] == "http.response.body":
            self._page += message.get("body", b"")
            if not message.get("more_body"):
                page = self._page.replace(b"<head>", b"<head>" + _SCRIPT.rstrip().encode(), 1)
                MutableHeaders(scope=self._head)["content-length"] = str(len(page))
                await self._send(self._head)
                await self._send({"type": "http.response.body", "body": page})
        else:
            await self._send(message)


def _query(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope["query_string"].decode(errors="replace"), keep_blank_values=True)


def _quoted(text: str) -> str:
    """A string of JavaScript that ends no script, whatever the address holds."""
    return json.dumps(text).replace("<", "\\u003c")
