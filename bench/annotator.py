"""An annotator without a browser, who answers as fast as asked to and notes which answers a screen told to be kept."""

import threading
import time
from urllib.parse import urlencode

from streamlit.proto.Button_pb2 import Button
from streamlit.proto.WidgetStates_pb2 import WidgetState

from bench.visitor import Gone, Visitor

KEYS = ("3", "6", "9")
"""One key a question."""


class Session:
    """One open link.

    Args:
        address: host:port of the server.
        token: of the annotator.
    """

    def __init__(self, address: str, token: str) -> None:
        self._visitor = Visitor(address, "human_validation", urlencode({"token": token}))
        if "Enter" in self.buttons:
            self.press("Enter")

    @property
    def buttons(self) -> dict[str, Button]:
        """Buttons on the screen, by their keys."""
        drawn = {each.shortcut: each for each in self._visitor.of("button")}
        return {name.capitalize() if len(name) > 1 else name: each for name, each in drawn.items()}

    @property
    def progress(self) -> str:
        """The line that counts items; empty where the screen has none."""
        return next((str(each.text) for each in reversed(self._visitor.of("progress"))), "")

    def press(self, key: str) -> float:
        """Press the button of a key; return the seconds until its screen was complete."""
        button = self.buttons.get(key)
        if button is None or button.disabled:
            what = "no button" if button is None else "a disabled button"
            said = [each.body for each in self._visitor.of("alert")]
            raise Gone(f"{what} for {key} at {self.progress!r}; the page said {said}")
        start = time.perf_counter()
        self._visitor.run(WidgetState(id=button.id, trigger_value=True), fragment=self._visitor.fragment)
        return time.perf_counter() - start

    def stored(self, pressed: Button, before: str) -> bool:
        """Whether the screen tells that an answer is kept: its button is drawn as chosen, or the next item shows."""
        again = next((each for each in self.buttons.values() if each.id == pressed.id), None)
        return self.progress != before if again is None else again.type == "primary"

    def close(self) -> None:
        """Leave."""
        self._visitor.close()


class Annotator(threading.Thread):
    """Answers item after item until nothing is left or the server goes away.

    Args:
        look: seconds that the annotator looks at an item before the first key.
        keys: what this annotator presses, one key a question.
    """

    def __init__(self, address: str, token: str, *, look: float, keys: tuple[str, ...] = KEYS) -> None:
        super().__init__(daemon=True)
        self._address, self._token, self._look, self._pressed = address, token, look, keys
        self.keys: list[float] = []
        """Seconds from each key to its complete screen."""
        self.answers: dict[tuple[str, str], str] = {}
        """(item, question) of every answer that a screen told to be kept, and the answer."""
        self.acknowledged: list[str] = []
        """Progress lines seen after a vote was complete."""
        self.problem = ""
        self.stopped = threading.Event()

    def run(self) -> None:
        """Annotate."""
        try:
            session = Session(self._address, self._token)
            while not self.stopped.is_set() and self._pressed[0] in session.buttons:
                if self.stopped.wait(self._look):
                    break
                for key in self._pressed:
                    self._answer(session, key)
                self.acknowledged.append(session.progress)
            session.close()
        except Gone as error:
            self.problem = str(error)

    def _answer(self, session: Session, key: str) -> None:
        button, before = session.buttons.get(key), session.progress
        self.keys.append(session.press(key))
        if button is not None and session.stored(button, before):
            item, question, value = button.id.rsplit("study.", 1)[1].split(".")
            self.answers[item, question] = value
