"""Headers of every answer of the server, and the link that holds its token, which is answered with a cookie."""

from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.views.common.access import KEY, key_cookie

HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}
"""No other site shows a page of ours in a frame or hears its address, and a file is what its type says."""


class Headers:
    """Puts HEADERS on every answer over HTTP.

    Args:
        app: that answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)


_OWN = ("/_stcore/", "/static/", "/media/", "/component/")
"""Where Streamlit answers with something else than a page."""


class KeyLink:
    """Sends who opens the link with the right token on to the same page with a cookie; every other request passes.

    Args:
        app: that answers it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"].startswith(_OWN):
            await self._app(scope, receive, send)
            return
        query = parse_qsl(scope["query_string"].decode(errors="replace"), keep_blank_values=True)
        given = next((value for name, value in query if name == KEY), None)
        cookie = None if given is None else key_cookie(given)
        if cookie is None:
            await self._app(scope, receive, send)
            return
        rest = urlencode([(name, value) for name, value in query if name != KEY])
        answer = RedirectResponse(f"/{scope['path'].lstrip('/')}{f'?{rest}' if rest else ''}", 303)
        answer.headers["Cache-Control"] = "no-store"
        answer.set_cookie(*cookie, httponly=True, samesite="strict")
        await answer(scope, receive, send)
