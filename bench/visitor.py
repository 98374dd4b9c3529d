"""A visitor without a browser: speaks Streamlit's own messages over its websocket, so that thirty fit on two cores."""

from contextlib import suppress
from http import HTTPStatus
from http.cookiejar import CookieJar
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener
from uuid import uuid4

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from core.features.feature import address as address_of

PATIENCE_S = 300.0
"""Seconds that a visitor waits for the next message; a busy machine takes long."""

TRIES = 20
"""Times that a download is asked for."""

_COOKIE = "_streamlit_xsrf"


class Gone(Exception):
    """The server went away, or the page has not what was asked of it."""


class _Missing(Gone):
    """The server has no such file."""


class Visitor:
    """One open page.

    Args:
        address: host:port of the server.
        view: its name, e.g. ``probe_lab``.
        query: behind the question mark of the address.
        cookies: of the browser; those of another visitor where both are one browser. None: its own browser.
        session: id of a session that is taken up again, as a browser does whose connection was lost.

    Raises:
        Gone: if the server does not answer.
    """

    def __init__(
        self,
        address: str,
        view: str,
        query: str,
        *,
        cookies: CookieJar | None = None,
        session: str = "",
    ) -> None:
        self._origin = f"http://{address}"
        self._state = ClientState()
        self._turn(view, query)
        self.session = session
        self.pressed_again = 0
        self.cookies = CookieJar() if cookies is None else cookies
        self._http = build_opener(HTTPCookieProcessor(self.cookies))
        self.fragment = ""
        """The fragment that was drawn last; empty where the page has none."""
        self.drawn: list[Element] = []
        """What the last run drew, in its order."""
        self._health()
        sent = "; ".join(f"{each.name}={each.value}" for each in self.cookies)
        try:
            self._socket = connect(
                f"ws://{address}/_stcore/stream",
                origin=Origin(self._origin),
                subprotocols=[Subprotocol(each) for each in ("streamlit", self._xsrf(), session) if each],
                additional_headers={"Cookie": sent},
                open_timeout=PATIENCE_S,
                ping_interval=None,  # a browser asks for no sign of life
                max_size=2**26,
            )
        except (OSError, WebSocketException) as error:
            raise Gone(str(error)) from error
        self.run()

    def __enter__(self) -> "Visitor":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def run(self, *changed: WidgetState, fragment: str = "") -> None:
        """Have the page (or a fragment of it) run, with what the visitor changed, until nothing runs any more.

        Raises:
            Gone: if the server goes away, or the page shows an error.
        """
        message = BackMsg(rerun_script=self._state)
        message.rerun_script.widget_states.widgets.extend(changed)
        message.rerun_script.fragment_id = fragment
        self._send(message)
        self.drawn = []
        while not _is_end(self._next()):
            pass
        if wrong := [each for each in self.drawn if _is_error(each)]:
            raise Gone(f"the page shows an error: {str(wrong[0])[:600]}")

    def of(self, kind: str) -> list[Any]:
        """What the last run drew of one kind, e.g. ``button``, in its order."""
        return [getattr(each, kind) for each in self.drawn if each.WhichOneof("type") == kind]

    def named(self, kind: str, key: str) -> Any:
        """Return the widget of one kind whose key in the page's code this is.

        Raises:
            Gone: if the page has none.
        """
        found = next((each for each in self.of(kind) if each.id.endswith(f"-{key}")), None)
        if found is None:
            raise Gone(f"the page has no {kind} {key!r}; it says {[each.body[:300] for each in self.of('alert')]}")
        return found

    def upload(self, key: str, name: str, data: bytes) -> None:
        """Give a file to an uploader, by the server's own endpoint, and have the page run with it."""
        uploader = self.named("file_uploader", key)
        asked = BackMsg()
        asked.file_urls_request.request_id, asked.file_urls_request.session_id = uuid4().hex, self.session
        asked.file_urls_request.file_names.append(name)
        urls = self._answer(asked, "file_urls_response").file_urls_response.file_urls[0]
        self._put(urls.upload_url, name, data)
        state = WidgetState(id=uploader.id)
        info = state.file_uploader_state_value.uploaded_file_info.add()
        info.name, info.size, info.file_id = name, len(data), urls.file_id
        info.file_urls.CopyFrom(urls)
        self.run(state)

    def put(self, data: bytes, *, name: str = "file") -> None:
        """Send a file to the server's endpoint for uploads, whether the page has an uploader or not.

        Raises:
            Gone: if the server refuses it, with the status.
        """
        self._put(f"/_stcore/upload_file/{self.session}/{uuid4().hex}", name, data)

    def type(self, key: str, words: str) -> None:
        """Put words into a field and press Enter."""
        self.run(WidgetState(id=self.named("text_input", key).id, string_value=words))

    def widgets(self) -> dict[str, str]:
        """Id of every widget that the last run drew -> its kind."""
        kinds = ((each.WhichOneof("type") or "", each) for each in self.drawn)
        found = ((getattr(getattr(each, kind), "id", ""), kind) for kind, each in kinds)
        return {name: kind for name, kind in found if name}

    def go(self, view: str, query: str = "") -> None:
        """Open another view in the same session, as a link to it does."""
        self._turn(view, query)
        self.run()

    def _turn(self, view: str, query: str) -> None:
        file, first = address_of(view)
        asked = "&".join(filter(None, (urlencode(first), query)))
        self._state.page_name, self._state.page_script_hash, self._state.query_string = Path(file).stem, "", asked

    def press(self, key: str) -> None:
        """Press a button."""
        self.run(WidgetState(id=self.named("button", key).id, trigger_value=True))

    def download(self, key: str) -> bytes:
        """Return the file behind a download button, made when it is asked for.

        Streamlit lets go of such a file when two runs of any sessions end before it is fetched; then it is asked for
        again, as a reader presses the button again. ``pressed_again`` counts that.
        """
        for _ in range(TRIES - 1):
            with suppress(_Missing):
                return self._pressed(key)
            self.pressed_again += 1
        return self._pressed(key)

    def _pressed(self, key: str) -> bytes:
        button, url = self.named("download_button", key), ""
        if button.deferred_file_id:
            asked = BackMsg()
            asked.backend_operation_request.request_id = uuid4().hex
            asked.backend_operation_request.session_id = self.session
            asked.backend_operation_request.deferred_file.file_id = button.deferred_file_id
            answer = self._answer(asked, "backend_operation_response").backend_operation_response
            if answer.error_msg:
                raise Gone(f"the file of {key!r} is not made: {answer.error_msg}")
            url = answer.deferred_file.url
        return self._fetch(Request(self._origin + (url or button.url)))

    def close(self) -> None:
        """Leave."""
        self._socket.close()

    def _health(self) -> None:
        """Ask as a browser does before it connects: the cookie against forged requests comes with the answer."""
        self._fetch(Request(f"{self._origin}/_stcore/health"))

    def _xsrf(self) -> str:
        return next((each.value for each in self.cookies if each.name == _COOKIE), None) or "none"

    def _put(self, url: str, name: str, data: bytes) -> None:
        edge = uuid4().hex
        head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        body = f"{head}Content-Type: application/octet-stream\r\n\r\n".encode() + data + f"\r\n--{edge}--\r\n".encode()
        told = {"Content-Type": f"multipart/form-data; boundary={edge}", "X-Xsrftoken": self._xsrf()}
        self._fetch(Request(self._origin + url, data=body, headers=told, method="PUT"))

    def _fetch(self, request: Request) -> bytes:
        try:
            with self._http.open(request, timeout=PATIENCE_S) as answer:
                found: bytes = answer.read()
                return found
        except HTTPError as error:
            kind = _Missing if error.code == HTTPStatus.NOT_FOUND else Gone
            raise kind(f"{request.get_method()} {request.full_url}: {error}") from error
        except (URLError, OSError) as error:
            raise Gone(f"{request.get_method()} {request.full_url}: {error}") from error

    def _answer(self, message: BackMsg, kind: str) -> ForwardMsg:
        self._send(message)
        while (answer := self._next()).WhichOneof("type") != kind:
            pass
        return answer

    def _send(self, message: BackMsg) -> None:
        try:
            self._socket.send(message.SerializeToString())
        except (OSError, WebSocketException) as error:
            raise Gone(str(error)) from error

    def _next(self) -> ForwardMsg:
        """Take one message of the server, and note what a browser would."""
        message = ForwardMsg()
        try:
            data = self._socket.recv(timeout=PATIENCE_S)
        except (OSError, WebSocketException) as error:  # a server that says nothing is a TimeoutError, an OSError
            raise Gone(str(error) or f"the server said nothing for {PATIENCE_S:.0f} s") from error
        message.ParseFromString(data if isinstance(data, bytes) else data.encode())
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.drawn = []
            self.session = message.new_session.initialize.session_id
            self._state.page_script_hash = message.new_session.page_script_hash or self._state.page_script_hash
        elif kind == "navigation":
            self._state.page_script_hash = message.navigation.page_script_hash or self._state.page_script_hash
        elif kind == "page_info_changed":
            self._state.query_string = message.page_info_changed.query_string
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self.fragment = message.delta.fragment_id or self.fragment
            self.drawn.append(message.delta.new_element)
        return message


def _is_end(message: ForwardMsg) -> bool:
    """Whether nothing runs any more: a run that ends early is followed by the next."""
    early = ForwardMsg.FINISHED_EARLY_FOR_RERUN
    return message.WhichOneof("type") == "script_finished" and message.script_finished != early


def _is_error(element: Element) -> bool:
    return element.WhichOneof("type") == "exception"
