"""What a reader sees instead of a traceback, one sentence, and the file that it leaves for whoever mends it.

The file holds versions, the page and the way through the code, and nothing of the reader's. No message, value,
argument, local variable, line of source, environment or path outside the program is ever read into it: a message such
as ``KeyError: 'a dog on Ann's sofa'`` holds a caption.

A file that is made when its button is pressed is refused with a sentence too, and kept until it can have been fetched:
Streamlit lets go of it when two runs of any sessions end before its browser fetches it. Here the latest ones stay for
a while, however many runs end.
"""

import asyncio
import hashlib
import json
import platform
import secrets
import sys
import sysconfig
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any

import streamlit as st
from streamlit import error_util
from streamlit.logger import get_logger
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest
from streamlit.proto.ForwardMsg_pb2 import BackendOperationResponse, DeferredFileResponsePayload
from streamlit.runtime.backend_operation_handler import DeferredFileHandler
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileStorageError
from streamlit.runtime.scriptrunner import get_script_run_ctx

import core
from core.errors import InvariscopeError
from core.settings import ROOT
from pages.views.common.text import safe

PACKAGES = ("streamlit", "numpy", "pandas", "pyarrow", "duckdb", "pillow", "plotly", "scipy", "torch", "transformers")
"""Whose versions a report states: what pages compute and draw with."""

ELSEWHERE = "(elsewhere)"  # stands for code and types that are neither Invariscope's nor those of an installed package
MOST_FRAMES = 60  # frames of an exception that are kept: the innermost ones
MOST_CAUSES = 5
_OWN = ("core", "pages", "app.py")
_BASES = (Path(core.__file__).resolve().parents[1], Path(__file__).resolve().parents[3])
_LIBRARIES = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib", "stdlib"))


def report(error: BaseException, page: str) -> dict[str, Any]:
    """Return what is told of an exception, ready for JSON. ``error``: what was raised; what caused it is told too, at
    most ``MOST_CAUSES`` in all. Returns ``id`` (the same for the same type and way through the code), ``at`` (UTC, to
    the minute), ``page``, ``action`` (the innermost function of Invariscope), ``errors`` (the exception first, then its
    causes; each with type and frames, the outermost frame first), ``versions`` and ``platform``."""
    errors: list[dict[str, Any]] = [
        {"type": _type(each), "frames": _frames(each.__traceback__)} for each in _causes(error)
    ]
    versions = {"invariscope": core.__version__, "python": platform.python_version()}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    known = [frame for frame in errors[0]["frames"] if frame["file"].partition("/")[0] in _OWN]
    return {
        "what": "crash report of Invariscope: no captions, pictures, paths, values or settings are in it",
        "id": hashlib.sha256(json.dumps(errors).encode()).hexdigest()[:12],
        "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ"),
        "page": page,
        "action": "{file}:{line} {function}".format(**known[-1]) if known else ELSEWHERE,
        "errors": errors,
        "versions": versions,
        "platform": {"system": platform.system(), "release": platform.release(), "machine": platform.machine()},
    }


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and len(found) < MOST_CAUSES and all(following is not each for each in found):
        found.append(following)
        following = following.__cause__ or (None if following.__suppress_context__ else following.__context__)
    return found


def _type(error: BaseException) -> str:
    """Name of the type, unless somebody's own code made it up."""
    kind = type(error)
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    told = kind.__module__ == "builtins" or (file is not None and _told(file) != ELSEWHERE)
    return f"{kind.__module__}.{kind.__qualname__}" if told else ELSEWHERE


def _frames(trace: TracebackType | None) -> list[dict[str, Any]]:
    found = []
    while trace is not None:
        code = trace.tb_frame.f_code
        file = _told(code.co_filename)
        function = ELSEWHERE if file == ELSEWHERE else code.co_qualname
        found.append({"file": file, "line": 0 if file == ELSEWHERE else trace.tb_lineno, "function": function})
        trace = trace.tb_next
    return found[-MOST_FRAMES:]


def _told(file: str) -> str:
    """The path inside the program or inside an installed package; nothing of where these lie."""
    path = Path(file).resolve()
    for base in _BASES:
        if path.is_relative_to(base) and path.relative_to(base).as_posix().partition("/")[0] in _OWN:
            return path.relative_to(base).as_posix()
    for base in _LIBRARIES:
        if path.is_relative_to(base):
            return f"library:{path.relative_to(base).as_posix()}"
    return ELSEWHERE


class Fault(Exception):
    """What stands on the page in place of an exception; its text is the sentence."""


def catch_crashes() -> None:
    """Say in one sentence, for this whole process, what Streamlit would show of an exception that nobody caught.
    Streamlit's own handler for a script (``on_script_error``) is an argument of a server that is started in another
    way, and a session's; all ways to the page, those of scripts, fragments and callbacks, go through the function that
    is replaced here. Reruns and stops of Streamlit never reach it. The log of the server keeps the whole traceback."""
    error_util.show_uncaught_app_exception = show


def show(ex: BaseException) -> None:
    """Draw the sentence, and the report as a download where the error is no sentence of Invariscope's own."""
    try:
        if isinstance(ex, InvariscopeError):
            st.error(safe(str(ex), limit=600))
            return
        context = get_script_run_ctx()
        found = context.pages_manager.get_pages().get(context.page_script_hash) if context else None
        name = str(found.get("url_pathname", "")) if found else ""
        told = report(
            ex, (name if (ROOT / "pages" / f"{name}.py").is_file() else "start" if name == "" else "(no page)")
        )
        st.exception(
            Fault(
                f"this page stopped at a fault of Invariscope itself, number {told['id']}. Load the page again; if it "
                "comes back, send the file below to whoever runs this server."
            )
        )
        st.download_button(
            "Crash report",
            json.dumps(told, indent=2).encode(),
            f"invariscope-crash-{told['id']}.json",
            "application/json",
            icon=":material/bug_report:",
            on_click="ignore",
            key=f"crash.{secrets.token_hex(8)}",
            help="Versions, the page and the way through the code. No captions, pictures, paths or values",
        )
    except Exception:  # what cannot be shown must not replace what went wrong
        get_logger(__name__).exception("a crash report could not be shown")


HELD_S = 60.0  # seconds for which a file is kept after it was made
HELD_MB = 64.0  # most that the kept files take together, in MB of 2**20 bytes; the newest one is kept whatever it takes
_NOBODY = "made for a press"  # stands among Streamlit's sessions for who holds these files


class MadeFiles:
    """The latest files that were made, of one server. ``clock``: seconds that never go back."""

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


def tell_refused_files() -> None:
    """Say beside a button, for this whole process, why its file is not made; Streamlit says only that it failed. A
    refusal is no fault, and leaves no traceback in the server's log either. A file that is made stays until it can have
    been fetched (:class:`MadeFiles`)."""
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
            if isinstance(error.__cause__, InvariscopeError):
                told = str(error.__cause__)[:400].rstrip(".")
                said = f"{told[0].upper()}{told[1:]}."
            else:
                get_logger(__name__).error("a file could not be made", exc_info=error)
                said = (
                    "The file could not be made: this is a fault of Invariscope itself, and the server's log tells of "
                )
                said += "it."
            return BackendOperationResponse(request_id=request.request_id, error_msg=said)
        made.hold(manager, url)
        asyncio.get_running_loop().call_later(made.seconds + 1, made.let_go, manager)
        payload = DeferredFileResponsePayload(url=url)
        return BackendOperationResponse(request_id=request.request_id, deferred_file=payload)

    return handle
