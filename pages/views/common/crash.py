"""What a reader sees instead of a traceback: one sentence, and a file for whoever mends it."""

import json
import secrets

import streamlit as st
from streamlit import error_util
from streamlit.logger import get_logger
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.errors import InvariscopeError
from core.settings import ROOT
from pages.views.common.crash_report import report
from pages.views.common.text import safe


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
        st.exception(Fault(
            f"this page stopped at a fault of Invariscope itself, number {told['id']}. Load the page again; if it "
            "comes back, send the file below to whoever runs this server."
        ))  # fmt: skip
        st.download_button(
            "Crash report", json.dumps(told, indent=2).encode(), f"invariscope-crash-{told['id']}.json",
            "application/json", icon=":material/bug_report:", on_click="ignore", key=f"crash.{secrets.token_hex(8)}",
            help="Versions, the page and the way through the code. No captions, pictures, paths or values",
        )  # fmt: skip
    except Exception:  # what cannot be shown must not replace what went wrong
        get_logger(__name__).exception("a crash report could not be shown")


def _page() -> str:
    """Name of the page of this session, as the program names it."""
    context = get_script_run_ctx()
    found = context.pages_manager.get_pages().get(context.page_script_hash) if context else None
    name = str(found.get("url_pathname", "")) if found else ""
    return name if (ROOT / "pages" / f"{name}.py").is_file() else "overview" if name == "" else "(no page)"
