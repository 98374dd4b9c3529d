"""The link that holds the server's token: answered with a cookie that no script can read, and without the token."""

from urllib.parse import parse_qsl, urlencode

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from pages.views.common.access import KEY, key_cookie

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
