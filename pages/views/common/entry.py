"""The way into a page."""

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.evaluators.apart import only_described
from pages.views.common.url_state import note_page


def enter() -> None:
    """Start the page over under ``app.py``, where Streamlit ran it alone.

    Until ``app.py`` has run once in a server, Streamlit takes a folder named ``pages`` for its older kind of
    multipage app and runs the file that the address names without ``app.py``: without theme and navigation.
    """
    _one_thread_each()
    only_described()
    if PagesManager.uses_pages_directory:
        PagesManager.uses_pages_directory = False
        st.rerun()
    if context := get_script_run_ctx():
        note_page(context.page_script_hash, back=context.is_history_navigation)


@st.cache_resource(show_spinner=False)
def _one_thread_each() -> bool:
    """Keep NumPy's matrix library to one thread: waking the others costs more than a page's products take."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    ThreadpoolController().select(internal_api="openblas").limit(limits=1)
    return True
