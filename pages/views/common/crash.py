"""What a reader sees instead of a traceback, one sentence, and the file that it leaves for whoever mends it.

The file holds versions, the page and the way through the code, and nothing of the reader's. No message, value,
argument, local variable, line of source, environment or path outside the program is ever read into it: a message such
as ``KeyError: 'a dog on Ann's sofa'`` holds a caption.
"""

import hashlib
import json
import platform
import secrets
import sys
import sysconfig
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Any

import streamlit as st
from streamlit import error_util
from streamlit.logger import get_logger
from streamlit.runtime.scriptrunner import get_script_run_ctx

import core
from core.errors import InvariscopeError
from core.settings import ROOT
from pages.views.common.text import safe

PACKAGES = ("streamlit", "numpy", "pandas", "pyarrow", "duckdb", "pillow", "plotly", "scipy", "torch", "transformers")
"""Whose versions a report states: what pages compute and draw with."""

ELSEWHERE = "(elsewhere)"
"""Stands for code and types that are neither Invariscope's nor those of an installed package."""

MOST_FRAMES = 60
"""Frames of an exception that are kept: the innermost ones."""

MOST_CAUSES = 5

_OWN = ("core", "pages", "app.py")
_BASES = (Path(core.__file__).resolve().parents[1], Path(__file__).resolve().parents[3])
_LIBRARIES = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib", "stdlib"))


def report(error: BaseException, page: str) -> dict[str, Any]:
    """Return what is told of an exception, ready for JSON.

    Args:
        error: what was raised; what caused it is told too, at most ``MOST_CAUSES`` in all.
        page: name of the page that was open.

    Returns:
        ``id`` (the same for the same type and way through the code), ``at`` (UTC, to the minute), ``page``, ``action``
        (the innermost function of Invariscope), ``errors`` (the exception first, then its causes; each with type and
        frames, the outermost frame first), ``versions`` and ``platform``.
    """
    errors: list[dict[str, Any]] = [
        {"type": _type(each), "frames": _frames(each.__traceback__)} for each in _causes(error)
    ]
    known = [frame for frame in errors[0]["frames"] if frame["file"].partition("/")[0] in _OWN]
    return {
        "what": "crash report of Invariscope: no captions, pictures, paths, values or settings are in it",
        "id": hashlib.sha256(json.dumps(errors).encode()).hexdigest()[:12],
        "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ"),
        "page": page,
        "action": "{file}:{line} {function}".format(**known[-1]) if known else ELSEWHERE,
        "errors": errors,
        "versions": {"invariscope": core.__version__, "python": platform.python_version()} | _versions(),
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


def _versions() -> dict[str, str]:
    return {name: found for name in PACKAGES if (found := _version(name))}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


class Fault(Exception):
    """What stands on the page in place of an exception; its text is the sentence."""


def catch_crashes() -> None:
    """Say in one sentence, for this whole process, what Streamlit would show of an exception that nobody caught.

    Streamlit's own handler for a script (``on_script_error``) is an argument of a server that is started in another
    way, and a session's; all ways to the page, those of scripts, fragments and callbacks, go through the function that
    is replaced here. Reruns and stops of Streamlit never reach it. The log of the server keeps the whole traceback.
    """
    error_util.show_uncaught_app_exception = show


def show(ex: BaseException) -> None:
    """Draw the sentence, and the report as a download where the error is no sentence of Invariscope's own."""
    try:
        if isinstance(ex, InvariscopeError):
            st.error(safe(str(ex), limit=600))
            return
        told = report(ex, _page())
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


def _page() -> str:
    """Name of the page of this session, as the program names it."""
    context = get_script_run_ctx()
    found = context.pages_manager.get_pages().get(context.page_script_hash) if context else None
    name = str(found.get("url_pathname", "")) if found else ""
    return name if (ROOT / "pages" / f"{name}.py").is_file() else "overview" if name == "" else "(no page)"
