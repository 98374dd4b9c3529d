"""How a browser keeps this server's token: where no other port of the machine gets it, as it would get a cookie.

Cookies know no ports: whoever runs another server on this machine is sent those of ours by a browser that visits it.
What a page stores is of its origin alone, port included. So the link with the token leaves a mark of it there, and a
script that stands before Streamlit's own adds the mark to the WebSocket that a page opens, the first and each later.
"""

import json
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.views.common.access import KEPT, KEY, asks_for_token, mark_of

_OWN = ("/_stcore/", "/static/", "/media/", "/component/")
"""Where Streamlit answers with something else than a page."""

_STREAM = "/_stcore/stream"

_STORE = """<!doctype html><meta charset="utf-8"><title>Invariscope</title>
<script>
localStorage.setItem("invariscope", {mark});
location.replace({rest});
</script><noscript>Invariscope needs JavaScript.</noscript>
"""

_SCRIPT = """<script>
(() => {
  const kept = localStorage.getItem("invariscope");
  if (!kept) return;
  window.WebSocket = class extends WebSocket {
    constructor(address, protocols) {
      const told = new URL(address, location.href);
      if (told.host === location.host && told.pathname.endsWith("/_stcore/stream")) told.searchParams.set("key", kept);
      super(told.href, protocols);
    }
  };
})();
</script>"""


class KeyLink:
    """Lets the browser keep the right token of a link, and takes it from there for every session of it.

    Every other request passes, and every one where the server asks for no token.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if not asks_for_token():
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket" and scope["path"].endswith(_STREAM):
            await self._app(_with_what_is_kept(scope), receive, send)
        elif scope["type"] == "http" and scope["method"] == "GET" and not scope["path"].startswith(_OWN):
            await self._page(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        query = _query(scope)
        mark = next((mark_of(value) for name, value in query if name == KEY), "")
        if not mark:
            await self._app(_unpacked(scope), receive, _ScriptedPage(send))
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
        if message["type"] == "http.response.start" and _is_page(message):
            self._head = dict(message)
        elif self._head and message["type"] == "http.response.body":
            self._page += message.get("body", b"")
            if not message.get("more_body"):
                page = self._page.replace(b"<head>", b"<head>" + _SCRIPT.encode(), 1)
                MutableHeaders(scope=self._head)["content-length"] = str(len(page))
                await self._send(self._head)
                await self._send({"type": "http.response.body", "body": page})
        else:
            await self._send(message)


def _is_page(message: Message) -> bool:
    return Headers(raw=message["headers"]).get("content-type", "").startswith("text/html")


def _unpacked(scope: Scope) -> Scope:
    """A request whose answer comes whole and as it is written: a script is put into it."""
    without = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
    return {**scope, "headers": [(name, value) for name, value in scope["headers"] if name not in without]}


def _with_what_is_kept(scope: Scope) -> Scope:
    """A WebSocket whose headers hold what the page's script added to its address."""
    kept = next((value for name, value in _query(scope) if name == KEY), "")
    return {**scope, "headers": [*scope["headers"], (KEPT.lower().encode(), kept.encode("ascii", "replace"))]}


def _query(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope["query_string"].decode(errors="replace"), keep_blank_values=True)


def _quoted(text: str) -> str:
    """A string of JavaScript that ends no script, whatever the address holds."""
    return json.dumps(text).replace("<", "\\u003c")
