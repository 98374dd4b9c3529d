"""An annotator without a browser: speaks Streamlit's own messages over its websocket, so that ten fit on two cores."""

import threading
import time
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Button_pb2 import Button
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect
from websockets.typing import Subprotocol

KEYS = ("3", "6", "9")
PATIENCE = 60.0


class Gone(Exception):
    """The server went away, or said that nothing is left."""


class Session:
    """One open link.

    Args:
        address: host:port of the server.
        token: of the annotator.
    """

    def __init__(self, address: str, token: str) -> None:
        self._query = urlencode({"token": token})
        self._page = ""
        self._fragment = ""
        self.buttons: dict[str, Button] = {}
        self.progress = ""
        self.said = ""
        try:
            self._socket = connect(
                f"ws://{address}/_stcore/stream",
                subprotocols=[Subprotocol("streamlit")],
                open_timeout=PATIENCE,
                max_size=2**26,
            )
            self._run(BackMsg())
            if "Enter" in self.buttons:
                self.press("Enter")
        except (OSError, WebSocketException) as error:
            raise Gone(str(error)) from error

    def press(self, key: str) -> float:
        """Press the button of a key; return the seconds until its screen was complete."""
        button = self.buttons.get(key)
        if button is None or button.disabled:
            what = "no button" if button is None else "a disabled button"
            raise Gone(f"{what} for {key} at {self.progress!r}; the page said {self.said!r}")
        message = BackMsg()
        state = message.rerun_script.widget_states.widgets.add()
        state.id, state.trigger_value = button.id, True
        message.rerun_script.fragment_id = self._fragment
        start = time.perf_counter()
        try:
            self._run(message)
        except (OSError, WebSocketException) as error:
            raise Gone(str(error)) from error
        return time.perf_counter() - start

    def stored(self, pressed: Button, before: str) -> bool:
        """Whether the screen tells that an answer is kept: its button is drawn as chosen, or the next item shows."""
        again = next((each for each in self.buttons.values() if each.id == pressed.id), None)
        return self.progress != before if again is None else again.type == "primary"

    def close(self) -> None:
        """Leave."""
        self._socket.close()

    def _run(self, message: BackMsg) -> None:
        message.rerun_script.query_string = self._query
        message.rerun_script.page_name = "human_validation"
        message.rerun_script.page_script_hash = self._page
        self._socket.send(message.SerializeToString())
        self.buttons = {}
        while True:
            answer = ForwardMsg()
            data = self._socket.recv(timeout=PATIENCE)
            answer.ParseFromString(data if isinstance(data, bytes) else data.encode())
            kind = answer.WhichOneof("type")
            if kind == "new_session":
                self._page = answer.new_session.page_script_hash or self._page
            elif kind == "delta":
                self._take(answer)
            elif kind == "script_finished" and self.buttons:
                return

    def _take(self, answer: ForwardMsg) -> None:
        self._fragment = answer.delta.fragment_id or self._fragment
        element = answer.delta.new_element
        if element.WhichOneof("type") == "button":
            shortcut = element.button.shortcut
            self.buttons[shortcut.capitalize() if len(shortcut) > 1 else shortcut] = element.button
        elif element.WhichOneof("type") == "progress":
            self.progress = element.progress.text
        elif element.WhichOneof("type") == "alert":
            self.said = f"{element.alert.body} ({self.progress})"


class Annotator(threading.Thread):
    """Answers item after item until nothing is left or the server goes away.

    Args:
        look: seconds that the annotator looks at an item before the first key.
    """

    def __init__(self, address: str, token: str, *, look: float) -> None:
        super().__init__(daemon=True)
        self._address, self._token, self._look = address, token, look
        self.keys: list[float] = []
        """Seconds from each key to its complete screen."""
        self.answers: set[tuple[str, str]] = set()
        """(item, question) of every answer that a screen told to be kept."""
        self.acknowledged: list[str] = []
        """Progress lines seen after a vote was complete."""
        self.problem = ""
        self.stopped = threading.Event()

    def run(self) -> None:
        """Annotate."""
        try:
            session = Session(self._address, self._token)
            while not self.stopped.is_set() and KEYS[0] in session.buttons:
                if self.stopped.wait(self._look):
                    break
                for key in KEYS:
                    button, before = session.buttons.get(key), session.progress
                    self.keys.append(session.press(key))
                    if button is not None and session.stored(button, before):
                        item, question = button.id.rsplit("study.", 1)[1].split(".")[:2]
                        self.answers.add((item, question))
                self.acknowledged.append(session.progress)
            session.close()
        except Gone as error:
            self.problem = str(error)
